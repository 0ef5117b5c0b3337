//! TLS: the same server behind it, changes of the certificate, clients that are slow or leave.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{SocketAddr, TcpStream};
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::{Child, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};

use crate::command::Place;
use crate::server::{connect, wait_until};
use rustls::crypto::aws_lc_rs;
use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject as _;
use rustls::{ClientConfig, ClientConnection, RootCertStore, StreamOwned};

/// The server, with a directory for its data, its certificate and its log.
struct Served {
    place: Place,
    child: Child,
    address: SocketAddr,
}

type Connection = StreamOwned<ClientConnection, TcpStream>;

/// The certificates of `tests/tls`.
fn known(file: &str) -> Vec<u8> {
    std::fs::read(Path::new("tests/tls").join(file)).unwrap()
}

/// Puts a certificate and its key in place, each in one step.
fn install(place: &Place, name: &str) {
    for (from, to) in [(format!("{name}.key"), "key.pem"), (format!("{name}.pem"), "cert.pem")] {
        place.file("new", known(&from));
        std::fs::set_permissions(place.path("new"), std::fs::Permissions::from_mode(0o600)).unwrap();
        std::fs::rename(place.path("new"), place.path(to)).unwrap();
    }
}

fn place() -> Place {
    let place = Place::new()
        .with_env("TIDELINE__SERVER__TLS_CERT", "cert.pem")
        .with_env("TIDELINE__SERVER__TLS_KEY", "key.pem");
    install(&place, "first");
    place
}

fn serve(place: Place) -> Served {
    let mut command = place.command(&["serve", "--listen", "127.0.0.1:0"]);
    command.stderr(std::fs::File::create(place.path("log")).unwrap()).stdin(Stdio::null());
    let mut child = command.spawn().unwrap();
    let mut line = String::new();
    BufReader::new(child.stdout.as_mut().unwrap()).read_line(&mut line).unwrap();
    let address = line.trim_end().strip_prefix("listening on https://").expect(&line).parse().unwrap();
    Served { place, child, address }
}

impl Served {
    /// Connects, and shakes hands with a server that must have this certificate.
    fn connect(&self, certificate: &str) -> Result<Connection, std::io::Error> {
        let mut roots = RootCertStore::empty();
        roots.add(CertificateDer::from_pem_slice(&known(certificate)).unwrap()).unwrap();
        let config = ClientConfig::builder_with_provider(Arc::new(aws_lc_rs::default_provider()))
            .with_safe_default_protocol_versions()
            .unwrap()
            .with_root_certificates(roots)
            .with_no_client_auth();
        let tls = ClientConnection::new(Arc::new(config), "localhost".try_into().unwrap()).unwrap();
        let stream = connect(self.address);
        let mut connection = StreamOwned::new(tls, stream);
        connection.conn.complete_io(&mut connection.sock)?;
        Ok(connection)
    }

    /// One request on a connection of its own; the whole answer.
    fn get(&self, path: &str) -> String {
        let mut connection = self.connect("first.pem").unwrap();
        send(&mut connection, path, "connection: close\r\n");
        rest(&mut connection)
    }

    fn log(&self) -> String {
        std::fs::read_to_string(self.place.path("log")).unwrap()
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn send(connection: &mut Connection, path: &str, headers: &str) {
    write!(connection, "GET {path} HTTP/1.1\r\nhost: localhost\r\n{headers}\r\n").unwrap();
    connection.flush().unwrap();
}

/// The bytes until the server closes, which it must.
fn rest(connection: &mut Connection) -> String {
    let mut answer = Vec::new();
    match connection.read_to_end(&mut answer) {
        Ok(_) => {}
        Err(e) => assert!(e.kind() != std::io::ErrorKind::WouldBlock, "no end after {answer:?}: {e}"),
    }
    String::from_utf8(answer).unwrap()
}

fn has(answer: &str, status: u16, words: &str) {
    assert!(answer.starts_with(&format!("HTTP/1.1 {status} ")) && answer.contains(words), "{answer}");
}

#[test]
fn the_server_speaks_tls_and_nothing_else() {
    let served = serve(place());
    has(&served.get("/healthz"), 200, r#"{"status":"ok"}"#);
    has(&served.get("/v1/users/1/timeline"), 200, r#""items":[]"#);
    let url = format!("https://{}", served.address);
    let asks = place().with_env("TIDELINE__SERVER__LISTEN", served.address);
    for args in [&["health"][..], &["health", "--url", &url]] {
        assert_eq!(asks.health(args).ok().out, format!("{url} is ready\n"));
    }
    assert_eq!(served.connect("first.pem").unwrap().conn.alpn_protocol(), None);
    // Plain HTTP gets no answer of HTTP.
    let mut plain = connect(served.address);
    plain.write_all(b"GET /healthz HTTP/1.1\r\nhost: localhost\r\n\r\n").unwrap();
    let mut answer = Vec::new();
    let _ = plain.read_to_end(&mut answer);
    assert!(!answer.starts_with(b"HTTP"), "{answer:?}");
    assert!(!served.log().contains("WARN"), "{}", served.log());
}

#[test]
fn commands_call_a_server_behind_tls() {
    let served = serve(place());
    let place = &served.place;
    let port = served.address.port();
    let (named, numbered) = (format!("https://localhost:{port}"), format!("https://127.0.0.1:{port}/"));
    place.file("ca.pem", known("first.pem"));
    place.file("other.pem", known("second.pem"));
    for (number, url) in [&named, &numbered].into_iter().enumerate() {
        let file = format!("{number}.tar.zst");
        place.run(&["backup", "--url", url, "--ca-file", "ca.pem", "--to", &file]).ok();
        place.run(&["restore", "--from", &file, "--data-dir", &format!("new-{number}")]).ok();
    }
    let ran = place.run(&["backup", "--url", &named, "--ca-file", "ca.pem", "--list"]).ok();
    assert_eq!(ran.out.lines().count(), 2, "{ran:?}");
    let list = ["backup", "--list", "--url"];
    let other = place.run(&[&list[..], &[&named, "--ca-file", "other.pem"]].concat());
    other.failed("Name the certificate of the server, or of its authority, with --ca-file");
    // The bundle of the system, in place of the one of this machine.
    let with_system = |file: &str| {
        let mut command = place.command(&[&list[..], &[&named]].concat());
        command.env("SSL_CERT_FILE", place.path(file)).output().unwrap()
    };
    assert_eq!(with_system("ca.pem").status.code(), Some(0));
    let refused = with_system("other.pem");
    assert_eq!(refused.status.code(), Some(1), "{}", String::from_utf8_lossy(&refused.stderr));
    place.run(&[&list[..], &[&named, "--ca-file", "key.pem"]].concat()).failed("it has no certificate in the form PEM");
    place.run(&[&list[..], &[&named, "--ca-file", "none"]].concat()).failed("--ca-file: cannot use none: No such file");
    // It sends a key, so it needs to know the members.
    place.file(
        "node.toml",
        format!("[cluster]\nbrokers = [\"127.0.0.1:1\"]\nnode = \"a\"\nmembers = [\"a={named}\"]\n"),
    );
    let status = ["cluster", "status", "--config", "node.toml", "--ca-file"];
    place.run(&[&status[..], &["ca.pem"]].concat()).failed("a: it is not a node of this cluster");
    place.run(&[&status[..], &["other.pem"]].concat()).failed("Name the certificate of the server");
    // The other scheme.
    let plain = format!("http://127.0.0.1:{port}");
    let advice = ". If the server speaks TLS, write https:// in its address";
    place.run(&[&list[..], &[&plain]].concat()).failed(advice);
    place.health(&["health", "--url", &plain]).failed(advice);
    place.health(&["health", "--url", &named]).ok();
    let server = crate::server::Server::start();
    let wrong = format!("https://{}", server.address);
    let advice = ". If the server speaks no TLS, write http:// in its address";
    place.run(&[&list[..], &[&wrong, "--ca-file", "ca.pem"]].concat()).failed(advice);
    place.health(&["health", "--url", &wrong]).failed(advice);
    let gone = place.health(&["health", "--url", "http://127.0.0.1:1"]).failed("no answer from http://127.0.0.1:1");
    assert!(!gone.err.contains("TLS"), "{gone:?}");
}

/// As the recipe in `docs/use/access.md` makes one: an authority that is the server's own certificate.
#[test]
fn a_certificate_is_trusted_as_itself_or_by_its_authority() {
    let refused = "Name the certificate of the server, or of its authority, with --ca-file";
    for (name, trusted, others) in [
        ("authority", &["authority"][..], &["leaf", "first", "expired"][..]),
        ("leaf", &["leaf", "authority"], &["first", "expired"]),
        ("expired", &[], &["authority"]),
    ] {
        let place = place();
        install(&place, name);
        let served = serve(place);
        let list = |host: &str, file: &str| {
            served.place.file("ca.pem", known(&format!("{file}.pem")));
            let url = format!("https://{host}:{}", served.address.port());
            served.place.run(&["backup", "--url", &url, "--ca-file", "ca.pem", "--list"])
        };
        for file in trusted {
            list("localhost", file).ok();
        }
        for file in others {
            let ran = list("localhost", file);
            assert!(ran.err.contains(if name == "expired" { "expired" } else { refused }), "{name} by {file}: {ran:?}");
            ran.failed("cannot reach https://localhost:");
        }
    }
    // The dates and the name of a certificate count, even if it is named itself.
    for (name, host, words) in
        [("expired", "localhost", "certificate expired"), ("authority", "127.0.0.1", "not valid for name")]
    {
        let place = place();
        install(&place, name);
        let served = serve(place);
        served.place.file("ca.pem", known(&format!("{name}.pem")));
        let url = format!("https://{host}:{}", served.address.port());
        served.place.run(&["backup", "--url", &url, "--ca-file", "ca.pem", "--list"]).failed(words);
    }
    // Another certificate than those of the file.
    let served = serve(place());
    let mixed = [known("authority.pem"), known("leaf.pem")].concat();
    served.place.file("ca.pem", mixed);
    let url = format!("https://localhost:{}", served.address.port());
    served.place.run(&["backup", "--url", &url, "--ca-file", "ca.pem", "--list"]).failed(refused);
}

/// A listener that accepts and says nothing, to a client that begins with TLS.
#[test]
fn a_silent_server_is_given_up_in_the_handshake() {
    let place = place();
    place.file("ca.pem", known("first.pem"));
    let silent = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("https://{}", silent.local_addr().unwrap());
    let ran = place.run(&["backup", "--url", &url, "--ca-file", "ca.pem", "--timeout", "300ms", "--list"]);
    ran.failed("the server has said nothing for 300ms");
}

#[test]
fn a_changed_certificate_is_in_use_without_a_restart() {
    // So long that the open connection may wait for its request.
    let served = serve(place().with_env("TIDELINE__SERVER__REQUEST_TIMEOUT", "300s"));
    let mut before = served.connect("first.pem").unwrap();
    assert!(served.connect("second.pem").is_err());
    // A certificate without its key is not taken.
    served.place.file("cert.pem", known("second.pem"));
    wait_until("the wrong pair is not seen", || served.log().contains("the one before stays in use"));
    let page = served.get("/metrics");
    has(&page, 200, "\ntideline_reload_failed{of=\"certificate\"} 1\n");
    // The first day of 2100.
    has(&page, 200, "\ntideline_certificate_ends_timestamp_seconds 4102444800\n");
    install(&served.place, "second");
    wait_until("the second certificate is not in use", || served.connect("second.pem").is_ok());
    assert!(served.connect("first.pem").is_err());
    let mut after = served.connect("second.pem").unwrap();
    send(&mut after, "/metrics", "connection: close\r\n");
    has(&rest(&mut after), 200, "\ntideline_reload_failed{of=\"certificate\"} 0\n");
    // Open connections go on.
    send(&mut before, "/healthz", "connection: close\r\n");
    has(&rest(&mut before), 200, "ok");
}

#[test]
fn slow_clients_are_cut_off() {
    let served = serve(place().with_env("TIDELINE__SERVER__REQUEST_TIMEOUT", "8s"));
    let mut silent = connect(served.address);
    assert_eq!(silent.read(&mut [0; 16]).unwrap_or(0), 0, "the handshake has no end");
    let mut slow = served.connect("first.pem").unwrap();
    slow.write_all(b"GET /healthz HTTP/1.1\r\n").unwrap();
    has(&rest(&mut slow), 408, "");
}

/// More handshakes at once than the library's own limit of 256 for each thread.
#[test]
fn silent_clients_do_not_keep_out_others() {
    let served = serve(place().with_env("TIDELINE__SERVER__WORKERS", 1));
    let answer = || {
        let began = Instant::now();
        let _silent: Vec<_> = (0..400).map(|_| TcpStream::connect(served.address).unwrap()).collect();
        has(&served.get("/healthz"), 200, "ok");
        began.elapsed()
    };
    // The silent ones are cut off after ten seconds: an answer that waits for that always comes later. One of several
    // comes in time on a busy machine, too.
    let late: Vec<_> = (0..5).map(|_| answer()).take_while(|took| *took >= Duration::from_secs(8)).collect();
    assert!(late.len() < 5, "{late:?}");
}

#[test]
fn records_of_every_size_arrive() {
    let served = serve(place());
    let mut connection = served.connect("first.pem").unwrap();
    for (most, text) in [(1, 5000), (100, 50_000), (16 << 10, 50_000)] {
        let body = format!(r#"{{"author_id":1,"text":"{}"}}"#, "x".repeat(text));
        let head = format!("POST /v1/content HTTP/1.1\r\nhost: localhost\r\ncontent-length: {}\r\n\r\n", body.len());
        // Each piece becomes a record, and all are sent at once.
        connection.conn.set_buffer_limit(None);
        for piece in (head + &body).as_bytes().chunks(most) {
            connection.conn.writer().write_all(piece).unwrap();
        }
        connection.flush().unwrap();
        let mut answer = String::new();
        while !answer.ends_with("}}") {
            let mut piece = [0; 100_000];
            let read = connection.read(&mut piece).unwrap();
            assert!(read > 0, "records of {most}: {answer}");
            answer.push_str(std::str::from_utf8(&piece[..read]).unwrap());
        }
        assert!(answer.starts_with("HTTP/1.1 201 "), "records of {most}: {answer}");
    }
}

#[test]
fn no_long_message_of_a_handshake_is_collected() {
    let served = serve(place().with_env("TIDELINE__SERVER__REQUEST_TIMEOUT", "1s"));
    let mut stream = connect(served.address);
    let record = |part: &[u8]| [&[22, 3, 1], &u16::try_from(part.len()).unwrap().to_be_bytes()[..], part].concat();
    let mut hello = vec![1, 0, 0xea, 0x60, 3, 3];
    hello.resize(59_000, b'x');
    let records: Vec<u8> = hello.chunks(16_000).flat_map(record).collect();
    // A connection whose end comes before all is read is reset; otherwise it is closed in order.
    let end = stream.write_all(&records).and_then(|()| stream.read_to_end(&mut Vec::new()));
    assert!(end.is_err(), "all was read");
}

#[test]
fn connections_beyond_the_limit_get_an_answer() {
    let served = serve(place().with_env("TIDELINE__SERVER__MAX_CONNECTIONS", 2));
    let used = || {
        let mut stream = served.connect("first.pem").unwrap();
        send(&mut stream, "/healthz", "");
        assert!(stream.read(&mut [0; 4096]).unwrap() > 0);
        stream
    };
    // The server ends connections that send nothing, so a slow machine opens them anew.
    wait_until("the limit is not kept", || {
        let _open = [used(), used()];
        served.get("/v1/users/1/timeline").contains(r#""code":"overloaded""#)
    });
    wait_until("the places are not free again", || served.get("/v1/users/1/timeline").starts_with("HTTP/1.1 200"));
}

/// The last message of TLS lies unread before the close.
#[test]
fn a_stream_ends_when_its_client_leaves() {
    let served = serve(place().with_env("TIDELINE__PRESENCE__HEARTBEAT", "1h"));
    let mut stream = served.connect("first.pem").unwrap();
    send(&mut stream, "/v1/users/1/stream", "");
    let streams = |n: u8| served.get("/metrics").contains(&format!("\ntideline_streams {n}\n"));
    wait_until("the stream is not open", || streams(1));
    stream.conn.send_close_notify();
    stream.flush().unwrap();
    drop(stream);
    wait_until("the stream is still open", || streams(0));
}

#[test]
fn files_that_cannot_be_used_are_named() {
    let place = place();
    let serve = ["serve", "--listen", "127.0.0.1:0"];
    let other = known("second.key");
    place.file("key.pem", &other);
    place
        .run(&serve)
        .failed("tideline: server.tls_key: the key in key.pem does not belong to the certificate in cert.pem");
    place.file("key.pem", "");
    place.run(&serve).failed("tideline: server.tls_key: no private key in key.pem (PEM, without a password)");
    place.file("cert.pem", &other);
    place.run(&serve).failed("tideline: server.tls_cert: no certificate in cert.pem");
    place.file("cert.pem", "-----BEGIN CERTIFICATE-----\n%%\n-----END CERTIFICATE-----\n");
    place.run(&serve).failed("tideline: server.tls_cert: cert.pem is not PEM: ");
    std::fs::remove_file(place.path("cert.pem")).unwrap();
    place.run(&serve).failed("tideline: server.tls_cert: cannot read cert.pem: No such file or directory");
    for (name, variable) in
        [("server.tls_cert", "TIDELINE__SERVER__TLS_CERT"), ("server.tls_key", "TIDELINE__SERVER__TLS_KEY")]
    {
        let endless = self::place().with_env(variable, "/dev/zero");
        endless.run(&serve).failed(&format!("{name}: cannot read /dev/zero: not a regular file"));
        let large = self::place().with_env(variable, "large");
        large.file("large", vec![b'\n'; (1 << 20) + 1]);
        large.run(&serve).failed(&format!("{name}: cannot read large: the file is larger than 1 MiB"));
    }
    let half = Place::new().with_env("TIDELINE__SERVER__TLS_CERT", "cert.pem");
    half.run(&serve).failed("server.tls_cert: a certificate needs its key, server.tls_key");
}

#[test]
fn a_key_that_others_may_read_is_noticed() {
    let place = place();
    std::fs::set_permissions(place.path("key.pem"), std::fs::Permissions::from_mode(0o604)).unwrap();
    assert!(serve(place).log().contains("every user of this machine may read the private key"));
}

//! Keys that are replaced while the server runs, and the lines of the server log about refused credentials.

use std::fs::{self, File};
use std::io::{Read as _, Write as _};
use std::path::Path;
use std::time::Instant;

use config::KeyHash;
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::server::tokens::{SECRET, claims, key, now, signed, token};
use crate::server::{Server, command, connect, wait_until};

/// A server with a directory for its data, and another for files of the test and its log.
struct Logged {
    server: Server,
    dir: TempDir,
    _data: TempDir,
}

impl Logged {
    fn start(dir: TempDir, args: &[&str], settings: &[(&str, &str)]) -> Self {
        let data = TempDir::new().unwrap();
        let mut command = command(&data, "127.0.0.1:0", settings);
        command.args(args).stderr(File::create(dir.path().join("log")).unwrap());
        Self { server: Server::launch(command).ok().unwrap(), dir, _data: data }
    }

    /// The lines about credentials in a log of JSON.
    fn audit(&self) -> Vec<Value> {
        let log = self.log();
        let lines = log.lines().filter_map(|line| serde_json::from_str(line).ok());
        lines.filter(|line: &Value| line["target"] == "audit").collect()
    }

    fn log(&self) -> String {
        fs::read_to_string(self.dir.path().join("log")).unwrap()
    }

    /// The number of lines about keys that could not be replaced.
    fn kept(&self) -> usize {
        self.log().matches("those in force are kept").count()
    }
}

/// The status of a page with this credential.
fn page(server: &Server, credential: &str) -> u16 {
    let bearer = format!("Bearer {credential}");
    server.call_as("GET", "/v1/users/ana/timeline", "", &[("authorization", &bearer)]).status
}

/// Whether `/metrics`, asked with this key, says that changed keys could not be used.
fn failed_keys(server: &Server, by: &str) -> u8 {
    let bearer = format!("Bearer {}", key(by));
    let page = server.call_as("GET", "/metrics", "", &[("authorization", &bearer)]);
    let name = "tideline_reload_failed{of=\"keys\"} ";
    page.text().lines().find_map(|line| line.strip_prefix(name)?.parse().ok()).unwrap()
}

/// Replaces a file as a whole.
fn replace(path: &Path, text: &str) {
    let next = path.with_extension("next");
    fs::write(&next, text).unwrap();
    fs::rename(next, path).unwrap();
}

#[test]
fn a_changed_file_replaces_keys_and_a_bad_one_does_not() {
    let dir = TempDir::new().unwrap();
    let (keys, secrets) = (dir.path().join("keys"), dir.path().join("secrets"));
    replace(&keys, &key("one"));
    replace(&secrets, &format!("# of the app\n{SECRET}\n"));
    let path = |path: &Path| path.to_str().unwrap().to_owned();
    let settings = [
        ("TIDELINE__AUTH__KEYS_FILE", path(&keys)),
        ("TIDELINE__AUTH__JWT_SECRETS_FILE", path(&secrets)),
        ("TIDELINE__PRESENCE__HEARTBEAT", "100ms".to_owned()),
    ];
    let settings = settings.each_ref().map(|(name, value)| (*name, value.as_str()));
    let logged = Logged::start(dir, &[], &settings);
    let server = &logged.server;
    let ana = token("ana");
    assert_eq!([page(server, &key("one")), page(server, &key("two")), page(server, &ana)], [200, 403, 200]);

    let mut stream = connect(server.address);
    write!(stream, "GET /v1/users/ana/stream?access_token={ana} HTTP/1.1\r\nhost: x\r\n\r\n").unwrap();
    let mut begin = [0; 12];
    stream.read_exact(&mut begin).unwrap();
    assert_eq!(&begin, b"HTTP/1.1 200");
    let open = [("authorization", format!("Bearer {}", key("one")))];
    let bearer = open.each_ref().map(|(name, value)| (*name, value.as_str()));
    assert_eq!(server.call_as("GET", "/v1/users/ana/presence", "", &bearer).json()["online"], true);

    replace(&keys, &format!("{}\n{}", key("two"), key("three")));
    wait_until("the new key is not taken", || page(server, &key("two")) == 200);
    assert_eq!([page(server, &key("one")), page(server, &key("three")), page(server, &ana)], [403, 200, 200]);
    let mut rest = Vec::new();
    stream.read_to_end(&mut rest).unwrap();

    // Another secret: tokens that were verified before are refused.
    replace(&secrets, "another secret that is long enough to be one");
    wait_until("the old secret still counts", || page(server, &ana) == 403);
    let four = key("four");
    let lines = [format!("{four}\nshort-and-secret"), format!("\u{feff}{four}"), format!("keys = [\"{four}\"]")];
    let bad = ["# nothing\n", "short-and-secret\n"].into_iter().chain(lines.iter().map(String::as_str));
    for bad in bad {
        let before = logged.kept();
        replace(&keys, bad);
        wait_until("no error is logged", || logged.kept() > before);
        assert_eq!([page(server, &key("two")), page(server, &key("four"))], [200, 403], "{bad}");
        assert_eq!(failed_keys(server, "two"), 1, "{bad}");
    }
    fs::remove_file(&keys).unwrap();
    wait_until("no error is logged", || logged.log().contains("No such file"));
    assert_eq!(page(server, &key("two")), 200);
    replace(&keys, &key("four"));
    wait_until("the right file is not taken", || page(server, &key("four")) == 200);
    wait_until("the failure still counts", || failed_keys(server, "four") == 0);
    assert_eq!(page(server, &key("two")), 403);
    let told = logged.log();
    for secret in ["short-and-secret", SECRET, "another secret", &key("two"), &ana] {
        assert!(!told.contains(secret), "{told}");
    }
}

#[test]
fn sighup_reads_the_keys_of_the_configuration_file_again() {
    let dir = TempDir::new().unwrap();
    let file = dir.path().join("t.toml");
    let write =
        |keys: &str, secret: &str| replace(&file, &format!("[auth]\nkeys = [{keys}]\njwt_secret = \"{secret}\"\n"));
    let quoted = |name: &str| format!("\"{}\"", key(name));
    write(&quoted("one"), SECRET);
    let logged = Logged::start(dir, &["--config", file.to_str().unwrap()], &[]);
    let server = &logged.server;
    assert_eq!([page(server, &key("one")), page(server, &token("ana"))], [200, 200]);
    write(&quoted("two"), SECRET);
    server.signal("HUP");
    wait_until("the new key is not taken", || page(server, &key("two")) == 200);
    assert_eq!([page(server, &key("one")), page(server, &token("ana"))], [403, 200]);
    for bad in ["[auth]\nkeys = [\"short\"]\n", "[auth]\n", "[auth\n", "[timeline]\ninbox_limit = 0\n"] {
        let before = logged.kept();
        replace(&file, bad);
        server.signal("HUP");
        wait_until("no error is logged", || logged.kept() > before);
        assert_eq!(
            [page(server, &key("two")), page(server, &token("ana")), page(server, "")],
            [200, 200, 401],
            "{bad}"
        );
    }
    assert_eq!(logged.server.end("TERM").code(), Some(0));
}

#[test]
fn refused_credentials_are_logged_without_them_and_not_without_end() {
    let keys = key("one");
    let settings = [
        ("TIDELINE__AUTH__KEYS", keys.as_str()),
        ("TIDELINE__AUTH__JWT_SECRET", SECRET),
        ("TIDELINE__LOG__LEVEL", "trace"),
        ("TIDELINE__LOG__FORMAT", "json"),
    ];
    let logged = Logged::start(TempDir::new().unwrap(), &[], &settings);
    let server = &logged.server;
    let late = signed(&json!({"sub": "ana", "exp": now() - 100}), SECRET.as_bytes());
    let (bo, wrong) = (token("bo"), signed(&claims("ana"), b"a secret of somebody else who signs tokens"));
    let refused = [key("wrong"), late.clone(), bo.clone(), wrong.clone()];
    for credential in &refused {
        assert_eq!(page(server, credential), 403);
        let stream = format!("/v1/users/ana/stream?access_token={credential}");
        assert_eq!(server.call("GET", &stream, "").status, 403);
    }
    let lines = || logged.audit();
    wait_until("a line is missing", || lines().len() == 8);
    let first = lines().remove(0);
    let (fields, address) = (&first["fields"], "127.0.0.1");
    for (name, value) in
        [("address", address), ("method", "GET"), ("path", "/v1/users/ana/timeline"), ("code", "bad_credentials")]
    {
        assert_eq!(fields[name], value, "{first}");
    }
    assert_eq!(first["level"], "WARN");
    let reasons: Vec<_> = lines().iter().map(|line| line["fields"]["reason"].clone()).collect();
    assert!(reasons.contains(&json!("the token has expired")) && reasons.contains(&json!("wrong signature")));
    assert_eq!(server.call("GET", "/v1/users/ana/timeline", "").status, 401);
    let began = Instant::now();
    for _ in 0..500 {
        page(server, &wrong);
    }
    std::thread::sleep(std::time::Duration::from_millis(1100));
    page(server, &wrong);
    // Twenty a second, also in the seconds at both ends. On a slow machine the requests take many seconds.
    let most = 8 + 20 * (began.elapsed().as_secs() as usize + 2);
    wait_until("nothing says how many lines are left out", || {
        lines().iter().map(|line| line["fields"]["left_out"].as_u64().unwrap_or_default()).sum::<u64>()
            + lines().len() as u64
            == 509
    });
    assert!(lines().len() <= most, "{} of at most {most}", lines().len());
    let log = logged.log();
    for credential in refused.iter().chain([&keys, &SECRET.to_owned()]) {
        assert!(!log.contains(credential.as_str()), "{credential}");
    }
}

#[test]
fn refusals_of_valid_credentials_do_not_hide_guesses() {
    let settings = [
        ("TIDELINE__AUTH__KEYS", key("one")),
        ("TIDELINE__AUTH__JWT_SECRETS", SECRET.to_owned()),
        ("TIDELINE__LOG__FORMAT", "json".to_owned()),
    ];
    let settings = settings.each_ref().map(|(name, value)| (*name, value.as_str()));
    let logged = Logged::start(TempDir::new().unwrap(), &[], &settings);
    let bo = token("bo");
    for guess in 0..10 {
        for _ in 0..60 {
            assert_eq!(page(&logged.server, &bo), 403);
        }
        assert_eq!(page(&logged.server, &format!("{guess:032}")), 403);
    }
    std::thread::sleep(std::time::Duration::from_millis(1100));
    page(&logged.server, &bo);
    let lines = |code| -> Vec<_> { logged.audit().into_iter().filter(|line| line["fields"]["code"] == code).collect() };
    let left_out = |line: &Value| line["fields"]["left_out"].as_u64().unwrap_or_default();
    wait_until("a refusal is neither told nor counted", || {
        let lines = lines("not_permitted");
        lines.iter().map(left_out).sum::<u64>() + lines.len() as u64 == 601
    });
    let guesses = lines("bad_credentials");
    assert!(guesses.len() == 10 && guesses.iter().all(|line| left_out(line) == 0), "{guesses:?}");
}

#[test]
fn a_call_of_an_administrator_has_a_line_with_the_hash_of_the_key() {
    let one = key("one");
    let logged = Logged::start(TempDir::new().unwrap(), &[], &[("TIDELINE__AUTH__KEYS", &one)]);
    let bearer = format!("Bearer {one}");
    let call = |method, path| logged.server.call_as(method, path, "", &[("authorization", &bearer)]);
    let taken = call("POST", "/v1/admin/backups").expect(201);
    let path = format!("/v1/admin/backups/{}", taken["name"].as_str().unwrap());
    assert_eq!([call("GET", "/v1/admin/backups").status, call("GET", "/v1/admin/stats").status], [200, 200]);
    assert_eq!(call("DELETE", "/v1/admin/backups/none").status, 404);
    assert_eq!(call("GET", &path).status, 200);
    wait_until("the line is not written", || logged.log().contains(&path));
    let text = logged.log();
    let lines: Vec<_> = text.lines().filter(|line| line.contains("a call of an administrator")).collect();
    let hash = KeyHash::of(one.as_bytes()).to_string();
    assert!(lines.iter().all(|line| line.contains(&format!("caller={} ", &hash[..19]))), "{lines:?}");
    let is = |line: &&str, call: &str| line.contains(call);
    let calls =
        ["method=\"POST\" path=\"/v1/admin/backups\" status=201", "status=404", &format!("path=\"{path}\" status=200")];
    assert!(lines.len() == 3 && lines.iter().zip(calls).all(|(line, call)| is(line, call)), "{lines:?}");
    assert!(!text.contains(&one) && !text.contains(&hash), "{text}");
}

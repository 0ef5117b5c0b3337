//! Webhooks: the feed of changes comes to a receiver, whatever the receiver and the server do meanwhile.

use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

use aws_lc_rs::hmac;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::server::{Server, command, free_address, program, wait_until};

/// What a receiver does with a request.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Does {
    Take,
    /// Takes it, and answers after so many milliseconds.
    TakeLate(u64),
    Answer(&'static str),
    /// Takes no part of it, and ends the connection.
    End,
    /// Never answers.
    Hang,
}

/// A request that a receiver has got.
#[derive(Debug, Clone)]
struct Got {
    id: String,
    timestamp: String,
    signatures: Vec<String>,
    body: String,
    taken: bool,
}

impl Got {
    fn items(&self) -> Vec<Value> {
        let body: Value = serde_json::from_str(&self.body).expect("JSON");
        body["items"].as_array().expect("items").clone()
    }

    /// Whether a secret has signed it.
    fn is_signed_with(&self, secret: &[u8]) -> bool {
        let message = format!("{}.{}.{}", self.id, self.timestamp, self.body);
        let tag = hmac::sign(&hmac::Key::new(hmac::HMAC_SHA256, secret), message.as_bytes());
        self.signatures.contains(&format!("v1,{}", STANDARD.encode(tag)))
    }
}

/// A receiver that does with its requests, one after another, what the test says, and then takes all.
#[derive(Clone)]
struct Receiver {
    address: SocketAddr,
    got: Arc<Mutex<Vec<Got>>>,
}

impl Receiver {
    fn start(does: Vec<Does>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("binds");
        let receiver = Self { address: listener.local_addr().expect("an address"), got: Arc::default() };
        let (got, does) = (Arc::clone(&receiver.got), Arc::new(Mutex::new(does.into_iter())));
        thread::spawn(move || {
            for stream in listener.incoming() {
                let (got, does) = (Arc::clone(&got), Arc::clone(&does));
                let next = move || does.lock().expect("whole").next().unwrap_or(Does::Take);
                thread::spawn(move || serve(stream.expect("a connection"), &got, next));
            }
        });
        receiver
    }

    fn got(&self) -> Vec<Got> {
        self.got.lock().expect("whole").clone()
    }

    /// The changes that it has taken, each once; checks that they come in order, and that repeats are equal.
    fn changes(&self) -> Vec<Value> {
        let mut changes: Vec<Value> = Vec::new();
        for got in self.got().into_iter().filter(|got| got.taken) {
            let items = got.items();
            let known = changes.iter().position(|change| *change == items[0]).unwrap_or(changes.len());
            assert!(changes[known..].iter().zip(&items).all(|(was, is)| was == is), "out of order: {got:?}");
            let more = changes.len() - known;
            changes.extend(items.into_iter().skip(more));
        }
        changes
    }
}

fn serve(mut stream: TcpStream, got: &Mutex<Vec<Got>>, next: impl Fn() -> Does) {
    let mut reader = BufReader::new(stream.try_clone().expect("a socket"));
    loop {
        let (mut line, mut head) = (String::new(), Vec::new());
        while reader.read_line(&mut line).is_ok_and(|read| read > 2) {
            head.push(line.trim_end().to_owned());
            line.clear();
        }
        let Some(first) = head.first() else { return };
        assert_eq!(first, "POST /hook?for=test HTTP/1.1");
        let field = |name: &str| {
            let line = head.iter().find_map(|line| line.strip_prefix(&format!("{name}: ")));
            line.unwrap_or_else(|| panic!("no {name} in {head:?}")).to_owned()
        };
        assert_eq!(field("content-type"), "application/json");
        let mut body = vec![0; field("content-length").parse().expect("a length")];
        if reader.read_exact(&mut body).is_err() {
            return;
        }
        let does = next();
        let signatures = field("webhook-signature").split(' ').map(str::to_owned).collect();
        got.lock().expect("whole").push(Got {
            id: field("webhook-id"),
            timestamp: field("webhook-timestamp"),
            signatures,
            body: String::from_utf8(body).expect("text"),
            taken: matches!(does, Does::Take | Does::TakeLate(_)),
        });
        let answer = match does {
            Does::Take => "204 No Content",
            Does::TakeLate(millis) => {
                thread::sleep(Duration::from_millis(millis));
                "200 OK"
            }
            Does::Answer(answer) => answer,
            Does::End => return,
            Does::Hang => {
                thread::sleep(Duration::from_secs(60));
                return;
            }
        };
        let has_length = answer.starts_with("204") || answer.contains("content-length");
        let length = if has_length { "" } else { "content-length: 0\r\n" };
        if write!(stream, "HTTP/1.1 {answer}\r\n{length}\r\n").is_err() {
            return;
        }
    }
}

/// Directories of a test: for the data, and for the settings with one receiver.
struct Place {
    data: TempDir,
    settings: TempDir,
}

const SECRET: [u8; 32] = [7; 32];

fn written(secret: &[u8]) -> String {
    format!("whsec_{}\n", STANDARD.encode(secret))
}

impl Place {
    fn new(receiver: &Receiver, more: &str) -> Self {
        let place = Self { data: TempDir::new().expect("temp dir"), settings: TempDir::new().expect("temp dir") };
        let secret = place.settings.path().join("secret");
        fs::write(&secret, written(&SECRET)).expect("writes");
        let hook = format!(
            "[[webhooks]]\nname = \"push\"\nurl = \"http://{}/hook?for=test\"\nsecret_file = {secret:?}\n{more}\n",
            receiver.address
        );
        fs::write(place.settings.path().join("config.toml"), hook).expect("writes");
        place
    }

    fn serve(&self) -> Server {
        let mut command = command(&self.data, "127.0.0.1:0", &[]);
        command.arg("--config").arg(self.settings.path().join("config.toml"));
        Server::launch(command).expect("starts")
    }
}

fn mute(server: &Server, user: u64, target: u64) {
    assert_eq!(server.call("PUT", &format!("/v1/users/{user}/mutes/{target}"), "").status, 200);
}

/// All changes in the feed.
fn feed(server: &Server) -> Vec<Value> {
    let (mut found, mut after) = (Vec::new(), String::new());
    loop {
        let page = server.get(&format!("/v1/changes?{after}"));
        let items = page["items"].as_array().expect("items").clone();
        if items.is_empty() {
            return found;
        }
        found.extend(items);
        after = format!("after={}", page["position"].as_str().expect("text"));
    }
}

fn status(server: &Server) -> Value {
    server.get("/v1/admin/webhooks")["items"][0].clone()
}

#[test]
fn a_receiver_gets_every_change_in_order_over_failures_and_kills() {
    let redirect = Does::Answer("302 Found\r\nlocation: http://127.0.0.1:1/");
    let does = [Does::Take, Does::Answer("500 Oops"), redirect, Does::TakeLate(500), Does::End, Does::Take];
    let receiver = Receiver::start(does.to_vec());
    let place = Place::new(&receiver, "");
    let mut server = place.serve();
    for round in 0..6 {
        for n in 0..150 {
            mute(&server, 1 + round, 1000 * (1 + round) + n);
        }
        if round < 5 {
            server.signal("KILL");
            drop(server);
            server = place.serve();
        }
    }
    let whole = feed(&server);
    wait_until("changes do not come", || receiver.changes().len() >= whole.len());
    assert_eq!(receiver.changes(), whole);
    let got = receiver.got();
    assert!(got.iter().all(|got| got.is_signed_with(&SECRET)));
    assert!(got.iter().all(|got| (1..=100).contains(&got.items().len())));
    for pair in got.windows(2).filter(|pair| pair[0].id == pair[1].id) {
        assert_eq!(pair[0].body, pair[1].body, "one id for two bodies");
    }
    wait_until("the position", || status(&server)["position"] == whole[whole.len() - 1]["position"]);
    wait_until("the lag", || status(&server)["lag_seconds"] == 0);
    server.end("TERM");

    // After a stop in order nothing is sent again.
    let before = receiver.got().len();
    let server = place.serve();
    mute(&server, 7, 8);
    wait_until("a change does not come", || receiver.got().len() > before);
    assert_eq!(receiver.got()[before].items().len(), 1);
}

#[test]
fn changes_that_wait_are_sent_from_a_copy_too() {
    // Takes none, however long the first server runs.
    let refuses = Receiver::start(vec![Does::Answer("500 Oops"); 1000]);
    let place = Place::new(&refuses, "after = \"oldest\"");
    let server = place.serve();
    (2..5).for_each(|target| mute(&server, 1, target));
    let whole = feed(&server);
    server.end("TERM");
    fs::remove_file(place.data.path().join("RUN")).expect("removes");
    let receiver = Receiver::start(Vec::new());
    let place = Place { data: place.data, ..Place::new(&receiver, "after = \"oldest\"") };
    let server = place.serve();
    wait_until("changes are not sent", || receiver.changes().len() >= whole.len());
    let told = |changes: &[Value]| changes.iter().map(|change| change["target_id"].clone()).collect::<Vec<_>>();
    assert_eq!(told(&receiver.changes()), told(&whole));
    wait_until("the figures", || status(&server)["taken"] == 3);
    assert_eq!(status(&server)["gaps"], 0);
}

/// Only one of the two sends, and the other one goes on behind the last change that was taken.
#[test]
fn a_standby_sends_nothing_until_it_takes_over() {
    let mut does = vec![Does::Answer("500 Oops"); 100];
    does.insert(0, Does::Take);
    let (first, second) = (Receiver::start(does), Receiver::start(Vec::new()));
    let [place, other] = [&first, &second].map(|receiver| Place::new(receiver, "after = \"oldest\""));
    let server = place.serve();
    mute(&server, 1, 2);
    wait_until("the position", || status(&server)["position"] == feed(&server)[0]["position"]);
    let listen = free_address().to_string();
    let from = format!("http://{}", server.address);
    let mut standby = program();
    standby.args(["standby", "--from", &from, "--listen", &listen, "--name", "b", "--data-dir"]).arg(other.data.path());
    let standby = Server::launch({
        standby.arg("--config").arg(other.settings.path().join("config.toml"));
        standby
    });
    let standby = standby.expect("starts");
    (3..6).for_each(|target| mute(&server, 1, target));
    wait_until("it is ready", || standby.call("GET", "/standbyz", "").status == 200);
    wait_until("a request fails", || first.got().len() > 2);
    let whole = feed(&server);
    let promoted = program().args(["promote", "--switch", "--url", &format!("http://{listen}")]).status();
    assert!(promoted.expect("runs").success());
    wait_until("changes are not sent", || second.changes().len() >= 3);
    // A request that was on its way at the switch has come by now.
    let sent = first.got().len();
    assert_eq!((second.changes(), feed(&standby)), (whole[1..].to_vec(), whole));
    mute(&standby, 1, 6);
    wait_until("a change does not come", || second.changes().len() == 4);
    // The first pauses would have passed.
    thread::sleep(Duration::from_secs(3));
    assert_eq!(first.got().len(), sent, "the server before sends on");
    assert_eq!(status(&standby)["gaps"], 0);
}

#[test]
fn an_answer_whose_body_hangs_is_taken() {
    let receiver = Receiver::start(vec![Does::Answer("200 OK\r\nx-body: none\r\ncontent-length: 9")]);
    let place = Place::new(&receiver, "");
    let server = place.serve();
    mute(&server, 1, 2);
    wait_until("the change is not taken", || status(&server)["taken"] == 1);
    assert_eq!(status(&server)["failures"], 0);
}

#[test]
fn a_receiver_that_hangs_is_asked_again() {
    let receiver = Receiver::start(vec![Does::Hang]);
    let place = Place::new(&receiver, "types = [\"follow.created\"]\nafter = \"oldest\"");
    let server = place.serve();
    mute(&server, 1, 2);
    assert_eq!(server.call("PUT", "/v1/users/1/following/3", "{}").status, 200);
    wait_until("the request is not repeated", || receiver.got().len() > 1);
    let [first, second] = [0, 1].map(|n| receiver.got()[n].clone());
    assert_eq!((first.id, first.body), (second.id, second.body));
    assert_eq!(receiver.changes(), feed(&server).split_off(1));
    let error = status(&server)["last_error"].clone();
    assert_eq!(error, "there was no answer within 15 s");
    let figures = server.call("GET", "/metrics", "");
    let figures = figures.text();
    assert!(figures.contains("tideline_webhook_failures_total{webhook=\"push\"} 1\n"), "{figures}");
}

#[test]
fn a_new_secret_signs_without_a_restart() {
    let receiver = Receiver::start(Vec::new());
    let place = Place::new(&receiver, "");
    let server = place.serve();
    let file = place.settings.path().join("secret");
    for (n, secrets) in [vec![[7; 32], [8; 32]], vec![[8; 32]]].into_iter().enumerate() {
        fs::write(&file, secrets.iter().map(|secret| written(secret)).collect::<String>()).expect("writes");
        mute(&server, 1, 2 + n as u64);
        wait_until("a change does not come", || receiver.got().len() > n);
        let got = receiver.got()[n].clone();
        assert_eq!(got.signatures.len(), secrets.len());
        assert!(secrets.iter().all(|secret| got.is_signed_with(secret)));
    }
    // A file that cannot be read stops nothing.
    fs::remove_file(&file).expect("removes");
    mute(&server, 1, 9);
    wait_until("a change does not come", || receiver.got().len() > 2);
    assert!(receiver.got()[2].is_signed_with(&[8; 32]));
}

#[test]
fn receivers_that_cannot_be_are_refused_at_the_start() {
    let receiver = Receiver { address: ([127, 0, 0, 1], 1).into(), got: Arc::default() };
    let place = Place::new(&receiver, "after = \"yesterday\"");
    let mut command = command(&place.data, "127.0.0.1:0", &[]);
    command.arg("--config").arg(place.settings.path().join("config.toml"));
    assert!(Server::launch(command).is_err_and(|status| status.code() == Some(1)));
    let list = Server::start().get("/v1/admin/webhooks");
    assert_eq!(list, json!({"items": []}));
}

/// A server that is restored, or a standby that takes over, must serve: on another machine a file may be missing, and the
/// directory may not know the position of the settings.
#[test]
fn a_receiver_never_keeps_a_server_from_serving() {
    let receiver = Receiver::start(Vec::new());
    let place = Place::new(&receiver, "after = \"00000000000000ab-7\"");
    let secret = place.settings.path().join("secret");
    fs::remove_file(&secret).expect("removes");
    let server = place.serve();
    mute(&server, 1, 2);
    wait_until("it does not fail", || status(&server)["failures"] != 0);
    assert!(status(&server)["last_error"].as_str().expect("text").contains("secret_file"), "{}", status(&server));
    assert_eq!((receiver.got().len(), &status(&server)["gaps"]), (0, &json!(1)));
    fs::write(&secret, written(&SECRET)).expect("writes");
    wait_until("the change does not come", || receiver.changes() == feed(&server));
    let position = feed(&server)[0]["position"].as_str().expect("text").to_owned();
    server.end("TERM");
    // The same directory, with another history: a receiver that begins behind a change of an earlier one goes on by its number.
    fs::remove_file(place.data.path().join("RUN")).expect("removes");
    let other = Receiver::start(Vec::new());
    let again = Place { data: place.data, ..Place::new(&other, &format!("after = {position:?}")) };
    let config = again.settings.path().join("config.toml");
    let named = fs::read_to_string(&config).expect("reads").replace("\"push\"", "\"other\"");
    fs::write(&config, named).expect("writes");
    let server = again.serve();
    mute(&server, 1, 3);
    wait_until("the change does not come", || other.changes().len() == 1);
    assert_eq!((&other.changes()[0]["target_id"], &status(&server)["gaps"]), (&json!("3"), &json!(0)));
}

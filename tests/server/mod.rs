//! Runs the built program as a server on a free port, and calls it.
#![allow(dead_code, clippy::unwrap_used, clippy::panic, reason = "each test binary and bench uses a part")]

pub(crate) mod clock;
pub(crate) mod described;
pub(crate) mod host_ids;
pub(crate) mod tokens;

use std::collections::BTreeSet;
use std::io::{BufRead, BufReader, ErrorKind, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::process::{Child, ChildStdout, Command, ExitStatus, Stdio};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use serde_json::Value;
use socket2::{Domain, Socket, Type};
use tempfile::TempDir;
use ureq::Agent;
use ureq::http::Request;

/// Longest wait before the test fails, for the slowest machine.
pub(crate) const PATIENCE: Duration = Duration::from_secs(60);

/// An address on which nobody listens now, and which no other test gets. Its port lies below those of outgoing
/// connections, one of which could have it before a server listens there.
pub(crate) fn free_address() -> SocketAddr {
    static GIVEN: Mutex<BTreeSet<u16>> = Mutex::new(BTreeSet::new());
    let range = std::fs::read_to_string("/proc/sys/net/ipv4/ip_local_port_range").unwrap_or_default();
    let first = range.split_whitespace().next().and_then(|first| first.parse().ok());
    let end = first.filter(|first| *first > 12_000).unwrap_or(u16::MAX);
    let chosen = std::iter::repeat_with(|| fastrand::u16(10_000..end)).take(1000);
    let mut new = chosen.filter(|port| GIVEN.lock().unwrap().insert(*port)).map(|port| ([127, 0, 0, 1], port).into());
    new.find(|address: &SocketAddr| TcpListener::bind(address).is_ok()).expect("a free port")
}

/// A running server. Killed when dropped.
pub(crate) struct Server {
    child: Child,
    stdout: BufReader<ChildStdout>,
    agent: Agent,
    pub(crate) address: SocketAddr,
    /// The data directory, if the server owns it.
    data: Option<TempDir>,
}

/// The event loops of a server, unless a test sets them. Each prepares all routes at the start: with the default that is a
/// large part of the work of a short test.
pub(crate) const WORKERS: &str = "2";

/// An answer.
#[derive(Debug)]
pub(crate) struct Reply {
    pub(crate) status: u16,
    headers: ureq::http::HeaderMap,
    pub(crate) bytes: Vec<u8>,
}

/// The program without any settings.
pub(crate) fn program() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_tideline"));
    command.env_clear();
    command
}

/// Runs the program on a data directory to its end, which must succeed.
pub(crate) fn run(args: &[&str], data: &TempDir, settings: &[(&str, &str)]) -> String {
    let mut command = program();
    let done = command.args(args).arg("--data-dir").arg(data.path()).envs(settings.iter().copied()).output().unwrap();
    assert!(done.status.success(), "{args:?}: {}", String::from_utf8_lossy(&done.stderr));
    String::from_utf8(done.stdout).unwrap()
}

/// Waits until a condition holds; `complaint` is the message if it does not.
#[track_caller]
pub(crate) fn wait_until(complaint: &str, mut is_so: impl FnMut() -> bool) {
    let began = Instant::now();
    while !is_so() {
        assert!(began.elapsed() < PATIENCE, "{complaint}");
        std::thread::sleep(Duration::from_millis(10));
    }
}

/// The command that serves a directory, with only the settings of the test.
pub(crate) fn command(data: &TempDir, listen: &str, settings: &[(&str, &str)]) -> Command {
    let mut command = program();
    command.args(["serve", "--listen", listen, "--data-dir"]).arg(data.path());
    command.env("TIDELINE__SERVER__WORKERS", WORKERS).current_dir(data.path()).envs(settings.iter().copied());
    command
}

/// A connection. Who waits too long for an answer fails.
pub(crate) fn connect(address: SocketAddr) -> TcpStream {
    let stream = TcpStream::connect(address).unwrap();
    stream.set_read_timeout(Some(PATIENCE)).unwrap();
    stream
}

/// Sets a flag when dropped, so also after a failure.
pub(crate) struct SetOnDrop<'a>(pub(crate) &'a AtomicBool);

impl Drop for SetOnDrop<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// Sends a signal to a process.
pub(crate) fn signal(child: &Child, signal: &str) {
    assert!(Command::new("kill").args(["-s", signal, &child.id().to_string()]).status().unwrap().success());
}

impl Server {
    /// Starts a server with the default settings.
    pub(crate) fn start() -> Self {
        Self::with(&[])
    }

    /// Starts a server with some settings, as environment overrides.
    pub(crate) fn with(settings: &[(&str, &str)]) -> Self {
        Self::on(TempDir::new().unwrap(), settings)
    }

    /// Starts a server on a data directory that may have been used before.
    pub(crate) fn on(data: TempDir, settings: &[(&str, &str)]) -> Self {
        host_ids::prepare(data.path());
        let started = Self::launch(command(&data, "127.0.0.1:0", settings));
        let mut server = started.unwrap_or_else(|status| panic!("the server ended with {status}"));
        server.data = Some(data);
        server
    }

    /// Starts a server by a command, and waits until it is ready; the exit status if it ends before.
    pub(crate) fn launch(mut command: Command) -> Result<Self, ExitStatus> {
        let mut child = command.stdin(Stdio::null()).stdout(Stdio::piped()).spawn().unwrap();
        let (mut stdout, mut line) = (BufReader::new(child.stdout.take().unwrap()), String::new());
        stdout.read_line(&mut line).unwrap();
        let Some(address) = line.trim_end().strip_prefix("listening on http://") else {
            assert_eq!(line, "");
            return Err(child.wait().unwrap());
        };
        let agent = Agent::config_builder().http_status_as_error(false).timeout_global(Some(PATIENCE)).build().into();
        Ok(Self { child, stdout, agent, address: address.parse().unwrap(), data: None })
    }

    /// The server's data directory.
    pub(crate) fn data(&self) -> &TempDir {
        self.data.as_ref().unwrap()
    }

    /// The server's process.
    pub(crate) fn pid(&self) -> u32 {
        self.child.id()
    }

    /// A call with a body, which may be empty.
    pub(crate) fn call(&self, method: &str, path: &str, body: impl AsRef<[u8]>) -> Reply {
        self.attempt(method, path, body).unwrap_or_else(|e| panic!("{method} {path}: {e}"))
    }

    /// A call to a server that may have ended.
    pub(crate) fn attempt(&self, method: &str, path: &str, body: impl AsRef<[u8]>) -> Result<Reply, ureq::Error> {
        self.attempt_as(method, path, body, &[("content-type", "application/json")])
    }

    /// A call with headers of its own.
    pub(crate) fn call_as(&self, method: &str, path: &str, body: impl AsRef<[u8]>, headers: &[(&str, &str)]) -> Reply {
        self.attempt_as(method, path, body, headers).unwrap_or_else(|e| panic!("{method} {path}: {e}"))
    }

    /// [`Server::call_as`] of a server that may have ended.
    pub(crate) fn attempt_as(
        &self,
        method: &str,
        path: &str,
        body: impl AsRef<[u8]>,
        headers: &[(&str, &str)],
    ) -> Result<Reply, ureq::Error> {
        let body = host_ids::body(body.as_ref());
        let target = host_ids::target(path);
        let mut request = Request::builder().method(method).uri(format!("http://{}{target}", self.address));
        for (name, value) in headers {
            let value = if *name == "last-event-id" { host_ids::cursor(value) } else { (*value).into() };
            request = request.header(*name, &*value);
        }
        let answer = match method {
            "GET" | "HEAD" | "DELETE" | "OPTIONS" => self.agent.run(request.body(()).unwrap()),
            _ => self.agent.run(request.body(&*body).unwrap()),
        };
        let mut answer = answer?;
        let bytes = answer.body_mut().with_config().limit(64 << 20).read_to_vec()?;
        let mut headers = answer.headers().clone();
        for value in headers.values_mut() {
            *value = host_ids::told(value.to_str().unwrap()).parse().unwrap();
        }
        let bytes =
            String::from_utf8(bytes).map_or_else(|e| e.into_bytes(), |text| host_ids::told(&text).into_owned().into());
        let reply = Reply { status: answer.status().as_u16(), headers, bytes };
        described::check(method, path, &reply);
        Ok(reply)
    }

    /// GET, which must succeed.
    pub(crate) fn get(&self, path: &str) -> Value {
        self.call("GET", path, "").expect(200)
    }

    /// Publishes an item with a unique text.
    pub(crate) fn publish(&self, id: u64, author: u64, at: u64) {
        let body = format!(r#"{{"content_id":{id},"author_id":{author},"published_at":{at},"text":"item {id}"}}"#);
        self.call("POST", "/v1/content", body).expect(201);
    }

    /// Makes one user follow another.
    pub(crate) fn follow(&self, user: u64, target: u64, since: u64) {
        self.call("PUT", &format!("/v1/users/{user}/following/{target}"), format!(r#"{{"since":{since}}}"#))
            .expect(200);
    }

    /// The content ids of a list.
    pub(crate) fn ids(&self, path: &str) -> Vec<u64> {
        ids(&self.get(path))
    }

    /// One figure of `/metrics`, by its name and labels as written there. A busy machine may have none of the disk at
    /// first.
    pub(crate) fn figure(&self, name: &str) -> f64 {
        let mut figure = None;
        wait_until(&format!("no {name}"), || {
            let page = self.call("GET", "/metrics", "");
            let line = page.text().lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(' '));
            figure = line.map(|figure| figure.parse().unwrap());
            figure.is_some()
        });
        figure.unwrap()
    }

    /// Waits until a figure of `/metrics` meets a condition.
    pub(crate) fn wait_for(&self, name: &str, good: impl Fn(f64) -> bool) {
        wait_until(&format!("{name} is not as it should be"), || good(self.figure(name)));
    }

    /// Waits until the workers have no jobs left; false if the server ends before.
    pub(crate) fn drain(&self) -> bool {
        let mut is_there = true;
        wait_until("the jobs do not end", || match self.attempt("GET", "/v1/admin/stats", "") {
            Ok(stats) => stats.json()["jobs"]["waiting"] == 0,
            Err(_) => {
                is_there = false;
                true
            }
        });
        is_there
    }

    /// Waits until no job is left, on a server that must not end.
    pub(crate) fn settle(&self) {
        assert!(self.drain(), "the server is gone");
    }

    /// The numbers of rows and bytes of all tables, once all inboxes are on disk, and the ends of their jobs: these are
    /// written some seconds after the jobs have ended.
    pub(crate) fn tables(&self) -> Value {
        self.settle();
        self.wait_for("tideline_arrivals_bytes", |bytes| bytes < 0.5);
        self.get("/v1/admin/stats")["tables"].take()
    }

    /// A connection with a small receive buffer.
    pub(crate) fn narrow(&self) -> TcpStream {
        let socket = Socket::new(Domain::IPV4, Type::STREAM, None).unwrap();
        socket.set_recv_buffer_size(4096).unwrap();
        socket.connect(&self.address.into()).unwrap();
        socket.into()
    }

    /// Sends bytes unchanged, and returns the answer until the server closes, which it must.
    pub(crate) fn raw(&self, bytes: &[u8]) -> Vec<u8> {
        let mut stream = connect(self.address);
        // The server may answer and close before it has read all bytes.
        let _ = stream.write_all(bytes);
        let mut answer = Vec::new();
        let mut chunk = [0; 4096];
        loop {
            match stream.read(&mut chunk) {
                Ok(0) => return answer,
                Ok(read) => answer.extend_from_slice(&chunk[..read]),
                Err(e) if e.kind() == ErrorKind::ConnectionReset => return answer,
                Err(e) => panic!("no end after {:?}: {e}", String::from_utf8_lossy(&answer)),
            }
        }
    }

    /// Sends a signal.
    pub(crate) fn signal(&self, name: &str) {
        signal(&self.child, name);
    }

    /// The exit status of a server that is ending. It has written one line to stdout.
    pub(crate) fn wait(&mut self) -> ExitStatus {
        let status = wait(&mut self.child);
        let mut rest = String::new();
        self.stdout.read_to_string(&mut rest).unwrap();
        assert_eq!(rest, "");
        status
    }

    /// Sends a signal to a promoted standby, which has written a second line, and waits for the end.
    pub(crate) fn end_of_promoted(mut self, signal: &str) -> ExitStatus {
        self.signal(signal);
        let status = wait(&mut self.child);
        let mut rest = String::new();
        self.stdout.read_to_string(&mut rest).unwrap();
        assert!(rest.starts_with("listening on http://") && rest.lines().count() == 1, "{rest}");
        status
    }

    /// Sends a signal and waits for the end.
    pub(crate) fn end(mut self, signal: &str) -> ExitStatus {
        self.signal(signal);
        self.wait()
    }

    /// Ends the server by a signal, and keeps its own data directory.
    pub(crate) fn stop(mut self, signal: &str) -> (ExitStatus, TempDir) {
        let data = self.data.take().unwrap();
        (self.end(signal), data)
    }

    /// Ends the server by a signal, and starts another on its data.
    pub(crate) fn restart(self, signal: &str, settings: &[(&str, &str)]) -> Self {
        let (status, data) = self.stop(signal);
        assert_eq!(status.code(), if signal == "KILL" { None } else { Some(0) }, "{signal}");
        Self::on(data, settings)
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Waits for the end of a process.
pub(crate) fn wait(child: &mut Child) -> ExitStatus {
    let mut status = None;
    wait_until("the server does not end", || {
        status = child.try_wait().unwrap();
        status.is_some()
    });
    status.unwrap()
}

/// The content ids of a list's answer.
pub(crate) fn ids(list: &Value) -> Vec<u64> {
    list["items"].as_array().unwrap().iter().map(|item| item["content_id"].as_str().unwrap().parse().unwrap()).collect()
}

/// The user ids of a list's answer.
pub(crate) fn users(list: &Value) -> Vec<u64> {
    list["items"].as_array().unwrap().iter().map(|item| item["user_id"].as_str().unwrap().parse().unwrap()).collect()
}

impl Reply {
    /// One header, if present.
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name).map(|value| value.to_str().unwrap())
    }

    /// All headers but those that differ from answer to answer.
    pub(crate) fn headers(&self) -> Vec<(String, String)> {
        let own = |name: &&str| !["date", "x-request-id"].contains(name);
        let names = self.headers.keys().map(|name| name.as_str()).filter(own);
        let mut all: Vec<_> = names.map(|name| (name.to_owned(), self.header(name).unwrap().to_owned())).collect();
        all.sort();
        all
    }

    /// The body as text.
    pub(crate) fn text(&self) -> &str {
        std::str::from_utf8(&self.bytes).unwrap()
    }

    /// The JSON of an answer; null if empty.
    pub(crate) fn json(&self) -> Value {
        if self.bytes.is_empty() { Value::Null } else { serde_json::from_slice(&self.bytes).unwrap() }
    }

    /// The JSON of an answer that has this status.
    pub(crate) fn expect(&self, status: u16) -> Value {
        assert_eq!(self.status, status, "{}", String::from_utf8_lossy(&self.bytes));
        assert_eq!(self.header("content-type"), Some("application/json"));
        assert_eq!(self.header("x-content-type-options"), Some("nosniff"));
        self.json()
    }

    /// Checks that the answer is a complete problem document with this status and code.
    pub(crate) fn problem(&self, what: &str, status: u16, code: &str) -> Value {
        let text = String::from_utf8_lossy(&self.bytes);
        assert_eq!(self.status, status, "{what}: {text}");
        assert_eq!(self.header("content-type"), Some("application/problem+json"), "{what}");
        assert_eq!(self.header("x-content-type-options"), Some("nosniff"), "{what}");
        let problem: Value = serde_json::from_slice(&self.bytes).unwrap_or_else(|e| panic!("{what}: {e}: {text}"));
        assert_eq!(problem["code"], code, "{what}: {text}");
        assert_eq!(problem["status"], status, "{what}");
        assert_eq!(problem["type"], format!("urn:tideline:problem:{code}"), "{what}");
        assert!(!problem["title"].as_str().unwrap().is_empty(), "{what}");
        assert!(!problem["detail"].as_str().unwrap().is_empty(), "{what}");
        problem
    }
}

//! Starting, calling and ending the built program.

use std::fs::{File, OpenOptions};
use std::io::{BufRead, BufReader};
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use serde_json::Value;
use ureq::Agent;
use ureq::http::Request;

/// For the slowest machine.
pub(crate) const PATIENCE: Duration = Duration::from_secs(60);

/// The list of a topic shows so many items, in every home.
pub(crate) const TOPIC_LIMIT: usize = 10;

/// A data directory with the settings it is served with.
pub(crate) struct Home {
    pub(crate) data: PathBuf,
    /// Where stderr goes.
    log: PathBuf,
    settings: Vec<(&'static str, String)>,
    /// Bytes that no file of the program may have more of.
    largest_file: Option<u32>,
}

impl Home {
    /// The data directory `data`; the log goes to `log`.
    pub(crate) fn new(data: impl Into<PathBuf>, log: impl Into<PathBuf>, settings: &[(&'static str, &str)]) -> Self {
        let settings = settings.iter().map(|(name, value)| (*name, (*value).to_owned()));
        let settings = settings.chain([("TIDELINE__TOPICS__LIMIT", TOPIC_LIMIT.to_string())]).collect();
        Self { data: data.into(), log: log.into(), settings, largest_file: None }
    }

    /// The same settings and log for another directory.
    pub(crate) fn with_data(&self, data: impl Into<PathBuf>) -> Self {
        let (log, settings) = (self.log.clone(), self.settings.clone());
        Self { data: data.into(), log, settings, largest_file: self.largest_file }
    }

    /// The same directory and log with one more setting.
    pub(crate) fn with(&self, name: &'static str, value: &str) -> Self {
        let mut other = self.with_data(self.data.clone());
        other.settings.push((name, value.to_owned()));
        other
    }

    /// The same where the system lets no file have more than so many bytes: an error of the device that does not
    /// pass.
    pub(crate) fn with_largest_file(&self, bytes: u32) -> Self {
        let mut other = self.with_data(self.data.clone());
        other.largest_file = Some(bytes);
        other
    }

    /// The program with `args`, on this directory and with this log, and with failpoints.
    pub(crate) fn command(&self, args: &[&str], points: &str) -> Command {
        let log = || Stdio::from(OpenOptions::new().create(true).append(true).open(&self.log).expect("log"));
        let program = env!("CARGO_BIN_EXE_tideline");
        let mut command = Command::new(if self.largest_file.is_some() { "sh" } else { program });
        if let Some(bytes) = self.largest_file {
            // Counted in pieces of 512 bytes. Without the trap the program would be ended by a signal.
            let limit = format!("trap '' XFSZ; ulimit -f {}; exec \"$0\" \"$@\"", bytes / 512);
            command.args(["-c", &limit, program]);
        }
        command.args(args).arg("--data-dir").arg(&self.data).env_clear();
        command.envs(self.settings.iter().map(|(name, value)| (*name, value)));
        if !points.is_empty() {
            command.env("FAILPOINTS", points);
        }
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(log());
        command
    }

    /// Starts the server, which must come up.
    #[track_caller]
    pub(crate) fn start(&self) -> Server {
        self.try_start("").unwrap_or_else(|status| panic!("the server ended with {status}: {}", self.log()))
    }

    /// Starts the server with failpoints; how it ended, if it did not come up.
    pub(crate) fn try_start(&self, points: &str) -> Result<Server, ExitStatus> {
        self.try_start_with(&[], points)
    }

    /// The same with more arguments.
    pub(crate) fn try_start_with(&self, args: &[&str], points: &str) -> Result<Server, ExitStatus> {
        let args = [&["serve", "--listen", "127.0.0.1:0"], args].concat();
        let mut child = self.command(&args, points).spawn().expect("starts");
        let mut line = String::new();
        BufReader::new(child.stdout.as_mut().expect("piped")).read_line(&mut line).expect("reads");
        let Some(address) = line.trim_end().strip_prefix("listening on http://") else {
            return Err(child.wait().expect("ends"));
        };
        let address = address.parse().expect("an address");
        let agent = Agent::config_builder().http_status_as_error(false).timeout_global(Some(PATIENCE)).build().into();
        Ok(Server { child, agent, address })
    }

    /// Runs a command with failpoints to its end.
    pub(crate) fn run(&self, command: &str, points: &str) -> ExitStatus {
        self.command(&[command], points).stdout(Stdio::null()).status().expect("runs")
    }

    /// `tideline check`, which must find nothing.
    #[track_caller]
    pub(crate) fn check(&self) {
        let output = self.command(&["check"], "").output().expect("runs");
        let said = String::from_utf8_lossy(&output.stdout);
        assert!(output.status.success(), "check: {}\n{said}\n{}", output.status, self.log());
        assert!(said.ends_with(" 0 disagreements\n"), "{said}");
    }

    /// What all runs wrote to stderr so far.
    pub(crate) fn log(&self) -> String {
        std::fs::read_to_string(&self.log).unwrap_or_default()
    }

    /// Forgets the log.
    pub(crate) fn clear_log(&self) {
        File::create(&self.log).expect("log");
    }

    /// How many lines of the log have these words.
    pub(crate) fn logged(&self, words: &str) -> usize {
        self.log().lines().filter(|line| line.contains(words)).count()
    }
}

impl Drop for Home {
    /// A test that fails shows the end of the log.
    fn drop(&mut self) {
        if std::thread::panicking() {
            let log = self.log();
            let lines: Vec<_> = log.lines().collect();
            println!("the log ends:\n{}", lines[lines.len().saturating_sub(20)..].join("\n"));
        }
    }
}

/// An answer.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) retry_after: Option<String>,
    pub(crate) body: Value,
}

/// A server that is killed when dropped.
pub(crate) struct Server {
    child: Child,
    agent: Agent,
    address: SocketAddr,
}

impl Server {
    /// Where it listens.
    pub(crate) fn address(&self) -> SocketAddr {
        self.address
    }

    /// A call; `None` if the connection is lost.
    pub(crate) fn call(&self, method: &str, path: &str, body: &Value) -> Option<Answer> {
        let request = Request::builder().method(method).uri(format!("http://{}{path}", self.address));
        let answer = match method {
            "GET" | "DELETE" => self.agent.run(request.body(()).expect("request")),
            _ => self.agent.run(request.body(body.to_string()).expect("request")),
        };
        let mut answer = answer.ok()?;
        let bytes = answer.body_mut().with_config().limit(64 << 20).read_to_vec().ok()?;
        let body = if bytes.is_empty() { Value::Null } else { serde_json::from_slice(&bytes).expect("JSON") };
        let retry_after = answer.headers().get("retry-after").map(|value| value.to_str().expect("text").to_owned());
        Some(Answer { status: answer.status().as_u16(), retry_after, body })
    }

    /// GET that must succeed.
    #[track_caller]
    pub(crate) fn get(&self, path: &str) -> Value {
        let answer = self.call("GET", path, &Value::Null).unwrap_or_else(|| panic!("GET {path}: no answer"));
        assert_eq!(answer.status, 200, "GET {path}: {}", answer.body);
        answer.body
    }

    /// GET of what is no JSON.
    pub(crate) fn text(&self, path: &str) -> String {
        let request = Request::builder().uri(format!("http://{}{path}", self.address));
        let mut answer = self.agent.run(request.body(()).expect("request")).expect("an answer");
        answer.body_mut().read_to_string().expect("text")
    }

    /// Waits until no job is left; false if the server ends before.
    pub(crate) fn drain(&self) -> bool {
        let began = Instant::now();
        loop {
            let Some(stats) = self.call("GET", "/v1/admin/stats", &Value::Null) else { return false };
            if stats.body["jobs"]["waiting"] == 0 {
                return true;
            }
            assert!(began.elapsed() < PATIENCE, "the jobs do not end: {}", stats.body);
            std::thread::sleep(Duration::from_millis(10));
        }
    }

    /// kill -9.
    pub(crate) fn kill(mut self) {
        self.child.kill().expect("kills");
        self.child.wait().expect("ends");
    }

    /// SIGTERM, and how the server ends then.
    pub(crate) fn stop(mut self) -> ExitStatus {
        let pid = self.child.id().to_string();
        assert!(Command::new("kill").arg(&pid).status().expect("kill runs").success());
        self.wait()
    }

    /// How a server ends that is about to.
    pub(crate) fn wait(&mut self) -> ExitStatus {
        let began = Instant::now();
        loop {
            if let Some(status) = self.child.try_wait().expect("waits") {
                return status;
            }
            assert!(began.elapsed() < PATIENCE, "the server does not end");
            std::thread::sleep(Duration::from_millis(5));
        }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // It may have ended already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The log files of the engine, oldest first, that have something in them.
pub(crate) fn engine_logs(data: &Path) -> Vec<PathBuf> {
    let files = std::fs::read_dir(data.join("db")).expect("listed").map(|entry| entry.expect("listed").path());
    let mut logs: Vec<_> = files.filter(|path| path.extension().is_some_and(|kind| kind == "log")).collect();
    logs.retain(|path| path.metadata().expect("there").len() > 0);
    logs.sort();
    logs
}

//! The built program on a directory that outlives it, with failpoints and a log.

use std::fs::{File, OpenOptions};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Stdio};

use crate::server::{Server, WORKERS, program};

/// Items that the list of a topic shows, in every home.
pub(crate) const TOPIC_LIMIT: usize = 10;

/// A data directory with the settings it is served with.
pub(crate) struct Home {
    pub(crate) data: PathBuf,
    /// The file for stderr.
    log: PathBuf,
    settings: Vec<(&'static str, String)>,
    /// Most bytes of any file of the program.
    largest_file: Option<u32>,
}

impl Home {
    /// The data directory `data`; the log goes to `log`.
    pub(crate) fn new(data: impl Into<PathBuf>, log: impl Into<PathBuf>, settings: &[(&'static str, &str)]) -> Self {
        let settings = settings.iter().map(|(name, value)| (*name, (*value).to_owned()));
        let settings = settings.chain([("TIDELINE__TOPICS__LIMIT", TOPIC_LIMIT.to_string())]).collect();
        Self { data: data.into(), log: log.into(), settings, largest_file: None }
    }

    /// A home with these settings and log for another directory.
    pub(crate) fn with_data(&self, data: impl Into<PathBuf>) -> Self {
        let (log, settings) = (self.log.clone(), self.settings.clone());
        Self { data: data.into(), log, settings, largest_file: self.largest_file }
    }

    /// A home with this directory and log, and one more setting.
    pub(crate) fn with(&self, name: &'static str, value: &str) -> Self {
        let mut other = self.with_data(self.data.clone());
        other.settings.push((name, value.to_owned()));
        other
    }

    /// A home with a system limit on the bytes of each file: a permanent error of the device.
    pub(crate) fn with_largest_file(&self, bytes: u32) -> Self {
        let mut other = self.with_data(self.data.clone());
        other.largest_file = Some(bytes);
        other
    }

    /// The program with `args`, on this directory and with this log, and with failpoints.
    pub(crate) fn command(&self, args: &[&str], points: &str) -> Command {
        let log = || Stdio::from(OpenOptions::new().create(true).append(true).open(&self.log).expect("log"));
        let mut command = program();
        if let Some(bytes) = self.largest_file {
            // Counted in pieces of 512 bytes. Without the trap the program would be ended by a signal.
            let limit = format!("trap '' XFSZ; ulimit -f {}; exec \"$0\" \"$@\"", bytes / 512);
            let limited = command;
            command = Command::new("sh");
            command.args(["-c", &limit]).arg(limited.get_program()).env_clear();
        }
        command.args(args).arg("--data-dir").arg(&self.data).env("TIDELINE__SERVER__WORKERS", WORKERS);
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

    /// Starts the server with failpoints; the exit status if it did not come up.
    pub(crate) fn try_start(&self, points: &str) -> Result<Server, ExitStatus> {
        self.try_start_with(&[], points)
    }

    /// Starts the server with failpoints and more arguments.
    pub(crate) fn try_start_with(&self, args: &[&str], points: &str) -> Result<Server, ExitStatus> {
        let args = [&["serve", "--listen", "127.0.0.1:0"], args].concat();
        Server::launch(self.command(&args, points))
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

    /// The stderr of all runs so far.
    pub(crate) fn log(&self) -> String {
        std::fs::read_to_string(&self.log).unwrap_or_default()
    }

    /// Forgets the log.
    pub(crate) fn clear_log(&self) {
        File::create(&self.log).expect("log");
    }

    /// The number of lines of the log with these words.
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

/// The engine's log files that are not empty, oldest first.
pub(crate) fn engine_logs(data: &Path) -> Vec<PathBuf> {
    let files = std::fs::read_dir(data.join("db")).expect("listed").map(|entry| entry.expect("listed").path());
    let mut logs: Vec<_> = files.filter(|path| path.extension().is_some_and(|kind| kind == "log")).collect();
    logs.retain(|path| path.metadata().expect("there").len() > 0);
    logs.sort();
    logs
}

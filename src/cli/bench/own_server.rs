//! A server of this program, started for the run on a directory that is removed at its end.

use std::io::{BufRead, BufReader};
use std::os::unix::process::CommandExt;
use std::process::{Child, ChildStdout, Command, Stdio};

use tempfile::TempDir;

use super::ServerArgs;
use crate::cli::graph::Graph;
use crate::prelude::*;

/// The environment variable of the level of the log.
const LOG_LEVEL: &str = "TIDELINE__LOG__LEVEL";
/// The beginning of the name of the directory.
const PREFIX: &str = "tideline-bench-";
/// Follows that a user may add during the run.
const ROOM: usize = 10_000;
/// Clock ticks of the kernel in a second.
const TICKS: f64 = 100.0;

/// A running server. It is killed, and its data removed, when it is dropped.
pub(super) struct Own {
    child: Child,
    /// Held open: the server writes to it.
    _stdout: BufReader<ChildStdout>,
    pub(super) url: String,
    _dir: TempDir,
}

impl Own {
    /// Serves a new data directory that has room for the follows of a graph.
    pub(super) fn start(args: &ServerArgs, graph: &Graph) -> Result<Self> {
        let within = args.dir.clone().unwrap_or_else(std::env::temp_dir);
        // Not made: a name with a mistake would measure another device.
        let dir = tempfile::Builder::new().prefix(PREFIX).tempdir_in(&within);
        let dir = dir.context(format_args!("cannot use {}", within.join(PREFIX).display()))?;
        let failed = "cannot start a server";
        let mut serve = Command::new(std::env::current_exe().context(failed)?);
        serve.args(["serve", "--listen", "127.0.0.1:0", "--data-dir"]).arg(dir.path().join("data"));
        if let Some(config) = &args.config {
            serve.arg("--config").arg(config);
        }
        if let Some(durability) = &args.durability {
            serve.env("TIDELINE__STORAGE__DURABILITY", durability);
        }
        if std::env::var_os(LOG_LEVEL).is_none() {
            serve.env(LOG_LEVEL, "warn");
        }
        let most = graph.follows().chunk_by(|one, other| one.0 == other.0).map(<[_]>::len).max().unwrap_or(0);
        serve.env("TIDELINE__GRAPH__FOLLOW_LIMIT", (most + ROOM).to_string());
        // Not in the group of this process: Ctrl-C is for the run, which then still asks the server for its figures.
        serve.stdin(Stdio::null()).stdout(Stdio::piped()).process_group(0);
        let mut child = serve.spawn().context(failed)?;
        let stdout = child.stdout.take().ok_or("it has no output").context(failed)?;
        let mut own = Self { child, _stdout: BufReader::new(stdout), url: String::new(), _dir: dir };
        let mut line = String::new();
        own._stdout.read_line(&mut line).context(failed)?;
        match line.trim_end().strip_prefix("listening on ") {
            Some(url) => own.url = url.to_owned(),
            None => return Err(Error::Setup("the server did not start; its messages are above".to_owned())),
        }
        Ok(own)
    }

    /// The number of the process.
    pub(super) fn pid(&self) -> u32 {
        self.child.id()
    }
}

impl Drop for Own {
    fn drop(&mut self) {
        // Its data is removed, so it needs no orderly end.
        let _ = self.child.kill().and_then(|()| self.child.wait());
    }
}

/// The processor time of a process so far; `None` if the system does not tell.
pub(super) fn worked(pid: u32) -> Option<Duration> {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    // After the name, which may have spaces.
    let (_, rest) = stat.rsplit_once(')')?;
    let ticks: Option<Vec<f64>> = rest.split_whitespace().skip(11).take(2).map(|n| n.parse().ok()).collect();
    Some(Duration::from_secs_f64(ticks?.iter().sum::<f64>() / TICKS))
}

/// The largest memory that a process has had, in bytes; `None` if the system does not tell.
pub(super) fn memory(pid: u32) -> Option<u64> {
    let status = fs::read_to_string(format!("/proc/{pid}/status")).ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    line.trim().trim_end_matches(" kB").parse::<u64>().ok().map(|kib| kib * 1024)
}

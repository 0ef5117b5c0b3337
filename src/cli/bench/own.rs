//! A server of this program, started for the run on a directory that is removed at its end.

use std::fs;
use std::io::{self, BufRead, BufReader, BufWriter, Write};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, ChildStdout, Command, Stdio};

use tempfile::TempDir;

use super::ServerArgs;
use super::requests::{Requests, text};
use crate::trace::Load;
use model::clock::now;
use model::error::{Error, Result};
use model::private;

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
    /// Imports the graph, and the first posts, into a new data directory, and serves it.
    pub(super) fn start(args: &ServerArgs, load: &Load, requests: &mut Requests, history: usize) -> Result<Self> {
        let within = args.dir.clone().unwrap_or_else(std::env::temp_dir);
        let failed = |e: io::Error| Error::Setup(format!("cannot use {}: {e}", within.join(PREFIX).display()));
        // Not made: a name with a mistake would measure another device.
        let dir = tempfile::Builder::new().prefix(PREFIX).tempdir_in(&within).map_err(failed)?;
        let path = dir.path();
        let (follows, content) = (path.join("follows.csv"), path.join("content.csv"));
        write(&follows, |out| write_follows(load, requests, out)).map_err(failed)?;
        write(&content, |out| write_content(load, requests, history, out)).map_err(failed)?;
        let mut import = command(args, "import", path, load)?;
        import.arg("--follows").arg(&follows).arg("--content").arg(&content);
        let imported = import.stdin(Stdio::null()).stdout(Stdio::null()).status().map_err(failed)?;
        if !imported.success() {
            return Err(Error::Setup("the graph and its first posts could not be imported".to_owned()));
        }
        fs::remove_file(&follows).and_then(|()| fs::remove_file(&content)).map_err(failed)?;
        let mut serve = command(args, "serve", path, load)?;
        serve.args(["--listen", "127.0.0.1:0"]).stdin(Stdio::null()).stdout(Stdio::piped());
        // Not in the group of this process: Ctrl-C is for the run, which then still asks the server for its figures.
        let failed = |e: io::Error| Error::Setup(format!("cannot start a server: {e}"));
        let mut child = serve.process_group(0).spawn().map_err(failed)?;
        let Some(stdout) = child.stdout.take() else { return Err(failed(io::ErrorKind::BrokenPipe.into())) };
        let mut own = Self { child, _stdout: BufReader::new(stdout), url: String::new(), _dir: dir };
        let mut line = String::new();
        own._stdout.read_line(&mut line).map_err(failed)?;
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

/// A command of this program on the data directory in `dir`.
fn command(args: &ServerArgs, name: &str, dir: &Path, load: &Load) -> Result<Command> {
    let program = std::env::current_exe().map_err(|e| Error::Setup(format!("cannot find this program: {e}")))?;
    let mut command = Command::new(program);
    command.arg(name).arg("--data-dir").arg(dir.join("data"));
    if let Some(config) = &args.config {
        command.arg("--config").arg(config);
    }
    if let Some(durability) = &args.durability {
        command.env("TIDELINE__STORAGE__DURABILITY", durability);
    }
    if std::env::var_os(LOG_LEVEL).is_none() {
        command.env(LOG_LEVEL, "warn");
    }
    let graph = load.graph();
    let most = (0..graph.users()).map(|user| graph.following(user).len()).max().unwrap_or(0);
    command.env("TIDELINE__GRAPH__FOLLOW_LIMIT", (most + ROOM).to_string());
    Ok(command)
}

/// The processor time of a process so far, in seconds; `None` if the system does not tell.
pub(super) fn worked(pid: u32) -> Option<f64> {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    // After the name, which may have spaces.
    let (_, rest) = stat.rsplit_once(')')?;
    let ticks: Option<Vec<f64>> = rest.split_whitespace().skip(11).take(2).map(|n| n.parse().ok()).collect();
    Some(ticks?.iter().sum::<f64>() / TICKS)
}

/// The largest memory that a process has had, in bytes; `None` if the system does not tell.
pub(super) fn memory(pid: u32) -> Option<u64> {
    let status = fs::read_to_string(format!("/proc/{pid}/status")).ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    line.trim().trim_end_matches(" kB").parse::<u64>().ok().map(|kib| kib * 1024)
}

fn write(path: &Path, rows: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> io::Result<()> {
    let mut out = BufWriter::new(private::make_file(path)?);
    rows(&mut out).and_then(|()| out.flush())
}

fn write_follows(load: &Load, requests: &Requests, out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, "user_id,target_id")?;
    load.graph()
        .follows()
        .try_for_each(|(user, target)| writeln!(out, "{},{}", requests.user(user), requests.user(target)))
}

fn write_content(load: &Load, requests: &mut Requests, history: usize, out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, "content_id,author_id,published_at,text")?;
    let begin = now() - history as u64;
    for (post, at) in load.history(history).zip(begin..) {
        writeln!(out, "{},{},{at},{}", requests.item(), requests.user(post.author), text(post.length))?;
    }
    Ok(())
}

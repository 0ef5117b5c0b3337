//! The server, and what the system says of it.

use std::io::{BufRead, BufReader};
use std::net::SocketAddr;
use std::process::{Child, Command, Stdio};

pub(crate) struct Server {
    child: Child,
    pub(crate) address: SocketAddr,
    _data: tempfile::TempDir,
}

impl Server {
    /// Starts one on a free port and an empty directory, with the default settings.
    pub(crate) fn start() -> Self {
        let data = tempfile::tempdir().expect("temp dir");
        let mut child = Command::new(env!("CARGO_BIN_EXE_tideline"))
            .args(["serve", "--listen", "127.0.0.1:0", "--data-dir"])
            .arg(data.path())
            .env_clear()
            .env("TIDELINE__LOG__LEVEL", "warn")
            .stdout(Stdio::piped())
            .spawn()
            .expect("starts");
        let mut line = String::new();
        BufReader::new(child.stdout.take().expect("piped")).read_line(&mut line).expect("a line");
        let address = line.trim().trim_start_matches("listening on http://").parse().expect("an address");
        Self { child, address, _data: data }
    }

    /// Memory of the process by the system's name for it (`VmRSS`: resident, `VmHWM`: at most so far), MiB.
    pub(crate) fn memory(&self, name: &str) -> u64 {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.child.id())).expect("runs");
        let line = status.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(':')).expect("a figure");
        line.trim().trim_end_matches(" kB").parse::<u64>().expect("a number") / 1024
    }

    /// Processor time so far, seconds.
    pub(crate) fn worked(&self) -> f64 {
        let stat = std::fs::read_to_string(format!("/proc/{}/stat", self.child.id())).expect("runs");
        let rest = stat.rsplit_once(')').expect("a name").1;
        let ticks: u64 = rest.split_whitespace().skip(11).take(2).map(|n| n.parse::<u64>().expect("ticks")).sum();
        ticks as f64 / 100.0
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

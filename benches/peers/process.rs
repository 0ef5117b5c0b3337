//! Processes that the benchmarks start, and figures of the operating system about them.

use std::net::TcpListener;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// A process. Killed when dropped.
pub struct Process(Child);

impl Process {
    pub fn start(command: &mut Command) -> Self {
        let child = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).spawn();
        Self(child.unwrap_or_else(|error| panic!("{command:?}: {error}")))
    }

    /// Whether it has ended.
    pub fn ended(&mut self) -> bool {
        self.0.try_wait().expect("a child").is_some()
    }

    /// Ends it by a signal, so that it can end its own processes.
    pub fn end(&mut self, signal: &str) {
        let told = Command::new("kill").args(["-s", signal, &self.0.id().to_string()]).status();
        if told.is_ok_and(|status| status.success()) {
            let begun = Instant::now();
            while begun.elapsed() < Duration::from_secs(60) && !self.ended() {
                std::thread::sleep(Duration::from_millis(20));
            }
        }
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Ends all processes that this one has started, removes a directory, and exits, when it is interrupted.
pub fn end_on_signal(dir: &Path) {
    let (told, dir) = (Arc::new(AtomicBool::new(false)), dir.to_owned());
    for signal in [signal_hook::consts::SIGINT, signal_hook::consts::SIGTERM] {
        signal_hook::flag::register(signal, Arc::clone(&told)).expect("a signal");
    }
    std::thread::spawn(move || {
        while !told.load(Ordering::Relaxed) {
            std::thread::sleep(Duration::from_millis(100));
        }
        // PostgreSQL then ends its own processes.
        for (signal, patience) in [("INT", 5), ("KILL", 2)] {
            let begun = Instant::now();
            let started = children();
            if !started.is_empty() {
                let _ = Command::new("kill").args(["-s", signal]).args(&started).status();
            }
            while begun.elapsed() < Duration::from_secs(patience) && started.iter().any(|id| is_running(id)) {
                std::thread::sleep(Duration::from_millis(50));
            }
        }
        let _ = std::fs::remove_dir_all(&dir);
        std::process::exit(130);
    });
}

/// Ids of the processes that this one has started.
fn children() -> Vec<String> {
    let threads = std::fs::read_dir("/proc/self/task").into_iter().flatten().flatten();
    let lists = threads.filter_map(|thread| std::fs::read_to_string(thread.path().join("children")).ok());
    lists.flat_map(|list| list.split_whitespace().map(str::to_owned).collect::<Vec<_>>()).collect()
}

/// Whether a process has not ended; one that nobody has waited for has.
fn is_running(id: &str) -> bool {
    let status = std::fs::read_to_string(format!("/proc/{id}/stat")).unwrap_or_default();
    status.rsplit_once(") ").is_some_and(|(_, state)| !state.starts_with('Z'))
}

/// A port of loopback that nobody uses now.
pub fn free_port() -> u16 {
    TcpListener::bind("127.0.0.1:0").and_then(|listener| listener.local_addr()).expect("a port").port()
}

/// Waits until a condition holds.
pub fn wait_for(what: &str, within: Duration, mut is_so: impl FnMut() -> bool) {
    let begun = Instant::now();
    while !is_so() {
        assert!(begun.elapsed() < within, "{what}: not within {within:?}");
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// The output of a program, trimmed; empty if it cannot run.
pub fn output(program: &str, args: &[&str]) -> String {
    let output = Command::new(program).args(args).output();
    output.map(|output| String::from_utf8_lossy(&output.stdout).trim().to_owned()).unwrap_or_default()
}

/// Resident memory of a process now, and the most that it ever had, bytes.
pub fn resident(pid: u32) -> (u64, u64) {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
    let figure = |name: &str| {
        let line = status.lines().find_map(|line| line.strip_prefix(name));
        let kib = line.and_then(|line| line.split_whitespace().next()?.parse::<u64>().ok());
        kib.unwrap_or_default() << 10
    };
    (figure("VmRSS:"), figure("VmHWM:"))
}

/// Bytes of the files below a directory.
pub fn bytes_below(dir: &Path) -> u64 {
    let entries = std::fs::read_dir(dir).into_iter().flatten().flatten();
    let sizes = entries.filter_map(|entry| {
        let meta = entry.metadata().ok()?;
        Some(if meta.is_dir() { bytes_below(&entry.path()) } else { meta.len() })
    });
    sizes.sum()
}

//! A device that stalls: a file system is frozen under load, as by tools that make snapshots. Meanwhile the server
//! answers requests that write nothing to it, and refuses the rest in time. Afterwards it goes on, and nothing is lost.
//!
//! The device is a file with a file system in it. Where the system does not let this process mount and freeze one,
//! this test says so and does nothing.

use std::collections::BTreeSet;
use std::fs::File;
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::{Duration, Instant};

use crate::process::history::{call, scroll};
use crate::process::home::Home;
use crate::server::{PATIENCE, Server, SetOnDrop, connect};
use parking_lot::Mutex;
use serde_json::json;
use tempfile::TempDir;

const ROUNDS: u64 = 20;
const WRITERS: u64 = 8;
/// Follows all writers.
const READER: u64 = 1_000_000;
/// Bytes a text: many, so that the engine often begins new files.
const TEXT: usize = 20_000;
/// Longest wait for an answer during a freeze. Without an answer a freeze lasts much longer.
const IN_TIME: Duration = Duration::from_secs(60);
const LONGEST: Duration = Duration::from_secs(120);

/// A file system of its own.
struct Device {
    mount: PathBuf,
    dir: TempDir,
}

fn run(program: &str, args: &[&str]) -> bool {
    let mut command = Command::new(program);
    command.args(args).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    command.status().is_ok_and(|status| status.success())
}

impl Device {
    /// `None`, with a message, if this is not allowed.
    fn new() -> Option<Self> {
        let dir = tempfile::tempdir().expect("temp dir");
        let (image, mount) = (dir.path().join("image"), dir.path().join("mount"));
        File::create(&image).expect("creates").set_len(1 << 30).expect("grows");
        std::fs::create_dir(&mount).expect("creates");
        let made = run("mkfs.ext4", &["-q", "-F", image.to_str()?])
            && run("mount", &["-o", "loop", image.to_str()?, mount.to_str()?]);
        let device = Self { mount, dir };
        if made && device.freeze("-f") && device.freeze("-u") {
            return Some(device);
        }
        eprintln!("SKIPPED: no file system for this test: mounting and freezing one is not allowed");
        None
    }

    fn freeze(&self, how: &str) -> bool {
        run("fsfreeze", &[how, self.mount.to_str().unwrap_or_default()])
    }

    /// Runs `work` while the file system is frozen. Thaws it after [`LONGEST`] even if `work` has not ended.
    fn frozen<T>(&self, work: impl FnOnce() -> T) -> T {
        let (done, ended) = channel::<()>();
        std::thread::scope(|threads| {
            assert!(self.freeze("-f"), "cannot be frozen");
            threads.spawn(move || {
                let late = ended.recv_timeout(LONGEST) == Err(RecvTimeoutError::Timeout);
                assert!(self.freeze("-u"), "cannot be thawed");
                assert!(!late, "somebody waited for the device");
            });
            let result = work();
            drop(done);
            result
        })
    }
}

impl Drop for Device {
    fn drop(&mut self) {
        self.freeze("-u");
        run("umount", &["-l", self.mount.to_str().unwrap_or_default()]);
        let _ = self.dir.path();
    }
}

/// Asks for a path on a new connection, so that every thread of the server has its turn. Returns the status and the
/// time taken.
fn ask(address: SocketAddr, path: &str) -> (String, Duration) {
    let began = Instant::now();
    let mut stream = connect(address);
    write!(stream, "GET {path} HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n").unwrap();
    let mut answer = Vec::new();
    stream.read_to_end(&mut answer).unwrap();
    (String::from_utf8_lossy(&answer[9..12]).into_owned(), began.elapsed())
}

#[derive(Default)]
struct Load {
    acknowledged: Mutex<BTreeSet<u64>>,
    sent: AtomicU64,
    refused: AtomicU64,
    ended: AtomicBool,
}

impl Load {
    fn write(&self, server: &Server, writer: u64) {
        for step in 0.. {
            if self.ended.load(Ordering::Relaxed) {
                return;
            }
            let id = 1 + writer + WRITERS * step;
            let item = json!({"author_id": 1 + writer, "content_id": id, "text": "x".repeat(TEXT)});
            self.sent.fetch_max(id, Ordering::Relaxed);
            let answer = call(server, "POST", "/v1/content", &item).expect("an answer");
            match answer.status {
                201 => _ = self.acknowledged.lock().insert(id),
                503 => {
                    assert!(answer.header("retry-after").is_some(), "{answer:?}");
                    self.refused.fetch_add(1, Ordering::Relaxed);
                }
                _ => panic!("{answer:?}"),
            }
            std::thread::sleep(Duration::from_millis(2));
        }
    }

    fn count(&self) -> usize {
        self.acknowledged.lock().len()
    }

    /// Every item that was acknowledged is in the timeline, and none that was never sent.
    fn compare(&self, server: &Server) {
        let acknowledged = self.acknowledged.lock().clone();
        let found = scroll(server, &format!("/v1/users/{READER}/timeline?view=ids&"), "content_id");
        let distinct: BTreeSet<u64> = found.iter().copied().collect();
        assert_eq!(distinct.len(), found.len(), "an item came twice");
        let lost: Vec<_> = acknowledged.difference(&distinct).collect();
        assert!(lost.is_empty(), "lost: {lost:?}");
        assert!(distinct.iter().all(|id| *id <= self.sent.load(Ordering::Relaxed)), "never sent");
    }
}

/// Asks for the timelines of new users, for each on several connections, without waiting for the answers. They need
/// a write, which cannot be made now.
fn newcomers(address: SocketAddr, round: u64) -> Vec<TcpStream> {
    let users = (0..300).map(|n| 2_000_000 + 1000 * round + n % 100);
    let ask = |user| {
        let mut stream = TcpStream::connect(address).unwrap();
        write!(stream, "GET /v1/users/{user}/timeline HTTP/1.1\r\nhost: localhost\r\n\r\n").unwrap();
        stream
    };
    users.map(ask).collect()
}

/// Repeats requests that must be answered during a freeze. Returns the longest time taken.
fn probe(address: SocketAddr, round: u64) -> Duration {
    let mut worst = Duration::ZERO;
    let _newcomers = newcomers(address, round);
    for _ in 0..4 {
        let pages = [READER, 1].map(|user| format!("/v1/users/{user}/timeline?view=ids"));
        // The page of an unknown user is not in memory. It is read from the device, which a freeze does not prevent.
        let unknown = format!("/v1/users/{}/content", 3_000_000 + round);
        for path in ["/healthz", "/metrics", &pages[0], &pages[1], "/v1/content/1", &unknown] {
            for _ in 0..4 {
                let (status, took) = ask(address, path);
                assert!(took < IN_TIME, "round {round}: {path} took {took:?}");
                assert_eq!(status, "200", "round {round}: {path}");
                worst = worst.max(took);
            }
        }
        std::thread::sleep(Duration::from_millis(100));
    }
    worst
}

#[test]
fn a_device_that_stalls_stops_nothing_but_changes() {
    let Some(device) = Device::new() else { return };
    let logs = tempfile::tempdir().expect("temp dir");
    let settings = [
        // So long that on a busy machine only the device makes a request late.
        ("TIDELINE__SERVER__REQUEST_TIMEOUT", "20s"),
        ("TIDELINE__SERVER__WORKERS", "2"),
        // Lets the engine reach many points before it waits for the device.
        ("TIDELINE__STORAGE__DURABILITY", "os"),
        ("TIDELINE__STORAGE__WRITE_BUFFER_MB", "8"),
    ];
    let home = Home::new(device.mount.join("data"), logs.path().join("log"), &settings);
    let server = home.start();
    let address = server.address;
    for writer in 1..=WRITERS {
        let path = format!("/v1/users/{READER}/following/{writer}");
        assert_eq!(call(&server, "PUT", &path, &json!({})).expect("an answer").status, 200);
    }
    let load = Load::default();
    std::thread::scope(|threads| {
        for writer in 0..WRITERS {
            let (load, server) = (&load, &server);
            threads.spawn(move || load.write(server, writer));
        }
        let _end = SetOnDrop(&load.ended);
        let mut worst = Duration::ZERO;
        for round in 0..ROUNDS {
            let (before, began) = (load.count(), Instant::now());
            while load.count() < before + 200 {
                assert!(began.elapsed() < PATIENCE, "round {round}: nothing goes on after a thaw");
                std::thread::sleep(Duration::from_millis(5));
            }
            // Each freeze meets another point of the engine's work.
            std::thread::sleep(Duration::from_millis(round * 37 % 101));
            for user in [READER, 1] {
                assert_eq!(ask(address, &format!("/v1/users/{user}/timeline?view=ids")).0, "200");
            }
            worst = worst.max(device.frozen(|| probe(address, round)));
        }
        // Once for longer than the time limit of a request.
        let refused = load.refused.load(Ordering::Relaxed);
        device.frozen(|| {
            let began = Instant::now();
            while load.refused.load(Ordering::Relaxed) < refused + WRITERS {
                assert!(began.elapsed() < IN_TIME, "changes that cannot be made are not answered in time");
                std::thread::sleep(Duration::from_millis(20));
            }
            probe(address, ROUNDS)
        });
        eprintln!("{ROUNDS} freezes, {} items acknowledged, the worst answer took {worst:?}", load.count());
    });
    assert!(server.drain());
    load.compare(&server);
    assert_eq!(server.end("TERM").code(), Some(0));
    let server = home.start();
    load.compare(&server);
    drop(server);
    home.check();
}

//! Starting and stopping.

use std::fs::{self, File, Permissions};
use std::io::{Read, Write as _};
use std::net::TcpStream;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Instant;

use tempfile::TempDir;

use crate::server::{PATIENCE, Server, command, connect, wait, wait_until};

#[test]
fn a_stop_waits_for_nobody_for_ever() {
    let server = Server::with(&[("TIDELINE__SERVER__SHUTDOWN_TIMEOUT", "2s")]);
    let idle = TcpStream::connect(server.address).unwrap();
    let mut half = TcpStream::connect(server.address).unwrap();
    half.write_all(b"POST /v1/content HTTP/1.1\r\nhost: localhost\r\ncontent-length: 100\r\n\r\n{").unwrap();
    server.get("/healthz");
    let began = Instant::now();
    let (status, _data) = server.stop("TERM");
    assert_eq!(status.code(), Some(0));
    assert!(began.elapsed() < PATIENCE, "{:?}", began.elapsed());
    drop((idle, half));
}

#[test]
fn a_request_that_comes_while_the_server_stops_is_answered() {
    // Connections without a request stay open for a fortieth of it.
    let mut server = Server::with(&[("TIDELINE__SERVER__SHUTDOWN_TIMEOUT", "1h")]);
    let mut stream = connect(server.address);
    stream.write_all(b"GET /healthz HTTP/1.1\r\nhost: localhost\r\n\r\n").unwrap();
    assert!(stream.read(&mut [0; 4096]).unwrap() > 0);
    server.signal("TERM");
    wait_until("it still listens", || TcpStream::connect(server.address).is_err());
    let publish = b"POST /v1/content HTTP/1.1\r\nhost: localhost\r\ncontent-length: 15\r\n\r\n{\"author_id\":1}";
    stream.write_all(publish).unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    assert!(answer.starts_with("HTTP/1.1 201 ") && answer.contains("\r\nconnection: close\r\n"), "{answer}");
    assert_eq!(server.wait().code(), Some(0));
}

#[test]
fn before_a_stop_the_server_is_not_ready_and_works_on() {
    let mut server = Server::with(&[("TIDELINE__SERVER__DRAIN", "1h")]);
    let mut stream = connect(server.address);
    stream.write_all(b"GET /v1/users/1/stream HTTP/1.1\r\nhost: localhost\r\n\r\n").unwrap();
    let mut told = String::new();
    let mut read_until = |wanted: &str| {
        while !told.contains(wanted) {
            let mut piece = [0; 4096];
            let length = stream.read(&mut piece).unwrap();
            assert_ne!(length, 0, "the stream ends: {told}");
            told += &String::from_utf8_lossy(&piece[..length]);
        }
    };
    read_until("\r\n\r\n");
    server.follow(1, 2, 10);
    assert_eq!(server.call("GET", "/readyz", "").status, 200);
    server.signal("TERM");
    wait_until("it stays ready", || server.call("GET", "/readyz", "").status == 503);
    server.call("GET", "/readyz", "").problem("/readyz", 503, "stopping");
    server.publish(7, 2, 100);
    assert_eq!(server.ids("/v1/users/1/timeline"), [7]);
    read_until("\"content_id\":\"7\"");
    // A second signal ends the wait.
    server.signal("TERM");
    assert_eq!(server.wait().code(), Some(0));
}

/// Everything below a directory, with its mode.
fn modes(dir: &Path) -> Vec<(PathBuf, u32)> {
    let mut found = Vec::new();
    for entry in fs::read_dir(dir).unwrap() {
        let path = entry.unwrap().path();
        found.push((path.clone(), path.symlink_metadata().unwrap().mode() & 0o777));
        if path.is_dir() {
            found.extend(modes(&path));
        }
    }
    found
}

#[test]
fn files_of_the_directory_are_for_its_owner_only() {
    let data = TempDir::new().unwrap();
    let (logs, admit_all) =
        (TempDir::new().unwrap(), |dir: &Path| fs::set_permissions(dir, Permissions::from_mode(0o755)));
    let log = logs.path().join("log");
    // An operator has made the directory, and lets everybody read new files.
    admit_all(data.path()).unwrap();
    let start = || {
        let serve = command(&data, "127.0.0.1:0", &[]);
        let mut command = Command::new("sh");
        command.args(["-c", "umask 022; exec \"$0\" \"$@\""]).arg(serve.get_program()).args(serve.get_args());
        command.env_clear().current_dir(data.path()).stderr(File::create(&log).unwrap());
        Server::launch(command).unwrap()
    };
    let warns = || fs::read_to_string(&log).unwrap().contains("every user of this machine may read the data");
    let server = start();
    server.publish(1, 2, 10);
    server.call("POST", "/v1/admin/backups", "").expect(201);
    assert_eq!(server.end("TERM").code(), Some(0));
    let found = modes(data.path());
    assert!(found.len() > 10, "{found:?}");
    let open: Vec<_> = found.into_iter().filter(|(_, mode)| mode & 0o077 != 0).collect();
    assert_eq!(open, [], "others may read these");
    assert!(!warns());
    start().end("TERM");
    assert!(!warns(), "others may not enter db");
    // A directory of an earlier version.
    admit_all(&data.path().join("db")).unwrap();
    start().end("TERM");
    assert!(warns());
    assert_eq!(data.path().metadata().unwrap().mode() & 0o777, 0o755, "the operator's choice");
    fs::set_permissions(data.path(), Permissions::from_mode(0o750)).unwrap();
    start().end("TERM");
    assert!(!warns());
}

/// The server's message on stderr if it does not start.
fn refusal(data: &TempDir, listen: &str) -> String {
    let mut child = command(data, listen, &[]).stderr(Stdio::piped()).spawn().unwrap();
    let status = wait(&mut child);
    assert!(!status.success());
    let mut said = String::new();
    child.stderr.take().unwrap().read_to_string(&mut said).unwrap();
    said
}

#[test]
fn a_server_without_jobs_writes_its_inboxes_however_long_they_may_wait() {
    let server = Server::with(&[("TIDELINE__STORAGE__ARRIVALS_FOR", "1h")]);
    server.follow(1, 2, 10);
    for id in 1..=3 {
        server.publish(id, 2, 100 + id);
        // Waits until no changes are in memory.
        assert!(server.tables()["inboxes"]["rows_estimate"].as_u64() > Some(0), "{id}");
    }
    let server = server.restart("KILL", &[]);
    server.settle();
    assert_eq!(server.ids("/v1/users/1/timeline"), [3, 2, 1]);
    let repeated =
        ["fan_out", "settle"].map(|kind| server.figure(&format!(r#"tideline_jobs_done_total{{kind="{kind}"}}"#)));
    assert_eq!(repeated, [0.0, 0.0], "the ends of jobs were on disk, too");
}

#[test]
fn other_than_loopback_addresses_need_a_word() {
    let data = TempDir::new().unwrap();
    for listen in ["0.0.0.0:0", "[::]:0", "192.0.2.1:80"] {
        let said = refusal(&data, listen);
        assert!(said.contains("--insecure") && said.contains(listen), "{said}");
    }
}

/// Small answers from memory must not wait for their turn among the hundreds of threads that make changes and read from
/// the disk, nor behind jobs, flushes and compactions.
#[cfg(target_os = "linux")]
#[test]
fn threads_that_may_block_stand_back_behind_those_that_answer() {
    let server = Server::start();
    server.get("/v1/users/1/timeline");
    // A thread has its name and its priority a moment after its start. One that makes changes ends when it has had none
    // for some seconds.
    let mut item = 0;
    wait_until("threads that may block do not stand back", || {
        item += 1;
        server.publish(item, 2, 3);
        server.call("PUT", &format!("/v1/users/{item}/following/{}", item + 1), "").expect(200);
        let priorities = priorities(server.pid());
        let answering: Vec<_> = priorities.iter().filter(|(name, _)| name.starts_with("actix-rt")).collect();
        let others = ["change", "writer", "worker-0", "arrivals", "rocksdb:low", "rocksdb:high"]
            .map(|name| priorities.get(name));
        let stand_back =
            |nice| others.iter().all(|other| other.is_some_and(|other| other.is_batch && other.nice > nice));
        !answering.is_empty() && answering.iter().all(|(_, loop_)| !loop_.is_batch && stand_back(loop_.nice))
    });
}

#[cfg(target_os = "linux")]
struct Priority {
    nice: i32,
    is_batch: bool,
}

/// The priorities of the threads of a process, by their names.
#[cfg(target_os = "linux")]
fn priorities(pid: u32) -> std::collections::BTreeMap<String, Priority> {
    /// `SCHED_BATCH`, see sched(7).
    const BATCH: &str = "3";
    let threads = std::fs::read_dir(format!("/proc/{pid}/task")).unwrap();
    // A thread may end meanwhile.
    let stats = threads.filter_map(|thread| std::fs::read_to_string(thread.ok()?.path().join("stat")).ok());
    let priority = |stat: String| {
        let (name, rest) = stat.split_once('(').unwrap().1.rsplit_once(')').unwrap();
        let field = |number| rest.split_whitespace().nth(number).unwrap();
        (name.to_owned(), Priority { nice: field(16).parse().unwrap(), is_batch: field(38) == BATCH })
    };
    stats.map(priority).collect()
}

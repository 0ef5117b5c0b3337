//! A full device: changes are refused clearly, reads go on, and all is well again once there is room.
//!
//! The device is a small file system in memory, in a mount namespace of its own. Where the system
//! does not let an ordinary process have one, these tests say so and do nothing.

use std::fs::{self, File};
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Mutex, RwLock};
use std::time::{Duration, Instant};

use crate::plain::Model;
use crate::process::history::{Outcome, call, compare, outcome, send};
use crate::process::home::Home;
use crate::process::model::{Change, Item};
use crate::server::{PATIENCE, Server, SetOnDrop, wait_until};
use feed::follows;
use feed::store::{Options, Store};
use model::UserId;
use rustix::fs::{FallocateFlags, fallocate};
use tempfile::TempDir;

const WRITERS: u64 = 3;
/// Bytes a text: many, so that the engine soon needs more room.
const TEXT: usize = 20_000;

/// A file system of some megabytes.
struct Disk {
    holder: Child,
    path: PathBuf,
    _dir: TempDir,
}

impl Disk {
    /// `None`, with a message, if this is not allowed.
    fn new(megabytes: u32) -> Option<Self> {
        let dir = tempfile::tempdir().expect("temp dir");
        let script = format!("mount -t tmpfs -o size={megabytes}m tmpfs \"$0\" && echo mounted && exec cat");
        let mut command = Command::new("unshare");
        command.args(["--user", "--map-root-user", "--mount", "sh", "-c", &script]).arg(dir.path());
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut holder = match command.spawn() {
            Ok(holder) => holder,
            Err(error) => {
                eprintln!("SKIPPED: no file system of its own for this test: unshare: {error}");
                return None;
            }
        };
        let mut line = String::new();
        BufReader::new(holder.stdout.as_mut().expect("piped")).read_line(&mut line).expect("reads");
        // The mount is seen only from inside the namespace, or through the process that holds it.
        let path = PathBuf::from(format!("/proc/{}/root{}", holder.id(), dir.path().display()));
        let disk = Self { holder, path, _dir: dir };
        if line != "mounted\n" || !disk.path.exists() {
            eprintln!("SKIPPED: no file system of its own for this test: mounting one is not allowed");
            return None;
        }
        Some(disk)
    }

    /// Takes all the room that is left.
    fn fill(&self) {
        let mut file = File::options().create(true).append(true).open(self.path.join("ballast")).expect("opens");
        let mut part = vec![1; 1 << 20];
        while !part.is_empty() {
            while file.write_all(&part).is_ok() {}
            part.truncate(part.len() / 2);
        }
    }

    /// Fills the device but for some bytes.
    fn fill_but(&self, free: usize) {
        let spare = self.path.join("spare");
        fs::write(&spare, vec![1; free]).expect("writes");
        self.fill();
        fs::remove_file(spare).expect("removes");
    }

    fn free(&self) {
        fs::remove_file(self.path.join("ballast")).expect("removes");
    }
}

impl Drop for Disk {
    fn drop(&mut self) {
        // The file system ends with the last process that sees it.
        let _ = self.holder.kill();
        let _ = self.holder.wait();
    }
}

/// State shared by the writers.
#[derive(Default)]
struct Load {
    model: Mutex<Model>,
    /// Held for reading during a change, for writing while answers are compared.
    pause: RwLock<()>,
    made: AtomicU64,
    refused: AtomicU64,
    ended: AtomicBool,
}

impl Load {
    /// Publishes, edits, deletes, follows and unfollows until told to end.
    fn write(&self, server: &Server, writer: u64) {
        let mut mine = Vec::new();
        for step in 0_u64.. {
            if self.ended.load(Ordering::Relaxed) {
                return;
            }
            let id = 1 + writer + WRITERS * step;
            let text = format!("{id} {}", "x".repeat(TEXT));
            let change = match step % 8 {
                3 if !mine.is_empty() => Change::Edit { id: mine[0], text },
                5 if mine.len() > 1 => Change::Delete(mine.remove(0)),
                6 => Change::Relate { user: 100 + writer, follow: vec![1 + step / 8 % 5], unfollow: vec![] },
                7 => Change::Relate { user: 100 + writer, follow: vec![], unfollow: vec![1 + step / 16 % 5] },
                _ => Change::Publish(vec![Item { id, author: 1 + writer, at: 1000 + step / 2, text }]),
            };
            let _running = self.pause.read().unwrap();
            match outcome(&change, send(server, &change)) {
                Outcome::Made => {
                    self.model.lock().unwrap().apply(&change);
                    // An unfollow of a user not followed writes nothing, so it does not count.
                    if let Change::Publish(items) = &change {
                        mine.push(items[0].id);
                        self.made.fetch_add(1, Ordering::Relaxed);
                    }
                }
                Outcome::Refused => {
                    if let Change::Delete(id) = change {
                        mine.push(id);
                    }
                    self.refused.fetch_add(1, Ordering::Relaxed);
                }
                Outcome::Lost => panic!("no answer to {change:?}"),
            }
            std::thread::sleep(Duration::from_millis(5));
        }
    }

    /// Fills the device until so many more changes were refused. Meanwhile a compaction that fails may give back room.
    fn fill_until_refused(&self, disk: &Disk, more: u64) {
        let (began, from) = (Instant::now(), self.refused.load(Ordering::Relaxed));
        while self.refused.load(Ordering::Relaxed) < from + more {
            assert!(began.elapsed() < PATIENCE, "no change is refused on a full device");
            disk.fill();
            std::thread::sleep(Duration::from_millis(5));
        }
    }

    /// Compares all answers while no change is under way.
    fn compare(&self, server: &Server, when: &str) {
        let _stopped = self.pause.write().unwrap();
        compare(server, &self.model.lock().unwrap(), when);
    }
}

/// Waits until a count has risen by `more`.
#[track_caller]
fn wait_for(count: &AtomicU64, more: u64, what: &str) -> Duration {
    let (began, from) = (Instant::now(), count.load(Ordering::Relaxed));
    while count.load(Ordering::Relaxed) < from + more {
        assert!(began.elapsed() < PATIENCE, "{what}: none");
        std::thread::sleep(Duration::from_millis(5));
    }
    began.elapsed()
}

/// Most outages in the log for one full device. The engine may find some room again before the device is really
/// full, but there is no line for each change.
const MOST_OUTAGES: usize = 20;

/// How often the log says that changes are refused, and that they are taken again.
fn outages(home: &Home) -> (usize, usize) {
    let log = home.log();
    let count = |words: &str| log.lines().filter(|line| line.contains(words)).count();
    (count("the storage accepts no writes"), count("the storage accepts writes again"))
}

/// Fills the device under load twice. The first time it gets room while the server runs, the second time after the
/// server was killed.
fn fill_and_free(disk: &Disk, min_free_mb: &str) {
    let logs = tempfile::tempdir().expect("temp dir");
    let settings = [
        ("TIDELINE__STORAGE__MIN_FREE_MB", min_free_mb),
        ("TIDELINE__STORAGE__WRITE_BUFFER_MB", "8"),
        ("TIDELINE__TIMELINE__INBOX_LIMIT", "20"),
        ("TIDELINE__TIMELINE__ACTIVE_FOR", "300ms"),
        ("TIDELINE__FANOUT__PUSH_THRESHOLD", "1"),
        ("TIDELINE__FANOUT__PULL_THRESHOLD", "3"),
        ("TIDELINE__FANOUT__CHUNK", "2"),
    ];
    let home = Home::new(disk.path.join("data"), logs.path().join("log"), &settings);
    let load = Load::default();
    let server = home.start();
    std::thread::scope(|threads| {
        for writer in 0..WRITERS {
            let (load, server) = (&load, &server);
            threads.spawn(move || load.write(server, writer));
        }
        let _end = SetOnDrop(&load.ended);
        wait_for(&load.made, 100, "changes made");
        assert_eq!(load.refused.load(Ordering::Relaxed), 0, "refused with room enough");

        load.fill_until_refused(disk, 100);
        load.compare(&server, "on a full device");
        let (began, ended) = outages(&home);
        assert!((1..=MOST_OUTAGES).contains(&began) && (began - 1..=began).contains(&ended), "{}", home.log());
        std::thread::sleep(Duration::from_secs(1));
        load.compare(&server, "after a while on a full device");

        disk.free();
        let took = wait_for(&load.made, 1, "changes made with room again");
        eprintln!("min_free_mb {min_free_mb}: changes were taken again after {took:?}");
        wait_for(&load.made, 100, "changes made with room again");
        load.compare(&server, "with room again");
        let (began, ended) = outages(&home);
        assert!(began <= MOST_OUTAGES && began == ended, "{}", home.log());
    });
    assert!(server.drain());
    let model = load.model.into_inner().unwrap();
    compare(&server, &model, "all jobs done");
    kill_while_full(disk, &home, server, model);
}

fn kill_while_full(disk: &Disk, home: &Home, server: Server, model: Model) {
    let load = Load { model: Mutex::new(model), ..Load::default() };
    std::thread::scope(|threads| {
        threads.spawn(|| {
            let _end = SetOnDrop(&load.ended);
            load.fill_until_refused(disk, 50);
        });
        // Other ids than before.
        load.write_from(&server, 1_000_000);
    });
    server.end("KILL");
    let mut model = load.model.into_inner().unwrap();
    // Fills the room that the engine freed at its end.
    disk.fill();
    // Twice: the second start may not have the room that the first has used.
    for start in 1..=2 {
        let server = home.start();
        compare(&server, &model, &format!("start {start} on a full device"));
        let change = Change::Publish(vec![Item { id: 5_000_000 + start, author: 1, at: 1, text: "z".repeat(TEXT) }]);
        if outcome(&change, send(&server, &change)) == Outcome::Made {
            // The engine freed enough for the next start, and more.
            assert!(disk.path.join("data/RESERVE").exists(), "{}", home.log());
            model.apply(&change);
        }
        assert_eq!(server.get("/readyz")["status"], "ready");
        server.end("KILL");
    }
    let server = home.start();
    disk.free();
    let change = Change::Publish(vec![Item { id: 6_000_000, author: 1, at: 1, text: "z".repeat(TEXT) }]);
    let began = Instant::now();
    while outcome(&change, send(&server, &change)) != Outcome::Made {
        assert!(began.elapsed() < PATIENCE, "no change with room again: {}", home.log());
        std::thread::sleep(Duration::from_millis(50));
    }
    model.apply(&change);
    compare(&server, &model, "with room again");
    server.end("KILL");
    let server = home.start();
    compare(&server, &model, "after a restart");
    assert!(server.drain());
    compare(&server, &model, "after a restart, all jobs done");
    assert_eq!(server.end("TERM").code(), Some(0));
    home.check();
}

impl Load {
    /// Publishes new items until told to end.
    fn write_from(&self, server: &Server, first: u64) {
        for id in first.. {
            if self.ended.load(Ordering::Relaxed) {
                return;
            }
            let item = Item { id, author: 1 + id % 3, at: id, text: "y".repeat(TEXT) };
            let change = Change::Publish(vec![item]);
            match outcome(&change, send(server, &change)) {
                Outcome::Made => self.model.lock().unwrap().apply(&change),
                Outcome::Refused => drop(self.refused.fetch_add(1, Ordering::Relaxed)),
                Outcome::Lost => panic!("no answer"),
            }
        }
    }
}

#[test]
fn an_engine_that_has_stopped_for_good_is_not_ready() {
    let dir = tempfile::tempdir().expect("temp dir");
    let home = Home::new(dir.path().join("data"), dir.path().join("log"), &[]);
    let server = home.with_largest_file(4 << 20).start();
    assert_eq!(server.get("/readyz")["status"], "ready");
    let mut model = Model::default();
    let refused = (1..1000).find(|&id| {
        let change = Change::Publish(vec![Item { id, author: 1, at: id, text: "x".repeat(TEXT) }]);
        let made = outcome(&change, send(&server, &change)) == Outcome::Made;
        if made {
            model.apply(&change);
        }
        !made
    });
    assert!(refused.is_some_and(|id| id > 50), "{refused:?}");
    let ready = call(&server, "GET", "/readyz", &serde_json::Value::Null).expect("an answer");
    assert_eq!((ready.status, ready.json()["code"].as_str()), (503, Some("storage_stopped")));
    assert_eq!(server.get("/healthz")["status"], "ok");
    assert_eq!(
        home.logged("the storage engine has stopped and accepts no writes; remove the cause, then restart the server"),
        1,
        "{}",
        home.log()
    );
    wait_until("no metric", || {
        server.call("GET", "/metrics", "").text().contains("\ntideline_storage_needs_restart 1\n")
    });
    compare(&server, &model, "reads go on");
    server.end("KILL");
    let server = home.start();
    assert_eq!(server.get("/readyz")["status"], "ready");
    compare(&server, &model, "after a restart");
}

#[test]
fn a_device_that_is_too_small_is_said_to_be_at_the_start() {
    let Some(disk) = Disk::new(8) else { return };
    let logs = tempfile::tempdir().expect("temp dir");
    let home = Home::new(disk.path.join("data"), logs.path().join("log"), &[]);
    let mut ballast = File::create(disk.path.join("ballast")).expect("creates");
    ballast.write_all(&vec![1; 1 << 20]).expect("writes");
    let server = home.start();
    assert_eq!(home.logged("changes are refused for lack of space"), 1, "{}", home.log());
    let change = Change::Publish(vec![Item { id: 1, author: 1, at: 1, text: "x".to_owned() }]);
    assert_eq!(outcome(&change, send(&server, &change)), Outcome::Refused);
    let log = home.log();
    let refused = log.lines().find(|line| line.contains("the storage accepts no writes")).expect("a cause");
    for line in
        [refused, log.lines().find(|line| line.contains("changes are refused for lack of space")).expect("a warning")]
    {
        let words = " MiB must be free to create the file RESERVE, the reserved space for a start on a full device";
        assert!(line.contains(" MiB are free; ") && line.contains(words), "{line}");
    }
    server.end("KILL");
    // The room that the engine has set aside by now would be free at another start on this directory.
    fs::remove_dir_all(&home.data).expect("removes");
    let follows = logs.path().join("f");
    fs::write(&follows, "1,2\n").expect("writes");
    let args = ["import", "--follows", follows.to_str().expect("text")];
    let ended = home.command(&args, "").output().expect("runs");
    let said = home.log();
    assert_eq!(ended.status.code(), Some(1), "{said}");
    assert!(said.contains("The lines imported so far are kept. Free some space, then run the import again"), "{said}");
}

#[test]
fn changes_are_refused_before_the_device_is_full() {
    if let Some(disk) = Disk::new(160) {
        fill_and_free(&disk, "24");
    }
}

#[test]
fn no_change_comes_in_while_too_little_is_free() {
    // Small, so that the room is always near the limit: 20 MiB of it.
    let Some(disk) = Disk::new(80) else { return };
    let logs = tempfile::tempdir().expect("temp dir");
    let home = Home::new(disk.path.join("data"), logs.path().join("log"), &[]);
    let (server, mut id) = (home.start(), 0);
    let mut publish = || {
        id += 1;
        let change = Change::Publish(vec![Item { id, author: 1, at: id, text: "x".to_owned() }]);
        outcome(&change, send(&server, &change))
    };
    // The engine takes room for its log with the first one.
    assert_eq!(publish(), Outcome::Made);
    disk.fill_but(26 << 20);
    let more = File::create(disk.path.join("more")).expect("creates");
    for round in 1..=50 {
        wait_until("no change with room", || publish() == Outcome::Made);
        // At once after that change, which has found room.
        fallocate(&more, FallocateFlags::empty(), 0, 10 << 20).expect("takes room");
        assert_eq!(publish(), Outcome::Refused, "round {round}: {}", home.log());
        more.set_len(0).expect("gives it back");
    }
}

#[test]
fn the_engine_recovers_from_a_full_device() {
    if let Some(disk) = Disk::new(160) {
        fill_and_free(&disk, "0");
    }
}

#[test]
fn a_backup_without_room_is_refused_and_leaves_nothing() {
    let Some(disk) = Disk::new(200) else { return };
    let logs = tempfile::tempdir().expect("temp dir");
    let home = Home::new(disk.path.join("data"), logs.path().join("log"), &[]);
    let server = home.start();
    server.publish(5, 9, 50);
    let take = || server.call("POST", "/v1/admin/backups", "");
    let states = || {
        let items = server.get("/v1/admin/backups")["items"].as_array().expect("items").clone();
        items.iter().map(|item| item["state"].as_str().expect("a state").to_owned()).collect::<Vec<_>>()
    };
    take().expect(201);
    wait_until("the backup is not verified", || states() == ["verified"]);
    disk.fill();
    for _ in 0..3 {
        let problem = take().problem("a full device", 507, "no_room");
        assert!(problem["detail"].as_str().expect("text").contains("MiB must be free"), "{problem}");
    }
    assert_eq!(states(), ["verified"]);
    assert_eq!(fs::read_dir(home.data.join("backups")).expect("lists").count(), 1);
    server.get("/v1/users/9/content");
    disk.free();
    take().expect(201);
    wait_until("the backup is not verified", || states() == ["verified", "verified"]);
}

/// Lets a store have a job that waits.
fn leave_a_job(data: &Path) {
    let store = Store::open(&Options::new(data)).expect("opens");
    let user = |raw| UserId::new(raw).expect("in range");
    feed::follows::tables::relate(&store, user(1), &[follows::tables::Change::new(user(2), Some(1000))], 10)
        .expect("follows");
}

/// A run that must end soon with exit code 1.
fn fails_soon(mut running: Child) {
    wait_until("the command does not end", || running.try_wait().expect("waits").is_some());
    assert_eq!(running.wait().expect("ended").code(), Some(1));
}

#[test]
fn commands_that_wait_for_jobs_end_without_room_or_when_told() {
    let Some(disk) = Disk::new(160) else { return };
    let logs = tempfile::tempdir().expect("temp dir");
    let home = Home::new(disk.path.join("data"), logs.path().join("log"), &[]);
    leave_a_job(&home.data);
    disk.fill_but(15 << 20);
    let no_room = "the storage takes no changes, so the waiting jobs cannot be done: ";
    for command in ["check", "compact"] {
        home.clear_log();
        fails_soon(home.command(&[command], "").spawn().expect("starts"));
        let log = home.log();
        let told = log.lines().find(|line| line.contains(no_room)).expect("told");
        assert!(told.contains(" MiB are free; ") && told.contains(" MiB must be free"), "{log}");
    }
    disk.free();
    home.check();

    // Little room is left while a restore unpacks: the engine takes some in advance, and jobs have none.
    let (other, archive) = (home.with_data(logs.path().join("data")), logs.path().join("b.tar"));
    leave_a_job(&other.data);
    let backup = other.command(&["backup", "--to", archive.to_str().expect("text")], "").output().expect("runs");
    assert!(backup.status.success(), "{}", other.log());
    let bytes = fs::read(archive).expect("reads");
    let restored = home.with_data(disk.path.join("restored"));
    let restore = |free| {
        let mut restoring =
            restored.command(&["restore", "--from", "-"], "").stdin(Stdio::piped()).spawn().expect("starts");
        let mut input = restoring.stdin.take().expect("piped");
        input.write_all(&bytes[..bytes.len() / 2]).expect("writes");
        wait_until("nothing is unpacked", || restored.data.join("RESTORING/db").exists());
        disk.fill_but(free);
        input.write_all(&bytes[bytes.len() / 2..]).expect("writes");
        restoring
    };
    for (is_told, words) in [(false, no_room), (true, "the restore was interrupted; nothing was restored")] {
        home.clear_log();
        let restoring = restore(20 << 20);
        if is_told {
            wait_until("nothing is refused", || home.logged("the storage accepts no writes") > 0);
            crate::server::signal(&restoring, "TERM");
        }
        fails_soon(restoring);
        assert_eq!(home.logged(words), 1, "{}", home.log());
        assert_eq!(fs::read_dir(&restored.data).expect("lists").count(), 1, "only LOCK is left");
        disk.free();
    }
    assert!(restore(80 << 20).wait().expect("ends").success(), "no room for RESERVE is needed: {}", home.log());
    restored.check();
    fs::remove_dir_all(&restored.data).expect("removes");
    disk.fill_but(40 << 20);
    home.clear_log();
    let mut restoring =
        restored.command(&["restore", "--from", "-"], "").stdin(Stdio::piped()).spawn().expect("starts");
    restoring.stdin.take().expect("piped").write_all(&bytes[..4096]).expect("writes");
    fails_soon(restoring);
    assert_eq!(home.logged(" MiB are free"), 1, "{}", home.log());
}

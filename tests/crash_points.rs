//! Ends the process, or makes a write fail, at every failpoint of `docs/contribute/failpoints.md`.
//!
//! For each failpoint the built program works through a small load of HTTP calls until it ends there. Then it starts
//! again, and every page of every user must be the result of the acknowledged changes: at once, and after all jobs. A
//! failpoint that the load never reaches fails its test.

use std::os::unix::process::ExitStatusExt;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use crate::process::history::{History, Outcome, Told, call, compare};
use crate::process::home::Home;
use crate::process::model::{Change, Item};
use crate::server::{PATIENCE, Server, wait_until};
use feed::store::{Options, Store};
use model::failpoint::{Write, names};
use model::{Entry, Event, EventKind, Logged, NamedRule};
use serde_json::{Value, json};
use tempfile::TempDir;

const BACKUPS: &str = "/v1/admin/backups";
/// SIGABRT.
const ABORTED: i32 = 6;
/// Rounds of the load. Each reaches every failpoint.
const ROUNDS: u64 = 3;
/// A bit longer than `timeline.active_for` below.
const UNTIL_DORMANT: Duration = Duration::from_millis(350);

/// So small that chunks, partial pushes, dormant users, rebuilds and trims all occur.
const SETTINGS: [(&str, &str); 10] = [
    ("TIDELINE__TIMELINE__INBOX_LIMIT", "20"),
    ("TIDELINE__TIMELINE__ACTIVE_FOR", "300ms"),
    ("TIDELINE__TIMELINE__EVICT_AFTER", "10s"),
    ("TIDELINE__TIMELINE__OUTBOX_LIMIT", "30"),
    ("TIDELINE__STORAGE__ARRIVALS_FOR", "30ms"),
    ("TIDELINE__FANOUT__PUSH_THRESHOLD", "3"),
    ("TIDELINE__FANOUT__PULL_THRESHOLD", "6"),
    ("TIDELINE__FANOUT__CHUNK", "2"),
    ("TIDELINE__FANOUT__WORKERS", "2"),
    ("TIDELINE__SERVER__WORKERS", "1"),
];

/// Authors, named by the reach of their items. The last two have long outboxes.
const ALL: u64 = 1;
const ACTIVE: u64 = 2;
const NOBODY: u64 = 3;
const LONG: [u64; 2] = [4, 5];
/// The first of the users who follow and unfollow the authors with long outboxes, whose entries are too many for one
/// inbox. Each round has another such user, because the last one may be evicted by then.
const VIEWER: u64 = 31;
/// Read their timelines, and become dormant in between.
const READERS: std::ops::RangeInclusive<u64> = 21..=25;

/// The first of the users who block another each, and of those others. They follow each other before.
const BLOCKER: u64 = 51;
const BLOCKED: u64 = 61;

/// The first of the users who have a list, who ask to follow another, and of those others.
const KEEPER: u64 = 71;
const ASKING: u64 = 81;
const ASKED: u64 = 91;

/// The first of the users who are erased.
const ERASED: u64 = 901;

/// A server under load.
struct Load<'a> {
    server: &'a Server,
    history: &'a mut History,
    next: u64,
}

impl Load<'_> {
    fn item(&mut self, author: u64) -> Item {
        self.next += 1;
        let id = self.next;
        // Every third item is backdated.
        let at = if id.is_multiple_of(3) { id * 37 % 1000 } else { 1000 + id };
        Item { id, author, at, text: format!("text of {id}") }
    }

    /// The calls of one round; `None` as soon as the server is gone.
    fn round(&mut self, round: u64) -> Option<()> {
        if round == 0 {
            for (author, followers) in [(ALL, 3), (ACTIVE, 5), (NOBODY, 8)] {
                for user in (21..).take(followers) {
                    self.relate(user, &[author], &[])?;
                }
            }
        }
        let viewer = VIEWER + round;
        self.read()?;
        for author in [ALL, ACTIVE, NOBODY] {
            self.publish(author, 1)?;
        }
        for author in LONG {
            self.publish(author, 25)?;
        }
        self.relate(viewer, &LONG, &[])?;
        self.change(Change::Mute { user: *READERS.start(), target: ALL, muted: round.is_multiple_of(2) })?;
        self.change(Change::Hide { user: ACTIVE, target: viewer, hidden: true })?;
        self.relate(BLOCKER + round, &[BLOCKED + round], &[])?;
        self.relate(BLOCKED + round, &[BLOCKER + round], &[])?;
        self.change(Change::Block { user: BLOCKER + round, target: BLOCKED + round, blocked: true })?;
        self.arrange(round)?;
        let profile = json!({"nickname": format!("viewer in round {round}")});
        for path in [format!("/v1/users/{viewer}"), format!("/v1/users/viewer%20{viewer}")] {
            // The second is a name, which gets a number.
            self.change(Change::Record { path, body: profile.clone(), shown: profile.clone() })?;
        }
        let erased = format!("/v1/users/{}", ERASED + round);
        self.change(Change::Record { path: erased.clone(), body: profile.clone(), shown: profile.clone() })?;
        let gone = json!({"nickname": null});
        self.change(Change::Record { path: erased, body: Value::Null, shown: gone })?;
        self.drain()?;
        let edited = self.next;
        for (id, user, on) in [(edited, viewer, true), (edited - 1, VIEWER, true), (edited, viewer, round == 1)] {
            self.change(Change::Like { id, user, on })?;
        }
        self.change(Change::Edit { id: edited, text: format!("edited in round {round}") })?;
        self.change(Change::Delete(edited - 1))?;
        self.change(Change::Delete(edited - 2))?;
        self.change(Change::Restore(edited - 2))?;
        self.change(Change::Mark { user: *READERS.start(), place: (1000 + edited / 2, 1) })?;
        for _ in 0..3 {
            self.relate(viewer, &[], &[LONG[0]])?;
            self.relate(viewer, &[LONG[0]], &[])?;
        }
        self.relate(viewer, &[ALL], &LONG)?;
        self.relate(viewer, &[], &[ALL])?;
        self.read()?;
        self.drain()?;
        std::thread::sleep(UNTIL_DORMANT);
        // This fan-out finds its readers dormant.
        self.publish(ACTIVE, 1)?;
        self.drain()
    }

    /// Rules, lists, requests, a suspension, and a path that an item is taken off. Each call changes something.
    fn arrange(&mut self, round: u64) -> Option<()> {
        let kinds = |names: &str| names.parse().expect("kinds");
        let (keeper, asking, asked) = (KEEPER + round, ASKING + round, ASKED + round);
        self.relate(keeper, &[ALL, ACTIVE], &[])?;
        self.change(Change::Rule { user: keeper, target: ALL, rule: NamedRule::Except(kinds("video,poll")) })?;
        let list = |name, exclusive| Change::List { user: keeper, name, exclusive };
        let member = |name, source, rule| Change::Member { user: keeper, name, source, rule };
        self.change(list("close", Some(true)))?;
        self.change(member("close", ACTIVE, Some(NamedRule::All)))?;
        self.change(member("close", LONG[0], Some(NamedRule::Only(kinds("note,photo")))))?;
        self.change(list("far", Some(false)))?;
        self.change(member("far", NOBODY, Some(NamedRule::All)))?;
        if round == 1 {
            self.change(member("far", NOBODY, None))?;
            self.change(list("close", None))?;
            self.change(list("far", Some(true)))?;
        }
        self.change(Change::Approve { user: asked, approves: true })?;
        self.relate(asking, &[asked], &[])?;
        self.change(Change::Answer { user: asked, from: asking, approved: round != 1 })?;
        self.relate(keeper, &[asked], &[])?;
        self.change(Change::Approve { user: asked, approves: false })?;
        self.change(Change::Suspend { user: NOBODY, suspended: true })?;
        self.relate(asking, &[NOBODY], &[])?;
        self.change(Change::Suspend { user: NOBODY, suspended: false })?;
        let grouped = self.history.model.living().filter(|item| item.paths().count() == 2).last().expect("an item");
        let source = if round == 1 { grouped.body.author } else { grouped.body.to[0] };
        let (id, source) = (grouped.id.get(), source.get());
        self.change(Change::TakeOff { id, source })
    }

    fn change(&mut self, change: Change) -> Option<()> {
        (self.history.insist(self.server, &change) == Outcome::Made).then_some(())
    }

    fn publish(&mut self, author: u64, items: usize) -> Option<()> {
        let items = (0..items).map(|_| self.item(author)).collect();
        self.change(Change::Publish(items))
    }

    fn relate(&mut self, user: u64, follow: &[u64], unfollow: &[u64]) -> Option<()> {
        self.change(Change::Relate { user, follow: follow.to_vec(), unfollow: unfollow.to_vec() })
    }

    fn read(&self) -> Option<()> {
        for reader in READERS {
            let path = format!("/v1/users/{reader}/timeline?limit=5");
            let answer = call(self.server, "GET", &path, &Value::Null)?;
            assert_eq!(answer.status, 200, "{path}: {}", answer.text());
        }
        Some(())
    }

    fn drain(&self) -> Option<()> {
        self.server.drain().then_some(())
    }
}

/// Runs the load to its end or the server's. Returns whether the server still runs.
fn work(server: &Server, history: &mut History, rounds: u64) -> bool {
    let next = history.model.items.iter().map(|item| item.id.get()).max().unwrap_or_default();
    let mut load = Load { server, history, next };
    (0..rounds).try_for_each(|round| load.round(round)).is_some()
}

/// This home, for a compaction after which no item can be restored.
fn to_purge(home: &Home) -> Home {
    home.with("TIDELINE__CONTENT__DELETED_RETENTION", "0s")
}

fn home(dir: &TempDir) -> Home {
    Home::new(dir.path().join("data"), dir.path().join("log"), &SETTINGS)
}

/// The home for these failpoints. Only at those of evictions are idle users evicted soon: on a slow machine that may
/// come before a fan-out finds them dormant.
fn home_for(dir: &TempDir, points: &str) -> Home {
    let home = home(dir);
    if points.contains("evict.") { home.with("TIDELINE__TIMELINE__EVICT_AFTER", "700ms") } else { home }
}

/// The events on disk, in the order of their numbers.
fn events(home: &Home) -> Vec<Told> {
    let store = Store::open(&Options::new(&home.data)).expect("opens");
    let events =
        feed::events::tables::logged(&store, 0, usize::MAX).expect("reads").into_iter().filter_map(Logged::event);
    let told = |event: Event| {
        let Entry { cursor, author, .. } = event.entry;
        (event.kind, author.get(), cursor.at, cursor.id.get())
    };
    // What an erasure leaves, until it is over and after.
    let is_kept = |event: &Event| match event.kind {
        EventKind::Gap => false,
        EventKind::Suspension => event.entry.author.get() < ERASED,
        _ => true,
    };
    events.filter(is_kept).map(told).collect()
}

/// Checks that everything is there: at once, after all jobs, and for `tideline check`. The log of events must have
/// an event of each change made, and no other.
fn all_is_well(home: &Home, history: &mut History, when: &str) {
    let server = home.start();
    history.resolve(&server);
    compare(&server, &history.model, &format!("{when}, at once"));
    assert!(server.drain());
    compare(&server, &history.model, &format!("{when}, all jobs done"));
    assert_eq!(server.end("TERM").code(), Some(0));
    home.check();
    // The start wrote no event.
    assert_eq!(events(home), history.events(), "{when}: events");
}

/// Ends the process at the `n`th passing of a failpoint.
fn abort_at(name: &str, n: usize) {
    let when = format!("{name}, passing {n}");
    let points = format!("{name}={}*off->return(abort)", n - 1);
    let dir = tempfile::tempdir().expect("temp dir");
    let (home, mut history) = (home_for(&dir, name), History::default());
    if name.starts_with("start.") {
        // Leaves work for the next start.
        let server = home.start();
        assert!(work(&server, &mut history, 1));
        server.end("KILL");
    }
    let status = match home.try_start(if is_compaction(name) { "" } else { &points }) {
        Err(status) => status,
        Ok(server) if is_compaction(name) => {
            assert!(work(&server, &mut history, ROUNDS));
            server.end("KILL");
            to_purge(&home).run("compact", &points)
        }
        Ok(server) if work(&server, &mut history, ROUNDS) => server.end("TERM"),
        Ok(mut server) => server.wait(),
    };
    assert_eq!(status.signal(), Some(ABORTED), "{when}: not reached; the server ended with {status}");
    all_is_well(&home, &mut history, &when);
}

/// Whether a failpoint is passed only by backups.
fn is_backup(name: &str) -> bool {
    name.starts_with("copy.")
}

/// Whether a failpoint is passed only on the directory of a standby: `tests/standby.rs` tries these.
fn is_standby(name: &str) -> bool {
    name.starts_with("swap.") || name.starts_with("promotion.")
}

/// Whether a failpoint is passed only by `tideline restore`: `tests/backup.rs` tries these.
fn is_restore(name: &str) -> bool {
    name.starts_with("exchange.")
}

/// Whether a failpoint is passed only after a compaction has noticed something.
fn is_compaction(name: &str) -> bool {
    [Write::Archive, Write::Purge, Write::ArchiveTopic].iter().any(|write| is_at(name, *write))
}

fn is_at(name: &str, write: Write) -> bool {
    name.split('.').next() == Some(write.name())
}

/// Runs the load while writes fail.
fn fail_at(points: &str) {
    let dir = tempfile::tempdir().expect("temp dir");
    let (home, mut history) = (home_for(&dir, points), History::default());
    let server = home.try_start(points).expect("starts");
    assert!(work(&server, &mut history, ROUNDS), "{points}");
    compare(&server, &history.model, points);
    assert_eq!(server.end("TERM").code(), Some(0), "{points}");
    if is_compaction(points) {
        assert_eq!(to_purge(&home).run("compact", &points.replace("1*off->", "")).code(), Some(0), "{points}");
    }
    // No other error is logged, however many calls and jobs fail.
    let refused = home.logged("the storage accepts no writes");
    assert!(refused > 0, "{points}: not reached");
    assert_eq!(home.logged("ERROR"), refused, "{points}");
    let again = home.logged("the storage accepts writes again");
    assert!(again == refused || again + 1 == refused, "{points}: {again} of {refused}");
    all_is_well(&home, &mut history, points);
}

/// Runs a test for each of several cases, two at a time: they mostly wait.
fn for_each<T: Sync>(cases: &[T], test: impl Fn(&T) + Sync) {
    let next = AtomicUsize::new(0);
    std::thread::scope(|threads| {
        for _ in 0..2 {
            threads.spawn(|| {
                while let Some(case) = cases.get(next.fetch_add(1, Ordering::Relaxed)) {
                    test(case);
                }
            });
        }
    });
}

/// The number of tries of each failpoint. More with `TIDELINE_PASSINGS`, at later passings.
fn passings() -> usize {
    std::env::var("TIDELINE_PASSINGS").map_or(1, |text| text.parse().expect("a number"))
}

#[test]
fn nothing_is_lost_wherever_the_process_ends() {
    let places = names();
    let rare = |name: &str| {
        let is_once = name.starts_with("start.") || name.starts_with("stop.");
        is_once || is_compaction(name)
    };
    let tries = |(number, name): (usize, &String)| {
        // The first passings differ, so each failpoint is tried at another one of them.
        let first = if rare(name) { 1 } else { 1 + number % ROUNDS as usize };
        let tries = match name {
            name if rare(name) => 1,
            _ => passings(),
        };
        (0..tries).map(|more| (name.clone(), first + more)).collect::<Vec<_>>()
    };
    let cases: Vec<_> = places
        .iter()
        .enumerate()
        .filter(|(_, name)| !is_backup(name) && !is_restore(name) && !is_standby(name))
        .flat_map(tries)
        .collect();
    for_each(&cases, |(name, n)| abort_at(name, *n));
}

/// The backups of a server: each name with its state.
fn backups(server: &Server) -> Option<Vec<(String, String)>> {
    let answer = call(server, "GET", BACKUPS, &Value::Null)?.json();
    let text = |item: &Value, field: &str| item[field].as_str().expect("text").to_owned();
    Some(answer["items"].as_array()?.iter().map(|item| (text(item, "name"), text(item, "state"))).collect())
}

/// Takes a backup, and waits until it is verified and only one is left; `None` if the server ends before.
fn back_up(server: &Server) -> Option<()> {
    assert_eq!(call(server, "POST", BACKUPS, &json!({}))?.status, 201);
    let began = Instant::now();
    loop {
        assert!(began.elapsed() < PATIENCE, "{:?}", backups(server));
        if let [(_, state)] = &backups(server)?[..]
            && state == "verified"
        {
            return Some(());
        }
        std::thread::sleep(Duration::from_millis(5));
    }
}

#[test]
fn a_backup_that_breaks_off_leaves_nothing_that_is_no_backup() {
    let places: Vec<_> = names().into_iter().filter(|name| is_backup(name)).collect();
    assert!(places.len() > 5, "{places:?}");
    for_each(&places, |name| {
        let dir = tempfile::tempdir().expect("temp dir");
        let home = home(&dir).with("TIDELINE__BACKUP__KEEP", "1");
        let skipped = if name == "copy.gone" { "" } else { "1*off->" };
        let mut server = home.try_start(&format!("{name}={skipped}return(abort)")).expect("starts");
        let mut history = History::default();
        assert!(work(&server, &mut history, 1));
        assert!((0..3).try_for_each(|_| back_up(&server)).is_none(), "{name}: not reached");
        assert_eq!(server.wait().signal(), Some(ABORTED), "{name}");

        let server = home.start();
        wait_until("a backup is not verified", || {
            backups(&server).expect("listed").iter().all(|(_, state)| state == "verified")
        });
        back_up(&server).expect("a backup");
        let kept = backups(&server).expect("listed");
        assert_eq!(server.end("TERM").code(), Some(0));
        let folders = std::fs::read_dir(home.data.join("backups")).expect("listed");
        let folders: Vec<_> = folders.map(|entry| entry.expect("listed").file_name().into_string()).collect();
        assert_eq!(folders, [Ok(kept[0].0.clone())], "{name}");
        let (from, restored) =
            (home.data.join("backups").join(&kept[0].0), home.with_data(dir.path().join("restored")));
        let args = ["restore", "--from", from.to_str().expect("text")];
        assert!(restored.command(&args, "").output().expect("runs").status.success(), "{name}: {}", home.log());
        let server = restored.start();
        compare(&server, &history.model, name);
    });
}

#[test]
fn a_write_that_fails_is_answered_503_or_tried_again() {
    let cases: Vec<_> =
        Write::ALL.iter().map(|write| format!("{}.before=1*off->1*return(error)->off", write.name())).collect();
    for_each(&cases, |points| fail_at(points));
}

#[test]
fn many_writes_that_fail_change_no_answer() {
    let points: Vec<_> = Write::ALL.iter().map(|write| format!("{}.before=15%return(error)", write.name())).collect();
    fail_at(&points.join(";"));
}

/// A marker ahead of the clock, from before such times were refused, counts as at the newest item until a move can write
/// that.
#[test]
fn a_marker_ahead_is_read_while_nothing_can_be_written() {
    const MARKER: &str = "/v1/users/1/marker";
    let dir = tempfile::tempdir().expect("temp dir");
    let home = home(&dir);
    let send = |server: &Server, method: &str, path: &str, body: Value| {
        call(server, method, path, &body).expect("an answer").status
    };
    let seen = |server: &Server| {
        let unread = server.get("/v1/users/1/timeline/unread")["count"].clone();
        (server.get(MARKER)["cursor"].clone(), unread)
    };
    let server = home.with("TIDELINE__CONTENT__MAX_AHEAD", "36500d").start();
    assert_eq!(send(&server, "PUT", "/v1/users/1/following/2", json!({})), 200);
    let post = |id: u64| json!({"author_id": 2, "content_id": id, "published_at": 1000 + id});
    assert_eq!(send(&server, "POST", "/v1/content", post(5)), 201);
    // A marker counts as ahead only if its item is gone.
    let ahead = json!({"author_id": 2, "content_id": 9, "published_at": 4_000_000_000_000_u64});
    assert_eq!(send(&server, "POST", "/v1/content", ahead), 201);
    assert_eq!(send(&server, "PUT", MARKER, json!({"cursor": "4000000000000-9"})), 200);
    assert_eq!(send(&server, "DELETE", "/v1/content/9", Value::Null), 204);
    assert_eq!(server.end("TERM").code(), Some(0));

    let server = home.try_start("record.before=1*return(error)->off").expect("starts");
    assert_eq!(seen(&server), (json!("1005-5"), json!(0)));
    assert_eq!(send(&server, "PUT", MARKER, json!({"cursor": "1001-1"})), 503);
    assert!(home.logged("the storage accepts no writes") > 0);
    assert_eq!(seen(&server), (json!("1005-5"), json!(0)));
    // A move writes the place, also if its own is older.
    assert_eq!(send(&server, "PUT", MARKER, json!({"cursor": "1001-1"})), 200);
    assert_eq!(send(&server, "POST", "/v1/content", post(6)), 201);
    assert_eq!(seen(&server), (json!("1005-5"), json!(1)));
    assert_eq!(server.end("TERM").code(), Some(0));
}

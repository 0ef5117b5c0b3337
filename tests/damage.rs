//! Damaged data: what only makes reads fast costs no answer, and a job that cannot be done stops no other.

use std::fs::OpenOptions;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

use feed::store::{Options, Store};
use model::Cursor;
use tempfile::TempDir;

use crate::check::damage::{Row, engine, key, set};
use crate::plain::user;
use crate::process::home::Home;
use crate::server::{Server, wait_until};

/// A directory with imported follows and content.
struct Place {
    home: Home,
    _dir: TempDir,
}

impl Place {
    fn new(follows: &str, content: &str, settings: &[(&'static str, &str)]) -> Self {
        let dir = tempfile::tempdir().expect("temp dir");
        let file = |name: &str, lines: &str| {
            let path = dir.path().join(name);
            std::fs::write(&path, lines).expect("writes");
            path.to_str().expect("text").to_owned()
        };
        let (follows, content) = (file("f", follows), file("c", content));
        let home = Home::new(dir.path().join("data"), dir.path().join("log"), settings);
        let imported = home.command(&["import", "--follows", &follows, "--content", &content], "").status();
        assert!(imported.expect("runs").success(), "{}", home.log());
        Self { home, _dir: dir }
    }

    fn data(&self) -> &Path {
        &self.home.data
    }
}

fn timeline(server: &Server, user: u64) -> Vec<u64> {
    server.ids(&format!("/v1/users/{user}/timeline?limit=100"))
}

fn publish(server: &Server, id: u64, author: u64) -> u16 {
    let reply = server.call("POST", "/v1/content", format!(r#"{{"content_id":{id},"author_id":{author}}}"#));
    if reply.status == 503 {
        let code = reply.json()["code"].clone();
        assert!(["overloaded", "storage_unavailable"].iter().any(|known| code == *known), "{code}");
    }
    reply.status
}

#[test]
fn a_damaged_inbox_costs_its_reader_nothing_and_is_rebuilt() {
    let place = Place::new("1,2\n1,3\n5,2\n", "10,2,1000\n11,3,1001\n12,2,1002\n40,4,1003\n", &[]);
    set(place.data(), &Row("inboxes", key(&[1])), Some(&[0xFF; 5]));
    let server = place.home.start();
    assert_eq!(timeline(&server, 1), [12, 11, 10]);
    assert_eq!(server.get("/v1/users/1/timeline/unread")["count"], 3);
    assert_eq!(server.get("/v1/admin/users/1/timeline/verify")["exact"], true);
    server.wait_for("tideline_damaged_inboxes_total", |dropped| dropped > 0.5);
    server.follow(1, 4, 2000);
    assert_eq!(publish(&server, 13, 2), 201);
    assert_eq!(timeline(&server, 1), [13, 40, 12, 11, 10]);
    server.settle();
    assert_eq!(timeline(&server, 1), [13, 40, 12, 11, 10]);
    assert_eq!(timeline(&server, 5), [13, 12, 10]);
    server.settle();
    assert_eq!(place.home.logged("a damaged inbox was dropped"), 1, "{}", place.home.log());
    assert!(
        place.home.log().lines().any(|line| line.contains("a damaged inbox was dropped") && line.contains("user=1"))
    );
    assert!(server.figure("tideline_damaged_inboxes_total") < 1.5);
    assert_eq!(server.end("TERM").code(), Some(0));
    place.home.check();
}

/// User 1 follows 2. Then a row of the outbox of 2 is damaged, which a settle reads and a fan-out does not.
#[test]
fn a_job_that_cannot_be_done_lets_others_go_on_and_is_tried_again() {
    let place = Place::new("1,2\n", "10,2,1000\n", &[("TIDELINE__FANOUT__QUEUE", "20")]);
    let row = Row("outbox", [&key(&[2])[..], &[0xFF; 5]].concat());
    set(place.data(), &row, Some(&[]));
    let server = place.home.start();
    assert_eq!(timeline(&server, 1), [10]);
    server.settle();
    server.follow(3, 2, 2000);
    let mut published = vec![10];
    for id in 100..150 {
        wait_until("publishes are refused", || publish(&server, id, 2) == 201);
        published.insert(0, id);
        assert_eq!(timeline(&server, 1), published);
    }
    server.wait_for("tideline_parked_jobs", |parked| parked > 0.5);
    server.settle();
    assert_eq!(timeline(&server, 1), published);
    assert!(server.figure("tideline_unsettled_pairs") > 0.5 && server.figure("tideline_parked_jobs") < 1.5);
    assert_eq!(place.home.logged("is parked"), 1, "{}", place.home.log());
    server.end("KILL");

    let server = place.home.start();
    server.wait_for("tideline_parked_jobs", |parked| parked > 0.5);
    assert_eq!(timeline(&server, 1), published);
    assert_eq!(server.end("TERM").code(), Some(0));
    set(place.data(), &row, None);
    let server = place.home.start();
    server.settle();
    assert_eq!(timeline(&server, 3), published);
    server.settle();
    assert!(server.figure("tideline_unsettled_pairs") < 0.5 && server.figure("tideline_parked_jobs") < 0.5);
    assert_eq!(server.end("TERM").code(), Some(0));
    place.home.check();
}

/// The files of a table with their sizes.
fn files(data: &Path, table: &str) -> Vec<(PathBuf, usize)> {
    let files = engine(data).live_files().expect("files");
    let of_table = files.iter().filter(|file| file.column_family_name == table);
    of_table.map(|file| (data.join("db").join(file.name.trim_start_matches('/')), file.size)).collect()
}

fn largest_file(data: &Path, table: &str) -> PathBuf {
    files(data, table).into_iter().max_by_key(|file| file.1).expect("a file").0
}

/// Table files of inboxes that no compaction has seen. Sixteen of them make the engine compact.
const FILES: usize = 18;
const READERS: std::ops::Range<u64> = 100..160;

/// Changes each inbox in a table file of its own, then damages the first block of the first file.
fn damage_inboxes(data: &Path) {
    for _ in 0..FILES {
        let store = Store::open(&Options::new(data).with(|engine| engine.compacts = false)).expect("opens");
        READERS
            .for_each(|reader| feed::inbox::tables::raise_floor(&store, user(reader), Cursor::OLDEST).expect("raises"));
    }
    assert!(files(data, "inboxes").len() >= FILES);
    let file = OpenOptions::new().read(true).write(true).open(largest_file(data, "inboxes")).expect("opens");
    let mut bytes = [0; 4];
    file.read_exact_at(&mut bytes, 20).expect("reads");
    file.write_all_at(&bytes.map(|byte| !byte), 20).expect("writes");
}

#[test]
fn a_damaged_file_of_inboxes_costs_no_page_and_a_start_makes_the_table_anew() {
    let follows: String = READERS.map(|reader| format!("{reader},1\n")).collect();
    let content: String = (1..=30).map(|id| format!("{id},1,{}\n", 1000 + id)).collect();
    let place = Place::new(&follows, &content, &[]);
    damage_inboxes(place.data());
    let pages = |server: &Server| {
        let wanted: Vec<_> = (1..=30).rev().collect();
        READERS.for_each(|reader| assert_eq!(timeline(server, reader), wanted, "of {reader}"));
    };

    let server = place.home.start();
    // Nobody follows this author. The engine stops at the damage, some time after its opening.
    let mut id = 1000;
    wait_until("the engine goes on", || {
        id += 1;
        let status = publish(&server, id, 900);
        assert!([201, 503].contains(&status), "{status}");
        status == 503
    });
    let follow = server.call("PUT", "/v1/users/100/following/2", r#"{"since":1}"#);
    follow.problem("the engine has stopped", 503, "storage_unavailable");
    let ready = server.call("GET", "/readyz", "");
    ready.problem("the engine has stopped", 503, "storage_stopped");
    pages(&server);
    let marker = place.data().join("REBUILD");
    // Another thread may have met the damage before this change did.
    wait_until("the next start is told nothing", || marker.exists());
    server.end("KILL");

    let server = place.home.start();
    assert!(!marker.exists() && place.home.logged("was dropped; pages stay right") == 1, "{}", place.home.log());
    assert_eq!(server.end("TERM").code(), Some(0));
    place.home.check();
    let server = place.home.start();
    pages(&server);
    server.settle();
    assert_eq!(publish(&server, 31, 1), 201);
    server.settle();
    let pulls = || server.figure("tideline_timeline_read_pulls_sum");
    let before = pulls();
    READERS.for_each(|reader| assert_eq!(timeline(&server, reader)[0], 31, "of {reader}"));
    assert!(pulls() - before < 0.5, "the inboxes are rebuilt");
    assert_eq!(server.end("TERM").code(), Some(0));
    place.home.check();
}

#[test]
fn a_command_that_meets_a_damaged_file_of_inboxes_advises_no_restore() {
    let place = Place::new("1,2\n", "10,2,1000\n", &[]);
    for command in ["check", "compact"] {
        let file = OpenOptions::new().write(true).open(largest_file(place.data(), "inboxes")).expect("opens");
        file.write_all_at(&[0x55; 8], 0).expect("writes");
        place.home.clear_log();
        assert!(!place.home.run(command, "").success(), "{command}");
        assert!(place.home.logged("the next start drops the table") > 0, "{command}: {}", place.home.log());
        assert_eq!(place.home.logged("restore a backup"), 0, "{command}: {}", place.home.log());
        assert!(place.home.run(command, "").success(), "{command}: {}", place.home.log());
        let server = place.home.start();
        assert_eq!(timeline(&server, 1), [10]);
        server.settle();
        assert_eq!(server.end("TERM").code(), Some(0));
    }
}

#[test]
fn a_missing_file_of_inboxes_that_a_start_does_not_open_is_damage_too() {
    let place = Place::new("1,2\n", "10,2,1000\n", &[]);
    // The engine opens a few files at a start, and a table that was made anew comes last.
    std::fs::write(place.data().join("REBUILD"), "").expect("writes");
    for id in 11..16 {
        let server = place.home.start();
        assert_eq!(timeline(&server, 1).len(), id as usize - 10);
        assert_eq!(publish(&server, id, 2), 201);
        server.settle();
        assert_eq!(server.end("TERM").code(), Some(0));
    }
    files(place.data(), "inboxes").iter().for_each(|(path, _)| std::fs::remove_file(path).expect("removes"));
    let server = place.home.start();
    assert_eq!(timeline(&server, 1), [15, 14, 13, 12, 11, 10]);
    assert_eq!(place.home.logged("the next start drops the table"), 1, "{}", place.home.log());
    assert_eq!(server.end("TERM").code(), Some(0));
    place.home.check();
}

#[test]
fn a_start_makes_inboxes_anew_if_the_engine_cannot_open_a_file_of_them_and_refuses_other_damage() {
    let place = Place::new("1,2\n", "10,2,1000\n11,2,1001\n", &[]);
    let ways: [fn(&Path); 3] = [
        |path| std::fs::remove_file(path).expect("removes"),
        |path| OpenOptions::new().write(true).open(path).expect("opens").set_len(100).expect("cuts"),
        |path| {
            let file = OpenOptions::new().write(true).open(path).expect("opens");
            let end = file.metadata().expect("a size").len() - 20;
            file.write_all_at(&[0x55; 20], end).expect("writes");
        },
    ];
    for (n, damage) in ways.into_iter().enumerate() {
        damage(&largest_file(place.data(), "inboxes"));
        let server = place.home.start();
        assert_eq!(place.home.logged("this start drops the table"), n + 1, "{}", place.home.log());
        assert_eq!(timeline(&server, 1), [11, 10], "{n}");
        server.settle();
        assert_eq!(server.end("TERM").code(), Some(0));
        place.home.check();
    }
    // A table that has no other source is kept as it is, and so are the others.
    let (inboxes, outbox) = (largest_file(place.data(), "inboxes"), largest_file(place.data(), "outbox"));
    let kept = std::fs::read(&outbox).expect("reads");
    ways[1](&outbox);
    assert!(!place.home.run("check", "").success());
    assert!(inboxes.exists() && !place.data().join("REBUILD").exists(), "{}", place.home.log());
    std::fs::write(&outbox, kept).expect("writes");
    place.home.check();
}

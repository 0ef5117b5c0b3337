//! A standby on disk: it copies a store, applies its log, and has the same rows.

use std::collections::HashSet;
use std::fs;
use std::path::PathBuf;
use std::sync::Arc;

use config::Config;
use feed::items::tables::{Batch, Push};
use feed::standbys::Standbys;
use feed::store::{Options, Rules, Store};
use kv::{LogReader, Schema, Standby, StandbyDirectory};
use model::error::Code;
use tempfile::TempDir;

use super::everything::{Scope, dump, fill};
use super::support::{audit, ids, open, outbox, post, publish_post, timed};
use crate::wait::until;

const URL: &str = "http://origin";
/// Bytes of the smallest write buffer.
const SMALL: usize = 8 << 20;

struct World {
    dir: TempDir,
    origin: Box<Store>,
}

impl World {
    fn new() -> Self {
        let dir = tempfile::tempdir().expect("temp dir");
        let options = Options::new(dir.path().join("origin")).with(|engine| {
            engine.keeps_log = true;
            engine.write_buffer = SMALL;
        });
        Self { origin: Box::new(Store::open(&options).expect("opens")), dir }
    }

    fn path(&self) -> PathBuf {
        self.dir.path().join("standby")
    }

    fn claim(&self) -> StandbyDirectory {
        StandbyDirectory::claim(&self.path(), Some(URL)).expect("claims")
    }

    /// A new copy of the origin in its place.
    fn copy(&self, directory: &StandbyDirectory) {
        let copy = self.dir.path().join("copy");
        self.origin.copy_to(&copy).expect("copies");
        directory.begin_copy(b"plan", 1, 0).expect("begins");
        for file in fs::read_dir(copy.join("db")).expect("lists").map(|file| file.expect("listed")) {
            fs::copy(file.path(), directory.copying().join("db").join(file.file_name())).expect("copies");
        }
        fs::remove_dir_all(copy).expect("removes");
        directory
            .finish_copy(self.origin.disk().expect("on disk").log_facts().expect("facts").id)
            .expect("takes its place");
    }

    fn open(&self, directory: &StandbyDirectory) -> Standby {
        let options = Options::new(self.path()).with(|engine| engine.write_buffer = SMALL);
        let rules: Arc<dyn Schema> = Arc::new(Rules::new(&options));
        let standby = Standby::open(directory, &options.engine, &rules);
        let standby = standby.expect("opens");
        standby
            .has_tables(&self.origin.disk().expect("on disk").log_facts().expect("facts").tables)
            .expect("the same tables");
        standby
    }

    /// The files of the log.
    fn logs(&self) -> HashSet<PathBuf> {
        let files =
            fs::read_dir(self.dir.path().join("origin/db")).expect("lists").map(|file| file.expect("listed").path());
        files.filter(|file| file.extension().is_some_and(|ending| ending == "log")).collect()
    }

    fn read(&self, standby: &Standby) -> LogReader {
        self.origin.disk().expect("on disk").read_log(standby.sequence()).expect("reads")
    }

    /// Applies all that the origin has.
    fn catch_up(&self, standby: &Standby, reader: &mut LogReader) {
        let end = self.origin.disk().expect("on disk").seal().expect("flushes");
        self.origin.disk().expect("on disk").unseal();
        while let Some(batch) = reader.next().expect("reads") {
            standby.apply(&batch).expect("applies");
        }
        standby.flush().expect("flushes");
        assert_eq!((standby.sequence(), reader.last(), reader.left()), (end, end, 0));
    }
}

#[test]
fn a_standby_has_every_row_of_its_origin() {
    let world = World::new();
    publish_post(&world.origin, 900_000, 77, 5);
    let directory = world.claim();
    world.copy(&directory);
    let standby = world.open(&directory);
    let mut reader = world.read(&standby);
    fill(&world.origin);
    world.origin.write_arrivals().expect("writes");
    world.catch_up(&standby, &mut reader);
    // Batches that are larger than a piece, and the next file of the log.
    for round in 0..12 {
        let many: Vec<_> = (0..2000).map(|n| timed(post(1_000_000 + round * 2000 + n, 50, n))).collect();
        feed::items::tables::publish(&world.origin, &many, Batch::AllOrNone, Push::Queued).expect("publishes");
        world.origin.compact().expect("flushes and compacts");
        world.catch_up(&standby, &mut reader);
    }
    drop((standby, reader));
    // A start in between.
    let standby = world.open(&directory);
    publish_post(&world.origin, 900_001, 77, 6);
    world.catch_up(&standby, &mut world.read(&standby));
    let wanted = dump(&world.origin, &Scope::filled());
    drop(standby);
    let error = Store::open(&Options::new(world.path())).expect_err("a standby").to_string();
    assert!(error.contains("is a standby") && error.contains("tideline promote --data-dir"), "{error}");
    directory.promote(false).expect("promotes");
    let promoted = open(&world.path());
    assert!(promoted.disk().expect("on disk").run.is_set_back(), "clients may know of more");
    let differ = dump(&promoted, &Scope::filled()).into_iter().zip(wanted).find(|(there, wanted)| there != wanted);
    assert_eq!(differ, None);
    assert_eq!(ids(&outbox(&promoted, 77)), [900_001, 900_000]);
    assert_eq!(outbox(&promoted, 50).len(), outbox(&world.origin, 50).len());
    assert_eq!(audit(&promoted), [""; 0]);
}

/// The log that a standby needs is gone, or is another one: that is said, and nothing is passed over.
#[test]
fn a_hole_in_the_log_is_never_passed_over() {
    let world = World::new();
    publish_post(&world.origin, 1, 9, 1);
    let directory = world.claim();
    world.copy(&directory);
    let standby = world.open(&directory);
    let mut reader = world.read(&standby);
    let logs = world.logs();
    world.origin.disk().expect("on disk").keep_log(0);
    let mut id = 10;
    let is_gone = || {
        id += 1;
        publish_post(&world.origin, id, 9, 1);
        world.origin.compact().expect("flushes");
        world.logs().is_disjoint(&logs)
    };
    until("the log is kept", is_gone).expect("removed");
    let gone = reader.next().expect_err("it was removed");
    assert_eq!(gone.code(), Some(Code::LogGone), "{gone}");
    let later = world.origin.disk().expect("on disk").log_facts().expect("facts").flushed - 1;
    let mut reader = world.origin.disk().expect("on disk").read_log(later).expect("reads");
    publish_post(&world.origin, 90, 9, 1);
    if let Ok(Some(batch)) = reader.next() {
        assert_eq!(standby.apply(&batch).expect_err("a hole").code(), Some(Code::LogGone));
    }
    let mut damaged = vec![0; 40];
    assert!(standby.apply(&damaged).is_err());
    damaged.truncate(3);
    assert!(standby.apply(&damaged).is_err());
    assert_eq!(
        world.origin.disk().expect("on disk").read_log(u64::MAX).expect_err("ahead").code(),
        Some(Code::LogGone)
    );
    drop(standby);
    // A new copy takes the place of the old one.
    world.copy(&directory);
    let standby = world.open(&directory);
    world.catch_up(&standby, &mut world.read(&standby));
}

/// A standby that begins anew is not taken for the stream that it has left, however fast it was.
#[test]
fn a_standby_follows_by_its_newest_stream() {
    let world = World::new();
    publish_post(&world.origin, 1, 9, 1);
    let log = world.origin.disk().expect("on disk").log_facts().expect("facts").id;
    let mut config = Config::default();
    config.storage.data_dir = world.dir.path().join("origin");
    let standbys = Arc::new(Standbys::new(&config));
    let follow = || standbys.follow(&world.origin, "b", log, 0).expect("follows");
    let mut stream = follow();
    for _ in 0..50 {
        let next = follow();
        drop(std::mem::replace(&mut stream, next));
        let known = standbys.list(&world.origin).expect("lists");
        assert!(known[0].following_since.is_some(), "{known:?}");
    }
    drop(stream);
    assert_eq!(standbys.list(&world.origin).expect("lists")[0].following_since, None);
}

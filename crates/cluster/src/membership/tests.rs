use std::ops::Range;
use std::sync::Arc;

use parking_lot::Mutex;
use tempfile::TempDir;

use super::*;
use config::{Config, Content};
use feed::backlog::Backlog;
use feed::ids;
use feed::store::{Options, Store};
use feed::streaming::Streaming;
use model::{ExternalId, UserId};

/// A log in memory that does as it should.
#[derive(Debug, Default)]
struct Shelf(Mutex<Vec<Record>>);

impl Shelf {
    /// A log that has begun, with some empty records.
    fn begun() -> Self {
        let shelf = Self::default();
        LogMembership::found(&shelf, None, Config::default().agreed()).expect("begins");
        shelf.fill(5);
        shelf
    }

    fn fill(&self, records: u64) {
        let log = log_id(&self.0.lock()[0]);
        for number in 1..=records {
            let empty = Envelope::empty(FIRST_LEVEL, log, Token(5), number, 1000);
            self.append(&empty.bytes().expect("writes"), PART).expect("appends");
        }
    }

    /// Drops the records before an offset.
    fn drop_before(&self, offset: u64) {
        self.0.lock().retain(|record| record.offset >= offset);
    }

    /// Drops the records from an offset on.
    fn cut(&self, offset: u64) {
        self.0.lock().retain(|record| record.offset < offset);
    }
}

impl Log for Shelf {
    fn append(&self, bytes: &[u8], _: Duration) -> Result<u64, NotAppended> {
        let mut records = self.0.lock();
        let offset = records.last().map_or(0, |last| last.offset + 1);
        records.push(Record { offset, time: 1000 + offset, bytes: bytes.to_vec() });
        Ok(offset)
    }

    fn read(&self, from: u64, _: Duration) -> Result<Vec<Record>, NotRead> {
        let found: Vec<_> = self.0.lock().iter().filter(|record| record.offset >= from).cloned().collect();
        if found.is_empty() { Err(NotRead::Gone("no such record".to_owned())) } else { Ok(found) }
    }

    fn bounds(&self, _: Duration) -> Result<Range<u64>, NotRead> {
        let records = self.0.lock();
        let start = records.first().map_or(0, |first| first.offset);
        Ok(start..records.last().map_or(start, |last| last.offset + 1))
    }
}

/// An empty store.
fn store() -> (TempDir, Store) {
    let dir = tempfile::tempdir().expect("a directory");
    let store = Store::open(&Options::new(dir.path())).expect("opens");
    (dir, store)
}

fn feed(store: Store, config: &Config) -> Feed {
    let (backlog, streaming) = (Arc::new(Backlog::new(10)), Arc::new(Streaming::new(1000)));
    Feed::new(Arc::new(store), backlog, streaming, config).expect("opens")
}

/// Lets a node have applied a log up to its end.
fn apply_all(store: &Store, shelf: &Shelf) {
    let mut mark = Mark::read(&store.note(MARK).expect("reads").expect("a mark")).expect("a mark");
    for record in shelf.0.lock().iter().skip(1) {
        (mark.last, mark.before, mark.hash) = (record.offset, mark.hash, chain(mark.hash, record));
    }
    store.put_notes(&[(MARK, Some(&mark.bytes().expect("writes")))]).expect("writes");
}

/// A node that has applied a log of six records.
fn node(shelf: &Shelf) -> (TempDir, Store, LogMembership) {
    let (dir, store) = store();
    let membership = LogMembership::join(shelf, &store).expect("joins");
    apply_all(&store, shelf);
    (dir, store, membership)
}

/// A start fails with this message, and changes nothing.
#[track_caller]
fn stops(shelf: &Shelf, store: &Store, membership: &LogMembership, message: &str) {
    let notes = || [ORIGIN, MARK].map(|name| store.note(name).expect("reads"));
    let before = notes();
    let why = membership.begin(shelf, store).expect_err("stops").to_string();
    assert!(why.contains(message), "{why}");
    assert!(why.contains("Nothing was changed"), "{why}");
    assert_eq!(notes(), before);
}

#[test]
fn a_node_goes_on_where_it_was() {
    let shelf = Shelf::begun();
    let (_dir, store, membership) = node(&shelf);
    assert_eq!(LogMembership::of(&store).expect("reads"), Some(membership.clone()));
    assert_eq!(LogMembership::join(&shelf, &store).expect("joins"), membership);
    shelf.fill(3);
    assert_eq!(membership.begin(&shelf, &store).expect("begins").last, 5);
    shelf.drop_before(5);
    assert_eq!(membership.begin(&shelf, &store).expect("the last record is there").last, 5);
    shelf.drop_before(6);
    assert_eq!(membership.begin(&shelf, &store).expect("the next record is there").last, 5);
}

#[test]
fn a_node_does_not_go_on_with_another_log() {
    let shelf = Shelf::begun();
    let (_dir, store, membership) = node(&shelf);
    // Made anew, as long as before or longer.
    let anew = Shelf::begun();
    anew.fill(4);
    stops(&anew, &store, &membership, "another one: this is another log, or it was cut");
    // Made anew and empty, or cut.
    stops(&Shelf::default(), &store, &membership, "the log ends before it, at offset 0");
    shelf.cut(5);
    stops(&shelf, &store, &membership, "the log ends before it, at offset 5");
    // Cut, and then with other records.
    shelf.append(b"another", PART).expect("appends");
    stops(&shelf, &store, &membership, "another one: this is another log, or it was cut");
}

#[test]
fn a_node_whose_last_record_is_gone_looks_whose_log_it_is_before_it_appends() {
    let (shelf, other) = (Shelf::begun(), Shelf::begun());
    let (_dir, store, membership) = node(&shelf);
    other.fill(3);
    other.drop_before(6);
    stops(&other, &store, &membership, "the topic has the command log");
    // Others may have written into the right one.
    shelf.append(b"hello", PART).expect("appends");
    let strange = other.0.lock()[0].bytes.clone();
    shelf.append(&strange, PART).expect("appends");
    shelf.fill(1);
    shelf.drop_before(6);
    assert_eq!(membership.begin(&shelf, &store).expect("one of the records is of its log").last, 5);
    let own: String = membership.log.into();
    assert_eq!(LogMembership::announce(&shelf, &own, FIRST_LEVEL, None).expect("comes"), 9);
}

#[test]
fn a_node_that_was_away_for_too_long_or_an_old_backup_does_not_go_on() {
    let shelf = Shelf::begun();
    let (_dir, store, membership) = node(&shelf);
    shelf.fill(9);
    shelf.drop_before(7);
    stops(&shelf, &store, &membership, "the log begins at offset 7: the records between are gone");
}

#[test]
fn a_node_whose_log_has_another_meaning_does_not_go_on() {
    let shelf = Shelf::begun();
    let (_dir, store, membership) = node(&shelf);
    let mark = membership.begin(&shelf, &store).expect("goes on");
    for (level, message) in [(1, "an earlier version of Tideline wrote"), (9, "a later version of Tideline wrote")] {
        let mark = Mark { level, ..mark.clone() };
        store.put_notes(&[(MARK, Some(&mark.bytes().expect("writes")))]).expect("writes");
        stops(&shelf, &store, &membership, message);
    }
}

/// An empty store does not join, for this reason, and stays empty.
#[track_caller]
fn does_not_join(shelf: &Shelf, message: &str) {
    let (_dir, store) = store();
    let why = LogMembership::join(shelf, &store).expect_err("does not join").to_string();
    assert!(why.contains(message), "{why}");
    assert_eq!([ORIGIN, MARK].map(|name| store.note(name).expect("reads")), [None, None]);
}

#[test]
fn an_empty_node_joins_no_log_that_it_cannot_follow_from_the_start() {
    does_not_join(&Shelf::default(), "the command log is empty");
    let foreign = Shelf::default();
    foreign.append(b"hello", PART).expect("appends");
    does_not_join(&foreign, "the topic is not the command log of a cluster");
    let headless = Shelf::begun();
    headless.0.lock().remove(0);
    headless.0.lock().iter_mut().for_each(|record| record.offset -= 1);
    does_not_join(&headless, "its first record does not begin one");
    let newer = Shelf::default();
    newer.append(br#"{"level":9,"log":"00000000000000a1","begins":true}"#, PART).expect("appends");
    does_not_join(&newer, "a later version of Tideline began the command log (level 9)");
    let older = Shelf::default();
    older.append(br#"{"level":1,"log":"00000000000000a1","begins":true}"#, PART).expect("appends");
    does_not_join(&older, "an earlier version of Tideline began the command log (level 1)");
    let late = Shelf::begun();
    late.drop_before(1);
    does_not_join(&late, "the command log begins at offset 1");
    let based = Shelf::begun();
    let first = String::from_utf8(based.0.lock()[0].bytes.clone()).expect("text");
    based.0.lock()[0].bytes = first.replace("\"has_base\":false", "\"has_base\":true").into_bytes();
    does_not_join(&based, "begins with the data of a directory");
}

#[test]
fn a_log_is_begun_once() {
    let shelf = Shelf::default();
    let agreed = Config::default().agreed();
    let first = LogMembership::found(&shelf, None, agreed.clone()).expect("begins");
    assert!(first.is_new && !first.has_base);
    let again = LogMembership::found(&shelf, None, agreed).expect("has begun");
    assert_eq!(again, Founded { is_new: false, ..first });
    assert_eq!(shelf.0.lock().len(), 1);
}

#[test]
fn a_record_for_all_nodes_comes_into_their_log_only() {
    let (shelf, other) = (Shelf::begun(), Shelf::begun());
    let own: String = log_id(&shelf.0.lock()[0]).into();
    assert_eq!(LogMembership::announce(&shelf, &own, FIRST_LEVEL, None).expect("comes"), 6);
    shelf.drop_before(3);
    assert_eq!(LogMembership::announce(&shelf, &own, FIRST_LEVEL, None).expect("comes"), 7);
    let refused = LogMembership::announce(&other, &own, FIRST_LEVEL, None).expect_err("another log").to_string();
    assert!(refused.contains(&own) && refused.contains("Nothing was changed"), "{refused}");
    assert_eq!(other.0.lock().len(), 6);
    other.0.lock()[0].bytes = b"hello".to_vec();
    assert!(LogMembership::announce(&other, &own, FIRST_LEVEL, None).is_err());
    assert_eq!(other.0.lock().len(), 6);
}

#[test]
fn a_command_on_a_stopped_node_goes_by_the_settings_of_all_nodes() {
    let (shelf, (_dir, store)) = (Shelf::default(), store());
    let agreed = Config {
        content: Content { deleted_retention: config::Duration::from_days(90), ..Content::default() },
        ..Config::default()
    };
    LogMembership::found(&shelf, None, agreed.agreed()).expect("begins");
    LogMembership::join(&shelf, &store).expect("joins");
    // Without a cluster in the settings.
    let mut config = Config::default();
    assert!(super::super::join(&mut config, &store, false).expect("no change").is_none());
    assert_eq!(config.content.deleted_retention, config::Duration::from_days(90));
    assert!(super::super::join(&mut Config::default(), &store, true).is_err());
}

#[test]
fn a_lost_log_is_begun_again_with_the_data_of_a_node() {
    let (_dir, store) = store();
    let agreed = Config {
        content: Content { deleted_retention: config::Duration::from_days(90), ..Content::default() },
        ..Config::default()
    };
    let feed = feed(store, &agreed);
    let (shelf, anew) = (Shelf::default(), Shelf::default());
    let alone = LogMembership::recover(&anew, &feed).expect_err("no node").to_string();
    assert!(alone.contains("not that of a node"), "{alone}");
    ids::give::<UserId>(&feed, &ExternalId::Name("n".into())).expect("has data");
    let old = LogMembership::found(&shelf, Some(&feed), agreed.agreed()).expect("begins");
    assert_eq!(LogMembership::place(feed.store()).expect("a place"), (old.log.clone(), 1));
    let refused = LogMembership::recover(&shelf, &feed).expect_err("the same topic").to_string();
    assert!(refused.contains("the command log of this directory"), "{refused}");
    let new = LogMembership::recover(&anew, &feed).expect("begins");
    assert!(new.is_new && new.has_base && new.log != old.log);
    let membership = LogMembership::of(feed.store()).expect("reads").expect("a node");
    assert_eq!((String::from(membership.log), membership.agreed), (new.log, agreed.agreed()), "the settings stay");
    assert_eq!(anew.0.lock().len(), 1);
}

/// A log that takes nothing.
#[derive(Debug)]
struct Shut;

impl Log for Shut {
    fn append(&self, _: &[u8], _: Duration) -> Result<u64, NotAppended> {
        Err(NotAppended::Refused("too few replicas".to_owned()))
    }

    fn read(&self, _: u64, _: Duration) -> Result<Vec<Record>, NotRead> {
        Ok(Vec::new())
    }

    fn bounds(&self, _: Duration) -> Result<Range<u64>, NotRead> {
        Ok(0..0)
    }
}

#[test]
fn a_log_that_could_not_be_begun_again_can_be_tried_once_more() {
    let (_dir, store) = store();
    let agreed = Config { topics: config::Topics { limit: 77 }, ..Config::default() };
    let feed = feed(store, &agreed);
    ids::give::<UserId>(&feed, &ExternalId::Name("n".into())).expect("has data");
    LogMembership::found(&Shelf::default(), Some(&feed), agreed.agreed()).expect("begins");
    let joined = || LogMembership::of(feed.store()).expect("reads").expect("a node");
    let old = joined();
    let why = LogMembership::recover(&Shut, &feed).expect_err("refused").to_string();
    assert!(why.contains("too few replicas"), "{why}");
    assert_eq!(joined(), old, "it is a node of the old log until the new one has begun");
    let new = LogMembership::recover(&Shelf::default(), &feed).expect("begins");
    let LogMembership { log, agreed: kept } = joined();
    assert_eq!((String::from(log), kept), (new.log, agreed.agreed()), "the settings stay");
    assert!(log != old.log);
}

#[test]
fn a_directory_that_has_joined_a_log_begins_no_other_one() {
    let (joined, mistyped) = (Shelf::begun(), Shelf::default());
    let (_dir, store, membership) = node(&joined);
    let config = Config::default();
    let feed = feed(store, &config);
    ids::give::<UserId>(&feed, &ExternalId::Name("n".into())).expect("has data");
    for shelf in [&joined, &mistyped] {
        let why = LogMembership::found(shelf, Some(&feed), config.agreed()).expect_err("refused").to_string();
        assert!(why.contains(&String::from(membership.log)) && why.contains("position 6"), "{why}");
        assert!(why.contains("cluster.topic") && why.contains("\"tideline cluster recover\""), "{why}");
    }
    assert_eq!((joined.0.lock().len(), mistyped.0.lock().len()), (6, 0));
    assert_eq!(LogMembership::of(feed.store()).expect("reads"), Some(membership));
}

#[test]
fn a_beginning_whose_answer_was_lost_comes_to_its_end_at_the_next_attempt() {
    let (_dir, store) = store();
    let config = Config::default();
    let feed = feed(store, &config);
    let store = &**feed.store();
    ids::give::<UserId>(&feed, &ExternalId::Name("n".into())).expect("has data");
    LogMembership::found(&Shut, Some(&feed), config.agreed()).expect_err("refused");
    assert_eq!(LogMembership::of(store).expect("reads"), None, "it has joined nothing yet");
    let shelf = Shelf::default();
    shelf.append(&store.note(FOUNDING).expect("reads").expect("the first record"), PART).expect("appends");
    let founded = LogMembership::found(&shelf, Some(&feed), config.agreed()).expect("goes on");
    assert!(founded.is_new && founded.has_base);
    assert_eq!(LogMembership::place(store).expect("a place"), (founded.log, 1));
    assert_eq!((shelf.0.lock().len(), store.note(FOUNDING).expect("reads")), (1, None));
}

#[test]
fn a_store_that_leaves_is_of_no_cluster() {
    let shelf = Shelf::begun();
    let (_dir, store, _) = node(&shelf);
    LogMembership::leave(&store).expect("leaves");
    assert_eq!(LogMembership::of(&store).expect("reads"), None);
    assert_eq!(store.note(MARK).expect("reads"), None);
}

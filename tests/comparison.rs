//! Nodes on one log in memory are asked to compare: each takes its digests at the same position.

use std::ops::Range;
use std::sync::Arc;
use std::time::{Duration, Instant};

use cluster::{Compared, Comparison, Log, LogMembership, Node, NotAppended, NotRead, Record};
use config::Config;
use feed::backlog::Backlog;
use feed::check::TableDigest;
use feed::store::{Options, Store};
use feed::streaming::Streaming;
use feed::{Feed, Relate, users};
use model::{HostId, Profile, UserId};
use parking_lot::Mutex;

/// A log that loses nothing.
#[derive(Debug, Default)]
struct Kept(Mutex<Vec<Record>>);

impl Log for Kept {
    fn append(&self, bytes: &[u8], _: Duration) -> Result<u64, NotAppended> {
        let mut records = self.0.lock();
        let offset = records.len() as u64;
        records.push(Record { offset, time: 1_000 + offset, bytes: bytes.to_vec() });
        Ok(offset)
    }

    fn read(&self, from: u64, _: Duration) -> Result<Vec<Record>, NotRead> {
        let records: Vec<_> = self.0.lock().iter().skip(from as usize).take(3).cloned().collect();
        if records.is_empty() {
            std::thread::sleep(Duration::from_millis(1));
        }
        Ok(records)
    }

    fn bounds(&self, _: Duration) -> Result<Range<u64>, NotRead> {
        Ok(0..self.0.lock().len() as u64)
    }
}

/// A node that has joined the log with this store.
fn join(log: &Arc<Kept>, store: Arc<Store>, name: &str) -> (Arc<Feed>, Node) {
    let mut config = Config::default();
    config.cluster.node = serde_json::from_value(name.into()).expect("a name");
    let log: Arc<dyn Log> = Arc::clone(log) as Arc<_>;
    let origin = LogMembership::join(&*log, &store).expect("joins");
    let backlog = Arc::new(Backlog::new(config.fanout.queue));
    let streaming = Arc::new(Streaming::new(config.presence.ttl.as_millis()));
    let feed = Arc::new(Feed::new(store, backlog, streaming, &config).expect("a feed"));
    let node = Node::start(log, &feed, &origin, &config, true).expect("starts");
    (feed, node)
}

fn profile(name: &str) -> Profile {
    Profile { nickname: Some(name.to_owned()), ..Profile::default() }
}

/// The digests of a node, once it has them.
fn digests(node: &Node, id: u64) -> (u64, Arc<[TableDigest]>) {
    let began = Instant::now();
    loop {
        match node.comparison(id) {
            Some(Comparison { position, state: Compared::Done(digests) }) => return (position, digests),
            Some(Comparison { state: Compared::Failed(why), .. }) => panic!("{why}"),
            _ => assert!(began.elapsed() < Duration::from_secs(60), "no digests in time"),
        }
        std::thread::sleep(Duration::from_millis(5));
    }
}

fn differing(a: &[TableDigest], b: &[TableDigest]) -> Vec<&'static str> {
    assert_eq!(a.len(), b.len());
    a.iter().zip(b).filter(|(a, b)| a != b).map(|(a, _)| a.table).collect()
}

#[test]
fn nodes_take_their_digests_at_one_position() {
    let log = Arc::new(Kept::default());
    LogMembership::found(&*log, None, Config::default().agreed()).expect("begins");
    let dir = tempfile::tempdir().expect("a directory");
    let on_disk = Arc::new(Store::open(&Options::new(dir.path())).expect("opens"));
    let (one, first) = join(&log, on_disk, "a");
    let (other, second) = join(&log, Arc::new(Store::in_memory().expect("opens")), "b");
    for n in 1..=20 {
        let feed = if n % 2 == 0 { &one } else { &other };
        users::put_profile(feed, HostId::Number(n), profile("a name")).expect("puts");
        feed.submit(Relate::of(HostId::Number(n), vec![(HostId::Number(n + 1), Some(n))], vec![])).expect("follows");
    }
    let id = first.compare().expect("asks");
    // These are after the position.
    for n in 1..=20 {
        users::put_profile(&one, HostId::Number(n), profile("another name")).expect("puts");
    }
    let ((position, before), at_second) = (digests(&first, id), digests(&second, id));
    assert_eq!((position, &before), (at_second.0, &at_second.1));
    assert!(position <= first.position());
    let rows = |table| before.iter().find(|digest| digest.table == table).expect("a table").rows;
    assert_eq!((rows("profiles"), rows("followers"), rows("content")), (20, 20, 0));

    // A row that came by no command.
    feed::users::tables::put_profiles(other.store(), &[(UserId::MIN, profile("a third name"))]).expect("puts");
    let id = second.compare().expect("asks");
    let (at_first, at_second) = (digests(&first, id), digests(&second, id));
    assert_eq!(at_first.0, at_second.0);
    assert_eq!(differing(&at_first.1, &at_second.1), ["profiles", "nicknames"]);
    assert_eq!(
        differing(&before, &at_first.1),
        ["profiles", "nicknames", "events"],
        "the changes after the first position"
    );
    assert!(first.comparison(id ^ 1).is_none());
}

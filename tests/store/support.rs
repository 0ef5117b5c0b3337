//! Short functions for tests of stores.

use std::ops::ControlFlow;
use std::path::Path;

use feed::check::{TableDigest, Watch};
use feed::follows::tables::{Change, Related};
use feed::inbox::tables::{Delivery, Then};
use feed::items::tables::{Batch, Published, Push};
use feed::store::{Options, Store};
use kv::Tier;
use model::error::Result;
use model::{
    Content, ContentId, Cursor, Entry, Erasure, Job, JobId, Lane, Millis, Order, Position, Publish, Span, UserId, Work,
};

use super::everything;
pub(crate) use crate::plain::{item, user};

/// Runs a test on a fresh directory.
pub(crate) fn on_a_store(test: fn(&Store)) {
    let dir = tempfile::tempdir().expect("a temporary directory");
    test(&open(dir.path()));
}

/// The store of a directory.
pub(crate) fn open(dir: &Path) -> Box<Store> {
    open_with(&Options::new(dir))
}

pub(crate) fn open_with(options: &Options) -> Box<Store> {
    Box::new(Store::open(options).expect("the directory opens"))
}

/// The findings of an audit.
pub(crate) fn audit(store: &Store) -> Vec<String> {
    struct Found(Vec<String>);
    impl Watch for Found {
        fn finds(&mut self, line: String) {
            self.0.push(line);
        }
        fn looked_at(&mut self, _: &'static str, _: u64) -> Result<()> {
            Ok(())
        }
    }
    let mut found = Found(Vec::new());
    feed::check::audit(store, &mut found).expect("audits");
    found.0
}

/// Finds nothing.
pub(crate) struct Quiet;

impl Watch for Quiet {
    fn finds(&mut self, line: String) {
        panic!("{line}");
    }

    fn looked_at(&mut self, _: &'static str, _: u64) -> Result<()> {
        Ok(())
    }
}

/// The digests of a store in which nothing is under way.
pub(crate) fn digest(store: &Store, final_before: Millis) -> Vec<TableDigest> {
    feed::check::digest(store, final_before, &mut || (), &mut Quiet).expect("digests")
}

/// An erasure that begins.
pub(crate) fn erasure_of(who: u64, since: u64) -> Erasure {
    Erasure { user: user(who), hash: who.to_string(), since, rows: 0 }
}

pub(crate) fn users(raw: impl IntoIterator<Item = u64>) -> Vec<UserId> {
    raw.into_iter().map(user).collect()
}

pub(crate) fn place(at: u64, id: u64) -> Cursor {
    Cursor { at, id: item(id) }
}

/// The ids of entries, for short comparisons.
pub(crate) fn ids(entries: &[Entry]) -> Vec<u64> {
    entries.iter().map(|entry| entry.cursor.id.get()).collect()
}

pub(crate) fn span<I>(before: Option<Position<I>>, after: Option<Position<I>>) -> Span<I> {
    Span { before, after }
}

/// A broadcast post with few fields; its fingerprint is its id.
pub(crate) fn post(id: u64, author: u64, at: u64) -> Content {
    Content { text: Some(format!("text of {id}")), fingerprint: id, ..Content::plain(item(id), user(author), at) }
}

/// A publish with a time given by the caller.
pub(crate) fn timed(content: Content) -> Publish {
    Publish { content, time_given: true, audience_given: true, id_made: false, event: None }
}

/// Publishes one item that must be new, and returns its job.
pub(crate) fn publish(store: &Store, content: Content) -> Option<Job> {
    let jobs = publish_on_paths(store, content);
    assert!(jobs.len() <= 1, "{jobs:?}");
    jobs.first().copied()
}

/// Publishes one item that must be new, and returns the jobs of its paths.
pub(crate) fn publish_on_paths(store: &Store, content: Content) -> Vec<Job> {
    match feed::items::tables::publish(store, &[timed(content)], Batch::AllOrNone, Push::Queued)
        .expect("publishes")
        .as_slice()
    {
        [Published::New(jobs)] => jobs.clone(),
        other => panic!("not new: {other:?}"),
    }
}

/// Publishes a broadcast post and returns its fan-out job.
pub(crate) fn publish_post(store: &Store, id: u64, author: u64, at: u64) -> Job {
    publish(store, post(id, author, at)).expect("a broadcast post has a job")
}

/// Publishes a post, puts it into inboxes and ends its job.
pub(crate) fn push(store: &Store, id: u64, author: u64, at: u64, recipients: &[UserId]) {
    let job = publish_post(store, id, author, at);
    deliver(store, job, recipients, Then::End);
}

/// Delivers the item of a fan-out job.
pub(crate) fn deliver(store: &Store, job: Job, recipients: &[UserId], then: Then) {
    let Work::FanOut { entry } = job.work else { panic!("not a fan-out: {job:?}") };
    feed::inbox::tables::deliver(store, &Delivery { job: job.id, entry, recipients, then }).expect("delivers");
}

pub(crate) fn follow_of(target: u64, since: u64) -> Change {
    Change::new(user(target), Some(since))
}

pub(crate) fn unfollow_of(target: u64) -> Change {
    Change::new(user(target), None)
}

/// Applies changes without a limit.
pub(crate) fn relate(store: &Store, who: u64, changes: &[Change]) -> Vec<Related> {
    feed::follows::tables::relate(store, user(who), changes, MANY).expect("relates")
}

/// Follows, and returns the settle job; the pair must change.
pub(crate) fn follow(store: &Store, who: u64, target: u64, since: u64) -> Job {
    relate(store, who, &[follow_of(target, since)])[0].job.expect("the pair changes")
}

/// Unfollows, and returns the settle job; the pair must change.
pub(crate) fn unfollow(store: &Store, who: u64, target: u64) -> Job {
    relate(store, who, &[unfollow_of(target)])[0].job.expect("the pair changes")
}

/// Runs a settle job as a worker would.
pub(crate) fn settle(store: &Store, job: Job, room: usize) -> usize {
    let Work::Settle { user, source } = job.work else { panic!("not a settle: {job:?}") };
    feed::inbox::tables::settle(store, job.id, user, source, room).expect("settles")
}

/// Follows and settles at once.
pub(crate) fn follow_settled(store: &Store, who: u64, target: u64, since: u64) {
    let job = follow(store, who, target, since);
    settle(store, job, MANY);
}

/// A part of an inbox, and its floor.
pub(crate) fn inbox_part(store: &Store, who: u64, span: Span<ContentId>, order: Order) -> (Vec<Entry>, Option<Cursor>) {
    everything::inbox(store, user(who), span, order, MANY, Tier::Disk).expect("reads")
}

/// A whole inbox, newest first.
pub(crate) fn inbox(store: &Store, who: u64) -> Vec<Entry> {
    inbox_part(store, who, Span::ALL, Order::NewestFirst).0
}

/// The floor of an inbox.
pub(crate) fn floor(store: &Store, who: u64) -> Option<Cursor> {
    inbox_part(store, who, Span::ALL, Order::NewestFirst).1
}

/// A whole outbox, newest first.
pub(crate) fn outbox(store: &Store, author: u64) -> Vec<Entry> {
    feed::items::tables::outboxes(store, &[user(author)], Span::ALL.newest(MANY), Tier::Disk).expect("reads")
}

pub(crate) fn jobs(store: &Store) -> Vec<Job> {
    feed::inbox::tables::jobs(store).expect("reads")
}

/// A limit that is never reached.
pub(crate) const MANY: usize = 1_000_000;

pub(crate) const BOTH_ORDERS: [Order; 2] = [Order::NewestFirst, Order::OldestFirst];

/// Puts an entry into an inbox, whatever the rules say.
pub(crate) fn put_inbox_entry(store: &Store, reader: UserId, entry: Entry) {
    let job = JobId { lane: Lane::of(reader), seq: u64::MAX };
    feed::inbox::tables::deliver(store, &Delivery { job, entry, recipients: &[reader], then: Then::Nothing })
        .expect("delivers");
    store.write_arrivals().expect("writes");
}

/// Removes an entry from an inbox, whatever the rules say: all entries of its author, of which the others come back.
pub(crate) fn remove_inbox_entry(store: &Store, reader: UserId, entry: Entry) {
    let mut others = Vec::new();
    let mut see = |other: Entry| {
        others.extend((other.author == entry.author && other != entry).then_some(other));
        ControlFlow::Continue(())
    };
    feed::inbox::tables::inbox(store, reader, Span::ALL, Order::NewestFirst, Tier::Disk, &mut see).expect("reads");
    feed::erasure::tables::clear_inboxes(store, &[reader], entry.author).expect("removes");
    others.into_iter().for_each(|other| put_inbox_entry(store, reader, other));
    store.write_arrivals().expect("writes");
}

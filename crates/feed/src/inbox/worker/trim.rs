//! Trims outboxes and topics, and purges deleted items. Inboxes are trimmed as they are merged.
//!
//! Compactions notice lists clearly over their limit, and items deleted for longer than they are kept, and name them
//! here. A trim moves old rows to an archive; a purge ends the rows of an item. A
//! later compaction drops rows below a floor or ended. No answer depends on when it runs.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use crossbeam_channel::{Receiver, Sender, bounded, select};

use super::{Context, is_over};
use crate::items::tables::is_deleted_before;
use crate::options::Listeners;
use crate::store::Store;
use crate::streaming::Streaming;
use crate::{erasure, items, topics};
use kv::Tier;
use model::clock::now;
use model::error::Result;
use model::{ContentId, Count, Cursor, Entry, Fill, Millis, Span, TopicId, UserId};

/// Outboxes and topics that may wait for a trim. One more is left out; the next compaction names it
/// again.
const QUEUE: usize = 65_536;
/// Deleted items are queued only up to this fill: a compaction can name millions, and each may take long.
const MOST_DELETED: usize = QUEUE / 2;
/// Entries of an outbox, items of a topic, or reactions that are moved or ended in one change.
const MOVED: usize = 1000;

/// Entries beyond the limit that a list may have before it is trimmed, so that there is
/// not one trim for each insert.
pub fn slack(limit: usize) -> usize {
    (limit / 4).max(16)
}

/// Items of a topic that a trim leaves out of the archive: the list's limit and the slack. So as many as the slack can
/// be deleted before a read of the list goes on in the archive.
pub fn topic_room(limit: usize) -> usize {
    limit + slack(limit)
}

/// A list to trim or an item to purge.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Candidate {
    /// The outbox of an author.
    Outbox(UserId),
    /// The list of a topic.
    Topic(TopicId),
    /// A deleted item that cannot be restored.
    Deleted(ContentId),
}

/// The queue of candidates.
#[derive(Debug, Clone)]
pub struct Candidates {
    sender: Sender<Candidate>,
    receiver: Receiver<Candidate>,
    left_out: Arc<AtomicU64>,
    /// Named, and not processed yet.
    waiting: Arc<AtomicU64>,
}

impl Default for Candidates {
    fn default() -> Self {
        let (sender, receiver) = bounded(QUEUE);
        Self { sender, receiver, left_out: Arc::default(), waiting: Arc::default() }
    }
}

impl Candidates {
    /// Queues a candidate if there is room. Never waits.
    pub fn name(&self, candidate: Candidate) {
        self.waiting.fetch_add(1, Ordering::SeqCst);
        let has_room = !matches!(candidate, Candidate::Deleted(_)) || self.sender.len() < MOST_DELETED;
        if !has_room || self.sender.try_send(candidate).is_err() {
            self.waiting.fetch_sub(1, Ordering::SeqCst);
            self.left_out.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// How many were named and not processed yet, the one under way included.
    pub(super) fn waiting(&self) -> u64 {
        self.waiting.load(Ordering::SeqCst)
    }

    /// How many are queued.
    pub(super) fn fill(&self) -> Fill {
        Fill::of(self.receiver.len(), QUEUE)
    }

    /// How many were left out because the queue was full.
    pub(super) fn left_out(&self) -> u64 {
        self.left_out.load(Ordering::Relaxed)
    }

    /// Listeners with which a store names candidates here; deleted items only once they cannot be restored.
    pub fn listeners(&self, content: &config::Content) -> Listeners {
        let deleted_retention = content.deleted_retention.as_millis();
        let (outboxes, topics, items) = (self.clone(), self.clone(), self.clone());
        Listeners {
            oversized_outbox: Arc::new(move |author| outboxes.name(Candidate::Outbox(author))),
            oversized_topic: Arc::new(move |topic| topics.name(Candidate::Topic(topic))),
            deleted_item: Arc::new(move |id, deleted_at| {
                if is_deleted_before(deleted_at, final_before(now(), deleted_retention)) {
                    items.name(Candidate::Deleted(id));
                }
            }),
        }
    }
}

/// Items deleted before this time cannot be restored.
fn final_before(time: Millis, deleted_retention: Millis) -> Millis {
    (time + 1).saturating_sub(deleted_retention)
}

/// Moves the rows of a list beyond `room` to its archive with `archive`, if the list has `enough` of them.
fn move_beyond(
    room: usize,
    enough: usize,
    newest: &[Entry],
    archived: &Count,
    stopped: &Receiver<()>,
    archive: impl Fn(Cursor) -> Result<usize>,
) -> Result<()> {
    let Some(beyond) = newest.get(room).filter(|_| newest.len() == enough) else { return Ok(()) };
    loop {
        let moved = archive(beyond.cursor)?;
        archived.add(moved);
        if moved < MOVED || is_over(stopped) {
            return Ok(());
        }
    }
}

pub(super) fn run(context: &Context, stopped: &Receiver<()>) {
    loop {
        let candidate = select! {
            recv(stopped) -> _ => return,
            recv(context.candidates.receiver) -> candidate => candidate,
        };
        let Ok(candidate) = candidate else { return };
        let trimmed = match candidate {
            Candidate::Outbox(author) => trim_outbox(context, author, stopped),
            Candidate::Topic(topic) => trim_topic(context, topic, stopped),
            Candidate::Deleted(id) => purge(context, id, stopped),
        };
        context.done(trimmed, format_args!("a trim failed; the next compaction requests it again: {candidate:?}"));
        context.candidates.waiting.fetch_sub(1, Ordering::SeqCst);
    }
}

/// Moves the items beyond [`topic_room`] to the archive, if they are more than the slack. A stop leaves the rest to
/// the next compaction.
fn trim_topic(context: &Context, topic: TopicId, stopped: &Receiver<()>) -> Result<()> {
    let room = topic_room(context.config.topics.limit);
    let enough = room + slack(context.config.topics.limit) + 1;
    let newest = topics::tables::topic_content(&context.store, topic, Span::ALL.newest(enough), enough, Tier::Disk)?;
    let archive = |beyond| {
        let _still = context.streaming.hold_changes();
        topics::tables::archive_topic(&context.store, topic, beyond, MOVED)
    };
    move_beyond(room, enough, &newest, &context.tally.topics_archived, stopped, archive)
}

/// Ends the rows of a deleted item, unless it was restored meanwhile. A stop leaves the rest to the next
/// compaction.
fn purge(context: &Context, id: ContentId, stopped: &Receiver<()>) -> Result<()> {
    // By the time of changes, so that every later restore is refused, on each node of a cluster.
    let retention = context.config.content.deleted_retention.as_millis();
    let deleted_before = context.streaming.final_before(context.streaming.time_of_changes(), retention);
    let Context { store, streaming, tally, .. } = context;
    if purge_item(store, streaming, id, deleted_before, || !is_over(stopped))? {
        tally.purged.add(1);
    }
    Ok(())
}

/// Ends the rows of an item that was deleted before a time; false if there is none. Changes come between two parts of the rows
/// that go with it, and after each it asks whether it goes on.
pub(crate) fn purge_item(
    store: &Store,
    streaming: &Streaming,
    id: ContentId,
    deleted_before: Millis,
    goes_on: impl Fn() -> bool,
) -> Result<bool> {
    let mut last = None;
    loop {
        let still = streaming.hold_changes();
        last = erasure::tables::purge_rows(store, id, deleted_before, MOVED, last)?;
        if last.is_none() {
            return items::tables::purge(store, id, deleted_before);
        }
        drop(still);
        if !goes_on() {
            return Ok(false);
        }
    }
}

/// Moves the entries beyond the limit to the archive, if they are more than the slack. A stop leaves the rest to
/// the next compaction.
fn trim_outbox(context: &Context, author: UserId, stopped: &Receiver<()>) -> Result<()> {
    let limit = context.config.timeline.outbox_limit;
    if limit == 0 {
        return Ok(());
    }
    let enough = limit + slack(limit) + 1;
    let newest = items::tables::outboxes(&context.store, &[author], Span::ALL.newest(enough), Tier::Disk)?;
    let archive = |beyond| {
        let _still = context.streaming.hold_changes();
        items::tables::archive_outbox(&context.store, author, beyond, MOVED)
    };
    move_beyond(limit, enough, &newest, &context.tally.archived, stopped, archive)
}

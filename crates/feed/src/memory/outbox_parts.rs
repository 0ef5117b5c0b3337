//! Parts of outboxes in memory, for reads that merge many outboxes.
//!
//! Such a read shows few entries of most authors, and the next page asks for the entries right below. So a look into
//! the table keeps some entries more than it needs, and the next reads at this depth of the outbox need no seek.

use std::collections::BinaryHeap;
use std::sync::Arc;

use super::archived::Archived;
use crate::rows::tables::{OUTBOX, OUTBOX_ARCHIVE};
use model::cache::memory::{CacheMemory, Share};
use model::cache::{CacheChange, ReadThrough};
use model::failpoint::Write;
use model::{Audience, CacheUsage, ContentId, Cursor, Entry, KindId, Order, Span, UserId};

/// The approximate memory of a part beside its entries, bytes.
const PART: u64 = 88;
/// The number of entries that a first look reads, and a look beside a kept part, unless more are needed.
const FIRST: usize = 8;
const NEXT: usize = 64;
/// Most entries of a part.
const MOST: usize = 512;

/// All entries of an outbox within a range.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Part {
    /// The range has the places below this one; `None` if it begins with the newest.
    top: Option<Cursor>,
    /// Newest first. The range ends with the last one, unless nothing older exists.
    cursors: Box<[Cursor]>,
    /// All else of the entries; empty if all of them are plain, as usual.
    details: Box<[Details]>,
    /// Whether nothing older exists.
    whole: bool,
}

/// An entry without its place and its source.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Details {
    author: UserId,
    kind: KindId,
    audience: Audience,
}

impl Part {
    fn new(top: Option<Cursor>, entries: &[Entry], whole: bool) -> Self {
        let details = |&Entry { author, kind, audience, .. }: &Entry| Details { author, kind, audience };
        let details = if entries.iter().all(Entry::is_plain) { &[] } else { entries }.iter().map(details);
        Self { top, cursors: entries.iter().map(|entry| entry.cursor).collect(), details: details.collect(), whole }
    }

    /// The entries of a source from a place in the order on.
    fn entries(&self, source: UserId, first: usize) -> impl DoubleEndedIterator<Item = Entry> {
        let entry = move |(place, cursor): (usize, &Cursor)| match self.details.get(first + place) {
            None => Entry::plain(*cursor, source),
            Some(&Details { author, kind, audience }) => Entry { cursor: *cursor, source, author, kind, audience },
        };
        self.cursors.get(first..).unwrap_or_default().iter().enumerate().map(entry)
    }

    /// The number of the first entry below `before`; `None` if the part may lack some above its last one.
    fn below(&self, before: Option<Cursor>) -> Option<usize> {
        if self.top.is_some() && before.is_none_or(|before| Some(before) > self.top) {
            return None;
        }
        let first = before.map_or(0, |before| self.cursors.partition_point(|cursor| *cursor >= before));
        (first < self.cursors.len() || self.whole).then_some(first)
    }

    /// Whether it has all entries above a place, down to it.
    fn reaches(&self, after: Option<Cursor>) -> bool {
        self.whole || (after.is_some() && self.cursors.last().copied() <= after)
    }

    /// Whether a row at this place belongs to the range, if it exists.
    fn may_have(&self, place: Cursor) -> bool {
        self.top.is_none_or(|top| place < top) && (self.whole || self.cursors.last() <= Some(&place))
    }
}

/// Outboxes in memory.
pub(crate) struct Outboxes {
    /// Their rows, by author.
    pub(crate) rows: Archived,
    pub(crate) parts: OutboxParts,
}

impl Outboxes {
    pub(crate) fn new(memory: CacheMemory) -> Self {
        Self { rows: Archived::new(&OUTBOX, &OUTBOX_ARCHIVE, Write::Archive), parts: OutboxParts::new(memory) }
    }
}

/// Parts of the outboxes that were read last.
pub(crate) struct OutboxParts(ReadThrough<UserId, Arc<Part>>);

/// The rest of a read of one outbox, which needs the table.
pub(crate) struct Rest {
    pub(crate) source: UserId,
    /// The place below which the table is to be read; `None` for the newest entry.
    pub(crate) before: Option<Cursor>,
    /// The part beside which the entries are kept, as it was before the read.
    beside: Option<Arc<Part>>,
    version: Option<u64>,
}

impl Rest {
    /// How many entries to read, also if fewer are needed.
    pub(crate) fn ahead(&self) -> usize {
        if self.beside.is_some() { NEXT } else { FIRST }
    }
}

impl OutboxParts {
    pub(crate) fn new(memory: CacheMemory) -> Self {
        let bytes = |part: &Arc<Part>| PART + (size_of_val(&*part.cursors) + size_of_val(&*part.details)) as u64;
        Self(ReadThrough::new(memory.of(Share::OUTBOX_PARTS), PART + 16 * FIRST as u64, bytes))
    }

    /// Gives the entries of a source within `span` that are in memory to `first`. Returns what is left to be read from
    /// the table; it must be opened after this.
    pub(crate) fn look(&self, source: UserId, span: Span<ContentId>, order: Order, first: &mut First) -> Option<Rest> {
        let part = self.0.cached(source);
        let below = part.as_deref().and_then(|part| Some((part, part.below(span.before)?)));
        let mut before = span.before;
        match (order, below) {
            (Order::NewestFirst, Some((part, below))) => {
                for entry in part.entries(source, below) {
                    if span.after >= Some(entry.cursor) || !first.take(entry) {
                        return None;
                    }
                }
                if part.whole {
                    return None;
                }
                before = part.cursors.get(below..).and_then(|below| below.last().copied()).or(before);
            }
            (Order::OldestFirst, Some((part, below))) if part.reaches(span.after) => {
                let mut above = part.entries(source, below).rev().filter(|entry| Some(entry.cursor) > span.after);
                let _ = above.try_for_each(|entry| first.take(entry).then_some(()));
                return None;
            }
            _ => {}
        }
        let version = self.0.version(source);
        // A part that is still there was right at this version.
        let is_there =
            part.as_ref().is_none_or(|part| self.0.cached(source).is_some_and(|now| Arc::ptr_eq(part, &now)));
        let version = version.filter(|_| is_there);
        Some(Rest { source, before, beside: part, version })
    }

    /// Keeps what a read found: all entries below `rest.before` down to the last one, or all if `whole`.
    pub(crate) fn keep(&self, rest: &Rest, mut found: Vec<Entry>, mut whole: bool) {
        if rest.version.is_none() || (found.is_empty() && !whole) {
            return;
        }
        let mut top = rest.before;
        if let Some(beside) = &rest.beside {
            if rest.before.is_some() && beside.cursors.last().copied() == rest.before {
                // Goes on below the part. A reader who goes on deeper needs the new entries more than the earlier ones.
                let fits = beside.cursors.len() + found.len() <= MOST;
                if fits {
                    found.splice(0..0, beside.entries(rest.source, 0));
                }
                top = if fits { beside.top } else { top };
            } else if !whole && beside.top.is_some() && found.last().map(|last| last.cursor) <= beside.top {
                // Ends within the part, or right above it.
                let last = found.last().map(|last| last.cursor);
                found.extend(beside.entries(rest.source, 0).filter(|entry| Some(entry.cursor) < last));
                whole = beside.whole;
            }
        }
        if found.len() > MOST {
            found.truncate(MOST);
            whole = false;
        }
        self.0.keep(rest.source, &Arc::new(Part::new(top, &found, whole)), rest.version);
    }

    /// Announces that an item comes to an outbox, or goes.
    pub(crate) fn change(&self, source: UserId, place: Cursor) -> CacheChange {
        self.0.change_some(source, |part| part.may_have(place))
    }

    /// The cache in figures.
    pub(crate) fn usage(&self) -> CacheUsage {
        self.0.usage()
    }
}

/// An entry behind its place in an order, as numbers, which are compared fast.
type Row = (u64, u64, u64, Entry);

/// The first entries of several lists, in an order.
pub(crate) struct First {
    order: Order,
    limit: usize,
    /// The last one on top.
    heap: BinaryHeap<Row>,
}

impl First {
    /// Keeps at most `limit` entries, at least one.
    pub(crate) fn new(order: Order, limit: usize) -> Self {
        Self { order, limit, heap: BinaryHeap::new() }
    }

    /// Ascends in the order.
    fn row(&self, entry: Entry) -> Row {
        let (at, id, source) = (entry.cursor.at, entry.cursor.id.get(), entry.source.get());
        match self.order {
            Order::NewestFirst => (!at, !id, !source, entry),
            Order::OldestFirst => (at, id, source, entry),
        }
    }

    /// Takes an entry, unless it comes after the first `limit` so far. Then all later entries of the list do so, too,
    /// and this returns false.
    pub(crate) fn take(&mut self, entry: Entry) -> bool {
        let row = self.row(entry);
        if self.heap.len() == self.limit {
            if self.heap.peek().is_some_and(|last| *last < row) {
                return false;
            }
            self.heap.pop();
        }
        self.heap.push(row);
        true
    }

    /// The entries, in the order.
    pub(crate) fn into_entries(self) -> Vec<Entry> {
        self.heap.into_sorted_vec().into_iter().map(|(.., entry)| entry).collect()
    }
}

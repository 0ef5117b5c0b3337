//! Parts of outboxes in memory, for reads that merge many outboxes.
//!
//! Such a read shows few entries of most authors, and the next page asks for the entries right below. So a look into
//! the table keeps some entries more than it needs, and the next reads at this depth of the outbox need no seek.

use std::collections::BinaryHeap;
use std::sync::Arc;

use crate::rows::keys;
use model::cache::{CacheChange, ReadThrough};
use model::{CacheUsage, Content, ContentId, Cursor, Entry, Order, Span, UserId};

/// Memory for parts, bytes.
const CAPACITY: u64 = 32 << 20;
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
    /// Whether nothing older exists.
    whole: bool,
}

impl Part {
    /// The entries below `before`, newest first; `None` if the part may lack some above its last one.
    fn below(&self, before: Option<Cursor>) -> Option<&[Cursor]> {
        if self.top.is_some() && before.is_none_or(|before| Some(before) > self.top) {
            return None;
        }
        let first = before.map_or(0, |before| self.cursors.partition_point(|cursor| *cursor >= before));
        (first < self.cursors.len() || self.whole).then(|| &self.cursors[first..])
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

/// Parts of the outboxes that were read last.
pub(crate) struct OutboxParts(ReadThrough<UserId, Arc<Part>>);

/// The change of an outbox under way.
pub(crate) type OutboxPartsChange<'a> = CacheChange<'a, UserId, Arc<Part>>;

/// The rest of a read of one outbox, which needs the table.
pub(crate) struct Rest {
    pub(crate) author: UserId,
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

impl Default for OutboxParts {
    fn default() -> Self {
        Self(ReadThrough::new(CAPACITY, PART + 16 * FIRST as u64, |part| PART + 16 * part.cursors.len() as u64))
    }
}

impl OutboxParts {
    /// Gives the entries of an author within `span` that are in memory to `first`. Returns what is left to be read from
    /// the table; it must be opened after this.
    pub(crate) fn look(&self, author: UserId, span: Span<ContentId>, order: Order, first: &mut First) -> Option<Rest> {
        let part = self.0.cached(author);
        let below = part.as_deref().and_then(|part| Some((part, part.below(span.before)?)));
        let mut before = span.before;
        match (order, below) {
            (Order::NewestFirst, Some((part, below))) => {
                for cursor in below {
                    if span.after >= Some(*cursor) || !first.take(*cursor, author) {
                        return None;
                    }
                }
                if part.whole {
                    return None;
                }
                before = below.last().copied().or(before);
            }
            (Order::OldestFirst, Some((part, below))) if part.reaches(span.after) => {
                let above = below.iter().rev().filter(|cursor| Some(**cursor) > span.after);
                let _ = above.copied().try_for_each(|cursor| first.take(cursor, author).then_some(()));
                return None;
            }
            _ => {}
        }
        let version = self.0.version(author);
        // A part that is still there was right at this version.
        let is_there =
            part.as_ref().is_none_or(|part| self.0.cached(author).is_some_and(|now| Arc::ptr_eq(part, &now)));
        let version = version.filter(|_| is_there);
        Some(Rest { author, before, beside: part, version })
    }

    /// Keeps what a read found: all entries below `rest.before` down to the last one, or all if `whole`.
    pub(crate) fn keep(&self, rest: &Rest, mut found: Vec<Cursor>, mut whole: bool) {
        if rest.version.is_none() || (found.is_empty() && !whole) {
            return;
        }
        let mut top = rest.before;
        if let Some(beside) = &rest.beside {
            if rest.before.is_some() && beside.cursors.last().copied() == rest.before {
                // Goes on below the part. A reader who goes on deeper needs the new entries more than the earlier ones.
                let fits = beside.cursors.len() + found.len() <= MOST;
                let earlier = if fits { &beside.cursors[..] } else { &[] };
                found.splice(0..0, earlier.iter().copied());
                top = if fits { beside.top } else { top };
            } else if !whole && beside.top.is_some() && found.last().copied() <= beside.top {
                // Ends within the part, or right above it.
                let last = found.last().copied();
                found.extend(beside.cursors.iter().filter(|cursor| Some(**cursor) < last));
                whole = beside.whole;
            }
        }
        if found.len() > MOST {
            found.truncate(MOST);
            whole = false;
        }
        let part = Part { top, cursors: found.into(), whole };
        self.0.keep(rest.author, &Arc::new(part), rest.version);
    }

    /// Announces that these items come to the outboxes of their authors, or go.
    pub(crate) fn change<'c>(&self, contents: impl IntoIterator<Item = &'c Content>) -> Vec<OutboxPartsChange<'_>> {
        let change = |content: &Content| self.0.change_some(content.author, |part| part.may_have(content.cursor()));
        contents.into_iter().filter(|content| content.broadcast).map(change).collect()
    }

    /// The cache in figures.
    pub(crate) fn usage(&self) -> CacheUsage {
        self.0.usage()
    }
}

/// The first entries of several lists, in an order.
pub(crate) struct First {
    order: Order,
    limit: usize,
    /// The last one on top.
    heap: BinaryHeap<((u64, u64), UserId)>,
}

impl First {
    /// Keeps at most `limit` entries, at least one.
    pub(crate) fn new(order: Order, limit: usize) -> Self {
        Self { order, limit, heap: BinaryHeap::new() }
    }

    /// Ascends in the order. A rank of a rank is the place.
    fn rank(&self, (at, id): (u64, u64)) -> (u64, u64) {
        match self.order {
            Order::NewestFirst => (!at, !id),
            Order::OldestFirst => (at, id),
        }
    }

    /// Takes an entry, unless it comes after the first `limit` so far. Then all later entries of the list do so, too,
    /// and this returns false.
    pub(crate) fn take(&mut self, cursor: Cursor, author: UserId) -> bool {
        let row = (self.rank((cursor.at, cursor.id.get())), author);
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
    pub(crate) fn into_entries(mut self) -> Vec<Entry> {
        let rows = std::mem::take(&mut self.heap).into_sorted_vec();
        let entry = |(rank, author)| {
            let (at, id) = self.rank(rank);
            keys::cursor(at, id).map(|cursor| Entry { cursor, author })
        };
        rows.into_iter().filter_map(entry).collect()
    }
}

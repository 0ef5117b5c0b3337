//! Outboxes: an author's entries, newest first; the older ones may be in the archive.

use std::collections::BinaryHeap;
use std::ops::ControlFlow;

use super::archive::Walks;
use super::walk::MOST_SEEKS;
use super::{Rocks, keys};
use crate::error::{Error, Result};
use crate::model::{ContentId, Cursor, Entry, Order, Span, UserId};
use crate::store::Tier;

impl Rocks {
    /// See [`Store::outboxes`](crate::store::Store::outboxes).
    pub fn outboxes(
        &self,
        authors: &[UserId],
        span: Span<ContentId>,
        order: Order,
        limit: usize,
        tier: Tier,
    ) -> Result<Vec<Entry>> {
        if authors.is_empty() || limit == 0 || span.is_empty() {
            return Ok(Vec::new());
        }
        if tier == Tier::Memory && authors.len() > MOST_SEEKS {
            return Err(Error::NotCached);
        }
        // Ranks ascend in the order asked for, so the heap's top is the last of the first `limit`.
        // Inverting twice gives the place back.
        let rank = |(at, id): (u64, u64)| match order {
            Order::NewestFirst => (!at, !id),
            Order::OldestFirst => (at, id),
        };
        let mut walks = Walks::new(self, &self.outboxes, tier)?;
        let mut first = BinaryHeap::new();
        for author in authors {
            walks.rows(author.get(), span, order, &mut |cursor: Cursor, _| {
                let row = (rank((cursor.at, cursor.id.get())), *author);
                if first.len() == limit {
                    if first.peek().is_some_and(|last| *last < row) {
                        return Ok(ControlFlow::Break(()));
                    }
                    first.pop();
                }
                first.push(row);
                Ok(ControlFlow::Continue(()))
            })?;
        }
        let entry = |(place, author)| {
            let (at, id) = rank(place);
            keys::cursor(at, id).map(|cursor| Entry { cursor, author })
        };
        Ok(first.into_sorted_vec().into_iter().filter_map(entry).collect())
    }

    /// See [`Store::archive_outbox`](crate::store::Store::archive_outbox).
    pub fn archive_outbox(&self, author: UserId, newest: Cursor, most: usize) -> Result<usize> {
        self.outboxes.move_rows(self, author.get(), newest, most)
    }
}

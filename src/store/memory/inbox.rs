//! Inboxes, their floors, and what fan-out and settling write into them.

use std::ops::ControlFlow;

use super::{Memory, State, walk};
use crate::error::Result;
use crate::model::{ContentId, Cursor, Entry, JobId, Order, Span, UserId};
use crate::store::types::{Delivery, Then, Tier};

impl Memory {
    /// See [`Store::inbox`](crate::store::Store::inbox).
    pub fn inbox(
        &self,
        user: UserId,
        span: Span<ContentId>,
        order: Order,
        _: Tier,
        visit: &mut dyn FnMut(Entry) -> ControlFlow<()>,
    ) -> Result<Option<Cursor>> {
        let (floor, rows) = {
            let state = self.state();
            let floor = state.floors.get(&user).copied();
            (floor, walk(state.inbox_of(user), |row| row.cursor, span.newer_than(floor), order, usize::MAX))
        };
        // The lock is open again: `visit` may come back to the store.
        let _ = rows.into_iter().try_for_each(visit);
        Ok(floor)
    }

    /// See [`Store::raise_floor`](crate::store::Store::raise_floor).
    pub fn raise_floor(&self, user: UserId, floor: Cursor) -> Result<()> {
        self.state().raise_floor(user, floor);
        Ok(())
    }

    /// See [`Store::deliver`](crate::store::Store::deliver).
    pub fn deliver(&self, delivery: &Delivery<'_>) -> Result<()> {
        let mut state = self.state();
        let Entry { cursor, author } = delivery.entry;
        for user in delivery.recipients {
            if Some(&cursor) > state.floors.get(user) {
                state.inbox.insert((*user, cursor), author);
            }
        }
        match delivery.then {
            Then::Nothing => {}
            Then::Progress(progress) => state.set_progress(delivery.job, progress),
            Then::End => state.end_job(delivery.job),
        }
        Ok(())
    }

    /// See [`Store::settle`](crate::store::Store::settle). Counts the author's rows that were put or
    /// removed above the floor as it is afterwards.
    pub fn settle(&self, job: JobId, user: UserId, author: UserId, room: usize) -> Result<usize> {
        let mut state = self.state();
        let is_above = |floor: Option<Cursor>, entry: &Entry| Some(entry.cursor) > floor;

        let mut wanted: Vec<Entry> = Vec::new();
        if state.follows(user, author) {
            let floor = state.floors.get(&user).copied();
            let mut newest = state.outbox_of(author).rev().filter(|entry| is_above(floor, entry));
            wanted = newest.by_ref().take(room).collect();
            let left_out = newest.next();
            drop(newest);
            if let Some(first) = left_out {
                state.raise_floor(user, first.cursor);
            }
        }

        let floor = state.floors.get(&user).copied();
        let present: Vec<Entry> = state.inbox_of(user).filter(|row| row.author == author).collect();
        let mut changed = 0;
        for entry in present.iter().filter(|row| !wanted.contains(row)) {
            state.inbox.remove(&(user, entry.cursor));
            changed += usize::from(is_above(floor, entry));
        }
        for entry in wanted.iter().filter(|entry| !present.contains(entry)) {
            state.inbox.insert((user, entry.cursor), author);
            changed += 1;
        }
        state.end_job(job);
        Ok(changed)
    }
}

impl State {
    /// A user's rows, oldest first, also those at or below the floor.
    fn inbox_of(&self, user: UserId) -> impl Iterator<Item = Entry> {
        let rows = self.inbox.range((user, Cursor::OLDEST)..=(user, Cursor::NEWEST));
        rows.map(|((_, cursor), author)| Entry { cursor: *cursor, author: *author })
    }

    pub(super) fn raise_floor(&mut self, user: UserId, floor: Cursor) {
        let present = self.floors.entry(user).or_insert(floor);
        *present = floor.max(*present);
    }
}

//! The online followers of an author: they get an item before all others.
//!
//! Followers and users online are both sorted by id, so each look-up skips to the next id of the other list. There are
//! at most as many look-ups as ids in the shorter list. No progress is recorded: after a restart these followers get
//! the item again with the rest, which changes nothing.

use super::Context;
use crate::follows;
use crate::inbox::tables;
use crate::inbox::tables::{Delivery, Then};
use model::clock::now;
use model::error::Result;
use model::{Entry, Id, JobId, Reach, UserId};

/// Followers, or users online, that are read at once.
const LOOK: usize = 64;
/// Most followers who are served first: the rest wait for them some tenths of a second.
const MOST: usize = 1 << 16;

impl Context {
    /// Delivers to the online followers; returns them, ascending.
    pub(super) fn online_first(&self, job: JobId, entry: Entry, reach: Reach) -> Result<Vec<UserId>> {
        let mut served = Vec::new();
        let mut next = Some(UserId::MIN);
        while let Some(from) = next.filter(|_| served.len() < MOST) {
            let mut found = Vec::new();
            while let Some(from) = next.filter(|_| found.len() < self.config.fanout.chunk) {
                next = self.look(entry.source, from, &mut found)?;
            }
            if found.is_empty() {
                break;
            }
            debug_assert!(found.first().is_some_and(|first| *first >= from));
            let recipients = self.recipients(reach, found.clone())?;
            tables::deliver(&self.store, &Delivery { job, entry, recipients: &recipients, then: Then::Nothing })?;
            self.tally.chunk(recipients.len());
            served.append(&mut found);
        }
        Ok(served)
    }

    /// Finds some online followers with ids of at least `from`; returns where to continue.
    fn look(&self, author: UserId, from: UserId, found: &mut Vec<UserId>) -> Result<Option<UserId>> {
        let online = self.streaming.presence().online_from(from, LOOK, now());
        let Some(first) = online.first() else { return Ok(None) };
        let followers = follows::tables::followers_after(&self.store, author, first.next_smaller(), LOOK)?;
        let end = known_to(&online).min(known_to(&followers));
        found.extend(online.iter().filter(|id| **id <= end && followers.binary_search(id).is_ok()));
        // The next known follower spares reading the users online before it.
        let beyond = followers.iter().find(|follower| **follower > end).copied();
        Ok(beyond.or(end.next_greater()))
    }
}

/// The last id up to which a part of a list is complete.
fn known_to(part: &[UserId]) -> UserId {
    part.get(LOOK - 1).copied().unwrap_or(UserId::MAX)
}

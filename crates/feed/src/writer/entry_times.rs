//! The times of entries that come to lists of users.
//!
//! A client asks for newer entries with `after` and the place of the newest entry that it has. Ids of one millisecond come in any
//! order. So an entry with the server's time gets a time later than that of every entry that a client may have seen in its lists.
//! Entries of one group of changes are seen at once, so they may have the same time; but those of a command log are grouped
//! differently by each node, so there each is later than the one before.

use crate::rows::tables::{FOLLOW_REQUESTS, FOLLOWERS_BY_TIME, FOLLOWING_BY_TIME, FRIENDS_BY_TIME, SENT_REQUESTS};
use crate::rows::walk::listed;
use crate::store::Store;
use crate::streaming::ChangeTime;
use crate::writer::txn::{EntryList, Txn};
use kv::Tier;
use model::error::Result;
use model::{Millis, Position, Span, UserId};

/// Entries of lists of users that are less than this ahead of the clock count as come, milliseconds: where many entries come
/// to one list within a millisecond, their times run ahead of the clock.
pub(crate) const NEAR: Millis = 5_000;
/// Entries further ahead than this have a time of the application, and do not move the times of later ones, milliseconds. So much
/// more than [`NEAR`] that none of them counts as come before a write ends that has decided its time.
const FAR: Millis = 2 * NEAR;

/// The lists that entries of follows and requests of a user come to, and that of the follows back, whose times friends may
/// have.
pub(crate) fn lists_of_follows(user: UserId, targets: &[UserId]) -> impl Iterator<Item = EntryList> {
    let own = [FOLLOWING_BY_TIME, SENT_REQUESTS, FRIENDS_BY_TIME, FOLLOWERS_BY_TIME];
    let of_target = [FOLLOWERS_BY_TIME, FOLLOW_REQUESTS, FRIENDS_BY_TIME];
    let of_targets = targets.iter().flat_map(move |target| of_target.map(|table| EntryList::of(table, *target)));
    own.into_iter().map(move |table| EntryList::of(table, user)).chain(of_targets)
}

impl Txn<'_> {
    /// The time of an entry that comes to lists now, without one of the application.
    pub(crate) fn entry_time(&mut self, lists: impl IntoIterator<Item = EntryList>) -> Result<Millis> {
        // The times given never fall, also over a restart.
        let from = self.at.now().max(self.feed.streaming.sequencer().sequence().at);
        let mut time = from;
        for list in lists {
            let newest = match self.at {
                ChangeTime::Log { .. } => newest(&self.feed.store, list, time)?,
                ChangeTime::Clock => match self.newest_entries.get(&list) {
                    Some(newest) => *newest,
                    None => {
                        let newest = newest(&self.written, list, from)?;
                        self.newest_entries.insert(list, newest);
                        newest
                    }
                },
            };
            time = newest.map_or(time, |newest| time.max(newest + 1));
        }
        Ok(time)
    }
}

/// The time of the newest entry of a list that is not earlier than a time, and not far ahead of it.
fn newest(store: &Store, EntryList { table, owner, kind }: EntryList, time: Millis) -> Result<Option<Millis>> {
    let ahead = Some(Position { at: time + FAR, id: 0_u64 });
    let near = Span { before: ahead, after: time.checked_sub(1).map(|at| Position { at, id: u64::MAX }) }.newest(1);
    let at = |place: Position<u64>, _: &[u8]| Ok(place.at);
    let newest = match kind {
        Some(kind) => listed(store.now(Tier::Disk), (table, (owner, kind)), near, at),
        None => listed(store.now(Tier::Disk), (table, owner), near, at),
    };
    Ok(newest?.pop())
}

//! The times of entries that come to lists of users.
//!
//! A client asks for newer entries with `after` and the place of the newest entry that it has. Ids of one millisecond come in any
//! order. So an entry with the server's time gets a time later than that of every entry that a client may have seen in its lists.
//! Entries of one group of changes are seen at once, so they may have the same time; but those of a command log are grouped
//! differently by each node, so there each is later than the one before.

use crate::store::Store;
use crate::streaming::ChangeTime;
use crate::writer::txn::{EntryList, Txn};
use crate::{follows, lists, reactions};
use kv::Tier;
use model::error::Result;
use model::{Millis, Position, Side, Span, UserCursor, UserId};

/// Entries of lists of users that are less than this ahead of the clock count as come, milliseconds: where many entries come
/// to one list within a millisecond, their times run ahead of the clock.
pub(crate) const NEAR: Millis = 5_000;
/// Entries further ahead than this have a time of the host, and do not move the times of later ones, milliseconds. So much
/// more than [`NEAR`] that none of them counts as come before a write ends that has decided its time.
const FAR: Millis = 2 * NEAR;

/// The lists that entries of follows and requests of a user come to, and that of the follows back, whose times friends may
/// have.
pub(crate) fn lists_of_follows(user: UserId, targets: &[UserId]) -> impl Iterator<Item = EntryList> {
    let own = [Side::Following, Side::SentRequests, Side::Friends, Side::Followers];
    let of_target = [Side::Followers, Side::FollowRequests, Side::Friends];
    let of_targets = targets.iter().flat_map(move |target| of_target.map(|side| EntryList::Of(*target, side)));
    own.into_iter().map(move |side| EntryList::Of(user, side)).chain(of_targets)
}

impl Txn<'_> {
    /// The time of an entry that comes to lists now, without one of the host.
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
fn newest(store: &Store, list: EntryList, time: Millis) -> Result<Option<Millis>> {
    let ahead = Some(UserCursor { at: time + FAR, id: UserId::MIN });
    let near = Span { before: ahead, after: Position { at: time, id: UserId::MIN }.next_older() }.newest(1);
    let newest = match list {
        EntryList::Of(user, side) => follows::tables::members(store, user, side, near, Tier::Disk),
        EntryList::Members(list) => lists::tables::list_members(store, list, near, Tier::Disk),
        EntryList::Reactors(item, kind) => reactions::tables::reactors(store, item, kind, near, Tier::Disk),
    };
    Ok(newest?.first().map(|newest| newest.at))
}

//! The times of entries that come to lists of users.
//!
//! A client asks for newer entries with `after` and the place of the newest entry that it has. Changes run side by side,
//! and ids of one millisecond come in any order. So an entry with the server's time gets a time later than that of every
//! entry that is in its lists, and the lists are held from this decision until the entry is written.

use crate::Feed;
use crate::streaming::ChangeTime;
use crate::timeline::lists::NEAR;
use model::error::Result;
use model::store::Tier;
use model::{ContentId, ListId, Millis, Position, ReactionKind, Side, Span, UserCursor, UserId};

/// Entries further ahead than this have a time of the host, and do not move the times of later ones, milliseconds. So much
/// more than [`NEAR`] that none of them counts as come before a write ends that has decided its time.
const FAR: Millis = 2 * NEAR;

/// A list of users, ordered by time.
#[derive(Debug, Clone, Copy)]
pub(super) enum EntryList {
    /// One side of the graph around a user.
    Of(UserId, Side),
    /// The members of a list that a user keeps.
    Members(ListId),
    /// The users with a reaction to an item.
    Reactors(ContentId, ReactionKind),
}

/// The lists that entries of follows and requests of a user come to, and that of the follows back, whose times friends may
/// have.
pub(super) fn lists_of_follows(user: UserId, targets: &[UserId]) -> impl Iterator<Item = EntryList> {
    let own = [Side::Following, Side::SentRequests, Side::Friends, Side::Followers];
    let of_target = [Side::Followers, Side::FollowRequests, Side::Friends];
    let of_targets = targets.iter().flat_map(move |target| of_target.map(|side| EntryList::Of(*target, side)));
    own.into_iter().map(move |side| EntryList::Of(user, side)).chain(of_targets)
}

impl Feed {
    /// The time of an entry that comes to lists now, without one of the host. The caller holds the lists.
    pub(super) fn entry_time(&self, lists: impl IntoIterator<Item = EntryList>, at: ChangeTime) -> Result<Millis> {
        // The times given never fall, also over a restart.
        let mut time = at.now().max(self.streaming.sequencer().latest_given());
        let ahead = Some(UserCursor { at: time + FAR, id: UserId::MIN });
        for list in lists {
            let near = Span { before: ahead, after: Position { at: time, id: UserId::MIN }.next_older() }.newest(1);
            let newest = match list {
                EntryList::Of(user, side) => self.store.members(user, side, near, Tier::Disk),
                EntryList::Members(list) => self.store.list_members(list, near, Tier::Disk),
                EntryList::Reactors(item, kind) => self.store.reactors(item, kind, near, Tier::Disk),
            };
            time = newest?.first().map_or(time, |newest| newest.at + 1);
        }
        Ok(time)
    }
}

#[cfg(test)]
mod tests;

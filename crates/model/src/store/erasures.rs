//! Erasures of users.

use crate::error::Result;
use crate::{ContentId, ErasedPart, ErasedUser, Erasure, ErasurePlace, Event, Job, Millis, UserId};

/// The erasure of users. Between its begin and its end no change names the user, and [`Records::suspended_among`] has the
/// user.
///
/// [`Records::suspended_among`]: crate::store::Records::suspended_among
pub trait Erasures {
    /// Begins the erasure of a user, with the event and the effect, which has the hash as its name, in the same change; without
    /// an event it is not told. False, and nothing written, if it is under way already. Acknowledges.
    fn begin_erasure(&self, erasure: &Erasure, event: Option<&Event>) -> Result<bool>;

    /// The erasures under way, by their users.
    fn erasures(&self) -> Result<Vec<Erasure>>;

    /// Whether any erasure is under way. Reads memory only, like the next.
    fn has_erasures(&self) -> bool;

    /// Whether a user is being erased.
    fn is_erasing(&self, user: UserId) -> bool;

    /// The next rows that name a user who is erased, about `most`; none where none were found yet. `None` at the end, when only
    /// those are left that [`Erasures::end_erasure`] removes. Moves the place, which is the default one at first.
    fn to_erase(&self, user: UserId, place: &mut ErasurePlace, most: usize) -> Result<Option<ErasedPart>>;

    /// Removes the rows of a part, as far as they are there and name the user, in one change. Items of the user have no text
    /// any more, and are to be purged; users who follow the user no more have settle jobs, and so has the user. Returns the
    /// jobs. Nothing is written if no erasure of the user is under way. Acknowledges.
    fn erase(&self, user: UserId, part: &ErasedPart) -> Result<Vec<Job>>;

    /// Of all paths that these items have, also purged ones, and of those that they were taken off, the sources that are not
    /// the author.
    fn erased_paths(&self, ids: &[ContentId]) -> Result<Vec<UserId>>;

    /// Removes all entries of an author from the inboxes of these readers, on whatever paths they came.
    fn clear_inboxes(&self, readers: &[UserId], author: UserId) -> Result<()>;

    /// Ends the erasure of a user at a time: removes the records of the user and the name, and keeps the hash instead, also
    /// in the effect of the begin; in one change. Forgets erasures that were over before `forgotten`. False, and nothing written, if it is not under way.
    /// Acknowledges.
    fn end_erasure(&self, user: UserId, at: Millis, forgotten: Millis) -> Result<bool>;

    /// The erasures that are over, in any order.
    fn erased(&self) -> Result<Vec<ErasedUser>>;
}

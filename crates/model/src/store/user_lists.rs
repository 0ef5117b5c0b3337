//! Lists of sources that users keep.

use crate::error::Result;
use crate::store::{Change, Tier};
use crate::{Cursor, ListId, ListSettings, Membership, Scan, ShownSources, UserCursor, UserId, UserList};

/// Lists of users, with their members and markers. A list is named by its user and its name; its number belongs to it
/// alone, also after it is deleted.
pub trait UserLists {
    /// Makes a list, or replaces its settings; returns the list. Refused with `list_limit`, and nothing written, if the
    /// user would have more than `limit` lists. Acknowledges.
    fn put_list(&self, user: UserId, name: &str, settings: &ListSettings, limit: usize) -> Result<UserList>;

    /// Deletes a list with its members and its marker; false if there is none of this name. Acknowledges.
    fn delete_list(&self, user: UserId, name: &str) -> Result<bool>;

    /// A list by its name.
    fn list(&self, user: UserId, name: &str, tier: Tier) -> Result<Option<UserList>>;

    /// All lists of a user, by the bytes of their names.
    fn lists(&self, user: UserId, tier: Tier) -> Result<Vec<UserList>>;

    /// Adds members and removes others, all in one change; returns the state of each afterwards. A present member keeps its
    /// time; its rule may change. Members must differ from each other. `None`, and nothing written, if there is no
    /// list of this name. Refused with `member_limit`, and nothing written, if the list would have more than `limit`
    /// members and more than before. Acknowledges.
    fn change_members(
        &self,
        user: UserId,
        name: &str,
        changes: &[Change],
        limit: usize,
    ) -> Result<Option<Vec<Option<Membership>>>>;

    /// Members of a list, by the time since when they are in it.
    fn list_members(&self, list: ListId, scan: Scan<UserId>, tier: Tier) -> Result<Vec<UserCursor>>;

    /// For each of `users`, in their order, since when it is a member of a list and its rule; `None` for those who are not.
    fn memberships(&self, list: ListId, users: &[UserId], tier: Tier) -> Result<Vec<Option<Membership>>>;

    /// The members of a list whose content its user is shown, ascending: less those whom the user mutes and those who hide
    /// from the user, as in [`Barriers::authors`](super::Barriers::authors). All of one instant. With the rules of the
    /// members.
    fn list_authors(&self, reader: UserId, list: ListId, tier: Tier) -> Result<ShownSources>;

    /// The place in the timeline of a list up to which its user has read; `None` until one was set.
    fn list_marker(&self, list: ListId, tier: Tier) -> Result<Option<Cursor>>;

    /// Moves the marker of a list by the rule of [`Records::move_marker`](super::Records::move_marker). `None`, and nothing
    /// written, if there is no list of this name.
    fn move_list_marker(
        &self,
        user: UserId,
        name: &str,
        place: Cursor,
        wrong: Option<Cursor>,
    ) -> Result<Option<Cursor>>;
}

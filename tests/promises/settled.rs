//! The required state of inboxes when no job is left. Answers do not depend on it, only their speed. But an error here
//! is a wrong answer a few steps later.

use kv::Tier;
use model::{Activity, Cursor, Entry, UserId};

use super::case::Case;
use super::system::System;
use super::upkeep::inbox;

/// The reference for inboxes.
pub(crate) trait Right {
    /// Whether a user follows an author.
    fn follows(&self, user: UserId, author: UserId) -> bool;
    /// Whether this is or was an item.
    fn is_content(&self, entry: Entry) -> bool;
    /// All content of a user's followees, also behind restrictions, since these may be lifted at any time; each item with the
    /// source through which it comes.
    fn followed(&self, user: UserId) -> Vec<(UserId, Entry)>;
}

impl Right for Case {
    fn follows(&self, user: UserId, author: UserId) -> bool {
        self.model.follows(user, author)
    }

    fn is_content(&self, entry: Entry) -> bool {
        self.model.item(entry.cursor.id).is_some_and(|item| item.entry() == entry)
    }

    fn followed(&self, user: UserId) -> Vec<(UserId, Entry)> {
        self.model.followed(user)
    }
}

/// Compares the inboxes of all users with the reference. No job may be left.
pub(crate) fn check_settled(system: &System, users: &[UserId], right: &impl Right) -> Result<(), String> {
    users.iter().try_for_each(|reader| check_inbox(system, right, *reader))
}

fn check_inbox(system: &System, right: &impl Right, reader: UserId) -> Result<(), String> {
    let store = system.store();
    let failed = |e| format!("a read fails: {e}");
    let (rows, floor) = inbox(store, reader)?;
    ensure_eq!(system.backlog().unsettled(reader), Vec::<UserId>::new(), "unsettled pairs of {reader}");
    let activity = feed::inbox::tables::activity(store, reader, Tier::Disk).map_err(failed)?;
    // While another node keeps the inbox, no unfollow removes the rows of a dropped one. The rebuild raises its floor
    // above them.
    let may_be_strange = system.is_node() && activity == Activity::Evicted;
    for Entry { cursor, source, author, .. } in &rows {
        ensure!(
            may_be_strange || right.follows(reader, *source),
            "inbox of {reader} has {cursor} of {source}, not followed"
        );
        let entry = Entry::plain(*cursor, *author);
        ensure!(right.is_content(entry), "inbox of {reader} has {cursor} of {author}, which is no content");
    }
    ensure!(!matches!(activity, Activity::Returning { .. }), "{reader} is returning for ever");
    for (source, entry) in right.followed(reader) {
        let unpushed = feed::inbox::tables::unpushed(store, source, Tier::Disk).map_err(failed)?;
        let newest_unpushed = match activity {
            Activity::Active { .. } => unpushed.to_nobody,
            Activity::Evicted => Some(Cursor::NEWEST),
            _ => unpushed.to_nobody.max(unpushed.to_active),
        };
        let may_lack = Some(entry.cursor) <= floor || Some(entry.cursor) <= newest_unpushed;
        let has = rows.iter().any(|row| (row.cursor, row.source) == (entry.cursor, source));
        ensure!(has || may_lack, "inbox of {reader} lacks {} of {source}", entry.cursor);
    }
    Ok(())
}

//! What inboxes must be once no job is left. No answer depends on it, only their speed; but what
//! is wrong here is a wrong answer a few steps later.

use tideline::model::{Activity, Cursor, UserId};
use tideline::store::Tier;

use super::case::Case;
use super::names::everybody;
use super::upkeep::inbox;

impl Case {
    /// Compares all inboxes with the model. No job may be left.
    pub(crate) fn check_settled(&self) -> Result<(), String> {
        everybody().try_for_each(|reader| self.check_inbox(reader))
    }

    fn check_inbox(&self, reader: UserId) -> Result<(), String> {
        let store = self.system.store();
        let failed = |e| format!("a read fails: {e}");
        let (rows, floor) = inbox(store, reader)?;
        ensure_eq!(self.system.backlog().unsettled(reader), Vec::<UserId>::new(), "unsettled pairs of {reader}");
        for (cursor, author) in &rows {
            ensure!(self.model.follows(reader, *author), "inbox of {reader} has {cursor} of {author}, not followed");
            let known =
                self.model.item(cursor.id).is_some_and(|item| (item.cursor(), item.body.author) == (*cursor, *author));
            ensure!(known, "inbox of {reader} has {cursor} of {author}, which is no content");
        }
        let activity = store.activity(reader, Tier::Disk).map_err(failed)?;
        ensure!(!matches!(activity, Activity::Returning { .. }), "{reader} is returning for ever");
        for entry in self.model.timeline(reader, false) {
            let unpushed = store.unpushed(entry.author, Tier::Disk).map_err(failed)?;
            let newest_unpushed = match activity {
                Activity::Active { .. } => unpushed.to_nobody,
                Activity::Evicted => Some(Cursor::NEWEST),
                _ => unpushed.to_nobody.max(unpushed.to_active),
            };
            let may_lack = Some(entry.cursor) <= floor || Some(entry.cursor) <= newest_unpushed;
            let has = rows.contains(&(entry.cursor, entry.author));
            ensure!(has || may_lack, "inbox of {reader} lacks {} of {}", entry.cursor, entry.author);
        }
        Ok(())
    }
}

//! Restrictions.

use super::tables;
use crate::inbox::backlog::JobReservation;
use crate::read::Read;
use crate::rows::tables::of_restriction;
use crate::writer::command::{Change, SetRestriction};
use crate::writer::txn::{EntryList, Txn};
use crate::{ids, warm};
use model::error::{Error, Result};
use model::{Millis, Relation, Restriction, UserId};

/// Most restrictions of a kind that one user can raise: ten times the default follow limit, so normal use never meets it.
/// It bounds only the storage of one user: a read costs the same with one restriction as with all of them.
const LIMIT: usize = 10_000;

impl Change for SetRestriction {
    type Outcome = Relation;

    fn settles(&self) -> usize {
        if self.raised && self.restriction == Restriction::Block { 2 } else { 0 }
    }

    fn warm(&self, read: Read<'_>) -> Result<()> {
        warm::relations(read, &self.user, [&self.target])?;
        warm::relations(read, &self.target, [&self.user])
    }

    fn apply(self, txn: &mut Txn<'_>) -> Result<Self::Outcome> {
        self.set(txn, None, |txn, settles| txn.room(settles))
    }

    fn import(self, txn: &mut Txn<'_>, since: Option<Millis>) -> Result<bool> {
        self.set(txn, since, |txn, settles| Ok(txn.room_of_import(settles)))?;
        txn.imported("since", since)
    }
}

impl SetRestriction {
    /// Raises the restriction since a time, without one since now, or lifts it. Takes `room` for its settle jobs, if it has any.
    pub(crate) fn set<'f>(
        self,
        txn: &mut Txn<'f>,
        since: Option<Millis>,
        room: impl FnOnce(&Txn<'f>, usize) -> Result<JobReservation<'f>>,
    ) -> Result<Relation> {
        let (feed, settles) = (txn.feed, self.settles());
        let Self { user, target, restriction, raised } = self;
        let users = [&user, &target];
        if raised && user == target {
            feed.read().find::<UserId>(users[0])?;
            let [against_self, _] = restriction.refusals();
            return Err(against_self.into());
        }
        let ids: Vec<UserId> = if raised { ids::for_change(feed, users)? } else { feed.read().find_all(users)? };
        let [user, target] = ids[..] else { return Err(Error::Corrupt("two users are not two".to_owned())) };
        if !raised && (user == UserId::UNKNOWN || target == UserId::UNKNOWN) {
            return Ok(Relation::none(user, target));
        }
        let room = match settles {
            0 => feed.backlog.reserve_in_any_case(0),
            _ => room(txn, settles)?,
        };
        let since = match raised {
            true => {
                Some(since.map_or_else(|| txn.entry_time([EntryList::of(of_restriction(restriction).1, user)]), Ok)?)
            }
            false => None,
        };
        let both = [(user, target), (target, user)];
        let unsettling = feed.backlog.unsettle(room, both.into_iter().take(settles));
        let readers = restriction.readers(user, target).into_iter();
        txn.change_sources(readers.map(|(reader, author)| (reader, vec![author])));
        let restricted = tables::set_restriction(&feed.store, user, target, restriction, since, LIMIT)?;
        let jobs = restricted.jobs;
        txn.once_written(move || unsettling.commit(jobs.into_iter().flatten()));
        Ok(restricted.relation)
    }
}

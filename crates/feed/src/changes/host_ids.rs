//! Numbers for names of the application.
//!
//! A read finds the number of a name; it never gives one. A change gives numbers to the names that it needs; they are written with
//! the change. So a name that no change has mentioned leaves no trace, and neither does a refused change.

use std::fmt::Display;

use super::command::{Change, GiveNumbers};
use super::txn::Txn;
use crate::Feed;
use crate::timeline::ids::{id_of, missing, resolve};
use config::AcceptedIds;
use model::error::{Code, Error, Result};
use model::{HostId, Id, UserId};

impl Feed {
    /// The ids in the store for a change, in their order. A name without a number gets one, which is written with the change, and
    /// forgotten if the change is refused. `invalid_id` as in [`Read::find`](crate::Read::find).
    pub(crate) fn ids_for_change<'i, I: Id>(&self, ids: impl IntoIterator<Item = &'i HostId>) -> Result<Vec<I>> {
        let ids: Vec<_> = ids.into_iter().collect();
        if self.config.ids.accept == AcceptedIds::Numbers || ids.iter().all(|id| id.name().is_none()) {
            return self.read().find_all(ids);
        }
        resolve(&ids, |names| Ok(self.store.give_numbers(names)?.into_iter().map(Some).collect()))
    }

    /// The id in the store of a user for a change; see [`Feed::ids_for_change`].
    pub(crate) fn user_for_change(&self, user: &HostId) -> Result<UserId> {
        self.ids_for_change([user])?.pop().ok_or_else(missing)
    }

    /// The id in the store. A name that has no number gets one, even if no change follows.
    pub fn give<I: Id>(&self, id: &HostId) -> Result<I> {
        self.give_all([id])?.pop().ok_or_else(missing)
    }

    /// The ids in the store of several ids, in their order. Names without a number get numbers in this order.
    pub fn give_all<'i, I: Id>(&self, ids: impl IntoIterator<Item = &'i HostId>) -> Result<Vec<I>> {
        let ids: Vec<_> = ids.into_iter().collect();
        let found = self.read().find_all(ids.iter().copied())?;
        if !found.contains(&I::UNKNOWN) {
            return Ok(found);
        }
        let ids = ids.into_iter().cloned().collect();
        self.submit(GiveNumbers { ids })?.into_iter().map(id_of).collect()
    }

    /// `invalid_id` for a name if the server accepts only numbers.
    pub(crate) fn accepts(&self, id: &impl Display) -> Result<()> {
        if self.config.ids.accept == AcceptedIds::Any {
            return Ok(());
        }
        let detail = format_args!(
            "an id is a whole number from 1 to 9223372036854775807, not \"{id}\": ids.accept is \"numbers\""
        );
        Err(Error::refused(Code::InvalidId, detail))
    }
}

impl Change for GiveNumbers {
    type Outcome = Vec<u64>;

    fn apply(self, txn: &mut Txn<'_>) -> Result<Self::Outcome> {
        let feed = txn.feed;
        let ids: Vec<UserId> = feed.ids_for_change(&self.ids)?;
        Ok(ids.into_iter().map(UserId::get).collect())
    }
}

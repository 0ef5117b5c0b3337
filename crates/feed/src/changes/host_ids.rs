//! Numbers for names of the application.
//!
//! A read finds the number of a name; it never gives one. A change holds numbers for the names that it needs; they are
//! written with the change. So a name that no change has mentioned leaves no trace, and neither does a refused change.

use std::fmt::Display;
use std::sync::Arc;

use super::command::{Change, GiveNumbers};
use super::txn::Txn;
use crate::Feed;
use crate::timeline::ids::{id_of, missing, resolve};
use config::AcceptedIds;
use model::error::{Code, Error, Result};
use model::store::{Hold, Store};
use model::{HostId, Id, UserId};

/// Ids in the store, valid while this exists: a name without a written number holds the one that it would get.
#[derive(Debug)]
pub struct Held<I> {
    /// The ids, in the order of the call.
    pub ids: Vec<I>,
    names: Option<HeldNames>,
}

#[derive(Debug)]
struct HeldNames {
    store: Arc<dyn Store>,
    names: Vec<Arc<str>>,
    hold: Hold,
}

impl<I: Id> Held<I> {
    /// Ids that need no hold.
    pub(crate) fn all(ids: Vec<I>) -> Self {
        Self { ids, names: None }
    }

    /// The first id.
    pub fn id(&self) -> I {
        self.ids.first().copied().unwrap_or(I::UNKNOWN)
    }
}

impl<I> Drop for Held<I> {
    fn drop(&mut self) {
        if let Some(HeldNames { store, names, hold }) = &self.names {
            store.release_numbers(&names.iter().map(|name| &**name).collect::<Vec<_>>(), *hold);
        }
    }
}

impl Feed {
    /// The ids in the store for a change, in their order. A name without a number holds one, which is written with the
    /// change, and forgotten if the change is refused. `invalid_id` as in [`Read::find`](crate::Read::find).
    pub(crate) fn hold<'i, I: Id>(&self, ids: impl IntoIterator<Item = &'i HostId>) -> Result<Held<I>> {
        self.hold_for(ids.into_iter().collect(), Hold::Change)
    }

    fn hold_for<I: Id>(&self, ids: Vec<&HostId>, hold: Hold) -> Result<Held<I>> {
        let named: Vec<_> = ids.iter().filter_map(|id| id.name()).collect();
        if named.is_empty() || self.config.ids.accept == AcceptedIds::Numbers {
            return Ok(Held { ids: self.read().find_all(ids)?, names: None });
        }
        let names = named.iter().map(|name| Arc::clone(name)).collect();
        let ids = resolve(&ids, |names| Ok(self.store.hold_numbers(names, hold)?.into_iter().map(Some).collect()))?;
        Ok(Held { ids, names: Some(HeldNames { store: Arc::clone(&self.store), names, hold }) })
    }

    /// The id in the store. A name that has no number gets one, even if no change follows.
    pub fn give<I: Id>(&self, id: &HostId) -> Result<I> {
        self.give_all([id])?.pop().ok_or_else(missing)
    }

    /// The ids in the store of several ids, in their order. Names without a number get numbers in this order.
    pub fn give_all<'i, I: Id>(&self, ids: impl IntoIterator<Item = &'i HostId>) -> Result<Vec<I>> {
        let ids = ids.into_iter().cloned().collect();
        self.submit(GiveNumbers { ids })?.into_iter().map(id_of).collect()
    }

    /// The id of a reader for as long as the result exists, also of one that no change has mentioned. On a node of a
    /// cluster such a reader gets a number for good, because only the command log gives numbers.
    pub fn reserve(&self, id: &HostId) -> Result<Held<UserId>> {
        if self.proposer.get().is_some() {
            return Ok(Held::all(vec![self.read().find_or_give(id)?]));
        }
        self.hold_for(vec![id], Hold::Stream)
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
        let held: Held<UserId> = feed.hold(&self.ids)?;
        let numbers: Vec<_> = held.ids.iter().map(|id| id.get()).collect();
        if held.names.is_some() {
            feed.store.write_names(&numbers)?;
        }
        Ok(numbers)
    }
}

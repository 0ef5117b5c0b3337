//! Ids of the application, to ids in the store and back.
//!
//! A read finds the number of a name; it never gives one. A change gives numbers to the names that it needs; they are written with
//! the change. So a name that no change has mentioned leaves no trace, and neither does a refused change.

use std::collections::HashSet;
use std::fmt::Display;

use super::tables;
use crate::core::Core;
use crate::erasure;
use crate::feed::Feed;
use crate::read::{Read, Visibility};
use crate::writer::command::{Change, GiveNumbers};
use crate::writer::txn::Txn;
use config::AcceptedIds;
use model::error::{Code, Error, Result};
use model::{ContentId, ExternalId, ExternalIds, Id, Mentions, UserId};

/// The ids in the store for a change, in their order. A name without a number gets one, which is written with the change, and
/// forgotten if the change is refused. `invalid_id` as in [`Read::find`](crate::Read::find).
pub(crate) fn for_change<'i, I: Id>(feed: &Core, ids: impl IntoIterator<Item = &'i ExternalId>) -> Result<Vec<I>> {
    let ids: Vec<_> = ids.into_iter().collect();
    if feed.config.ids.accept == AcceptedIds::Numbers || ids.iter().all(|id| id.name().is_none()) {
        return feed.read().find_all(ids);
    }
    resolve(&ids, |names| Ok(tables::give_numbers(&feed.store, names)?.into_iter().map(Some).collect()))
}

/// The id in the store of a user for a change; see [`ids::for_change`](crate::ids::for_change).
pub(crate) fn user_for_change(feed: &Core, user: &ExternalId) -> Result<UserId> {
    for_change(feed, [user])?.pop().ok_or_else(missing)
}

/// The id in the store. A name that has no number gets one, even if no change follows.
pub fn give<I: Id>(feed: &Feed, id: &ExternalId) -> Result<I> {
    match feed.read().find(id)? {
        found if found != I::UNKNOWN => Ok(found),
        _ => {
            feed.submit(GiveNumbers { ids: vec![id.clone()] })?;
            feed.read().find(id)
        }
    }
}

/// `invalid_id` for a name if the server accepts only numbers.
pub(crate) fn accepts(feed: &Core, id: &impl Display) -> Result<()> {
    if feed.config.ids.accept == AcceptedIds::Any {
        return Ok(());
    }
    let detail =
        format_args!("an id is a whole number from 1 to 9223372036854775807, not \"{id}\": ids.accept is \"numbers\"");
    Err(Error::refused(Code::InvalidId, detail))
}

impl Change for GiveNumbers {
    type Outcome = Vec<Result<bool>>;

    fn apply(self, txn: &mut Txn<'_>) -> Result<Self::Outcome> {
        let feed = txn.feed;
        let found: Vec<UserId> = feed.read().look_up(&self.ids.iter().collect::<Vec<_>>())?;
        let mut new = HashSet::new();
        let judge = |(id, found)| {
            if found != UserId::UNKNOWN {
                return Ok(false);
            }
            accepts(feed, id)?;
            Ok(new.insert(id))
        };
        let results: Vec<_> = self.ids.iter().zip(found).map(judge).collect();
        let new = self.ids.iter().zip(&results).filter(|(_, new)| matches!(new, Ok(true))).map(|(id, _)| id);
        for_change::<UserId>(feed, new)?;
        Ok(results)
    }
}

impl Read<'_> {
    /// The id in the store; [`Id::UNKNOWN`] for a name that no change has mentioned. If the server accepts only numbers,
    /// such a name is refused with `invalid_id`, but not for a viewer, who must not learn which names exist.
    pub fn find<I: Id>(&self, id: &ExternalId) -> Result<I> {
        let found = self.known(id)?;
        if found == I::UNKNOWN && self.viewer.is_none() { accepts(self.feed, id).map(|()| found) } else { Ok(found) }
    }

    /// The id in the store of an id; one that no row has, if it is a name without a number, or a user who is being erased: no
    /// read shows anything of that user.
    pub(crate) fn known<I: Id>(&self, id: &ExternalId) -> Result<I> {
        Ok(self.unless_erasing(self.number_of(id)?))
    }

    fn unless_erasing<I: Id>(&self, id: I) -> I {
        let is_erasing =
            I::IS_USER && UserId::new(id.into()).is_ok_and(|user| erasure::tables::is_erasing(&self.feed.store, user));
        if is_erasing { I::UNKNOWN } else { id }
    }

    /// The id in the store of an id, also of a user who is being erased.
    pub(crate) fn number_of<I: Id>(&self, id: &ExternalId) -> Result<I> {
        match id {
            ExternalId::Number(raw) => id_of(*raw),
            ExternalId::Name(name) => {
                tables::numbers(&self.feed.store, &[name], self.tier)?.pop().flatten().map_or(Ok(I::UNKNOWN), id_of)
            }
        }
    }

    /// The ids in the store of several ids, in their order.
    pub fn find_all<'i, I: Id>(&self, ids: impl IntoIterator<Item = &'i ExternalId>) -> Result<Vec<I>> {
        let ids: Vec<_> = ids.into_iter().collect();
        let found = self.look_up(&ids)?;
        let unknown = |(_, found): &(&ExternalId, &I)| **found == I::UNKNOWN && self.viewer.is_none();
        for (id, _) in ids.into_iter().zip(&found).filter(unknown) {
            accepts(self.feed, id)?;
        }
        Ok(found)
    }

    /// The ids in the store of several ids, in their order; of a name without a number, one that no row has.
    pub(crate) fn look_up<I: Id>(&self, ids: &[&ExternalId]) -> Result<Vec<I>> {
        let found = resolve(ids, |names| tables::numbers(&self.feed.store, names, self.tier))?;
        Ok(found.into_iter().map(|id| self.unless_erasing(id)).collect())
    }

    /// The id in the store of an item; `content_not_found` for a name that no change has mentioned.
    pub fn find_content(&self, id: &ExternalId) -> Result<ContentId> {
        self.find(id).and_then(|id| if id == ContentId::UNKNOWN { Err(Error::content_not_found()) } else { Ok(id) })
    }

    /// A value, with the ids that it mentions as the application wrote them.
    pub fn named<T: Mentions>(&self, value: T) -> Result<(T, ExternalIds)> {
        let ids = self.host_ids(&value)?;
        Ok((value, ids))
    }

    /// The ids that a value mentions, as the application wrote them.
    pub fn host_ids(&self, value: &(impl Mentions + ?Sized)) -> Result<ExternalIds> {
        let mut numbers = Vec::new();
        value.mentions(&mut |id| {
            if UserId::new(id).is_ok_and(|id| id.is_name() && id < UserId::UNKNOWN) {
                numbers.push(id);
            }
        });
        if numbers.is_empty() {
            return Ok(ExternalIds::default());
        }
        numbers.sort_unstable();
        numbers.dedup();
        let names = tables::names(&self.feed.store, &numbers, self.tier)?;
        Ok(ExternalIds::new(numbers.into_iter().zip(names).filter(|(_, name)| !name.is_empty()).collect()))
    }
}

/// Ids in the order of `ids`; `numbers` finds the numbers of names.
pub(crate) fn resolve<I: Id>(
    ids: &[&ExternalId],
    numbers: impl FnOnce(&[&str]) -> Result<Vec<Option<u64>>>,
) -> Result<Vec<I>> {
    let names: Vec<&str> = ids.iter().filter_map(|id| id.name()).map(|name| &**name).collect();
    let mut found = if names.is_empty() { Vec::new() } else { numbers(&names)? }.into_iter();
    ids.iter()
        .map(|id| match id {
            ExternalId::Number(raw) => id_of(*raw),
            ExternalId::Name(_) => found.next().ok_or_else(missing)?.map_or(Ok(I::UNKNOWN), id_of),
        })
        .collect()
}

pub(crate) fn id_of<I: Id>(raw: u64) -> Result<I> {
    I::of(raw).map_err(|_| Error::Corrupt("the id 0".to_owned()))
}

pub(crate) fn missing() -> Error {
    Error::Corrupt("the store returned too few numbers of names".to_owned())
}

/// `invalid_id` for the name of another user in a call of a user, while the server accepts only numbers. Names that
/// the server knows are refused like others: otherwise the answer would tell which it knows.
pub fn may_name<'i>(
    feed: &Core,
    user: &ExternalId,
    others: impl IntoIterator<Item = &'i ExternalId>,
    visibility: Visibility,
) -> Result<()> {
    let mut names = others.into_iter().filter(|other| visibility == Visibility::User && other.name().is_some());
    names.find(|name| *name != user).map_or(Ok(()), |name| accepts(feed, name))
}

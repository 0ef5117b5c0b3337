//! Ids of the host application, to ids in the store and back.
//!
//! A read finds the number of a name; it never gives one. A change holds numbers for the names that it needs; they are
//! written with the change. So a name that no change has mentioned leaves no trace, and neither does a refused change.

use std::fmt::Display;
use std::sync::Arc;

use super::command::{Change, GiveNumbers};
use crate::streaming::ChangeTime;
use crate::{Feed, Visibility};
use config::AcceptedIds;
use model::error::{Code, Error, Result};
use model::store::{Hold, Store, Tier};
use model::{HostId, HostIds, Id, Mentions, PageRequest, Position, Span, UserId};

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
    /// The id in the store; [`Id::UNKNOWN`] for a name that no change has mentioned. If the server accepts only numbers,
    /// such a name is refused with `invalid_id`.
    pub fn find<I: Id>(&self, id: &HostId, tier: Tier) -> Result<I> {
        let found = self.known(id, tier)?;
        if found == I::UNKNOWN { self.accepts(id).map(|()| found) } else { Ok(found) }
    }

    /// The id in the store of an id; one that no row has, if it is a name without a number.
    pub(crate) fn known<I: Id>(&self, id: &HostId, tier: Tier) -> Result<I> {
        match id {
            HostId::Number(raw) => id_of(*raw),
            HostId::Name(name) => self.store.numbers(&[name], tier)?.pop().flatten().map_or(Ok(I::UNKNOWN), id_of),
        }
    }

    /// The ids in the store of several ids, in their order.
    pub fn find_all<'i, I: Id>(&self, ids: impl IntoIterator<Item = &'i HostId>, tier: Tier) -> Result<Vec<I>> {
        let ids: Vec<_> = ids.into_iter().collect();
        let found = self.look_up(&ids, tier)?;
        ids.into_iter()
            .zip(&found)
            .try_for_each(|(id, found)| if *found == I::UNKNOWN { self.accepts(id) } else { Ok(()) })?;
        Ok(found)
    }

    /// The ids in the store of several ids, in their order; of a name without a number, one that no row has.
    pub(crate) fn look_up<I: Id>(&self, ids: &[&HostId], tier: Tier) -> Result<Vec<I>> {
        resolve(ids, |names| self.store.numbers(names, tier))
    }

    /// The id in the store of an item; `content_not_found` for a name that no change has mentioned.
    pub fn find_content<I: Id>(&self, id: &HostId, tier: Tier) -> Result<I> {
        self.find(id, tier).and_then(|id: I| if id == I::UNKNOWN { Err(Error::content_not_found()) } else { Ok(id) })
    }

    /// The ids in the store for a change, in their order. A name without a number holds one, which is written with the
    /// change, and forgotten if the change is refused. `invalid_id` as in [`Feed::find`].
    pub(crate) fn hold<'i, I: Id>(&self, ids: impl IntoIterator<Item = &'i HostId>) -> Result<Held<I>> {
        self.hold_for(ids.into_iter().collect(), Hold::Change)
    }

    fn hold_for<I: Id>(&self, ids: Vec<&HostId>, hold: Hold) -> Result<Held<I>> {
        let named: Vec<_> = ids.iter().filter_map(|id| id.name()).collect();
        if named.is_empty() || self.config.ids.accept == AcceptedIds::Numbers {
            return Ok(Held { ids: self.find_all(ids, Tier::Disk)?, names: None });
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

    /// A place in a list; `unknown_cursor` if its id is a name that no change has mentioned. Any other name is accepted:
    /// pages have such places whatever a server accepts. With [`Visibility::User`] an unknown name counts as the newest of
    /// all, because a user must not learn which names exist.
    pub fn find_place<I: Id>(&self, place: &Position<HostId>, sight: Visibility, tier: Tier) -> Result<Position<I>> {
        let id = self.known(&place.id, tier)?;
        if id == I::UNKNOWN && sight == Visibility::Application {
            let detail = format_args!("the cursor \"{place}\" has an id that this server has never seen");
            return Err(Error::refused(Code::UnknownCursor, detail));
        }
        Ok(Position { at: place.at, id })
    }

    /// The request for a page; `unknown_cursor` as in [`Feed::find_place`].
    pub fn find_span<I: Id>(
        &self,
        request: &PageRequest<HostId>,
        sight: Visibility,
        tier: Tier,
    ) -> Result<PageRequest<I>> {
        let find = |place: &Option<Position<HostId>>| {
            place.as_ref().map(|place| self.find_place(place, sight, tier)).transpose()
        };
        let Span { before, after } = &request.span;
        Ok(PageRequest { span: Span { before: find(before)?, after: find(after)? }, limit: request.limit })
    }

    /// The id of a reader for as long as the result exists, also of one that no change has mentioned. On a node of a
    /// cluster such a reader gets a number for good, because only the command log gives numbers.
    pub fn reserve(&self, id: &HostId) -> Result<Held<UserId>> {
        if self.proposer.get().is_some() {
            let found = self.find(id, Tier::Disk)?;
            let id = if found == UserId::UNKNOWN { self.give(id)? } else { found };
            return Ok(Held::all(vec![id]));
        }
        self.hold_for(vec![id], Hold::Stream)
    }

    /// The id in the store of a user who may have a stream; see [`Feed::reserve`].
    pub fn find_reader(&self, id: &HostId, tier: Tier) -> Result<UserId> {
        let found = self.find(id, tier)?;
        let reserved = match id {
            HostId::Name(name) if found == UserId::UNKNOWN => self.store.reserved_number(name),
            _ => None,
        };
        reserved.map_or(Ok(found), id_of)
    }

    /// A value, with the ids that it mentions as the host wrote them.
    pub fn named<T: Mentions>(&self, value: T, tier: Tier) -> Result<(T, HostIds)> {
        let ids = self.host_ids(&value, tier)?;
        Ok((value, ids))
    }

    /// The ids that a value mentions, as the host wrote them.
    pub fn host_ids(&self, value: &impl Mentions, tier: Tier) -> Result<HostIds> {
        let mut numbers = Vec::new();
        value.mentions(&mut |id| {
            if UserId::new(id).is_ok_and(|id| id.is_name() && id < UserId::UNKNOWN) {
                numbers.push(id);
            }
        });
        if numbers.is_empty() {
            return Ok(HostIds::default());
        }
        numbers.sort_unstable();
        numbers.dedup();
        let names = self.store.names(&numbers, tier)?;
        Ok(HostIds::new(numbers.into_iter().zip(names).collect()))
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

    fn apply(self, feed: &Feed, _: ChangeTime) -> Result<Self::Outcome> {
        let held: Held<UserId> = feed.hold(&self.ids)?;
        let numbers: Vec<_> = held.ids.iter().map(|id| id.get()).collect();
        if held.names.is_some() {
            feed.store.write_names(&numbers)?;
        }
        Ok(numbers)
    }
}

/// Ids in the order of `ids`; `numbers` finds the numbers of names.
fn resolve<I: Id>(ids: &[&HostId], numbers: impl FnOnce(&[&str]) -> Result<Vec<Option<u64>>>) -> Result<Vec<I>> {
    let names: Vec<&str> = ids.iter().filter_map(|id| id.name()).map(|name| &**name).collect();
    let mut found = if names.is_empty() { Vec::new() } else { numbers(&names)? }.into_iter();
    ids.iter()
        .map(|id| match id {
            HostId::Number(raw) => id_of(*raw),
            HostId::Name(_) => found.next().ok_or_else(missing)?.map_or(Ok(I::UNKNOWN), id_of),
        })
        .collect()
}

fn id_of<I: Id>(raw: u64) -> Result<I> {
    I::of(raw).map_err(|_| Error::Corrupt("the id 0".to_owned()))
}

fn missing() -> Error {
    Error::Corrupt("the store returned too few numbers of names".to_owned())
}

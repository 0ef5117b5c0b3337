//! Ids of the host application, to ids in the store and back.
//!
//! A read finds the number of a name; it never gives one. A change gives numbers to the names that it needs, after its
//! checks. So the name of a user or item that no change has mentioned leaves no trace.

use std::sync::Arc;

use super::Feed;
use crate::config::AcceptedIds;
use crate::error::{Code, Error, Result};
use crate::model::{HostId, HostIds, Id, Mentions, PageRequest, Position, Span, UserId};
use crate::store::{Store, Tier};

/// The id of a reader, valid while this exists: a name that has no number keeps the one that it would get.
#[derive(Debug)]
pub struct Reserved {
    /// The id.
    pub user: UserId,
    name: Option<(Arc<dyn Store>, Arc<str>)>,
}

impl Drop for Reserved {
    fn drop(&mut self) {
        if let Some((store, name)) = &self.name {
            store.release_number(name);
        }
    }
}

impl Feed {
    /// The id in the store; [`Id::UNKNOWN`] for a name that no change has mentioned. `invalid_id` for a name if the
    /// server accepts only numbers.
    pub fn find<I: Id>(&self, id: &HostId, tier: Tier) -> Result<I> {
        match id {
            HostId::Number(raw) => id_of(*raw),
            HostId::Name(name) => {
                self.accepts(name)?;
                self.store.numbers(&[name], tier)?.pop().flatten().map_or(Ok(I::UNKNOWN), id_of)
            }
        }
    }

    /// The same for several, in their order.
    pub fn find_all<'i, I: Id>(&self, ids: impl IntoIterator<Item = &'i HostId>, tier: Tier) -> Result<Vec<I>> {
        self.resolve(ids.into_iter().collect(), |names| self.store.numbers(names, tier))
    }

    /// The id in the store of an item; `content_not_found` for a name that no change has mentioned.
    pub fn find_content<I: Id>(&self, id: &HostId, tier: Tier) -> Result<I> {
        self.find(id, tier).and_then(|id: I| if id == I::UNKNOWN { Err(Error::content_not_found()) } else { Ok(id) })
    }

    /// The id in the store, for a change. A name that has no number gets one.
    pub fn give<I: Id>(&self, id: &HostId) -> Result<I> {
        match id {
            HostId::Number(raw) => id_of(*raw),
            HostId::Name(_) => self.give_all([id])?.pop().ok_or_else(missing),
        }
    }

    /// The same for several, in their order. They get numbers in this order.
    pub fn give_all<'i, I: Id>(&self, ids: impl IntoIterator<Item = &'i HostId>) -> Result<Vec<I>> {
        self.resolve(ids.into_iter().collect(), |names| {
            Ok(self.store.give_numbers(names)?.into_iter().map(Some).collect())
        })
    }

    /// A place in a list; `unknown_cursor` if its id is a name that no change has mentioned. Any other name is accepted:
    /// pages have such places whatever a server accepts.
    pub fn find_place<I: Id>(&self, place: &Position<HostId>, tier: Tier) -> Result<Position<I>> {
        let number = match &place.id {
            HostId::Number(raw) => Some(*raw),
            HostId::Name(name) => self.store.numbers(&[name], tier)?.pop().flatten(),
        };
        let Some(number) = number else {
            let detail = format_args!("the cursor \"{place}\" has an id that this server has never seen");
            return Err(Error::refused(Code::UnknownCursor, detail));
        };
        Ok(Position { at: place.at, id: id_of(number)? })
    }

    /// The request for a page; `unknown_cursor` as in [`Feed::find_place`].
    pub fn find_span<I: Id>(&self, request: &PageRequest<HostId>, tier: Tier) -> Result<PageRequest<I>> {
        let find =
            |place: &Option<Position<HostId>>| place.as_ref().map(|place| self.find_place(place, tier)).transpose();
        let Span { before, after } = &request.span;
        Ok(PageRequest { span: Span { before: find(before)?, after: find(after)? }, limit: request.limit })
    }

    /// The id of a reader for as long as the result exists, also of one that no change has mentioned.
    pub fn reserve(&self, id: &HostId) -> Result<Reserved> {
        Ok(match id {
            HostId::Number(raw) => Reserved { user: id_of(*raw)?, name: None },
            HostId::Name(name) => {
                self.accepts(name)?;
                let user = id_of(self.store.reserve_number(name)?)?;
                Reserved { user, name: Some((Arc::clone(&self.store), Arc::clone(name))) }
            }
        })
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

    /// Ids in the order of `ids`; `numbers` finds the numbers of names.
    fn resolve<I: Id>(
        &self,
        ids: Vec<&HostId>,
        numbers: impl FnOnce(&[&str]) -> Result<Vec<Option<u64>>>,
    ) -> Result<Vec<I>> {
        let mut names = Vec::new();
        for id in &ids {
            if let HostId::Name(name) = id {
                self.accepts(name)?;
                names.push(&**name);
            }
        }
        let mut found = if names.is_empty() { Vec::new() } else { numbers(&names)? }.into_iter();
        ids.into_iter()
            .map(|id| match id {
                HostId::Number(raw) => id_of(*raw),
                HostId::Name(_) => found.next().ok_or_else(missing)?.map_or(Ok(I::UNKNOWN), id_of),
            })
            .collect()
    }

    fn accepts(&self, name: &str) -> Result<()> {
        if self.config.ids.accept == AcceptedIds::Any {
            return Ok(());
        }
        let detail = format_args!(
            "an id is a whole number from 1 to 9223372036854775807, not {name:?}: ids.accept is \"numbers\""
        );
        Err(Error::refused(Code::InvalidId, detail))
    }
}

fn id_of<I: Id>(raw: u64) -> Result<I> {
    I::of(raw).map_err(|_| Error::Corrupt("the id 0".to_owned()))
}

fn missing() -> Error {
    Error::Corrupt("the store returned too few numbers of names".to_owned())
}

//! Ids of the application, to ids in the store and back.

use super::read::Read;
use model::error::{Error, Result};
use model::{ContentId, HostId, HostIds, Id, Mentions, UserId};

impl Read<'_> {
    /// The id in the store; [`Id::UNKNOWN`] for a name that no change has mentioned. If the server accepts only numbers,
    /// such a name is refused with `invalid_id`, but not for a viewer, who must not learn which names exist.
    pub fn find<I: Id>(&self, id: &HostId) -> Result<I> {
        let found = self.known(id)?;
        if found == I::UNKNOWN && self.viewer.is_none() { self.feed.accepts(id).map(|()| found) } else { Ok(found) }
    }

    /// The id in the store of an id; one that no row has, if it is a name without a number, or a user who is being erased: no
    /// read shows anything of that user.
    pub(crate) fn known<I: Id>(&self, id: &HostId) -> Result<I> {
        Ok(self.unless_erasing(self.number_of(id)?))
    }

    fn unless_erasing<I: Id>(&self, id: I) -> I {
        let is_erasing = I::IS_USER && UserId::new(id.into()).is_ok_and(|user| self.feed.store.is_erasing(user));
        if is_erasing { I::UNKNOWN } else { id }
    }

    /// The id in the store of an id, also of a user who is being erased.
    pub(crate) fn number_of<I: Id>(&self, id: &HostId) -> Result<I> {
        match id {
            HostId::Number(raw) => id_of(*raw),
            HostId::Name(name) => {
                self.feed.store.numbers(&[name], self.tier)?.pop().flatten().map_or(Ok(I::UNKNOWN), id_of)
            }
        }
    }

    /// The ids in the store of several ids, in their order.
    pub fn find_all<'i, I: Id>(&self, ids: impl IntoIterator<Item = &'i HostId>) -> Result<Vec<I>> {
        let ids: Vec<_> = ids.into_iter().collect();
        let found = self.look_up(&ids)?;
        let unknown = |(_, found): &(&HostId, &I)| **found == I::UNKNOWN && self.viewer.is_none();
        for (id, _) in ids.into_iter().zip(&found).filter(unknown) {
            self.feed.accepts(id)?;
        }
        Ok(found)
    }

    /// The ids in the store of several ids, in their order; of a name without a number, one that no row has.
    pub(crate) fn look_up<I: Id>(&self, ids: &[&HostId]) -> Result<Vec<I>> {
        let found = resolve(ids, |names| self.feed.store.numbers(names, self.tier))?;
        Ok(found.into_iter().map(|id| self.unless_erasing(id)).collect())
    }

    /// The id in the store of an item; `content_not_found` for a name that no change has mentioned.
    pub fn find_content(&self, id: &HostId) -> Result<ContentId> {
        self.find(id).and_then(|id| if id == ContentId::UNKNOWN { Err(Error::content_not_found()) } else { Ok(id) })
    }

    /// The id in the store of an item as of [`Read::by_id`]; `content_not_found` for any other. The item is no part of the
    /// answer, so nobody counts it.
    pub fn find_live(&self, id: &HostId) -> Result<ContentId> {
        let id = self.find_content(id)?;
        self.counted(&|_| Ok(())).by_id(id)?.map(|_| id).ok_or_else(Error::content_not_found)
    }

    /// A value, with the ids that it mentions as the application wrote them.
    pub fn named<T: Mentions>(&self, value: T) -> Result<(T, HostIds)> {
        let ids = self.host_ids(&value)?;
        Ok((value, ids))
    }

    /// The ids that a value mentions, as the application wrote them.
    pub fn host_ids(&self, value: &(impl Mentions + ?Sized)) -> Result<HostIds> {
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
        let names = self.feed.store.names(&numbers, self.tier)?;
        Ok(HostIds::new(numbers.into_iter().zip(names).filter(|(_, name)| !name.is_empty()).collect()))
    }
}

/// Ids in the order of `ids`; `numbers` finds the numbers of names.
pub(crate) fn resolve<I: Id>(
    ids: &[&HostId],
    numbers: impl FnOnce(&[&str]) -> Result<Vec<Option<u64>>>,
) -> Result<Vec<I>> {
    let names: Vec<&str> = ids.iter().filter_map(|id| id.name()).map(|name| &**name).collect();
    let mut found = if names.is_empty() { Vec::new() } else { numbers(&names)? }.into_iter();
    ids.iter()
        .map(|id| match id {
            HostId::Number(raw) => id_of(*raw),
            HostId::Name(_) => found.next().ok_or_else(missing)?.map_or(Ok(I::UNKNOWN), id_of),
        })
        .collect()
}

pub(crate) fn id_of<I: Id>(raw: u64) -> Result<I> {
    I::of(raw).map_err(|_| Error::Corrupt("the id 0".to_owned()))
}

pub(crate) fn missing() -> Error {
    Error::Corrupt("the store returned too few numbers of names".to_owned())
}

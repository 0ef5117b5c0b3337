//! From ids in the store back to ids of the application.

use std::sync::Arc;

use crate::{
    Changed, Content, Effect, Entry, ExternalId, ExternalNoticeId, ItemView, MAX_ID, Notice, NoticeCursor, NoticeId,
    Page, Position, Relation, SharedContent, ShownId, UserId,
};

/// A value that mentions users or items by their ids in the store.
pub trait Mentions {
    /// Visits the ids, in any order; one may come more than once.
    fn mentions(&self, see: &mut impl FnMut(u64));
}

/// The ids that a value mentions, as the application wrote them.
#[derive(Debug, Default)]
pub struct ExternalIds(Vec<(u64, Arc<str>)>);

impl ExternalIds {
    /// From the names of their numbers, ascending.
    pub fn new(names: Vec<(u64, Arc<str>)>) -> Self {
        Self(names)
    }

    /// These ids, and the name of a place in a request that has no number.
    #[must_use]
    pub fn with_unknown(mut self, place: Option<&Position<ExternalId>>) -> Self {
        if let Some(ExternalId::Name(name)) = place.map(|place| &place.id) {
            // Above all others.
            self.0.push((UserId::UNKNOWN.get(), Arc::clone(name)));
        }
        self
    }

    /// The id of a user or an item. An end of all ids, which no user and no item has, becomes the
    /// greatest number, and so does a name that was erased with its user.
    pub fn of(&self, id: impl Into<u64>) -> ExternalId {
        let id = id.into();
        self.name(id).map_or(ExternalId::Number(id.min(MAX_ID)), |name| ExternalId::Name(Arc::clone(name)))
    }

    /// The id of the application for a number, for an answer.
    pub fn show(&self, id: impl Into<u64>) -> ShownId<'_> {
        let id = id.into();
        self.name(id).map_or(ShownId::Number(id.min(MAX_ID)), |name| ShownId::Name(name))
    }

    /// As [`ExternalIds::show`]; `None` for a name that was erased with its user.
    pub fn show_if_named(&self, id: impl Into<u64>) -> Option<ShownId<'_>> {
        let id = id.into();
        if id <= MAX_ID { Some(ShownId::Number(id)) } else { self.name(id).map(|name| ShownId::Name(name)) }
    }

    fn name(&self, id: u64) -> Option<&Arc<str>> {
        if id <= MAX_ID {
            return None;
        }
        let place = self.0.binary_search_by_key(&id, |(number, _)| *number).ok()?;
        self.0.get(place).map(|(_, name)| name)
    }

    /// A place in a list.
    pub fn place<I: Into<u64>>(&self, place: Position<I>) -> Position<ExternalId> {
        Position { at: place.at, id: self.of(place.id) }
    }

    /// A place in a list of notices.
    pub fn notice(&self, place: NoticeCursor) -> Position<ExternalNoticeId> {
        let NoticeId { kind, reaction, actor, item } = place.id;
        let id = NoticeId { kind, reaction, actor: self.of(actor), item: item.map(|item| self.of(item)) };
        Position { at: place.at, id }
    }

    /// A page, with each item turned into another.
    pub fn page<T, U, I: Into<u64>>(&self, page: Page<T, I>, f: impl FnMut(T) -> U) -> Page<U, ExternalId> {
        let place = |place: Option<Position<I>>| place.map(|place| self.place(place));
        Page { items: page.items.into_iter().map(f).collect(), next: place(page.next), prev: place(page.prev) }
    }
}

impl<I: Copy + Into<u64>> Mentions for Position<I> {
    fn mentions(&self, see: &mut impl FnMut(u64)) {
        see(self.id.into());
    }
}

impl Mentions for Changed {
    fn mentions(&self, see: &mut impl FnMut(u64)) {
        let Effect { user, target, item, .. } = &self.effect;
        see(user.get());
        target.iter().for_each(|target| see(target.get()));
        item.iter().for_each(|item| see(item.get()));
    }
}

impl Mentions for Entry {
    fn mentions(&self, see: &mut impl FnMut(u64)) {
        see(self.cursor.id.get());
        see(self.author.get());
    }
}

impl Mentions for u64 {
    fn mentions(&self, see: &mut impl FnMut(u64)) {
        see(*self);
    }
}

impl Mentions for UserId {
    fn mentions(&self, see: &mut impl FnMut(u64)) {
        see(self.get());
    }
}

impl Mentions for Content {
    fn mentions(&self, see: &mut impl FnMut(u64)) {
        self.entry().mentions(see);
        self.ref_id.iter().for_each(|id| see(id.get()));
        self.to.mentions(see);
        self.mentions.mentions(see);
    }
}

impl Mentions for SharedContent {
    fn mentions(&self, see: &mut impl FnMut(u64)) {
        (**self).mentions(see);
    }
}

impl Mentions for ItemView {
    /// Without the author of a list, whose summary has the id. None if a text with the ids is kept.
    fn mentions(&self, see: &mut impl FnMut(u64)) {
        if self.content.json.is_kept() {
            return;
        }
        let Content { id, author, ref_id, to, mentions, .. } = &**self.content;
        see(id.get());
        ref_id.iter().for_each(|id| see(id.get()));
        to.mentions(see);
        mentions.mentions(see);
        if self.author.is_none() {
            see(author.get());
        }
    }
}

impl Mentions for NoticeCursor {
    fn mentions(&self, see: &mut impl FnMut(u64)) {
        see(self.id.actor.get());
        self.id.item.iter().for_each(|item| see(item.get()));
    }
}

impl Mentions for Notice {
    fn mentions(&self, see: &mut impl FnMut(u64)) {
        self.place.mentions(see);
        self.on.iter().for_each(|item| see(item.get()));
    }
}

impl Mentions for Relation {
    fn mentions(&self, see: &mut impl FnMut(u64)) {
        see(self.user.get());
        see(self.target.get());
    }
}

impl<T: Mentions, I: Copy + Into<u64>> Mentions for Page<T, I> {
    fn mentions(&self, see: &mut impl FnMut(u64)) {
        self.items.mentions(see);
        [self.next, self.prev].as_slice().mentions(see);
    }
}

impl<T: Mentions> Mentions for [T] {
    fn mentions(&self, see: &mut impl FnMut(u64)) {
        self.iter().for_each(|one| one.mentions(see));
    }
}

impl<T: Mentions> Mentions for Vec<T> {
    fn mentions(&self, see: &mut impl FnMut(u64)) {
        self.as_slice().mentions(see);
    }
}

impl<A: Mentions, B: Mentions> Mentions for (A, B) {
    fn mentions(&self, see: &mut impl FnMut(u64)) {
        self.0.mentions(see);
        self.1.mentions(see);
    }
}

impl<T: Mentions> Mentions for Option<T> {
    fn mentions(&self, see: &mut impl FnMut(u64)) {
        self.iter().for_each(|one| one.mentions(see));
    }
}

impl<T: Mentions + ?Sized> Mentions for Arc<T> {
    fn mentions(&self, see: &mut impl FnMut(u64)) {
        (**self).mentions(see);
    }
}

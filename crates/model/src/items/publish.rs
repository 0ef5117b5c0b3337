//! Publishes.

use crate::{Content, Effect, EffectKind, Event, EventKind};

/// A publish, validated and with id and time filled in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Publish {
    /// The item.
    pub content: Content,
    /// Whether the caller gave the time. A repeat without a time matches an item with any time.
    pub time_given: bool,
    /// Whether the application gave the audience. Otherwise it is the default of the author.
    pub audience_given: bool,
    /// Whether the server made the id for this publish, and has seen that no item has it.
    pub id_made: bool,
    /// The event that is written with the item, which it gets then; several may share that of a gap.
    pub event: Option<Event>,
}

impl Publish {
    /// Its event in the feed of changes, if it has no event of its own.
    pub fn effect(&self) -> Option<Effect> {
        let Content { author, id, kind, .. } = &self.content;
        let shares = self.event.as_ref().is_some_and(|event| event.kind == EventKind::Gap);
        shares.then(|| Effect::on(EffectKind::Published, *author).item(*id).named(kind.as_str()))
    }

    /// Whether this repeats the publish that made `there`, a live item with the same id.
    pub fn repeats(&self, there: &Content) -> bool {
        there.fingerprint == self.content.fingerprint
            && (!self.time_given || there.published_at == self.content.published_at)
            && (!self.audience_given || there.audience == self.content.audience)
    }
}

//! A publish: a new item with its id, its time and its defaults.

use super::fingerprint::fingerprint;
use crate::{Content, ContentId, Effect, EffectKind, Event, EventKind, NewContent, UserId};

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

impl NewContent {
    /// The publish, with defaults for omitted fields except the audience. A missing time or id is set later, when the order
    /// is decided. `next` returns the numbers of [`Self::ids`] one by one. Returns `None` if there are too few.
    pub fn publish(self, mut next: impl FnMut() -> Option<ContentId>) -> Option<Publish> {
        let id_made = self.content_id.is_none();
        let id = if id_made { ContentId::MIN } else { next()? };
        let author = UserId::new(next()?.get()).ok()?;
        let ref_id = if self.ref_id.is_some() { Some(next()?) } else { None };
        let source = |next: ContentId| UserId::new(next.get()).ok();
        let to = (0..self.to.len()).map(|_| source(next()?)).collect::<Option<_>>()?;
        let mentions = (0..self.mentions.len()).map(|_| source(next()?)).collect::<Option<_>>()?;
        let (time_given, audience_given) = (self.published_at.is_some(), self.audience.is_some());
        let (published_at, broadcast) = (self.published_at.map_or(0, |time| time.0), self.broadcast);
        let kind = self.kind.name().to_owned();
        let plain = Content::new(id, author, published_at, kind, self.into_plain());
        let mut content = Content { ref_id, broadcast, to, mentions, ..plain };
        content.fingerprint = fingerprint(&content);
        Some(Publish { content, time_given, audience_given, id_made, event: None })
    }
}

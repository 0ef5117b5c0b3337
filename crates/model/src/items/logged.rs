//! The rows of the log of events.

use crate::{Changed, Effect, EffectKind, Event, EventKind, Millis, UserId};

/// A row of the log of events.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Logged {
    /// An event, which streams get.
    Event(Event),
    /// An effect that is no event.
    Effect {
        /// The change.
        changed: Changed,
        /// As [`Event::top`].
        top: Millis,
    },
}

impl Logged {
    /// The number of the row.
    pub fn number(&self) -> u64 {
        match self {
            Self::Event(event) => event.number,
            Self::Effect { changed, .. } => changed.number,
        }
    }

    /// The time of the number, and the latest time up to it: [`Event::logged`] and [`Event::top`].
    pub fn times(&self) -> (Millis, Millis) {
        match self {
            Self::Event(event) => (event.logged, event.top),
            Self::Effect { changed, top } => (changed.at, *top),
        }
    }

    /// The event; `None` if this is an effect.
    pub fn event(self) -> Option<Event> {
        match self {
            Self::Event(event) => Some(event),
            Self::Effect { .. } => None,
        }
    }

    /// An event in place of this row.
    pub fn replaced_by(&self, kind: EventKind) -> Event {
        let (logged, top) = self.times();
        Event::new(self.number(), kind, false, logged, top)
    }

    /// Whether it names a user.
    pub fn names(&self, user: UserId) -> bool {
        match self {
            Self::Event(event) => event.names(user),
            Self::Effect { changed, .. } => changed.effect.names(user),
        }
    }

    /// The row as a change of the feed of changes, with the names of kinds by their numbers. `None` for gaps, marks and
    /// suspensions: they have effects, too, or tell nothing.
    pub fn told(self, kinds: &[String]) -> Option<Changed> {
        let event = match self {
            Self::Event(event) => event,
            Self::Effect { changed, .. } => return Some(changed),
        };
        let kind = match event.kind {
            EventKind::Publish => EffectKind::Published,
            EventKind::Edit => EffectKind::Edited,
            EventKind::Delete => EffectKind::Deleted,
            EventKind::Restore => EffectKind::Restored,
            EventKind::TakenOff => EffectKind::TakenOff,
            EventKind::Mark | EventKind::Gap | EventKind::Suspension => return None,
        };
        let mut effect = Effect::on(kind, event.entry.author).item(event.entry.cursor.id);
        effect.name = kinds.get(usize::from(event.entry.kind.0)).map(|name| name.as_str().into());
        if kind == EffectKind::TakenOff {
            effect.target = event.paths().next();
        }
        Some(Changed { number: event.number, at: event.logged, effect })
    }
}

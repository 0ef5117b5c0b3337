//! Lines of an import.

use fastrand::Rng;
use feed::Line;
use model::{Barrier, HostId, ListSettings, Millis, Position, RuleDraft, UserSettings};

use super::seed::pick;

/// What lines are made of.
pub(crate) struct Parts {
    pub(crate) user: HostId,
    pub(crate) other: HostId,
    pub(crate) since: Option<Millis>,
    pub(crate) place: Position<HostId>,
    pub(crate) list: String,
    pub(crate) settings: UserSettings,
    pub(crate) rule: Option<RuleDraft>,
}

/// A line of any kind. Suspensions are rare, so that most items are shown.
pub(crate) fn line(random: &mut Rng, parts: Parts) -> Line {
    let Parts { user, other, since, place, list, settings, rule } = parts;
    match random.u8(..17) {
        0..4 => Line::Barrier { user, target: other, barrier: pick(random, &Barrier::ALL), since },
        4..7 => Line::Request { user, target: other, since, rule },
        7 | 8 => Line::List { user, list, settings: ListSettings { title: None, exclusive: random.bool() } },
        9..12 => Line::Member { user, list, source: other, since, rule },
        12 => Line::Marker { user, place, list: None },
        13 => Line::Marker { user, place, list: Some(list) },
        14 => Line::Settings { user, settings },
        15 => Line::Deletion { item: place.id, since, purged: random.u8(..4) == 0 },
        _ => Line::Suspension { user, since },
    }
}

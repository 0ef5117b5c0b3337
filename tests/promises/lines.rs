//! Lines of an import.

use fastrand::Rng;
use feed::{
    ChangeMembers, Command, DeleteItem, ImportFollows, ImportLine, MoveMarker, PutList, PutSettings, SetRestriction,
    SetSuspension, Visibility,
};
use model::{HostId, ListSettings, Millis, Position, Restriction, RuleDraft, UserSettings};

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
pub(crate) fn line(random: &mut Rng, parts: Parts) -> Command {
    let Parts { user, other, since, place, list, settings, rule } = parts;
    let (visibility, add, remove) = (Visibility::Application, vec![other.clone()], Vec::new());
    let (change, since): (Command, _) = match random.u8(..17) {
        0..4 => {
            let restriction = pick(random, &Restriction::ALL);
            (SetRestriction { user, target: other, restriction, raised: true }.into(), since)
        }
        4..7 => {
            let request = ImportFollows::one(user, other, since, rule.unwrap_or_default());
            return ImportFollows { awaited: true, ..request }.into();
        }
        7 | 8 => {
            let settings = ListSettings { title: None, exclusive: random.bool() };
            (PutList { user, list, settings }.into(), None)
        }
        9..12 => (ChangeMembers { user, list, add, remove, rule }.into(), since),
        12 => (MoveMarker { user, place, visibility, list: None }.into(), None),
        13 => (MoveMarker { user, place, visibility, list: Some(list) }.into(), None),
        14 => (PutSettings { user, settings }.into(), None),
        15 => (DeleteItem { item: place.id, purge: random.u8(..4) == 0 }.into(), since),
        _ => (SetSuspension { user, suspended: true }.into(), since),
    };
    ImportLine { change: Box::new(change), since }.into()
}

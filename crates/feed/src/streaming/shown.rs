//! What a reader is shown: its sources, and authors who are silenced.

use model::UserId;

/// What a reader is shown.
#[derive(Debug, Default)]
pub(super) struct Shown {
    /// Sources whose items it is shown, ascending.
    pub(super) sources: Vec<UserId>,
    /// Authors who were silenced since the reader has streams, ascending: their items may wait in a queue because of a
    /// further path.
    pub(super) silenced: Vec<UserId>,
}

/// A change of what a reader is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ShownChange {
    /// The source that it concerns.
    pub source: UserId,
    /// Whether the source is shown now.
    pub is_shown: bool,
    /// Whether what the source wrote is not shown on any path now.
    pub is_silenced: bool,
}

/// Adds a user to an ascending list, or removes the user.
pub(super) fn set(users: &mut Vec<UserId>, user: UserId, is_there: bool) {
    match (users.binary_search(&user), is_there) {
        (Ok(place), false) => drop(users.remove(place)),
        (Err(place), true) => users.insert(place, user),
        _ => {}
    }
}

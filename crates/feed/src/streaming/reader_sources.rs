//! The sources of a reader, and the authors who are silenced.

use std::collections::BTreeMap;

use model::{KindId, Rule, ShownSources, UserId};

/// The sources of a reader, and the authors who are silenced.
#[derive(Debug, Default)]
pub(super) struct Shown {
    /// Sources whose items it is shown, ascending.
    pub(super) sources: Vec<UserId>,
    /// The rules of some of them.
    pub(super) rules: BTreeMap<UserId, Rule>,
    /// Authors who were silenced since the reader has streams, ascending: their items may wait in a queue because of a
    /// further path.
    pub(super) silenced: Vec<UserId>,
}

impl Shown {
    /// The sources that a reader without streams is shown.
    pub(super) fn of(sources: &ShownSources) -> Self {
        let rules = sources.rules().iter().copied().collect();
        Self { sources: sources.to_vec(), rules, silenced: Vec::new() }
    }

    /// Whether items of a kind are shown on a path.
    pub(super) fn admits(&self, source: UserId, kind: KindId) -> bool {
        let is_admitted = || self.rules.get(&source).is_none_or(|rule| rule.admits(kind));
        self.sources.binary_search(&source).is_ok() && (self.rules.is_empty() || is_admitted())
    }

    /// Applies a change.
    pub(super) fn apply(&mut self, change: &ShownChange) {
        set(&mut self.sources, change.source, change.is_shown);
        match change.rule {
            Some(rule) => drop(self.rules.insert(change.source, rule)),
            None => drop(self.rules.remove(&change.source)),
        }
        set(&mut self.silenced, change.source, change.is_silenced);
    }
}

/// A change of what a reader is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ShownChange {
    /// The source that it concerns.
    pub source: UserId,
    /// Whether the source is shown now.
    pub is_shown: bool,
    /// The rule of the source; `None` if all kinds are shown.
    pub rule: Option<Rule>,
    /// Whether what the source wrote is not shown on any path now.
    pub is_silenced: bool,
}

/// Adds a user to an ascending list, or removes the user.
fn set(users: &mut Vec<UserId>, user: UserId, is_there: bool) {
    match (users.binary_search(&user), is_there) {
        (Ok(place), false) => drop(users.remove(place)),
        (Err(place), true) => users.insert(place, user),
        _ => {}
    }
}

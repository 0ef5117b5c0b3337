//! The kinds of reactions: likes, favorites and others that the application names.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

/// Most kinds of reactions.
pub const MAX_REACTION_KINDS: usize = 32;
/// Longest name of a kind of reactions, bytes.
pub const MAX_REACTION_NAME: usize = 32;

/// A kind of reactions, as its place among [`ReactionKinds`]. A user has each at most once for an item.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ReactionKind(u8);

impl ReactionKind {
    /// The first kind: `like`, unless the application names others.
    pub const LIKE: Self = Self(0);
    /// The second kind: `favorite`, unless the application names others.
    pub const FAVORITE: Self = Self(1);

    /// The place of its name.
    pub fn place(self) -> usize {
        usize::from(self.0)
    }

    /// The kind at a place.
    pub(crate) fn at(place: usize) -> Self {
        Self(place as u8)
    }
}

/// The names of the kinds of reactions that a server takes and shows, in the order of the setting `reactions.kinds`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "Vec<String>", into = "Vec<String>")]
pub struct ReactionKinds(Arc<[String]>);

impl ReactionKinds {
    /// 1 to 32 different names; else what is wrong. A name has 1 to 32 bytes without control characters and "/", so that
    /// it can be a part of a path; for the same reason it is neither "." nor "..".
    pub fn new(names: Vec<String>) -> Result<Self, String> {
        if names.is_empty() || names.len() > MAX_REACTION_KINDS {
            return Err(format!("expected 1 to {MAX_REACTION_KINDS} names, not {}", names.len()));
        }
        for (place, name) in names.iter().enumerate() {
            let is_part = !name.contains(|c: char| c.is_control() || c == '/') && name != "." && name != "..";
            if !is_part || !(1..=MAX_REACTION_NAME).contains(&name.len()) {
                return Err(format!(
                    "expected names of 1 to {MAX_REACTION_NAME} bytes without control characters and \"/\", not {name:?}"
                ));
            }
            if names[..place].contains(name) {
                return Err(format!("{name:?} is there twice"));
            }
        }
        Ok(Self(names.into()))
    }

    /// The kind with this name.
    pub fn named(&self, name: &str) -> Option<ReactionKind> {
        self.0.iter().position(|known| known == name).map(ReactionKind::at)
    }

    /// The name of one of the kinds.
    pub fn name(&self, kind: ReactionKind) -> &str {
        self.0.get(kind.place()).map_or("", String::as_str)
    }

    /// All kinds with their names.
    pub fn iter(&self) -> impl Iterator<Item = (ReactionKind, &str)> {
        self.0.iter().enumerate().map(|(place, name)| (ReactionKind::at(place), name.as_str()))
    }

    /// Those whose names `keeps` accepts.
    #[must_use]
    pub fn only(&self, keeps: impl Fn(&str) -> bool) -> Self {
        Self(self.0.iter().filter(|name| keeps(name)).cloned().collect())
    }
}

impl Default for ReactionKinds {
    fn default() -> Self {
        Self(["like", "favorite"].map(str::to_owned).into())
    }
}

impl TryFrom<Vec<String>> for ReactionKinds {
    type Error = String;
    fn try_from(names: Vec<String>) -> Result<Self, String> {
        Self::new(names)
    }
}

impl From<ReactionKinds> for Vec<String> {
    fn from(kinds: ReactionKinds) -> Self {
        kinds.0.to_vec()
    }
}

/// The kinds of reactions of one user to one item.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Reactions(u32);

impl Reactions {
    /// Whether the user has this reaction.
    pub fn has(self, kind: ReactionKind) -> bool {
        self.0 >> kind.place() & 1 == 1
    }

    /// Adds a reaction.
    pub fn add(&mut self, kind: ReactionKind) {
        self.0 |= 1 << kind.place();
    }

    /// The kinds, in their order.
    pub fn iter(self) -> impl Iterator<Item = ReactionKind> {
        (0..MAX_REACTION_KINDS).map(ReactionKind::at).filter(move |kind| self.has(*kind))
    }
}

impl FromIterator<ReactionKind> for Reactions {
    fn from_iter<I: IntoIterator<Item = ReactionKind>>(kinds: I) -> Self {
        let mut reactions = Self::default();
        kinds.into_iter().for_each(|kind| reactions.add(kind));
        reactions
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kinds(names: &[&str]) -> Result<ReactionKinds, String> {
        ReactionKinds::new(names.iter().map(|name| (*name).to_owned()).collect())
    }

    #[test]
    fn names_that_can_be_part_of_a_path_are_taken_once_each() {
        let long = "a".repeat(32);
        for good in [&["like"][..], &["👏🏽", "+1", "a b", "…", "Like", "like"], &[&long]] {
            assert!(kinds(good).is_ok(), "{good:?}");
        }
        let (longer, many) = ("é".repeat(17), (0..33).map(|n| n.to_string()).collect::<Vec<_>>());
        for bad in [&[][..], &[""], &["a/b"], &["a\n"], &["."], &[".."], &["a", "b", "a"], &[&longer]] {
            assert!(kinds(bad).is_err(), "{bad:?}");
        }
        assert!(ReactionKinds::new(many[..32].to_vec()).is_ok() && ReactionKinds::new(many).is_err());
        let reactions: Reactions = [31, 0].into_iter().map(ReactionKind::at).collect();
        assert_eq!(reactions.iter().map(ReactionKind::place).collect::<Vec<_>>(), [0, 31]);
    }
}

//! What was changed, and the answers that follow from it. Nothing here is fast or clever.

use std::collections::{BTreeMap, BTreeSet};

/// A published item.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Item {
    pub(crate) id: u64,
    pub(crate) author: u64,
    pub(crate) at: u64,
    pub(crate) text: String,
}

/// One call that changes something, made whole or not at all.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Change {
    /// One or several new items.
    Publish(Vec<Item>),
    /// A new text.
    Edit { id: u64, text: String },
    /// The end of an item.
    Delete(u64),
    /// Whether a user likes an item.
    Like { id: u64, user: u64, on: bool },
    /// The same item again.
    Restore(u64),
    /// Whom a user follows from now on, and whom no more.
    Relate { user: u64, follow: Vec<u64>, unfollow: Vec<u64> },
    /// How far a user has read: a time and an id.
    Mark { user: u64, place: (u64, u64) },
    /// Whether a user wants to see nothing of another.
    Mute { user: u64, target: u64, muted: bool },
    /// Whether a user lets another see nothing of itself.
    Hide { user: u64, target: u64, hidden: bool },
    /// What a user is called from now on.
    Profile { user: u64, nickname: String },
}

/// The state after some changes.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Model {
    pub(crate) items: BTreeMap<u64, Item>,
    pub(crate) deleted: BTreeMap<u64, Item>,
    /// User and target.
    pub(crate) follows: BTreeSet<(u64, u64)>,
    pub(crate) markers: BTreeMap<u64, (u64, u64)>,
    /// Item and user.
    pub(crate) likes: BTreeSet<(u64, u64)>,
    /// User and target.
    pub(crate) mutes: BTreeSet<(u64, u64)>,
    /// User and target.
    pub(crate) hides: BTreeSet<(u64, u64)>,
    pub(crate) nicknames: BTreeMap<u64, String>,
}

impl Model {
    /// What an item names: a topic with all, and one with some.
    pub(crate) fn topics(id: u64) -> [String; 2] {
        ["all".to_owned(), format!("part-{}", id / 20)]
    }

    /// All items that name a topic, newest first.
    pub(crate) fn topic(&self, topic: &str) -> Vec<u64> {
        let naming = self.items.values().filter(|item| Self::topics(item.id).iter().any(|name| name == topic));
        let mut places: Vec<_> = naming.map(|item| (item.at, item.id)).collect();
        places.sort_unstable_by(|a, b| b.cmp(a));
        places.into_iter().map(|(_, id)| id).collect()
    }

    pub(crate) fn apply(&mut self, change: &Change) {
        match change {
            Change::Publish(items) => self.items.extend(items.iter().map(|item| (item.id, item.clone()))),
            Change::Edit { id, text } => self.items.get_mut(id).expect("live").text.clone_from(text),
            Change::Like { id, user, on: true } => drop(self.likes.insert((*id, *user))),
            Change::Like { id, user, on: false } => drop(self.likes.remove(&(*id, *user))),
            Change::Delete(id) => self.deleted.extend(self.items.remove_entry(id)),
            Change::Restore(id) => self.items.extend(self.deleted.remove_entry(id)),
            Change::Relate { user, follow, unfollow } => {
                self.follows.extend(follow.iter().map(|target| (*user, *target)));
                self.follows.retain(|(follower, target)| follower != user || !unfollow.contains(target));
            }
            Change::Mark { user, place } => {
                let marker = self.markers.entry(*user).or_insert(*place);
                *marker = *place.max(marker);
            }
            Change::Mute { user, target, muted } => set(&mut self.mutes, (*user, *target), *muted),
            Change::Hide { user, target, hidden } => set(&mut self.hides, (*user, *target), *hidden),
            Change::Profile { user, nickname } => drop(self.nicknames.insert(*user, nickname.clone())),
        }
    }

    /// The ids of a home timeline, newest first.
    pub(crate) fn timeline(&self, user: u64) -> Vec<u64> {
        self.listed(|author| {
            self.follows.contains(&(user, author))
                && !self.mutes.contains(&(user, author))
                && !self.hides.contains(&(author, user))
        })
    }

    /// How many items of a home timeline are newer than the user's marker.
    pub(crate) fn unread(&self, user: u64) -> usize {
        let newer = |id: &u64| self.markers.get(&user).is_none_or(|marker| (self.items[id].at, *id) > *marker);
        self.timeline(user).into_iter().filter(newer).count()
    }

    /// The ids of a user's own page, newest first.
    pub(crate) fn own_page(&self, user: u64) -> Vec<u64> {
        self.listed(|author| author == user)
    }

    /// Whom a user follows, ascending.
    pub(crate) fn following(&self, user: u64) -> BTreeSet<u64> {
        self.follows.iter().filter(|(follower, _)| *follower == user).map(|(_, target)| *target).collect()
    }

    /// Who likes an item, ascending.
    pub(crate) fn likers(&self, id: u64) -> BTreeSet<u64> {
        self.likes.iter().filter(|(item, _)| *item == id).map(|(_, user)| *user).collect()
    }

    /// The ids of the items that a user likes, newest first.
    pub(crate) fn liked(&self, user: u64) -> Vec<u64> {
        self.newest_first(|item| self.likes.contains(&(item.id, user)))
    }

    /// All who follow, are followed, publish, like or have a name.
    pub(crate) fn users(&self) -> BTreeSet<u64> {
        let related = self.follows.iter().flat_map(|(user, target)| [*user, *target]);
        let related = related.chain(self.likes.iter().map(|(_, user)| *user));
        let others = self.items.values().map(|item| item.author).chain(self.nicknames.keys().copied());
        related.chain(others).collect()
    }

    fn listed(&self, shown: impl Fn(u64) -> bool) -> Vec<u64> {
        self.newest_first(|item| shown(item.author))
    }

    fn newest_first(&self, shown: impl Fn(&Item) -> bool) -> Vec<u64> {
        let mut items: Vec<_> = self.items.values().filter(|item| shown(item)).map(|item| (item.at, item.id)).collect();
        items.sort_unstable_by(|a, b| b.cmp(a));
        items.into_iter().map(|(_, id)| id).collect()
    }
}

fn set(pairs: &mut BTreeSet<(u64, u64)>, pair: (u64, u64), stands: bool) {
    if stands {
        pairs.insert(pair);
    } else {
        pairs.remove(&pair);
    }
}

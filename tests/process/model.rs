//! The changes that the tests make through the API, and the effect of each on the model.

use std::collections::{BTreeMap, BTreeSet};

use model::{Cursor, Entry, Millis, NamedRule, ReactionKind, UserCursor, UserId, UserSettings};
use serde_json::Value;

use crate::plain::{self, Body, Model, item, user};

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
    /// The delete of an item.
    Delete(u64),
    /// Whether a user likes an item.
    Like { id: u64, user: u64, on: bool },
    /// The restore of an item.
    Restore(u64),
    /// Users to follow and to unfollow.
    Relate { user: u64, follow: Vec<u64>, unfollow: Vec<u64> },
    /// How far a user has read: a time and an id.
    Mark { user: u64, place: (u64, u64) },
    /// Whether a user mutes another.
    Mute { user: u64, target: u64, muted: bool },
    /// Whether a user hides from another.
    Hide { user: u64, target: u64, hidden: bool },
    /// Whether a user blocks another.
    Block { user: u64, target: u64, blocked: bool },
    /// The rule of a follow.
    Rule { user: u64, target: u64, rule: NamedRule },
    /// Whether a user approves followers.
    Approve { user: u64, approves: bool },
    /// The answer of a user to a request.
    Answer { user: u64, from: u64, approved: bool },
    /// Whether a user is suspended.
    Suspend { user: u64, suspended: bool },
    /// An item that is taken off a path.
    TakeOff { id: u64, source: u64 },
    /// A list, exclusive or not; `None` for its delete.
    List { user: u64, name: &'static str, exclusive: Option<bool> },
    /// A member of a list with its rule; `None` for one that is taken out.
    Member { user: u64, name: &'static str, source: u64, rule: Option<NamedRule> },
    /// The record of a path: the body of its PUT, null for a DELETE, and the fields that its GET then shows.
    Record { path: String, body: Value, shown: Value },
}

/// Kinds of content.
const KINDS: [&str; 7] = ["post", "video", "poll", "note", "photo", "event", "story"];

impl Item {
    /// The item's topics: one that all items have, and one that some have.
    pub(crate) fn topics(&self) -> Vec<String> {
        vec!["all".to_owned(), format!("part-{}", self.id / 20)]
    }

    /// The item's kind.
    pub(crate) fn kind(&self) -> &'static str {
        KINDS[self.id as usize % KINDS.len()]
    }

    /// The further source of some items.
    pub(crate) fn to(&self) -> Option<u64> {
        Some(1 + self.id % 5).filter(|source| self.id.is_multiple_of(6) && *source != self.author)
    }

    fn published(&self) -> plain::Item {
        let (topics, kind, to) = (self.topics(), self.kind(), self.to().map(user).into_iter().collect());
        let body = Body { text: Some(self.text.clone()), to, topics, kind, ..Body::plain(user(self.author)) };
        plain::Item::new(item(self.id), self.at, body)
    }
}

impl Model {
    pub(crate) fn apply(&mut self, change: &Change) {
        match change {
            Change::Publish(items) => self.items.extend(items.iter().map(Item::published)),
            Change::Edit { id, text } => self.live(item(*id)).expect("live").shown.text = Some(text.clone()),
            Change::Delete(id) => self.live(item(*id)).expect("live").deleted = true,
            Change::Restore(id) => {
                self.items.iter_mut().find(|old| old.id == item(*id)).expect("published").deleted = false;
            }
            Change::Like { id, user: by, on } => {
                set(&mut self.reactions, (item(*id), ReactionKind::LIKE, user(*by)), *on);
            }
            Change::Relate { user: by, follow, unfollow } => {
                follow.iter().for_each(|target| self.follow(user(*by), user(*target)));
                unfollow.iter().for_each(|target| self.part(user(*by), user(*target)));
            }
            Change::Mark { user: by, place: (at, id) } => {
                let place = Cursor { at: *at, id: item(*id) };
                let marker = self.markers.entry(user(*by)).or_insert(place);
                *marker = place.max(*marker);
            }
            Change::Mute { user: by, target, muted } => set(&mut self.mutes, (user(*by), user(*target)), *muted),
            Change::Hide { user: by, target, hidden } => set(&mut self.hides, (user(*by), user(*target)), *hidden),
            Change::Block { user: by, target, blocked } => {
                let (by, target) = (user(*by), user(*target));
                set(&mut self.blocks, (by, target), *blocked);
                if *blocked {
                    self.part(by, target);
                    self.part(target, by);
                }
            }
            Change::Rule { user: by, target, rule } => {
                self.rules.insert((user(*by), user(*target)), rule.clone());
            }
            Change::Approve { user: by, approves } => {
                let settings = UserSettings { approve_followers: *approves, ..self.settings_of(user(*by)) };
                self.settings.insert(user(*by), settings);
            }
            Change::Answer { user: by, from, approved } => {
                let pair = (user(*from), user(*by));
                self.requests.remove(&pair);
                set(&mut self.follows, pair, *approved);
            }
            Change::Suspend { user: by, suspended } => set(&mut self.suspended, user(*by), *suspended),
            Change::TakeOff { id, source } => {
                self.live(item(*id)).expect("live").off.insert(user(*source));
            }
            Change::List { user: by, name, exclusive } => {
                let key = (user(*by), (*name).to_owned());
                match exclusive {
                    Some(exclusive) => self.lists.entry(key).or_default().exclusive = *exclusive,
                    None => drop(self.lists.remove(&key)),
                }
            }
            Change::Member { user: by, name, source, rule } => {
                let list = self.lists.get_mut(&(user(*by), (*name).to_owned())).expect("a list");
                let source = user(*source);
                set(&mut list.members, source, rule.is_some());
                list.rules.remove(&source);
                list.rules.extend(rule.clone().map(|rule| (source, rule)));
            }
            Change::Record { path, shown, .. } => drop(self.records.insert(path.clone(), shown.clone())),
        }
    }

    /// A follow, or a request for one.
    fn follow(&mut self, by: UserId, target: UserId) {
        if self.settings_of(target).approve_followers && !self.follows(by, target) {
            return set(&mut self.requests, (by, target), true);
        }
        self.requests.remove(&(by, target));
        set(&mut self.follows, (by, target), true);
    }

    /// The end of a follow or a request.
    fn part(&mut self, by: UserId, target: UserId) {
        self.follows.remove(&(by, target));
        self.requests.remove(&(by, target));
        self.rules.remove(&(by, target));
    }

    /// All users whom a change was about.
    pub(crate) fn users(&self) -> BTreeSet<UserId> {
        let pairs = self.follows.keys().chain(self.blocks.keys()).chain(self.requests.keys());
        let pairs = pairs.chain(self.mutes.keys()).chain(self.hides.keys());
        let related = pairs.flat_map(|(user, target)| [*user, *target]).chain(self.lists.keys().map(|(user, _)| *user));
        let related = related.chain(self.reactions.keys().map(|(.., user)| *user));
        let alone = self.markers.keys().chain(self.settings.keys()).chain(self.suspended.keys());
        let authors = self.living().map(|item| item.body.author);
        related.chain(alone.copied()).chain(authors).collect()
    }

    pub(crate) fn living(&self) -> impl Iterator<Item = &plain::Item> {
        self.items.iter().filter(|item| !item.deleted)
    }
}

/// Adds or removes a fact. Its time does not matter here.
fn set<K: Ord>(standing: &mut BTreeMap<K, Millis>, key: K, stands: bool) {
    if stands {
        standing.insert(key, 0);
    } else {
        standing.remove(&key);
    }
}

/// The ids of a list of content.
pub(crate) fn ids(entries: &[Entry]) -> Vec<u64> {
    entries.iter().map(|entry| entry.cursor.id.get()).collect()
}

/// The ids of a list of users, ascending.
pub(crate) fn members(members: &[UserCursor]) -> BTreeSet<u64> {
    members.iter().map(|place| place.id.get()).collect()
}

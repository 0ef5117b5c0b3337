//! Changes of many inboxes, as they come: a chain of steps for each.

use std::collections::HashMap;
use std::num::NonZeroU32;

use foldhash::fast::RandomState;

use crate::rows::inbox::merge::{Change, Step};
use model::{Cursor, UserId};

/// Steps that were added last and are looked through for another use of the same: more threads that deliver at once
/// share fewer steps, and take more memory.
const RECENT: usize = 4;
/// Room that a list of steps gets at first.
const LEAST_ROOM: usize = 16;

type ByUser<T> = HashMap<u64, T, RandomState>;

/// The last step made for a user.
#[derive(Debug, Clone, Copy)]
struct Last {
    place: u32,
    /// How many steps there are.
    count: u32,
}

/// A step of a user, and the one made before it for the same user.
#[derive(Debug)]
struct Node {
    /// The place of the step in the set.
    step: u32,
    before: Option<NonZeroU32>,
}

/// Changes of the users of one part.
#[derive(Debug, Default)]
pub(super) struct Set {
    last: ByUser<Last>,
    nodes: Vec<Node>,
    /// An item goes to many users: its step is here once, or a few times.
    steps: Vec<Step>,
    floors: ByUser<Cursor>,
}

impl Set {
    /// Returns how many steps of the user there are now.
    pub(super) fn add(&mut self, user: UserId, step: Step) -> u32 {
        let last = self.last.entry(user.get()).or_insert(Last { place: 0, count: 0 });
        let before = NonZeroU32::new(last.place);
        // Places count from 1.
        *last = Last { place: self.nodes.len() as u32 + 1, count: last.count + 1 };
        let count = last.count;
        let step = self.place(step);
        push(&mut self.nodes, Node { step, before });
        count
    }

    /// The place of a step, which is appended unless it is one of the last ones.
    fn place(&mut self, step: Step) -> u32 {
        let recent = self.steps.len().saturating_sub(RECENT);
        let known = self.steps.iter().skip(recent).position(|known| *known == step);
        if known.is_none() {
            push(&mut self.steps, step);
        }
        known.map_or(self.steps.len() - 1, |place| recent + place) as u32
    }

    /// Appends the steps of a user, the last one made first; returns the floor.
    pub(super) fn copy(&self, user: UserId, steps: &mut Vec<Step>) -> Option<Cursor> {
        let mut next = self.last.get(&user.get()).and_then(|last| NonZeroU32::new(last.place));
        while let Some(node) = next.and_then(|place| self.nodes.get(place.get() as usize - 1)) {
            steps.extend(self.steps.get(node.step as usize));
            next = node.before;
        }
        self.floors.get(&user.get()).copied()
    }

    /// Takes the change of a user out. The places of its steps are free only with the set.
    pub(super) fn take(&mut self, user: UserId) -> (Option<Cursor>, Vec<Step>) {
        let mut steps = Vec::new();
        let floor = self.copy(user, &mut steps);
        self.last.remove(&user.get());
        self.floors.remove(&user.get());
        (floor, steps)
    }

    /// Adds a change of a user; returns how many steps of the user there are now.
    pub(super) fn add_change(&mut self, user: UserId, change: Change) -> u32 {
        if let Some(floor) = change.floor {
            let present = self.floors.entry(user.get()).or_insert(floor);
            *present = floor.max(*present);
        }
        change.steps.into_iter().map(|step| self.add(user, step)).last().unwrap_or_default()
    }

    /// The users with a change, ascending.
    pub(super) fn users(&self) -> Vec<UserId> {
        let mut users: Vec<u64> = self.last.keys().chain(self.floors.keys()).copied().collect();
        users.sort_unstable();
        users.dedup();
        users.into_iter().filter_map(|raw| UserId::new(raw).ok()).collect()
    }

    /// The change of a user.
    pub(super) fn change(&self, user: UserId) -> Change {
        let mut steps = Vec::new();
        let floor = self.copy(user, &mut steps);
        Change::of(floor, steps)
    }

    /// Whether it takes no memory that could be given back.
    pub(super) fn is_empty(&self) -> bool {
        self.nodes.is_empty() && self.floors.is_empty()
    }

    /// Its memory, the room for more included.
    pub(super) fn bytes(&self) -> usize {
        size_of::<Step>() * self.steps.capacity()
            + size_of::<Node>() * self.nodes.capacity()
            + map_bytes(&self.last)
            + map_bytes(&self.floors)
    }
}

/// Appends with room for a quarter more at most: the room counts, and twice as much of it would be written half full.
fn push<T>(to: &mut Vec<T>, value: T) {
    if to.len() == to.capacity() {
        to.reserve_exact((to.len() / 4).max(LEAST_ROOM));
    }
    to.push(value);
}

/// The memory of a map: seven of eight places may be used, and each has a byte beside its entry.
fn map_bytes<T>(map: &ByUser<T>) -> usize {
    let places = map.capacity() + map.capacity().div_ceil(7);
    places * (size_of::<(u64, T)>() + 1)
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use model::{ContentId, Entry};

    pub(in super::super) fn user(raw: u64) -> UserId {
        UserId::new(raw).expect("in range")
    }

    pub(in super::super) fn step(at: u64, author: Option<u64>) -> Step {
        let cursor = Cursor { at, id: ContentId::MIN };
        match author {
            Some(author) => Step::Add(Entry::plain(cursor, user(author))),
            None => Step::Remove((cursor, user(7))),
        }
    }

    /// Two threads deliver two items to the same users in turn.
    #[test]
    fn users_share_a_step_and_each_has_its_own_order() {
        let mut set = Set::default();
        for raw in 1..=100 {
            let (one, other) = (step(10, Some(7)), step(20, Some(8)));
            let steps = if raw % 2 == 0 { [one, other] } else { [other, one] };
            steps.into_iter().enumerate().for_each(|(n, step)| assert_eq!(set.add(user(raw), step), n as u32 + 1));
        }
        assert_eq!(set.steps.len(), 2);
        set.add(user(1), step(10, None));
        set.add(user(2), step(10, None));
        set.add(user(2), step(10, Some(7)));
        let steps = |raw| set.change(user(raw)).steps;
        assert_eq!(steps(1), [step(20, Some(8)), step(10, None)], "the last one made counts");
        for raw in 2..=100 {
            assert_eq!(steps(raw), [step(20, Some(8)), step(10, Some(7))], "{raw}");
        }
    }

    /// However many there are, the memory is at most a quarter more than what is in use, but for the places of users, of
    /// which half may be free.
    #[test]
    fn the_room_for_more_counts() {
        for users in [1, 100, 1000, 1793, 10_000] {
            let mut set = Set::default();
            for at in 1..=20 {
                (1..=users).for_each(|raw| _ = set.add(user(raw), step(at, Some(7))));
            }
            let (nodes, places) = (20 * users as usize * size_of::<Node>(), users as usize * 17);
            let least = nodes + places + 20 * size_of::<Step>();
            let most = nodes + nodes / 4 + places * 5 / 2 + 36 * size_of::<Step>() + 1024;
            assert!((least..most).contains(&set.bytes()), "{users} users: {} of {least} to {most}", set.bytes());
            assert!(set.bytes() >= size_of::<Node>() * set.nodes.capacity() + 17 * set.last.capacity());
        }
    }
}

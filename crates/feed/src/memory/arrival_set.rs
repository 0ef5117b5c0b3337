//! Changes of many inboxes, as they come: a chain of steps for each.

use std::collections::HashMap;
use std::num::NonZeroU32;
use std::sync::Arc;

use foldhash::fast::RandomState;
use parking_lot::RwLock;

use crate::rows::inbox::merge::{Change, Step};
use model::{Cursor, UserId};

/// Room that a list gets at first.
const LEAST_ROOM: usize = 16;
/// Steps in a segment. Few in tests, so that new ones begin while others leave.
const SEGMENT: usize = if cfg!(test) { 8 } else { 1024 };
/// Marks a place in [`Set::own`].
const OWN: u32 = 1 << 31;

type ByUser<T> = HashMap<u64, T, RandomState>;

/// Steps of items, for all sets that take changes at the same time: an item goes to many users, and each chunk of its fan-out
/// has its step here once. They are in segments, so that no growth copies them while readers wait.
#[derive(Debug, Default)]
pub(crate) struct Steps(RwLock<Vec<Vec<Step>>>);

impl Steps {
    /// Returns the place of the step, and how many bytes the memory grew.
    fn put(&self, step: Step) -> (u32, usize) {
        let mut segments = self.0.write();
        let mut grown = 0;
        if segments.last().is_none_or(|last| last.len() == SEGMENT) {
            segments.push(Vec::with_capacity(SEGMENT));
            grown = SEGMENT * size_of::<Step>();
        }
        let before = SEGMENT * (segments.len() - 1);
        let last = segments.last_mut();
        let place = before + last.as_ref().map_or(0, |last| last.len());
        last.into_iter().for_each(|last| last.push(step));
        (place as u32, grown)
    }

    /// Their memory.
    pub(crate) fn bytes(&self) -> usize {
        self.0.read().len() * SEGMENT * size_of::<Step>()
    }
}

/// The step of an item, and where it was put.
#[derive(Debug)]
pub(crate) struct Shared {
    step: Step,
    /// The steps among which it is, and its place there.
    placed: Option<(Arc<Steps>, u32)>,
    /// Bytes by which the memory grew for it.
    pub(crate) grown: usize,
}

impl Shared {
    pub(crate) fn new(step: Step) -> Self {
        Self { step, placed: None, grown: 0 }
    }

    /// Its place among these steps. While sets are exchanged a step may be placed in both lists in turn.
    fn place(&mut self, steps: &Arc<Steps>) -> u32 {
        match &self.placed {
            Some((known, place)) if Arc::ptr_eq(known, steps) => *place,
            _ => {
                let (place, grown) = steps.put(self.step);
                self.grown += grown;
                self.placed = Some((Arc::clone(steps), place));
                place
            }
        }
    }
}

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
    /// The place of the step among those of items, or with [`OWN`] among the set's own.
    step: u32,
    before: Option<NonZeroU32>,
}

/// Changes of the users of one part.
#[derive(Debug, Default)]
pub(crate) struct Set {
    last: ByUser<Last>,
    nodes: Vec<Node>,
    /// Steps of items. Their memory is not the set's.
    items: Arc<Steps>,
    /// Steps of changes of single users.
    own: Vec<Step>,
    floors: ByUser<Cursor>,
}

impl Set {
    /// An empty set that keeps the steps of items among these.
    pub(crate) fn with(items: Arc<Steps>) -> Self {
        Self { items, ..Self::default() }
    }

    /// Adds the step of an item; returns how many steps of the user there are now.
    pub(crate) fn add(&mut self, user: UserId, shared: &mut Shared) -> u32 {
        let step = shared.place(&self.items);
        self.link(user, step)
    }

    fn link(&mut self, user: UserId, step: u32) -> u32 {
        let last = self.last.entry(user.get()).or_insert(Last { place: 0, count: 0 });
        let before = NonZeroU32::new(last.place);
        // Places count from 1.
        *last = Last { place: self.nodes.len() as u32 + 1, count: last.count + 1 };
        let count = last.count;
        push(&mut self.nodes, Node { step, before });
        count
    }

    /// Appends the steps of a user, the last one made first; returns the floor.
    pub(crate) fn copy(&self, user: UserId, steps: &mut Vec<Step>) -> Option<Cursor> {
        if let Some(last) = self.last.get(&user.get()) {
            steps.reserve(last.count as usize);
            let items = self.items.0.read();
            let mut next = NonZeroU32::new(last.place);
            while let Some(node) = next.and_then(|place| self.nodes.get(place.get() as usize - 1)) {
                let place = (node.step & !OWN) as usize;
                let step = match node.step & OWN {
                    0 => items.get(place / SEGMENT).and_then(|segment| segment.get(place % SEGMENT)),
                    _ => self.own.get(place),
                };
                if let Some(step) = step {
                    steps.push(*step);
                }
                next = node.before;
            }
        }
        self.floors.get(&user.get()).copied()
    }

    /// Takes the change of a user out. The places of its steps are free only with the set.
    pub(crate) fn take(&mut self, user: UserId) -> (Option<Cursor>, Vec<Step>) {
        let mut steps = Vec::new();
        let floor = self.copy(user, &mut steps);
        self.last.remove(&user.get());
        self.floors.remove(&user.get());
        (floor, steps)
    }

    /// Adds a change of a user; returns how many steps of the user there are now.
    pub(crate) fn add_change(&mut self, user: UserId, change: Change) -> u32 {
        if let Some(floor) = change.floor {
            let present = self.floors.entry(user.get()).or_insert(floor);
            *present = floor.max(*present);
        }
        let mut steps = 0;
        for step in change.steps {
            let place = self.own.len() as u32;
            push(&mut self.own, step);
            steps = self.link(user, place | OWN);
        }
        steps
    }

    /// The users with a change, ascending.
    pub(crate) fn users(&self) -> Vec<UserId> {
        let mut users: Vec<u64> = self.last.keys().chain(self.floors.keys()).copied().collect();
        users.sort_unstable();
        users.dedup();
        users.into_iter().filter_map(|raw| UserId::new(raw).ok()).collect()
    }

    /// The change of a user.
    pub(crate) fn change(&self, user: UserId) -> Change {
        let mut steps = Vec::new();
        let floor = self.copy(user, &mut steps);
        Change::of(floor, steps)
    }

    /// Whether it takes no memory that could be given back.
    pub(crate) fn is_empty(&self) -> bool {
        self.bytes() == 0
    }

    /// Its memory, the room for more included.
    pub(crate) fn bytes(&self) -> usize {
        size_of::<Step>() * self.own.capacity()
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

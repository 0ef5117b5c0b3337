//! Versions of users and items, in bounded memory. They tell whether an earlier answer is still right.
//!
//! A group of changes has a number, and each thing that it concerns gets this number as its version, before the group is written. A
//! reader adds up the versions of all things that its answer depends on, before it reads them. As long as the sum is the same, no
//! change of them has begun. This is the validation of a sequence lock, over many versions.

use crate::sync::atomic::{AtomicU64, Ordering};
use crate::{ContentId, UserId};

/// Versions of items, users and readers. More things than these share some: then a change of one looks like a change of the
/// others, too. Readers have their own half: changes of what a reader is shown are rare, and a read under way is made again.
const HALF: usize = 1 << 16;
const COUNTS: usize = 2 * HALF;

/// Most things on which an answer that is kept depends: 8 KiB of places.
const MOST: usize = 2048;

/// Something with a version.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Thing {
    /// All answers depend on it: for rare changes of unknown reach.
    Everything,
    /// A user: what is published on the own page, the profile, and the reactions of the user as a reader. A name without a number
    /// has no version: an answer with one cannot be kept.
    User(UserId),
    /// The sources that a reader is shown, and the users whom the reader is not shown.
    Sources(UserId),
    /// The users who are suspended, or are being erased.
    Suspended,
    /// An item with its counts.
    Item(ContentId),
}

impl Thing {
    #[inline]
    fn place(self) -> u32 {
        let number = match self {
            Self::Everything => return 0,
            Self::Suspended => return HALF as u32,
            Self::User(user) | Self::Sources(user) => user.get(),
            Self::Item(item) => item.get() ^ 0x5555_5555_5555_5555,
        };
        let half = if let Self::Sources(_) = self { HALF as u32 } else { 0 };
        let place = (number.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> (u64::BITS - HALF.ilog2())) as u32;
        // The first ones are those of all.
        half + place.max(1)
    }
}

/// The versions of all things.
#[derive(Debug)]
pub struct Versions {
    /// The number of the last group that concerned each.
    last: Box<[AtomicU64]>,
    groups: Groups,
}

/// The number of the last group, and of the last one that is seen everywhere. Apart from what only readers need: each group
/// writes them.
#[derive(Debug, Default)]
#[repr(align(128))]
struct Groups {
    begun: AtomicU64,
    ended: AtomicU64,
}

impl Default for Versions {
    fn default() -> Self {
        let last = (0..COUNTS).map(|_| AtomicU64::new(0)).collect();
        Self { last, groups: Groups::default() }
    }
}

/// A group of changes under way.
#[must_use = "the changes end when this is dropped"]
#[derive(Debug)]
pub struct Changing<'a>(&'a Versions);

impl Drop for Changing<'_> {
    fn drop(&mut self) {
        let Groups { begun, ended } = &self.0.groups;
        ended.store(begun.load(Ordering::Acquire), Ordering::Release);
    }
}

/// The versions on which an answer depends, as they were before it was read.
#[derive(Debug, Clone, Default)]
pub struct Dependencies {
    places: Vec<u32>,
    /// The sum of their versions.
    sum: u64,
    /// Whether one of the things was being changed, or has no version, or there are too many.
    is_changing: bool,
}

impl Dependencies {
    /// The memory that they take, bytes.
    #[inline]
    pub fn bytes(&self) -> usize {
        size_of::<u32>() * self.places.capacity()
    }

    /// Whether no change was under way, and there are not too many; otherwise nobody may keep the answer.
    #[inline]
    pub fn are_settled(&self) -> bool {
        !self.is_changing
    }
}

impl Versions {
    /// A place is always below the number of counts; this tells the compiler.
    #[inline]
    fn index(place: u32) -> usize {
        place as usize % COUNTS
    }

    /// Begins a group of changes of things; only one at a time. To be called before the first write of it; it ends when the result
    /// is dropped, which must come after the last write and before the answer.
    pub fn change(&self, things: impl IntoIterator<Item = Thing>) -> Changing<'_> {
        let number = self.groups.begun.fetch_add(1, Ordering::AcqRel) + 1;
        for thing in things {
            self.last[Self::index(thing.place())].store(number, Ordering::Release);
        }
        Changing(self)
    }

    /// Adds a thing to those that an answer depends on. To be called before the thing is read.
    #[inline]
    pub fn depend(&self, on: &mut Dependencies, thing: Thing) {
        let place = thing.place();
        // In this order: if the last change of it is not later, it was not under way between the two.
        let ended = self.groups.ended.load(Ordering::Acquire);
        let last = self.last[Self::index(place)].load(Ordering::Acquire);
        on.is_changing |= last > ended || on.places.len() >= MOST || thing == Thing::User(UserId::UNKNOWN);
        if on.is_changing {
            return;
        }
        on.sum = on.sum.wrapping_add(last);
        on.places.push(place);
    }

    /// The versions of things, before an answer is read that depends on them.
    #[inline]
    pub fn now(&self, things: impl IntoIterator<Item = Thing>) -> Dependencies {
        let mut on = Dependencies::default();
        things.into_iter().for_each(|thing| self.depend(&mut on, thing));
        on
    }

    /// Whether no change of any of these things has begun since.
    #[inline]
    pub fn are_unchanged(&self, since: &Dependencies) -> bool {
        // Versions only grow, so equal sums are equal versions.
        let last = |place: &u32| self.last[Self::index(*place)].load(Ordering::Acquire);
        since.places.iter().fold(0_u64, |sum, place| sum.wrapping_add(last(place))) == since.sum
    }
}

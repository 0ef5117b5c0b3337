//! Settings so small that every path is taken.

use proptest::prelude::*;

use tideline::{feed, worker};

use super::names::USERS;
use super::seed::Random;

/// Which store.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Memory,
    Rocks,
}

/// The settings of one case.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Shape {
    pub(crate) inbox_limit: usize,
    /// 0 for none.
    pub(crate) outbox_limit: usize,
    pub(crate) topic_limit: usize,
    pub(crate) push_threshold: u64,
    pub(crate) pull_threshold: u64,
    pub(crate) chunk: usize,
    pub(crate) workers: usize,
    pub(crate) follow_limit: usize,
    pub(crate) include_own: bool,
    /// Milliseconds.
    pub(crate) active_for: u64,
    /// Milliseconds.
    pub(crate) evict_after: u64,
    /// Jobs that may wait.
    pub(crate) queue: usize,
    pub(crate) sync: bool,
    /// Milliseconds. 0, or so long that it is never over.
    pub(crate) deleted_retention: u64,
    /// How far ahead times may lie that are given, in milliseconds; [`ANY`] for a directory from before there was a rule.
    pub(crate) max_ahead: u64,
}

/// A queue that never fills up.
pub(crate) const WIDE: usize = 100_000;
/// Nobody lapses.
pub(crate) const LONG: u64 = 86_400_000;
/// No time lies too far ahead.
pub(crate) const ANY: u64 = u64::MAX;

impl Shape {
    pub(crate) fn feed(&self) -> feed::Rules {
        feed::Rules {
            include_own: self.include_own,
            active_for: self.active_for,
            follow_limit: self.follow_limit,
            topic_limit: self.topic_limit,
            deleted_retention: self.deleted_retention,
            max_ahead: self.max_ahead,
        }
    }

    pub(crate) fn worker(&self) -> worker::Rules {
        worker::Rules {
            workers: self.workers,
            chunk: self.chunk,
            push_threshold: self.push_threshold,
            pull_threshold: self.pull_threshold,
            active_for: self.active_for,
            evict_after: self.evict_after,
            inbox_limit: self.inbox_limit,
            outbox_limit: self.outbox_limit,
            topic_limit: self.topic_limit,
            deleted_retention: self.deleted_retention,
        }
    }

    /// For the threads: no limit is in their way.
    pub(crate) fn random(random: &mut Random) -> Self {
        let push_threshold = random.below(5);
        Self {
            inbox_limit: random.pick(&[1, 2, 3, 5, 8, 40, 1000]),
            outbox_limit: random.pick(&[0, 1, 5, 40]),
            topic_limit: random.pick(&[1, 5, 40]),
            push_threshold,
            pull_threshold: push_threshold + random.below(4),
            chunk: random.pick(&[1, 2, 3]),
            workers: random.pick(&[1, 2, 3]),
            follow_limit: USERS.len(),
            include_own: random.once_in(3),
            active_for: random.pick(&[1, 1, 2, 5, LONG]),
            evict_after: random.pick(&[0, 1, 20, LONG]),
            queue: WIDE,
            sync: random.once_in(4),
            deleted_retention: random.pick(&[LONG, LONG, LONG, 0]),
            max_ahead: LONG,
        }
    }
}

prop_compose! {
    pub(crate) fn shapes()(
        inbox_limit in 1_usize..=8,
        outbox_limit in 0_usize..=3,
        topic_limit in 1_usize..=6,
        push_threshold in 0_u64..=4,
        above_push in 0_u64..=2,
        chunk in 1_usize..=3,
        workers in 1_usize..=3,
        follow_limit in prop_oneof![1 => 1_usize..=3, 4 => 4_usize..=8],
        include_own in any::<bool>(),
        active_for in prop_oneof![2 => Just(1_u64), 1 => Just(4), 2 => Just(LONG)],
        evict_after in prop_oneof![3 => Just(0_u64), 1 => Just(1), 1 => Just(LONG)],
        queue in prop_oneof![9 => Just(WIDE), 1 => 1_usize..=6],
        sync in prop::bool::weighted(0.1),
        deleted_retention in prop_oneof![5 => Just(LONG), 1 => Just(0_u64)],
        max_ahead in prop_oneof![2 => Just(ANY), 1 => Just(LONG)],
    ) -> Shape {
        let pull_threshold = push_threshold + above_push;
        Shape {
            inbox_limit, outbox_limit, topic_limit, push_threshold, pull_threshold, chunk, workers, follow_limit, include_own, active_for,
            evict_after, queue, sync, deleted_retention, max_ahead,
        }
    }
}

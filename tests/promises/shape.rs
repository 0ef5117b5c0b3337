//! Settings so small that every path is used.

use config::{Config, Content, Durability, Duration, Fanout, Notices, Reactions, Storage, Timeline, Topics};
use fastrand::Rng;
use proptest::prelude::*;

use super::names::{USERS, reaction_kinds};
use super::seed::pick;

/// The store.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Memory,
    Rocks,
}

/// A queue that never fills up.
pub(crate) const WIDE: usize = 100_000;
/// No user becomes dormant, and no deleted item is purged.
pub(crate) const LONG: Duration = Duration::from_days(1);
/// No time is too far ahead: for a directory older than this rule.
pub(crate) const ANY: Duration = Duration::from_millis(u64::MAX);
pub(crate) const NEVER: Duration = Duration::from_millis(0);
/// Notices of all times are kept.
const FOREVER: Duration = Duration::from_days(36_500);

/// A quick disk; no user becomes dormant, no item is purged, and the queue never fills up; topic lists are short, and
/// chunks have two followers.
pub(crate) fn small() -> Config {
    Config {
        storage: storage(Durability::Os),
        timeline: Timeline { active_for: LONG, evict_after: NEVER, ..Timeline::default() },
        fanout: Fanout { chunk: 2, queue: WIDE, ..Fanout::default() },
        content: Content { deleted_retention: LONG, max_ahead: LONG },
        topics: Topics { limit: 5 },
        reactions: Reactions { kinds: reaction_kinds() },
        notices: Notices { keep: FOREVER },
        ..Config::default()
    }
}

/// Small caches.
fn storage(durability: Durability) -> Storage {
    Storage { durability, cache_mb: 2, ..Storage::default() }
}

fn durability(sync: bool) -> Durability {
    if sync { Durability::Sync } else { Durability::Os }
}

/// For the threads: no limit restricts them.
pub(crate) fn random(random: &mut Rng) -> Config {
    let mut config = small();
    config.fanout.push_threshold = random.u64(..5);
    config.timeline.inbox_limit = pick(random, &[1, 2, 3, 5, 8, 40, 1000]);
    config.timeline.outbox_limit = pick(random, &[0, 1, 5, 40]);
    config.topics.limit = pick(random, &[1, 5, 40]);
    config.fanout.pull_threshold = config.fanout.push_threshold + random.u64(..4);
    config.fanout.chunk = pick(random, &[1, 2, 3]);
    config.fanout.workers = pick(random, &[1, 2, 3]);
    config.graph.follow_limit = USERS.len();
    config.timeline.include_own = random.u64(..3) == 0;
    config.timeline.active_for = pick(random, &[1, 1, 2, 5, LONG.as_millis()].map(Duration::from_millis));
    config.timeline.evict_after = pick(random, &[0, 1, 20, LONG.as_millis()].map(Duration::from_millis));
    config.storage.durability = durability(random.u64(..4) == 0);
    config.content.deleted_retention = pick(random, &[LONG, LONG, LONG, NEVER]);
    config.notices.keep = pick(random, &[FOREVER, FOREVER, LONG, NEVER]);
    config
}

prop_compose! {
    pub(crate) fn configs()(
        inbox_limit in 1_usize..=8,
        outbox_limit in 0_usize..=3,
        limit in 1_usize..=6,
        push_threshold in 0_u64..=4,
        above_push in 0_u64..=2,
        chunk in 1_usize..=3,
        workers in 1_usize..=3,
        follow_limit in prop_oneof![1 => 1_usize..=3, 4 => 4_usize..=8],
        include_own in any::<bool>(),
        look_at in prop_oneof![Just(16_usize), Just(4096)],
        active_for in prop_oneof![2 => Just(Duration::from_millis(1)), 1 => Just(Duration::from_millis(4)), 2 => Just(LONG)],
        evict_after in prop_oneof![3 => Just(NEVER), 1 => Just(Duration::from_millis(1)), 1 => Just(LONG)],
        queue in prop_oneof![9 => Just(WIDE), 1 => 1_usize..=6],
        sync in prop::bool::weighted(0.1),
        deleted_retention in prop_oneof![5 => Just(LONG), 1 => Just(NEVER)],
        max_ahead in prop_oneof![2 => Just(ANY), 1 => Just(LONG)],
        keep in prop_oneof![6 => Just(FOREVER), 2 => Just(LONG), 1 => Just(NEVER)],
    ) -> Config {
        let mut config = small();
        config.storage.durability = durability(sync);
        config.timeline.inbox_limit = inbox_limit;
        config.timeline.outbox_limit = outbox_limit;
        config.timeline.include_own = include_own;
        config.timeline.active_for = active_for;
        config.timeline.evict_after = evict_after;
        config.timeline.look_at = look_at;
        config.fanout.workers = workers;
        config.fanout.chunk = chunk;
        config.fanout.push_threshold = push_threshold;
        config.fanout.pull_threshold = push_threshold + above_push;
        config.fanout.queue = queue;
        config.content.deleted_retention = deleted_retention;
        config.content.max_ahead = max_ahead;
        config.graph.follow_limit = follow_limit;
        config.topics.limit = limit;
        config.notices.keep = keep;
        config
    }
}

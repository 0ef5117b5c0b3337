//! Where the lists of topics end, remembered for as long as nothing in them changes.
//!
//! A list shows its newest items only, so where it ends takes a walk over all of them to know. A page
//! from the middle is read between the bound that is remembered here and its own; it holds if no
//! change of the topic began or ended meanwhile.

use std::sync::atomic::{AtomicU64, Ordering};

use crate::cache::Cache;
use crate::model::{CacheUsage, Cursor, TopicId};

/// Memory for remembered ends, bytes: ten thousand of them.
const CAPACITY: u64 = 1 << 20;
const END: fn(&End) -> u64 = |_| END_BYTES;
const END_BYTES: u64 = 56;
const STRIPES: usize = 1024;

#[derive(Debug, Clone, Copy)]
struct End {
    /// The stripe's number of changes when it was found.
    version: u64,
    /// How many items the list may have.
    depth: usize,
    /// The last that a full list shows; `None` for a list that is not full.
    last: Option<Cursor>,
}

/// Changes of the topics that share it.
#[derive(Debug, Default)]
struct Stripe {
    /// Under way.
    writers: AtomicU64,
    /// Beginnings and ends so far.
    changes: AtomicU64,
}

/// The ends of lists of topics.
#[derive(Debug)]
pub(super) struct TopicEnds {
    ends: Cache<TopicId, End>,
    stripes: Box<[Stripe]>,
}

impl Default for TopicEnds {
    fn default() -> Self {
        Self { ends: Cache::new(CAPACITY, END_BYTES, END), stripes: (0..STRIPES).map(|_| Stripe::default()).collect() }
    }
}

impl TopicEnds {
    fn stripe(&self, topic: TopicId) -> &Stripe {
        // Ids are given out one after the other, so they spread by themselves.
        &self.stripes[topic.get() as usize % STRIPES]
    }

    /// Before rows of a topic change.
    pub(super) fn begin_change(&self, topic: TopicId) {
        let stripe = self.stripe(topic);
        stripe.writers.fetch_add(1, Ordering::SeqCst);
        stripe.changes.fetch_add(1, Ordering::SeqCst);
    }

    /// After they have changed, or have not.
    pub(super) fn end_change(&self, topic: TopicId) {
        let stripe = self.stripe(topic);
        stripe.changes.fetch_add(1, Ordering::SeqCst);
        stripe.writers.fetch_sub(1, Ordering::SeqCst);
    }

    /// A number that is another after any change; `None` while one is under way. Where it is the same
    /// before and after some reads, all of them saw the rows of one instant.
    pub(super) fn version(&self, topic: TopicId) -> Option<u64> {
        let stripe = self.stripe(topic);
        let changes = stripe.changes.load(Ordering::SeqCst);
        (stripe.writers.load(Ordering::SeqCst) == 0).then_some(changes)
    }

    /// What was kept of a topic in this version, for lists of this depth.
    pub(super) fn get(&self, topic: TopicId, version: u64, depth: usize) -> Option<Option<Cursor>> {
        let end = self.ends.get(&topic)?;
        (end.version == version && end.depth == depth).then_some(end.last)
    }

    /// Keeps the last item that a full list shows, as found in a version.
    pub(super) fn keep(&self, topic: TopicId, version: u64, depth: usize, last: Option<Cursor>) {
        self.ends.insert(topic, End { version, depth, last });
    }

    /// The cache in figures.
    pub(super) fn usage(&self) -> CacheUsage {
        self.ends.usage()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn topic(raw: u64) -> TopicId {
        TopicId::new(raw).expect("in range")
    }

    #[test]
    fn an_end_is_kept_until_the_topic_changes() {
        let ends = TopicEnds::default();
        let version = ends.version(topic(1)).expect("no change is under way");
        assert_eq!(ends.get(topic(1), version, 10), None);
        ends.keep(topic(1), version, 10, Some(Cursor::OLDEST));
        assert_eq!(ends.get(topic(1), version, 10), Some(Some(Cursor::OLDEST)));
        assert_eq!(ends.get(topic(1), version, 11), None, "of another depth");
        ends.begin_change(topic(2));
        ends.end_change(topic(2));
        assert_eq!(ends.version(topic(1)), Some(version), "of another topic");
        ends.begin_change(topic(1));
        assert_eq!(ends.version(topic(1)), None);
        ends.begin_change(topic(1));
        ends.end_change(topic(1));
        assert_eq!(ends.version(topic(1)), None, "one is still under way");
        ends.end_change(topic(1));
        let after = ends.version(topic(1)).expect("all changes have ended");
        assert_ne!(after, version);
        assert_eq!(ends.get(topic(1), after, 10), None);
    }
}

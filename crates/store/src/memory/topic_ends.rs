//! The ends of the lists of topics, remembered until a list changes.
//!
//! A list shows its newest items only, so finding its end takes a walk over all of them. With a remembered end, a page
//! from the middle is read between that and its own bound. The result is valid if no change of the topic began or ended
//! meanwhile.

use model::cache::Cache;
use model::stripes::Changes;
use model::{CacheUsage, Cursor, TopicId};

/// Memory for remembered ends, bytes: ten thousand of them.
const CAPACITY: u64 = 1 << 20;
const END: fn(&End) -> u64 = |_| END_BYTES;
const END_BYTES: u64 = 56;

#[derive(Debug, Clone, Copy)]
struct End {
    /// The version of the topic when the end was found.
    version: u64,
    /// The most items of the list.
    depth: usize,
    /// The last item of a full list; `None` if the list is not full.
    last: Option<Cursor>,
}

/// The ends of lists of topics.
#[derive(Debug)]
pub(crate) struct TopicEnds {
    ends: Cache<TopicId, End>,
    changes: Changes,
}

impl Default for TopicEnds {
    fn default() -> Self {
        Self { ends: Cache::new(CAPACITY, END_BYTES, END), changes: Changes::default() }
    }
}

impl TopicEnds {
    /// Call before rows of a topic change.
    pub(crate) fn begin_change(&self, topic: TopicId) {
        self.changes.begin(topic.get());
    }

    /// Call after the change, made or not.
    pub(crate) fn end_change(&self, topic: TopicId) {
        self.changes.end(topic.get());
    }

    /// See [`Changes::version`].
    pub(crate) fn version(&self, topic: TopicId) -> Option<u64> {
        self.changes.version(topic.get())
    }

    /// The end kept for a topic in this version, for lists of this depth.
    pub(crate) fn get(&self, topic: TopicId, version: u64, depth: usize) -> Option<Option<Cursor>> {
        let end = self.ends.get(&topic)?;
        (end.version == version && end.depth == depth).then_some(end.last)
    }

    /// Keeps the last item of a full list, as found in a version.
    pub(crate) fn keep(&self, topic: TopicId, version: u64, depth: usize, last: Option<Cursor>) {
        self.ends.insert(topic, End { version, depth, last });
    }

    /// The cache in figures.
    pub(crate) fn usage(&self) -> CacheUsage {
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

//! Values that follow from settings.

use super::duration::Duration;
use super::settings::{Agreed, Cluster, Fanout, Server, Storage, Timeline};
use model::Members;
use model::cache::memory::CacheMemory;

impl Server {
    /// The scheme of the server's URLs.
    pub fn scheme(&self) -> &'static str {
        if self.tls_cert.as_os_str().is_empty() { "http" } else { "https" }
    }
}

impl Cluster {
    /// Whether this server is a node of a cluster.
    pub fn is_on(&self) -> bool {
        !self.brokers.is_empty()
    }

    /// The members, seen from this node; `None` without a cluster.
    pub fn members(&self) -> Option<Members> {
        let names = self.members.iter().map(|member| member.name.as_str());
        if self.is_on() { Members::new(names, self.node.as_str(), self.inbox_copies) } else { None }
    }
}

impl Storage {
    /// The memory for caches of data on disk.
    pub fn cache_memory(&self) -> CacheMemory {
        CacheMemory::new((self.cache_mb as u64) << 20)
    }
}

impl Timeline {
    /// Time after a read during which the user's inbox stays complete.
    pub fn whole_for(&self) -> Duration {
        if self.evict_after == Duration::from_secs(0) { self.active_for } else { self.active_for.min(self.evict_after) }
    }
}

impl Fanout {
    /// Number of worker threads.
    pub fn threads(&self) -> usize {
        if self.workers > 0 { self.workers } else { cores() }
    }
}

impl Agreed {
    /// The time before which deletions are final when other settings follow these: what was final stays final. `time` is
    /// that of the change, and `final_before` the result of the change before it; milliseconds.
    pub fn final_before(&self, time: u64, final_before: u64) -> u64 {
        final_before.max((time + 1).saturating_sub(self.deleted_retention.as_millis()))
    }
}

/// Number of cores.
pub fn cores() -> usize {
    std::thread::available_parallelism().map_or(1, std::num::NonZero::get)
}

#[cfg(test)]
mod tests {
    use super::super::settings::Config;

    #[test]
    fn a_node_takes_over_what_the_others_have_agreed_on() {
        let mut first = Config::default();
        first.graph.follow_limit = 7;
        first.timeline.include_own = true;
        first.timeline.inbox_limit = 9;
        let text = serde_json::to_string(&first.agreed()).expect("writes");
        let agreed = serde_json::from_str(&text).expect("reads");
        let mut second = Config::default();
        assert_eq!(second.adopt(&agreed), ["timeline.include_own", "graph.follow_limit"]);
        assert_eq!((second.graph.follow_limit, second.timeline.inbox_limit), (7, 1000), "{text}");
        assert!(second.adopt(&agreed).is_empty());
    }
}

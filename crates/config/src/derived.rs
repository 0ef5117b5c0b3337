//! Values that follow from settings.

use super::duration::Duration;
use super::settings::{Cluster, Fanout, Server, Storage, Timeline};
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

/// Number of cores.
pub fn cores() -> usize {
    std::thread::available_parallelism().map_or(1, std::num::NonZero::get)
}

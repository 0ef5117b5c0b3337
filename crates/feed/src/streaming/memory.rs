//! The memory of events that wait for clients.

use std::sync::Arc;

use model::Fill;
use model::sync::atomic::{AtomicU64, Ordering};

/// Most bytes of texts that wait for clients, all streams together. Above it a client that lags loses its waiting
/// events, and one that catches up gets one event at a time.
pub(super) const MEMORY: u64 = 64 << 20;

/// The memory of waiting events, all streams together.
#[derive(Debug, Clone, Default)]
pub struct Memory(Arc<AtomicU64>);

impl Memory {
    /// Counts this many bytes, even without room for them.
    pub fn hold(&self, bytes: usize) -> Share {
        self.0.fetch_add(bytes as u64, Ordering::Relaxed);
        Share { memory: self.clone(), bytes }
    }

    /// Reserves this many bytes, if there is room for them.
    pub fn reserve(&self, bytes: usize) -> Option<Share> {
        let more = |used: u64| Some(used.saturating_add(bytes as u64)).filter(|used| *used <= MEMORY);
        let reserved = self.0.fetch_update(Ordering::Relaxed, Ordering::Relaxed, more);
        reserved.is_ok().then(|| Share { memory: self.clone(), bytes })
    }

    /// The bytes in use, and the limit.
    pub fn fill(&self) -> Fill {
        Fill { used: self.0.load(Ordering::Relaxed), limit: MEMORY }
    }

    /// Whether clients that lag lose their waiting events.
    pub(super) fn is_short(&self) -> bool {
        self.0.load(Ordering::Relaxed) > MEMORY
    }
}

/// Some of the memory, counted until this is dropped.
#[derive(Debug)]
pub struct Share {
    memory: Memory,
    bytes: usize,
}

impl Drop for Share {
    fn drop(&mut self) {
        self.memory.0.fetch_sub(self.bytes as u64, Ordering::Relaxed);
    }
}

//! Events as they go out, and the memory that they take.

use std::sync::Arc;

use crate::model::{Cursor, Fill, UserId};
use crate::sync::atomic::{AtomicU64, Ordering};

/// Bytes of the texts that wait for clients, all streams together. Above it a client that lags loses
/// what waits for it, and one that catches up gets one event at a time.
pub(super) const MEMORY: u64 = 64 << 20;

/// The memory of what waits to be sent, all streams together.
#[derive(Debug, Clone, Default)]
pub struct Memory(Arc<AtomicU64>);

impl Memory {
    /// Counts so many bytes, whether there is room for them or not.
    pub fn hold(&self, bytes: usize) -> Share {
        self.0.fetch_add(bytes as u64, Ordering::Relaxed);
        Share { memory: self.clone(), bytes }
    }

    /// Sets so many bytes aside, if there is room for them.
    pub fn reserve(&self, bytes: usize) -> Option<Share> {
        let more = |used: u64| Some(used.saturating_add(bytes as u64)).filter(|used| *used <= MEMORY);
        let reserved = self.0.fetch_update(Ordering::Relaxed, Ordering::Relaxed, more);
        reserved.is_ok().then(|| Share { memory: self.clone(), bytes })
    }

    pub(super) fn fill(&self) -> Fill {
        Fill { used: self.0.load(Ordering::Relaxed), limit: MEMORY }
    }

    /// Whether those who lag are to lose what waits for them.
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

/// An event as it goes out, one text for all streams that get it.
#[derive(Debug)]
pub struct Frame {
    author: UserId,
    text: String,
    memory: Memory,
}

impl Frame {
    pub(super) fn new(author: UserId, text: String, memory: Memory) -> Self {
        memory.0.fetch_add(text.len() as u64, Ordering::Relaxed);
        Self { author, text, memory }
    }

    /// As it goes out.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Bytes that it takes.
    pub(super) fn bytes(&self) -> usize {
        self.text.len()
    }

    /// Whose item it is about.
    pub(super) fn author(&self) -> UserId {
        self.author
    }

    pub(super) fn memory(&self) -> &Memory {
        &self.memory
    }
}

impl Drop for Frame {
    fn drop(&mut self) {
        self.memory.0.fetch_sub(self.text.len() as u64, Ordering::Relaxed);
    }
}

/// The next thing for a client.
#[derive(Debug, Clone)]
pub enum Item {
    /// An event.
    Frame(Arc<Frame>),
    /// Events were left out. What was committed before the client gets to know this, it finds in its
    /// timeline; what comes after this cursor, the stream goes on with.
    Reset(Cursor),
}

impl Item {
    /// Whether it is for a reader who is shown these authors, ascending.
    pub(super) fn is_for(&self, authors: &[UserId]) -> bool {
        match self {
            Self::Frame(frame) => authors.binary_search(&frame.author).is_ok(),
            Self::Reset(_) => true,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_is_set_aside_where_there_is_some() {
        let memory = Memory::default();
        let (all, more) = (memory.reserve(MEMORY as usize - 10), memory.hold(10));
        assert!(all.is_some() && memory.reserve(1).is_none());
        let beyond = memory.hold(10);
        drop((more, beyond));
        assert!(memory.reserve(11).is_none() && memory.reserve(10).is_some());
        drop(all);
        assert_eq!(memory.fill().used, 0);
    }
}

//! How full bounded resources are.

/// Something with a limit.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Fill {
    /// The amount now.
    pub used: u64,
    /// The largest amount.
    pub limit: u64,
}

impl Fill {
    /// From sizes in memory.
    pub fn of(used: usize, limit: usize) -> Self {
        Self { used: used as u64, limit: limit as u64 }
    }
}

/// The figures of a cache.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct CacheUsage {
    /// Entries in it.
    pub entries: u64,
    /// Their approximate memory, bytes.
    pub bytes: Fill,
    /// Look-ups that found an entry.
    pub hits: u64,
    /// Look-ups without an entry.
    pub misses: u64,
    /// Entries dropped to make room.
    pub evictions: u64,
}

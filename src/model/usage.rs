//! How full the bounded things of the server are.

/// Something with a limit.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Fill {
    /// What it holds now.
    pub used: u64,
    /// The most it holds.
    pub limit: u64,
}

impl Fill {
    /// From sizes of things in memory.
    pub fn of(used: usize, limit: usize) -> Self {
        Self { used: used as u64, limit: limit as u64 }
    }
}

/// A cache.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct CacheUsage {
    /// How many things it holds.
    pub entries: u64,
    /// About how much memory they take, bytes.
    pub bytes: Fill,
    /// How often something was not there.
    pub misses: u64,
    /// How often something went to make room.
    pub evictions: u64,
}

//! The storage contract: operations of the domain, each with its atomicity stated.
//!
//! Two implementations stand behind it: [`rocks`] keeps everything in one RocksDB directory,
//! [`memory`] is the plain model that tests compare it with. Every table is thought of as a
//! partition (a user, an item, a lane) with ordered rows inside, and no operation needs an order
//! across partitions.
//!
//! # What holds for every method
//!
//! - A write is one atomic change: a reader, and a restart after a crash, sees all of it or none.
//! - Writes become durable in the order in which they were made; a crash loses only a tail of them.
//!   A method that *acknowledges* returns once its change is as durable as the settings ask;
//!   the others are durable no later than the next write that acknowledges.
//! - Reads see every write that had returned before they began.
//! - A read with [`Tier::Memory`] fails with [`Error::NotCached`](crate::error::Error::NotCached)
//!   instead of touching the disk.

pub mod memory;
pub mod rocks;
mod types;

pub use types::{
    Batch, Change, Delivery, FilterUsage, Fresh, Idle, Listeners, Published, Related, Restored, Split, TableStats,
    Then, Tier, Touched, Usage, Watch, is_deleted_before,
};

/// A store, one of the two kinds.
#[derive(Debug)]
pub enum Store {
    /// On disk.
    Rocks(rocks::Rocks),
    /// In memory, for tests.
    Memory(memory::Memory),
}

macro_rules! dispatch {
    ($self:ident, $store:ident => $call:expr) => {
        match $self {
            Store::Rocks($store) => $call,
            Store::Memory($store) => $call,
        }
    };
}

// Below the macro that its files use.
mod contract;

const _: fn() = || {
    fn is_shared<T: Send + Sync>() {}
    is_shared::<Store>();
};

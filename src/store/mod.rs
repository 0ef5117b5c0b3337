//! The storage contract: operations of the domain, each with its atomicity stated.
//!
//! [`Store`] is the whole of it, composed of one trait for each subject. [`rocks`] implements it in one RocksDB
//! directory; `tests/double` is the plain model that tests compare it with. Every table is thought of as a
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

mod content;
pub mod rocks;
mod types;
mod users;

use std::any::Any;
use std::fmt::Debug;

use crate::error::Result;
use crate::model::{Event, UserId};

pub use content::{Contents, Lists, Reacting, Topics};
pub use types::{
    Batch, Change, Delivery, FINAL, FilterUsage, Fresh, Idle, Listeners, Published, Related, Restored, Split,
    TableStats, Then, Tier, Touched, Usage, Watch, is_deleted_before, too_many,
};
pub use users::{Activities, Barriers, Graph, Inboxes, Records};

/// A store of whatever kind. `Any`, so that a test can get at the kind and damage what it has.
pub trait Store:
    Contents
    + Lists
    + Topics
    + Reacting
    + Graph
    + Barriers
    + Inboxes
    + Activities
    + Records
    + Events
    + Upkeep
    + Any
    + Debug
    + Send
    + Sync
{
}

/// The log of events. A publish, edit, delete or restore that is given a stamp writes its event in its own change,
/// so the event is there if and only if the change is. Events of several changes may be written in another order than
/// that of their numbers.
pub trait Events {
    /// The first `limit` events with this number or a higher one, ascending.
    fn events(&self, from: u64, limit: usize) -> Result<Vec<Event>>;

    /// The `limit` events with the highest numbers, ascending.
    fn newest_events(&self, limit: usize) -> Result<Vec<Event>>;

    /// Takes away the events with smaller numbers than this.
    fn trim_events(&self, from: u64) -> Result<()>;

    /// Whether changes may be gone of which streams had told: since the machine lost its power, changes were left behind, or
    /// the directory is a copy.
    fn is_set_back(&self) -> bool;

    /// Streams are told of changes from now on; until then a store is as its last run left it. If that has set it back,
    /// a gap is written first, durably.
    fn begin_run(&self, gap: Option<Event>) -> Result<()>;

    /// Whether there is any content, deleted content included.
    fn has_content(&self) -> Result<bool>;
}

/// The store as a whole.
pub trait Upkeep {
    /// Up to `limit` users with ids above `after` of whom anything is kept that others must agree with: an
    /// inbox, an own page, a follow, a mute or a hide on either side, a count. Ascending.
    fn users_after(&self, after: Option<UserId>, limit: usize) -> Result<Vec<UserId>>;

    /// Compares all that is kept in more than one place, but for inboxes, and everything counted with what
    /// it counts: a line for each disagreement, in no order to rely on. Nobody may write meanwhile. Walks
    /// over every table some times, in bounded memory.
    fn audit(&self, watch: &mut dyn Watch) -> Result<()>;

    /// Makes every write so far durable, whatever the settings say.
    fn sync(&self) -> Result<()>;

    /// Rewrites all tables, which drops what is deleted or below a floor.
    fn compact(&self) -> Result<()>;

    /// Rows and bytes of each table, as far as the engine knows without counting.
    fn stats(&self) -> Result<Vec<TableStats>>;

    /// Whether the store has stopped taking changes, and will not before it is opened again. Reads go on. Does not
    /// look at the disk, and waits for nothing.
    fn needs_restart(&self) -> bool;

    /// What memory and disk the store takes, with [`Upkeep::stats`]. May look at the disk.
    fn usage(&self) -> Result<Usage>;
}

//! The storage contract: operations of the domain, each with its atomicity stated.
//!
//! [`Store`] is composed of one trait for each subject. The crate `store` implements it. Each table consists of partitions (a user, an item, a
//! lane) with ordered rows, and no operation needs an order across partitions.
//!
//! # Rules for every method
//!
//! - A write is one atomic change: a reader, and a restart after a crash, sees all of it or none.
//! - Writes become durable in the order in which they were made; a crash loses only a tail of them.
//!   A method that *acknowledges* returns once its change is as durable as the settings ask;
//!   the others are durable no later than the next write that acknowledges.
//! - Reads see every write that had returned before they began.
//! - A read with [`Tier::Memory`] fails with [`Error::NotCached`](crate::error::Error::NotCached)
//!   instead of touching the disk.

mod content;
mod digest;
mod erasures;
mod logs;
mod names;
mod notices;
mod types;
mod user_lists;
mod users;

use std::any::Any;
use std::fmt::Debug;
use std::ops::ControlFlow;
use std::path::Path;
use std::sync::Arc;

use crate::error::{Error, Result};
use crate::{Effect, Event, Logged, Millis, UserId};

pub use content::{Contents, Kept, Lists, Reacting, Topics};
pub use digest::{Digester, TableDigest};
pub use erasures::Erasures;
pub use logs::{LogFacts, LogReader, Logs};
pub use names::{Names, shown};
pub use notices::Notices;
pub use types::{
    Approval, Barred, Batch, Change, Copied, Delivery, EngineUsage, FINAL, FilterUsage, Idle, Listeners, Published,
    Push, Related, Restored, Split, TableStats, Then, Tier, Touched, Usage, Watch, is_deleted_before, too_many_follows,
    too_many_kinds, too_many_lists, too_many_members,
};
pub use user_lists::UserLists;
pub use users::{Activities, Barriers, Graph, Inboxes, Records};

/// A store. `Any` lets a test reach the concrete type and damage its data.
pub trait Store:
    Contents
    + Lists
    + Topics
    + Reacting
    + Graph
    + Barriers
    + UserLists
    + Notices
    + Inboxes
    + Activities
    + Records
    + Names
    + Events
    + Upkeep
    + Copies
    + Logs
    + Replica
    + Digests
    + Erasures
    + Any
    + Debug
    + Send
    + Sync
{
    /// The same store for the thread that makes changes: what it acknowledges waits for [`Store::write_group`]. Its own reads
    /// see it at once, others once it is written.
    fn grouping(self: Arc<Self>) -> Arc<dyn Store>;

    /// The same store as others see it, without the rows of a group.
    fn written(self: Arc<Self>) -> Arc<dyn Store>;

    /// The effects of the present change, in their order, once. Changes of items have events instead, but for
    /// imported items.
    fn effects(&self) -> Vec<Effect>;

    /// Ends a change of a group. Nothing stays of one that fails: others get the numbers of its names, topics and kinds.
    fn end_change(&self, is_made: bool);

    /// Lets [`Store::write_group`] write nothing and return this error.
    fn fail_group(&self, why: Error);

    /// Writes the changes of a group at once, as one that acknowledges. On an error none of them is made. Of a store that is
    /// not grouping, each change is written already.
    fn write_group(&self) -> Result<()>;
}

/// The log of events. A publish, edit, delete or restore with an event writes it in the same change.
pub trait Events {
    /// The first `limit` rows with this number or a higher one, ascending.
    fn logged(&self, from: u64, limit: usize) -> Result<Vec<Logged>>;

    /// The newest rows, from the last one on, until `visit` breaks.
    fn newest_logged(&self, visit: &mut dyn FnMut(Logged) -> ControlFlow<()>) -> Result<()>;

    /// Writes the rows of the effects of a change, in its group.
    fn log_effects(&self, rows: &[Logged]) -> Result<()>;

    /// Forgets the rows below this number, and notes it as [`EVENTS_FROM`].
    fn trim_events(&self, from: u64) -> Result<()>;

    /// Whether changes that streams have announced may be lost: after a power cut, after a start that gave up part of
    /// the log, or because the directory is a copy.
    fn is_set_back(&self) -> bool;

    /// Records that streams announce changes from now on; until then the record of the last run is kept. A `gap`, for a
    /// store that was set back, is written first, durably.
    fn begin_run(&self, gap: Option<Event>) -> Result<()>;

    /// Whether there is any content, deleted content included.
    fn has_content(&self) -> Result<bool>;
}

/// The store as a whole.
pub trait Upkeep {
    /// Up to `limit` users with ids above `after`, ascending, who have a row that must agree with others: in an inbox
    /// or an own page, a follow, a request or a barrier that the other side must know, a count.
    fn users_after(&self, after: Option<UserId>, limit: usize) -> Result<Vec<UserId>>;

    /// Compares all data kept in more than one place, except inboxes, and each count with its rows. Reports a line for
    /// each disagreement, in no particular order. Nobody may write meanwhile. Walks over every table several times, in
    /// bounded memory.
    fn audit(&self, watch: &mut dyn Watch) -> Result<()>;

    /// Makes every write so far durable, whatever the settings say.
    fn sync(&self) -> Result<()>;

    /// Rewrites all tables, which drops rows that are deleted or below a floor, and removes log that was
    /// kept for standbys if none is to be kept.
    fn compact(&self) -> Result<()>;

    /// Rows and bytes of each table, by the engine's estimates.
    fn stats(&self) -> Result<Vec<TableStats>>;

    /// Whether the store takes no changes until it is opened again. Reads go on. Neither looks at the disk nor waits.
    fn needs_restart(&self) -> bool;

    /// Why changes are refused at present; `None` if the last one was not. Neither looks at the disk nor waits.
    fn refusal(&self) -> Option<String>;

    /// Memory and disk that the store uses, with [`Upkeep::stats`]. May look at the disk.
    fn usage(&self) -> Result<Usage>;
}

/// Copies of the whole store, for backups.
pub trait Copies {
    /// Makes a copy in `dir`, which must not exist, while others write. It has every change that was acknowledged
    /// before the call, whatever the durability, and the changes after that up to some instant. It is on the device
    /// when this returns. On one file system, table files are hard links, so that the copy takes room only as the
    /// tables change. Refused with `no_room` if the device could become full in this way.
    fn copy_to(&self, dir: &Path) -> Result<Copied>;

    /// Reads each row of a copy, and audits the copy like [`Upkeep::audit`]. Works on `scratch`, which must not exist
    /// and is removed afterwards; the copy stays as it is. Lowers the priority of the calling thread for good. Fails
    /// if the copy cannot be opened or read.
    fn check_copy(&self, copy: &Path, scratch: &Path, watch: &mut dyn Watch) -> Result<()>;
}

/// Makes the mark of a node.
pub type MakeMark = Arc<dyn Fn() -> Vec<u8> + Send + Sync>;

/// The note with the mark of a node, see [`Replica`].
pub const MARK: &str = "mark";

/// The note with the number below which events were removed, in eight bytes, highest first.
pub const EVENTS_FROM: &str = "events_from";

/// The place of the store in a command log: notes, by their names. The note [`MARK`] names this place, and all that later
/// changes depend on; only the store of a node has it.
pub trait Replica {
    /// A note; `None` if there is none of this name.
    fn note(&self, name: &str) -> Result<Option<Vec<u8>>>;

    /// Writes notes, or removes them (`None`), in one change. Durable no later than the next write that acknowledges.
    fn put_notes(&self, notes: &[(&str, Option<&[u8]>)]) -> Result<()>;

    /// From now on each group of changes that is not empty has a new mark. To be called once, before the first change.
    fn keep_mark(&self, mark: MakeMark);
}

/// Comparisons of the stores of two nodes.
pub trait Digests {
    /// Whether a node with this store has data that a node which starts empty would lack: whether any of these tables,
    /// the log of events left out, has a row that counts.
    fn has_data(&self) -> Result<bool>;

    /// The digests of the tables that are equal on all nodes of a cluster, as of one instant. Nodes that have applied the
    /// same commands have the same digests, whenever each of them archives, purges or compacts.
    ///
    /// `taken` is called once, after that instant. Until then the caller makes no change that is replicated; later
    /// changes do not count. The rest takes time in proportion to the rows, and bounded memory. Lowers the priority of
    /// the calling thread for good.
    ///
    /// Notices count from the time of [`Notices::keep_notices`] on: to be called before, with the same time on each node.
    ///
    /// Items deleted before `final_before` count only as deleted, because some nodes may have purged them. No item that
    /// was deleted later may be purged yet. `watch` gets the rows looked at, and can end the walk.
    fn digest(&self, final_before: Millis, taken: &mut dyn FnMut(), watch: &mut dyn Watch) -> Result<Vec<TableDigest>>;
}

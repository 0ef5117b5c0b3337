//! Arguments and results of the store, besides the words of the domain.

mod digest;
mod logs;
mod types;

pub use digest::{Digester, TableDigest};
pub use logs::LogFacts;
pub use types::{
    Approval, Barred, Batch, Change, Copied, Delivery, EngineUsage, FINAL, FilterUsage, Idle, Kept, Listeners,
    Published, Push, Related, Restored, Split, TableStats, Then, Tier, Touched, Usage, Watch, is_deleted_before,
    too_many_follows, too_many_kinds, too_many_lists, too_many_members,
};

/// The note with the number below which events were removed, in eight bytes, highest first.
pub const EVENTS_FROM: &str = "events_from";

/// The note with the mark of a node: its place in the command log, and all that later changes depend on. Only the store of a node
/// has it.
pub const MARK: &str = "mark";

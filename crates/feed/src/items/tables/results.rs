//! Choices and results of changes of items.

use model::{Content, Job, Millis};

/// An item that is not purged, and the time of its deletion if it is deleted.
pub type Kept = (Content, Option<Millis>);

/// The time of the deletion of an item whose purge has begun: before any other, so that it cannot be restored.
pub const FINAL: Millis = 0;

/// Whether a deletion counts as made before a time.
pub fn is_deleted_before(deleted_at: Millis, time: Millis) -> bool {
    deleted_at == FINAL || deleted_at < time
}

/// The effect on the other items of a publish call, if the id of one item is taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Batch {
    /// Nothing is written.
    AllOrNone,
    /// The others are written.
    Each,
}

/// The delivery of an item that becomes live.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Push {
    /// It gets a fan-out job for each of its paths.
    Queued,
    /// It gets none. It counts as pushed to nobody ([`Unpushed`](model::Unpushed)), in the same change.
    LeftOut,
}

/// The result for one item of a publish call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Published {
    /// Written, with its fan-out jobs: one for each path, unless they are left out.
    New(Vec<Job>),
    /// It was published before with the same body; the present content.
    Same(Content),
    /// The id belongs to another item, or to a deleted one.
    Taken,
}

impl Published {
    /// The fan-out jobs of a new item.
    pub fn jobs(&self) -> &[Job] {
        if let Self::New(jobs) = self { jobs } else { &[] }
    }
}

/// The result of a restore.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Restored {
    /// The item is live again, with its new fan-out jobs.
    Now(Content, Vec<Job>),
    /// It was live already.
    Live(Content),
    /// There is no deletion that can be taken back.
    Gone,
}

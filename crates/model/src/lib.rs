//! The words of the domain as plain types: ids, cursors, content, relations, events, jobs.
//!
//! Nothing here reads a disk or a socket, and nothing here uses another layer.

pub mod cache;
#[cfg(not(feature = "shuttle"))]
pub mod clock;
#[cfg(feature = "shuttle")]
#[path = "clock_of_steps.rs"]
pub mod clock;
mod effect;
pub mod error;
pub mod failpoint;
mod figures;
mod ids;
mod items;
mod job;
mod mentions;
pub mod priority;
pub mod private;
pub mod schemas;
pub mod store;
pub mod stripes;
#[cfg(not(feature = "shuttle"))]
pub mod sync;
#[cfg(feature = "shuttle")]
#[path = "sync_of_steps.rs"]
pub mod sync;
mod users;
pub mod versions;

pub use effect::{Changed, Effect, EffectKind};
pub use figures::*;
pub use ids::*;
pub use items::*;
pub use job::{Job, JobId, LANES, Lane, Progress, Reach, Work};
pub use mentions::{HostIds, Mentions};
pub use users::*;

//! The engine's log: what of it had been flushed to the device, and a look at it before the engine replays it.
//!
//! The engine replays its log up to the first damage and says nothing. Two kinds of damage look the same to it:
//!
//! - **A torn end.** What was not flushed to the device may come out of a power cut torn or in any order.
//!   Cutting it off loses nothing that was promised.
//! - **Damage before what had been flushed**, such as a flipped bit. Cutting there loses acknowledged changes.
//!
//! To tell them apart, every batch carries a note ([`flushed`]): the sequence number up to which the log had been
//! flushed when the batch was made. [`reader`] reads the log's files, and [`examine`] finds where the chain of
//! intact batches ends and whether a batch behind that place vouches for more than the chain has.

mod examine;
mod flushed;
mod keeper;
mod manifest;
mod reader;

pub(super) use self::examine::prepare;
pub(super) use self::flushed::{Flushed, note};
pub(super) use self::keeper::Keeper;

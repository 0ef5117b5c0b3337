//! The engine's log: how much of it is flushed to the device, and a check of it before the engine replays it.
//!
//! The engine silently replays its log up to the first damage. It does not tell apart two kinds of damage:
//!
//! - **A torn end.** A power cut may leave unflushed data torn or in any order. Cutting it off loses nothing that was
//!   promised.
//! - **Damage before the flushed place**, such as a flipped bit. Cutting there loses acknowledged changes.
//!
//! Therefore each batch ends with a note ([`flushed`]): the sequence number up to which the log was flushed when the
//! batch was made. [`reader`] reads the log's files. [`examine`] finds where the chain of intact batches ends, and
//! whether a batch behind that place notes more flushed rows than the chain has.

mod examine;
mod files;
mod flushed;
mod keeper;
mod manifest;
mod reader;
mod tail;

pub(crate) use self::examine::{cut, must_be_readable, must_be_whole, prepare};
pub(crate) use self::files::{log_bytes, trim_archive};
pub(crate) use self::flushed::{Flushed, note};
pub(crate) use self::keeper::Keeper;
pub(crate) use self::reader::{first_and_last, varint};
pub use self::tail::LogReader;

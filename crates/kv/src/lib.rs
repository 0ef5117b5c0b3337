//! Ordered rows in tables, on RocksDB in a data directory or in memory: single writes and groups of them, the log, copies,
//! standbys. It knows nothing of the domain.
//!
//! - A write is one atomic change: a reader, and a restart after a crash, sees all of it or none.
//! - Writes become durable in the order in which they were made; a crash loses only a tail of them. A method that
//!   *acknowledges* returns once its change is as durable as the options ask; the others are durable no later than the next
//!   write that acknowledges.
//! - Reads see every write that had returned before they began. Of the rows that [`Database::grouping`] makes, others see a change
//!   once [`Database::write_group`] has returned.
//! - A read with [`Tier::Memory`] fails with [`Error::NotCached`](model::error::Error::NotCached)
//!   instead of touching the disk.

mod access;
mod batch;
mod database;
mod engine;
mod error;
mod family;
mod id;
mod kv;
mod options;
#[cfg(test)]
mod testing;
mod usage;
mod view;

pub use self::access::reads::{At, MOST_KEYS, MOST_ROWS};
pub use self::access::staged::Rows;
pub use self::engine::backup::{Copied, room_for};
pub use self::engine::bare::{each_row_of, in_memory, read_only};
pub use self::engine::directory::{is_file_of_engine, must_be_there};
pub use self::engine::disk::Disk;
pub use self::engine::health::Health;
pub use self::engine::last_run::Run;
pub use self::engine::log::LogReader;
pub use self::engine::log_source::LogFacts;
pub use self::engine::rebuild::Rebuild;
pub use self::engine::standby::{Origin, Standby, StandbyDirectory};
pub use self::{batch::*, database::*, family::*, id::*, kv::*, options::*, usage::*, view::*};

use std::path::Path;

use model::error::Result;

/// The number of the format of the data directory.
pub const FORMAT: u32 = engine::directory::CURRENT;

/// Fails unless a directory has data of the present format.
pub fn must_be_readable(dir: &Path) -> Result<()> {
    engine::directory::Directory::look(dir).map(drop)
}

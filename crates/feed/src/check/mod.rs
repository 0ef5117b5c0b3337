//! Comparisons of tables: with each other, and with those of other nodes.

pub(crate) mod audit;
pub(crate) mod copies;
mod digest;
pub(crate) mod digests;

pub use self::audit::audit;
pub use self::copies::check_copy;
pub use self::digest::{Digester, TableDigest};
pub use self::digests::{digest, has_data};
use model::error::Result;

/// The receiver of the findings of an audit.
pub trait Watch {
    /// A disagreement, in one line.
    fn finds(&mut self, line: String);

    /// The number of rows looked at so far in the present walk over a table. An error ends the audit.
    fn looked_at(&mut self, table: &'static str, rows: u64) -> Result<()>;
}

//! Comparisons of tables: with each other, and with those of other nodes.

pub(crate) mod audit;
pub(crate) mod copies;
mod digest;
pub(crate) mod digests;

pub use self::audit::audit;
pub use self::copies::check_copy;
pub use self::digest::{Digester, TableDigest};
pub use self::digests::{digest, has_data};
use crate::rows::table::AnyTable;
use kv::Rows;
use model::error::Result;

/// The interval of reports about the rows read.
const ROWS: u64 = 10_000;

/// The receiver of the findings of an audit.
pub trait Watch {
    /// A disagreement, in one line.
    fn finds(&mut self, line: String);

    /// The number of rows looked at so far in the present walk over a table. An error ends the audit.
    fn looked_at(&mut self, table: &'static str, rows: u64) -> Result<()>;
}

/// Visits the rows of a table from that on at which a walk is.
fn each_row(
    table: AnyTable,
    mut rows: Rows<'_>,
    watch: &mut dyn Watch,
    mut visit: impl FnMut(&[u8], &[u8]) -> Result<()>,
) -> Result<()> {
    let mut count = 0;
    while let Some((key, value)) = rows.item() {
        visit(key, value)?;
        count += 1;
        if count % ROWS == 0 {
            watch.looked_at(table.name, count)?;
        }
        rows.next();
    }
    rows.status()?;
    watch.looked_at(table.name, count)
}

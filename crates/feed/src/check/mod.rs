//! Comparisons of tables: with each other, and with those of other nodes.

pub(crate) mod audit;
pub(crate) mod copies;
pub(crate) mod digests;

pub use self::audit::audit;
pub use self::copies::check_copy;
pub use self::digests::{digest, has_data};

//! The rows of erasures, and the rows that they remove.

pub(crate) mod carried_over;
pub(crate) mod erasing;
pub(crate) mod erasures;
pub(crate) mod removed;

pub use self::carried_over::{each_user_named, known_erasures};
pub use self::erasing::erase;
pub(crate) use self::erasing::{are_follows, others, table_of};
pub use self::erasures::{
    begin_erasure, clear_inboxes, end_erasure, erased, erased_paths, erasures, has_erasures, is_erasing, to_erase,
};
pub use self::removed::{PurgePlace, purge_rows};

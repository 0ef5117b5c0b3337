//! The rows of erasures, and the rows that they remove.

pub(crate) mod carried_over;
pub(crate) mod erasures;
pub(crate) mod removal;
pub(crate) mod remove_rows;

pub use self::carried_over::{each_user_named, known_erasures};
pub use self::erasures::{
    begin_erasure, clear_inboxes, end_erasure, erased, erased_paths, erasures, has_erasures, is_erasing, to_erase,
};
pub use self::removal::{PurgePlace, purge_rows};
pub use self::remove_rows::erase;
pub(crate) use self::remove_rows::{are_follows, others, table_of};

//! The rows of items, and all that follows from them.

pub(crate) mod content;
pub(crate) mod counts;
pub(crate) mod index;
pub(crate) mod outboxes;
pub(crate) mod paths;
pub(crate) mod results;
pub(crate) mod rows;

pub use self::content::{
    delete, delete_for_good, edit, give_kinds, kind_names, known_kinds, publish, purge, restore, take_id,
};
pub use self::counts::item_counts;
pub(crate) use self::index::{change_item, count_item, indexing};
pub use self::outboxes::{archive_outbox, comments, outboxes, unlisted, user_comments};
pub(crate) use self::paths::sources_taken_off;
pub use self::paths::{take_off, taken_off};
pub use self::results::{Batch, FINAL, Kept, Published, Push, Restored, is_deleted_before};
pub use self::rows::{contents, deleted, kept};
pub(crate) use self::rows::{live, purged_among, stored};

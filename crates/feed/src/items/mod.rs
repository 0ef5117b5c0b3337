//! Items: publishes, edits, deletes, and lists of them.

pub(crate) mod changes;
pub(crate) mod new_content;
pub(crate) mod publish;
pub(crate) mod reads;
pub mod tables;

pub(crate) use new_content::{completed, sift_items};
pub use publish::{ask, comment, publish_one, published};
pub(crate) use publish::{make_ids, no_time};
pub use reads::*;

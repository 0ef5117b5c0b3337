//! Follows and requests to follow.

pub(crate) mod changes;
pub(crate) mod reads;
pub(crate) mod requests;
pub mod tables;

pub use changes::{follow, remove_follower};
pub(crate) use changes::{meet, write_follows};
pub(crate) use reads::relation;
pub use reads::*;
pub use requests::answer_request;

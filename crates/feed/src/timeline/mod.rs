//! Timelines: their pages, what they consist of, and checks of them.

pub(crate) mod activity;
pub(crate) mod explain;
pub(crate) mod export;
pub(crate) mod home;
pub(crate) mod markers;
pub(crate) mod sources;
pub mod tables;
pub(crate) mod unread;
pub(crate) mod verify;

pub(crate) use activity::activity;
pub use activity::mark_seen;
pub use explain::explain;
pub(crate) use home::{inbox_page, pulled_page};
pub use home::{list_page, page};
pub use markers::marker;
pub use sources::authors;
pub(crate) use sources::{suspended_sources, unpushed_sources};
pub use unread::{list_unread, unread};
pub use verify::verify;

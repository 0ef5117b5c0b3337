//! Ids, and places in lists.

pub(crate) mod host_id;
pub(crate) mod id;
pub(crate) mod page;
pub(crate) mod position;

pub use host_id::{HostId, MAX_NAME, ShownId};
pub use id::{ContentId, Id, InvalidId, MAX_ID, TopicId, UserId};
pub use page::{ContentPage, Order, Page, PageRequest, Scan, Span, Unread, UserPage};
pub use position::{Cursor, Entry, InvalidPosition, MAX_MILLIS, Millis, Position, UserCursor};

//! Ids, and places in lists.

pub(crate) mod host_id;
pub(crate) mod id;
pub(crate) mod page;
pub(crate) mod position;

pub use host_id::{HostId, MAX_NAME, ShownId};
pub use id::{ContentId, Id, InvalidId, ListId, MAX_ID, TopicId, UserId};
pub use page::{Order, Page, PageRequest, Scan, Scanned, Span, Unread, UserPage};
pub use position::{Cursor, InvalidPosition, MAX_MILLIS, Millis, Placed, Position, UserCursor};

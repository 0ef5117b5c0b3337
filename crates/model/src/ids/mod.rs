//! Ids, and places in lists.

pub(crate) mod cursor;
pub(crate) mod external_id;
pub(crate) mod id;
pub(crate) mod page;

pub use cursor::{Cursor, InvalidPosition, MAX_MILLIS, Millis, Placed, Position, UserCursor};
pub use external_id::{ExternalId, MAX_NAME, ShownId};
pub use id::{ContentId, Id, InvalidId, ListId, MAX_ID, TopicId, UserId};
pub use page::{Order, Page, PageRequest, Scan, Scanned, Span, Unread, UserPage};

//! The words of the domain as plain types: ids, cursors, content, relations, events, jobs.
//!
//! Nothing here reads a disk or a socket, and nothing here uses another layer.

mod barrier;
mod content;
mod counts;
mod draft;
mod event;
mod histogram;
mod host_id;
mod id;
mod job;
mod json;
mod members;
mod mentions;
mod page;
mod position;
mod profile;
mod reaction;
mod relation;
mod shown;
mod usage;
mod user;

pub use barrier::Barrier;
pub use content::{Content, Edit, Publish, RawJson};
pub use counts::{COMMENT, ItemCounter, ItemCounts, REPOST, UserCounts};
pub use draft::{
    CommentDraft, Draft, EditDraft, Kind, MAX_TOPIC_CHARS, MAX_TOPICS, Time, Topics, is_topic, or_default,
};
pub use event::{Event, EventKind, Moment, Stamp};
pub use histogram::{Distribution, Histogram};
pub use host_id::{HostId, MAX_NAME, ShownId};
pub use id::{ContentId, Id, InvalidId, MAX_ID, TopicId, UserId};
pub use job::{Job, JobId, LANES, Lane, Progress, Reach, Work};
pub use json::{JsonObject, MAX_DEPTH, MediaList, canonical};
pub use members::Members;
pub use mentions::{HostIds, Mentions};
pub use page::{Order, Page, PageRequest, Span, Unread};
pub use position::{Cursor, Entry, InvalidPosition, MAX_MILLIS, Millis, Position, UserCursor};
pub use profile::{MAX_AVATAR, MAX_NICKNAME, Profile, ProfileDraft};
pub use reaction::{Reacted, Reaction, ReactionKind, ReactionPlace, Reactions};
pub use relation::{Relation, RelationKind, Side};
pub use shown::{Card, KeptText, MOST_KEPT, SharedContent, Shown};
pub use usage::{CacheUsage, Fill};
pub use user::{Activity, Unpushed};

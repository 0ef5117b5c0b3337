//! The words of the domain as plain types: ids, cursors, content, relations, events, jobs.
//!
//! Nothing here reads a disk or a socket, and nothing here uses another layer.

pub mod cache;
#[cfg(not(feature = "shuttle"))]
pub mod clock;
#[cfg(feature = "shuttle")]
#[path = "clock_of_steps.rs"]
pub mod clock;
pub mod error;
pub mod failpoint;
mod figures;
mod ids;
mod items;
mod job;
mod mentions;
pub mod priority;
pub mod private;
pub mod schemas;
pub mod store;
pub mod stripes;
#[cfg(not(feature = "shuttle"))]
pub mod sync;
#[cfg(feature = "shuttle")]
#[path = "sync_of_steps.rs"]
pub mod sync;
mod users;

pub use crate::figures::count::Count;
pub use crate::figures::histogram::{Distribution, Histogram};
pub use crate::figures::usage::{CacheUsage, Fill};
pub use crate::ids::host_id::{HostId, MAX_NAME, ShownId};
pub use crate::ids::id::{ContentId, Id, InvalidId, ListId, MAX_ID, TopicId, UserId};
pub use crate::ids::page::{Order, Page, PageRequest, Scan, Span, Unread, UserPage};
pub use crate::ids::position::{Cursor, InvalidPosition, MAX_MILLIS, Millis, Position, UserCursor};
pub use crate::items::content::{Content, Edit, RawJson};
pub use crate::items::counts::{COMMENT, ItemCounter, ItemCounts, REPOST, ReactionCounts, UserCounts};
pub use crate::items::draft::{
    CommentDraft, Draft, EditDraft, Kind, MAX_TO, MAX_TOPIC_CHARS, MAX_TOPICS, Sources, Time, Topics, is_topic,
    or_default,
};
pub use crate::items::entry::{ContentPage, Entry};
pub use crate::items::event::{Event, EventKind, Moment};
pub use crate::items::item_view::{Card, ItemView, KeptText, MOST_KEPT, SharedContent};
pub use crate::items::json::{JsonObject, MAX_DEPTH, MediaList, canonical};
pub use crate::items::kind::{Audience, KindId, MOST_KINDS, POST};
pub use crate::items::publish::Publish;
pub use crate::items::reaction::{Reacted, Reaction, ReactionPlace};
pub use crate::items::reaction_kinds::{MAX_REACTION_KINDS, MAX_REACTION_NAME, ReactionKind, ReactionKinds, Reactions};
pub use crate::users::barrier::Barrier;
pub use crate::users::list::{ListSettings, MAX_TITLE, UserList};
pub use crate::users::members::Members;
pub use crate::users::profile::{MAX_AVATAR, MAX_NICKNAME, Profile, ProfileDraft};
pub use crate::users::relation::{Relation, RelationKind};
pub use crate::users::side::Side;
pub use crate::users::user::{Activity, Unpushed};
pub use job::{Job, JobId, LANES, Lane, Progress, Reach, Work};
pub use mentions::{HostIds, Mentions};

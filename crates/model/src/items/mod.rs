//! Items: their content, events, reactions and counts.

pub(crate) mod content;
pub(crate) mod counts;
pub(crate) mod draft;
pub(crate) mod event;
pub(crate) mod item_view;
pub(crate) mod json;
pub(crate) mod publish;
pub(crate) mod reaction;

pub use content::{Content, Edit, RawJson};
pub use counts::{COMMENT, ItemCounter, ItemCounts, REPOST, UserCounts};
pub use draft::{
    CommentDraft, Draft, EditDraft, Kind, MAX_TOPIC_CHARS, MAX_TOPICS, Time, Topics, is_topic, or_default,
};
pub use event::{Event, EventKind, Moment};
pub use item_view::{Card, ItemView, KeptText, MOST_KEPT, SharedContent};
pub use json::{JsonObject, MAX_DEPTH, MediaList, canonical};
pub use publish::Publish;
pub use reaction::{Reacted, Reaction, ReactionKind, ReactionPlace, Reactions};

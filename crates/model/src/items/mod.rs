//! Items: their content, events, reactions and counts.

mod content;
pub(crate) mod counts;
pub(crate) mod entry;
pub(crate) mod event;
pub(crate) mod fields;
mod fingerprint;
pub(crate) mod item_view;
pub(crate) mod json;
pub(crate) mod kind;
pub(crate) mod logged;
pub(crate) mod new_content;
mod plain_fields;
pub(crate) mod publish;
pub(crate) mod reaction;
pub(crate) mod reaction_kinds;

pub use counts::{COMMENT, ItemCounter, ItemCounts, REPOST, ReactionCounts, UserCounts};
pub use entry::{ContentPage, Entry};
pub use event::{Event, EventKind, Moment};
pub use fields::{Kind, MAX_MENTIONS, MAX_TO, MAX_TOPIC_CHARS, MAX_TOPICS, Mentioned, Sources, Time, Topics, is_topic};
pub use item_view::{AuthorSummary, ItemView, KeptText, MOST_KEPT, SharedContent};
pub use json::{JsonObject, MAX_DEPTH, MediaList, canonical};
pub use kind::{Audience, BUILT_IN_KINDS, KindId, MOST_KINDS, POST};
pub use logged::Logged;
pub use new_content::{Content, ContentEdit, ItemLine, NewComment, NewContent, PlainFields, or_default};
pub use plain_fields::Field;
pub use publish::Publish;
pub use reaction::{Reacted, Reaction};
pub use reaction_kinds::{MAX_REACTION_KINDS, MAX_REACTION_NAME, ReactionKind, ReactionKinds, Reactions};

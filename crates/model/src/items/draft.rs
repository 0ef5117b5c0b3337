//! Bodies of publishes and edits, in the API's field names.

use std::fmt;
use std::ops::Deref;

use serde::{Deserialize, Deserializer, Serialize, de};
use utoipa::openapi::{ObjectBuilder, RefOr, Schema};

use super::counts::COMMENT;
use super::json::{JsonObject, MediaList};
use super::kind::Audience;
use crate::ids::host_id::HostId;
use crate::ids::position::{MAX_MILLIS, Millis};

/// Most topics of one item.
pub const MAX_TOPICS: usize = 10;
/// Most further paths of one item.
pub const MAX_TO: usize = 10;
/// Most users whom an item mentions.
pub const MAX_MENTIONS: usize = 50;
/// Most characters of a topic.
pub const MAX_TOPIC_CHARS: usize = 64;

/// A type of the fields of requests, with its schema in the description of the API.
pub(crate) trait Property {
    /// The schema of a field with this description. One with a schema of its own keeps the description of that.
    fn property(about: &str) -> RefOr<Schema>;
}

/// Declares the fields of requests that write items: those of a publish alone, and those of a comment too. Behind `edit` is the
/// type of a field that an edit may change. The types of requests and their schemas follow. The comment of a field is its
/// description in the schema. Only the author is required.
macro_rules! drafts {
    ($(
        publish {$(#[doc = $about:literal] #[$how:meta] $name:ident: $type:ty;)*}
        comment {$(#[doc = $of_both:literal] #[$both_how:meta] $both:ident: $both_type:ty $(, edit $edit:ty)?;)*}
    )+) => {
        /// A requested publish: the same shape in `POST /v1/content`, in an import and in a log of commands. In every
        /// optional field `null` means left out.
        #[derive(Debug, Clone, Serialize, Deserialize)]
        #[serde(deny_unknown_fields)]
        pub struct Draft {
            /// The author.
            pub author_id: HostId,
            $(
                $(#[doc = $about] #[$how] pub $name: $type,)*
                $(#[doc = $of_both] #[$both_how] pub $both: $both_type,)*
            )+
        }

        /// A requested comment: a publish without kind and `ref_id`, which is not broadcast unless asked for.
        #[derive(Debug, Clone, Deserialize)]
        #[serde(deny_unknown_fields)]
        pub struct CommentDraft {
            /// The author.
            pub author_id: HostId,
            $($(#[doc = $of_both] #[serde(default, deserialize_with = "or_default")] pub $both: $both_type,)*)+
        }

        impl CommentDraft {
            /// The publish of this comment on an item.
            pub fn on(self, subject: HostId) -> Draft {
                let (kind, ref_id) = (Kind(COMMENT.to_owned()), Some(subject));
                Draft { author_id: self.author_id, kind, ref_id, $($($both: self.$both,)*)+ }
            }
        }

        /// A requested edit. A field left out stays; `null` clears it.
        #[derive(Debug, Clone, Default, Serialize, Deserialize)]
        #[serde(deny_unknown_fields)]
        pub struct EditDraft {
            $($($(
                #[doc = concat!("The new `", stringify!($both), "`.")]
                #[serde(default, deserialize_with = "nullable", skip_serializing_if = "Option::is_none")]
                pub $both: Option<Option<$edit>>,
            )?)*)+
        }

        impl Draft {
            pub(crate) fn properties(object: ObjectBuilder) -> ObjectBuilder {
                let object = CommentDraft::properties(object);
                object $($(.property(stringify!($name), <$type>::property($about.trim())))*)+
            }
        }

        impl CommentDraft {
            pub(crate) fn properties(object: ObjectBuilder) -> ObjectBuilder {
                object $($(.property(stringify!($both), <$both_type>::property($of_both.trim())))*)+
            }
        }

        impl EditDraft {
            pub(crate) fn properties(object: ObjectBuilder) -> ObjectBuilder {
                object $($($(.property(stringify!($both), <$edit>::property($of_both.trim())))?)*)+
            }
        }
    };
}

drafts! {
    publish {}
    comment {
        /// The id of the item. Default: a new id from the server; such ids rise with time
        #[serde(default, skip_serializing_if = "Option::is_none")]
        content_id: Option<HostId>;
        /// Time of publishing. Default: the server's clock
        #[serde(default, skip_serializing_if = "Option::is_none")]
        published_at: Option<Time>;
    }
    publish {
        /// The kind of the item. Default: `post`
        #[serde(default, deserialize_with = "or_default")]
        kind: Kind;
    }
    comment {
        /// The text
        #[serde(default, skip_serializing_if = "Option::is_none")]
        text: Option<String>, edit String;
        /// Media, in order
        #[serde(default, skip_serializing_if = "Option::is_none")]
        media: Option<MediaList>, edit MediaList;
        /// At most [`MAX_TOPICS`]
        #[serde(default, deserialize_with = "or_default")]
        topics: Topics;
    }
    publish {
        /// The id of another item: the original of a repost, the subject of a comment
        #[serde(default, skip_serializing_if = "Option::is_none")]
        ref_id: Option<HostId>;
    }
    comment {
        /// The host's own data
        #[serde(default, skip_serializing_if = "Option::is_none")]
        extra: Option<JsonObject>, edit JsonObject;
        /// Whether the item appears in timelines and on the author's own page. Default: `true`
        #[serde(default = "yes", deserialize_with = "or_yes")]
        broadcast: bool;
        /// Further sources (groups, threads, tags) to whose followers the item goes, each once, not the author
        #[serde(default, deserialize_with = "or_default", skip_serializing_if = "<[_]>::is_empty")]
        to: Sources;
        /// Who may see it. Default: that of the author's settings
        #[serde(default, skip_serializing_if = "Option::is_none")]
        audience: Option<Audience>;
        /// Users who get a notice of the item, each once
        #[serde(default, deserialize_with = "or_default", skip_serializing_if = "<[_]>::is_empty")]
        mentions: Mentioned;
    }
}

impl Draft {
    /// The ids that it mentions, in the order in which the names among them get numbers.
    pub fn ids(&self) -> impl Iterator<Item = &HostId> {
        self.content_id.iter().chain([&self.author_id]).chain(&self.ref_id).chain(&*self.to).chain(&*self.mentions)
    }

    /// The users in it: the author, the further sources, and whom it mentions.
    pub fn users(&self) -> impl Iterator<Item = &HostId> {
        [&self.author_id].into_iter().chain(&*self.to).chain(&*self.mentions)
    }

    /// The bytes of its text, its media and `extra`.
    pub fn bytes(&self) -> usize {
        let text = self.text.as_ref().map_or(0, String::len);
        text + self.media.as_ref().map_or(0, MediaList::bytes) + self.extra.as_ref().map_or(0, JsonObject::bytes)
    }

    /// How many paths it has.
    pub fn paths(&self) -> usize {
        usize::from(self.broadcast) + self.to.len()
    }

    /// The error in `mentions`, if a user occurs there twice.
    pub fn check_mentions(&self) -> Result<(), String> {
        twice(&self.mentions)
    }

    /// The error in `to`, if a source there is the author or occurs twice.
    pub fn check_to(&self) -> Result<(), String> {
        twice(&self.to)?;
        match self.to.contains(&self.author_id) {
            true => Err(format!("{} is the author, whose followers get each broadcast item", self.author_id)),
            false => Ok(()),
        }
    }
}

/// The error of a list that has an id twice.
fn twice(ids: &[HostId]) -> Result<(), String> {
    match (1..ids.len()).find(|place| ids[..*place].contains(&ids[*place])) {
        Some(place) => Err(format!("{} occurs twice", ids[place])),
        None => Ok(()),
    }
}

/// A time in a request, 0 … 2^63-1 ms.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Time(pub Millis);

impl<'de> Deserialize<'de> for Time {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Visitor;
        impl de::Visitor<'_> for Visitor {
            type Value = Time;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("whole milliseconds since 1970")
            }
            fn visit_u64<E: de::Error>(self, millis: u64) -> Result<Time, E> {
                Time::try_from(millis).map_err(E::custom)
            }
        }
        deserializer.deserialize_u64(Visitor)
    }
}

impl TryFrom<u64> for Time {
    type Error = String;
    fn try_from(millis: u64) -> Result<Self, String> {
        if millis <= MAX_MILLIS {
            Ok(Self(millis))
        } else {
            Err("a time is at most 9223372036854775807 milliseconds".to_owned())
        }
    }
}

/// The kind of an item: 1–32 of `a-z0-9_`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String")]
pub struct Kind(String);

impl Kind {
    /// The name.
    pub fn into_string(self) -> String {
        self.0
    }

    /// The name.
    pub fn name(&self) -> &str {
        &self.0
    }
}

impl Default for Kind {
    fn default() -> Self {
        Self("post".to_owned())
    }
}

impl TryFrom<String> for Kind {
    type Error = String;
    fn try_from(name: String) -> Result<Self, String> {
        let fits = |b: u8| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'_';
        if (1..=32).contains(&name.len()) && name.bytes().all(fits) {
            Ok(Self(name))
        } else {
            Err("kind: expected 1 to 32 characters of a-z, 0-9 and _".to_owned())
        }
    }
}

/// Declares lists of a draft that have a limit: the names of the field and of its elements, and the check of one of these.
macro_rules! lists {
    ($($(#[$doc:meta])+ $name:ident = $most:ident $element:ty, $field:literal, $what:literal, $check:expr;)+) => {$(
        $(#[$doc])+
        #[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
        pub struct $name(Vec<$element>);

        impl $name {
            /// The elements.
            pub fn into_vec(self) -> Vec<$element> {
                self.0
            }
        }

        impl Deref for $name {
            type Target = [$element];
            fn deref(&self) -> &[$element] {
                &self.0
            }
        }

        impl TryFrom<Vec<$element>> for $name {
            type Error = String;
            fn try_from(list: Vec<$element>) -> Result<Self, String> {
                if list.len() > $most {
                    return Err(format!(concat!($field, ": expected at most {} ", $what), $most));
                }
                let check: fn(&$element) -> Result<(), &'static str> = $check;
                list.iter().try_for_each(check)?;
                Ok(Self(list))
            }
        }

        impl<'de> Deserialize<'de> for $name {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                Vec::deserialize(deserializer)?.try_into().map_err(de::Error::custom)
            }
        }
    )+};
}

lists! {
    /// At most [`MAX_TOPICS`] names of 1–64 characters.
    Topics = MAX_TOPICS String, "topics", "topics", |topic| match is_topic(topic) {
        true => Ok(()),
        false => Err("topics: expected 1 to 64 characters for each topic"),
    };
    /// At most [`MAX_TO`] sources.
    Sources = MAX_TO HostId, "to", "sources", |_| Ok(());
    /// At most [`MAX_MENTIONS`] users.
    Mentioned = MAX_MENTIONS HostId, "mentions", "users", |_| Ok(());
}

/// Whether a text can name a topic: 1–64 characters, whatever they are.
pub fn is_topic(name: &str) -> bool {
    // A character has at most four bytes, so a long text is not counted.
    name.len() <= 4 * MAX_TOPIC_CHARS && (1..=MAX_TOPIC_CHARS).contains(&name.chars().count())
}

fn yes() -> bool {
    true
}

fn or_yes<'de, D: Deserializer<'de>>(deserializer: D) -> Result<bool, D::Error> {
    Option::<bool>::deserialize(deserializer).map(|given| given.unwrap_or_else(yes))
}

/// Reads `null` as a field left out.
pub fn or_default<'de, D: Deserializer<'de>, T: Deserialize<'de> + Default>(deserializer: D) -> Result<T, D::Error> {
    Option::<T>::deserialize(deserializer).map(Option::unwrap_or_default)
}

/// Tells a field left out (`None`) from one that is `null` (`Some(None)`).
fn nullable<'de, D: Deserializer<'de>, T: Deserialize<'de>>(deserializer: D) -> Result<Option<Option<T>>, D::Error> {
    Option::<T>::deserialize(deserializer).map(Some)
}

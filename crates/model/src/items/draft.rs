//! Bodies of publishes and edits, in the API's field names.

use std::fmt;
use std::ops::Deref;

use serde::{Deserialize, Deserializer, Serialize, de};

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

/// A requested publish: the same shape in `POST /v1/content`, in an import and in a log of commands. In every optional
/// field `null` means left out.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Draft {
    /// The author.
    pub author_id: HostId,
    /// The id; made by the server if left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub content_id: Option<HostId>,
    /// Time of publishing; the server's clock if left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub published_at: Option<Time>,
    /// `post` if left out.
    #[serde(default, deserialize_with = "or_default")]
    pub kind: Kind,
    /// The text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
    /// Media, in order.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub media: Option<MediaList>,
    /// At most [`MAX_TOPICS`].
    #[serde(default, deserialize_with = "or_default")]
    pub topics: Topics,
    /// The item that it points at.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ref_id: Option<HostId>,
    /// The host's own data.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub extra: Option<JsonObject>,
    /// Whether it goes to the author's followers.
    #[serde(default = "yes", deserialize_with = "or_yes")]
    pub broadcast: bool,
    /// Further sources to whose followers it goes.
    #[serde(default, deserialize_with = "or_default", skip_serializing_if = "<[_]>::is_empty")]
    pub to: Sources,
    /// Who may see it; the default of its author if left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub audience: Option<Audience>,
    /// Users who get a notice of it.
    #[serde(default, deserialize_with = "or_default", skip_serializing_if = "<[_]>::is_empty")]
    pub mentions: Mentioned,
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

/// A requested comment: a publish without kind and `ref_id`.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CommentDraft {
    /// The author.
    pub author_id: HostId,
    /// The id; made by the server if left out.
    pub content_id: Option<HostId>,
    /// Time of publishing; the server's clock if left out.
    pub published_at: Option<Time>,
    /// The text.
    pub text: Option<String>,
    /// Media, in order.
    pub media: Option<MediaList>,
    /// At most [`MAX_TOPICS`].
    #[serde(default, deserialize_with = "or_default")]
    pub topics: Topics,
    /// The host's own data.
    pub extra: Option<JsonObject>,
    /// Whether it goes to the author's followers: not unless asked for.
    #[serde(default, deserialize_with = "or_default")]
    pub broadcast: bool,
    /// Further sources to whose followers it goes.
    #[serde(default, deserialize_with = "or_default")]
    pub to: Sources,
    /// Who may see it; the default of its author if left out.
    pub audience: Option<Audience>,
    /// Users who get a notice of it.
    #[serde(default, deserialize_with = "or_default")]
    pub mentions: Mentioned,
}

impl CommentDraft {
    /// The publish of this comment on an item.
    pub fn on(self, subject: HostId) -> Draft {
        Draft {
            author_id: self.author_id,
            content_id: self.content_id,
            published_at: self.published_at,
            kind: Kind(COMMENT.to_owned()),
            text: self.text,
            media: self.media,
            topics: self.topics,
            ref_id: Some(subject),
            extra: self.extra,
            broadcast: self.broadcast,
            to: self.to,
            audience: self.audience,
            mentions: self.mentions,
        }
    }
}

/// A requested edit. A field left out stays; `null` clears it.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct EditDraft {
    /// The new text.
    #[serde(default, deserialize_with = "nullable", skip_serializing_if = "Option::is_none")]
    pub text: Option<Option<String>>,
    /// The new media.
    #[serde(default, deserialize_with = "nullable", skip_serializing_if = "Option::is_none")]
    pub media: Option<Option<MediaList>>,
    /// The new extra object.
    #[serde(default, deserialize_with = "nullable", skip_serializing_if = "Option::is_none")]
    pub extra: Option<Option<JsonObject>>,
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

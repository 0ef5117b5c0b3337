//! Bodies of publishes and edits, in the API's field names.

use serde::{Deserialize, Deserializer, Serialize};
use utoipa::openapi::{ObjectBuilder, RefOr, Schema};

use super::fields::Kind;
use crate::{Audience, COMMENT, Content, ExternalId, JsonObject, MediaList, Mentioned, Sources, Time, Topics};

/// A type of the fields of requests, with its schema in the description of the API.
pub(crate) trait Property {
    /// The schema of a field with this description. A type with a schema of its own keeps the description of its schema.
    fn property(about: &str) -> RefOr<Schema>;
}

/// Declares the fields of requests that write items, and makes the types of these requests with their schemas. `publish` has
/// fields of a publish alone, `comment` those that a comment has, too. `edit` names the type of the field in an edit. The
/// comment of a field is its description in the schema. Only the author is required.
macro_rules! item_fields {
    ($(
        publish {$(#[doc = $about:literal] #[$how:meta] $name:ident: $type:ty;)*}
        comment {$(#[doc = $of_both:literal] #[$both_how:meta] $both:ident: $both_type:ty $(, edit $edit:ty)?;)*}
    )+) => {
        /// A requested publish: the same shape in `POST /v1/content`, in an import and in a log of commands. In every
        /// optional field `null` means left out.
        #[derive(Debug, Clone, Serialize, Deserialize)]
        #[serde(deny_unknown_fields)]
        pub struct NewContent {
            /// The author.
            pub author_id: ExternalId,
            $(
                $(#[doc = $about] #[$how] pub $name: $type,)*
                $(#[doc = $of_both] #[$both_how] pub $both: $both_type,)*
            )+
        }

        /// An item in a line of a file: its publish, and the time of the last edit.
        #[derive(Debug, Serialize, Deserialize)]
        #[serde(deny_unknown_fields)]
        pub struct ItemLine {
            /// The author.
            pub author_id: ExternalId,
            $(
                $(#[doc = $about] #[$how] pub $name: $type,)*
                $(#[doc = $of_both] #[$both_how] pub $both: $both_type,)*
            )+
            /// The time of the last edit.
            #[serde(default, skip_serializing_if = "Option::is_none")]
            pub edited_at: Option<Time>,
        }

        impl ItemLine {
            /// The publish, and the time of the last edit.
            pub fn publish(self) -> (NewContent, Option<Time>) {
                let author_id = self.author_id;
                (NewContent { author_id, $($($name: self.$name,)* $($both: self.$both,)*)+ }, self.edited_at)
            }
        }

        /// A requested comment: a publish without kind and `ref_id`, which is not broadcast unless asked for.
        #[derive(Debug, Clone, Deserialize)]
        #[serde(deny_unknown_fields)]
        pub struct NewComment {
            /// The author.
            pub author_id: ExternalId,
            $($(#[doc = $of_both] #[serde(default, deserialize_with = "or_default")] pub $both: $both_type,)*)+
        }

        impl NewComment {
            /// The publish of this comment on an item.
            pub fn on(self, subject: ExternalId) -> NewContent {
                let (kind, ref_id) = (Kind(COMMENT.to_owned()), Some(subject));
                NewContent { author_id: self.author_id, kind, ref_id, $($($both: self.$both,)*)+ }
            }

            pub(crate) fn properties(object: ObjectBuilder) -> ObjectBuilder {
                object $($(.property(stringify!($both), <$both_type>::property($of_both.trim())))*)+
            }
        }

        /// A requested edit. A field left out stays; `null` clears it.
        #[derive(Debug, Clone, Default, Serialize, Deserialize)]
        #[serde(deny_unknown_fields)]
        pub struct ContentEdit {
            $($($(
                #[doc = concat!("The new `", stringify!($both), "`.")]
                #[serde(default, deserialize_with = "nullable", skip_serializing_if = "Option::is_none")]
                pub $both: Option<Option<$edit>>,
            )?)*)+
        }

        impl NewContent {
            pub(crate) fn properties(object: ObjectBuilder) -> ObjectBuilder {
                let object = NewComment::properties(object);
                object $($(.property(stringify!($name), <$type>::property($about.trim())))*)+
            }
        }

        impl ContentEdit {
            pub(crate) fn properties(object: ObjectBuilder) -> ObjectBuilder {
                object $($($(.property(stringify!($both), <$edit>::property($of_both.trim())))?)*)+
            }
        }
    };
}

item_fields! {
    publish {}
    comment {
        /// The id of the item. Default: a new id from the server; such ids rise with time
        #[serde(default, skip_serializing_if = "Option::is_none")]
        content_id: Option<ExternalId>;
        /// Time of publishing. Default: the server's clock
        #[serde(default, skip_serializing_if = "Option::is_none")]
        published_at: Option<Time>;
    }
    publish {
        /// The kind of the item. Default: `post`
        #[serde(default, deserialize_with = "or_default", skip_serializing_if = "is_default")]
        kind: Kind;
    }
    comment {
        /// The text
        #[serde(default, skip_serializing_if = "Option::is_none")]
        text: Option<String>, edit String;
        /// Media, in order
        #[serde(default, skip_serializing_if = "Option::is_none")]
        media: Option<MediaList>, edit MediaList;
        /// Names of topics
        #[serde(default, deserialize_with = "or_default", skip_serializing_if = "is_default")]
        topics: Topics;
    }
    publish {
        /// The id of another item: the original of a repost, the subject of a comment
        #[serde(default, skip_serializing_if = "Option::is_none")]
        ref_id: Option<ExternalId>;
    }
    comment {
        /// The application's own data
        #[serde(default, skip_serializing_if = "Option::is_none")]
        extra: Option<JsonObject>, edit JsonObject;
        /// Whether the item appears in timelines and on the author's own page. Default: `true`
        #[serde(default = "yes", deserialize_with = "or_yes", skip_serializing_if = "is_yes")]
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

impl NewContent {
    /// All ids in it, in the order in which the names among them get numbers.
    pub fn ids(&self) -> impl Iterator<Item = &ExternalId> {
        self.content_id.iter().chain([&self.author_id]).chain(&self.ref_id).chain(&*self.to).chain(&*self.mentions)
    }

    /// The users in it: the author, the further sources, and whom it mentions.
    pub fn users(&self) -> impl Iterator<Item = &ExternalId> {
        [&self.author_id].into_iter().chain(&*self.to).chain(&*self.mentions)
    }

    /// The bytes of its text, its media and `extra`.
    pub fn bytes(&self) -> usize {
        let text = self.text.as_ref().map_or(0, String::len);
        text + self.media.as_ref().map_or(0, MediaList::bytes) + self.extra.as_ref().map_or(0, JsonObject::bytes)
    }

    /// The number of its paths.
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
fn twice(ids: &[ExternalId]) -> Result<(), String> {
    match (1..ids.len()).find(|place| ids[..*place].contains(&ids[*place])) {
        Some(place) => Err(format!("{} occurs twice", ids[place])),
        None => Ok(()),
    }
}

impl ContentEdit {
    /// Whether all fields stay.
    pub fn is_empty(&self) -> bool {
        let Self { text, media, extra } = self;
        text.is_none() && media.is_none() && extra.is_none()
    }

    /// Makes the edit. Its time is the caller's.
    pub fn apply(self, content: &mut Content) {
        if let Some(text) = self.text {
            content.text = text;
        }
        if let Some(media) = self.media {
            content.media = media.map_or_else(|| "[]".to_owned(), MediaList::into_string);
        }
        if let Some(extra) = self.extra {
            content.extra = extra.map(JsonObject::into_string);
        }
    }
}

fn is_default<T: Default + PartialEq>(field: &T) -> bool {
    *field == T::default()
}

fn is_yes(field: &bool) -> bool {
    *field
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

//! Bodies of publishes and edits, in the API's field names.

use std::borrow::Cow;

use serde::{Deserialize, Deserializer, Serialize};
use utoipa::openapi::{ObjectBuilder, RefOr, Schema};

use super::fields::Kind;
use super::plain_fields::Field;
use crate::{
    Audience, COMMENT, ContentId, ExternalId, JsonObject, KindId, MediaList, Mentioned, Millis, POST, Sources, Time,
    Topics, UserId,
};

/// A type of the fields of requests, with its schema in the description of the API.
pub(crate) trait Property {
    /// The schema of a field with this description. A type with a schema of its own keeps the description of its schema.
    fn property(about: &str) -> RefOr<Schema>;
}

/// Declares the fields of items that requests give. Makes the types of these requests with their schemas, and [`Content`].
/// `comment` has fields of publishes and of comments, `publish` those of a publish alone. `plain` has fields of both that
/// hold no ids: requests may leave them out, and [`Field`] tells how they are kept. `edit` names the type of such a field
/// in an edit. The comment of a field is its description in the schema and in `docs/use/api.md`. Only the author is
/// required.
macro_rules! item_fields {
    ($(
        comment {$(#[doc = $of_both:literal] #[$both_how:meta] $both:ident: $both_type:ty;)*}
        publish {$(#[doc = $about:literal] #[$how:meta] $name:ident: $type:ty;)*}
        plain {$(#[doc = $of_plain:literal] $plain:ident: $plain_type:ty $(, edit $edit:ty)?;)*}
    )+) => {
        /// A requested publish: the same shape in `POST /v1/content`, in an import and in a log of commands. In every
        /// optional field `null` means left out.
        #[derive(Debug, Clone, Serialize, Deserialize)]
        #[serde(deny_unknown_fields)]
        pub struct NewContent {
            /// The author.
            pub author_id: ExternalId,
            $(
                $(#[doc = $of_both] #[$both_how] pub $both: $both_type,)*
                $(#[doc = $about] #[$how] pub $name: $type,)*
                $(
                    #[doc = $of_plain]
                    #[serde(default, skip_serializing_if = "Option::is_none")]
                    pub $plain: Option<$plain_type>,
                )*
            )+
        }

        /// An item in a line of a file: its publish, and the time of the last edit.
        #[derive(Debug, Serialize, Deserialize)]
        #[serde(deny_unknown_fields)]
        pub struct ItemLine {
            /// The author.
            pub author_id: ExternalId,
            $(
                $(#[doc = $of_both] #[$both_how] pub $both: $both_type,)*
                $(#[doc = $about] #[$how] pub $name: $type,)*
                $(
                    #[doc = $of_plain]
                    #[serde(default, skip_serializing_if = "Option::is_none")]
                    pub $plain: Option<$plain_type>,
                )*
            )+
            /// The time of the last edit.
            #[serde(default, skip_serializing_if = "Option::is_none")]
            pub edited_at: Option<Time>,
        }

        impl ItemLine {
            /// The line of an author's item with the plain fields only. An error if one cannot be read.
            pub fn plain(author_id: ExternalId, content: &Content) -> Result<Self, String> {
                Ok(Self {
                    author_id,
                    $(
                        $($both: Default::default(),)*
                        $($name: Default::default(),)*
                        $($plain: <$plain_type>::GIVE(&content.$plain)?,)*
                    )+
                    edited_at: None,
                })
            }

            /// The publish, and the time of the last edit.
            pub fn publish(self) -> (NewContent, Option<Time>) {
                let Self { author_id, edited_at, $($($both,)* $($name,)* $($plain,)*)+ } = self;
                (NewContent { author_id, $($($both,)* $($name,)* $($plain,)*)+ }, edited_at)
            }
        }

        /// A requested comment: a publish without kind and `ref_id`, which is not broadcast unless asked for.
        #[derive(Debug, Clone, Deserialize)]
        #[serde(deny_unknown_fields)]
        pub struct NewComment {
            /// The author.
            pub author_id: ExternalId,
            $(
                $(#[doc = $of_both] #[serde(default, deserialize_with = "or_default")] pub $both: $both_type,)*
                $(#[doc = $of_plain] #[serde(default)] pub $plain: Option<$plain_type>,)*
            )+
        }

        impl NewComment {
            /// The publish of this comment on an item.
            pub fn on(self, subject: ExternalId) -> NewContent {
                let (kind, ref_id) = (Kind(COMMENT.to_owned()), Some(subject));
                let Self { author_id, $($($both,)* $($plain,)*)+ } = self;
                NewContent { author_id, kind, ref_id, $($($both,)* $($plain,)*)+ }
            }

            pub(crate) fn properties(object: ObjectBuilder) -> ObjectBuilder {
                object $(
                    $(.property(stringify!($both), <$both_type>::property($of_both.trim())))*
                    $(.property(stringify!($plain), <$plain_type>::property($of_plain.trim())))*
                )+
            }
        }

        impl NewContent {
            /// Its plain fields as they are kept.
            pub(super) fn into_plain(self) -> PlainFields {
                ($($(<$plain_type>::KEEP(self.$plain),)*)+)
            }

            pub(crate) fn properties(object: ObjectBuilder) -> ObjectBuilder {
                let object = NewComment::properties(object);
                object $($(.property(stringify!($name), <$type>::property($about.trim())))*)+
            }
        }

        /// A requested edit. A field left out stays; `null` clears it.
        #[derive(Debug, Clone, Default, Serialize, Deserialize)]
        #[serde(deny_unknown_fields)]
        pub struct ContentEdit {
            $($($(
                #[doc = concat!("The new `", stringify!($plain), "`.")]
                #[serde(default, deserialize_with = "nullable", skip_serializing_if = "Option::is_none")]
                pub $plain: Option<Option<$edit>>,
            )?)*)+
        }

        impl ContentEdit {
            /// Whether all fields stay.
            pub fn is_empty(&self) -> bool {
                true $($($(&& stays::<$edit>(&self.$plain))?)*)+
            }

            /// Makes the edit. Its time is the caller's.
            pub fn apply(self, content: &mut Content) {
                $($($(
                    if let Some(given) = self.$plain {
                        content.$plain = <$edit>::KEEP(given);
                    }
                )?)*)+
            }

            pub(crate) fn properties(object: ObjectBuilder) -> ObjectBuilder {
                object $($($(.property(stringify!($plain), <$edit>::property(without_default($of_plain))))?)*)+
            }
        }

        /// One published item as it stands now.
        #[derive(Debug, Clone, PartialEq, Eq)]
        pub struct Content {
            /// Its id.
            pub id: ContentId,
            /// Its author.
            pub author: UserId,
            /// Time of publishing; with the id its place in every list. Never changes.
            pub published_at: Millis,
            /// Time of the last edit.
            pub edited_at: Option<Millis>,
            /// `post`, or a kind of the application: 1–32 of `a-z0-9_`.
            pub kind: String,
            /// The number of `kind`.
            pub kind_id: KindId,
            /// The item that this one points at.
            pub ref_id: Option<ContentId>,
            /// Whether its author is one of its paths.
            pub broadcast: bool,
            /// Its further paths, each once, none of them the author.
            pub to: Vec<UserId>,
            /// Who may see it.
            pub audience: Audience,
            /// Users who get a notice of it, each once; at most 50.
            pub mentions: Vec<UserId>,
            /// A hash of the body, by which a repeated publish is recognised after an edit.
            pub fingerprint: u64,
            $($(#[doc = $of_plain] pub $plain: <$plain_type as Field>::Kept,)*)+
        }

        /// The plain fields of an item as they are kept, in the order of their declaration.
        pub type PlainFields = ($($(<$plain_type as Field>::Kept,)*)+);

        impl Content {
            /// A broadcast item of a kind for all, with these fields.
            pub fn new(id: ContentId, author: UserId, published_at: Millis, kind: String, plain: PlainFields) -> Self {
                let ($($($plain,)*)+) = plain;
                Self {
                    id,
                    author,
                    published_at,
                    edited_at: None,
                    kind,
                    kind_id: KindId::POST,
                    ref_id: None,
                    broadcast: true,
                    to: Vec::new(),
                    audience: Audience::Public,
                    mentions: Vec::new(),
                    fingerprint: 0,
                    $($($plain,)*)+
                }
            }

            /// A post of an author for all, without anything in it.
            pub fn plain(id: ContentId, author: UserId, published_at: Millis) -> Self {
                let plain = ($($(<$plain_type>::KEEP(None),)*)+);
                Self::new(id, author, published_at, POST.to_owned(), plain)
            }

            /// The item without all that its author has written: what is left of it once it is deleted for good.
            #[must_use]
            pub fn blank(self) -> Self {
                Self { $($($plain: <$plain_type>::KEEP(None),)*)+ ..self }
            }

            /// The [`PlainFields`].
            pub fn plain_fields(&self) -> impl Serialize {
                ($($(&self.$plain,)*)+)
            }

            /// The bytes of its plain fields.
            pub fn bytes(&self) -> usize {
                0 $($(+ <$plain_type>::BYTES(&self.$plain))*)+
            }

            /// The [meanings](Field::MEANING) of its plain fields, with their names.
            pub(super) fn meanings(&self) -> impl Iterator<Item = (&'static str, Cow<'_, str>)> {
                let all = [$($((stringify!($plain), <$plain_type>::MEANING(&self.$plain)),)*)+];
                all.into_iter().filter_map(|(name, meaning)| Some((name, meaning?)))
            }
        }
    };
}

item_fields! {
    comment {
        /// The id of the item. Default: a new id from the server, which rises with time, and which no server with another `ids.server` makes
        #[serde(default, skip_serializing_if = "Option::is_none")]
        content_id: Option<ExternalId>;
        /// The time of the item, by which it takes its place in timelines. Default: the server's clock
        #[serde(default, skip_serializing_if = "Option::is_none")]
        published_at: Option<Time>;
    }
    publish {
        /// The kind of the item: 1 to 32 of the characters `a-z0-9_`, such as `repost`. Default: `post`
        #[serde(default, deserialize_with = "or_default", skip_serializing_if = "is_default")]
        kind: Kind;
    }
    plain {
        /// The text
        text: String, edit String;
        /// Objects with `type`, `url` and any other fields, in order; returned unchanged
        media: MediaList, edit MediaList;
        /// Up to 10 topics of 1 to 64 characters
        topics: Topics;
    }
    comment {}
    publish {
        /// The id of another item: the original of a repost, the subject of a comment
        #[serde(default, skip_serializing_if = "Option::is_none")]
        ref_id: Option<ExternalId>;
    }
    plain {
        /// Any JSON object; returned unchanged
        extra: JsonObject, edit JsonObject;
    }
    comment {
        /// Whether the item goes to the author's followers and is on the author's own page. Default: `true`
        #[serde(default = "yes", deserialize_with = "or_yes", skip_serializing_if = "is_yes")]
        broadcast: bool;
        /// Up to 10 further sources (groups, threads, tags) to whose followers the item goes, each once, not the author
        #[serde(default, deserialize_with = "or_default", skip_serializing_if = "<[_]>::is_empty")]
        to: Sources;
        /// Who may see it: `public`, or `followers` for the author and the followers of one of its paths. Default: that of the author's settings
        #[serde(default, skip_serializing_if = "Option::is_none")]
        audience: Option<Audience>;
        /// Up to 50 users who get a notice of the item, each once
        #[serde(default, deserialize_with = "or_default", skip_serializing_if = "<[_]>::is_empty")]
        mentions: Mentioned;
    }
    publish {}
    plain {}
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

/// The description of a field without its default, which is that of a publish.
fn without_default(about: &str) -> &str {
    about.split_once(" Default:").map_or(about, |(about, _)| about.trim_end_matches('.')).trim()
}

/// Whether an edit leaves a field as it is.
fn stays<T>(field: &Option<Option<T>>) -> bool {
    field.is_none()
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

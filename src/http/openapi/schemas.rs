//! Schemas of what requests say and of the words that answers are made of: `model` has the types, and knows
//! nothing of HTTP.

use std::borrow::Cow;

use utoipa::openapi::schema::{
    AdditionalProperties, ArrayBuilder, KnownFormat, ObjectBuilder, OneOfBuilder, SchemaFormat, SchemaType, Type,
};
use utoipa::openapi::{Object, Ref, RefOr, Schema};
use utoipa::{PartialSchema, ToSchema};

use super::call::Shape;
use crate::model::{
    CommentDraft, ContentId, Draft, EditDraft, JsonObject, MAX_AVATAR, MAX_ID, MAX_MILLIS, MAX_NICKNAME, MAX_TOPICS,
    MediaList, Position, ProfileDraft, ReactionKind, RelationKind, Time, UserId,
};

/// The numbers from 1 to [`MAX_ID`] in plain digits, exactly: those as long as the largest agree with it up to some
/// digit, and are smaller there.
pub(super) fn id_pattern() -> String {
    format!("^{}$", ids())
}

/// Up to `most` ids with commas between them.
pub(super) fn ids_pattern(most: usize) -> String {
    format!("^{0}(,{0}){{0,{1}}}$", ids(), most.saturating_sub(1))
}

/// A time, a hyphen, an id.
pub(super) fn cursor_pattern() -> String {
    format!("^(0|{0})-{0}$", ids())
}

fn ids() -> String {
    let largest = MAX_ID.to_string();
    let mut ways = vec![format!("[1-9][0-9]{{0,{}}}", largest.len() - 2)];
    for (place, digit) in largest.bytes().enumerate() {
        let least = if place == 0 { b'1' } else { b'0' };
        let rest = largest.len() - 1 - place;
        // The last digit may be that of the largest itself.
        let most = if rest == 0 { digit } else { digit.saturating_sub(1) };
        if most < least {
            continue;
        }
        let digits = if least == most {
            char::from(least).to_string()
        } else {
            format!("[{}-{}]", char::from(least), char::from(most))
        };
        let rest = match rest {
            0 => String::new(),
            1 => "[0-9]".to_owned(),
            rest => format!("[0-9]{{{rest}}}"),
        };
        ways.push(format!("{}{digits}{rest}", &largest[..place]));
    }
    format!("({})", ways.join("|"))
}

/// Text of a form.
pub(super) fn text(pattern: &str) -> Object {
    ObjectBuilder::new().schema_type(Type::String).pattern(Some(pattern)).build()
}

/// One of some words.
pub(super) fn enumeration(words: &[&str]) -> Object {
    ObjectBuilder::new().schema_type(Type::String).enum_values(Some(words.iter().copied())).build()
}

/// The name of a topic.
pub(super) fn topic() -> Object {
    ObjectBuilder::new().schema_type(Type::String).min_length(Some(1)).max_length(Some(64)).build()
}

/// `like` or `favorite`.
pub(super) fn reaction_kind() -> Object {
    enumeration(&ReactionKind::ALL.map(ReactionKind::name))
}

/// An object of a request: nothing but these fields.
pub(super) fn closed() -> ObjectBuilder {
    ObjectBuilder::new().additional_properties(Some(AdditionalProperties::FreeForm(false)))
}

/// An object of an answer: later versions may add fields.
pub(super) fn open() -> ObjectBuilder {
    ObjectBuilder::new().additional_properties(Some(AdditionalProperties::FreeForm(true)))
}

/// The type of a field that may be `null` too.
pub(super) fn or_null(schema_type: Type) -> SchemaType {
    SchemaType::from_iter([schema_type, Type::Null])
}

/// An id in a request, where a JSON number will do too. That is said in words: with both types in the schema, clients
/// that are generated from it have a type of their own for every field with an id.
pub(super) fn id() -> ObjectBuilder {
    ObjectBuilder::new().schema_type(Type::String).pattern(Some(id_pattern()))
}

fn time() -> ObjectBuilder {
    ObjectBuilder::new()
        .schema_type(Type::Integer)
        .format(Some(SchemaFormat::KnownFormat(KnownFormat::Int64)))
        .minimum(Some(0))
        .maximum(Some(MAX_MILLIS))
}

/// What a time in a request is, where it may be left out.
const GIVEN_TIME: &str = "Milliseconds since 1970, no later than `content.max_ahead` (10 minutes) after the server's \
                          clock: else 400 `time_ahead`. The server's clock if left out";

/// A time in a request, where it may be left out.
fn given_time() -> ObjectBuilder {
    time().description(Some(GIVEN_TIME))
}

/// A body that says no more than a time.
pub(super) fn since() -> Shape {
    Shape::named("NewSince", closed().property("since", given_time()).build())
}

/// Schemas that others refer to, and that no type of their own stands for.
pub(super) fn shared() -> [(String, RefOr<Schema>); 1] {
    let item = open()
        .description(Some("With what else the host puts there"))
        .property("type", Object::with_type(Type::String))
        .property("url", Object::with_type(Type::String))
        .required("type")
        .required("url");
    [("MediaItem".to_owned(), item.build().into())]
}

fn media() -> ArrayBuilder {
    ArrayBuilder::new().items(Ref::from_schema_name("MediaItem"))
}

/// What the host may put there.
const EXTRA: &str = "Any JSON object, returned untouched; at most 32 levels deep, with numbers that fit 64-bit floats";

/// Gives a type of the model a schema that has a name of its own in the document.
macro_rules! named {
    ($type:ty, $name:literal, $schema:expr) => {
        impl PartialSchema for $type {
            fn schema() -> RefOr<Schema> {
                $schema.into()
            }
        }

        impl ToSchema for $type {
            fn name() -> Cow<'static, str> {
                Cow::Borrowed($name)
            }
        }
    };
}

named!(UserId, "UserId", text("^[1-9][0-9]{0,18}$"));
named!(ContentId, "ContentId", text("^[1-9][0-9]{0,18}$"));
named!(ReactionKind, "ReactionKind", reaction_kind());
named!(RelationKind, "RelationKind", enumeration(&RelationKind::ALL.map(RelationKind::name)));
named!(Time, "Time", time().description(Some("Milliseconds since 1970")).build());
named!(MediaList, "Media", media().description(Some("Pictures and the like, in order")));
named!(JsonObject, "Extra", open().description(Some(EXTRA)).build());
named!(Draft, "NewContent", new_content().build());
named!(CommentDraft, "NewComment", new_comment().build());
named!(EditDraft, "ContentEdit", content_edit().build());
named!(ProfileDraft, "NewProfile", new_profile().build());

impl<I> PartialSchema for Position<I> {
    fn schema() -> RefOr<Schema> {
        text("^[0-9]+-[0-9]+$").into()
    }
}

impl<I> ToSchema for Position<I> {
    fn name() -> Cow<'static, str> {
        Cow::Borrowed("Cursor")
    }
}

/// A publish. The same object is a line of an import.
fn new_content() -> ObjectBuilder {
    let kind = ObjectBuilder::new()
        .schema_type(Type::String)
        .pattern(Some("^[a-z0-9_]{1,32}$"))
        .description(Some("What sort of item; `post` if left out"));
    new_item("Whether it goes into timelines; yes if left out")
        .property("kind", kind)
        .property("ref_id", id().description(Some("Another item: a repost's original, a comment's subject")))
}

fn new_comment() -> ObjectBuilder {
    new_item("Whether it goes into timelines; no if left out")
}

fn new_item(about_broadcast: &str) -> ObjectBuilder {
    let topics = ArrayBuilder::new().items(topic()).max_items(Some(MAX_TOPICS));
    let broadcast = ObjectBuilder::new().schema_type(Type::Boolean).description(Some(about_broadcast));
    closed()
        .property("author_id", id().description(Some("Who publishes")))
        .required("author_id")
        .property("content_id", id().description(Some("Made by the server if left out: time-ordered, unique")))
        .property("published_at", given_time())
        .property("text", Object::with_type(Type::String))
        .property("media", Ref::from_schema_name(MediaList::name()))
        .property("topics", topics)
        .property("extra", Ref::from_schema_name(JsonObject::name()))
        .property("broadcast", broadcast)
}

/// Here `null` says something else than a field that is left out.
fn content_edit() -> ObjectBuilder {
    let null = Object::with_type(Type::Null);
    let extra = OneOfBuilder::new().item(Ref::from_schema_name(JsonObject::name())).item(null);
    closed()
        .description(Some("A field left out stays, `null` clears it"))
        .property("text", ObjectBuilder::new().schema_type(or_null(Type::String)))
        .property("media", media().schema_type(or_null(Type::Array)))
        .property("extra", extra)
}

fn new_profile() -> ObjectBuilder {
    let text =
        |most: usize| ObjectBuilder::new().schema_type(Type::String).min_length(Some(1)).max_length(Some(most)).build();
    closed()
        .description(Some("The whole of it: what is left out is not set afterwards"))
        .property("nickname", text(MAX_NICKNAME))
        .property("avatar", text(MAX_AVATAR))
        .property("extra", Ref::from_schema_name(JsonObject::name()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_pattern_takes_ids_and_nothing_else() {
        let pattern = regex::Regex::new(&id_pattern()).expect("a pattern");
        let takes = |text: &str| pattern.is_match(text);
        for good in
            [1_u64, 9, 10, 12_345, 999_999_999_999_999_999, 1_000_000_000_000_000_000, 8_999_999_999_999_999_999]
        {
            assert!(takes(&good.to_string()), "{good}");
        }
        let mut place = 1;
        for _ in 0..18 {
            for near in [MAX_ID - place, MAX_ID - place / 2, MAX_ID / place * place] {
                assert!(near == 0 || takes(&near.to_string()), "{near}");
                let beyond = MAX_ID + place;
                assert!(!takes(&beyond.to_string()), "{beyond}");
            }
            place *= 10;
        }
        for bad in ["", "0", "01", "9223372036854775808", "9999999999999999999", "10000000000000000000", "a", "1a"] {
            assert!(!takes(bad), "{bad}");
        }
    }
}

//! JSON schemas of the types that requests and answers have, for the description of the API.

use std::borrow::Cow;

use utoipa::openapi::schema::{
    AdditionalProperties, ArrayBuilder, KnownFormat, ObjectBuilder, SchemaFormat, SchemaType, Type,
};
use utoipa::openapi::{Object, Ref, RefOr, Schema};
use utoipa::{PartialSchema, ToSchema};

use crate::items::new_content::Property;
use crate::{
    AVATAR, Audience, ContentEdit, ExternalId, JsonObject, Kind, MAX_AVATAR, MAX_MENTIONS, MAX_MILLIS, MAX_NAME,
    MAX_NICKNAME, MAX_REACTION_NAME, MAX_RULE, MAX_TO, MAX_TOPIC_CHARS, MAX_TOPICS, MediaList, Mentioned, NewComment,
    NewContent, NewProfile, Position, ReactionKind, RelationKind, Sources, Time, Topics,
};

/// Text without control characters.
const NAME: &str = r"[^\x00-\x1f\x7f-\x9f]+";

/// A number from 0 to 2^63-1 in plain digits. Numbers as long as the largest have the same digits up to some place, and
/// a smaller digit there.
const MILLIS: &str = "(0|[1-9][0-9]{0,17}|[1-8][0-9]{18}|9[0-1][0-9]{17}|92[0-1][0-9]{16}|922[0-2][0-9]{15}|\
                      9223[0-2][0-9]{14}|92233[0-6][0-9]{13}|922337[0-1][0-9]{12}|92233720[0-2][0-9]{10}|\
                      922337203[0-5][0-9]{9}|9223372036[0-7][0-9]{8}|92233720368[0-4][0-9]{7}|\
                      922337203685[0-3][0-9]{6}|9223372036854[0-6][0-9]{5}|92233720368547[0-6][0-9]{4}|\
                      922337203685477[0-4][0-9]{3}|9223372036854775[0-7][0-9]{2}|922337203685477580[0-7])";

/// A time, a hyphen, an id.
pub fn cursor_pattern() -> String {
    format!("^{MILLIS}-{NAME}$")
}

/// An id in a path or a query.
pub fn id_text() -> Object {
    id().build()
}

/// The beginning of an id or of a word of a nickname.
pub fn beginning() -> Object {
    id().max_length(Some(MAX_NICKNAME)).build()
}

/// The name of a backup.
pub fn backup_name() -> Object {
    text(r"^[0-9]{8}T[0-9]{6}\.[0-9]{3}Z$")
}

/// Up to 100 ids with commas between them. In an id, `\,` is a comma, and `\\` is a backslash.
pub fn ids_text() -> Object {
    let part = r"([^,\\\x00-\x1f\x7f-\x9f]|\\[^\x00-\x1f\x7f-\x9f])+";
    text(&format!("^{part}(,{part}){{0,99}}$"))
}

/// Text with a pattern.
pub fn text(pattern: &str) -> Object {
    ObjectBuilder::new().schema_type(Type::String).pattern(Some(pattern)).build()
}

/// A cursor in a request.
pub fn cursor() -> Object {
    text(&cursor_pattern())
}

/// The cursor of a notice in a request.
pub fn notice_cursor() -> Object {
    text(&format!("^{MILLIS}-[1-7]-(0|[1-9][0-9]{{0,2}})-[1-9][0-9]{{0,2}}-{NAME}$"))
}

/// The schema of a type by its name.
pub fn of<T: ToSchema>() -> Ref {
    Ref::from_schema_name(T::name())
}

/// An enumeration.
pub fn enumeration(words: &[&str]) -> Object {
    ObjectBuilder::new().schema_type(Type::String).enum_values(Some(words.iter().copied())).build()
}

/// The name of a topic.
pub fn topic() -> Object {
    ObjectBuilder::new().schema_type(Type::String).min_length(Some(1)).max_length(Some(MAX_TOPIC_CHARS)).build()
}

/// The name of a kind of reactions. Each server has its own.
pub fn reaction_kind() -> Object {
    ObjectBuilder::new()
        .schema_type(Type::String)
        .pattern(Some(r"^[^/\x00-\x1f\x7f-\x9f]+$"))
        .min_length(Some(1))
        .max_length(Some(MAX_REACTION_NAME))
        .description(Some("One of the names in `reactions.kinds`, at most 32 bytes. Default: `like` and `favorite`"))
        .build()
}

/// Any JSON object.
pub fn any_object() -> ObjectBuilder {
    let any = ObjectBuilder::new().schema_type(SchemaType::AnyValue).build();
    ObjectBuilder::new().additional_properties(Some(AdditionalProperties::RefOr(RefOr::T(any.into()))))
}

/// An id in a request, which may also be a JSON number. Only the description says so: with both types in the schema,
/// generated clients have a separate type for every field with an id.
pub fn id() -> ObjectBuilder {
    let length = (Some(1), Some(MAX_NAME));
    let text = ObjectBuilder::new().schema_type(Type::String).pattern(Some(format!("^{NAME}$")));
    text.min_length(length.0).max_length(length.1)
}

fn time() -> ObjectBuilder {
    ObjectBuilder::new()
        .schema_type(Type::Integer)
        .format(Some(SchemaFormat::KnownFormat(KnownFormat::Int64)))
        .minimum(Some(0))
        .maximum(Some(MAX_MILLIS))
}

/// The description of an optional time in a request.
const GIVEN_TIME: &str = "Milliseconds since 1970. A time more than `content.max_ahead` (10 minutes) after the \
                          server's clock is refused with 400 `time_ahead`. Default: the server's clock";

/// An optional time in a request.
pub fn given_time() -> ObjectBuilder {
    time().description(Some(GIVEN_TIME))
}

/// The name of a kind of content.
const KIND: &str = "[a-z0-9_]{1,32}";

/// The kinds that a path shows, in a request: all others are left out.
pub fn only() -> ArrayBuilder {
    kinds("The only kinds of items that it shows. Not together with `except`")
}

/// The kinds that a path leaves out, in a request.
pub fn except() -> ArrayBuilder {
    kinds("The kinds of items that it does not show. Not together with `only`")
}

fn kinds(about: &str) -> ArrayBuilder {
    let array = ArrayBuilder::new().items(text(&format!("^{KIND}$"))).description(Some(about));
    array.max_items(Some(MAX_RULE)).unique_items(true)
}

/// Names of kinds of content with commas between them.
pub fn kinds_text() -> Object {
    text(&format!("^{KIND}(,{KIND}){{0,{}}}$", MAX_RULE - 1))
}

/// Schemas that others refer to and that have no type.
pub fn shared() -> [(String, RefOr<Schema>); 1] {
    let item = ObjectBuilder::new()
        .description(Some("A picture, a video or another attachment. Other fields of the application are kept"))
        .property("type", Object::with_type(Type::String))
        .property("url", Object::with_type(Type::String))
        .required("type")
        .required("url");
    [("MediaItem".to_owned(), item.build().into())]
}

fn media() -> ArrayBuilder {
    ArrayBuilder::new().items(Ref::from_schema_name("MediaItem"))
}

/// The description of `extra`.
const EXTRA: &str = "Any JSON object, returned unchanged; at most 32 levels deep, with numbers that fit 64-bit floats";

/// The description of ids.
const ABOUT_ID: &str = "An id of a user or an item, as the application gave it: 1 to 128 bytes of UTF-8 without \
                        control characters";

/// Gives a type of the model a named schema in the document.
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

named!(ExternalId, "Id", id().description(Some(ABOUT_ID)).build());
named!(ReactionKind, "ReactionKind", reaction_kind());
named!(Audience, "Audience", audience());
named!(RelationKind, "RelationKind", enumeration(&RelationKind::ALL.map(RelationKind::name)));
named!(Time, "Time", time().description(Some("Milliseconds since 1970")).build());
named!(MediaList, "Media", media().description(Some("Attachments such as pictures, in order")));
named!(JsonObject, "Extra", any_object().description(Some(EXTRA)).build());
named!(NewContent, "NewContent", NewContent::properties(of_author()).build());
named!(NewComment, "NewComment", new_comment().build());
named!(ContentEdit, "ContentEdit", content_edit().build());
named!(NewProfile, "NewProfile", new_profile().build());

impl<I> PartialSchema for Position<I> {
    fn schema() -> RefOr<Schema> {
        text(r"^[0-9]+-[^\x00-\x1f\x7f-\x9f]+$").into()
    }
}

impl<I> ToSchema for Position<I> {
    fn name() -> Cow<'static, str> {
        Cow::Borrowed("Cursor")
    }
}

fn audience() -> Object {
    let mut words = enumeration(&Audience::ALL.map(Audience::name));
    let about = "Who sees the item: everybody, or its author and the followers of one of its paths. A path through a source \
                 that is suspended, or that hides from the viewer, does not count";
    words.description = Some(about.to_owned());
    words
}

/// Fields with this schema, whose description is `$about`.
macro_rules! properties {
    ($($type:ty, |$about:ident| $schema:expr;)+) => {$(
        impl Property for $type {
            fn property($about: &str) -> RefOr<Schema> {
                $schema.into()
            }
        }
    )+};
}

properties! {
    ExternalId, |about| id().description(Some(about));
    Time, |_about| given_time();
    Kind, |about| ObjectBuilder::from(text(&format!("^{KIND}$"))).description(Some(about));
    String, |about| ObjectBuilder::new().schema_type(Type::String).description(Some(about));
    bool, |about| ObjectBuilder::new().schema_type(Type::Boolean).description(Some(about));
    MediaList, |_about| of::<Self>();
    JsonObject, |_about| of::<Self>();
    Audience, |_about| of::<Self>();
    Topics, |about| ArrayBuilder::new().items(topic()).max_items(Some(MAX_TOPICS)).description(Some(about));
    Sources, |about| ArrayBuilder::new().items(id()).max_items(Some(MAX_TO)).description(Some(about));
    Mentioned, |about| ArrayBuilder::new().items(id()).max_items(Some(MAX_MENTIONS)).description(Some(about));
}

impl<T: Property> Property for Option<T> {
    fn property(about: &str) -> RefOr<Schema> {
        T::property(about)
    }
}

/// The only field of an item that is required.
fn of_author() -> ObjectBuilder {
    let author = ExternalId::property("The author of the item");
    ObjectBuilder::new().property("author_id", author).required("author_id")
}

fn new_comment() -> ObjectBuilder {
    let broadcast =
        "Whether the comment goes to the author's followers and is on the author's own page. Default: `false`";
    NewComment::properties(of_author()).property("broadcast", bool::property(broadcast))
}

/// Here `null` differs from a field left out.
fn content_edit() -> ObjectBuilder {
    let about = "A missing field stays unchanged; `null` clears the field";
    ContentEdit::properties(ObjectBuilder::new().description(Some(about)))
}

fn new_profile() -> ObjectBuilder {
    let text = |most: usize| ObjectBuilder::new().schema_type(Type::String).min_length(Some(1)).max_length(Some(most));
    ObjectBuilder::new()
        .description(Some("The whole new profile: a missing field is `null` afterwards"))
        .property("nickname", text(MAX_NICKNAME).build())
        .property("avatar", text(MAX_AVATAR).pattern(Some(AVATAR)).build())
        .property("extra", Ref::from_schema_name(JsonObject::name()))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The fields that a type's error for an unknown field lists.
    fn fields<T: serde::de::DeserializeOwned>() -> Vec<String> {
        let told = serde_json::from_str::<T>(r#"{"?":1}"#).err().expect("no such field").to_string();
        let mut fields: Vec<_> = told.split('`').skip(3).step_by(2).map(str::to_owned).collect();
        fields.sort();
        fields
    }

    #[test]
    fn the_schemas_written_here_have_the_fields_that_are_read() {
        for (read, schema) in [
            (fields::<NewContent>(), NewContent::schema()),
            (fields::<NewComment>(), NewComment::schema()),
            (fields::<ContentEdit>(), ContentEdit::schema()),
            (fields::<NewProfile>(), NewProfile::schema()),
        ] {
            let schema = serde_json::to_value(schema).expect("JSON");
            let properties = schema["properties"].as_object().expect("an object");
            let mut described: Vec<_> = properties.keys().cloned().collect();
            described.sort();
            assert_eq!(described, read);
            assert!(!read.is_empty());
        }
    }

    #[test]
    fn the_pattern_takes_cursors_and_nothing_else() {
        let pattern = regex::Regex::new(&cursor_pattern()).expect("a pattern");
        for good in ["0-1", "9223372036854775807-a b", "9223372036854775799--", "1689089522000-é/%", "1-01"] {
            assert!(pattern.is_match(good), "{good}");
        }
        for bad in ["", "1", "1-", "-1", "01-1", "9223372036854775808-1", "9999999999999999999-1", "a-1", "1-\u{7f}"] {
            assert!(!pattern.is_match(bad), "{bad}");
        }
    }
}

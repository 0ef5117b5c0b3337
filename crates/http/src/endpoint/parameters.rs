//! The parameters of paths and queries.

use serde_json::Value;
use utoipa::openapi::path::{ParameterBuilder, ParameterIn};
use utoipa::openapi::schema::{ObjectBuilder, Type};
use utoipa::openapi::{Object, Ref, RefOr, Required, Schema, path::Parameter};

use crate::nodes::consistency;
use crate::wire::query::{self, DEFAULT_LIMIT, MAX_LIMIT};
use model::schemas::{self, enumeration};

/// Names of the schemas of enumerations. Generated clients have one type for each, not one a parameter.
const REACTION_KIND: &str = "ReactionKind";
const VIEW: &str = "View";
const CONSISTENCY: &str = "Consistency";
const USER_ORDER: &str = "UserOrder";

/// The schemas of these enumerations.
pub(crate) fn words() -> [(String, RefOr<Schema>); 4] {
    let named = |name: &str, words: Object| (name.to_owned(), words.into());
    [
        named(REACTION_KIND, schemas::reaction_kind()),
        named(VIEW, enumeration(&["full", "ids"])),
        named(CONSISTENCY, enumeration(&["strict", "session", "local"])),
        named(USER_ORDER, enumeration(&["recent", "followers", "new"])),
    ]
}

/// The parameter `{name}` of a path; `None` for an unknown name.
pub(crate) fn in_path(name: &str) -> Option<Parameter> {
    let (about, schema, example): (_, RefOr<Schema>, Value) = match name {
        "uid" => ("The id of the user", schemas::id_text().into(), "111".into()),
        "target" => ("The id of the other user", schemas::id_text().into(), "200".into()),
        "from" => ("The id of the user who has asked", schemas::id_text().into(), "200".into()),
        "follower" => ("The id of the follower", schemas::id_text().into(), "200".into()),
        "content_id" => ("The id of the item", schemas::id_text().into(), "32850".into()),
        "topic" => ("The topic, percent-encoded: `a/b` is `a%2Fb`", schemas::topic().into(), "sea".into()),
        "list" => ("The name of the list, percent-encoded", schemas::topic().into(), "close".into()),
        "source" => ("The id of the source", schemas::id_text().into(), "200".into()),
        "name" => ("The name of the backup", schemas::backup_name().into(), "20261122T143000.123Z".into()),
        "kind" => ("The kind of the reaction", Ref::from_schema_name(REACTION_KIND).into(), "like".into()),
        _ => return None,
    };
    let parameter = ParameterBuilder::new()
        .name(name)
        .parameter_in(ParameterIn::Path)
        .required(Required::True)
        .description(Some(about))
        .schema(Some(schema))
        .example(Some(example));
    Some(parameter.build())
}

fn in_query(name: &str, about: &str, schema: impl Into<RefOr<Schema>>) -> ParameterBuilder {
    ParameterBuilder::new()
        .name(name)
        .parameter_in(ParameterIn::Query)
        .required(Required::False)
        .description(Some(about))
        .schema(Some(schema.into()))
}

/// An optional header of the request.
pub(crate) fn header(name: &str, about: &str, schema: impl Into<RefOr<Schema>>, example: &str) -> Parameter {
    in_query(name, about, schema).parameter_in(ParameterIn::Header).example(Some(example.into())).build()
}

/// An optional parameter.
pub(crate) fn optional(name: &str, about: &str, schema: impl Into<RefOr<Schema>>) -> Parameter {
    in_query(name, about, schema).build()
}

/// An optional parameter with an example.
pub(crate) fn shown(name: &str, about: &str, schema: impl Into<RefOr<Schema>>, example: impl Into<Value>) -> Parameter {
    in_query(name, about, schema).example(Some(example.into())).build()
}

/// A required parameter.
pub(crate) fn required(name: &str, about: &str, schema: impl Into<RefOr<Schema>>, example: &str) -> Parameter {
    in_query(name, about, schema).required(Required::True).example(Some(example.into())).build()
}

/// Up to [`MAX_IDS`](crate::wire::query::MAX_IDS) ids with commas between them. The type is text, because many generators send a list as one
/// parameter an item, whatever its description says.
pub(crate) fn ids(name: &str, about: &str, example: &str) -> Parameter {
    required(name, about, schemas::ids_text(), example)
}

/// A whole number.
pub(crate) fn number(from: usize, to: usize, default: usize) -> Object {
    ObjectBuilder::new()
        .schema_type(Type::Integer)
        .minimum(Some(from))
        .maximum(Some(to))
        .default(Some(default.into()))
        .build()
}

/// Yes or no, no by default.
pub(crate) fn flag(name: &str, about: &str) -> Parameter {
    let schema = ObjectBuilder::new().schema_type(Type::Boolean).default(Some(false.into())).build();
    shown(name, about, schema, true)
}

/// The parameters of every paged list.
pub(crate) fn page() -> [Parameter; 3] {
    [
        optional("limit", "The largest number of entries on the page", number(1, MAX_LIMIT, DEFAULT_LIMIT)),
        optional("before", "Only entries older than this cursor", schemas::cursor()),
        optional(
            "after",
            "Only entries newer than this cursor. Without `before`, the page just above the cursor; one of items ends below \
             those whose time has not come",
            schemas::cursor(),
        ),
    ]
}

/// The parameter and the header of every read of data that all nodes of a cluster share.
pub(crate) fn consistency() -> [Parameter; 2] {
    [
        optional(
            query::CONSISTENCY,
            "On a node of a cluster, the changes that the answer must show. `strict`: all that any node has acknowledged \
             before the request; costs a round trip to the command log, some milliseconds. `session`: all up to the \
             position in `Tideline-Position`; waits only if this node is behind it. `local`: those that this node has \
             applied, perhaps newer ones too, without a wait for the command log. Without the parameter, the setting \
             `cluster.consistency`. A server without a cluster always shows all acknowledged changes",
            Ref::from_schema_name(CONSISTENCY),
        ),
        header(
            consistency::POSITION_TITLE,
            "For `session`: the value of this header in the last answer to the client, or several values separated by commas. \
             It has no meaning for clients",
            position(),
            "0f7c5b1d9a3e42662a",
        ),
    ]
}

/// Positions in the command log.
pub(crate) fn position() -> Object {
    schemas::text(consistency::POSITION_PATTERN)
}

/// The order of a list of users.
pub(crate) fn user_order() -> Parameter {
    optional("order", "The order without `search`: `recent` by default", Ref::from_schema_name(USER_ORDER))
}

/// The parameters of pages of notices.
pub(crate) fn notice_page() -> [Parameter; 3] {
    let [limit, ..] = page();
    let place = |name, about| shown(name, about, schemas::notice_cursor(), "1689089522000-1-0-3-200-");
    [
        limit,
        place("before", "Only notices older than this cursor"),
        place("after", "Only notices newer than this cursor. Without `before`, the page just above the cursor"),
    ]
}

/// The parameters that choose kinds of content.
pub(crate) fn kinds() -> [Parameter; 2] {
    [
        optional("kinds", "Only items of these kinds, up to 16 with commas between them", schemas::kinds_text()),
        optional("except_kinds", "No items of these kinds. Not together with `kinds`", schemas::kinds_text()),
    ]
}

/// The parameter of calls that show content: the user who sees it.
pub(crate) fn viewer() -> Parameter {
    let about = "Only what this user may see, with the reactions of this user in `viewer`. Without it, a key sees all that is \
                 live, and a token what its user sees; a token may name only its user";
    optional("viewer", about, schemas::id_text())
}

/// The parameter of lists of content.
pub(crate) fn view() -> Parameter {
    optional("view", "`ids` returns only the id, the author and the time of each item", Ref::from_schema_name(VIEW))
}

//! The parameters of paths and queries.

use serde::Serialize;
use serde_json::{Value, json};

use crate::nodes::consistency;
use crate::wire::query::{self, LIMIT, Number};
use config::Config;
use model::schemas::{self, enumeration};

/// The schemas of enumerations with names. Generated clients have one type for each, not one a parameter.
pub(crate) fn words() -> [(String, Value); 4] {
    let named = |name: &str, words| (name.to_owned(), json!(words));
    [
        named("ReactionKind", schemas::reaction_kind()),
        named("View", enumeration(&["full", "ids"])),
        named("Consistency", enumeration(&["strict", "session", "local"])),
        named("UserOrder", enumeration(&["recent", "followers", "new"])),
    ]
}

/// A schema by its name.
pub(crate) fn reference(name: &str) -> Value {
    json!({"$ref": format!("#/components/schemas/{name}")})
}

/// The parameter `{name}` of a path; `None` for an unknown name.
pub(crate) fn in_path(name: &str) -> Option<Value> {
    let id = || json!(schemas::id_text());
    let (about, schema, example) = match name {
        "uid" => ("The id of the user", id(), "111"),
        "target" => ("The id of the other user", id(), "200"),
        "from" => ("The id of the user who has asked", id(), "200"),
        "follower" => ("The id of the follower", id(), "200"),
        "content_id" => ("The id of the item", id(), "32850"),
        "topic" => ("The topic, percent-encoded: `a/b` is `a%2Fb`", json!(schemas::topic()), "sea"),
        "list" => ("The name of the list, percent-encoded", json!(schemas::topic()), "close"),
        "source" => ("The id of the source", id(), "200"),
        "name" => ("The name of the backup", json!(schemas::backup_name()), "20261122T143000.123Z"),
        "kind" => ("The kind of the reaction", reference("ReactionKind"), "like"),
        _ => return None,
    };
    let mut parameter = required(name, about, schema, example);
    parameter["in"] = "path".into();
    Some(parameter)
}

/// An optional parameter.
pub(crate) fn optional(name: &str, about: &str, schema: impl Serialize) -> Value {
    json!({"name": name, "in": "query", "description": about, "required": false, "schema": schema})
}

/// An optional parameter with an example.
pub(crate) fn shown(name: &str, about: &str, schema: impl Serialize, example: impl Into<Value>) -> Value {
    let mut parameter = optional(name, about, schema);
    parameter["example"] = example.into();
    parameter
}

/// An optional header of the request.
pub(crate) fn header(name: &str, about: &str, schema: impl Serialize, example: &str) -> Value {
    let mut header = shown(name, about, schema, example);
    header["in"] = "header".into();
    header
}

/// A required parameter.
pub(crate) fn required(name: &str, about: &str, schema: impl Serialize, example: &str) -> Value {
    let mut parameter = shown(name, about, schema, example);
    parameter["required"] = true.into();
    parameter
}

/// Up to [`MAX_IDS`](crate::wire::query::MAX_IDS) ids with commas between them. The type is text, because many generators send a list as one
/// parameter an item, whatever its description says.
pub(crate) fn ids(name: &str, about: &str, example: &str) -> Value {
    required(name, about, schemas::ids_text(), example)
}

/// A whole number. A greatest value that a setting moves is that of the greatest setting.
pub(crate) fn number(of: &Number) -> Value {
    let most = (of.most)(&Config::greatest());
    optional(of.name, of.about, json!({"type": "integer", "minimum": 1, "maximum": most, "default": of.usual}))
}

/// Yes or no, no by default.
pub(crate) fn flag(name: &str, about: &str) -> Value {
    shown(name, about, json!({"type": "boolean", "default": false}), true)
}

/// The parameters of every paged list.
pub(crate) fn page() -> [Value; 3] {
    [
        number(&LIMIT),
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
pub(crate) fn consistency() -> [Value; 2] {
    [
        optional(
            query::CONSISTENCY,
            "On a node of a cluster, the changes that the answer must show. `strict`: all that any node has acknowledged \
             before the request; costs a round trip to the command log, some milliseconds. `session`: all up to the \
             position in `Tideline-Position`; waits only if this node is behind it. `local`: those that this node has \
             applied, perhaps newer ones too, without a wait for the command log. Without the parameter, the setting \
             `cluster.consistency`. A server without a cluster always shows all acknowledged changes",
            reference("Consistency"),
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
pub(crate) fn position() -> Value {
    json!(schemas::text(consistency::POSITION_PATTERN))
}

/// The order of a list of users.
pub(crate) fn user_order() -> Value {
    optional("order", "The order without `search`: `recent` by default", reference("UserOrder"))
}

/// The parameters of pages of notices.
pub(crate) fn notice_page() -> [Value; 3] {
    let [limit, ..] = page();
    let place = |name, about| shown(name, about, schemas::notice_cursor(), "1689089522000-1-0-3-200-");
    [
        limit,
        place("before", "Only notices older than this cursor"),
        place("after", "Only notices newer than this cursor. Without `before`, the page just above the cursor"),
    ]
}

/// The parameters that choose kinds of content.
pub(crate) fn kinds() -> [Value; 2] {
    [
        optional("kinds", "Only items of these kinds, up to 16 with commas between them", schemas::kinds_text()),
        optional("except_kinds", "No items of these kinds. Not together with `kinds`", schemas::kinds_text()),
    ]
}

/// The parameter of calls that show content: the user who sees it.
pub(crate) fn viewer() -> Value {
    let about = "Only what this user may see, with the reactions of this user in `viewer`. Without it, a key sees all that is \
                 live, and a token what its user sees; a token may name only its user";
    optional("viewer", about, schemas::id_text())
}

/// The parameter of lists of content.
pub(crate) fn view() -> Value {
    optional("view", "`ids` returns only the id, the author and the time of each item", reference("View"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wire::query::Query;

    #[test]
    fn a_setting_moves_the_bound_of_a_number() {
        const OF: Number = Number { name: "n", about: "", most: |config| config.timeline.look_at, usual: 20 };
        let (names, mut config) = (["n".to_owned()], Config::default());
        config.timeline.look_at = 16;
        let read = |query| Query::parse(query, &names, |_| false, &config).and_then(|query| query.number(&OF));
        assert_eq!((read("n=16").ok(), read("").ok()), (Some(16), Some(16)));
        let refusal = read("n=17").expect_err("beyond the setting").to_string();
        assert_eq!(refusal, "n: expected a whole number from 1 to 16, not \"17\"");
        assert_eq!(number(&OF)["schema"]["maximum"], 1_000_000);
    }
}

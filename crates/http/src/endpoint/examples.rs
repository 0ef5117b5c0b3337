//! Examples of bodies and answers in the OpenAPI document.
//!
//! An example follows from the schema of its type, and `examples.json` has what says more than that: an example, or some fields of
//! one, by the name of a type in the document. A name with a slash is another one of the type.

use std::sync::LazyLock;

use serde_json::{Map, Value, json};

/// The examples that do not follow from schemas.
static EXAMPLES: LazyLock<Map<String, Value>> =
    LazyLock::new(|| serde_json::from_str(include_str!("examples.json")).unwrap_or_default());

/// The example with a name, as far as it does not follow; `null` if all of it does.
pub(crate) fn example(name: &str) -> Value {
    EXAMPLES.get(name).cloned().unwrap_or_default()
}

/// The schemas of the document by their names.
pub(crate) struct Examples<'a>(pub(crate) &'a Map<String, Value>);

impl Examples<'_> {
    /// Completes the examples of the body and the answers of a call.
    pub(crate) fn complete(&self, operation: &mut Value) {
        for (name, part) in operation.as_object_mut().into_iter().flatten() {
            match (name.as_str(), part) {
                ("requestBody", body) => self.complete_contents(body),
                ("responses", Value::Object(answers)) => answers.values_mut().for_each(|it| self.complete_contents(it)),
                _ => {}
            }
        }
    }

    fn complete_contents(&self, part: &mut Value) {
        let contents = part.get_mut("content").and_then(Value::as_object_mut);
        for content in contents.into_iter().flat_map(Map::values_mut) {
            let given = Some(content["example"].take()).filter(|given| !given.is_null());
            let schema = &content["schema"];
            let whole = type_name(schema).and_then(|name| self.0.get(name)).unwrap_or(schema);
            content["example"] = self.filled(whole, given, "");
        }
    }

    /// The example of a field, or of an element of it.
    fn filled(&self, schema: &Value, given: Option<Value>, field: &str) -> Value {
        if given.as_ref().is_some_and(Value::is_null) {
            return Value::Null;
        }
        if let Some(name) = type_name(schema) {
            let given = over(EXAMPLES.get(name).cloned(), given);
            return self.0.get(name).map_or(Value::Null, |schema| self.filled(schema, given, field));
        }
        if let Some(first) = schema["oneOf"].get(0) {
            return self.filled(first, given, field);
        }
        match (kind(schema), given) {
            ("object", None) => self.object(schema, None),
            ("object", Some(Value::Object(given))) => self.object(schema, Some(given)),
            ("array", None) => json!([self.filled(&schema["items"], None, field)]),
            ("array", Some(Value::Array(given))) => {
                given.into_iter().map(|one| self.filled(&schema["items"], Some(one), field)).collect()
            }
            (_, Some(given)) => given,
            (_, None) => plain(schema, field),
        }
    }

    /// An object with the fields that are given, and those that it always has; with all if none are given.
    fn object(&self, schema: &Value, given: Option<Map<String, Value>>) -> Value {
        let required = schema["required"].as_array().map_or(&[][..], Vec::as_slice);
        let has_all = given.is_none();
        let mut fields = given.unwrap_or_default();
        for (name, field) in schema["properties"].as_object().into_iter().flatten() {
            let value = fields.remove(name);
            if value.is_some() || has_all || required.contains(&name.as_str().into()) {
                fields.insert(name.clone(), self.filled(field, value, name));
            }
        }
        fields.into()
    }
}

/// The fields of one example in place of those of another.
fn over(base: Option<Value>, given: Option<Value>) -> Option<Value> {
    match (base, given) {
        (Some(Value::Object(base)), Some(Value::Object(given))) => Some(base.into_iter().chain(given).collect()),
        (base, given) => given.or(base),
    }
}

/// The name of the type that a schema refers to.
fn type_name(schema: &Value) -> Option<&str> {
    schema["$ref"].as_str()?.rsplit('/').next()
}

/// The JSON type of a value that is not `null`.
fn kind(schema: &Value) -> &str {
    let kinds = &schema["type"];
    kinds.as_str().or_else(|| kinds[0].as_str()).unwrap_or_default()
}

/// The example of a field that is no object and no list.
fn plain(schema: &Value, field: &str) -> Value {
    if let Some(first) = schema.get("example").or_else(|| schema["enum"].get(0)) {
        return first.clone();
    }
    match kind(schema) {
        "boolean" => true.into(),
        "integer" if schema["maximum"] == i64::MAX => 1_689_089_522_000_i64.into(),
        "integer" => schema["minimum"].as_i64().unwrap_or_default().max(3).into(),
        "number" => 0.5.into(),
        "string" => match field {
            "user_id" => "111".into(),
            "content_id" => "32850".into(),
            "cursor" | "next" | "prev" | "floor" => "1689089522000-32850".into(),
            name if name.ends_with("_id") => "200".into(),
            name => name.into(),
        },
        _ => Value::Null,
    }
}

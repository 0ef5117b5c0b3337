//! Schemas of the document, each with the parts that it needs.

use serde::Serialize;
use serde_json::{Value, json};
use utoipa::ToSchema;

use super::parameters::reference;

/// A schema behind the schemas that it refers to, each with its name.
pub(crate) type Shape = Vec<(String, Value)>;

/// The schema of a type.
pub(crate) fn of<T: ToSchema>() -> Shape {
    let mut parts = Vec::new();
    T::schemas(&mut parts);
    let parts = parts.into_iter().map(|(name, part)| (name, json!(part)));
    parts.chain([(T::name().into_owned(), json!(T::schema()))]).collect()
}

/// The schema of a type in a request. Every optional field may also be `null`. The server refuses fields beyond the
/// properties; the schema does not say so, because generators of clients make maps of objects with
/// `additionalProperties`, and leave their properties out.
pub(super) fn of_request<T: ToSchema>() -> Shape {
    let mut shape = of::<T>();
    for part in shape.iter_mut().filter_map(|(_, part)| part.as_object_mut()) {
        part.remove("additionalProperties");
        let required = part.get("required").cloned().unwrap_or_default();
        let is_required = |name: &str| required.as_array().is_some_and(|names| names.contains(&name.into()));
        let properties = part.get_mut("properties").and_then(Value::as_object_mut).into_iter().flatten();
        properties.filter(|(name, _)| !is_required(name)).for_each(|(_, field)| allow_null(field));
    }
    shape
}

/// A given schema, under a name.
pub(crate) fn named(name: &str, schema: impl Serialize) -> Shape {
    vec![(name.to_owned(), json!(schema))]
}

/// Refers to a schema.
pub(super) fn referred(shape: &Shape) -> Value {
    shape.last().map(|(name, _)| reference(name)).unwrap_or_default()
}

/// Several of a type, as an object `{items}` with a name.
pub(super) fn items<T: ToSchema>(name: &str) -> Shape {
    let mut shape = of::<T>();
    let items = json!({"type": "array", "items": referred(&shape)});
    shape.push((name.to_owned(), json!({"type": "object", "required": ["items"], "properties": {"items": items}})));
    shape
}

/// A page of a type, as an object `{items, next, prev}` with a name.
pub(super) fn page<T: ToSchema>(name: &str) -> Shape {
    let cursor = |about: &str| {
        let pattern = r"^[0-9]+-[^\x00-\x1f\x7f-\x9f]+$";
        json!({"type": ["string", "null"], "pattern": pattern, "description": about})
    };
    let mut shape = items::<T>(name);
    if let Some((_, page)) = shape.last_mut() {
        page["required"] = json!(["next", "prev", "items"]);
        page["properties"]["next"] =
            cursor("The cursor to pass as `before` for older entries; `null` on the last page");
        page["properties"]["prev"] =
            cursor("The cursor to pass as `after` for newer entries; `null` only for an empty list without bounds");
    }
    shape
}

/// Lets a field be `null`, too.
fn allow_null(field: &mut Value) {
    if field.get("$ref").is_some() {
        let about = field.as_object_mut().and_then(|field| field.remove("description"));
        *field = json!({"oneOf": [field, {"type": "null"}]});
        if let Some(about) = about {
            field["description"] = about;
        }
    } else if let Some(one) = field.get_mut("type") {
        match one {
            Value::Array(several) if several.contains(&"null".into()) => {}
            Value::Array(several) => several.push("null".into()),
            one => *one = json!([one, "null"]),
        }
    }
}

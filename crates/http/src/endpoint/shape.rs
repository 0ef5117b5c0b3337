//! A schema of the document, with the parts that it needs.

use serde::Serialize;
use serde_json::{Value, json};
use utoipa::ToSchema;

use super::parameters::reference;

/// A schema with the schemas that it refers to, each by its name.
pub(crate) struct Shape {
    pub(crate) schema: Value,
    pub(crate) parts: Vec<(String, Value)>,
}

impl Shape {
    /// The schema of a type.
    pub(crate) fn of<T: ToSchema>() -> Self {
        let mut parts = Vec::new();
        T::schemas(&mut parts);
        let parts = parts.into_iter().map(|(name, part)| (name, json!(part))).collect();
        Self { schema: Value::Null, parts }.under(&T::name(), json!(T::schema()))
    }

    /// The schema of a type in a request. Every optional field may also be `null`. The server refuses fields beyond the
    /// properties; the schema does not say so, because generators of clients make maps of objects with
    /// `additionalProperties`, and leave their properties out.
    pub(crate) fn of_request<T: ToSchema>() -> Self {
        let mut shape = Self::of::<T>();
        for part in shape.parts.iter_mut().filter_map(|(_, part)| part.as_object_mut()) {
            part.remove("additionalProperties");
            let required = part.get("required").cloned().unwrap_or_default();
            let is_required = |name: &str| required.as_array().is_some_and(|names| names.contains(&name.into()));
            let properties = part.get_mut("properties").and_then(Value::as_object_mut).into_iter().flatten();
            properties.filter(|(name, _)| !is_required(name)).for_each(|(_, field)| allow_null(field));
        }
        shape
    }

    /// A given schema, under a name.
    pub(crate) fn named(name: &str, schema: impl Serialize) -> Self {
        Self { schema: Value::Null, parts: Vec::new() }.under(name, json!(schema))
    }

    /// Several of them, as an object `{items}` with a name.
    pub(crate) fn items(self, name: &str) -> Self {
        let items = json!({"type": "array", "items": self.schema});
        self.under(name, json!({"type": "object", "required": ["items"], "properties": {"items": items}}))
    }

    /// A page of them, as an object `{items, next, prev}` with a name.
    pub(crate) fn page(self, name: &str) -> Self {
        let cursor = |about: &str| {
            let pattern = r"^[0-9]+-[^\x00-\x1f\x7f-\x9f]+$";
            json!({"type": ["string", "null"], "pattern": pattern, "description": about})
        };
        let mut shape = self.items(name);
        if let Some((_, page)) = shape.parts.last_mut() {
            page["required"] = json!(["next", "prev", "items"]);
            page["properties"]["next"] =
                cursor("The cursor to pass as `before` for older entries; `null` on the last page");
            page["properties"]["prev"] =
                cursor("The cursor to pass as `after` for newer entries; `null` only for an empty list without bounds");
        }
        shape
    }

    /// A schema with a name that needs these parts.
    fn under(mut self, name: &str, schema: Value) -> Self {
        self.parts.push((name.to_owned(), schema));
        Self { schema: reference(name), ..self }
    }
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

//! The description of an endpoint in the OpenAPI document.

use serde_json::{Map, Value, json};
use utoipa::ToSchema;
use utoipa::openapi::Object;
use utoipa::openapi::schema::Type;

use super::examples::example;
use super::shape::{self, Shape};
use super::{BodyKind, Endpoint, RouteInfo, parameters};
use crate::nodes::consistency::POSITION_TITLE;

/// Parameters of another call, each with the expression that extracts it from a request or its answer.
pub(crate) type Takes = [(&'static str, &'static str)];

/// The operation of OpenAPI: the name, the summary and perhaps a longer description behind an empty line, and the parameters
/// of the path. Its other fields follow from the shape of the call (`openapi`).
pub(super) fn operation(info: &RouteInfo, id: &str, about: &str) -> Value {
    let mut paragraphs = about.trim_end().split("\n\n").map(in_one_line);
    let summary = paragraphs.next().unwrap_or_default();
    let parameters: Vec<_> = info.in_path().filter_map(parameters::in_path).collect();
    let mut operation = json!({"operationId": id, "summary": summary, "parameters": parameters, "responses": {}});
    let description = paragraphs.collect::<Vec<_>>().join("\n\n");
    if !description.is_empty() {
        operation["description"] = description.into();
    }
    operation
}

/// A paragraph in one line, but for the rows of a table.
fn in_one_line(text: &str) -> String {
    text.lines().map(str::trim).collect::<Vec<_>>().join(" ").replace("| |", "|\n|")
}

impl Endpoint {
    /// Whether the call is in the document.
    pub(crate) fn is_described(&self) -> bool {
        self.operation["operationId"] != ""
    }

    fn responses(&mut self) -> impl Iterator<Item = &mut Value> {
        self.operation["responses"].as_object_mut().into_iter().flat_map(Map::values_mut)
    }

    /// In this group of the document, unless it is in another already.
    pub(crate) fn in_group(mut self, tag: &'static str) -> Self {
        if self.operation.get("tags").is_none() {
            self.operation["tags"] = json!([tag]);
        }
        self
    }

    /// Parameters of the query, or of headers. The call takes no others.
    pub(crate) fn query(mut self, parameters: impl IntoIterator<Item = Value>) -> Self {
        for parameter in parameters {
            if let (Some("query"), Some(name)) = (parameter["in"].as_str(), parameter["name"].as_str()) {
                self.info.query.push(name.to_owned());
            }
            self.operation["parameters"].as_array_mut().into_iter().for_each(|known| known.push(parameter.clone()));
        }
        self
    }

    /// Parameters of the query of a call that is not described.
    pub(crate) fn reads(mut self, names: &[&str]) -> Self {
        self.info.query.extend(names.iter().map(|name| (*name).to_owned()));
        self
    }

    /// The body.
    pub(crate) fn takes<T: ToSchema>(self) -> Self {
        self.takes_as::<T>(BodyKind::Change)
    }

    /// A body that may be left out.
    pub(crate) fn may_take<T: ToSchema>(self) -> Self {
        self.takes_as::<T>(BodyKind::Optional)
    }

    /// A body of this kind.
    pub(crate) fn takes_as<T: ToSchema>(mut self, kind: BodyKind) -> Self {
        let content = self.content("application/json", shape::of_request::<T>(), example(&T::name()));
        self.operation["requestBody"] = json!({"required": kind != BodyKind::Optional, "content": content});
        self.info.body = kind;
        self
    }

    /// An answer with an object.
    pub(crate) fn answers<T: ToSchema>(self, status: u16, about: &str) -> Self {
        self.answers_in("application/json", status, about, shape::of::<T>(), example(&T::name()))
    }

    /// An answer with several objects as `{items}`, under a name.
    pub(crate) fn answers_items<T: ToSchema>(self, status: u16, name: &str, about: &str) -> Self {
        self.answers_in("application/json", status, about, shape::items::<T>(name), example(name))
    }

    /// The pages of a list, each `{items, next, prev}`, under a name. Its parameters are those of [`parameters::page`], or of
    /// another `page`.
    pub(crate) fn answers_pages<T: ToSchema>(self, page: [Value; 3], name: &str) -> Self {
        self.query(page)
            .answers_in("application/json", 200, "A page, newest first", shape::page::<T>(name), example(name))
            .header("Link")
    }

    /// Another example for all answers described so far than that of their type.
    pub(crate) fn shows(mut self, name: &str) -> Self {
        for response in self.responses() {
            let contents = response.get_mut("content").and_then(Value::as_object_mut).into_iter();
            contents.flat_map(Map::values_mut).for_each(|content| content["example"] = example(name));
        }
        self
    }

    /// An answer that is not JSON.
    pub(crate) fn answers_text(mut self, about: &str, media_type: &'static str, example: &str) -> Self {
        self.info.streams = true;
        let content = json!({media_type: {"schema": {"type": "string"}, "example": example}});
        self.answer(200, json!({"description": about, "content": content}))
    }

    /// Any other answer.
    pub(crate) fn answers_in(
        mut self,
        media_type: &'static str,
        status: u16,
        about: &str,
        shape: Shape,
        example: Value,
    ) -> Self {
        self.info.streams |= media_type != "application/json";
        let content = self.content(media_type, shape, example);
        self.answer(status, json!({"description": about, "content": content}))
    }

    /// 204.
    pub(crate) fn answers_nothing(self, about: &str) -> Self {
        self.answer(204, json!({"description": about}))
    }

    /// 304.
    pub(crate) fn answers_unchanged(self, about: &str) -> Self {
        self.answer(304, json!({"description": about}))
    }

    fn content(&mut self, media_type: &str, shape: Shape, example: Value) -> Value {
        let schema = shape::referred(&shape);
        self.schemas.extend(shape);
        json!({media_type: {"schema": schema, "example": example}})
    }

    fn answer(mut self, status: u16, mut response: Value) -> Self {
        if self.info.is_of_api() {
            let about = "On a node of a cluster: text that stands for the change, or for all that the answer shows, and for \
                         what this header has in the request; for later reads with `consistency=session`";
            response["headers"][POSITION_TITLE] = json!({"schema": parameters::position(), "description": about});
        }
        // A stream in place of a page is described in words: generated clients would have one type for both.
        let known = &mut self.operation["responses"][status.to_string()];
        if known.is_null() {
            *known = response;
        }
        self
    }

    /// A header of all answers described so far.
    pub(crate) fn header(mut self, name: &str) -> Self {
        let (about, schema) = match name {
            "Location" => (
                "The address of the item, relative to the address of the request",
                model::schemas::text(r"^(content|\.\.)/[^/]+$"),
            ),
            "Link" => (
                "The addresses of the pages `next` and `prev`, if they exist (RFC 8288), relative to the address of \
                 the request",
                Object::with_type(Type::String),
            ),
            "ETag" => (
                "Text that stands for this answer; missing for a page of more than 16 KiB that was read from the disk",
                Object::with_type(Type::String),
            ),
            _ => return self,
        };
        for response in self.responses() {
            response["headers"][name] = json!({"schema": schema, "description": about});
        }
        self
    }

    /// Other calls that use a part of the answers described so far.
    pub(crate) fn leads_to(mut self, ids: &[&str], takes: &Takes) -> Self {
        let takes: Map<_, _> = takes.iter().map(|(name, expression)| ((*name).to_owned(), json!(expression))).collect();
        for response in self.responses() {
            for id in ids {
                response["links"][id] = json!({"operationId": id, "parameters": takes});
            }
        }
        self
    }
}

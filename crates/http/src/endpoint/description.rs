//! What the OpenAPI document says of an endpoint.

use serde_json::Value;
use utoipa::ToSchema;
use utoipa::openapi::path::Parameter;
use utoipa::openapi::schema::Type;
use utoipa::openapi::{Object, RefOr, Schema};

use super::{Body, Endpoint, Good, Shape, Takes, parameters};

impl Endpoint {
    /// Adds a longer description.
    pub(crate) fn about(self, about: &'static str) -> Self {
        Self { about: Some(about), ..self }
    }

    /// Parameters of the query, or of headers.
    pub(crate) fn query(mut self, parameters: impl IntoIterator<Item = Parameter>) -> Self {
        self.parameters.extend(parameters);
        self
    }

    /// The body, with an example.
    pub(crate) fn takes<T: ToSchema>(self, example: Value) -> Self {
        self.with_body::<T>(true, example)
    }

    /// A body that may be left out.
    pub(crate) fn may_take<T: ToSchema>(self, example: Value) -> Self {
        self.with_body::<T>(false, example)
    }

    fn with_body<T: ToSchema>(mut self, required: bool, example: Value) -> Self {
        let schema = self.keep(Shape::of_request::<T>());
        Self { body: Some(Body { required, schema, example }), reads_body: true, ..self }
    }

    /// No body, or an empty object.
    pub(crate) fn takes_nothing(self) -> Self {
        Self { reads_body: true, ..self }
    }

    fn keep(&mut self, shape: Shape) -> RefOr<Schema> {
        self.schemas.extend(shape.parts);
        shape.schema
    }

    /// An answer with an object, and an example.
    pub(crate) fn answers<T: ToSchema>(self, status: u16, about: &'static str, example: Value) -> Self {
        self.answers_in("application/json", status, about, Shape::of::<T>(), example)
    }

    /// An answer with several objects as `{items}`, under a name, and an example of one.
    pub(crate) fn answers_items<T: ToSchema>(
        self,
        status: u16,
        name: &str,
        about: &'static str,
        example: Value,
    ) -> Self {
        let example = serde_json::json!({"items": [example]});
        self.answers_in("application/json", status, about, Shape::of::<T>().items(name), example)
    }

    /// The pages of a list, each `{items, next, prev}`, under a name, with an example of one.
    pub(crate) fn answers_pages<T: ToSchema>(self, name: &str, example: Value) -> Self {
        self.answers_pages_at::<T>(parameters::page(), name, example)
    }

    /// Pages of a list whose places have a form of their own.
    pub(crate) fn answers_pages_at<T: ToSchema>(self, page: [Parameter; 3], name: &str, example: Value) -> Self {
        self.query(page)
            .answers_in("application/json", 200, "A page, newest first", Shape::of::<T>().page(name), example)
            .header("Link")
    }

    /// An answer that is not JSON.
    pub(crate) fn answers_text(self, about: &'static str, media_type: &'static str, example: &str) -> Self {
        let shape = Shape { schema: Object::with_type(Type::String).into(), parts: Vec::new() };
        self.answers_in(media_type, 200, about, shape, example.into())
    }

    /// Any other answer.
    pub(crate) fn answers_in(
        mut self,
        media_type: &'static str,
        status: u16,
        about: &'static str,
        shape: Shape,
        example: Value,
    ) -> Self {
        let body = Some((media_type, self.keep(shape), example));
        self.good.push(Good { status, about, body, headers: Vec::new() });
        self
    }

    /// 204.
    pub(crate) fn answers_nothing(mut self, about: &'static str) -> Self {
        self.good.push(Good { status: 204, about, body: None, headers: Vec::new() });
        self
    }

    /// 304.
    pub(crate) fn answers_unchanged(mut self, about: &'static str) -> Self {
        self.good.push(Good { status: 304, about, body: None, headers: vec!["ETag", "Link"] });
        self
    }

    /// A header of all answers described so far.
    pub(crate) fn header(mut self, name: &'static str) -> Self {
        self.good.iter_mut().for_each(|good| good.headers.push(name));
        self
    }

    /// Another call that uses a part of this answer.
    pub(crate) fn leads_to(mut self, id: &'static str, takes: &Takes) -> Self {
        self.links.push((id, takes.to_vec()));
        self
    }
}

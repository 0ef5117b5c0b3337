//! What the OpenAPI document says of an endpoint.

use serde_json::{Value, json};
use utoipa::ToSchema;
use utoipa::openapi::link::LinkBuilder;
use utoipa::openapi::path::{Operation, OperationBuilder, Parameter, ParameterIn};
use utoipa::openapi::request_body::RequestBodyBuilder;
use utoipa::openapi::schema::Type;
use utoipa::openapi::{ContentBuilder, HeaderBuilder, Object, RefOr, Required, Response, ResponseBuilder};

use super::{BodyKind, Endpoint, RouteInfo, Shape, parameters};
use crate::nodes::consistency::POSITION_TITLE;
use model::schemas;

/// Parameters of another call, each with the expression that extracts it from a request or its answer.
pub(crate) type Takes = [(&'static str, &'static str)];

/// The start of a description: name, summary, and the parameters of the path.
pub(super) fn operation(info: &RouteInfo, id: &str, summary: &str) -> Operation {
    let in_path: Vec<_> = info.in_path().filter_map(parameters::in_path).collect();
    OperationBuilder::new()
        .operation_id(Some(id).filter(|id| !id.is_empty()))
        .summary(Some(summary))
        .parameters(Some(in_path))
        .build()
}

impl Endpoint {
    /// Adds a longer description.
    pub(crate) fn about(mut self, about: &'static str) -> Self {
        self.operation.description = Some(about.to_owned());
        self
    }

    /// Parameters of the query, or of headers. The call takes no others.
    pub(crate) fn query(mut self, parameters: impl IntoIterator<Item = Parameter>) -> Self {
        for parameter in parameters {
            if parameter.parameter_in == ParameterIn::Query {
                self.info.query.push(parameter.name.clone());
            }
            self.operation.parameters.get_or_insert_default().push(parameter.into());
        }
        self
    }

    /// Parameters of the query of a call that is not described.
    pub(crate) fn reads(mut self, names: &[&str]) -> Self {
        self.info.query.extend(names.iter().map(|name| (*name).to_owned()));
        self
    }

    /// The body, with an example.
    pub(crate) fn takes<T: ToSchema>(self, example: Value) -> Self {
        self.takes_as::<T>(BodyKind::Change, example)
    }

    /// A body that may be left out.
    pub(crate) fn may_take<T: ToSchema>(self, example: Value) -> Self {
        self.takes_as::<T>(BodyKind::Optional, example)
    }

    /// A body of this kind.
    pub(crate) fn takes_as<T: ToSchema>(mut self, kind: BodyKind, example: Value) -> Self {
        let shape = Shape::of_request::<T>();
        self.schemas.extend(shape.parts);
        let content = ContentBuilder::new().schema(Some(shape.schema)).example(Some(example)).build();
        let required = if kind == BodyKind::Optional { Required::False } else { Required::True };
        let body = RequestBodyBuilder::new().required(Some(required)).content("application/json", content);
        self.operation.request_body = Some(body.build().into());
        self.info.body = kind;
        self
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
        let example = json!({"items": [example]});
        self.answers_in("application/json", status, about, Shape::of::<T>().items(name), example)
    }

    /// The pages of a list, each `{items, next, prev}`, under a name, with an example of one. Its parameters are those of
    /// [`parameters::page`], or of another `page`.
    pub(crate) fn answers_pages<T: ToSchema>(self, page: [Parameter; 3], name: &str, example: Value) -> Self {
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
        self.schemas.extend(shape.parts);
        self.info.streams |= media_type != "application/json";
        let content = ContentBuilder::new().schema(Some(shape.schema)).example(Some(example)).build();
        self.answer(status, ResponseBuilder::new().description(about).content(media_type, content).build())
    }

    /// 204.
    pub(crate) fn answers_nothing(self, about: &'static str) -> Self {
        self.answer(204, Response::new(about))
    }

    /// 304.
    pub(crate) fn answers_unchanged(self, about: &'static str) -> Self {
        self.answer(304, Response::new(about))
    }

    fn answer(mut self, status: u16, mut response: Response) -> Self {
        if self.info.is_of_api() {
            let about = "On a node of a cluster: text that stands for the change, or for all that the answer shows, and for \
                         what this header has in the request; for later reads with `consistency=session`";
            let position = HeaderBuilder::new().schema(Some(parameters::position())).description(Some(about)).build();
            response.headers.insert(POSITION_TITLE.to_owned(), position.into());
        }
        // A stream in place of a page is described in words: generated clients would have one type for both.
        self.operation.responses.responses.entry(status.to_string()).or_insert(response.into());
        self
    }

    /// The answers described so far.
    fn answers_so_far(&mut self) -> impl Iterator<Item = &mut Response> {
        let responses = self.operation.responses.responses.values_mut();
        responses.filter_map(|response| if let RefOr::T(response) = response { Some(response) } else { None })
    }

    /// A header of all answers described so far.
    pub(crate) fn header(mut self, name: &'static str) -> Self {
        let (about, schema) = match name {
            "Location" => (
                "The address of the item, relative to the address of the request",
                schemas::text(r"^(content|\.\.)/[^/]+$"),
            ),
            "Link" => (
                "The addresses of the pages `next` and `prev`, if they exist (RFC 8288), relative to the address of \
                 the request",
                Object::with_type(Type::String),
            ),
            _ => (
                "Text that stands for this answer; missing for a page of more than 16 KiB that was read from the disk",
                Object::with_type(Type::String),
            ),
        };
        let header = HeaderBuilder::new().schema(Some(schema)).description(Some(about)).build();
        for response in self.answers_so_far() {
            response.headers.insert(name.to_owned(), header.clone().into());
        }
        self
    }

    /// Other calls that use a part of the answers described so far.
    pub(crate) fn leads_to(mut self, ids: &[&'static str], takes: &Takes) -> Self {
        for response in self.answers_so_far() {
            for id in ids {
                let link = LinkBuilder::new().operation_id(*id);
                let link = takes.iter().fold(link, |link, (name, expression)| link.parameter(*name, *expression));
                response.links.insert((*id).to_owned(), link.build().into());
            }
        }
        self
    }
}

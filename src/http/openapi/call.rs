//! The description of one call, put together from what is particular to it and what its shape implies.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;
use utoipa::ToSchema;
use utoipa::openapi::link::LinkBuilder;
use utoipa::openapi::path::{HttpMethod, OperationBuilder, Parameter};
use utoipa::openapi::request_body::RequestBodyBuilder;
use utoipa::openapi::schema::{ArrayBuilder, ObjectBuilder, Type};
use utoipa::openapi::{
    ContentBuilder, HeaderBuilder, Object, Ref, RefOr, Required, Response, ResponseBuilder, Schema, path::Operation,
};

use super::problems::Problems;
use super::{parameters, schemas};
use crate::error::Code;
use crate::http::events::MEDIA_TYPE;
use crate::http::problem::Document;

/// What several calls share, by name.
#[derive(Default)]
pub(super) struct Parts {
    pub(super) schemas: BTreeMap<String, RefOr<Schema>>,
    pub(super) problems: Problems,
}

/// A schema with the schemas that it refers to, each by its name.
pub(super) struct Shape {
    schema: RefOr<Schema>,
    parts: Vec<(String, RefOr<Schema>)>,
}

impl Shape {
    /// The schema of a type.
    pub(super) fn of<T: ToSchema>() -> Self {
        let mut parts = Vec::new();
        T::schemas(&mut parts);
        parts.push((T::name().into_owned(), T::schema()));
        Self { schema: Ref::from_schema_name(T::name()).into(), parts }
    }

    /// One that is written down under a name.
    pub(super) fn named(name: &str, schema: impl Into<RefOr<Schema>>) -> Self {
        Self { schema: Ref::from_schema_name(name).into(), parts: vec![(name.to_owned(), schema.into())] }
    }

    /// The same, with a schema that it refers to.
    pub(super) fn with(mut self, name: &str, schema: impl Into<RefOr<Schema>>) -> Self {
        self.parts.push((name.to_owned(), schema.into()));
        self
    }

    /// Several of them, as an object `{items}` with a name.
    pub(super) fn items(self, name: &str) -> Self {
        self.listed(name, ObjectBuilder::new())
    }

    /// A page of them, as an object `{items, next, prev}` with a name.
    pub(super) fn page(self, name: &str) -> Self {
        let cursor = |about: &str| {
            let nullable = [Type::String, Type::Null].into_iter().collect::<utoipa::openapi::schema::SchemaType>();
            ObjectBuilder::new().schema_type(nullable).pattern(Some("^[0-9]+-[0-9]+$")).description(Some(about)).build()
        };
        let page = ObjectBuilder::new()
            .property("next", cursor("Pass it as `before` for older ones; `null` when there are none"))
            .required("next")
            .property("prev", cursor("Pass it as `after` for newer ones; `null` for a list without any"))
            .required("prev");
        self.listed(name, page)
    }

    fn listed(mut self, name: &str, object: ObjectBuilder) -> Self {
        let object = object.property("items", ArrayBuilder::new().items(self.schema)).required("items");
        self.parts.push((name.to_owned(), object.build().into()));
        Self { schema: Ref::from_schema_name(name).into(), parts: self.parts }
    }
}

/// A good answer.
struct Good {
    status: u16,
    about: &'static str,
    body: Option<(&'static str, RefOr<Schema>, Value)>,
    headers: Vec<&'static str>,
}

/// A call on its way into the document.
pub(super) struct Call {
    path: &'static str,
    method: HttpMethod,
    tag: &'static str,
    id: &'static str,
    summary: &'static str,
    about: Option<&'static str>,
    parameters: Vec<Parameter>,
    body: Option<(Required, RefOr<Schema>, Value)>,
    good: Vec<Good>,
    problems: Vec<Code>,
    links: Vec<(&'static str, Vec<(&'static str, &'static str)>)>,
    schemas: Vec<(String, RefOr<Schema>)>,
    waits: bool,
    writes: bool,
}

/// A call of GET. `id` is its name for programs: generated clients name a function after it.
pub(super) fn get(path: &'static str, id: &'static str, summary: &'static str) -> Call {
    Call::new(HttpMethod::Get, path, id, summary)
}

/// A call of POST.
pub(super) fn post(path: &'static str, id: &'static str, summary: &'static str) -> Call {
    Call::new(HttpMethod::Post, path, id, summary)
}

/// A call of PUT.
pub(super) fn put(path: &'static str, id: &'static str, summary: &'static str) -> Call {
    Call::new(HttpMethod::Put, path, id, summary)
}

/// A call of PATCH.
pub(super) fn patch(path: &'static str, id: &'static str, summary: &'static str) -> Call {
    Call::new(HttpMethod::Patch, path, id, summary)
}

/// A call of DELETE.
pub(super) fn delete(path: &'static str, id: &'static str, summary: &'static str) -> Call {
    Call::new(HttpMethod::Delete, path, id, summary)
}

impl Call {
    fn new(method: HttpMethod, path: &'static str, id: &'static str, summary: &'static str) -> Self {
        Self {
            path,
            writes: method != HttpMethod::Get,
            method,
            tag: "",
            id,
            summary,
            about: None,
            parameters: Vec::new(),
            body: None,
            good: Vec::new(),
            problems: Vec::new(),
            links: Vec::new(),
            schemas: Vec::new(),
            waits: true,
        }
    }

    /// The group that it belongs to.
    pub(super) fn tag(self, tag: &'static str) -> Self {
        Self { tag, ..self }
    }

    /// What more there is to say than the summary does.
    pub(super) fn about(self, about: &'static str) -> Self {
        Self { about: Some(about), ..self }
    }

    /// Parameters of the query.
    pub(super) fn query(mut self, parameters: impl IntoIterator<Item = Parameter>) -> Self {
        self.parameters.extend(parameters);
        self
    }

    /// The body, with an example.
    pub(super) fn body(mut self, shape: Shape, example: Value) -> Self {
        self.schemas.extend(shape.parts);
        self.body = Some((Required::True, shape.schema, example));
        self
    }

    /// A body that may be left out.
    pub(super) fn optional_body(self, shape: Shape, example: Value) -> Self {
        let mut call = self.body(shape, example);
        if let Some((required, ..)) = &mut call.body {
            *required = Required::False;
        }
        call
    }

    /// A good answer, with an example.
    pub(super) fn answers(self, status: u16, about: &'static str, shape: Shape, example: Value) -> Self {
        self.answers_in("application/json", status, about, shape, example)
    }

    /// A good answer that is no JSON.
    pub(super) fn answers_text(self, about: &'static str, media_type: &'static str, example: &str) -> Self {
        let shape = Shape { schema: Object::with_type(Type::String).into(), parts: Vec::new() };
        self.answers_in(media_type, 200, about, shape, example.into())
    }

    /// An answer that is a stream of events. The schema and the example are those of one event, taken apart.
    pub(super) fn answers_events(self, about: &'static str, event: Shape, example: Value) -> Self {
        self.answers_in(MEDIA_TYPE, 200, about, event, example)
    }

    fn answers_in(
        mut self,
        media_type: &'static str,
        status: u16,
        about: &'static str,
        shape: Shape,
        example: Value,
    ) -> Self {
        self.schemas.extend(shape.parts);
        let body = Some((media_type, shape.schema, example));
        self.good.push(Good { status, about, body, headers: Vec::new() });
        self
    }

    /// 204.
    pub(super) fn answers_nothing(mut self, about: &'static str) -> Self {
        self.good.push(Good { status: 204, about, body: None, headers: Vec::new() });
        self
    }

    /// A header of all good answers described so far.
    pub(super) fn header(mut self, name: &'static str) -> Self {
        self.good.iter_mut().for_each(|good| good.headers.push(name));
        self
    }

    /// A problem that nothing else here implies.
    pub(super) fn problem(mut self, problem: Code) -> Self {
        self.problems.push(problem);
        self
    }

    /// For a call that needs no place in any queue, and so finds none full.
    pub(super) fn never_waits(self) -> Self {
        Self { waits: false, ..self }
    }

    /// For a change of what is in memory only.
    pub(super) fn never_writes(self) -> Self {
        Self { writes: false, ..self }
    }

    /// Another call that takes something from the answer of this one.
    pub(super) fn leads_to(mut self, id: &'static str, parameters: &[(&'static str, &'static str)]) -> Self {
        self.links.push((id, parameters.to_vec()));
        self
    }

    /// The problems that come of the call's shape, and those it was given.
    fn all_problems(&self) -> BTreeSet<Code> {
        let mut all = BTreeSet::from([Code::InvalidParameter, Code::Internal]);
        for (slot, code) in [
            ("{uid}", Code::InvalidId),
            ("{content_id}", Code::InvalidId),
            ("{topic}", Code::InvalidTopic),
            ("{kind}", Code::InvalidKind),
        ] {
            if self.path.contains(slot) {
                all.insert(code);
            }
        }
        if self.body.is_some() {
            all.extend([Code::InvalidBody, Code::BodyTimeout, Code::BodyTooLarge, Code::UnsupportedMediaType]);
        }
        if self.waits {
            all.extend([Code::Overloaded, Code::Timeout]);
            if self.writes {
                all.insert(Code::StorageUnavailable);
            }
        }
        all.extend(&self.problems);
        all
    }

    /// The call as the document has it; what it shares with others goes into `parts`.
    pub(super) fn build(self, parts: &mut Parts) -> (&'static str, HttpMethod, Operation) {
        let names = self.path.split(['{', '}']).skip(1).step_by(2);
        let problems = self.all_problems();
        let mut operation = OperationBuilder::new()
            .tag(self.tag)
            .operation_id(Some(self.id))
            .summary(Some(self.summary))
            .description(self.about)
            .parameters(Some(names.filter_map(parameters::in_path).chain(self.parameters)));
        if let Some((required, schema, example)) = self.body {
            let content = ContentBuilder::new().schema(Some(schema)).example(Some(example)).build();
            let body = RequestBodyBuilder::new().required(Some(required)).content("application/json", content).build();
            operation = operation.request_body(Some(body));
        }
        for good in self.good {
            operation = operation.response(good.status.to_string(), good.build(&self.links));
        }
        operation = operation.response("default", parts.problems.refer(&problems));
        parts.schemas.extend(self.schemas);
        parts.schemas.extend(Shape::of::<Document<'_>>().parts);
        (self.path, self.method, operation.build())
    }
}

impl Good {
    fn build(self, links: &[(&'static str, Vec<(&'static str, &'static str)>)]) -> Response {
        let mut response = ResponseBuilder::new().description(self.about);
        if let Some((media_type, schema, example)) = self.body {
            let content = ContentBuilder::new().schema(Some(schema)).example(Some(example)).build();
            response = response.content(media_type, content);
        }
        for name in self.headers {
            let (about, schema) = match name {
                "Location" => (
                    "Where the item is, relative to the address of the request",
                    schemas::text(r"^(content|\.\.)/[1-9][0-9]{0,18}$"),
                ),
                "Link" => (
                    "The pages `next` and `prev`, where there are any (RFC 8288), relative to the address of the request",
                    Object::with_type(Type::String),
                ),
                _ => ("", Object::with_type(Type::String)),
            };
            response =
                response.header(name, HeaderBuilder::new().schema(Some(schema)).description(Some(about)).build());
        }
        for (id, parameters) in links {
            let mut link = LinkBuilder::new().operation_id(*id);
            for (name, expression) in parameters {
                link = link.parameter(*name, *expression);
            }
            response = response.link(*id, link.build());
        }
        response.build()
    }
}

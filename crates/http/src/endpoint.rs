//! One call of the API: its handler and its description, in one entry beside the handler.
//!
//! The routes (`routes`) and the OpenAPI document (`openapi`) are both made from these entries. An entry does not
//! repeat facts that follow from the shape of the call: path parameters, HEAD, and the codes of a body, a change or an
//! id.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;

use serde_json::Value;
use utoipa::ToSchema;
use utoipa::openapi::path::Parameter;
use utoipa::openapi::schema::Type;
use utoipa::openapi::{Object, RefOr, Schema};

use super::kind::{API, Kind, OfOwner};
use super::openapi::{Shape, parameters};
use crate::call::Call;
use crate::wire::reply::Answer;
use model::error::Code;

/// A handler. One type for all, so that the code around them is compiled once.
pub(super) type Handler = Arc<dyn Fn(Call) -> Pin<Box<dyn Future<Output = Answer>>> + Send + Sync>;
/// Parameters of another call, each with the expression that extracts it from a request or its answer.
pub(super) type Takes = [(&'static str, &'static str)];

/// The answer to a successful request.
pub(super) struct Good {
    pub(super) status: u16,
    pub(super) about: &'static str,
    /// The media type, the schema and an example.
    pub(super) body: Option<(&'static str, RefOr<Schema>, Value)>,
    pub(super) headers: Vec<&'static str>,
}

/// The body of a request.
pub(super) struct Body {
    pub(super) required: bool,
    pub(super) schema: RefOr<Schema>,
    pub(super) example: Value,
}

/// One method of one path.
pub(super) struct Endpoint {
    pub(super) path: &'static str,
    /// Such as `GET`, which includes HEAD.
    pub(super) method: &'static str,
    pub(super) tag: &'static str,
    /// The name for programs: generated clients name a function after it. Empty if the call is not described.
    pub(super) id: &'static str,
    pub(super) summary: &'static str,
    pub(super) about: Option<&'static str>,
    /// Parameters of the query and of headers.
    pub(super) parameters: Vec<Parameter>,
    pub(super) body: Option<Body>,
    pub(super) good: Vec<Good>,
    /// Other calls that use a part of this answer.
    pub(super) links: Vec<(&'static str, Vec<(&'static str, &'static str)>)>,
    /// Schemas with their names.
    pub(super) schemas: Vec<(String, RefOr<Schema>)>,
    /// Whether it also answers on connections beyond the limit.
    pub(super) always: bool,
    /// Whether it answers requests for any host, and from any page.
    pub(super) open: bool,
    /// Whether it is about this server alone, and not about the data that all nodes of a cluster share.
    alone: bool,
    kept: Option<OfOwner>,
    codes: Vec<Code>,
    reads_body: bool,
    waits: bool,
    writes: bool,
    pub(super) handler: Handler,
}

/// All endpoints of one group of the document.
pub(super) fn group(tag: &'static str, endpoints: impl IntoIterator<Item = Endpoint>) -> Vec<Endpoint> {
    endpoints.into_iter().map(|endpoint| Endpoint { tag, ..endpoint }).collect()
}

/// Makes the constructor of the endpoints of one method.
macro_rules! methods {
    ($($name:ident $method:ident)+) => {
        $(
            #[doc = concat!("A call of ", stringify!($method), ".")]
            pub(super) fn $name<F, R>(path: &'static str, handler: F, id: &'static str, summary: &'static str) -> Endpoint
            where
                F: Fn(Call) -> R + Send + Sync + 'static,
                R: Future<Output = Answer> + 'static,
            {
                Endpoint::new(stringify!($method), path, Arc::new(move |call| Box::pin(handler(call))), id, summary)
            }
        )+
    };
}

methods! { get GET post POST put PUT patch PATCH delete DELETE }

impl Endpoint {
    fn new(
        method: &'static str,
        path: &'static str,
        handler: Handler,
        id: &'static str,
        summary: &'static str,
    ) -> Self {
        Self {
            path,
            writes: method != "GET",
            method,
            tag: "",
            id,
            summary,
            about: None,
            parameters: Vec::new(),
            body: None,
            good: Vec::new(),
            links: Vec::new(),
            schemas: Vec::new(),
            always: false,
            open: false,
            alone: false,
            kept: None,
            codes: Vec::new(),
            reads_body: false,
            waits: true,
            handler,
        }
    }

    /// Adds a longer description.
    pub(super) fn about(self, about: &'static str) -> Self {
        Self { about: Some(about), ..self }
    }

    /// Parameters of the query, or of headers.
    pub(super) fn query(mut self, parameters: impl IntoIterator<Item = Parameter>) -> Self {
        self.parameters.extend(parameters);
        self
    }

    /// The body, with an example.
    pub(super) fn takes<T: ToSchema>(self, example: Value) -> Self {
        self.with_body::<T>(true, example)
    }

    /// A body that may be left out.
    pub(super) fn may_take<T: ToSchema>(self, example: Value) -> Self {
        self.with_body::<T>(false, example)
    }

    fn with_body<T: ToSchema>(mut self, required: bool, example: Value) -> Self {
        let schema = self.keep(Shape::of::<T>());
        Self { body: Some(Body { required, schema, example }), reads_body: true, ..self }
    }

    /// No body, or an empty object.
    pub(super) fn takes_nothing(self) -> Self {
        Self { reads_body: true, ..self }
    }

    fn keep(&mut self, shape: Shape) -> RefOr<Schema> {
        self.schemas.extend(shape.parts);
        shape.schema
    }

    /// An answer with an object, and an example.
    pub(super) fn answers<T: ToSchema>(self, status: u16, about: &'static str, example: Value) -> Self {
        self.answers_in("application/json", status, about, Shape::of::<T>(), example)
    }

    /// An answer with several objects as `{items}`, under a name, and an example of one.
    pub(super) fn answers_items<T: ToSchema>(
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
    pub(super) fn answers_pages<T: ToSchema>(self, name: &str, example: Value) -> Self {
        self.query(parameters::page())
            .answers_in("application/json", 200, "A page, newest first", Shape::of::<T>().page(name), example)
            .header("Link")
            .refuses(&[Code::UnknownCursor])
    }

    /// An answer that is not JSON.
    pub(super) fn answers_text(self, about: &'static str, media_type: &'static str, example: &str) -> Self {
        let shape = Shape { schema: Object::with_type(Type::String).into(), parts: Vec::new() };
        self.answers_in(media_type, 200, about, shape, example.into())
    }

    /// Any other answer.
    pub(super) fn answers_in(
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
    pub(super) fn answers_nothing(mut self, about: &'static str) -> Self {
        self.good.push(Good { status: 204, about, body: None, headers: Vec::new() });
        self
    }

    /// A header of all answers described so far.
    pub(super) fn header(mut self, name: &'static str) -> Self {
        self.good.iter_mut().for_each(|good| good.headers.push(name));
        self
    }

    /// Codes that do not follow from the call's shape.
    pub(super) fn refuses(mut self, codes: &[Code]) -> Self {
        self.codes.extend(codes);
        self
    }

    /// For a call that never waits in a queue, and so is never refused by a full one.
    pub(super) fn never_waits(self) -> Self {
        Self { waits: false, ..self }
    }

    /// For operators: answers even when the server is full.
    pub(super) fn always(self) -> Self {
        Self { always: true, ..self }
    }

    /// For probes, which may name any host. Their answer is only one word.
    pub(super) fn of_any_host(self) -> Self {
        Self { open: true, ..self }
    }

    /// For a call about this server alone: on a node of a cluster it waits for no other node.
    pub(super) fn of_this_server(self) -> Self {
        Self { alone: true, ..self }
    }

    /// For a call about data that only the owners of the user `{uid}` keep.
    pub(super) fn of_owner(self, kept: OfOwner) -> Self {
        Self { kept: Some(kept), ..self }
    }

    /// The part that calls know.
    pub(super) fn kind(&self) -> Kind {
        let is_json = |good: &Good| good.body.as_ref().is_none_or(|(media_type, ..)| *media_type == "application/json");
        let passes = self.reads_shared() && self.kept != Some(OfOwner::Presence) && self.good.iter().all(is_json);
        Kind { pattern: self.path, shares: self.reads_shared(), kept: self.kept, passes }
    }

    /// Whether the call is one of the API, and not a page or a probe.
    pub(super) fn is_of_api(&self) -> bool {
        self.path.starts_with(API)
    }

    /// Whether the call reads data that all nodes of a cluster share.
    pub(super) fn reads_shared(&self) -> bool {
        self.is_of_api() && !self.alone && !self.writes
    }

    /// Another call that uses a part of this answer.
    pub(super) fn leads_to(mut self, id: &'static str, takes: &Takes) -> Self {
        self.links.push((id, takes.to_vec()));
        self
    }

    /// The codes that follow from the call's shape, and the codes given in its entry.
    pub(super) fn all_codes(&self) -> Vec<Code> {
        let mut all = vec![Code::InvalidParameter, Code::Internal];
        for (slot, code) in [
            ("{uid}", Code::InvalidId),
            ("{content_id}", Code::InvalidId),
            ("{topic}", Code::InvalidTopic),
            ("{kind}", Code::InvalidKind),
        ] {
            if self.path.contains(slot) {
                all.push(code);
            }
        }
        if self.reads_body {
            all.extend([Code::InvalidBody, Code::BodyTimeout, Code::BodyTooLarge, Code::UnsupportedMediaType]);
        }
        if self.waits {
            all.extend([Code::Overloaded, Code::Timeout]);
            if self.writes {
                all.push(Code::StorageUnavailable);
            }
        }
        if self.is_of_api() && !self.alone {
            all.extend([Code::LogUnavailable, if self.writes { Code::OutcomeUnknown } else { Code::InvalidHeader }]);
        }
        all.extend(&self.codes);
        all.sort_unstable();
        all.dedup();
        all
    }
}

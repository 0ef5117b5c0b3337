//! One call of the API: its handler and its description, in one entry beside the handler.
//!
//! The routes (`routes`) and the OpenAPI document (`openapi`) are both made from these entries. An entry does not
//! repeat facts that follow from the shape of the call: path parameters, HEAD, and the codes of a body, a change or an
//! id.

mod description;
pub(crate) mod parameters;
mod shape;

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;

use serde_json::Value;
use utoipa::openapi::path::Parameter;
use utoipa::openapi::{RefOr, Schema};

pub(crate) use self::shape::Shape;

use super::kind::{API, Kind, OPERATORS, OfOwner};
use crate::call::Call;
use crate::guards::auth::{Permit, TokenUse};
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
    pub(super) answers_always: bool,
    /// Whether it answers requests for any host, and from any page.
    pub(super) any_host: bool,
    /// Who may make it.
    pub(super) permit: Permit,
    /// Whether another server makes it all the time, so that the audit leaves it out.
    pub(super) routine: bool,
    /// Whether it is about this server alone, and not about the data that all nodes of a cluster share.
    alone: bool,
    kept: Option<OfOwner>,
    codes: Vec<Code>,
    reads_body: bool,
    waits: bool,
    /// Whether it makes changes.
    pub(super) writes: bool,
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

/// Makes the methods that say something of a call.
macro_rules! marks {
    ($($(#[$about:meta])+ $name:ident: $($field:ident).+ = $value:expr;)+) => {
        impl Endpoint {
            $(
                $(#[$about])+
                pub(super) fn $name(mut self) -> Self {
                    self.$($field).+ = $value;
                    self
                }
            )+
        }
    };
}

marks! {
    /// For an answer without data: it needs no credentials.
    open: permit.open = true;
    /// A user token may be in the query, because `EventSource` of browsers can set no header.
    with_token_in_query: permit.in_query = true;
    /// A metrics key allows the call too.
    for_metrics_keys: permit.metrics = true;
    /// A read key does not allow the call, although it changes nothing.
    not_for_read_keys: permit.read = false;
    /// For probes, which may name any host. Their answer is only one word.
    of_any_host: any_host = true;
    /// For operators: answers even when the server is full.
    always: answers_always = true;
    /// For a call that never waits in a queue, and so is never refused by a full one.
    never_waits: waits = false;
    /// For a call that another server makes all the time: the audit leaves it out.
    routine: routine = true;
    /// For a call about this server alone: on a node of a cluster it waits for no other node.
    of_this_server: alone = true;
}

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
            answers_always: false,
            any_host: false,
            permit: Permit::for_keys(method == "GET"),
            routine: false,
            alone: false,
            kept: None,
            codes: Vec::new(),
            reads_body: false,
            waits: true,
            handler,
        }
    }

    /// Codes that do not follow from the call's shape.
    pub(super) fn refuses(mut self, codes: &[Code]) -> Self {
        self.codes.extend(codes);
        self
    }

    /// The token of a user allows the call too, as far as the settings `auth.users_act` and `auth.users_read` allow this use.
    pub(super) fn for_users(mut self, used: impl Into<TokenUse>) -> Self {
        self.permit.users = Some(used.into());
        self.permit.uid = self.path.split('/').position(|part| part == "{uid}");
        self
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

    /// Whether the call is one of operators, which a server answers also after a standby has taken over.
    pub(super) fn is_of_operators(&self) -> bool {
        self.path.starts_with(OPERATORS)
    }

    /// Whether the call reads data that all nodes of a cluster share.
    pub(super) fn reads_shared(&self) -> bool {
        self.is_of_api() && !self.alone && !self.writes
    }

    /// The codes that follow from the call's shape, and the codes given in its entry.
    pub(super) fn all_codes(&self) -> Vec<Code> {
        let mut all = vec![Code::InvalidParameter, Code::Internal];
        for (slot, code) in [
            ("{uid}", Code::InvalidId),
            ("{content_id}", Code::InvalidId),
            ("{topic}", Code::InvalidTopic),
            ("{list}", Code::InvalidList),
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
        if self.is_of_api() && !self.is_of_operators() {
            all.push(Code::HandingOver);
        }
        if self.is_of_api() && !self.alone {
            all.push(Code::LogUnavailable);
            if self.writes {
                all.push(Code::OutcomeUnknown);
            }
        }
        if self.writes || self.reads_shared() {
            all.push(Code::InvalidHeader);
        }
        let names_users = self.reads_body || ["{uid}", "{source}"].iter().any(|user| self.path.contains(user));
        if self.is_of_api() && !self.alone && self.writes && names_users {
            all.push(Code::Erasing);
        }
        all.extend(&self.codes);
        all.sort_unstable();
        all.dedup();
        all
    }
}

#[cfg(test)]
mod tests;

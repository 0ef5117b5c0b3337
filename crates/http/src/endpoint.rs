//! One call of the API: its handler and its description, in one entry beside the handler.
//!
//! The routes (`routes`) and the OpenAPI document (`openapi`) are both made from these entries. An entry does not
//! repeat facts that follow from the shape of the call: path parameters, HEAD, and the codes of a body, a change or an
//! id.

mod description;
pub(crate) mod examples;
pub(crate) mod parameters;
pub(crate) mod shape;

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;

use serde_json::{Map, Value};

pub(crate) use self::description::Takes;
use self::description::operation;
pub(crate) use self::examples::example;

use super::route_info::{BodyKind, OfOwner, RouteInfo};
use crate::call::Call;
use crate::guards::auth::TokenUse;
use crate::wire::reply::Answer;
use model::error::Code;

/// A handler. One type for all, so that the code around them is compiled once.
pub(super) type Handler = Arc<dyn Fn(Call) -> Pin<Box<dyn Future<Output = Answer>>> + Send + Sync>;

/// One method of one path.
pub(super) struct Endpoint {
    pub(super) info: RouteInfo,
    pub(super) handler: Handler,
    /// Its part of the OpenAPI document.
    pub(super) operation: Value,
    /// The group of its file, and the description of that if this file has it.
    pub(super) group: (&'static str, &'static str),
    /// Schemas by their names.
    pub(super) schemas: Map<String, Value>,
    /// Codes that do not follow from the call's shape.
    codes: Vec<Code>,
}

/// All endpoints of a file in one group of the document, perhaps with its description.
pub(super) fn group(
    tag: &'static str,
    about: &'static str,
    endpoints: impl IntoIterator<Item = Endpoint>,
) -> Vec<Endpoint> {
    endpoints.into_iter().map(|endpoint| Endpoint { group: (tag, about), ..endpoint.in_group(tag) }).collect()
}

/// Declares the endpoints of a file, of one group of the document: `endpoints! { "group": … }`, or `"group" = "what it has"` in one
/// file of each group. Each endpoint has a comment, which is its description: the first paragraph is the summary. Then come
/// method, path, handler and name, and what else there is to say.
/// The name is for programs: generated clients name a function after it. It is empty if the call is not in the document.
/// A method of [`Endpoint`] behind the group is one for all.
macro_rules! endpoints {
    ($tag:literal $(= $group:literal)? $(, $all:ident)?: $(let $name:ident = $value:expr;)* $(
        $(#[doc = $about:literal])+
        $method:ident($path:expr, $handler:expr, $id:literal) $(.$mark:ident $(::<$T:ty>)? ($($told:tt)*))*;
    )+) => {
        /// The endpoints of this file.
        pub(crate) fn endpoints() -> Vec<$crate::endpoint::Endpoint> {
            $(let $name = $value;)*
            $crate::endpoint::group($tag, concat!($($group)?), [$(
                $crate::endpoint::$method($path, $handler, $id, concat!($($about, "\n"),+))
                    $(.$mark $(::<$T>)? ($($told)*))*,
            )+].map(|call| call $(.$all())?))
        }
    };
}

/// Declares the endpoints of a room: those of these files, in the order of the document.
macro_rules! endpoints_of {
    ($($file:ident)+) => {
        /// The endpoints of all files.
        pub(crate) fn endpoints() -> Vec<$crate::endpoint::Endpoint> {
            [$($file::endpoints()),+].into_iter().flatten().collect()
        }
    };
}

pub(crate) use {endpoints, endpoints_of};

/// Makes the constructor of the endpoints of one method.
macro_rules! methods {
    ($($name:ident $method:ident)+) => {
        $(
            #[doc = concat!("A call of ", stringify!($method), "; see [`endpoints`].")]
            pub(super) fn $name<F, R>(path: &'static str, handler: F, id: &'static str, about: &str) -> Endpoint
            where
                F: Fn(Call) -> R + Send + Sync + 'static,
                R: Future<Output = Answer> + 'static,
            {
                let info = RouteInfo::new(stringify!($method), path);
                Endpoint {
                    operation: operation(&info, id, about),
                    info,
                    group: Default::default(),
                    handler: Arc::new(move |call| Box::pin(handler(call))),
                    schemas: Map::new(),
                    codes: Vec::new(),
                }
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
                    self.info.$($field).+ = $value;
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
    never_waits: never_waits = true;
    /// For a call that another server makes all the time: the audit leaves it out.
    routine: routine = true;
    /// For a call about this server alone: on a node of a cluster it waits for no other node.
    of_this_server: alone = true;
    /// No body, or an empty object.
    takes_nothing: body = BodyKind::Optional;
    /// A body that the description of the API leaves out, with the call.
    takes_unlisted: body = BodyKind::Change;
    /// Such a body, which may be as long as a batch.
    takes_unlisted_batch: body = BodyKind::Batch;
}

impl Endpoint {
    /// The call with what it shares with others.
    pub(super) fn with(self, shared: impl FnOnce(Self) -> Self) -> Self {
        shared(self)
    }

    /// Codes that do not follow from the call's shape.
    pub(super) fn refuses(mut self, codes: &[Code]) -> Self {
        self.codes.extend(codes);
        self
    }

    /// The token of a user allows the call too, as far as the settings `auth.users_act` and `auth.users_read` allow this use.
    pub(super) fn for_users(mut self, used: impl Into<TokenUse>) -> Self {
        self.info.permit.users = Some(used.into());
        self.info.permit.uid = self.info.segment("uid");
        self
    }

    /// For a call about data that only the owners of the user `{uid}` keep.
    pub(super) fn of_owner(mut self, kept: OfOwner) -> Self {
        self.info.kept = Some(kept);
        self
    }

    /// The codes that follow from the call's shape, and the codes given in its entry.
    pub(super) fn all_codes(&self) -> Vec<Code> {
        let info = &self.info;
        let (writes, reads_body) = (info.writes(), info.body != BodyKind::Unread);
        let (is_of_data, waits) = (info.is_of_api() && !info.alone, !info.never_waits);
        let takes = |names: &[&str]| info.in_path().any(|name| names.contains(&name));
        let groups: [(bool, &[Code]); 13] = [
            (true, &[Code::InvalidParameter, Code::Internal]),
            (takes(&["uid", "content_id"]), &[Code::InvalidId]),
            (takes(&["topic"]), &[Code::InvalidTopic]),
            (takes(&["list"]), &[Code::InvalidList]),
            (takes(&["kind"]), &[Code::InvalidKind]),
            (reads_body, &[Code::InvalidBody, Code::BodyTimeout, Code::BodyTooLarge, Code::UnsupportedMediaType]),
            (waits, &[Code::Overloaded, Code::Timeout]),
            (waits && writes, &[Code::StorageUnavailable]),
            (info.is_of_api() && !info.is_of_operators(), &[Code::HandingOver]),
            (is_of_data, &[Code::LogUnavailable]),
            (is_of_data && writes, &[Code::OutcomeUnknown]),
            (writes || info.reads_shared(), &[Code::InvalidHeader]),
            (is_of_data && writes && (reads_body || takes(&["uid", "source"])), &[Code::Erasing]),
        ];
        let of_shape = groups.iter().filter(|(is_so, _)| *is_so).flat_map(|(_, codes)| *codes);
        let mut all: Vec<_> = of_shape.chain(&self.codes).copied().collect();
        all.sort_unstable();
        all.dedup();
        all
    }
}

#[cfg(test)]
mod tests;

//! The handlers by path and method.

use std::future::Future;
use std::pin::Pin;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Instant;

use actix_web::guard::fn_guard;
use actix_web::http::ConnectionType;
use actix_web::web::{self, ServiceConfig};
use actix_web::{HttpRequest, HttpResponse, Route};

use super::api::Api;
use super::endpoint::{Endpoint, Handler};
use crate::call::{Call, ThreadApi};
use crate::connections::answer_memory;
use crate::connections::watch::{Surplus, Turn};
use crate::forward;
use crate::guards::auth::{self, Caller, Permit};
use crate::wire::problem::Problem;
use crate::wire::query;
use crate::wire::reply::Answer;
use crate::wire::request_id::RequestId;
use model::error::Code;

/// The answer to a request without a route.
type Later = Pin<Box<dyn Future<Output = HttpResponse>>>;

/// All routes.
pub(super) fn configure(endpoints: &[Endpoint], api: &Arc<Api>, config: &mut ServiceConfig) {
    let mut rest: Vec<&Endpoint> = endpoints.iter().collect();
    while let Some(path) = rest.first().map(|endpoint| endpoint.path) {
        let (mut here, others): (Vec<_>, _) = rest.into_iter().partition(|endpoint| endpoint.path == path);
        rest = others;
        // `batch` in place of an id is an id, too, for the methods of calls with an id.
        let as_id = endpoints.iter().filter(|endpoint| endpoint.path != path && covers(endpoint.path, path));
        for endpoint in as_id {
            if here.iter().all(|present| present.method != endpoint.method) {
                here.push(endpoint);
            }
        }
        // An empty topic is an invalid topic, not another path.
        let mut resource = web::resource(path.replace("{topic}", "{topic:[^/]*}"));
        let mut methods = Vec::new();
        for endpoint in here {
            // GET includes HEAD: the encoder omits the body of an answer to HEAD.
            methods.push(if endpoint.method == "GET" { "GET, HEAD" } else { endpoint.method });
            resource = resource.route(route(api, endpoint));
        }
        let allow = methods.join(", ");
        let refusal = refuse(api, move |_| Problem::method_not_allowed(&allow));
        config.service(resource.default_service(web::to(refusal)));
    }
    config.default_service(web::to(refuse(api, nothing_there)));
}

/// Whether a path, in which parameters stand for any segment, includes another.
fn covers(path: &str, other: &str) -> bool {
    let is_same = |(part, other): (&str, &str)| part == other || part.starts_with('{') && !other.starts_with('{');
    path.split('/').count() == other.split('/').count() && path.split('/').zip(other.split('/')).all(is_same)
}

/// The route to the handler of an endpoint.
fn route(api: &Arc<Api>, endpoint: &Endpoint) -> Route {
    let handler = Arc::clone(&endpoint.handler);
    let api = Rc::new(ThreadApi(Arc::clone(api)));
    let counts = Rc::new(api.requests.route(endpoint.path, endpoint.method));
    let (pattern, always, any_host, permit) =
        (endpoint.path, endpoint.answers_always, endpoint.any_host, endpoint.permit);
    let kind = endpoint.kind();
    let method = endpoint.method;
    let refused_after_hand_over = endpoint.is_of_api() && !endpoint.is_of_operators();
    let audited = pattern.starts_with("/v1/admin/") && !permit.read && !endpoint.routine;
    let handle = move |request: HttpRequest| {
        let (api, counts) = (Rc::clone(&api), Rc::clone(&counts));
        let began = Instant::now();
        let id = RequestId::begin(&request);
        let surplus = !always && request.conn_data::<Surplus>().is_some();
        let admitted = match surplus {
            true => Err(Code::Overloaded.into()),
            // A standby has taken over, and may have changes that this server lacks.
            false if refused_after_hand_over && api.standbys.has_handed_over() => Err(Code::HandingOver.into()),
            false if any_host => api.admit(&request, &id, permit),
            false => api.receive(&request).and_then(|()| api.admit(&request, &id, permit)),
        };
        let caller = admitted.as_ref().ok().map(Caller::tag);
        let call = |caller| Call::new(Rc::clone(&api), kind, request.clone(), caller, began);
        let answer =
            admitted.map(call).map(|call| match call.api.is_clustered() && (kind.shares || kind.kept.is_some()) {
                true => Box::pin(of_node(call, id.clone(), Arc::clone(&handler))),
                false => handler(call),
            });
        async move {
            Turn::take(&request).await;
            let answer = match answer {
                Ok(answer) if always => answer.await,
                Ok(answer) => {
                    answer.await.and_then(|response| Ok(answer_memory::hold(&request, response, &api.limits.answers)?))
                }
                Err(problem) => Err(problem),
            };
            let mut response = answer.unwrap_or_else(|problem| {
                api.requests.problem(problem.code());
                problem.respond(&request, &id)
            });
            // A client that sends its next request here, just when the connection ends, would not know what became of it.
            if surplus || api.is_stopping() {
                response.head_mut().set_connection_type(ConnectionType::Close);
            }
            let took = began.elapsed();
            counts.count(response.status(), took);
            api.slow.note(&id, (method, pattern), caller, took, &response);
            if let Some(caller) = caller.filter(|_| audited) {
                auth::administered(&request, &id, caller, response.status());
            }
            api.sign(&request, id, &mut response);
            response
        }
    };
    let guard = fn_guard(move |context| match context.head().method.as_str() {
        "HEAD" => method == "GET",
        asked => method == asked,
    });
    web::route().guard(guard).to(handle)
}

/// The answer on a node of a cluster: that of another node, or its own.
async fn of_node(call: Call, id: RequestId, handler: Handler) -> Answer {
    match forward::answer_of_another(&call, id).await? {
        Some(answer) => Ok(answer),
        None => handler(call).await,
    }
}

/// The problem of an unknown path. If only the slash at its end is wrong, the problem names the right path. Some
/// clients would follow a redirect unnoticed with each request, and others not at all.
fn nothing_there(request: &HttpRequest) -> Problem {
    let path = request.path();
    let right = path.trim_end_matches('/');
    let is_near = right.len() < path.len() && request.resource_map().has_resource(right);
    Problem::route_not_found(is_near.then_some(right))
}

/// Answers every request whose path is text with a problem. All count as one route, because clients choose these paths
/// and methods freely.
fn refuse<P>(api: &Arc<Api>, problem: P) -> impl Fn(HttpRequest) -> Later + Clone + use<P>
where
    P: Fn(&HttpRequest) -> Problem + 'static,
{
    let (api, route, problem) = (Arc::clone(api), api.requests.route("other", "other"), Rc::new(problem));
    move |request: HttpRequest| {
        let began = Instant::now();
        let id = RequestId::begin(&request);
        let permit = Permit::for_keys(request.method().is_safe());
        // The question of a browser before a request is not counted: it costs little, and the request itself counts.
        let answer = match api.cors.preflight(&request) {
            Some(answer) => api.check_page(&request).map(|()| answer),
            None => api.receive(&request).and_then(|()| api.admit(&request, &id, permit)).and_then(|_| {
                Err(if query::is_text(request.path()) { problem(&request) } else { Code::InvalidPath.into() })
            }),
        };
        let mut response = answer.unwrap_or_else(|refused| {
            api.requests.problem(refused.code());
            refused.respond(&request, &id)
        });
        route.count(response.status(), began.elapsed());
        api.sign(&request, id, &mut response);
        Box::pin(async move {
            Turn::take(&request).await;
            response
        })
    }
}

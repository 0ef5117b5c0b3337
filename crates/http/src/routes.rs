//! The endpoint of each request, by path and method: lets the request in, calls the handler, and completes the answer.

use std::collections::BTreeMap;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Instant;

use actix_web::http::header::{ALLOW, HeaderValue, IF_MATCH, IF_NONE_MATCH, IF_UNMODIFIED_SINCE};
use actix_web::http::{ConnectionType, Method, StatusCode};
use actix_web::web::ServiceConfig;
use actix_web::{HttpRequest, HttpResponse};
use matchit::Router;

use super::api::Api;
use super::endpoint::{Endpoint, Handler};
use crate::call::{Call, ThreadApi};
use crate::connections::answer_memory;
use crate::connections::connection::Connection;
use crate::connections::serve::{self, Arrived};
use crate::figures::requests;
use crate::forward;
use crate::guards::auth::{self, Caller, Permit, Who};
use crate::limits::Holder;
use crate::wire::problem::route_not_found;
use crate::wire::query;
use crate::wire::reply::Answer;
use crate::wire::request_id::RequestId;
use model::error::{Code, Error, Result};

/// Adds all routes to the application of a thread.
pub(super) fn configure(endpoints: &'static [Endpoint], api: &Arc<Api>, config: &mut ServiceConfig) {
    let routes = Rc::new(Routes::new(endpoints, api));
    serve::serve(config, move |arrived| {
        let routes = Rc::clone(&routes);
        async move { routes.answer(arrived).await }
    });
}

/// The routes of one thread.
struct Routes {
    api: Rc<ThreadApi>,
    paths: Router<Path>,
    /// All requests without a route count here, because clients choose their paths and methods freely.
    others: Arc<requests::Route>,
}

/// The routes of a path.
struct Path {
    routes: Vec<Route>,
    /// Their methods, for the header `Allow`.
    methods: String,
}

/// One method of a path.
struct Route {
    endpoint: &'static Endpoint,
    counts: Arc<requests::Route>,
}

impl Routes {
    fn new(endpoints: &'static [Endpoint], api: &Arc<Api>) -> Self {
        let mut paths = Router::new();
        let mut by_path = BTreeMap::<_, Vec<_>>::new();
        endpoints.iter().for_each(|endpoint| by_path.entry(endpoint.info.path).or_default().push(endpoint));
        for (path, mut here) in by_path {
            // `batch` in place of an id is an id, too, for the methods of calls with an id.
            let as_id =
                endpoints.iter().filter(|endpoint| endpoint.info.path != path && covers(endpoint.info.path, path));
            for endpoint in as_id {
                if here.iter().all(|present| present.info.method != endpoint.info.method) {
                    here.push(endpoint);
                }
            }
            // An empty topic is an invalid topic, not another path.
            for path in
                [Some(path.to_owned()), path.contains(TOPIC).then(|| path.replace(TOPIC, ""))].into_iter().flatten()
            {
                if let Err(error) = paths.insert(path, Path::new(&here, api)) {
                    tracing::error!(%error, "a path has no route");
                }
            }
        }
        let others = api.observed.requests.route("other", "other");
        Self { api: ThreadApi::new(api), paths, others }
    }

    /// The path of a request, with the escapes decoded that the HTTP server decodes.
    fn at(&self, path: &str) -> Option<&Path> {
        self.paths.at(path).ok().map(|found| found.value)
    }

    async fn answer(&self, arrived: Arrived) -> HttpResponse {
        if let Some(connection) = &arrived.connection {
            connection.flow.turn().await;
        }
        let path = self.at(arrived.request.match_info().as_str());
        match path.and_then(|path| path.route(arrived.request.method())) {
            Some(route) => route.answer(&self.api, arrived).await,
            None => self.refuse(&arrived.request, path),
        }
    }

    /// Answers a request without a route with a problem.
    fn refuse(&self, request: &HttpRequest, path: Option<&Path>) -> HttpResponse {
        let (api, began) = (&self.api, Instant::now());
        let id = RequestId::begin(request);
        let permit = Permit::for_keys(request.method().is_safe());
        // The question of a browser before a request is not counted: it costs little, and the request itself counts.
        let answer = match api.admission.access.preflight(request) {
            Some(answer) => api.admission.check_page(request).map(|()| answer),
            None => api.admission.receive(request).and_then(|()| {
                api.admission.admit(request, &id, permit)?;
                Err(match path {
                    _ if query::text(request.path()).is_none() => Code::InvalidPath.into(),
                    Some(path) => {
                        Error::refused(Code::MethodNotAllowed, format_args!("this path allows only {}", path.methods))
                    }
                    None => self.nothing_there(request),
                })
            }),
        };
        let mut response = api.respond(request, &id, answer);
        let methods = path.and_then(|path| HeaderValue::from_str(&path.methods).ok());
        if let Some(methods) = methods.filter(|_| response.status() == StatusCode::METHOD_NOT_ALLOWED) {
            response.headers_mut().insert(ALLOW, methods);
        }
        self.others.count(response.status(), began.elapsed());
        api.sign(request, id, &mut response);
        response
    }

    /// The problem of an unknown path. If only the slash at its end is wrong, the problem names the right path. Some
    /// clients would follow a redirect unnoticed with each request, and others not at all.
    fn nothing_there(&self, request: &HttpRequest) -> Error {
        let path = request.path();
        let right = path.trim_end_matches('/');
        let is_near = right.len() < path.len() && self.at(right).is_some();
        route_not_found(is_near.then_some(right))
    }
}

/// The parameter of a topic.
const TOPIC: &str = "{topic}";

/// Whether a path, in which parameters stand for any segment, includes another.
fn covers(path: &str, other: &str) -> bool {
    let is_same = |(part, other): (&str, &str)| part == other || part.starts_with('{') && !other.starts_with('{');
    path.split('/').count() == other.split('/').count() && path.split('/').zip(other.split('/')).all(is_same)
}

impl Path {
    fn new(endpoints: &[&'static Endpoint], api: &Api) -> Self {
        // GET includes HEAD: the encoder omits the body of an answer to HEAD.
        let methods: Vec<_> = endpoints
            .iter()
            .map(|endpoint| if endpoint.info.writes() { endpoint.info.method } else { "GET, HEAD" })
            .collect();
        Self {
            routes: endpoints.iter().map(|endpoint| Route::new(endpoint, api)).collect(),
            methods: methods.join(", "),
        }
    }

    fn route(&self, method: &Method) -> Option<&Route> {
        let method = if *method == Method::HEAD { "GET" } else { method.as_str() };
        self.routes.iter().find(|route| route.endpoint.info.method == method)
    }
}

impl Route {
    fn new(endpoint: &'static Endpoint, api: &Api) -> Self {
        Self { counts: api.observed.requests.route(endpoint.info.path, endpoint.info.method), endpoint }
    }

    /// The sender of a request that is served. On a connection beyond the limit, only one who has a place of its own. The
    /// connection of a key is the application's.
    fn admit(&self, api: &Api, request: &HttpRequest, id: &RequestId, on: Option<&Connection>) -> Result<Caller> {
        let info = &self.endpoint.info;
        // A standby has taken over, and may have changes that this server lacks.
        if info.is_of_api() && !info.is_of_operators() && api.standbys.has_handed_over() {
            return Err(Code::HandingOver.into());
        }
        if !info.any_host {
            api.admission.receive(request)?;
        }
        let caller = api.admission.admit(request, id, info.permit)?;
        if let (Some(connection), Who::Key(..)) = (on, &caller.who) {
            connection.is_of_key();
        }
        if on.is_some_and(|one| one.is_surplus() && !one.rise(&api.limits, caller.holder)) {
            return Err(Code::Overloaded.into());
        }
        if info.writes() { refuse_condition(request).map(|()| caller) } else { Ok(caller) }
    }

    async fn answer(&self, api: &Rc<ThreadApi>, arrived: Arrived) -> HttpResponse {
        let Arrived { request, upload, connection } = arrived;
        let Endpoint { info, handler, .. } = self.endpoint;
        let began = Instant::now();
        let id = RequestId::begin(&request);
        let connection = connection.as_deref().filter(|_| !info.answers_always);
        let surplus = connection.filter(|one| one.is_surplus());
        let admitted = self.admit(api, &request, &id, connection);
        let caller = admitted.as_ref().ok().map(|caller| caller.who.clone());
        let holder = admitted.as_ref().map_or(Holder::Operator, |caller| caller.holder);
        let answer = match admitted {
            Ok(caller) => {
                let call = Call { request: request.clone(), api: Rc::clone(api), caller, info, upload, started: began };
                // A call with parameters reads them itself.
                let query = if info.query.is_empty() { call.query().map(drop) } else { Ok(()) };
                match query {
                    Err(problem) => Err(problem),
                    Ok(()) if api.is_clustered() && (info.reads_shared() || info.kept.is_some()) => {
                        Box::pin(of_node(call, id.clone(), handler)).await
                    }
                    Ok(()) => handler(call).await,
                }
            }
            Err(problem) => Err(problem),
        };
        let answer = match answer {
            Ok(response) if !info.answers_always => {
                answer_memory::hold(&request, response, holder, &api.limits.answers)
            }
            answer => answer,
        };
        let mut response = api.respond(&request, &id, answer);
        // A client that sends its next request here, just when the connection ends, would not know what became of it.
        if surplus.is_some_and(|one| one.is_surplus()) || api.is_stopping() {
            response.head_mut().set_connection_type(ConnectionType::Close);
        }
        let took = began.elapsed();
        self.counts.count(response.status(), took);
        api.observed.slow.note(&id, (info.method, info.path), caller.as_ref(), took, &response);
        if let Some(caller) = caller.filter(|_| info.is_audited()) {
            auth::administered(&request, &id, &caller, response.status());
        }
        api.sign(&request, id, &mut response);
        response
    }
}

/// Refuses a change under a condition. What changes has neither a tag nor a time of its last change, so no condition can be
/// looked at, and a client that sends one relies on it.
fn refuse_condition(request: &HttpRequest) -> Result<()> {
    let sent =
        [IF_MATCH, IF_NONE_MATCH, IF_UNMODIFIED_SINCE].into_iter().find(|name| request.headers().contains_key(name));
    sent.map_or(Ok(()), |name| {
        let detail = format_args!("{name}: a change has no condition; leave this header out, and nothing has changed");
        Err(Error::refused(Code::InvalidHeader, detail))
    })
}

/// The answer on a node of a cluster: that of another node, or its own.
async fn of_node(call: Call, id: RequestId, handler: &Handler) -> Answer {
    match forward::answer_of_another(&call, id).await? {
        Some(answer) => Ok(answer),
        None => handler(call).await,
    }
}

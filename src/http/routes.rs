//! Which path and method leads to which handler.

use std::future::{Future, Ready, ready};
use std::rc::Rc;
use std::sync::Arc;
use std::time::Instant;

use actix_web::dev::HttpServiceFactory;
use actix_web::guard::fn_guard;
use actix_web::http::{ConnectionType, Method};
use actix_web::web::{self, Payload, ServiceConfig};
use actix_web::{HttpRequest, HttpResponse, Resource};

use super::api::Api;
use super::call::{Answer, Call};
use super::connections::Surplus;
use super::problem::Problem;
use super::{
    admin, barriers, comments, content, docs, held, markers, metrics, presence, query, reactions, relations, stream,
    timelines, users,
};
use crate::error::Code;

/// All routes. Paths are tried from the top: the busiest first, and `batch` before an id.
pub(super) fn configure(api: &Arc<Api>, config: &mut ServiceConfig) {
    let at = |path| At::new(api, path);
    config
        .service(at("/v1/users/{uid}/timeline").get(timelines::timeline).done())
        .service(at("/v1/content").post(content::publish).get(content::list).done())
        .service(at("/v1/content/batch").post(content::publish_batch).done())
        .service(at("/v1/content/{content_id}").get(content::show).patch(content::edit).delete(content::delete).done())
        .service(at("/v1/content/{content_id}/restore").post(content::restore).done())
        .service(at("/v1/content/{content_id}/reactions/{kind}").get(reactions::of_content).done())
        .service(
            at("/v1/content/{content_id}/reactions/{kind}/{uid}").put(reactions::put).delete(reactions::delete).done(),
        )
        .service(at("/v1/users/{uid}/reactions/{kind}").get(reactions::of_user).done())
        .service(at("/v1/users/{uid}").get(users::show).put(users::put).done())
        .service(at("/v1/content/{content_id}/comments").post(comments::comment).get(comments::on_item).done())
        .service(at("/v1/users/{uid}/content").get(timelines::outbox).done())
        .service(at("/v1/users/{uid}/timeline/unread").get(markers::unread).done())
        .service(at("/v1/users/{uid}/marker").get(markers::show).put(markers::advance).done())
        .service(at("/v1/topics/{topic}/content").get(timelines::topic).done())
        .service(at("/v1/users/{uid}/comments").get(comments::by_user).done())
        .service(at("/v1/users/{uid}/following").get(relations::following).done())
        .service(at("/v1/users/{uid}/following/batch").post(relations::change_batch).done())
        .service(at("/v1/users/{uid}/following/{target}").put(relations::follow).delete(relations::unfollow).done())
        .service(at("/v1/users/{uid}/followers").get(relations::followers).done())
        .service(at("/v1/users/{uid}/friends").get(relations::friends).done())
        .service(at("/v1/users/{uid}/mutes").get(barriers::muted).done())
        .service(at("/v1/users/{uid}/mutes/{target}").put(barriers::mute).delete(barriers::unmute).done())
        .service(at("/v1/users/{uid}/hidden-from").get(barriers::hidden_from).done())
        .service(at("/v1/users/{uid}/hidden-from/{target}").put(barriers::hide).delete(barriers::unhide).done())
        .service(at("/v1/users/{uid}/relations").get(relations::relations).done())
        .service(at("/v1/users/{uid}/presence").get(presence::show).put(presence::beat).done())
        .service(at("/v1/users/{uid}/stream").get(stream::listen).done())
        .service(at("/healthz").always().of_any_host().get(admin::healthz).done())
        .service(at("/readyz").always().of_any_host().get(admin::readyz).done())
        .service(at("/metrics").always().get(metrics::metrics).done())
        .service(at("/openapi.json").get(docs::description).done())
        .service(at("/docs").get(docs::page).done())
        .service(at("/docs/").get(docs::page_with_slash).done())
        .service(at("/").get(docs::start_page).done())
        .service(at("/docs/start.js").get(docs::start).done())
        .service(at("/docs/swagger-ui.css").get(docs::style).done())
        .service(at("/docs/swagger-ui-bundle.js").get(docs::script).done())
        .service(at("/v1/admin/stats").get(admin::stats).done())
        .service(at("/v1/admin/users/{uid}/timeline/verify").get(admin::verify).done())
        .service(at("/v1/admin/users/{uid}/timeline/explain").get(admin::explain).done())
        .default_service(web::to(refuse(api, nothing_there)));
}

/// A path with its handlers.
struct At<'a> {
    api: &'a Arc<Api>,
    path: &'static str,
    resource: Resource,
    allow: String,
    /// Whether it answers on connections beyond the limit too.
    always: bool,
    /// Whether it answers whatever host a request is for, and whatever page sent it.
    open: bool,
}

impl<'a> At<'a> {
    fn new(api: &'a Arc<Api>, path: &'static str) -> Self {
        // An empty topic is a wrong one, not another path.
        let pattern = path.replace("{topic}", "{topic:[^/]*}");
        Self { api, path, resource: web::resource(pattern), allow: String::new(), always: false, open: false }
    }

    /// For whoever looks after the server: answers also when it is full.
    fn always(self) -> Self {
        Self { always: true, ..self }
    }

    /// For probes, which name hosts as they like, and are told no more than a word.
    fn of_any_host(self) -> Self {
        Self { open: true, ..self }
    }

    /// GET, and HEAD: the encoder leaves the body of an answer to HEAD away.
    fn get<F: Fn(Call) -> R + Clone + 'static, R: Future<Output = Answer> + 'static>(self, handler: F) -> Self {
        self.route(const { &[Method::GET, Method::HEAD] }, handler)
    }

    fn post<F: Fn(Call) -> R + Clone + 'static, R: Future<Output = Answer> + 'static>(self, handler: F) -> Self {
        self.route(const { &[Method::POST] }, handler)
    }

    fn put<F: Fn(Call) -> R + Clone + 'static, R: Future<Output = Answer> + 'static>(self, handler: F) -> Self {
        self.route(const { &[Method::PUT] }, handler)
    }

    fn patch<F: Fn(Call) -> R + Clone + 'static, R: Future<Output = Answer> + 'static>(self, handler: F) -> Self {
        self.route(const { &[Method::PATCH] }, handler)
    }

    fn delete<F: Fn(Call) -> R + Clone + 'static, R: Future<Output = Answer> + 'static>(self, handler: F) -> Self {
        self.route(const { &[Method::DELETE] }, handler)
    }

    fn route<F, R>(mut self, methods: &'static [Method], handler: F) -> Self
    where
        F: Fn(Call) -> R + Clone + 'static,
        R: Future<Output = Answer> + 'static,
    {
        for method in methods {
            if !self.allow.is_empty() {
                self.allow.push_str(", ");
            }
            self.allow.push_str(method.as_str());
        }
        let api = Arc::clone(self.api);
        let route = api.requests.route(self.path, methods.first().map_or("", Method::as_str));
        let (always, open) = (self.always, self.open);
        let handle = move |request: HttpRequest, payload: Payload| {
            let (api, route) = (Arc::clone(&api), Arc::clone(&route));
            let began = Instant::now();
            let surplus = !always && request.conn_data::<Surplus>().is_some();
            let admitted = match surplus {
                true => Err(Code::Overloaded.into()),
                false if open => Ok(()),
                false => api.access.check(&request),
            };
            let answer = admitted.map(|()| handler(Call::new(Arc::clone(&api), request.clone(), payload, began)));
            async move {
                let answer = match answer {
                    Ok(answer) if always => answer.await,
                    Ok(answer) => answer.await.and_then(|response| held::hold(&request, response, &api.limits.answers)),
                    Err(problem) => Err(problem),
                };
                let mut response = answer.unwrap_or_else(|problem| problem.respond(&request));
                if surplus {
                    response.head_mut().set_connection_type(ConnectionType::Close);
                }
                route.count(response.status(), began.elapsed());
                response
            }
        };
        let guard = fn_guard(|context| methods.contains(&context.head().method));
        self.resource = self.resource.route(web::route().guard(guard).to(handle));
        self
    }

    fn done(self) -> impl HttpServiceFactory + 'static {
        let Self { api, resource, allow, .. } = self;
        resource.default_service(web::to(refuse(api, move |_| Problem::method_not_allowed(&allow))))
    }
}

/// The problem of a path that is none of ours. One that has only a slash too many at its end is told the right one; it
/// is no redirect, which many clients would follow with each request without anybody noticing, and others not at all.
fn nothing_there(request: &HttpRequest) -> Problem {
    let path = request.path();
    let right = path.trim_end_matches('/');
    let is_near = right.len() < path.len() && request.resource_map().has_resource(right);
    Problem::route_not_found(is_near.then_some(right))
}

/// Answers every request whose path is text with a problem, and counts them all in one place: their paths and methods
/// are whatever their senders like.
fn refuse<P>(api: &Arc<Api>, problem: P) -> impl Fn(HttpRequest) -> Ready<HttpResponse> + Clone + use<P>
where
    P: Fn(&HttpRequest) -> Problem + 'static,
{
    let (api, route, problem) = (Arc::clone(api), api.requests.route("other", "other"), Rc::new(problem));
    move |request: HttpRequest| {
        let began = Instant::now();
        let refused = match api.access.check(&request) {
            Ok(()) if query::is_text(request.path()) => problem(&request),
            Ok(()) => Code::InvalidPath.into(),
            Err(refused) => refused,
        };
        let response = refused.respond(&request);
        route.count(response.status(), began.elapsed());
        ready(response)
    }
}

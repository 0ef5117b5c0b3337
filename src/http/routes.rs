//! Which path and method leads to which handler.

use std::future::Future;
use std::sync::Arc;

use actix_web::dev::HttpServiceFactory;
use actix_web::guard::fn_guard;
use actix_web::http::Method;
use actix_web::web::{self, Payload, ServiceConfig};
use actix_web::{HttpRequest, Resource};

use super::api::Api;
use super::call::{Answer, Call};
use super::problem::Problem;
use super::{admin, content, relations, timelines};

/// All routes. Paths are tried from the top: the busiest first, and `batch` before an id.
pub(super) fn configure(api: &Arc<Api>, config: &mut ServiceConfig) {
    let at = |path| At::new(api, path);
    config
        .service(at("/v1/users/{uid}/timeline").get(timelines::timeline).done())
        .service(at("/v1/content").post(content::publish).get(content::list).done())
        .service(at("/v1/content/batch").post(content::publish_batch).done())
        .service(at("/v1/content/{content_id}").get(content::show).patch(content::edit).delete(content::delete).done())
        .service(at("/v1/users/{uid}/content").get(timelines::outbox).done())
        .service(at("/v1/users/{uid}/following").get(relations::following).done())
        .service(at("/v1/users/{uid}/following/batch").post(relations::change_batch).done())
        .service(at("/v1/users/{uid}/following/{target}").put(relations::follow).delete(relations::unfollow).done())
        .service(at("/v1/users/{uid}/followers").get(relations::followers).done())
        .service(at("/v1/users/{uid}/friends").get(relations::friends).done())
        .service(at("/v1/users/{uid}/relations").get(relations::relations).done())
        .service(at("/healthz").get(admin::healthz).done())
        .service(at("/readyz").get(admin::readyz).done())
        .service(at("/v1/admin/stats").get(admin::stats).done())
        .service(at("/v1/admin/users/{uid}/timeline/verify").get(admin::verify).done())
        .service(at("/v1/admin/users/{uid}/timeline/explain").get(admin::explain).done())
        .default_service(web::to(|request: HttpRequest| async move { Problem::route_not_found().respond(&request) }));
}

/// A path with its handlers.
struct At<'a> {
    api: &'a Arc<Api>,
    resource: Resource,
    allow: String,
}

impl<'a> At<'a> {
    fn new(api: &'a Arc<Api>, path: &str) -> Self {
        Self { api, resource: web::resource(path), allow: String::new() }
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
        let handle = move |request: HttpRequest, payload: Payload| {
            let answer = handler(Call::new(Arc::clone(&api), request.clone(), payload));
            async move { answer.await.unwrap_or_else(|problem| problem.respond(&request)) }
        };
        let guard = fn_guard(|context| methods.contains(&context.head().method));
        self.resource = self.resource.route(web::route().guard(guard).to(handle));
        self
    }

    fn done(self) -> impl HttpServiceFactory + 'static {
        let Self { resource, allow, .. } = self;
        resource.default_service(web::to(move |request: HttpRequest| {
            let response = Problem::method_not_allowed(&allow).respond(&request);
            async move { response }
        }))
    }
}

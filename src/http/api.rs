//! What all requests share: the service, the limits, and the way to the disk.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use actix_web::web;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use super::problem::Problem;
use crate::config;
use crate::feed::Feed;

/// Most requests that wait for the disk at once.
const MAX_BLOCKED: usize = 4096;
/// A batch may have this many times the body limit of one change.
const BATCH_FACTOR: usize = 256;
/// Memory for request bodies, all open requests together, unless one batch alone may need more.
const BODY_MEMORY: usize = 256 << 20;
/// The unit in which that memory is shared out.
const BODY_UNIT: usize = 1024;

/// The HTTP side of the service, shared by all its threads.
#[derive(Debug)]
pub struct Api {
    feed: Arc<Feed>,
    /// Most bytes of one change.
    pub(super) body_limit: usize,
    /// Most bytes of a batch of changes.
    pub(super) batch_limit: usize,
    /// How long a request may take.
    pub(super) timeout: Duration,
    blocked: Arc<Semaphore>,
    bodies: Arc<Semaphore>,
    stopping: AtomicBool,
}

impl Api {
    /// An API over a service.
    pub fn new(feed: Arc<Feed>, config: &config::Server) -> Self {
        let batch_limit = config.body_limit.saturating_mul(BATCH_FACTOR);
        let units = BODY_MEMORY.max(batch_limit).div_ceil(BODY_UNIT).min(Semaphore::MAX_PERMITS);
        Self {
            feed,
            body_limit: config.body_limit,
            batch_limit,
            timeout: config.request_timeout.get(),
            blocked: Arc::new(Semaphore::new(MAX_BLOCKED)),
            bodies: Arc::new(Semaphore::new(units)),
            stopping: AtomicBool::new(false),
        }
    }

    /// From now on `/readyz` says no.
    pub fn set_stopping(&self) {
        self.stopping.store(true, Ordering::Relaxed);
    }

    /// Whether the server is on its way down.
    pub(super) fn is_stopping(&self) -> bool {
        self.stopping.load(Ordering::Relaxed)
    }

    /// The service.
    pub(super) fn feed(&self) -> &Feed {
        &self.feed
    }

    /// Runs `work` on a thread that may block. A caller that goes away does not end the work, so
    /// the work itself holds its place among [`MAX_BLOCKED`].
    pub(super) async fn block<T, E>(
        self: &Arc<Self>,
        work: impl FnOnce(&Feed) -> Result<T, E> + Send + 'static,
    ) -> Result<T, Problem>
    where
        T: Send + 'static,
        E: Into<Problem> + Send + 'static,
    {
        let place = Arc::clone(&self.blocked).try_acquire_owned().map_err(|_| Problem::overloaded())?;
        let api = Arc::clone(self);
        let worked = web::block(move || {
            let answer = work(&api.feed);
            drop(place);
            answer
        });
        match worked.await {
            Ok(answer) => answer.map_err(Into::into),
            Err(_) => Err(Problem::internal("the work panicked")),
        }
    }

    /// Sets memory aside for a body of up to `bytes`, until the permit is dropped.
    pub(super) fn reserve(&self, bytes: usize) -> Result<OwnedSemaphorePermit, Problem> {
        let units = u32::try_from(bytes.div_ceil(BODY_UNIT)).unwrap_or(u32::MAX);
        Arc::clone(&self.bodies).try_acquire_many_owned(units).map_err(|_| Problem::overloaded())
    }
}

#[cfg(test)]
mod tests {
    use actix_web::App;
    use actix_web::test::{TestRequest, call_service, init_service};

    use super::*;
    use crate::backlog::Backlog;
    use crate::error::Error;
    use crate::feed::Rules;
    use crate::store::Store;
    use crate::store::memory::Memory;

    fn api() -> Arc<Api> {
        let store = Arc::new(Store::Memory(Memory::new()));
        let rules = Rules { include_own: false, active_for: 1000, follow_limit: 1000 };
        let feed = Feed::new(store, Arc::new(Backlog::new(10)), rules);
        Arc::new(Api::new(Arc::new(feed), &config::Server::default()))
    }

    async fn status(api: &Arc<Api>, request: TestRequest) -> u16 {
        let app = init_service(App::new().configure(|config| crate::http::configure(api, config))).await;
        call_service(&app, request.to_request()).await.status().as_u16()
    }

    #[actix_web::test]
    async fn past_the_most_that_may_wait_a_request_is_turned_away() {
        let api = api();
        let publish = || TestRequest::post().uri("/v1/content").set_payload(r#"{"author_id":1}"#);
        let all = u32::try_from(MAX_BLOCKED).expect("fits");
        let places = Arc::clone(&api.blocked).try_acquire_many_owned(all).expect("all free");
        assert_eq!(status(&api, publish()).await, 503);
        assert_eq!(status(&api, TestRequest::get().uri("/v1/users/1/content")).await, 200, "needs no place");
        drop(places);
        assert_eq!(status(&api, publish()).await, 201);
        assert_eq!(api.blocked.available_permits(), MAX_BLOCKED);
    }

    #[actix_web::test]
    async fn work_holds_its_place_until_it_ends() {
        let api = api();
        let (go, wait) = std::sync::mpsc::channel::<()>();
        let work = api.block(move |_| wait.recv().map_err(|_| Error::Storage("gone".to_owned())));
        let waited = tokio::time::timeout(Duration::from_millis(20), work).await;
        assert!(waited.is_err(), "the caller has given up");
        assert_eq!(api.blocked.available_permits(), MAX_BLOCKED - 1);
        go.send(()).expect("the work waits");
        while api.blocked.available_permits() < MAX_BLOCKED {
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
    }

    #[actix_web::test]
    async fn a_panic_is_an_answer_too() {
        let api = api();
        let worked: Result<(), _> = api.block(|_| -> Result<(), Error> { panic!("on purpose") }).await;
        assert!(worked.is_err());
        assert_eq!(api.blocked.available_permits(), MAX_BLOCKED);
    }

    #[actix_web::test]
    async fn bodies_share_their_memory() {
        let api = api();
        let batches: Vec<_> = (0..16).map(|_| api.reserve(api.batch_limit).expect("fits")).collect();
        assert!(api.reserve(1).is_err());
        drop(batches);
        assert!(api.reserve(1).is_ok());
    }

    #[actix_web::test]
    async fn a_stopping_server_is_healthy_but_not_ready() {
        let api = api();
        api.set_stopping();
        assert_eq!(status(&api, TestRequest::get().uri("/readyz")).await, 503);
        assert_eq!(status(&api, TestRequest::get().uri("/healthz")).await, 200);
    }
}

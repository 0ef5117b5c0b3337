//! State that all requests share: the service, the limits, and the pools for disk access.

use std::net::IpAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use actix_web::http::header::{HeaderValue, X_CONTENT_TYPE_OPTIONS};
use actix_web::{HttpRequest, HttpResponse};

use super::kind::API;
use super::pools::{Pools, Wants};
use super::requests::Requests;
use super::slow_log::SlowLog;
use crate::admin::disk_figures::DiskFigures;
use crate::admin::sampler::Sampler;
use crate::guards::access::Access;
use crate::guards::address;
use crate::guards::auth::{Authenticator, Caller, Permit, Who};
use crate::guards::cors::Cors;
use crate::guards::limits::Limits;
use crate::guards::rate_limits::RateLimits;
use crate::nodes::consistency;
use crate::nodes::peers::Peers;
use crate::pages::console_files::Pages;
use crate::wire::problem::Problem;
use crate::wire::request_id::RequestId;
use cluster::{Node, Status};
use config::{Config, Server};
use feed::Feed;
use feed::backup::Backups;
use feed::worker::Figures;

/// A request waits this long for fresh figures, then gets the last ones.
const PATIENCE: Duration = Duration::from_millis(500);
/// A request waits this long for figures that a command log must answer.
const PATIENCE_FOR_LOG: Duration = Duration::from_millis(100);

/// The body limit of a batch, as a multiple of the body limit of one change.
const BATCH_FACTOR: usize = 256;

fn batch_limit(server: &Server) -> usize {
    server.body_limit.saturating_mul(BATCH_FACTOR)
}

/// The HTTP side of the service, shared by all its threads.
#[derive(Debug)]
pub struct Api {
    feed: Arc<Feed>,
    /// The copies of the store.
    pub(super) backups: Arc<Backups>,
    /// The hosts and origins whose requests are accepted.
    pub(super) access: Access,
    /// Checks credentials.
    pub(super) gate: Arc<Authenticator>,
    /// The origins whose pages may read answers.
    pub(super) cors: Cors,
    /// The page of the console.
    pub(super) console: Pages,
    /// Limits of requests a second.
    pub(super) rates: RateLimits,
    /// The limits of the HTTP side.
    pub(super) limits: Limits,
    /// Threads that may block.
    pools: Pools,
    /// Requests counted by route and result.
    pub(super) requests: Requests,
    /// Lines about slow requests.
    pub(super) slow: SlowLog,
    /// Requests that timed out.
    pub(super) timed_out: AtomicU64,
    /// Figures of the workers.
    pub(super) workers: Figures,
    /// Figures that may need the disk.
    pub(super) sampler: Sampler<DiskFigures>,
    /// Figures that need the command log.
    pub(super) node_sampler: Sampler<Status>,
    /// This server as a node of a cluster.
    pub(super) node: Option<Arc<Node>>,
    /// The other nodes of the cluster.
    pub(super) peers: Option<Peers>,
    stopping: AtomicBool,
}

impl Api {
    /// An API over a service and its backups, for at most `connections` clients at once whose credentials `gate` checks.
    /// `node` is this server's part in a cluster.
    pub fn new(
        feed: Arc<Feed>,
        backups: Arc<Backups>,
        workers: Figures,
        connections: usize,
        gate: Arc<Authenticator>,
        node: Option<Arc<Node>>,
    ) -> Self {
        let server = &feed.config().server;
        let peers = Peers::of(&feed.config().cluster, node.as_ref().map(|node| node.log_id()).unwrap_or_default());
        let slow = feed.config().log.slow_request.get();
        Self {
            access: Access::new(server),
            gate,
            cors: Cors::new(&server.allowed_origins),
            console: Pages::new(&server.avatar_origins),
            rates: RateLimits::new(&feed.config().rate_limits),
            limits: Limits::new(server.body_limit, batch_limit(server), connections),
            feed,
            backups,
            pools: Pools::new(),
            requests: Requests::default(),
            slow: SlowLog::new(slow),
            timed_out: AtomicU64::new(0),
            workers,
            sampler: Sampler::default(),
            node_sampler: Sampler::default(),
            node,
            peers,
            stopping: AtomicBool::new(false),
        }
    }

    /// Makes `/readyz` refuse from now on, and ends the streams.
    pub fn set_stopping(&self) {
        self.stopping.store(true, Ordering::Relaxed);
        self.feed.streaming().streams().close();
    }

    /// Whether a connection without a stream is open.
    pub fn has_requests(&self) -> bool {
        self.limits.connections.fill().used > self.limits.streams.fill().used
    }

    /// Whether the server is stopping.
    pub(super) fn is_stopping(&self) -> bool {
        self.stopping.load(Ordering::Relaxed)
    }

    /// Whether some requests concern other nodes of a cluster.
    pub(super) fn is_clustered(&self) -> bool {
        self.node.is_some() || self.peers.is_some()
    }

    /// Receives a request, unless its address has sent too many, or a web page may not send it.
    pub(super) fn receive(&self, request: &HttpRequest) -> Result<(), Problem> {
        self.rates.take_address(request, self.address(request))?;
        self.check_page(request)
    }

    /// Refuses a request that a web page may not send.
    pub(super) fn check_page(&self, request: &HttpRequest) -> Result<(), Problem> {
        self.access.check(request, !self.gate.is_open())
    }

    /// The sender of a received request that `permit` allows. Refuses wrong credentials, and senders that have sent too
    /// many requests.
    pub(super) fn admit(&self, request: &HttpRequest, id: &RequestId, permit: Permit) -> Result<Caller, Problem> {
        self.gate.check(request, id, self.address(request), permit, |who| match who {
            Who::Anyone => Ok(()),
            Who::Key(_, key) => self.rates.take_key(request, key),
            Who::User { id, .. } => self.rates.take_user(request, id),
        })
    }

    /// The address of the client.
    pub(super) fn address(&self, request: &HttpRequest) -> Option<IpAddr> {
        address::client(request, &self.config().server.trusted_proxies)
    }

    /// Adds the headers that all answers have: the id of the request, the order not to guess another type, the permission
    /// to read the answer, the rest of the limits, and the position of a node.
    pub(super) fn sign(&self, request: &HttpRequest, id: RequestId, response: &mut HttpResponse) {
        id.show(response);
        response.headers_mut().insert(X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
        self.cors.permit(request, response);
        self.rates.show(request, response);
        if let Some(node) = self.node.as_ref().filter(|_| request.path().starts_with(API)) {
            consistency::show(node, request, response);
        }
    }

    /// Fresh figures; the last ones if another sample is being taken, or if sampling is slow.
    pub(super) async fn sample(self: &Arc<Self>) -> Option<DiskFigures> {
        let feed = Arc::clone(&self.feed);
        self.sampler.sample(PATIENCE, move || DiskFigures::take(feed.store().as_ref())).await
    }

    /// The figures of this node of a cluster; older ones if its log does not answer soon.
    pub(super) async fn sample_node(&self) -> Option<Status> {
        let node = Arc::clone(self.node.as_ref()?);
        self.node_sampler.sample(PATIENCE_FOR_LOG, move || Some(node.status())).await
    }

    /// The settings.
    pub(super) fn config(&self) -> &Config {
        self.feed.config()
    }

    /// Most bytes of a batch of changes.
    pub(super) fn batch_limit(&self) -> usize {
        batch_limit(&self.config().server)
    }

    /// Timeout of a request.
    pub(super) fn timeout(&self) -> Duration {
        self.config().server.request_timeout.get()
    }

    /// The service.
    pub(super) fn feed(&self) -> &Feed {
        &self.feed
    }

    /// Runs `work` on a thread that may block. The work goes on if the caller goes away, so the work itself holds its
    /// place in the limit of blocked requests.
    pub(super) async fn run<T, E>(
        self: &Arc<Self>,
        wants: Wants,
        work: impl FnOnce(&Feed) -> Result<T, E> + Send + 'static,
    ) -> Result<T, Problem>
    where
        T: Send + 'static,
        E: Into<Problem> + Send + 'static,
    {
        let Limits { blocked, changes, audits, .. } = &self.limits;
        let places = match wants {
            // Changes cannot take all places, so that reads go on while changes wait for a device that accepts no
            // writes.
            Wants::Change => (Some(changes.take(1)?), blocked.take(1)?),
            Wants::Read | Wants::LargeRead => (None, blocked.take(1)?),
            Wants::Audit => (None, audits.take(1)?),
        };
        let api = Arc::clone(self);
        let work = move || {
            let answer = work(&api.feed);
            drop(places);
            answer
        };
        self.pools.run(wants, work).await?.map_err(Into::into)
    }

    /// Runs work on a thread that may block. For requests that hold a place of their own in a limit.
    pub(super) async fn run_admitted<T: Send + 'static>(
        &self,
        wants: Wants,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> Result<T, Problem> {
        self.pools.run(wants, work).await
    }
}

#[cfg(test)]
pub(super) mod tests {
    use actix_web::App;
    use actix_web::http::ConnectionType;
    use actix_web::http::header::{CONTENT_LENGTH, TRANSFER_ENCODING};
    use actix_web::test::{TestRequest, call_service, init_service};

    use super::*;
    use crate::guards::limits::LARGE_BODY;
    use double::Double;
    use feed::backlog::Backlog;
    use feed::streaming::Streaming;
    use model::error::Error;

    /// An API over an empty store.
    pub(crate) fn api() -> Arc<Api> {
        api_with(Config::default())
    }

    /// An API over an empty store with these settings.
    pub(crate) fn api_with(config: Config) -> Arc<Api> {
        api_of(&config, |_| None)
    }

    /// An API over an empty store, of a node of a cluster.
    pub(crate) fn api_of(config: &Config, node: impl FnOnce(&Arc<Feed>) -> Option<Arc<Node>>) -> Arc<Api> {
        let store = Arc::new(Double::new());
        let feed = Feed::new(store, Arc::new(Backlog::new(10)), Arc::new(Streaming::new(1000)), config).expect("opens");
        let (gate, backups) = (Authenticator::new(&config.auth).expect("no keys"), Backups::new(config));
        let (feed, backups, gate) = (Arc::new(feed), Arc::new(backups), Arc::new(gate));
        let node = node(&feed);
        Arc::new(Api::new(feed, backups, Figures::default(), 10, gate, node))
    }

    async fn status(api: &Arc<Api>, request: TestRequest) -> u16 {
        let app = App::new().configure(|config| crate::configure(api, config)).wrap_fn(crate::attend);
        let app = init_service(app).await;
        call_service(&app, request.to_request()).await.status().as_u16()
    }

    fn publish(body: String) -> TestRequest {
        TestRequest::post().uri("/v1/content").insert_header((TRANSFER_ENCODING, "chunked")).set_payload(body)
    }

    #[actix_web::test]
    async fn while_the_server_stops_each_answer_ends_its_connection() {
        let api = api();
        let closes = async || {
            let app = init_service(App::new().configure(|config| crate::configure(&api, config))).await;
            let answer = call_service(&app, TestRequest::get().uri("/v1/users/1/content").to_request()).await;
            answer.response().head().connection_type() == ConnectionType::Close
        };
        assert!(!closes().await);
        api.set_stopping();
        assert!(closes().await);
    }

    #[actix_web::test]
    async fn past_the_most_that_may_wait_a_request_is_turned_away() {
        let api = api();
        let publish = || publish(r#"{"author_id":1}"#.to_owned());
        let places = api.limits.blocked.take(usize::MAX).expect("all free");
        assert_eq!(status(&api, publish()).await, 503);
        assert_eq!(status(&api, TestRequest::get().uri("/v1/users/1/content")).await, 200, "needs no place");
        drop(places);
        assert_eq!(status(&api, publish()).await, 201);
        assert_eq!(api.limits.blocked.fill().used, 0);
    }

    #[actix_web::test]
    async fn work_holds_its_place_until_it_ends() {
        let api = api();
        let (go, wait) = std::sync::mpsc::channel::<()>();
        let work = api.run(Wants::Change, move |_| wait.recv().map_err(|_| Error::Storage("gone".to_owned())));
        let waited = tokio::time::timeout(Duration::from_millis(20), work).await;
        assert!(waited.is_err(), "the caller has given up");
        assert_eq!(api.limits.blocked.fill().used, 1);
        go.send(()).expect("the work waits");
        while api.limits.blocked.fill().used > 0 {
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
    }

    #[actix_web::test]
    async fn a_large_batch_is_not_read_before_its_turn() {
        let api = api();
        let item = format!(r#"{{"author_id":1,"broadcast":false,"text":"{}"}}"#, "x".repeat(60_000));
        let batch = |items| {
            let body = format!(r#"{{"items":[{}]}}"#, vec![item.as_str(); items].join(","));
            let request = TestRequest::post().uri("/v1/content/batch");
            request.insert_header((CONTENT_LENGTH, body.len())).set_payload(body)
        };
        let large = batch(20);
        let mut turns = Vec::new();
        while let Some(turn) = api.limits.turn(LARGE_BODY + 1, Duration::from_millis(1)).await {
            turns.push(turn);
        }
        let mut waiting = std::pin::pin!(status(&api, large));
        assert!(tokio::time::timeout(Duration::from_millis(200), &mut waiting).await.is_err());
        assert_eq!(api.limits.batches.fill().used, 0, "nothing of it is read");
        assert_eq!(status(&api, batch(10)).await, 201, "a small one needs no turn");
        turns.clear();
        assert_eq!(waiting.await, 201);
        assert!(api.limits.turn(usize::MAX, Duration::from_secs(600)).await.is_some(), "all given back");
    }

    #[actix_web::test]
    async fn a_panic_is_an_answer_too() {
        let api = api();
        let worked: Result<(), _> = api.run(Wants::Change, |_| -> Result<(), Error> { panic!("on purpose") }).await;
        assert!(worked.is_err());
        assert_eq!(api.limits.blocked.fill().used, 0);
    }

    #[actix_web::test]
    async fn a_body_takes_memory_as_it_comes_and_no_more_than_there_is() {
        let api = api();
        let text = "x".repeat(40_000);
        let publish = || publish(format!(r#"{{"author_id":1,"text":"{text}"}}"#));
        let all = usize::try_from(api.limits.bodies.fill().limit).expect("fits");
        let most = api.limits.bodies.take(all - 60_000).expect("fits");
        assert_eq!(status(&api, publish()).await, 201);
        let more = api.limits.bodies.take(30_000).expect("given back");
        assert_eq!(status(&api, publish()).await, 503);
        assert_eq!(api.limits.bodies.refused(), 1);
        drop((most, more));
        assert_eq!(api.limits.bodies.fill().used, 0);
    }

    #[actix_web::test]
    async fn a_stopping_server_is_healthy_but_not_ready() {
        let api = api();
        api.set_stopping();
        assert_eq!(status(&api, TestRequest::get().uri("/readyz")).await, 503);
        assert_eq!(status(&api, TestRequest::get().uri("/healthz")).await, 200);
    }
}

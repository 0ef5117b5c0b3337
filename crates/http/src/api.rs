//! State that all requests share: the service, the limits, and the pools for disk access.

mod admission;
mod observed;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use actix_web::body::{BodySize, MessageBody};
use actix_web::http::header::{HeaderValue, X_CONTENT_TYPE_OPTIONS};
use actix_web::http::{ConnectionType, Version};
use actix_web::{HttpRequest, HttpResponse};
use tokio::sync::watch;

use self::admission::Admission;
use self::observed::Observed;
use super::pools::{Pools, Wants};
use super::route_info::API;
use crate::figures::disk::DiskFigures;
use crate::figures::memory;
use crate::figures::reloads::Reloads;
use crate::guards::auth::Authenticator;
use crate::limits::{Holder, Limits};
use crate::nodes::consistency;
use crate::nodes::peers::Peers;
use crate::wire::kept_pages::KeptPages;
use crate::wire::problem;
use crate::wire::reply::Answer;
use crate::wire::request_id::RequestId;
use cluster::{Node, Status};
use config::Config;
use feed::Feed;
use feed::backup::Backups;
use feed::standbys::Standbys;
use feed::worker::Figures;
use kv::Usage;
use model::error::Result;

/// A request waits this long for fresh figures, then gets the last ones.
const TIME_LIMIT: Duration = Duration::from_millis(500);
/// A request waits this long for figures that a command log must answer.
const TIME_LIMIT_FOR_LOG: Duration = Duration::from_millis(100);

/// The HTTP side of the service, shared by all its threads.
#[derive(Debug)]
pub struct Api {
    feed: Arc<Feed>,
    /// The copies of the store.
    pub(super) backups: Arc<Backups>,
    /// The standbys that follow this server.
    pub(super) standbys: Arc<Standbys>,
    /// The checks of hosts, pages, credentials and rates.
    pub(super) admission: Admission,
    /// The limits of the HTTP side.
    pub(super) limits: Arc<Limits>,
    /// Threads that may block, for [`Api::run`] and for requests that hold a place of their own in a limit.
    pub(super) pools: Pools,
    /// Pages of home timelines.
    pub(super) kept_pages: KeptPages,
    /// Counts and times.
    pub(super) observed: Observed,
    /// This server as a node of a cluster.
    pub(super) node: Option<Arc<Node>>,
    /// The other nodes of the cluster.
    pub(super) peers: Option<Peers>,
    /// A number above those of all changes so far. Readers of the feed of changes wait for it.
    pub(super) end: watch::Sender<u64>,
    phase: Phase,
}

/// How far the server is on its way out.
#[derive(Debug, Default)]
struct Phase {
    draining: AtomicBool,
    stopping: AtomicBool,
    /// True once a standby has taken over.
    over: watch::Sender<bool>,
}

impl Api {
    /// An API over a service, its backups and its standbys, for at most `connections` clients at once whose credentials
    /// `gate` checks. `node` is this server's part in a cluster.
    pub fn new(
        feed: Arc<Feed>,
        (backups, standbys): (Arc<Backups>, Arc<Standbys>),
        workers: Figures,
        connections: usize,
        gate: Arc<Authenticator>,
        reloads: Arc<Reloads>,
        node: Option<Arc<Node>>,
    ) -> Self {
        let config = feed.config();
        let limits = Arc::new(Limits::new(&config.server, connections));
        Self {
            admission: Admission::new(config, gate, &limits),
            limits,
            pools: Pools::new(),
            kept_pages: KeptPages::new(config.storage.cache_memory()),
            observed: Observed::new(config, workers, reloads),
            peers: Peers::of(&config.cluster, node.as_ref().map(|node| node.log_id()).unwrap_or_default()),
            node,
            end: watch::Sender::new(0),
            phase: Phase::default(),
            backups,
            standbys,
            feed,
        }
    }

    /// Makes `/readyz` refuse from now on, so that balancers send requests elsewhere. All else goes on.
    pub fn set_draining(&self) {
        self.phase.draining.store(true, Ordering::Relaxed);
    }

    /// Whether the server stops, or will do so soon.
    pub(super) fn is_draining(&self) -> bool {
        self.phase.draining.load(Ordering::Relaxed) || self.is_stopping()
    }

    /// Makes `/readyz` refuse from now on, and ends the streams.
    pub fn set_stopping(&self) {
        self.phase.stopping.store(true, Ordering::Relaxed);
        self.end_streams();
    }

    fn end_streams(&self) {
        self.feed.streaming().streams().close();
        self.end.send_modify(|_| ());
    }

    /// Ends streams and webhooks: a standby has taken over, and goes on with them.
    pub(super) fn end_sending(&self) {
        self.phase.over.send_replace(true);
        self.end_streams();
    }

    /// Waits until a standby has taken over.
    pub(super) async fn handed_over(&self) {
        // It is there as long as this is.
        let _ = self.phase.over.subscribe().wait_for(|over| *over).await;
    }

    /// The memory to plan for this server, bytes.
    pub(super) fn planned_memory(&self, usage: &Usage) -> u64 {
        let caches = (self.config().storage.cache_mb as u64) << 20;
        let streams = self.feed.streaming().streams().memory().fill().limit;
        let store = self.feed.store().arrivals().limit + usage.most_write_buffers;
        memory::planned(caches + store + streams + self.limits.memory())
    }

    /// Warns if the machine, or the control group of the process, has less memory than is planned.
    pub fn warn_of_little_memory(&self) {
        if let Ok(usage) = self.feed.store().usage() {
            memory::warn_if_less_than(self.planned_memory(&usage));
        }
    }

    /// The limits that connections share with requests.
    pub fn limits(&self) -> &Arc<Limits> {
        &self.limits
    }

    /// Whether a connection without a stream is open.
    pub fn has_requests(&self) -> bool {
        self.limits.connections.fill().used > self.limits.streams.fill().used
    }

    /// Open streams of the feed of changes. Webhooks wait for its end, too.
    pub(super) fn streams_of_changes(&self) -> u64 {
        self.end.receiver_count().saturating_sub(self.observed.webhooks.len()) as u64
    }

    /// Whether the server is stopping, or a standby has taken over: streams end, so that their clients go elsewhere.
    pub(super) fn is_stopping(&self) -> bool {
        self.phase.stopping.load(Ordering::Relaxed) || self.standbys.has_handed_over()
    }

    /// Whether some requests concern other nodes of a cluster.
    pub(super) fn is_clustered(&self) -> bool {
        self.node.is_some() || self.peers.is_some()
    }

    /// The response of an answer. A problem is counted.
    pub(super) fn respond(&self, request: &HttpRequest, id: &RequestId, answer: Answer) -> HttpResponse {
        answer.unwrap_or_else(|problem| {
            self.observed.requests.problem(problem::code(&problem));
            problem::respond(&problem, request, id)
        })
    }

    /// Adds the headers that all answers have: the id of the request, the order not to guess another type, the permission
    /// to read the answer, the rest of the limits, and the position of a node.
    pub(super) fn sign(&self, request: &HttpRequest, id: RequestId, response: &mut HttpResponse) {
        id.show(response);
        // HTTP/1.0 has no chunks: the body is sent as it is, and the end of the connection ends it.
        if request.version() < Version::HTTP_11 && response.body().size() == BodySize::Stream {
            response.head_mut().no_chunking(true);
            response.head_mut().set_connection_type(ConnectionType::Close);
        }
        response.headers_mut().insert(X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
        self.admission.access.permit(request, response);
        self.admission.rates.show(request, response);
        if let Some(node) = self.node.as_ref().filter(|_| request.path().starts_with(API)) {
            consistency::show(node, request, response);
        }
    }

    /// Fresh figures; the last ones if sampling is slow.
    pub(super) async fn sample(self: &Arc<Self>) -> Option<DiskFigures> {
        let feed = Arc::clone(&self.feed);
        self.observed.sampler.sample(TIME_LIMIT, move || DiskFigures::take(feed.store().as_ref())).await
    }

    /// The figures of this node of a cluster; older ones if its log does not answer soon.
    pub(super) async fn sample_node(&self) -> Option<Status> {
        let node = Arc::clone(self.node.as_ref()?);
        self.observed.node_sampler.sample(TIME_LIMIT_FOR_LOG, move || Some(node.status())).await
    }

    /// The settings.
    pub(super) fn config(&self) -> &Config {
        self.feed.config()
    }

    /// The service.
    pub(super) fn feed(&self) -> &Feed {
        &self.feed
    }

    /// Runs `work` for a holder on a thread that may block. The work goes on if the caller goes away, so the work itself holds
    /// its place in the limit of blocked requests.
    pub(super) async fn run<T: Send + 'static>(
        self: &Arc<Self>,
        holder: Holder,
        wants: Wants,
        work: impl FnOnce(&Feed) -> Result<T> + Send + 'static,
    ) -> Result<T> {
        let places = match wants {
            Wants::Change => {
                let (change, blocked) = self.limits.disk.of_change(holder)?;
                (Some(change), blocked)
            }
            Wants::Read | Wants::LargeRead => (None, self.limits.disk.blocked.take(holder, 1)?),
            Wants::Audit => (None, self.limits.disk.audits.take(holder, 1)?),
        };
        let api = Arc::clone(self);
        let work = move || {
            let answer = work(&api.feed);
            drop(places);
            answer
        };
        self.pools.run(wants, work).await?
    }
}

#[cfg(test)]
pub(super) mod tests;

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

//! Counts and times of requests and of the server.

use std::sync::Arc;

use parking_lot::Mutex;

use crate::figures::disk::DiskFigures;
use crate::figures::firing::Firing;
use crate::figures::history::History;
use crate::figures::reloads::Reloads;
use crate::figures::requests::Requests;
use crate::figures::sampler::Sampler;
use crate::figures::slow_log::SlowLog;
use crate::figures::webhooks::WebhookState;
use cluster::Status;
use config::Config;
use feed::worker::Figures;

/// The figures of the HTTP side.
#[derive(Debug)]
pub(crate) struct Observed {
    /// How keys and the certificate were read last.
    pub(crate) reloads: Arc<Reloads>,
    /// Requests counted by route and result.
    pub(crate) requests: Requests,
    /// Lines about slow requests.
    pub(crate) slow: SlowLog,
    /// Figures of the workers.
    pub(crate) workers: Figures,
    /// The main figures of the last hour.
    pub(crate) history: History,
    /// Since when alerts hold.
    pub(crate) firing: Mutex<Vec<Firing>>,
    /// Figures that may need the disk.
    pub(crate) sampler: Sampler<DiskFigures>,
    /// Figures that need the command log.
    pub(crate) node_sampler: Sampler<Status>,
    /// The receivers of changes, in the order of the settings.
    pub(crate) webhooks: Vec<Arc<Mutex<WebhookState>>>,
}

impl Observed {
    pub(super) fn new(config: &Config, workers: Figures, reloads: Arc<Reloads>) -> Self {
        Self {
            reloads,
            requests: Requests::default(),
            slow: SlowLog::new(config.log.slow_request.get()),
            workers,
            history: History::default(),
            firing: Mutex::default(),
            sampler: Sampler::default(),
            node_sampler: Sampler::default(),
            webhooks: config.webhooks.iter().map(|hook| Arc::new(Mutex::new(WebhookState::of(hook)))).collect(),
        }
    }
}

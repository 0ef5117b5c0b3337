//! The HTTP side of a standby: health, figures and its promotion. It answers no calls of applications.

use actix_web::HttpRequest;
use actix_web::http::header::{HeaderValue, X_CONTENT_TYPE_OPTIONS};
use actix_web::web::ServiceConfig;
use tokio::sync::{mpsc, oneshot};

use crate::connections::serve::{self, Arrived};
use crate::figures::prometheus_text;
use crate::figures::reloads::Reloads;
use crate::guards::address;
use crate::guards::auth::{Authenticator, Permit};
use crate::guards::web_pages::Access;
use crate::limits::Limits;
use crate::prelude::*;
use crate::wire::problem;
use crate::wire::query::Query;
use crate::wire::request_id::RequestId;
use config::Config;
use model::figures;
use model::metrics::{Page, by};

/// The states of a standby.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum StandbyState {
    /// It makes a copy.
    Copying,
    /// It follows the log.
    Following,
    /// The last attempt failed, and it pauses before the next.
    #[default]
    Waiting,
    /// It takes over.
    Promoting,
}

impl StandbyState {
    const ALL: [Self; 4] = [Self::Copying, Self::Following, Self::Waiting, Self::Promoting];

    /// Its name in answers and figures.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Copying => "copying",
            Self::Following => "following",
            Self::Waiting => "waiting",
            Self::Promoting => "promoting",
        }
    }
}

/// How far a standby is.
#[derive(Debug, Clone, Default)]
pub struct StandbyStatus {
    /// Its state.
    pub state: StandbyState,
    /// The server that it follows.
    pub origin: String,
    /// Whether it has a whole copy.
    pub has_copy: bool,
    /// Why its copy is not whole: it has not had all rows since, or needs some that are out of reach. `None` if it is.
    pub incomplete: Option<String>,
    /// The last row on its device.
    pub row: u64,
    /// Rows that it lacks, by the last word of its server; `None` before the first one of this run.
    pub behind_rows: Option<u64>,
    /// Bytes of the log that it lacks, by the last word of its server; `None` before the first one of this run.
    pub behind_bytes: Option<u64>,
    /// For how long it may have lacked rows, milliseconds; 0 if it follows and has all. Since its start if it never had all.
    pub behind_ms: u64,
    /// Bytes of the log that it has applied in this run.
    pub applied_bytes: u64,
    /// Copies that it has made in this run.
    pub copies: u64,
    /// Attempts that have failed in this run.
    pub failures: u64,
    /// Why the last attempt failed; `None` while it follows.
    pub failure: Option<String>,
}

/// A request to promote a standby.
#[derive(Debug)]
pub struct Promotion {
    /// First let the server hand over, so that nothing is lost.
    pub switch: bool,
    /// Take over also while the server still answers.
    pub force: bool,
    /// Take over also if the standby is known to lack rows.
    pub accept_loss: bool,
    /// Gets the last row once the standby is about to take over, or why it does not.
    pub done: oneshot::Sender<Result<u64>>,
}

/// Tells how far a standby is now.
type Progress = Box<dyn Fn() -> StandbyStatus + Send + Sync>;

/// The parts that its requests share.
pub struct StandbyApi {
    access: Access,
    gate: Arc<Authenticator>,
    reloads: Arc<Reloads>,
    limits: Arc<Limits>,
    config: Config,
    status: Progress,
    promotions: mpsc::Sender<Promotion>,
}

impl StandbyApi {
    /// For a standby with these settings. Requests to promote it go to `promotions`.
    pub fn new(
        config: &Config,
        gate: Arc<Authenticator>,
        reloads: Arc<Reloads>,
        status: Progress,
        promotions: mpsc::Sender<Promotion>,
    ) -> Self {
        let limits = Arc::new(Limits::new(&config.server, config.server.max_connections));
        let access = Access::new(&config.server);
        Self { access, gate, reloads, limits, config: config.clone(), status, promotions }
    }

    /// The limits of its connections.
    pub fn limits(&self) -> &Arc<Limits> {
        &self.limits
    }

    fn status(&self) -> StandbyStatus {
        (self.status)()
    }

    /// Why the standby is not near enough to take over; `None` if it is.
    fn hindrance(&self, status: &StandbyStatus) -> Option<String> {
        let within = u64::try_from(self.config.standby.ready_within.get().as_millis()).unwrap_or(u64::MAX);
        let why = match (&status.incomplete, status.behind_ms) {
            _ if !status.has_copy => "it has no whole copy yet".to_owned(),
            (Some(why), _) => why.clone(),
            (None, behind) if behind <= within => return None,
            (None, behind) => {
                let rows = status.behind_rows.filter(|rows| *rows > 0).map(|rows| format!(" and {rows} rows"));
                format!("it is {} s{} behind", behind / 1000, rows.unwrap_or_default())
            }
        };
        let failure = status.failure.as_ref().map(|failure| format!(": {failure}")).unwrap_or_default();
        Some(format!("the standby of {} is not ready to take over: {why}{failure}", status.origin))
    }

    /// Requests go elsewhere, however near the standby is.
    fn refuse(&self) -> Error {
        let status = self.status();
        let detail = self.hindrance(&status);
        let detail = detail.unwrap_or_else(|| format!("a standby of {}, ready to take over", status.origin));
        Error::refused(Code::Standby, detail)
    }

    fn check(&self, request: &HttpRequest, id: &RequestId, permit: Permit) -> Result<()> {
        self.access.check(request, !self.gate.is_open())?;
        let address = address::client(request, &self.config.server.trusted_proxies);
        self.gate.check(request, id, address, permit, |_| Ok(()), |_| Holder::Operator).map(drop)
    }

    /// How far the standby is; fails unless it is near enough to take over.
    fn health(&self) -> Result<HttpResponse> {
        let status = self.status();
        match self.hindrance(&status) {
            None => Ok(HttpResponse::Ok().json(json!({
                "status": "standby", "state": status.state.as_str(), "row": status.row,
                "behind_rows": status.behind_rows, "behind_bytes": status.behind_bytes, "behind_ms": status.behind_ms
            }))),
            Some(why) => Err(Error::refused(Code::Standby, why)),
        }
    }

    async fn promote(&self, request: &HttpRequest) -> Result<HttpResponse> {
        let known = |name: &str| ["switch", "force", "accept_loss"].contains(&name);
        let query = Query::parse(request.query_string(), &[], known, &self.config)?;
        let (switch, force) = (query.flag("switch")?, query.flag("force")?);
        let accept_loss = query.flag("accept_loss")?;
        let (done, outcome) = oneshot::channel();
        let busy = || Error::refused(Code::Standby, "the standby is being promoted or stopped");
        self.promotions.try_send(Promotion { switch, force, accept_loss, done }).map_err(|_| busy())?;
        let row = outcome.await.map_err(|_| busy())??;
        Ok(HttpResponse::Ok().json(json!({ "row": row })))
    }
}

/// Adds its routes to an application.
pub fn configure(api: &Arc<StandbyApi>, config: &mut ServiceConfig) {
    let api = Arc::clone(api);
    serve::serve(config, move |Arrived { request, .. }| {
        let api = Arc::clone(&api);
        async move {
            let id = RequestId::begin(&request);
            let mut response =
                answer(&api, &request, &id).await.unwrap_or_else(|refused| problem::respond(&refused, &request, &id));
            id.show(&mut response);
            response.headers_mut().insert(X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
            response
        }
    });
}

async fn answer(api: &StandbyApi, request: &HttpRequest, id: &RequestId) -> Result<HttpResponse> {
    let full = Permit::default();
    match (request.method().as_str(), request.path()) {
        ("GET" | "HEAD", "/healthz") => Ok(HttpResponse::Ok().json(json!({"status": "ok"}))),
        ("GET" | "HEAD", "/readyz") => Err(api.refuse()),
        ("GET" | "HEAD", "/standbyz") => api.health(),
        ("GET" | "HEAD", "/metrics") => {
            api.check(request, id, Permit { read: true, metrics: true, ..full })?;
            let mut page = Page::default();
            api.reloads.figures(&mut page);
            figures(&mut page, &api.status());
            prometheus_text::answer(page)
        }
        ("POST", "/v1/admin/promote") => {
            api.check(request, id, full)?;
            api.promote(request).await
        }
        _ => Err(Code::Standby.into()),
    }
}

fn figures(page: &mut Page, status: &StandbyStatus) {
    let states = StandbyState::ALL.map(|state| (state.as_str(), u64::from(state == status.state)));
    figures! { page =>
        /// 1 for the state of this standby.
        tideline_standby_state = by("state", states);
        /// 1 if this standby has a whole copy.
        tideline_standby_has_copy = status.has_copy;
        /// The last row of the log on the device of this standby.
        tideline_standby_row = status.row;
        /// Rows of the log that this standby lacks, by the last word of its server.
        tideline_standby_lag_rows = status.behind_rows;
        /// Bytes of the log that this standby lacks, about, by the last word of its server.
        tideline_standby_lag_bytes = status.behind_bytes;
        /// Seconds for which this standby may have lacked rows, at least since its start; 0 if it follows and has all.
        tideline_standby_lag_seconds = status.behind_ms as f64 / 1000.0;
        /// Bytes of the log that this standby has applied.
        tideline_standby_applied_bytes_total = status.applied_bytes;
        /// Copies that this standby has made.
        tideline_standby_copies_total = status.copies;
        /// Attempts of this standby that have failed.
        tideline_standby_failures_total = status.failures;
    }
}

//! The checks that let a request in: hosts and pages, credentials, requests a second.

use std::net::IpAddr;
use std::sync::Arc;

use actix_web::HttpRequest;

use crate::guards::address;
use crate::guards::auth::{Authenticator, Caller, Permit, Who};
use crate::guards::rate_limits::RateLimits;
use crate::guards::web_pages::Access;
use crate::limits::{Holder, Limits};
use crate::route_info::OPERATORS;
use crate::wire::request_id::RequestId;
use config::{Config, KeyRole};
use model::error::Result;

/// The guards that each request passes.
#[derive(Debug)]
pub(crate) struct Admission {
    /// The hosts and origins whose requests are accepted.
    pub(crate) access: Access,
    /// Checks credentials.
    pub(crate) gate: Arc<Authenticator>,
    /// Limits of requests a second.
    pub(crate) rates: RateLimits,
    limits: Arc<Limits>,
}

impl Admission {
    pub(super) fn new(config: &Config, gate: Arc<Authenticator>, limits: &Arc<Limits>) -> Self {
        Self {
            access: Access::new(&config.server),
            gate,
            rates: RateLimits::new(&config.rate_limits),
            limits: Arc::clone(limits),
        }
    }

    /// Receives a request, unless its address has sent too many, or a web page may not send it.
    pub(crate) fn receive(&self, request: &HttpRequest) -> Result<()> {
        self.rates.take_address(request, self.address(request))?;
        self.check_page(request)
    }

    /// Refuses a request that a web page may not send.
    pub(crate) fn check_page(&self, request: &HttpRequest) -> Result<()> {
        self.access.check(request, !self.gate.is_open())
    }

    /// The sender of a received request that `permit` allows. Refuses wrong credentials, and senders that have sent too
    /// many requests.
    pub(crate) fn admit(&self, request: &HttpRequest, id: &RequestId, permit: Permit) -> Result<Caller> {
        let address = self.address(request);
        let count = |who: &Who| match who {
            Who::Anyone => Ok(()),
            Who::Key(_, key) => self.rates.take_key(request, key),
            Who::User { id, .. } => self.rates.take_user(request, id),
        };
        self.gate.check(request, id, address, permit, count, |who| self.holder(who, address, request.path()))
    }

    /// For whom a sender at an address takes places.
    fn holder(&self, who: &Who, address: Option<IpAddr>, path: &str) -> Holder {
        match who {
            Who::User { id, .. } => self.limits.callers.caller(id),
            Who::Anyone if !self.gate.is_open() => self.limits.callers.client(address),
            Who::Key(KeyRole::Metrics, _) => Holder::Operator,
            Who::Anyone | Who::Key(..) if path.starts_with(OPERATORS) => Holder::Operator,
            Who::Anyone | Who::Key(..) => Holder::Application,
        }
    }

    /// The address of the client.
    pub(crate) fn address(&self, request: &HttpRequest) -> Option<IpAddr> {
        address::client(request, &self.limits.callers.proxies)
    }
}

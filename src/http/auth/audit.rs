//! A line in the server log for each refused credential, without the credential. An attacker cannot fill the disk with
//! them: lines above a rate are counted only.

use std::net::IpAddr;
use std::time::Instant;

use actix_web::HttpRequest;
use parking_lot::Mutex;

use super::Reason;
use crate::error::Code;
use crate::http::line_rate::LineRate;
use crate::http::request_id::RequestId;

/// Most lines a second.
const MOST: u32 = 20;
/// Most characters of a method and of a path in a line.
const LONGEST: usize = 200;

/// Writes the lines.
#[derive(Debug)]
pub(super) struct Audit(Mutex<LineRate>);

impl Audit {
    pub(super) fn new() -> Self {
        Self(Mutex::new(LineRate::new(MOST)))
    }

    /// Tells of a refusal. The query of the request may have a token, so only the path is told.
    pub(super) fn refused(&self, request: &HttpRequest, address: Option<IpAddr>, code: Code, reason: Reason) {
        let Some(left_out) = self.0.lock().line(Instant::now()) else { return };
        let cut = |text: &str| text.chars().take(LONGEST).collect::<String>();
        tracing::warn!(
            target: "audit",
            request_id = RequestId::of(request),
            address = address.map(tracing::field::display),
            method = cut(request.method().as_str()),
            path = cut(request.uri().path()),
            %code,
            reason,
            left_out = (left_out > 0).then_some(left_out),
            "credentials were refused"
        );
    }
}

//! Lines in the server log for refused credentials, without the credential, and for calls of administrators. An attacker
//! cannot fill the disk with refusals: lines above a rate are counted only. Valid credentials and expired tokens have rates
//! of their own, so that they cannot hide the guesses of others.

use std::net::IpAddr;

use actix_web::HttpRequest;
use actix_web::http::StatusCode;

use super::{EXPIRED, Reason, Who};
use crate::guards::line_rate::LineRate;
use crate::wire::request_id::RequestId;
use model::error::Code;

/// Most lines a second, of wrong credentials, valid ones and expired tokens each.
const MOST: u32 = 20;
/// Most characters of a method and of a path in a line.
const LONGEST: usize = 200;

/// Writes the lines.
#[derive(Debug)]
pub(super) struct Audit {
    wrong: LineRate,
    not_permitted: LineRate,
    expired: LineRate,
}

impl Audit {
    pub(super) fn new() -> Self {
        let [wrong, not_permitted, expired] = [MOST; 3].map(LineRate::new);
        Self { wrong, not_permitted, expired }
    }

    /// Tells of a refusal. The query of the request may have a token, so only the path is told.
    pub(super) fn refused(
        &self,
        request: &HttpRequest,
        id: &RequestId,
        address: Option<IpAddr>,
        code: Code,
        reason: Reason,
    ) {
        let rate = match reason {
            EXPIRED => &self.expired,
            _ if code == Code::NotPermitted => &self.not_permitted,
            _ => &self.wrong,
        };
        let Some(left_out) = rate.line() else { return };
        macro_rules! line {
            ($level:ident) => {
                tracing::$level!(
                    target: "audit",
                    request_id = id.as_str(),
                    address = address.map(tracing::field::display),
                    method = cut(request.method().as_str()),
                    path = cut(request.uri().path()),
                    %code,
                    reason,
                    left_out = (left_out > 0).then_some(left_out),
                    "credentials were refused"
                )
            };
        }
        // The end of a token is usual: the client gets a new one.
        if reason == EXPIRED { line!(info) } else { line!(warn) }
    }
}

/// Tells of the answer to an administrator who makes, reads or removes a backup.
pub(crate) fn administered(request: &HttpRequest, id: &RequestId, caller: &Who, status: StatusCode) {
    tracing::info!(
        target: "audit",
        request_id = id.as_str(),
        %caller,
        method = cut(request.method().as_str()),
        path = cut(request.uri().path()),
        status = status.as_u16(),
        "a call of an administrator"
    );
}

fn cut(text: &str) -> String {
    text.chars().take(LONGEST).collect()
}

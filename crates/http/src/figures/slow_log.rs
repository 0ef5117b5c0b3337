//! A line in the log for each slow request, at most a few a second.

use std::time::Duration;

use actix_web::HttpResponse;
use actix_web::body::{BodySize, MessageBody};

use crate::guards::auth::Who;
use crate::guards::line_rate::LineRate;
use crate::wire::request_id::RequestId;

/// Most lines a second: a server on which everything is slow has better work than its log.
const MOST: u32 = 10;

/// Writes the lines.
#[derive(Debug)]
pub(crate) struct SlowLog {
    /// A request is slow from this duration on; 0 for never.
    least: Duration,
    rate: LineRate,
}

impl SlowLog {
    /// A log of requests that take `least` or longer; of none if that is 0.
    pub(crate) fn new(least: Duration) -> Self {
        Self { least, rate: LineRate::new(MOST) }
    }

    /// Notes an answer to a request of this method and route. The line has no path and no query, which may name users.
    /// `caller` is missing if the credentials were refused.
    pub(crate) fn note(
        &self,
        id: &RequestId,
        (method, route): (&str, &str),
        caller: Option<&Who>,
        took: Duration,
        response: &HttpResponse,
    ) {
        if self.least.is_zero() || took < self.least {
            return;
        }
        let Some(left_out) = self.rate.line() else { return };
        let bytes = match response.body().size() {
            BodySize::Sized(bytes) => Some(bytes),
            BodySize::None | BodySize::Stream => None,
        };
        tracing::warn!(
            request_id = id.as_str(),
            method,
            route,
            caller = caller.map(tracing::field::display),
            status = response.status().as_u16(),
            seconds = took.as_secs_f64(),
            bytes,
            left_out = (left_out > 0).then_some(left_out),
            "a request was slow"
        );
    }
}

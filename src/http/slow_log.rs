//! A line in the log for each slow request, at most a few a second.

use std::time::{Duration, Instant};

use actix_web::HttpResponse;
use actix_web::body::{BodySize, MessageBody};
use parking_lot::Mutex;

use super::request_id::RequestId;

/// Most lines in one [`SPAN`]: a server on which everything is slow has better work than its log.
const MOST: u32 = 10;
const SPAN: Duration = Duration::from_secs(1);

/// Writes the lines.
#[derive(Debug)]
pub(super) struct SlowLog {
    /// A request is slow from this duration on; 0 for never.
    least: Duration,
    span: Mutex<Span>,
}

#[derive(Debug)]
struct Span {
    began: Instant,
    lines: u32,
    left_out: u64,
}

impl SlowLog {
    /// A log of requests that take `least` or longer; of none if that is 0.
    pub(super) fn new(least: Duration) -> Self {
        Self { least, span: Mutex::new(Span { began: Instant::now(), lines: 0, left_out: 0 }) }
    }

    /// Notes an answer to a request of this method and route. The line has no path and no query, which may name users.
    pub(super) fn note(&self, id: &RequestId, method: &str, route: &str, took: Duration, response: &HttpResponse) {
        if self.least.is_zero() || took < self.least {
            return;
        }
        let Some(left_out) = self.span.lock().line(Instant::now()) else { return };
        let bytes = match response.body().size() {
            BodySize::Sized(bytes) => Some(bytes),
            BodySize::None | BodySize::Stream => None,
        };
        tracing::warn!(
            request_id = id.as_str(),
            method,
            route,
            status = response.status().as_u16(),
            seconds = took.as_secs_f64(),
            bytes,
            left_out = (left_out > 0).then_some(left_out),
            "a request was slow"
        );
    }
}

impl Span {
    /// Whether a line may be written: then the number of lines left out before it.
    fn line(&mut self, now: Instant) -> Option<u64> {
        if now.duration_since(self.began) >= SPAN {
            (self.began, self.lines) = (now, 0);
        }
        if self.lines == MOST {
            self.left_out += 1;
            return None;
        }
        self.lines += 1;
        Some(std::mem::take(&mut self.left_out))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn few_lines_are_written_in_a_second_and_the_others_are_counted() {
        let began = Instant::now();
        let mut span = Span { began, lines: 0, left_out: 0 };
        let written: Vec<_> = (0..MOST + 5).filter_map(|_| span.line(began)).collect();
        assert_eq!(written, vec![0; MOST as usize]);
        assert_eq!(span.line(began + SPAN), Some(5));
        assert_eq!(span.line(began + SPAN), Some(0));
    }
}

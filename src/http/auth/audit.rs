//! A line in the server log for each refused credential, without the credential. An attacker cannot fill the disk with
//! them: lines above a rate are counted only.

use std::net::IpAddr;
use std::time::{Duration, Instant};

use actix_web::HttpRequest;
use parking_lot::Mutex;

use super::Reason;
use crate::error::Code;

/// Most lines in each [`SPAN`].
const MOST: u32 = 20;
const SPAN: Duration = Duration::from_secs(1);
/// Most bytes of a path in a line.
const LONGEST: usize = 200;

#[derive(Debug, Default)]
pub(super) struct Audit(Mutex<Lines>);

/// The lines of the present span.
#[derive(Debug, Default)]
struct Lines {
    began: Option<Instant>,
    written: u32,
    /// Lines left out since the last one.
    suppressed: u64,
}

impl Lines {
    /// Whether to write a line now: the number of lines left out before it.
    fn next(&mut self, now: Instant) -> Option<u64> {
        if self.began.is_none_or(|began| now.duration_since(began) >= SPAN) {
            (self.began, self.written) = (Some(now), 0);
        }
        if self.written == MOST {
            self.suppressed += 1;
            return None;
        }
        self.written += 1;
        Some(std::mem::take(&mut self.suppressed))
    }
}

impl Audit {
    /// Tells of a refusal. The query of the request may have a token, so only the path is told.
    pub(super) fn refused(&self, request: &HttpRequest, address: Option<IpAddr>, code: Code, reason: Reason) {
        let Some(suppressed) = self.0.lock().next(Instant::now()) else { return };
        let cut = |text: &'_ str| text.chars().take(LONGEST).collect::<String>();
        tracing::warn!(
            target: "audit",
            address = address.map(tracing::field::display),
            method = cut(request.method().as_str()),
            path = cut(request.uri().path()),
            %code,
            reason,
            suppressed,
            "credentials refused"
        );
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_above_the_rate_are_counted() {
        let (mut lines, start) = (Lines::default(), Instant::now());
        let told: Vec<_> = (0..100).map(|_| lines.next(start)).collect();
        assert_eq!(told[..20], [Some(0); 20]);
        assert_eq!(told[20..], [None; 80]);
        assert_eq!(lines.next(start + SPAN / 2), None);
        assert_eq!(lines.next(start + SPAN), Some(81));
        assert_eq!(lines.next(start + SPAN), Some(0));
    }
}

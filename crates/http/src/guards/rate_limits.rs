//! Limits of requests a second: of one address, one key, one user.
//!
//! Each sender has a bucket of `burst` requests, which fills up by the rate of its limit.

use std::hash::{BuildHasher, Hash, RandomState};
use std::net::IpAddr;
use std::num::NonZeroU32;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;

use actix_web::http::header::{HeaderName, HeaderValue, RETRY_AFTER};
use actix_web::{HttpMessage, HttpRequest, HttpResponse};
use governor::clock::{Clock, DefaultClock};
use governor::middleware::StateInformationMiddleware;
use governor::{DefaultKeyedRateLimiter, Quota, RateLimiter};

use crate::limits::network_of;
use model::error::{Code, Error, Result};

/// Most senders of a limit with a bucket of their own. Above it they share buckets until idle ones are swept.
const MOST: usize = 200_000;
/// The number of shared buckets.
const SHARED: u64 = 1 << 16;
/// Idle buckets are swept once in so many requests.
const SWEEP_EVERY: u64 = 4096;

const LIMIT: HeaderName = HeaderName::from_static("x-ratelimit-limit");
const REMAINING: HeaderName = HeaderName::from_static("x-ratelimit-remaining");
const RESET: HeaderName = HeaderName::from_static("x-ratelimit-reset");

type Buckets = DefaultKeyedRateLimiter<u64, StateInformationMiddleware>;

/// The limits that are set.
#[derive(Debug)]
pub(crate) struct RateLimits {
    /// Of an address, a key and a user.
    limits: [Option<Arc<Limit>>; 3],
    /// Makes the keys of buckets; random, so that nobody can choose to share a bucket with others.
    hasher: RandomState,
}

/// One limit.
#[derive(Debug)]
struct Limit {
    /// The setting.
    name: &'static str,
    rate: NonZeroU32,
    burst: NonZeroU32,
    buckets: Buckets,
    /// Senders share buckets.
    full: AtomicBool,
    sweeping: AtomicBool,
    requests: AtomicU64,
    refused: AtomicU64,
}

/// The state of the fullest of the limits that a request has met.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Standing {
    burst: u32,
    remaining: u32,
    /// Until the bucket is full again, seconds.
    reset: u64,
    /// Until the next request is admitted, seconds; `None` if this one is.
    retry_after: Option<u64>,
}

impl RateLimits {
    pub(crate) fn new(settings: &config::RateLimits) -> Self {
        let config::RateLimits { per_address, per_key, per_user, .. } = *settings;
        Self {
            limits: [
                Limit::new("rate_limits.per_address", per_address, settings.per_address_burst),
                Limit::new("rate_limits.per_key", per_key, settings.per_key_burst),
                Limit::new("rate_limits.per_user", per_user, settings.per_user_burst),
            ],
            hasher: RandomState::new(),
        }
    }

    /// Counts a request of an address, whatever its credentials are.
    pub(crate) fn take_address(&self, request: &HttpRequest, address: Option<IpAddr>) -> Result<()> {
        self.take(0, address.map(network_of), request)
    }

    /// Counts a request with a key.
    pub(crate) fn take_key(&self, request: &HttpRequest, key: &impl Hash) -> Result<()> {
        self.take(1, key, request)
    }

    /// Counts a request with a token of a user.
    pub(crate) fn take_user(&self, request: &HttpRequest, user: &impl Hash) -> Result<()> {
        self.take(2, user, request)
    }

    fn take(&self, limit: usize, sender: impl Hash, request: &HttpRequest) -> Result<()> {
        let Some(limit) = &self.limits[limit] else { return Ok(()) };
        let standing = limit.take(self.hasher.hash_one(sender));
        let is_refused = standing.retry_after.is_some();
        let mut known = request.extensions_mut();
        if known.get::<Standing>().is_none_or(|other| standing.remaining < other.remaining) || is_refused {
            known.insert(standing);
        }
        let (rate, setting) = (limit.rate, limit.name);
        let detail =
            format_args!("these are more than {rate} requests a second ({setting}). Wait as long as Retry-After says");
        if is_refused { Err(Error::refused(Code::RateLimited, detail)) } else { Ok(()) }
    }

    /// Tells the client where it stands, if a limit holds for it.
    pub(crate) fn show(&self, request: &HttpRequest, response: &mut HttpResponse) {
        if self.limits.iter().all(Option::is_none) {
            return;
        }
        let Some(standing) = request.extensions().get::<Standing>().copied() else { return };
        let Standing { burst, remaining, reset, retry_after } = standing;
        let headers = response.headers_mut();
        if let Some(seconds) = retry_after {
            headers.insert(RETRY_AFTER, HeaderValue::from(seconds));
        }
        headers.insert(LIMIT, HeaderValue::from(burst));
        headers.insert(REMAINING, HeaderValue::from(remaining));
        headers.insert(RESET, HeaderValue::from(reset));
    }

    /// The requests that were refused, by the kind of their sender.
    pub(crate) fn refused(&self) -> impl Iterator<Item = (&'static str, u64)> {
        self.of_all(|limit| limit.refused.load(Ordering::Relaxed))
    }

    /// The buckets in memory, by the kind of their senders.
    pub(crate) fn buckets(&self) -> impl Iterator<Item = (&'static str, u64)> {
        self.of_all(|limit| limit.buckets.len() as u64)
    }

    fn of_all(&self, figure: fn(&Limit) -> u64) -> impl Iterator<Item = (&'static str, u64)> {
        let figures = self.limits.iter().map(move |limit| limit.as_deref().map_or(0, figure));
        ["address", "key", "user"].into_iter().zip(figures)
    }
}

impl Limit {
    /// No limit if the rate is 0.
    fn new(name: &'static str, rate: u32, burst: u32) -> Option<Arc<Self>> {
        let (rate, burst) = NonZeroU32::new(rate).zip(NonZeroU32::new(burst))?;
        let buckets = RateLimiter::dashmap(Quota::per_second(rate).allow_burst(burst)).with_middleware();
        Some(Arc::new(Self {
            name,
            rate,
            burst,
            buckets,
            full: AtomicBool::new(false),
            sweeping: AtomicBool::new(false),
            requests: AtomicU64::new(0),
            refused: AtomicU64::new(0),
        }))
    }

    /// Takes one request out of the bucket of a sender, unless it is empty.
    fn take(self: &Arc<Self>, sender: u64) -> Standing {
        let is_due = self.requests.fetch_add(1, Ordering::Relaxed) % SWEEP_EVERY == SWEEP_EVERY - 1;
        if is_due && !self.sweeping.swap(true, Ordering::Relaxed) {
            let limit = Arc::clone(self);
            // On a thread of its own, because there may be many buckets.
            if let Err(error) = thread::Builder::new().name("sweep".to_owned()).spawn(move || limit.sweep()) {
                tracing::warn!(%error, "the thread that sweeps rate limits could not be started");
                self.sweep();
            }
        }
        let sender = if self.full.load(Ordering::Relaxed) { sender % SHARED } else { sender };
        let (remaining, retry_after) = match self.buckets.check_key(&sender) {
            Ok(state) => (state.remaining_burst_capacity(), None),
            Err(until) => {
                self.refused.fetch_add(1, Ordering::Relaxed);
                let wait = until.wait_time_from(DefaultClock::default().now());
                (0, Some((wait.as_secs() + u64::from(wait.subsec_nanos() > 0)).max(1)))
            }
        };
        let burst = self.burst.get();
        let missing = u64::from(burst.saturating_sub(remaining));
        Standing { burst, remaining, reset: missing.div_ceil(u64::from(self.rate.get())), retry_after }
    }

    /// Drops the buckets that are full again.
    fn sweep(&self) {
        self.buckets.retain_recent();
        self.full.store(self.buckets.len() > MOST, Ordering::Relaxed);
        self.sweeping.store(false, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn senders_beyond_the_bound_share_buckets_and_idle_ones_go() {
        let limit = Limit::new("", 1_000_000, 1).expect("a limit");
        let senders = (0..(MOST as u64 + 3 * SWEEP_EVERY)).map(|n| n << 20);
        for sender in senders {
            limit.take(sender);
        }
        let slow = Limit::new("", 1, 1).expect("a limit");
        for sender in 0..3 * MOST as u64 {
            slow.take(sender.wrapping_mul(0x9E37_79B9_7F4A_7C15));
            // The sweep runs beside.
            while slow.sweeping.load(Ordering::Relaxed) {
                thread::yield_now();
            }
        }
        let most = MOST + SHARED as usize + SWEEP_EVERY as usize;
        assert!(slow.buckets.len() <= most, "{} of {most}", slow.buckets.len());
        thread::sleep(std::time::Duration::from_millis(10));
        limit.buckets.retain_recent();
        assert_eq!(limit.buckets.len(), 0, "all are full again");
    }
}

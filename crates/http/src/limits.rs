//! Limits of the HTTP side. A request that finds a limit reached is refused at once and told when to retry; it does not
//! wait in memory. Large batches wait for a while, and so do reads of missed events.
//!
//! Each limit is a [`Quota`], so each keeps places for operators and for the application, and bounds the share of a caller.

mod bodies;
mod quota;

use std::hash::{BuildHasher, Hash, RandomState};
use std::net::{IpAddr, Ipv6Addr};
use std::sync::atomic::AtomicU64;
use std::time::Duration;

pub(crate) use self::bodies::BodyLimits;
pub(crate) use self::quota::{Holder, Places, Quota};

use config::{Network, Server};
use model::error::Result;

/// Most requests that wait for the disk at once.
const MAX_BLOCKED: usize = 4096;
/// Of these, most changes.
const MAX_CHANGES: usize = MAX_BLOCKED / 4 * 3;
/// Of these, most of one caller, and most changes of one caller: the others find threads (`pools.rs`) whatever these wait for.
const BLOCKED_OF_CALLER: usize = 96;
const CHANGES_OF_CALLER: usize = 64;
/// Most audits of timelines at once: each may read a whole timeline.
const MAX_AUDITS: usize = 4;
/// Most downloads at once of operators, of the application, and of users: backups and copies for standbys do not wait for
/// exports, nor the other way round.
const MAX_DOWNLOADS: usize = 4;
/// Memory for answers that clients have not received yet, unless one answer alone needs more.
const ANSWER_MEMORY: usize = 192 << 20;
/// Most clients of streams whose missed events are read at once.
const CATCHING_UP: usize = 64;
/// Memory for heads that are not complete after 8 KiB. A connection keeps what its heads have taken.
const HEAD_MEMORY: usize = 32 << 20;

/// All limits of the HTTP side.
#[derive(Debug)]
pub struct Limits {
    /// Timeout of a request.
    pub(crate) timeout: Duration,
    /// Requests that timed out.
    pub(crate) timed_out: AtomicU64,
    /// Requests that wait for or use the disk.
    pub(crate) disk: DiskLimits,
    /// Backups that are being sent.
    pub(crate) downloads: Quota,
    /// Memory of large heads.
    pub(crate) heads: Quota,
    pub(crate) bodies: BodyLimits,
    /// Memory of large answers.
    pub(crate) answers: Quota,
    /// Clients of streams whose missed events are read; the others wait.
    pub(crate) catching_up: Quota,
    /// Streams: fewer than connections, so that some are left for requests.
    pub(crate) streams: Quota,
    /// Connections.
    pub(crate) connections: Quota,
    /// Connections beyond them, whose requests are refused, but for those of operators.
    pub(crate) surplus: Quota,
    pub(crate) callers: Callers,
}

/// Limits of requests that wait for the disk or use it.
#[derive(Debug)]
pub(crate) struct DiskLimits {
    /// All of them.
    pub(crate) blocked: Quota,
    /// Changes among them. The other places are for reads.
    pub(crate) changes: Quota,
    /// Audits of timelines, beside them.
    pub(crate) audits: Quota,
}

impl Limits {
    /// Those of the settings, for at most so many connections at once.
    pub(crate) fn new(settings: &Server, connections: usize) -> Self {
        Self {
            timeout: settings.request_timeout.get(),
            timed_out: AtomicU64::new(0),
            disk: DiskLimits {
                blocked: Quota::new(MAX_BLOCKED).with_share(BLOCKED_OF_CALLER),
                changes: Quota::new(MAX_CHANGES).with_share(CHANGES_OF_CALLER),
                audits: Quota::new(MAX_AUDITS),
            },
            downloads: Quota::in_parts([MAX_DOWNLOADS; 2], 3 * MAX_DOWNLOADS),
            heads: Quota::new(HEAD_MEMORY),
            bodies: BodyLimits::new(settings.body_limit),
            answers: Quota::new(ANSWER_MEMORY),
            catching_up: Quota::new(CATCHING_UP),
            streams: Quota::new((connections - connections / 8).max(1)),
            connections: Quota::in_parts([0, connections / 8], connections),
            surplus: Quota::new(accepted(connections) - connections),
            callers: Callers { hashes: RandomState::new(), proxies: settings.trusted_proxies.clone() },
        }
    }

    /// Bytes that all requests and answers may take together.
    pub(crate) fn memory(&self) -> u64 {
        let Self { heads, bodies: BodyLimits { small, large, .. }, answers, .. } = self;
        [heads, small, large, answers].map(|quota| quota.limit() as u64).iter().sum()
    }

    /// All limits with their names.
    pub(crate) fn all(&self) -> [(&'static str, &Quota); 10] {
        [
            ("blocked", &self.disk.blocked),
            ("changes", &self.disk.changes),
            ("audits", &self.disk.audits),
            ("downloads", &self.downloads),
            ("heads", &self.heads),
            ("bodies", &self.bodies.small),
            ("batches", &self.bodies.large),
            ("answers", &self.answers),
            ("streams", &self.streams),
            ("connections", &self.connections),
        ]
    }
}

impl DiskLimits {
    /// The place of a change that waits for the disk or uses it. Changes cannot take all places, so that reads go on while
    /// changes wait for a device that accepts no writes.
    pub(crate) fn of_change(&self, holder: Holder) -> Result<(Places, Places)> {
        Ok((self.changes.take(holder, 1)?, self.blocked.take(holder, 1)?))
    }
}

/// Tells who takes places.
#[derive(Debug)]
pub(crate) struct Callers {
    /// Makes the hashes of callers; random, so that nobody can choose with whom to share a part.
    hashes: RandomState,
    /// The proxies, whose connections are those of many clients.
    pub(crate) proxies: Vec<Network>,
}

impl Callers {
    /// The holder for one caller, such as the user of a token.
    pub(crate) fn caller(&self, caller: &impl Hash) -> Holder {
        Holder::Caller(self.hashes.hash_one(caller))
    }

    /// The holder for a client without credentials. Clients of this machine, and proxies for which nothing names their
    /// clients, count as the application.
    pub(crate) fn client(&self, address: Option<IpAddr>) -> Holder {
        let Some(address) = address else { return self.caller(&()) };
        let address = address.to_canonical();
        let is_near = address.is_loopback() || self.proxies.iter().any(|network| network.contains(address));
        if is_near { Holder::Application } else { self.caller(&network_of(address)) }
    }
}

/// Connections that the server accepts for a limit of `connections`. Connections beyond the limit get a clear answer
/// and are closed. Connections beyond this number are closed at once.
pub fn accepted(connections: usize) -> usize {
    connections.saturating_add((connections / 8).max(16))
}

/// The network of a client: one client has all IPv6 addresses of a network of 64 bits.
pub(crate) fn network_of(address: IpAddr) -> IpAddr {
    match address {
        IpAddr::V6(address) => Ipv6Addr::from_bits(address.to_bits() >> 64 << 64).into(),
        IpAddr::V4(_) => address,
    }
}

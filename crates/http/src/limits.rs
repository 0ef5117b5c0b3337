//! Limits of the HTTP side. A request that finds a limit reached is refused at once and told when to retry; it does not
//! wait in memory. Only large batches wait for a while, before any of them is read.
//!
//! Each limit is a [`Quota`], so each keeps places for operators and for the application, and bounds the share of a caller.

mod quota;

use std::hash::{BuildHasher, Hash, RandomState};
use std::net::{IpAddr, Ipv6Addr};
use std::sync::atomic::AtomicU64;
use std::time::Duration;

pub(crate) use self::quota::{Holder, Places, Quota};

use config::{Network, Server};
use model::HostId;
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
/// Memory for bodies within the limit of a single change, all open requests together.
const BODY_MEMORY: usize = 64 << 20;
/// Memory for larger bodies, unless one batch alone may need more. It is separate, so that single changes go on during
/// any number of batches.
const BATCH_MEMORY: usize = 144 << 20;
/// The body limit of a batch, as a multiple of the body limit of one change.
const BATCH_FACTOR: usize = 256;
/// A body above this size, bytes, waits for its turn before it is read. Reading it costs a server thread much time, all
/// in vain if the rest finds no memory.
pub(crate) const LARGE_BODY: usize = 1 << 20;
/// Most bytes of bodies that have a turn and are not published yet, unless one alone is larger. The rest of the memory
/// of batches is for small bodies, and for those that lost their turn.
const TURNS: usize = BATCH_MEMORY / 4 * 3;
/// Most bodies that wait for a turn. Others are read without one.
const WAITING_TURNS: usize = 128;
/// Memory for answers that clients have not received yet, unless one answer alone needs more.
const ANSWER_MEMORY: usize = 192 << 20;
/// Most bytes of bodies, for each core, whose batches are published at once (see [`batch_work`]); at least two cores
/// are assumed. On its way to the disk, a batch takes a few times the memory of its body.
const BATCH_WORK: usize = 16 << 20;
/// Least bytes that an item of a batch counts: an item published before may be longer when shown.
const LEAST_WORK: usize = 16 << 10;
/// Least bytes of such an item in a body.
const LEAST_ITEM: usize = 33;
/// Most clients of streams whose missed events are read at once.
const CATCHING_UP: usize = 64;
/// Memory for heads that are not complete after 8 KiB. A connection keeps what its heads have taken.
const HEAD_MEMORY: usize = 32 << 20;
/// The unit of memory places, bytes.
const UNIT: usize = 1024;

/// All limits of the HTTP side.
#[derive(Debug)]
pub struct Limits {
    /// Timeout of a request.
    pub(crate) timeout: Duration,
    /// Requests that timed out.
    pub(crate) timed_out: AtomicU64,
    /// Most bytes of the body of one change.
    pub(crate) body_limit: usize,
    /// Most bytes of a batch of changes.
    pub(crate) batch_limit: usize,
    /// Requests that wait for or use the disk.
    pub(crate) blocked: Quota,
    /// Changes among them. The other places are for reads.
    pub(crate) changes: Quota,
    /// Audits of timelines.
    pub(crate) audits: Quota,
    /// Backups that are being sent.
    pub(crate) downloads: Quota,
    /// Memory of large heads.
    pub(crate) heads: Quota,
    /// Memory of small request bodies.
    pub(crate) bodies: Quota,
    /// Memory of bodies that only a batch may have.
    pub(crate) batches: Quota,
    /// Turns of large bodies, in bytes.
    turns: Quota,
    waiting_turns: Quota,
    /// Batches in publication. A batch that finds no place waits, with the memory of its body.
    pub(crate) batch_work: Quota,
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
    /// Makes the hashes of callers; random, so that nobody can choose with whom to share a part.
    callers: RandomState,
    /// The proxies, whose connections are those of many clients.
    proxies: Vec<Network>,
}

impl Limits {
    /// Those of the settings, for at most so many connections at once.
    pub(crate) fn new(settings: &Server, connections: usize) -> Self {
        let body_limit = settings.body_limit;
        let batch_limit = body_limit.saturating_mul(BATCH_FACTOR);
        let cores = std::thread::available_parallelism().map_or(1, std::num::NonZero::get).max(2);
        Self {
            timeout: settings.request_timeout.get(),
            timed_out: AtomicU64::new(0),
            body_limit,
            batch_limit,
            blocked: Quota::new(MAX_BLOCKED, 1).with_share(BLOCKED_OF_CALLER),
            changes: Quota::new(MAX_CHANGES, 1).with_share(CHANGES_OF_CALLER),
            audits: Quota::new(MAX_AUDITS, 1),
            downloads: Quota::in_parts([MAX_DOWNLOADS; 2], 3 * MAX_DOWNLOADS, 1),
            heads: Quota::new(HEAD_MEMORY, UNIT),
            bodies: Quota::new(BODY_MEMORY.max(body_limit), UNIT),
            batches: Quota::new(BATCH_MEMORY.max(batch_limit), UNIT),
            turns: Quota::new(TURNS.max(batch_limit), UNIT),
            waiting_turns: Quota::new(WAITING_TURNS, 1),
            batch_work: Quota::new(BATCH_WORK * cores, UNIT),
            answers: Quota::new(ANSWER_MEMORY, UNIT),
            catching_up: Quota::new(CATCHING_UP, 1),
            streams: Quota::new((connections - connections / 8).max(1), 1),
            connections: Quota::in_parts([0, connections / 8], connections, 1),
            surplus: Quota::new(accepted(connections) - connections, 1),
            callers: RandomState::new(),
            proxies: settings.trusted_proxies.clone(),
        }
    }

    /// The holder for a user with a token.
    pub(crate) fn user(&self, user: &HostId) -> Holder {
        self.caller(user)
    }

    fn caller(&self, caller: &impl Hash) -> Holder {
        Holder::Caller(self.callers.hash_one(caller))
    }

    /// The holder for a client without credentials. Clients of this machine, and proxies for which nothing names their
    /// clients, count as the application.
    pub(crate) fn client(&self, address: Option<IpAddr>) -> Holder {
        let Some(address) = address else { return self.caller(&()) };
        let address = address.to_canonical();
        let is_near = address.is_loopback() || self.proxies.iter().any(|network| network.contains(address));
        if is_near { Holder::Application } else { self.caller(&network_of(address)) }
    }

    /// The place of a change that waits for the disk or uses it. Changes cannot take all places, so that reads go on while
    /// changes wait for a device that accepts no writes.
    pub(crate) fn place_for_change(&self, holder: Holder) -> Result<ChangePlace> {
        Ok((self.changes.take(holder, 1)?, self.blocked.take(holder, 1)?))
    }

    /// Waits for the turn of a body of this size, in order of arrival. After `patience`, or if too many wait, the body
    /// is read without a turn. Small bodies need none.
    pub(crate) async fn turn(&self, holder: Holder, bytes: usize, patience: Duration) -> Option<Places> {
        if bytes <= LARGE_BODY {
            return None;
        }
        let _waits = self.waiting_turns.take_quietly(holder, 1)?;
        tokio::time::timeout(patience, self.turns.wait_for(holder, bytes)).await.ok()
    }

    /// Bytes that all requests and answers may take together.
    pub(crate) fn memory(&self) -> u64 {
        [&self.heads, &self.bodies, &self.batches, &self.answers].map(|quota| quota.limit() as u64).iter().sum()
    }

    /// All gates with their names.
    pub(crate) fn all(&self) -> [(&'static str, &Quota); 10] {
        [
            ("blocked", &self.blocked),
            ("changes", &self.changes),
            ("audits", &self.audits),
            ("downloads", &self.downloads),
            ("heads", &self.heads),
            ("bodies", &self.bodies),
            ("batches", &self.batches),
            ("answers", &self.answers),
            ("streams", &self.streams),
            ("connections", &self.connections),
        ]
    }
}

/// The places of a change: among changes, and among all requests that wait for the disk or use it.
pub(crate) type ChangePlace = (Places, Places);

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

/// The size of the work on a batch, from the bytes of its body and the most items it may have.
pub(crate) fn batch_work(body: usize, most_items: usize) -> usize {
    body.max(LEAST_WORK * (body / LEAST_ITEM).min(most_items))
}

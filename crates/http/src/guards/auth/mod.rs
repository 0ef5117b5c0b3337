//! The gate: it checks the credentials of each request before anything else of the request is read, so that a refusal
//! tells nothing about data.
//!
//! Without any key in the settings, every client may make every call.

mod audit;
mod credential;
mod keys;
mod permit;

use std::fmt;
use std::net::IpAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use actix_web::HttpRequest;
use parking_lot::RwLock;

pub(crate) use self::audit::administered;
pub(crate) use self::credential::ACCESS_TOKEN;
pub(crate) use self::permit::{Permit, TokenUse};

use self::audit::Audit;
use self::credential::Credential;
use self::keys::Ring;
use crate::limits::Holder;
use crate::wire::query;
use crate::wire::request_id::RequestId;
use config::{Auth, Credentials, Key, KeyHash, KeyRole, UsersRead};
use model::error::{Code, Error, Result};
use model::{CacheUsage, ExternalId};

/// The checked sender of a request.
#[derive(Debug, Clone)]
pub(crate) struct Caller {
    pub(crate) who: Who,
    /// For whom its requests take places of quotas.
    pub(crate) holder: Holder,
    /// The number of the keys by which it was checked.
    keys: u64,
}

/// The owner of the credentials.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Who {
    /// Anybody: the call needs no credentials, or there are no keys.
    Anyone,
    /// The holder of this key.
    Key(KeyRole, KeyHash),
    /// This user, before the second at which the token ends: seconds since 1970.
    User { id: ExternalId, until: u64 },
}

/// Characters of a hash in the server log: the mark `sha256:` and 12 digits.
const SHORT: usize = 19;

impl fmt::Display for Who {
    /// The name of a sender in the server log: the beginning of the hash of its key, never the user.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Anyone => f.write_str("anyone"),
            Self::Key(_, key) => f.write_str(key.to_string().get(..SHORT).unwrap_or_default()),
            Self::User { .. } => f.write_str("user"),
        }
    }
}

/// A reason of a refusal. The detail of the answer does not tell more than the code, except for [`EXPIRED`].
type Reason = &'static str;

/// The reason that a client is told, because it can renew its token.
const EXPIRED: Reason = "the token has expired";

/// Checks credentials. Keys can be replaced while it is in use.
#[derive(Debug)]
pub struct Authenticator {
    ring: RwLock<Arc<Ring>>,
    /// Whether the ring is open.
    open: AtomicBool,
    /// Grows with each new ring, after the ring and `open` are set.
    number: AtomicU64,
    audit: Audit,
}

impl Authenticator {
    /// A gate with the keys of the settings, and of the files that they name.
    pub fn new(auth: &Auth) -> Result<Self> {
        let ring = Ring::new(auth.credentials()?, auth);
        let open = AtomicBool::new(ring.given.is_empty());
        Ok(Self { ring: RwLock::new(Arc::new(ring)), open, number: AtomicU64::new(0), audit: Audit::new() })
    }

    /// Whether every client may make every call.
    pub fn is_open(&self) -> bool {
        self.open.load(Ordering::Acquire)
    }

    /// Replaces all keys; tokens that were verified before are verified again. Returns false if nothing has changed.
    pub fn replace(&self, keys: Credentials, auth: &Auth) -> bool {
        let ring = Ring::new(keys, auth);
        let mut current = self.ring.write();
        let is_new = !current.admits_as(&ring);
        if is_new {
            self.open.store(ring.given.is_empty(), Ordering::Release);
            *current = Arc::new(ring);
            self.number.fetch_add(1, Ordering::Release);
        }
        is_new
    }

    /// The sender of a request from `address` that `permit` allows. Refuses with 401 without credentials, and with 403 if
    /// they are wrong or do not allow the call. `count` counts the request of a sender with valid credentials, whether they
    /// allow the call or not, and may refuse it. `holder` tells for whom a sender takes places.
    pub(crate) fn check(
        &self,
        request: &HttpRequest,
        id: &RequestId,
        address: Option<IpAddr>,
        permit: Permit,
        count: impl FnOnce(&Who) -> Result<()>,
        holder: impl FnOnce(&Who) -> Holder,
    ) -> Result<Caller> {
        // Before the ring: a caller who is checked while it is replaced is not admitted for long.
        let keys = self.number.load(Ordering::Acquire);
        if permit.open || self.is_open() {
            return Ok(Caller { holder: holder(&Who::Anyone), who: Who::Anyone, keys });
        }
        let ring = Arc::clone(&self.ring.read());
        let refused = |Refusal { code, reason }| {
            if code != Code::NoCredentials {
                self.audit.refused(request, id, address, code, reason);
            }
            if reason == EXPIRED { Error::refused(code, EXPIRED) } else { code.into() }
        };
        let owner = Credential::of(request, permit.in_query).and_then(|credential| ring.owner(&credential));
        let who = owner.map_err(refused)?;
        count(&who)?;
        if let Some(reason) = hindrance(&who, request, permit, &ring) {
            return Err(refused(Refusal { code: Code::NotPermitted, reason }));
        }
        Ok(Caller { holder: holder(&who), who, keys })
    }

    /// Whether the credentials of a sender are still valid: no key has changed since their check, and the token has not
    /// expired.
    pub(crate) fn still_admits(&self, caller: &Caller) -> bool {
        let is_valid = match caller.who {
            Who::User { until, .. } => keys::now() < until,
            Who::Anyone | Who::Key(..) => true,
        };
        is_valid && caller.keys == self.number.load(Ordering::Acquire)
    }

    /// The keys in force.
    pub(crate) fn keys(&self) -> Vec<(KeyRole, Key)> {
        self.ring.read().given.keys.clone()
    }

    /// A token of a user, and the second since 1970 at which it ends; `None` without a secret for tokens.
    pub(crate) fn sign(&self, user: &ExternalId, lasts: Duration) -> Option<(String, u64)> {
        let until = keys::now() + lasts.as_secs();
        Some((self.ring.read().sign(user, until)?, until))
    }

    /// The cache of verified tokens in figures.
    pub(crate) fn tokens(&self) -> CacheUsage {
        self.ring.read().verified.usage()
    }
}

/// A refusal, with its reason for the log.
#[derive(Debug)]
struct Refusal {
    code: Code,
    reason: Reason,
}

impl Refusal {
    fn bad(reason: Reason) -> Self {
        Self { code: Code::BadCredentials, reason }
    }
}

/// The reason that a sender may not make a call.
fn hindrance(who: &Who, request: &HttpRequest, permit: Permit, ring: &Ring) -> Option<Reason> {
    let may = match who {
        Who::Anyone => false,
        Who::Key(KeyRole::Full, _) => true,
        Who::Key(KeyRole::Read, _) => permit.read,
        Who::Key(KeyRole::Metrics, _) => permit.metrics,
        Who::User { id, .. } => {
            let is_it = |text: &str| text.parse() == Ok(id.clone());
            let named = permit.uid.map(|place| request.uri().path().split('/').nth(place).and_then(query::text));
            let is_own = named.map(|named| named.is_some_and(|text| is_it(&text)));
            let may = match permit.users {
                None => false,
                Some(TokenUse::Own) => is_own == Some(true),
                Some(TokenUse::Visible) => is_own == Some(true) || ring.auth.users_read == UsersRead::Visible,
                Some(TokenUse::Act(_)) => is_own.unwrap_or(true),
            };
            may && query::values(request.query_string(), "viewer").all(|viewer| is_it(&viewer))
        }
    };
    match (who, permit.users) {
        _ if !may => Some("the key or token does not allow this call"),
        (Who::User { .. }, Some(TokenUse::Act(act))) if !ring.auth.users_act.contains(&act) => {
            Some("auth.users_act does not allow this call")
        }
        _ => None,
    }
}

//! User tokens: JSON Web Tokens (RFC 7519), signed with HS256 or EdDSA by the application.
//!
//! A key verifies one algorithm only, whatever the token says. A verified token is remembered until it expires, because
//! a verification costs as much as a page.

use jsonwebtoken::errors::ErrorKind;
use jsonwebtoken::{Algorithm, DecodingKey, Validation, decode, get_current_timestamp};
use serde::Deserialize;

use super::{EXPIRED, Reason, Who};
use crate::cache::Cache;
use crate::config::{Credentials, Duration, KeyHash};
use crate::model::{CacheUsage, HostId, MAX_NAME};

/// Memory for verified tokens: some 60,000.
const MEMORY: u64 = 8 << 20;

/// Seconds since 1970, by the clock that verifies tokens.
pub(super) fn now() -> u64 {
    get_current_timestamp()
}

/// A token after its verification.
#[derive(Debug, Clone)]
struct Verified {
    user: HostId,
    /// The last second in which it is valid.
    until: u64,
}

/// The claims that count. Others are ignored, except for `aud`: a token for another audience is refused.
#[derive(Debug, Deserialize)]
struct Claims {
    sub: HostId,
    exp: Option<f64>,
}

/// Verifies tokens.
#[derive(Debug)]
pub(super) struct Tokens {
    keys: Vec<(DecodingKey, Validation)>,
    leeway: u64,
    verified: Cache<KeyHash, Verified>,
}

impl Tokens {
    pub(super) fn new(given: &Credentials, leeway: Duration) -> Self {
        let leeway = leeway.get().as_secs();
        let with = |algorithm| {
            let mut rules = Validation::new(algorithm);
            rules.set_required_spec_claims(&["exp"]);
            rules.leeway = leeway;
            rules.validate_nbf = true;
            rules
        };
        let secrets = given.secrets.iter().map(|secret| DecodingKey::from_secret(secret.reveal()));
        let public = given.public_keys.iter().map(|key| DecodingKey::from_ed_der(key.bytes()));
        let secrets = secrets.map(|key| (key, with(Algorithm::HS256)));
        let public = public.map(|key| (key, with(Algorithm::EdDSA)));
        let bytes =
            |token: &Verified| (2 * size_of::<KeyHash>() + token.user.name().map_or(0, |name| name.len())) as u64;
        Self { keys: secrets.chain(public).collect(), leeway, verified: Cache::new(MEMORY, MAX_NAME as u64, bytes) }
    }

    /// The user of a token with this hash. The reason of a refusal is for the log.
    pub(super) fn verify(&self, token: &str, hash: KeyHash) -> Result<Who, Reason> {
        let Verified { user, until } = match self.verified.get(&hash) {
            Some(known) => known,
            None => {
                let verified = self.decode(token)?;
                self.verified.insert(hash, verified.clone());
                verified
            }
        };
        if now() > until { Err(EXPIRED) } else { Ok(Who::User { id: user, until }) }
    }

    /// Tries each key. The reason is that of the key that verified the signature, if there is one.
    fn decode(&self, token: &str) -> Result<Verified, Reason> {
        let mut reason = "no key for its algorithm";
        for (key, rules) in &self.keys {
            let refused = match decode::<Claims>(token, key, rules) {
                // An extension that the token calls critical is unknown here (RFC 7515, section 4.1.11).
                Ok(token) if token.header.crit.is_some() => return Err("an unknown critical header"),
                Ok(token) => {
                    let exp = token.claims.exp.unwrap_or_default().round() as u64;
                    return Ok(Verified { user: token.claims.sub, until: exp.saturating_add(self.leeway) });
                }
                Err(refused) => refused,
            };
            reason = match refused.kind() {
                ErrorKind::InvalidAlgorithm => continue,
                ErrorKind::InvalidSignature => "wrong signature",
                ErrorKind::ExpiredSignature => return Err(EXPIRED),
                ErrorKind::ImmatureSignature => return Err("not valid yet"),
                ErrorKind::InvalidAudience => return Err("for another audience"),
                ErrorKind::MissingRequiredClaim(_) | ErrorKind::InvalidClaimFormat(_) => return Err("no exp"),
                ErrorKind::Json(_) => return Err("claims without a user id in sub, or no JSON"),
                _ => return Err("not a token"),
            };
        }
        Err(reason)
    }

    /// The cache in figures.
    pub(super) fn usage(&self) -> CacheUsage {
        self.verified.usage()
    }
}

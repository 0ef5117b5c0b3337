//! The keys that are in force at a time, and user tokens: JSON Web Tokens (RFC 7519), signed with HS256 or EdDSA by the
//! application. A rotation replaces the whole ring.
//!
//! A key verifies one algorithm only, whatever the token says. A verified token is remembered until it expires, because
//! a verification costs as much as a page.

use aws_lc_rs::constant_time::verify_slices_are_equal;
use jsonwebtoken::errors::ErrorKind;
use jsonwebtoken::{Algorithm, DecodingKey, EncodingKey, Header, Validation, decode, encode, get_current_timestamp};
use serde::de::IgnoredAny;
use serde::{Deserialize, Deserializer};
use serde_json::json;

use super::credential::Credential;
use super::{EXPIRED, Reason, Refusal, Who};
use config::{Auth, Credentials, KeyHash};
use model::cache::Cache;
use model::{ExternalId, MAX_NAME};

/// Memory for verified tokens: some 60,000.
const MEMORY: u64 = 8 << 20;

/// The latest end of a token, seconds since 1970: in the year 5138. A time in milliseconds is later; it would give a token
/// that never ends.
const LATEST: u64 = 100_000_000_000;

const AUDIENCE: Reason = "aud names an audience";

/// Seconds since 1970, by the clock that verifies tokens.
pub(super) fn now() -> u64 {
    get_current_timestamp()
}

/// The claims that count. Others are ignored.
#[derive(Debug, Deserialize)]
struct Claims {
    sub: ExternalId,
    exp: Option<f64>,
    /// Whether the token names an audience, in any form: this server is none.
    #[serde(default, rename = "aud", deserialize_with = "present")]
    has_audience: bool,
}

fn present<'de, D: Deserializer<'de>>(value: D) -> Result<bool, D::Error> {
    IgnoredAny::deserialize(value).map(|_| true)
}

/// All keys, and the tokens that were verified with them.
#[derive(Debug)]
pub(super) struct Ring {
    pub(super) given: Credentials,
    /// The rules for tokens.
    pub(super) auth: Auth,
    /// The keys that verify tokens, each with its rules.
    verifiers: Vec<(DecodingKey, Validation)>,
    /// The users of verified tokens, each with the last second in which the token is valid.
    pub(super) verified: Cache<KeyHash, (ExternalId, u64)>,
}

impl Ring {
    /// Whether both take the same keys and tokens, and allow the same.
    pub(super) fn admits_as(&self, other: &Self) -> bool {
        let rules = |auth: &Auth| (auth.leeway, auth.users_read, auth.users_act.clone());
        self.given == other.given && rules(&self.auth) == rules(&other.auth)
    }

    /// With these keys, and the rules for tokens in the settings.
    pub(super) fn new(given: Credentials, auth: &Auth) -> Self {
        let with = |algorithm| {
            let mut rules = Validation::new(algorithm);
            rules.set_required_spec_claims(&["exp"]);
            rules.leeway = auth.leeway.get().as_secs();
            rules.validate_nbf = true;
            rules
        };
        let secrets = given.secrets.iter().map(|secret| DecodingKey::from_secret(secret.reveal()));
        let public = given.public_keys.iter().map(|key| DecodingKey::from_ed_der(key.bytes()));
        let secrets = secrets.map(|key| (key, with(Algorithm::HS256)));
        let public = public.map(|key| (key, with(Algorithm::EdDSA)));
        let bytes = |(user, _): &(ExternalId, u64)| {
            (2 * size_of::<KeyHash>() + user.name().map_or(0, |name| name.len())) as u64
        };
        let verifiers = secrets.chain(public).collect();
        Self { verifiers, verified: Cache::new(MEMORY, MAX_NAME as u64, bytes), given, auth: auth.clone() }
    }

    /// The owner of a credential.
    pub(super) fn owner(&self, credential: &Credential<'_>) -> Result<Who, Refusal> {
        let hash = KeyHash::of(credential.text.as_bytes());
        match self.key(&hash) {
            Some(_) if credential.in_query => Err(Refusal::bad("a key in the query")),
            Some(key) => Ok(key),
            None => self.verify(&credential.text, hash).map_err(Refusal::bad),
        }
    }

    /// The key with this hash. All are compared, each in constant time, so that the time tells nothing.
    fn key(&self, hash: &KeyHash) -> Option<Who> {
        let mut found = None;
        for (role, known) in &self.given.keys {
            if verify_slices_are_equal(known.hash.bytes(), hash.bytes()).is_ok() {
                found = Some(Who::Key(*role, known.hash));
            }
        }
        found
    }

    /// A token of a user that ends at this second since 1970, signed with the first secret.
    pub(super) fn sign(&self, user: &ExternalId, until: u64) -> Option<String> {
        let secret = EncodingKey::from_secret(self.given.secrets.first()?.reveal());
        encode(&Header::default(), &json!({"sub": user, "exp": until}), &secret).ok()
    }

    /// The user of a token with this hash. The reason of a refusal is for the log.
    fn verify(&self, token: &str, hash: KeyHash) -> Result<Who, Reason> {
        let (id, until) = match self.verified.get(&hash) {
            Some(known) => known,
            None => {
                let verified = self.decode(token)?;
                self.verified.insert(hash, verified.clone());
                verified
            }
        };
        // From that second on (RFC 7519, section 4.1.4).
        if now() >= until { Err(EXPIRED) } else { Ok(Who::User { id, until }) }
    }

    /// Tries each key. The reason is that of the key that verified the signature, if there is one.
    fn decode(&self, token: &str) -> Result<(ExternalId, u64), Reason> {
        // A wrong key is no token at all.
        if token.bytes().filter(|b| *b == b'.').count() != 2 {
            return Err("neither a known key nor a token");
        }
        let mut reason = "no key for its algorithm";
        for (key, rules) in &self.verifiers {
            let refused = match decode::<Claims>(token, key, rules) {
                // An extension that the token calls critical is unknown here (RFC 7515, section 4.1.11).
                Ok(token) if token.header.crit.is_some() => return Err("an unknown critical header"),
                Ok(token) if token.claims.has_audience => return Err(AUDIENCE),
                Ok(token) => {
                    let exp = token.claims.exp.unwrap_or_default().round() as u64;
                    if exp > LATEST {
                        return Err("exp is not in seconds");
                    }
                    return Ok((token.claims.sub, exp.saturating_add(self.auth.leeway.get().as_secs())));
                }
                Err(refused) => refused,
            };
            reason = match refused.kind() {
                ErrorKind::InvalidAlgorithm => continue,
                ErrorKind::InvalidSignature => "wrong signature",
                ErrorKind::ExpiredSignature => return Err(EXPIRED),
                ErrorKind::ImmatureSignature => return Err("not valid yet"),
                ErrorKind::InvalidAudience => return Err(AUDIENCE),
                ErrorKind::MissingRequiredClaim(_) | ErrorKind::InvalidClaimFormat(_) => return Err("no exp"),
                ErrorKind::Json(_) => return Err("a header or claims that cannot be read, or no sub"),
                _ => return Err("not a token"),
            };
        }
        Err(reason)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::Value;

    use super::*;

    const SECRETS: [&str; 2] = ["one secret with enough bytes to be taken", "another secret with enough bytes for it"];

    fn tokens() -> Ring {
        let secrets = serde_json::from_value(json!(SECRETS)).expect("secrets");
        let auth = Auth { leeway: config::Duration::from_secs(30), ..config::Config::default().auth };
        Ring::new(Credentials { secrets, ..Credentials::default() }, &auth)
    }

    fn signed(header: &Header, claims: &Value, secret: &str) -> String {
        encode(header, claims, &EncodingKey::from_secret(secret.as_bytes())).expect("a token")
    }

    fn verify(tokens: &Ring, token: &str) -> Result<Who, Reason> {
        tokens.verify(token, KeyHash::of(token.as_bytes()))
    }

    #[test]
    fn an_extension_that_must_be_understood_is_refused() {
        let header = Header { crit: Some(vec!["b64".to_owned()]), ..Header::default() };
        let token = signed(&header, &json!({"sub": "ana", "exp": now() + 60}), SECRETS[0]);
        assert_eq!(verify(&tokens(), &token), Err("an unknown critical header"));
    }

    #[test]
    fn times_allow_for_the_leeway() {
        let tokens = tokens();
        for (claims, refused) in [
            (json!({"sub": 7, "exp": now() - 20}), None),
            (json!({"sub": "7", "exp": now() - 40}), Some(EXPIRED)),
            (json!({"sub": "7", "exp": now() + 60, "nbf": now() + 20}), None),
            (json!({"sub": "7", "exp": now() + 60, "nbf": now() + 40}), Some("not valid yet")),
            (json!({"sub": "7", "exp": 1e300}), Some("no exp")),
            (json!({"sub": "7", "exp": -1}), Some("no exp")),
            (json!({"sub": "7"}), Some("no exp")),
            (json!({"sub": "7", "exp": now() + 60, "aud": "shop"}), Some(AUDIENCE)),
            (json!({"sub": "7", "exp": now() + 60, "aud": ["shop"]}), Some(AUDIENCE)),
            (json!({"sub": "7", "exp": now() + 60, "aud": null}), Some(AUDIENCE)),
            (json!({"sub": "7", "exp": now() + 60, "aud": 7}), Some(AUDIENCE)),
            (json!({"sub": "7", "exp": now() + 60, "aud": {"a": [1]}}), Some(AUDIENCE)),
            (json!({"sub": "7", "exp": now() + 60, "aud": []}), Some(AUDIENCE)),
        ] {
            let found = verify(&tokens, &signed(&Header::default(), &claims, SECRETS[0]));
            assert_eq!(found.as_ref().err(), refused.as_ref(), "{claims}");
            assert!(found.is_err() || matches!(found, Ok(Who::User { id: ExternalId::Number(7), .. })));
        }
    }
}

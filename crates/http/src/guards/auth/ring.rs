//! The keys that are in force at a time. A rotation replaces the whole ring, and with it the cache of tokens.

use aws_lc_rs::constant_time::verify_slices_are_equal;
use jsonwebtoken::{EncodingKey, Header, encode};
use serde_json::json;

use super::credential::Credential;
use super::tokens::Tokens;
use super::{Refusal, Who};
use config::{Auth, Credentials, KeyHash};
use model::HostId;

/// All keys, and the tokens that were verified with them.
#[derive(Debug)]
pub(super) struct Ring {
    pub(super) given: Credentials,
    /// The rules for tokens.
    pub(super) auth: Auth,
    pub(super) tokens: Tokens,
}

impl Ring {
    /// With these keys, and the rules for tokens in the settings.
    pub(super) fn new(given: Credentials, auth: &Auth) -> Self {
        Self { tokens: Tokens::new(&given, auth.leeway), given, auth: auth.clone() }
    }

    /// The owner of a credential.
    pub(super) fn owner(&self, credential: &Credential<'_>) -> Result<Who, Refusal> {
        let hash = KeyHash::of(credential.text.as_bytes());
        match self.key(&hash) {
            Some(_) if credential.in_query => Err(Refusal::bad("a key in the query")),
            Some(key) => Ok(key),
            None => self.tokens.verify(&credential.text, hash).map_err(Refusal::bad),
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
    pub(super) fn sign(&self, user: &HostId, until: u64) -> Option<String> {
        let secret = EncodingKey::from_secret(self.given.secrets.first()?.reveal());
        encode(&Header::default(), &json!({"sub": user, "exp": until}), &secret).ok()
    }
}

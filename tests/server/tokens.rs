//! Keys and tokens, as an application makes them.

use std::sync::LazyLock;
use std::time::{SystemTime, UNIX_EPOCH};

use aws_lc_rs::rand::SystemRandom;
use aws_lc_rs::signature::{Ed25519KeyPair, KeyPair as _};
use config::{Act, base64url};
use jsonwebtoken::{Algorithm, EncodingKey, Header, encode};
use serde_json::{Value, json};

/// All words of `auth.users_act`.
pub(crate) static USERS_ACT: LazyLock<String> =
    LazyLock::new(|| Act::ALL.iter().map(|act| act.as_str()).collect::<Vec<_>>().join(","));

pub(crate) const SECRET: &str = "a secret of the tests that no server has elsewhere";

/// A key of a client, unlike those of other names.
pub(crate) fn key(name: &str) -> String {
    format!("tlk_{name:_>43}")
}

/// Seconds since 1970.
pub(crate) fn now() -> i64 {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_secs().try_into().unwrap()
}

/// The claims of a token of a user for the next ten minutes.
pub(crate) fn claims(user: &str) -> Value {
    json!({"sub": user, "exp": now() + 600})
}

/// A token that is signed with a secret.
pub(crate) fn signed(claims: &Value, secret: &[u8]) -> String {
    signed_by(Algorithm::HS256, claims, secret)
}

/// A token that is signed with a secret, by an algorithm of this family.
pub(crate) fn signed_by(algorithm: Algorithm, claims: &Value, secret: &[u8]) -> String {
    encode(&Header::new(algorithm), claims, &EncodingKey::from_secret(secret)).unwrap()
}

/// A token of a user for the next ten minutes, signed with [`SECRET`].
pub(crate) fn token(user: &str) -> String {
    signed(&claims(user), SECRET.as_bytes())
}

/// A token without a signature.
pub(crate) fn unsigned(header: &Value, claims: &Value) -> String {
    let part = |part: &Value| base64url(part.to_string().as_bytes());
    format!("{}.{}.", part(header), part(claims))
}

/// A pair of keys for tokens that are signed with EdDSA.
pub(crate) struct Pair {
    pkcs8: Vec<u8>,
    public: Vec<u8>,
}

impl Pair {
    pub(crate) fn new() -> Self {
        let pkcs8 = Ed25519KeyPair::generate_pkcs8(&SystemRandom::new()).unwrap();
        let pair = Ed25519KeyPair::from_pkcs8(pkcs8.as_ref()).unwrap();
        Self { pkcs8: pkcs8.as_ref().to_vec(), public: pair.public_key().as_ref().to_vec() }
    }

    /// The public key for the settings.
    pub(crate) fn public(&self) -> String {
        base64url(&self.public)
    }

    /// The bytes of the public key.
    pub(crate) fn public_bytes(&self) -> &[u8] {
        &self.public
    }

    /// A signed token.
    pub(crate) fn sign(&self, claims: &Value) -> String {
        encode(&Header::new(Algorithm::EdDSA), claims, &EncodingKey::from_ed_der(&self.pkcs8)).unwrap()
    }
}

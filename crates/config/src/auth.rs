//! Entries of lists of keys, in settings and in files: keys of clients, and keys that verify user tokens.
//!
//! A key is kept only as its hash. No refusal and no output of this module has a key or a secret.

use std::fmt;
use std::sync::Arc;

use aws_lc_rs::digest::{SHA256, digest};
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use jsonwebtoken::DecodingKey;

use super::key_files::PEM_BEGIN;
use super::text::as_text;

/// Fewest characters of a key, and fewest bytes of a secret: 256 bits.
const LEAST: usize = 32;
/// Most characters of the name of a key.
const LONGEST_NAME: usize = 64;
/// The beginning of a key that `tideline key new` makes.
const KEY_MARK: &str = "tlk_";
/// The beginning of a hash.
const SHA256_MARK: &str = "sha256:";
const NO_HASH: &str = "a hash is sha256: in lower case, and 64 hexadecimal digits";

/// The SHA-256 of a key.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct KeyHash([u8; 32]);

impl KeyHash {
    /// The hash of a key, or of anything that may be one.
    pub fn of(key: &[u8]) -> Self {
        let mut hash = [0; 32];
        hash.copy_from_slice(digest(&SHA256, key).as_ref());
        Self(hash)
    }

    /// The hash of a key for an entry. Refuses a key that is too short, or is none by the syntax of bearer tokens (RFC
    /// 6750, section 2.1): so quotes and names of settings around a key are noticed.
    pub fn of_good(key: &str) -> Result<Self, &'static str> {
        if key.len() < LEAST {
            return Err("a key has at least 32 characters; `tideline key new` makes one");
        }
        let is_part = |b: u8| b.is_ascii_alphanumeric() || b"-._~+/".contains(&b);
        if !key.trim_end_matches('=').bytes().all(is_part) {
            return Err("a key has only letters, digits and - . _ ~ + / with = at its end: no quotes, spaces or names");
        }
        Ok(Self::of(key.as_bytes()))
    }

    /// The hash itself.
    pub fn bytes(&self) -> &[u8; 32] {
        &self.0
    }

    /// Reads a hash, or a key.
    fn read(entry: &str) -> Result<Self, &'static str> {
        let is_digits = |text: &str| text.len() == 64 && text.bytes().all(|b| b.is_ascii_hexdigit());
        if is_digits(entry) {
            return Err("64 hexadecimal digits: write sha256: before a hash; of such a key, give the hash \
                        (`tideline key hash`)");
        }
        let Some(digits) = entry.strip_prefix(SHA256_MARK) else {
            let begin = entry.get(..6).unwrap_or_default();
            return if begin.eq_ignore_ascii_case("sha256") { Err(NO_HASH) } else { Self::of_good(entry) };
        };
        if !is_digits(digits) {
            return Err(NO_HASH);
        }
        let byte = |at: usize| u8::from_str_radix(&digits[2 * at..][..2], 16).unwrap_or_default();
        Ok(Self(std::array::from_fn(byte)))
    }
}

/// An entry of a list of keys: a key, by its hash, and the name that the operator gave it.
#[derive(Clone, PartialEq, Eq)]
pub struct Key {
    /// Its hash.
    pub hash: KeyHash,
    /// Its name, if it has one.
    pub name: Option<Arc<str>>,
}

impl Key {
    /// Reads an entry: a key or its hash, then perhaps a space and a name, as in a file of authorized keys of SSH.
    pub(super) fn read(entry: &str) -> Result<Self, &'static str> {
        let (key, name) = entry.split_once(' ').map_or((entry, ""), |(key, name)| (key, name.trim()));
        let hash = KeyHash::read(key)?;
        if name.chars().count() > LONGEST_NAME || name.chars().any(char::is_control) {
            return Err("the name behind a key has at most 64 characters, and no control characters");
        }
        if name.split(' ').any(|word| word.starts_with(SHA256_MARK) || word.starts_with(KEY_MARK)) {
            return Err("two keys in one entry: behind a key stands only its name");
        }
        Ok(Self { hash, name: Some(name).filter(|name| !name.is_empty()).map(Arc::from) })
    }
}

impl From<KeyHash> for Key {
    fn from(hash: KeyHash) -> Self {
        Self { hash, name: None }
    }
}

impl fmt::Display for Key {
    /// As an entry.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.hash.fmt(f)?;
        self.name.iter().try_for_each(|name| write!(f, " {name}"))
    }
}

impl fmt::Display for KeyHash {
    /// As an entry.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(SHA256_MARK)?;
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

/// A secret that signs and verifies tokens with HS256.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret(Arc<str>);

impl Secret {
    /// The secret, for the verification.
    pub fn reveal(&self) -> &[u8] {
        self.0.as_bytes()
    }

    pub(super) fn read(entry: &str) -> Result<Self, &'static str> {
        let quoted = |quote| entry.starts_with(quote) && entry.ends_with(quote);
        match () {
            () if entry.len() < LEAST => Err("a secret has at least 32 bytes"),
            () if entry.chars().any(char::is_control) => Err("a secret has no control characters"),
            () if entry.starts_with(PEM_BEGIN) => Err("a secret of HS256 is no PEM; see auth.jwt_public_keys"),
            () if entry.to_ascii_lowercase().starts_with(SHA256_MARK) => {
                Err("a secret is given itself, not its hash: the application signs with it")
            }
            () if quoted('"') || quoted('\'') => Err("a secret is given without quotes"),
            () if is_assignment(entry) => Err("a secret is given without the name of a setting"),
            () => Ok(Self(entry.into())),
        }
    }
}

/// Whether an entry is like a line of settings, such as `jwt_secret = "…"`.
fn is_assignment(entry: &str) -> bool {
    let Some((name, value)) = entry.split_once('=') else { return false };
    let name = name.trim_end().to_ascii_lowercase();
    let is_name = name.bytes().all(|b| b.is_ascii_alphabetic() || b == b'_' || b == b'.');
    let is_ours = ["secret", "secrets", "key", "keys"].iter().any(|end| name.ends_with(end));
    is_name && is_ours && !value.trim_matches(['=', ' ']).is_empty()
}

impl fmt::Display for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("***")
    }
}

/// An Ed25519 key that verifies tokens.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct PublicKey([u8; 32]);

impl PublicKey {
    /// The key itself.
    pub fn bytes(&self) -> &[u8; 32] {
        &self.0
    }

    pub(super) fn read(entry: &str) -> Result<Self, &'static str> {
        const EXPECTED: &str = "expected an Ed25519 public key: PEM, or base64url of its 32 bytes";
        let entry = entry.trim();
        let key = match entry.starts_with(PEM_BEGIN) {
            true => DecodingKey::from_ed_pem(entry.as_bytes()),
            false => DecodingKey::from_ed_components(entry.trim_end_matches('=')),
        };
        let key = key.map_err(|_| EXPECTED)?;
        key.try_get_as_bytes().ok().and_then(|bytes| bytes.try_into().ok()).map(Self).ok_or(EXPECTED)
    }
}

impl fmt::Display for PublicKey {
    /// As base64url.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&base64url(&self.0))
    }
}

/// Bytes as base64url without padding (RFC 4648, section 5).
pub fn base64url(bytes: &[u8]) -> String {
    URL_SAFE_NO_PAD.encode(bytes)
}

as_text! { Key Secret PublicKey }

impl fmt::Debug for KeyHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const KEY: &str = "tlk_0123456789abcdefghijklmnopqrstuvwxyz";
    /// The example of RFC 8037, appendix A.2, in both notations.
    const PUBLIC: &str = "11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo";
    const PEM: &str = "-----BEGIN PUBLIC KEY-----\nMCowBQYDK2VwAyEA11qYAYKxCrfVS/7TyWQHOg7hcvPapiMlrwIaaPcHURo=\n\
                       -----END PUBLIC KEY-----\n";

    #[test]
    fn base64url_is_that_of_the_rfc() {
        for (bytes, text) in [("", ""), ("f", "Zg"), ("fo", "Zm8"), ("foo", "Zm9v"), ("foob", "Zm9vYg")] {
            assert_eq!(base64url(bytes.as_bytes()), text);
        }
        assert_eq!(base64url(&[0xfb, 0xff]), "-_8");
        assert_eq!(base64url(&[0xff; 32]).len(), 43);
    }

    #[test]
    fn an_entry_may_name_its_key() {
        let key = Key::read(&format!("{KEY}  push sender ")).expect("a key with a name");
        assert_eq!((key.hash, key.name.as_deref()), (KeyHash::of(KEY.as_bytes()), Some("push sender")));
        assert_eq!(Key::read(&key.to_string()), Ok(key));
        assert_eq!(Key::read(KEY), Ok(KeyHash::of(KEY.as_bytes()).into()));
        let second = KeyHash::of(b"abc").to_string();
        for name in ["\u{7}", &"n".repeat(65), KEY, &second, &format!("and {second}")] {
            let refusal = Key::read(&format!("{KEY} {name}")).expect_err(name);
            assert!(!refusal.contains(KEY), "{refusal}");
        }
    }

    #[test]
    fn a_key_and_its_hash_are_the_same_entry() {
        // FIPS 180-4, "abc".
        let abc = "sha256:ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
        assert_eq!(KeyHash::of(b"abc").to_string(), abc);
        let key = KeyHash::read(KEY).expect("a key");
        assert_eq!(KeyHash::read(&key.to_string()), Ok(key));
        assert_eq!(KeyHash::read(&abc.to_uppercase().replace("SHA256", "sha256")), Ok(KeyHash::of(b"abc")));
        let (short, spaced, accented) = (&KEY[..31], format!("{KEY} x"), format!("{KEY}é"));
        let texts = [abc.to_uppercase(), abc.replace(':', "="), abc[7..].to_owned(), format!("{abc}0")];
        let lines =
            ["\"{}\"", "'{}'", "key={}", "keys=[\"{}\"]", "{},", "\u{feff}{}"].map(|line| line.replace("{}", KEY));
        let others = ["***", short, &spaced, &accented, &abc[..70]].map(str::to_owned);
        for entry in texts.iter().chain(&lines).chain(&others) {
            let refusal = KeyHash::read(entry).expect_err(entry);
            assert!(!refusal.contains(entry), "{refusal}");
        }
        assert!(KeyHash::read("").is_err() && KeyHash::read("sha256:").is_err());
        let base64 = "AbC-._~+/0123456789012345678901234==";
        assert_eq!(KeyHash::read(base64), Ok(KeyHash::of(base64.as_bytes())));
    }

    #[test]
    fn a_secret_is_any_text_that_is_meant_as_one() {
        const SECRET: &str = "0123456789 0123456789 0123456789";
        let is_secret = |entry: &str| Secret::read(entry).is_ok();
        for text in
            [SECRET, &"=".repeat(40), &format!("{}=", "key".repeat(14)), &format!("{SECRET}\""), &"é".repeat(16)]
        {
            assert!(is_secret(text), "{text}");
        }
        let hash = KeyHash::of(SECRET.as_bytes()).to_string();
        for text in [
            &SECRET[1..],
            &hash,
            &hash.to_uppercase(),
            "-----BEGIN OPENSSH PRIVATE KEY-----",
            &format!("\"{SECRET}\""),
            &format!("'{SECRET}'"),
            &format!("jwt_secrets = [\"{SECRET}\"]"),
            &format!("TIDELINE__AUTH__JWT_SECRET={SECRET}"),
            &format!("{SECRET}\0"),
        ] {
            assert!(!is_secret(text), "{text}");
        }
    }

    #[test]
    fn only_an_ed25519_public_key_verifies_tokens() {
        assert_eq!(PublicKey::read(PEM), PublicKey::read(PUBLIC));
        assert_eq!(PublicKey::read(PUBLIC).map(|key| key.to_string()).as_deref(), Ok(PUBLIC));
        // The private key of the same example.
        let private = "-----BEGIN PRIVATE KEY-----\nMC4CAQAwBQYDK2VwBCIEIJ1hsZ3v/VpguoRK9JLsLMREScVpezJpGXA7rAMcrn9g\n\
                       -----END PRIVATE KEY-----\n";
        for entry in ["", "x", &PUBLIC[1..], &format!("{PUBLIC}AA"), private] {
            assert!(PublicKey::read(entry).is_err(), "{entry}");
        }
    }
}

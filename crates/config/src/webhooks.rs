//! `[[webhooks]]`: receivers of the feed of changes.

use std::collections::BTreeSet;
use std::fmt;
use std::net::IpAddr;
use std::path::PathBuf;
use std::sync::LazyLock;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use hyper::Uri;
use ipnet::IpNet;
use serde::{Deserialize, Serialize};

use super::key_files::{from_file, lines};
use super::text::{self, as_text, shown_as_field};
use super::wrong;
use model::EffectKind;
use model::error::Result;

/// Most receivers, and most secrets of one.
const MOST: usize = 16;
const MOST_SECRETS: usize = 8;
/// The beginning of a secret, and how many bytes one has (Standard Webhooks 1).
const SECRET_MARK: &str = "whsec_";
const SECRET_BYTES: std::ops::RangeInclusive<usize> = 24..=64;

/// A receiver of changes.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Webhook {
    /// Its name, under which the server keeps its position.
    pub name: WebhookName,
    /// Where the changes are sent.
    pub url: WebhookUrl,
    /// The file with the secrets that sign requests, one on each line.
    pub secret_file: PathBuf,
    /// The kinds of changes; empty for all.
    #[serde(default)]
    pub types: Vec<ChangeType>,
    /// Where it begins if it has no position yet: `newest`, `oldest`, or a position of the feed.
    #[serde(default = "newest")]
    pub after: String,
}

fn newest() -> String {
    "newest".to_owned()
}

impl Webhook {
    /// Reads the secrets that sign requests, at least one.
    pub fn secrets(&self) -> Result<Vec<WebhookSecret>> {
        let name = format!("webhooks.{}.secret", self.name);
        let secrets = from_file(&name, &self.secret_file, lines, WebhookSecret::read)?;
        let refusal = || wrong(format_args!("{name}_file: expected at most {MOST_SECRETS} secrets"));
        if secrets.len() > MOST_SECRETS { Err(refusal()) } else { Ok(secrets) }
    }

    /// The first rule that receivers break together, in words.
    pub(super) fn broken_rule(all: &[Self]) -> Option<String> {
        let names: BTreeSet<_> = all.iter().map(|hook| &hook.name.0).collect();
        let no_file = all.iter().find(|hook| hook.secret_file.as_os_str().is_empty());
        if all.len() > MOST {
            return Some(format!("webhooks: expected at most {MOST} receivers"));
        }
        if names.len() < all.len() {
            return Some("webhooks: two receivers have the same name".to_owned());
        }
        no_file.map(|hook| format!("webhooks.{}.secret_file: expected a file with a secret", hook.name))
    }
}

/// The name of a receiver: 1 to 64 of `a-z A-Z 0-9 . _ -`.
#[derive(Clone, PartialEq, Eq)]
pub struct WebhookName(String);

impl WebhookName {
    fn read(text: &str) -> Result<Self, &'static str> {
        let refusal = "the name of a webhook has 1 to 64 letters, digits, dots, hyphens and underscores";
        (!text.is_empty() && text::is_name(text)).then(|| Self(text.to_owned())).ok_or(refusal)
    }
}

/// The URL of a receiver: `https`, or a loopback address of this machine.
#[derive(Clone, PartialEq, Eq)]
pub struct WebhookUrl(Uri);

impl WebhookUrl {
    /// The URL itself.
    pub fn uri(&self) -> &Uri {
        &self.0
    }

    /// Whether it names this machine.
    pub fn is_loopback(&self) -> bool {
        let host = self.0.host().unwrap_or_default();
        host.eq_ignore_ascii_case("localhost")
            || literal(host).is_some_and(|address| address.to_canonical().is_loopback())
    }

    fn read(text: &str) -> Result<Self, &'static str> {
        const FORM: &str = "the URL of a webhook is https://host/path, or http://127.0.0.1:3000/path of this machine, \
                            without a user, a password or a fragment";
        let url = Self(text.parse().map_err(|_| FORM)?);
        let (uri, place) = (&url.0, url.0.authority().ok_or(FORM)?);
        let is_http = uri.scheme_str() == Some("http");
        if place.as_str().contains('@') || text.contains('#') || place.host().is_empty() {
            return Err(FORM);
        }
        if !is_http && uri.scheme_str() != Some("https") {
            return Err(FORM);
        }
        if is_http && !url.is_loopback() {
            return Err("the URL of a webhook is https; http is for loopback addresses of this machine only");
        }
        if place.as_str().len() > place.host().len() && place.port_u16().is_none_or(|port| port == 0) {
            return Err("the port of the URL of a webhook is from 1 to 65535");
        }
        let literal = literal(place.host());
        if literal.is_none() && !is_name(place.host()) {
            return Err("the host of the URL of a webhook is a name, or an IP address in its usual form");
        }
        if !url.is_loopback() && literal.is_some_and(|address| !is_public(address)) {
            return Err(
                "the URL of a webhook has an address that is not public, nor a loopback address of this machine",
            );
        }
        Ok(url)
    }
}

/// The IP address that a host of a URL is, if it is one.
fn literal(host: &str) -> Option<IpAddr> {
    host.trim_start_matches('[').trim_end_matches(']').parse().ok()
}

/// Whether a host is a name, and none of the other ways to write an address, such as 127.1.
fn is_name(host: &str) -> bool {
    let fits = |b: u8| b.is_ascii_alphanumeric() || b"-_.".contains(&b);
    let last = host.trim_end_matches('.').rsplit('.').next().unwrap_or_default().to_ascii_lowercase();
    let is_number = last.bytes().all(|b| b.is_ascii_digit()) || last.starts_with("0x");
    host.bytes().all(fits) && !is_number
}

/// Networks of the registries of special-purpose addresses (RFC 6890; IANA): private networks, this machine, translation,
/// tunnels, documentation, tests and groups. Of IPv6 only 2000::/3 is given out.
static SPECIAL: LazyLock<Vec<IpNet>> = LazyLock::new(|| {
    let v4 = "0.0.0.0/8 10.0.0.0/8 100.64.0.0/10 127.0.0.0/8 169.254.0.0/16 172.16.0.0/12 192.0.0.0/24 192.0.2.0/24 \
              192.88.99.0/24 192.168.0.0/16 198.18.0.0/15 198.51.100.0/24 203.0.113.0/24 224.0.0.0/3";
    let v6 = "::/3 4000::/2 8000::/1 2001::/23 2001:db8::/32 2002::/16 3fff::/20";
    v4.split(' ').chain(v6.split(' ')).filter_map(|block| block.parse().ok()).collect()
});

/// Whether an address is one of the internet, and no special one.
pub fn is_public(address: IpAddr) -> bool {
    let address = address.to_canonical();
    !SPECIAL.iter().any(|block| block.contains(&address))
}

/// A kind of changes, by its name in the API.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct ChangeType(pub EffectKind);

impl ChangeType {
    fn read(text: &str) -> Result<Self, String> {
        let known = EffectKind::ALL.into_iter().find(|kind| kind.name() == text);
        let names = || EffectKind::ALL.map(EffectKind::name).join(", ");
        known.map(Self).ok_or_else(|| format!("{text:?} is no type of changes; the types are {}", names()))
    }
}

impl fmt::Display for ChangeType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0.name())
    }
}

as_text! { WebhookName WebhookUrl ChangeType }
shown_as_field! { WebhookName WebhookUrl }

/// A secret that signs requests. No output has it.
#[derive(Clone)]
pub struct WebhookSecret(Vec<u8>);

impl WebhookSecret {
    /// The key of the signatures.
    pub fn reveal(&self) -> &[u8] {
        &self.0
    }

    /// A secret with these bytes in its written form.
    pub fn written(bytes: &[u8]) -> String {
        format!("{SECRET_MARK}{}", STANDARD.encode(bytes))
    }

    fn read(entry: &str) -> Result<Self, &'static str> {
        const FORM: &str = "a secret is whsec_ and base64 of 24 to 64 bytes; `tideline key new --webhook` makes one";
        let bytes = STANDARD.decode(entry.strip_prefix(SECRET_MARK).ok_or(FORM)?).map_err(|_| FORM)?;
        if SECRET_BYTES.contains(&bytes.len()) { Ok(Self(bytes)) } else { Err(FORM) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn urls_are_https_or_of_this_machine() {
        for good in [
            "https://app.example.org/hook?a=b",
            "https://8.8.8.8/x",
            "https://[2606:4700::1111]/",
            "http://127.0.0.1:3000/x",
            "http://localhost/x",
            "https://LOCALHOST:1/",
            "http://[::1]:80/x",
            "http://[::ffff:127.0.0.1]/",
        ] {
            assert_eq!(WebhookUrl::read(good).map(|url| url.to_string().len() >= good.len()), Ok(true), "{good}");
        }
        for bad in [
            "",
            "app.example.org/x",
            "/x",
            "ftp://app.example.org/",
            "http://app.example.org/",
            "http://10.0.0.1/",
            "https://10.0.0.1/",
            "https://169.254.169.254/latest",
            "https://[fd00::1]/",
            "https://[::ffff:10.0.0.1]/",
            "https://0.0.0.0/",
            "http://0/",
            "https://user:word@app.example.org/",
            "https://app.example.org/#x",
            "http://localhost.example.org/",
            "http://127.0.0.1:99999/",
            "http://127.0.0.1:0/",
            "http://127.0.0.1:/",
            "https://2130706433/",
            "https://127.1/",
            "https://0177.0.0.1/",
            "https://0x7f.0x0.0x0.0x1/",
            "https://169.254.169.254./",
            "https://./",
            "https://[fe80::1%25eth0]/",
        ] {
            assert!(WebhookUrl::read(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn only_addresses_of_the_internet_are_public() {
        assert_eq!(SPECIAL.len(), 21, "a block is no block");
        for (address, public) in [
            ("1.1.1.1", true),
            ("100.63.255.255", true),
            ("100.64.0.1", false),
            ("172.16.0.1", false),
            ("172.32.0.1", true),
            ("192.168.1.1", false),
            ("198.18.0.1", false),
            ("198.20.0.1", true),
            ("203.0.113.7", false),
            ("224.0.0.1", false),
            ("255.255.255.255", false),
            ("0.1.2.3", false),
            ("::", false),
            ("::1", false),
            ("::ffff:8.8.8.8", true),
            ("64:ff9b::a00:1", false),
            ("fe80::1", false),
            ("fd12::1", false),
            ("ff02::1", false),
            ("2001:db8::1", false),
            ("2001::1", false),
            ("2002:a00:1::", false),
            ("2001:4860:4860::8888", true),
        ] {
            assert_eq!(is_public(address.parse().expect(address)), public, "{address}");
        }
    }

    #[test]
    fn secrets_are_read_as_they_are_written() {
        let written = WebhookSecret::written(&[7; 32]);
        assert_eq!(WebhookSecret::read(&written).expect("a secret").reveal(), [7; 32]);
        for bad in ["", "whsec_", "whsec_AAAA", &written[6..], &format!("{written}=")] {
            assert!(WebhookSecret::read(bad).is_err(), "{bad}");
        }
    }
}

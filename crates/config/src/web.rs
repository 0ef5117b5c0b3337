//! Hosts and origins in the notation of browsers, and the settings that list them.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use serde::Serialize;

use super::text::{from_text, shown_as_field};

/// Longest host name, bytes.
const MAX_NAME: usize = 253;

/// A host as in a `Host` header or a URL. Names are compared without case.
#[derive(Debug, Clone, Copy, Eq)]
pub enum Host<'a> {
    /// An IP address, written out in full.
    Address(IpAddr),
    /// Any other text, without a dot at its end.
    Name(&'a str),
}

impl PartialEq for Host<'_> {
    fn eq(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Address(one), Self::Address(other)) => one == other,
            (Self::Name(one), Self::Name(other)) => one.eq_ignore_ascii_case(other),
            _ => false,
        }
    }
}

/// A host, with its port if given.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Authority<'a> {
    /// The host.
    pub host: Host<'a>,
    /// The port, if given.
    pub port: Option<u16>,
}

impl<'a> Authority<'a> {
    /// Parses `host`, `host:port`, `[address]` or `[address]:port`. Refuses anything else, such as a user before an
    /// `@`.
    pub fn read(text: &'a str) -> Option<Self> {
        // A colon within the brackets of an address begins no port.
        let (host, port) = text.rsplit_once(':').filter(|(_, port)| !port.ends_with(']')).unwrap_or((text, ""));
        let host = match host.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')) {
            Some(address) => Host::Address(address.parse::<Ipv6Addr>().ok()?.into()),
            None => {
                let host = host.strip_suffix('.').unwrap_or(host);
                match host.parse::<Ipv4Addr>() {
                    Ok(address) => Host::Address(address.into()),
                    Err(_) => Host::Name(name(host)?),
                }
            }
        };
        let port = match port {
            "" => None,
            digits if digits.bytes().all(|b| b.is_ascii_digit()) => Some(digits.parse().ok()?),
            _ => return None,
        };
        Some(Self { host, port })
    }
}

fn name(text: &str) -> Option<&str> {
    let plain = |b: u8| b.is_ascii_alphanumeric() || b"-_".contains(&b);
    let good = text.len() <= MAX_NAME && text.split('.').all(|part| !part.is_empty() && part.bytes().all(plain));
    good.then_some(text)
}

/// The origin of a page as in an `Origin` header: a scheme, a host and a port. An opaque origin, `null`, is not
/// included.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PageOrigin<'a> {
    /// The part before `://`.
    pub scheme: &'a str,
    /// The part after it.
    pub authority: Authority<'a>,
}

impl<'a> PageOrigin<'a> {
    /// Parses `scheme://host` or `scheme://host:port`, without a path.
    pub fn read(text: &'a str) -> Option<Self> {
        let (scheme, rest) = text.split_once("://")?;
        let good = |b: u8| b.is_ascii_alphanumeric() || b"+-.".contains(&b);
        let good = scheme.starts_with(|c: char| c.is_ascii_alphabetic()) && scheme.bytes().all(good);
        let authority = Authority::read(rest).filter(|_| good)?;
        Some(Self { scheme, authority })
    }

    /// The scheme's default port.
    pub fn default_port(&self) -> Option<u16> {
        match self.scheme {
            scheme if scheme.eq_ignore_ascii_case("http") => Some(80),
            scheme if scheme.eq_ignore_ascii_case("https") => Some(443),
            _ => None,
        }
    }
}

/// An entry of `server.allowed_hosts`: a name in lower case, without a port.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct HostName(String);

impl HostName {
    /// Whether `host` has this name.
    pub fn is(&self, host: Host<'_>) -> bool {
        host == Host::Name(&self.0)
    }

    fn read(text: &str) -> Result<Self, String> {
        match Authority::read(text) {
            Some(Authority { host: Host::Name(name), port: None }) if !text.ends_with(':') => {
                Ok(Self(name.to_ascii_lowercase()))
            }
            Some(Authority { host: Host::Address(_), .. }) => {
                Err(format!("{text:?} is an IP address. Remove it: IP addresses need no entry"))
            }
            _ => Err(format!(
                "expected the name of a host without a port, such as \"tideline.example.org\", not {text:?}"
            )),
        }
    }
}

/// An entry of `server.allowed_origins`, in the form of browsers: in lower case, without the default port of its
/// scheme.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Origin(String);

impl Origin {
    /// Whether an `Origin` header has this value.
    pub fn is(&self, header: &str) -> bool {
        self.0.eq_ignore_ascii_case(header)
    }

    fn read(text: &str) -> Result<Self, String> {
        let Some(origin) = PageOrigin::read(text).filter(|_| !text.ends_with(':')) else {
            return Err(format!(
                "expected the origin of a web page without a path, such as \"https://app.example.org\", not {text:?}"
            ));
        };
        let host = match origin.authority.host {
            Host::Address(IpAddr::V6(address)) => format!("[{address}]"),
            Host::Address(IpAddr::V4(address)) => address.to_string(),
            Host::Name(name) => name.to_ascii_lowercase(),
        };
        let port = origin.authority.port.filter(|port| origin.default_port() != Some(*port));
        let port = port.map(|port| format!(":{port}")).unwrap_or_default();
        Ok(Self(format!("{}://{host}{port}", origin.scheme.to_ascii_lowercase())))
    }
}

/// An entry of `server.avatar_origins`: an [`Origin`] with https, because other pictures can be replaced on their way.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct AvatarOrigin(Origin);

impl AvatarOrigin {
    fn read(text: &str) -> Result<Self, String> {
        let origin = Origin::read(text)?;
        if !origin.0.starts_with("https://") {
            return Err(format!("{:?}: expected an origin with https, such as \"https://cdn.example.org\"", origin.0));
        }
        Ok(Self(origin))
    }
}

from_text! { HostName Origin AvatarOrigin }
shown_as_field! { Origin AvatarOrigin }

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hosts_are_read_as_browsers_write_them() {
        let address = |text: &str| Host::Address(text.parse().expect(text));
        for (text, host, port) in [
            ("localhost", Host::Name("localhost"), None),
            ("LocalHost:8080", Host::Name("localhost"), Some(8080)),
            ("localhost.:80", Host::Name("localhost"), Some(80)),
            ("localhost:", Host::Name("localhost"), None),
            ("my_service-1.internal", Host::Name("my_service-1.internal"), None),
            ("127.0.0.1:1", address("127.0.0.1"), Some(1)),
            ("127.0.0.1.", address("127.0.0.1"), None),
            ("[::1]", address("::1"), None),
            ("[2001:DB8:0::1]:8080", address("2001:db8::1"), Some(8080)),
            // Some programs read these as addresses; browsers write addresses in full.
            ("127.1", Host::Name("127.1"), None),
            ("2130706433", Host::Name("2130706433"), None),
            ("0x7f.1", Host::Name("0x7f.1"), None),
        ] {
            assert_eq!(Authority::read(text), Some(Authority { host, port }), "{text}");
        }
        for text in [
            "",
            ".",
            ":80",
            "a..b",
            "localhost..",
            "localhost:x",
            "localhost:+80",
            "localhost:65536",
            "localhost:80:80",
            "::1",
            "[::1",
            "[::1]x",
            "[::1]80",
            "[localhost]",
            "[fe80::1%25eth0]",
            "user@localhost",
            "localhost@evil",
            "a b",
            "é",
            "localhost/",
            "http://localhost",
            "localhost,evil",
            "localhost\\@evil",
        ] {
            assert_eq!(Authority::read(text), None, "{text}");
        }
        assert_eq!(Authority::read(&"a".repeat(254)), None);
    }

    #[test]
    fn entries_are_kept_as_browsers_write_them() {
        let host = |text: &str| HostName::read(text).map(|host| host.0);
        assert_eq!(host("Tideline.Example.ORG.").as_deref(), Ok("tideline.example.org"));
        for text in
            ["", "*", "*.example.org", "a:80", "a:", "127.0.0.1", "[::1]", "https://a", "a/b", "münchen.de", "a,b"]
        {
            assert!(host(text).is_err(), "{text}");
        }
        let origin = |text: &str| Origin::read(text).map(|origin| origin.0);
        for (text, kept) in [
            ("https://App.example.org", "https://app.example.org"),
            ("HTTPS://app.example.org:443", "https://app.example.org"),
            ("http://app.example.org:443", "http://app.example.org:443"),
            ("http://localhost:3000", "http://localhost:3000"),
            ("http://[0::1]:80", "http://[::1]"),
            ("capacitor://localhost", "capacitor://localhost"),
        ] {
            assert_eq!(origin(text).as_deref(), Ok(kept));
        }
        for text in [
            "",
            "*",
            "null",
            "app.example.org",
            "https://",
            "https://a/",
            "https://a/b",
            "https://u@a",
            "://a",
            "https://a:",
        ] {
            assert!(origin(text).is_err(), "{text}");
        }
    }
}

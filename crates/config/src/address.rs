//! Addresses to listen on.

use std::net::{Ipv4Addr, SocketAddr};

use serde::{Deserialize, Deserializer};

/// An address and a port; `localhost` is `127.0.0.1`. A port alone is refused, because it could mean all addresses or
/// only loopback. `:0`, a free port that nobody can know in advance, means loopback.
pub fn address(text: &str) -> Result<SocketAddr, String> {
    let port = |digits: &str| digits.parse::<u16>().ok().filter(|_| digits.bytes().all(|b| b.is_ascii_digit()));
    if let Some(port) = text.strip_prefix(':').and_then(port) {
        return match port {
            0 => Ok(SocketAddr::from((Ipv4Addr::LOCALHOST, 0))),
            _ => Err(format!(
                "\"{text}\" has no address. Write 127.0.0.1{text} for this machine only, 0.0.0.0{text} for all IPv4 \
                 addresses, or [::]{text} for all addresses"
            )),
        };
    }
    match text.strip_prefix("localhost:").and_then(port) {
        Some(port) => Ok(SocketAddr::from((Ipv4Addr::LOCALHOST, port))),
        None => text.parse().map_err(|_| {
            format!(
                "expected an IP address or localhost with a port, such as 127.0.0.1:8080, [::1]:8080 or \
                 localhost:8080, not {text:?}"
            )
        }),
    }
}

/// An address to listen on, from a configuration.
pub(super) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<SocketAddr, D::Error> {
    address(&String::deserialize(from)?).map_err(serde::de::Error::custom)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_has_to_be_named() {
        for (text, meant) in [
            (":0", "127.0.0.1:0"),
            ("localhost:1", "127.0.0.1:1"),
            ("0.0.0.0:80", "0.0.0.0:80"),
            ("[::1]:9", "[::1]:9"),
        ] {
            assert_eq!(address(text).map(|address| address.to_string()), Ok(meant.to_owned()), "{text}");
        }
        let told = address(":8080").expect_err("no address");
        for way in ["127.0.0.1:8080 ", "0.0.0.0:8080 ", "[::]:8080 "] {
            assert!(told.contains(way), "{told}");
        }
        for text in [
            "",
            ":",
            ":80",
            "localhost",
            ":65536",
            ":-1",
            ":+0",
            "localhost:",
            "localhost:+1",
            "nowhere:1",
            "127.0.0.1",
            "::1",
            ":+1x",
        ] {
            assert!(address(text).is_err(), "{text}");
        }
    }
}

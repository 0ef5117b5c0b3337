//! Addresses to listen on.

use std::net::{Ipv4Addr, SocketAddr};

use serde::{Deserialize, Deserializer};

/// An address and a port. `localhost` and no host at all are `127.0.0.1`: more than the loopback has to be asked for
/// by its address.
pub fn address(text: &str) -> Result<SocketAddr, String> {
    let local = text.strip_prefix("localhost").unwrap_or(text).strip_prefix(':').map(str::parse);
    match local {
        Some(Ok(port)) => Ok(SocketAddr::from((Ipv4Addr::LOCALHOST, port))),
        _ => text.parse().map_err(|_| "expected an address and a port, such as 127.0.0.1:8080 or :8080".to_owned()),
    }
}

/// The same in a configuration.
pub(super) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<SocketAddr, D::Error> {
    address(&String::deserialize(from)?).map_err(serde::de::Error::custom)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_host_is_the_loopback() {
        for (text, meant) in [
            (":0", "127.0.0.1:0"),
            (":8080", "127.0.0.1:8080"),
            ("localhost:1", "127.0.0.1:1"),
            ("0.0.0.0:80", "0.0.0.0:80"),
            ("[::1]:9", "[::1]:9"),
        ] {
            assert_eq!(address(text).map(|address| address.to_string()), Ok(meant.to_owned()), "{text}");
        }
        for text in ["", ":", "localhost", ":65536", ":-1", "localhost:", "nowhere:1", "127.0.0.1", "::1", ":+1x"] {
            assert!(address(text).is_err(), "{text}");
        }
    }
}

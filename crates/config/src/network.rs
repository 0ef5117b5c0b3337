//! Networks of IP addresses, for the setting that lists proxies.

use std::fmt;
use std::net::IpAddr;

use ipnet::IpNet;

use super::text::as_text;

/// An entry of `server.trusted_proxies`: an address, or a network such as `10.0.0.0/8`.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Network(IpNet);

/// The prefix of the largest network, that of the private addresses `fc00::/7`. Proxies in a larger one are a mistake:
/// it lets clients make up their addresses.
const SHORTEST: u8 = 7;

impl Network {
    /// Whether an address belongs to the network. An IPv4 address that is written as IPv6 counts as IPv4.
    pub fn contains(&self, address: IpAddr) -> bool {
        self.0.contains(&address.to_canonical())
    }

    fn read(text: &str) -> Result<Self, String> {
        Self::parse(text).ok_or_else(|| {
            format!(
                "expected the IP address of a proxy, or a network such as \"10.0.0.0/8\" (prefix of {SHORTEST} bits or \
                 more), not {text:?}"
            )
        })
    }

    fn parse(text: &str) -> Option<Self> {
        // An address by itself: ipnet takes `010.0.0.0`, which is 8.0.0.0 to other programs.
        let address: IpAddr = text.split('/').next()?.parse().ok()?;
        let network: IpNet = if text.contains('/') { text.parse().ok()? } else { address.into() };
        let is_canonical = network.addr().to_canonical() == network.addr();
        // Bits after the prefix are a mistake: nobody knows which network is meant.
        (is_canonical && network.trunc() == network && network.prefix_len() >= SHORTEST).then_some(Self(network))
    }
}

impl fmt::Display for Network {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.0.prefix_len() == self.0.max_prefix_len() { self.0.addr().fmt(f) } else { self.0.fmt(f) }
    }
}

as_text! { Network }

#[cfg(test)]
mod tests {
    use super::*;

    fn has(network: &str, address: &str) -> bool {
        Network::parse(network).expect(network).contains(address.parse().expect(address))
    }

    #[test]
    fn a_network_has_the_addresses_that_begin_as_it_does() {
        for (network, address, is_in) in [
            ("10.0.0.0/8", "10.255.1.2", true),
            ("10.0.0.0/8", "::ffff:10.1.1.1", true),
            ("10.0.0.0/8", "11.0.0.0", false),
            ("10.0.0.0/8", "a00::", false),
            ("127.0.0.1", "127.0.0.1", true),
            ("127.0.0.1", "127.0.0.2", false),
            ("128.0.0.0/8", "128.255.113.9", true),
            ("128.0.0.0/8", "8000::1", false),
            ("fc00::/7", "fdab::1", true),
            ("192.0.2.128/25", "192.0.2.127", false),
            ("fd00::/8", "fdab::1", true),
            ("::1", "::1", true),
            ("::1", "::2", false),
        ] {
            assert_eq!(has(network, address), is_in, "{address} in {network}");
        }
    }

    #[test]
    fn mistakes_are_refused() {
        for text in [
            "",
            "x",
            "10.0.0.1/8",
            "010.0.0.0/8",
            "10.0.0.0/33",
            "10.0.0.0/+8",
            "10.0.0.0/",
            "::/129",
            "::ffff:10.0.0.1",
            "a/8",
            "0.0.0.0/0",
            "::/0",
            "0.0.0.0/1",
            "128.0.0.0/6",
        ] {
            assert_eq!(Network::parse(text), None, "{text}");
        }
        for text in ["10.0.0.0/8", "127.0.0.1", "fd00::/8", "fc00::/7"] {
            assert_eq!(Network::parse(text).map(|network| network.to_string()).as_deref(), Some(text));
        }
    }
}

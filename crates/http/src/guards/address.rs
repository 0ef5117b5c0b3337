//! The address of the client of a request, behind proxies too.

use std::net::{IpAddr, SocketAddr};

use actix_web::HttpRequest;

use config::Network;

pub(crate) const X_FORWARDED_FOR: &str = "x-forwarded-for";

/// The address of the client. A proxy in `proxies` appends the address of its own client to `X-Forwarded-For`, so the
/// last entry that is no such proxy is the client; all before it may be made up by the client.
pub(crate) fn client(request: &HttpRequest, proxies: &[Network]) -> Option<IpAddr> {
    let mut client = request.peer_addr()?.ip().to_canonical();
    let is_proxy = |address: IpAddr| proxies.iter().any(|network| network.contains(address));
    if !is_proxy(client) {
        return Some(client);
    }
    let values: Vec<_> = request.headers().get_all(X_FORWARDED_FOR).collect();
    let hops = values.iter().rev().flat_map(|value| value.to_str().unwrap_or_default().rsplit(','));
    for hop in hops {
        // An entry that no proxy has written ends the search.
        let Some(address) = read(hop.trim()) else { break };
        client = address;
        if !is_proxy(client) {
            break;
        }
    }
    Some(client)
}

/// An entry: an address, with a port if the proxy adds one.
fn read(hop: &str) -> Option<IpAddr> {
    let address = hop.parse().ok();
    let address = address.or_else(|| hop.parse().map(|with_port: SocketAddr| with_port.ip()).ok());
    let bracketed = || hop.strip_prefix('[')?.strip_suffix(']')?.parse().ok();
    address.or_else(bracketed).map(|address: IpAddr| address.to_canonical())
}

#[cfg(test)]
mod tests {
    use actix_web::test::TestRequest;

    use super::*;

    fn client_of(peer: &str, forwarded: &[&str]) -> String {
        let proxies: Vec<Network> =
            ["10.0.0.0/8", "::1"].map(|text| serde_json::from_value(text.into()).expect("a network")).into();
        let request = TestRequest::default().peer_addr(SocketAddr::new(peer.parse().expect("an address"), 1));
        let request = forwarded.iter().fold(request, |request, value| request.append_header((X_FORWARDED_FOR, *value)));
        client(&request.to_http_request(), &proxies).expect("there is a peer").to_string()
    }

    #[test]
    fn only_trusted_proxies_name_their_clients() {
        for (peer, forwarded, expected) in [
            ("203.0.113.1", &["198.51.100.7"][..], "203.0.113.1"),
            ("10.0.0.1", &[], "10.0.0.1"),
            ("10.0.0.1", &["198.51.100.7"], "198.51.100.7"),
            ("10.0.0.1", &["192.0.2.1, 198.51.100.7"], "198.51.100.7"),
            ("10.0.0.1", &["192.0.2.1, 198.51.100.7, 10.0.0.2"], "198.51.100.7"),
            ("10.0.0.1", &["192.0.2.1", "198.51.100.7"], "198.51.100.7"),
            ("10.0.0.1", &["10.0.0.3, 10.0.0.2"], "10.0.0.3"),
            ("10.0.0.1", &["198.51.100.7, unknown"], "10.0.0.1"),
            ("10.0.0.1", &["unknown, 10.0.0.2"], "10.0.0.2"),
            ("::1", &["198.51.100.7:4711"], "198.51.100.7"),
            ("::1", &["[2001:db8::7]:4711"], "2001:db8::7"),
            ("::1", &["[2001:db8::7]"], "2001:db8::7"),
            ("::ffff:10.0.0.1", &["2001:db8::7"], "2001:db8::7"),
        ] {
            assert_eq!(client_of(peer, forwarded), expected, "{peer} {forwarded:?}");
        }
    }
}

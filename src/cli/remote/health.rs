//! `tideline health`: whether a running server takes requests, for health checks of containers and for scripts.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

use serde::de::IgnoredAny;

use super::calls::{self, Cause, Problem, Server};
use crate::prelude::*;

/// Longest wait for the whole answer.
const TIMEOUT: Duration = Duration::from_secs(3);

/// Which server to ask.
#[derive(Debug, Args)]
pub(crate) struct HealthArgs {
    /// Take the address of the server from the settings in FILE [default: no file]
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,
    /// Ask the server at URL, such as http://127.0.0.1:8080 [default: by server.listen]
    #[arg(long, value_name = "URL")]
    url: Option<String>,
}

/// Fails unless `/readyz` answers 200 within three seconds.
pub(crate) fn run(args: &HealthArgs) -> Result<()> {
    let url = match &args.url {
        Some(url) => calls::address("--url", url)?,
        None => own_url(&Config::load(args.config.as_deref())?.server)?,
    };
    // The certificate is not checked: it is for the names by which clients call, not for the address that is asked here.
    let answer = Server::unchecked(url.clone(), TIMEOUT)?.get::<IgnoredAny>("/readyz");
    let Err(fault) = answer else { return print_line(format_args!("{url} is ready")) };
    Err(Error::Setup(match fault.cause {
        Cause::Refused(status, Problem { detail, .. }) => {
            let detail = if detail.is_empty() { detail } else { format!(": {detail}") };
            format!("{url} is not ready: {status}{detail}")
        }
        Cause::Unreached(why) | Cause::Unreadable(why) => format!("no answer from {url}: {why}"),
    }))
}

/// The URL of the server with these settings, as seen from its machine.
fn own_url(server: &config::Server) -> Result<String> {
    let mut address = server.listen;
    if address.port() == 0 {
        return Err(Error::Setup(
            "server.listen has port 0: the port is not known here. Name it with --url".to_owned(),
        ));
    }
    address.set_ip(match address.ip() {
        IpAddr::V4(Ipv4Addr::UNSPECIFIED) => Ipv4Addr::LOCALHOST.into(),
        IpAddr::V6(Ipv6Addr::UNSPECIFIED) => Ipv6Addr::LOCALHOST.into(),
        ip => ip,
    });
    // The zone of an IPv6 address has no place in a URL.
    let address = SocketAddr::new(address.ip(), address.port());
    Ok(format!("{}://{address}", server.scheme()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_address_to_ask_follows_from_the_settings() {
        let url = |listen: &str| {
            own_url(&config::Server { listen: listen.parse().expect(listen), ..config::Server::default() })
        };
        for (listen, expected) in [
            ("127.0.0.1:8080", "http://127.0.0.1:8080"),
            ("0.0.0.0:80", "http://127.0.0.1:80"),
            ("[::]:80", "http://[::1]:80"),
            ("10.1.2.3:80", "http://10.1.2.3:80"),
            ("[fe80::1%3]:80", "http://[fe80::1]:80"),
        ] {
            assert_eq!(url(listen).expect(listen), expected);
        }
        assert!(url("127.0.0.1:0").is_err());
    }
}

//! Requests to a receiver: signed as Standard Webhooks 1 says, and never into the network of this server.

use std::future::Future;
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use actix_web::http::header::HttpDate;
use aws_lc_rs::hmac;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use http_body_util::{BodyExt, Full, Limited};
use hyper::body::Bytes;
use hyper::header::{CONTENT_TYPE, RETRY_AFTER, USER_AGENT};
use hyper::{Request, Uri};
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::client::legacy::connect::dns::Name;
use tower_service::Service;

use crate::connections::outgoing::{self, HttpClient};
use config::{Webhook, WebhookSecret, is_public};
use model::clock::now;
use model::error::Result;

/// Longest time of a request. Standard Webhooks recommends 15 to 30 seconds.
const TIMEOUT: Duration = Duration::from_secs(15);
/// Longest time for the body of an answer, which does not matter.
const TIME_LIMIT: Duration = Duration::from_secs(1);
/// How long a connection is kept without a request.
const IDLE: Duration = Duration::from_secs(60);
/// Most bytes of an answer that are read, so that its connection serves the next request, too.
const MOST_BYTES: usize = 16 << 10;

/// A client for one receiver.
pub(super) struct Receiver {
    client: HttpClient<Resolver>,
    uri: Uri,
}

/// The reason why a receiver did not take a request.
pub(super) struct Refused {
    pub(super) why: String,
    /// How long it asks to wait.
    pub(super) retry_after: Option<Duration>,
}

impl From<String> for Refused {
    fn from(why: String) -> Self {
        Self { why, retry_after: None }
    }
}

impl Receiver {
    pub(super) fn new(hook: &Webhook) -> Result<Self> {
        let sockets = HttpConnector::new_with_resolver(Resolver { of_this_machine: hook.url.is_loopback() });
        let client = outgoing::pool(1, IDLE).build(outgoing::connector(sockets, true)?);
        Ok(Self { client, uri: hook.url.uri().clone() })
    }

    /// Sends a body once. Redirects are not followed: their target was not checked.
    pub(super) async fn send(&self, id: &str, body: Bytes, secrets: &[WebhookSecret]) -> Result<(), Refused> {
        let timestamp = now() / 1000;
        let request = Request::post(self.uri.clone())
            .header(CONTENT_TYPE, "application/json")
            .header(USER_AGENT, concat!("tideline/", env!("CARGO_PKG_VERSION")))
            .header("webhook-id", id)
            .header("webhook-timestamp", timestamp)
            .header("webhook-signature", signatures(id, timestamp, &body, secrets))
            .body(Full::new(body))
            .map_err(|e| e.to_string())?;
        let exchange = async {
            let answer = self.client.request(request).await.map_err(|e| outgoing::chain(&e))?;
            let (head, body) = answer.into_parts();
            // What cannot be read costs the connection, and nothing else.
            let _ = tokio::time::timeout(TIME_LIMIT, Limited::new(body, MOST_BYTES).collect()).await;
            Ok::<_, String>(head)
        };
        let late = |_| format!("there was no answer within {} s", TIMEOUT.as_secs());
        let head = tokio::time::timeout(TIMEOUT, exchange).await.map_err(late)??;
        if head.status.is_success() {
            return Ok(());
        }
        let advice = if head.status.is_redirection() { ", and redirects are not followed" } else { "" };
        let retry_after = head.headers.get(RETRY_AFTER).and_then(|value| wait(value.to_str().ok()?));
        let why = format!("it answered {}{advice}", head.status.as_u16());
        Err(Refused { why, retry_after })
    }
}

/// The time to wait that a header asks for, as seconds or as a date.
fn wait(text: &str) -> Option<Duration> {
    if !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit()) {
        return Some(Duration::from_secs(text.parse().unwrap_or(u64::MAX)));
    }
    let date = SystemTime::from(text.parse::<HttpDate>().ok()?);
    date.duration_since(UNIX_EPOCH + Duration::from_millis(now())).ok()
}

/// The signatures of a message, one for each secret.
fn signatures(id: &str, timestamp: u64, body: &[u8], secrets: &[WebhookSecret]) -> String {
    let message = [format!("{id}.{timestamp}.").as_bytes(), body].concat();
    let sign = |secret: &WebhookSecret| {
        let key = hmac::Key::new(hmac::HMAC_SHA256, secret.reveal());
        format!("v1,{}", STANDARD.encode(hmac::sign(&key, &message)))
    };
    secrets.iter().map(sign).collect::<Vec<_>>().join(" ")
}

/// Resolves a host, and gives only the addresses that a webhook may reach. The client connects to what it is given, so
/// another answer of the name server cannot take their place.
#[derive(Clone)]
struct Resolver {
    of_this_machine: bool,
}

impl Service<Name> for Resolver {
    type Response = std::vec::IntoIter<SocketAddr>;
    type Error = io::Error;
    type Future = Pin<Box<dyn Future<Output = io::Result<Self::Response>> + Send>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, name: Name) -> Self::Future {
        let of_this_machine = self.of_this_machine;
        Box::pin(async move {
            let found = tokio::net::lookup_host((name.as_str(), 0)).await?;
            let may = |address: &SocketAddr| is_allowed(address.ip(), of_this_machine);
            let allowed: Vec<_> = found.filter(may).collect();
            match allowed.is_empty() {
                false => Ok(allowed.into_iter()),
                true => Err(io::Error::other("the host has no public address, and a webhook reaches no other")),
            }
        })
    }
}

fn is_allowed(address: IpAddr, of_this_machine: bool) -> bool {
    if of_this_machine { address.to_canonical().is_loopback() } else { is_public(address) }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The vector of the specification: <https://github.com/standard-webhooks/standard-webhooks>.
    #[test]
    fn a_message_is_signed_as_the_specification_says() {
        let file = std::env::temp_dir().join(format!("tideline-secret-{}", std::process::id()));
        std::fs::write(&file, "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw\n").expect("writes");
        let hook = serde_json::json!({"name": "a", "url": "https://example.org/", "secret_file": file});
        let hook: Webhook = serde_json::from_value(hook).expect("a webhook");
        let secrets = hook.secrets().expect("a secret");
        std::fs::remove_file(&file).expect("removes");
        let body = br#"{"test": 2432232314}"#;
        let signed = signatures("msg_p5jXN8AQM9LWM0D4loKWxJek", 1_614_265_330, body, &secrets);
        assert_eq!(signed, "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=");
    }

    #[test]
    fn a_time_to_wait_is_seconds_or_a_date() {
        let date = HttpDate::from(SystemTime::now() + Duration::from_secs(100)).to_string();
        assert!(wait(&date).is_some_and(|wait| (90..=100).contains(&wait.as_secs())), "{date}");
        assert_eq!(wait("120"), Some(Duration::from_secs(120)));
        assert_eq!(wait(&"9".repeat(30)), Some(Duration::from_secs(u64::MAX)));
        assert!(["", "soon", "-1", "Thu, 01 Jan 1970 00:00:00 GMT"].into_iter().all(|text| wait(text).is_none()));
    }

    #[tokio::test]
    async fn a_name_of_this_machine_is_for_its_own_receivers_alone() {
        let resolve = async |of_this_machine| {
            let name: Name = "localhost".parse().expect("a name");
            Resolver { of_this_machine }.call(name).await.map(|found| found.count() > 0)
        };
        assert!(resolve(true).await.expect("resolves"));
        let refused = resolve(false).await.expect_err("no public address").to_string();
        assert!(refused.contains("no public address"), "{refused}");
    }
}

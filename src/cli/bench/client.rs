//! Connections to a server for many calls at once: HTTP/1.1 without pipelining, on the async runtime.

use std::fmt;
use std::path::Path;
use std::time::{Duration, Instant};

use http_body_util::{BodyExt, Full, Limited};
use hyper::body::{Bytes, Incoming};
use hyper::client::conn::http1::{self, SendRequest};
use hyper::header::{AUTHORIZATION, CONTENT_TYPE, HOST, HeaderValue};
use hyper::{Method, Request, Response, Uri};
use hyper_rustls::{HttpsConnector, HttpsConnectorBuilder};
use hyper_util::client::legacy::connect::HttpConnector;
use tokio::time::{sleep, timeout};
use tower_service::Service as _;

use super::super::plain;
use crate::cli::remote::calls::{self, Problem};
use crate::cli::remote::tls;
use model::error::{Error, Result};

/// Most bytes of an answer that is read as a whole.
const LONGEST: usize = 64 << 20;
/// The wait before a call that the server had no room for is repeated.
const REST: Duration = Duration::from_millis(200);

/// A server to call.
pub(super) struct Server {
    /// The address as it was given.
    pub(super) url: String,
    uri: Uri,
    host: HeaderValue,
    credentials: Option<HeaderValue>,
    connector: HttpsConnector<HttpConnector>,
    /// Longest wait for a connection, and for an answer.
    pub(super) patience: Duration,
}

/// A request to make.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Call {
    pub(super) method: Method,
    /// With the query.
    pub(super) path: String,
    /// JSON, or empty.
    pub(super) body: String,
}

impl Call {
    pub(super) fn new(method: Method, path: impl Into<String>, body: impl Into<String>) -> Self {
        Self { method, path: path.into(), body: body.into() }
    }

    pub(super) fn get(path: impl Into<String>) -> Self {
        Self::new(Method::GET, path, "")
    }
}

/// Why a call has no good answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Failure {
    /// An answer that is not 2xx.
    Status(u16),
    /// The connection could not be made, or broke.
    Connection,
    /// The answer took longer than the patience.
    Timeout,
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Status(status) => status.fmt(f),
            Self::Connection => f.write_str("connection"),
            Self::Timeout => f.write_str("timeout"),
        }
    }
}

/// An open connection, for one call at a time.
pub(super) struct Connection(SendRequest<Full<Bytes>>);

impl Server {
    /// The server at an address, with its key if it has one.
    pub(super) fn new(url: &str, key: Option<&str>, ca_file: Option<&Path>, patience: Duration) -> Result<Self> {
        let url = calls::address("--url", url)?;
        let wrong = || Error::Setup(format!("--url: this is no address of a server: {url:?}"));
        let uri: Uri = url.parse().map_err(|_| wrong())?;
        let host = uri.authority().and_then(|host| HeaderValue::from_str(host.as_str()).ok()).ok_or_else(wrong)?;
        let credentials = key.map(|key| HeaderValue::from_str(&format!("Bearer {key}"))).transpose();
        let mut credentials = credentials.map_err(|_| Error::Setup("the key has invalid characters".to_owned()))?;
        credentials.iter_mut().for_each(|value| value.set_sensitive(true));
        let mut sockets = HttpConnector::new();
        sockets.enforce_http(false);
        sockets.set_nodelay(true);
        let connector = HttpsConnectorBuilder::new().with_tls_config(tls::settings(&url, ca_file)?).https_or_http();
        let connector = connector.enable_http1().wrap_connector(sockets);
        Ok(Self { url, uri, host, credentials, connector, patience })
    }

    /// Opens a connection.
    pub(super) async fn connect(&self) -> Result<Connection, String> {
        let opened = async {
            let stream = self.connector.clone().call(self.uri.clone()).await.map_err(|e| root(&*e))?;
            let (sender, work) = http1::handshake(stream).await.map_err(|e| e.to_string())?;
            // The task ends when the connection is dropped. Its errors are those of the calls.
            tokio::spawn(work);
            Ok(Connection(sender))
        };
        timeout(self.patience, opened)
            .await
            .unwrap_or_else(|_| Err("the connection is not accepted in time".to_owned()))
    }

    async fn send(&self, connection: &mut Connection, call: Call) -> Result<Response<Incoming>, String> {
        let path = format!("{}{}", self.uri.path().trim_end_matches('/'), call.path);
        let mut request = Request::builder().method(call.method).uri(path).header(HOST, &self.host);
        if let Some(credentials) = &self.credentials {
            request = request.header(AUTHORIZATION, credentials);
        }
        if !call.body.is_empty() {
            request = request.header(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        }
        let request = request.body(Full::new(call.body.into())).map_err(|e| e.to_string())?;
        connection.0.ready().await.map_err(|e| e.to_string())?;
        connection.0.send_request(request).await.map_err(|e| e.to_string())
    }

    /// Makes a call, reads its answer and forgets all of it but the status.
    pub(super) async fn call(&self, connection: &mut Connection, call: Call) -> Result<u16, Failure> {
        let answered = async {
            let mut answer = self.send(connection, call).await.map_err(|_| Failure::Connection)?;
            while let Some(frame) = answer.body_mut().frame().await {
                frame.map_err(|_| Failure::Connection)?;
            }
            Ok(answer.status().as_u16())
        };
        timeout(self.patience, answered).await.unwrap_or(Err(Failure::Timeout))
    }

    /// Makes a call on a connection of its own, and reads the body of the answer, which must be 2xx. While the server has no
    /// room for it, the call is repeated, for so long.
    pub(super) async fn ask(&self, call: Call, longest: Duration) -> Result<String> {
        let began = Instant::now();
        loop {
            let asked = timeout(self.patience, self.whole(call.clone())).await;
            let asked = asked.unwrap_or_else(|_| Err("no answer in time".to_owned()));
            match asked.map_err(|why| Error::Setup(format!("cannot reach {}: {}", self.url, plain(&why))))? {
                (200..300, body) => return Ok(body),
                (429 | 503, _) if began.elapsed() < longest => sleep(REST).await,
                (status, body) => {
                    let problem: Problem = serde_json::from_str(&body).unwrap_or_default();
                    return Err(Error::Setup(format!("{} answered {status} to {}: {problem}", self.url, call.path)));
                }
            }
        }
    }

    async fn whole(&self, call: Call) -> Result<(u16, String), String> {
        let answer = self.send(&mut self.connect().await?, call).await?;
        let status = answer.status().as_u16();
        let body = Limited::new(answer.into_body(), LONGEST).collect().await.map_err(|e| e.to_string())?;
        Ok((status, String::from_utf8_lossy(&body.to_bytes()).into_owned()))
    }
}

/// The first cause of an error.
fn root(error: &(dyn std::error::Error + 'static)) -> String {
    error.source().map_or_else(|| error.to_string(), root)
}

impl Connection {
    /// Whether no further call can be made.
    pub(super) fn is_closed(&self) -> bool {
        self.0.is_closed()
    }
}

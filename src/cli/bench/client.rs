//! Connections to a server for many calls at once: HTTP/1.1 without pipelining, on the async runtime.

use std::fmt;
use std::path::Path;
use std::time::Duration;

use http_body_util::{BodyExt, Full, Limited};
use hyper::body::Bytes;
use hyper::client::conn::http1::{self, SendRequest};
use hyper::header::{AUTHORIZATION, CONTENT_TYPE, HOST, HeaderValue};
use hyper::{Method, Request, Uri};
use hyper_util::rt::TokioIo;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;
use tokio::time::timeout;

use super::super::plain;
use crate::cli::remote::calls::{self, Problem};
use crate::cli::remote::tls::Tls;
use model::error::{Error, Result};

/// Most bytes of an answer that is read as a whole.
const LONGEST: usize = 64 << 20;

/// A server to call.
pub(super) struct Server {
    /// The address as it was given.
    pub(super) url: String,
    host: String,
    port: u16,
    /// The path of the URL, without a slash at its end.
    prefix: String,
    name: HeaderValue,
    credentials: Option<HeaderValue>,
    tls: Option<Tls>,
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
    pub(super) fn get(path: impl Into<String>) -> Self {
        Self { method: Method::GET, path: path.into(), body: String::new() }
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
        let wrong = |why: &str| Error::Setup(format!("--url: {why}: {url:?}"));
        let uri: Uri = url.parse().map_err(|_| wrong("this is no address of a server"))?;
        let host = uri.host().ok_or_else(|| wrong("the host is missing"))?.trim_matches(['[', ']']).to_owned();
        let is_tls = uri.scheme_str() == Some("https");
        let port = uri.port_u16().unwrap_or(if is_tls { 443 } else { 80 });
        let name = uri.authority().map_or("", |authority| authority.as_str());
        let name = HeaderValue::from_str(name).map_err(|_| wrong("the host is not valid"))?;
        let credentials = key.map(|key| HeaderValue::from_str(&format!("Bearer {key}"))).transpose();
        let mut credentials = credentials.map_err(|_| Error::Setup("the key has invalid characters".to_owned()))?;
        credentials.iter_mut().for_each(|value| value.set_sensitive(true));
        let tls = is_tls.then(|| Tls::new(&url, ca_file)).transpose()?;
        let prefix = uri.path().trim_end_matches('/').to_owned();
        Ok(Self { url, host, port, prefix, name, credentials, tls, patience })
    }

    /// Opens a connection.
    pub(super) async fn connect(&self) -> Result<Connection, String> {
        let opened = timeout(self.patience, self.open()).await;
        opened.unwrap_or_else(|_| Err("the connection is not accepted in time".to_owned()))
    }

    async fn open(&self) -> Result<Connection, String> {
        let failed = |e: &dyn std::fmt::Display| e.to_string();
        let stream = TcpStream::connect((self.host.as_str(), self.port)).await.map_err(|e| failed(&e))?;
        stream.set_nodelay(true).map_err(|e| failed(&e))?;
        match &self.tls {
            Some(tls) => Connection::over(tls.over(stream, &self.host).await.map_err(|e| failed(&e))?).await,
            None => Connection::over(stream).await,
        }
    }

    fn request(&self, call: Call) -> Result<Request<Full<Bytes>>, Failure> {
        let path = if self.prefix.is_empty() { call.path } else { format!("{}{}", self.prefix, call.path) };
        let mut request = Request::builder().method(call.method).uri(path).header(HOST, &self.name);
        if let Some(credentials) = &self.credentials {
            request = request.header(AUTHORIZATION, credentials);
        }
        if !call.body.is_empty() {
            request = request.header(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        }
        // Paths are made of numbers and fixed text.
        request.body(Full::new(call.body.into())).map_err(|_| Failure::Connection)
    }

    /// Makes a call, reads its answer and forgets all of it but the status.
    pub(super) async fn call(&self, connection: &mut Connection, call: Call) -> Result<u16, Failure> {
        let request = self.request(call)?;
        let answered = async {
            connection.0.ready().await?;
            let mut answer = connection.0.send_request(request).await?;
            while let Some(frame) = answer.body_mut().frame().await {
                frame?;
            }
            Ok::<_, hyper::Error>(answer.status().as_u16())
        };
        match timeout(self.patience, answered).await {
            Ok(answered) => answered.map_err(|_| Failure::Connection),
            Err(_) => Err(Failure::Timeout),
        }
    }

    /// Makes a call on a connection of its own, and reads its answer: the status, and the body as text.
    pub(super) async fn ask(&self, call: Call) -> Result<(u16, String)> {
        let unreached = |why: String| Error::Setup(format!("cannot reach {}: {}", self.url, plain(&why)));
        let mut connection = self.connect().await.map_err(unreached)?;
        let asked = async {
            let request = self.request(call).map_err(|_| "the path is not valid".to_owned())?;
            let answer = connection.0.send_request(request).await.map_err(|e| e.to_string())?;
            let status = answer.status().as_u16();
            let body = Limited::new(answer.into_body(), LONGEST).collect().await.map_err(|e| e.to_string())?;
            Ok((status, String::from_utf8_lossy(&body.to_bytes()).into_owned()))
        };
        match timeout(self.patience, asked).await {
            Ok(asked) => asked.map_err(unreached),
            Err(_) => Err(unreached("no answer in time".to_owned())),
        }
    }

    /// The body of an answer, which must be 2xx.
    pub(super) fn good(&self, path: &str, (status, body): (u16, String)) -> Result<String> {
        if (200..300).contains(&status) {
            return Ok(body);
        }
        let problem: Problem = serde_json::from_str(&body).unwrap_or_default();
        Err(Error::Setup(format!("{} answered {status} to {path}: {problem}", self.url)))
    }
}

impl Connection {
    async fn over(stream: impl AsyncRead + AsyncWrite + Unpin + Send + 'static) -> Result<Self, String> {
        let (sender, work) = http1::handshake(TokioIo::new(stream)).await.map_err(|e| e.to_string())?;
        // The task ends when the connection is dropped. Its errors are those of the calls.
        tokio::spawn(work);
        Ok(Self(sender))
    }

    /// Whether no further call can be made.
    pub(super) fn is_closed(&self) -> bool {
        self.0.is_closed()
    }
}

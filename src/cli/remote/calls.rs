//! Calls of commands to a running server: its address, its key, and words for what goes wrong.

use std::error::Error as StdError;
use std::future::pending;
use std::sync::LazyLock;

use clap::ArgGroup;
use http_body_util::{BodyExt, Full, Limited};
use hyper::body::{Bytes, Incoming};
use hyper::header::{AUTHORIZATION, CONTENT_LENGTH, CONTENT_TYPE, HeaderValue};
use hyper::{Method, Request, Response, StatusCode, Uri};
use hyper_rustls::{HttpsConnector, HttpsConnectorBuilder};
use hyper_util::client::legacy;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::{TokioExecutor, TokioTimer};
use rustls::ClientConfig;
use serde::de::DeserializeOwned;
use tokio::runtime::{self, Runtime};
use tokio::time::{Instant, timeout, timeout_at};

use super::tls;
use crate::cli::plain;
use crate::prelude::*;

/// Environment variable with the key of the server.
const KEY: &str = "TIDELINE_KEY";
/// Most bytes of an answer that is read as a whole.
const LONGEST: usize = 64 << 20;
/// An idle connection is closed before the server would close it.
const IDLE: Duration = Duration::from_secs(5);

/// The options by which a command calls a server.
#[derive(Debug, Default, Args, Serialize)]
pub(crate) struct Access {
    /// Read the key of the server from FILE [default: the variable TIDELINE_KEY]
    #[arg(long, value_name = "FILE")]
    pub(super) key_file: Option<PathBuf>,
    /// Trust the certificates in FILE (PEM), and those that they vouch for [default: the authorities of the system]
    #[arg(long, value_name = "FILE")]
    pub(super) ca_file: Option<PathBuf>,
}

impl Access {
    /// Allows these options only together with `option`, without which a command calls no server.
    pub(crate) fn only_with(option: &'static str) -> ArgGroup {
        ArgGroup::new("access").args(["key_file", "ca_file"]).multiple(true).requires(option)
    }

    /// The server at the address in an option. The key is sent only to a server with a trusted certificate, or without TLS.
    /// Fails if the address needs certificates to trust and there are none.
    pub(crate) fn client(&self, option: &str, url: &str, time_limit: Duration) -> Result<Client> {
        let url = address(option, url)?;
        let tls = tls::settings(&url, self.ca_file.as_deref())?;
        Client::with_tls(url, key(self.key_file.as_deref())?, tls, time_limit)
    }

    /// As [`Access::client`], for calls one after the other.
    pub(crate) fn server(&self, option: &str, url: &str, time_limit: Duration) -> Result<Server> {
        Server::new(self.client(option, url, time_limit)?)
    }
}

/// The key for a server: the first key in a file, such as the file of keys of the server; without a file, the key in the
/// environment.
fn key(file: Option<&Path>) -> Result<Option<String>> {
    let Some(file) = file else { return Ok(std::env::var(KEY).ok().map(|key| key.trim().to_owned())) };
    let text = fs::read_to_string(file).context(format_args!("cannot read {}", file.display()))?;
    // A name may stand behind a key.
    let entries =
        text.lines().filter_map(|line| line.split_whitespace().next()).filter(|entry| !entry.starts_with('#'));
    let key = entries.map(str::to_owned).find(|entry| !entry.starts_with("sha256:"));
    let missing = || format!("{} has no key, which is the first line of \"tideline key new\"", file.display());
    key.map(Some).ok_or_else(|| Error::Setup(missing()))
}

/// The address of a server in an option, without a slash at its end.
pub(crate) fn address(option: &str, url: &str) -> Result<String> {
    let host = url.strip_prefix("http://").or_else(|| url.strip_prefix("https://"));
    if host.is_none_or(str::is_empty) || url.parse::<Uri>().is_err() {
        return Err(Error::Setup(format!("{option}: expected http:// or https:// and a host, not {url:?}")));
    }
    Ok(url.trim_end_matches('/').to_owned())
}

/// A problem document. Both texts are empty if an answer has none.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct Problem {
    pub(super) code: String,
    pub(super) detail: String,
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (&*self.code, &*self.detail) {
            ("", "") => f.write_str("no Tideline answers there"),
            ("", detail) => f.write_str(detail),
            (code, detail) => write!(f, "{code}: {detail}"),
        }
    }
}

/// Why a call has no good answer.
#[derive(Debug)]
pub(crate) enum Cause {
    /// There is no answer.
    Unreached(String),
    /// The answer has another status than 2xx.
    Refused(StatusCode, Problem),
    /// The body is cut off, or is not what was expected.
    Unreadable(String),
}

/// A call without a good answer.
#[derive(Debug)]
pub(crate) struct Fault {
    url: String,
    pub(crate) cause: Cause,
}

impl Fault {
    /// The code of a refusal; empty for another fault.
    pub(crate) fn code(&self) -> &str {
        match &self.cause {
            Cause::Refused(_, problem) => &problem.code,
            Cause::Unreached(_) | Cause::Unreadable(_) => "",
        }
    }

    /// Whether the server has no room for the call at present.
    pub(crate) fn is_busy(&self) -> bool {
        matches!(self.cause, Cause::Refused(StatusCode::TOO_MANY_REQUESTS | StatusCode::SERVICE_UNAVAILABLE, _))
    }
}

impl From<Fault> for Error {
    fn from(Fault { url, cause }: Fault) -> Self {
        let text = match cause {
            Cause::Unreached(why) => format!("cannot reach {url}: {why}"),
            Cause::Refused(status, problem) => format!("{url} answered {status}: {problem}"),
            Cause::Unreadable(why) => format!("{url} gave an answer that cannot be read: {why}"),
        };
        // A standby writes it into its log.
        Self::Setup(plain(&text))
    }
}

/// A server, for many calls at once. An idle connection is used again.
#[derive(Clone)]
pub(crate) struct Client {
    /// The address, without a slash at its end.
    pub(crate) url: String,
    http: legacy::Client<HttpsConnector<HttpConnector>, Full<Bytes>>,
    key: Option<HeaderValue>,
    /// Longest wait for an answer.
    pub(crate) time_limit: Duration,
}

impl Client {
    fn with_tls(url: String, key: Option<String>, tls: ClientConfig, time_limit: Duration) -> Result<Self> {
        let key = key.map(|key| HeaderValue::from_str(&format!("Bearer {key}"))).transpose();
        let mut key = key.map_err(|_| Error::Setup("the key has invalid characters".to_owned()))?;
        key.iter_mut().for_each(|key| key.set_sensitive(true));
        let mut sockets = HttpConnector::new();
        sockets.enforce_http(false);
        sockets.set_nodelay(true);
        sockets.set_connect_timeout(Some(time_limit));
        let connector = HttpsConnectorBuilder::new().with_tls_config(tls).https_or_http().enable_http1();
        let mut builder = legacy::Client::builder(TokioExecutor::new());
        builder.pool_timer(TokioTimer::new()).pool_idle_timeout(IDLE);
        Ok(Self { url, http: builder.build(connector.wrap_connector(sockets)), key, time_limit })
    }

    /// Sends a request with JSON, or with an empty body, and waits for the head of its answer, however long.
    pub(crate) async fn send(&self, method: Method, path: &str, body: String) -> Result<Response<Incoming>, String> {
        let mut request = Request::builder().method(method).uri(format!("{}{path}", self.url));
        if let Some(key) = &self.key {
            request = request.header(AUTHORIZATION, key);
        }
        if !body.is_empty() {
            request = request.header(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        }
        let request = request.body(Full::new(body.into())).map_err(|e| e.to_string())?;
        self.http.request(request).await.map_err(|e| unreached(&self.url, &e))
    }

    /// The body of a good answer.
    pub(crate) async fn ask(&self, method: Method, path: &str, body: String) -> Result<Bytes, Fault> {
        let until = Instant::now() + self.time_limit;
        let answer = self.good(method, path, body, until).await?;
        self.whole(answer, until).await
    }

    async fn good(
        &self,
        method: Method,
        path: &str,
        body: String,
        until: Instant,
    ) -> Result<Response<Incoming>, Fault> {
        let answer = timeout_at(until, self.send(method, path, body)).await;
        let answer = answer.unwrap_or_else(|_| Err(self.silence()));
        let answer = answer.map_err(|why| self.fault(Cause::Unreached(why)))?;
        let status = answer.status();
        if status.is_success() {
            return Ok(answer);
        }
        let text = self.whole(answer, until).await.unwrap_or_default();
        Err(self.fault(Cause::Refused(status, serde_json::from_slice(&text).unwrap_or_default())))
    }

    async fn whole(&self, answer: Response<Incoming>, until: Instant) -> Result<Bytes, Fault> {
        let read = match timeout_at(until, Limited::new(answer.into_body(), LONGEST).collect()).await {
            Ok(read) => read.map_err(|e| e.to_string()),
            Err(_) => Err(self.silence()),
        };
        read.map(|body| body.to_bytes()).map_err(|why| self.fault(Cause::Unreadable(why)))
    }

    fn silence(&self) -> String {
        format!("the server has said nothing for {}", humantime::format_duration(self.time_limit))
    }

    fn fault(&self, cause: Cause) -> Fault {
        Fault { url: self.url.clone(), cause }
    }
}

/// Makes the calls of all servers. It stays until the process ends: its own end would wait for a name that is still looked up.
static RUNTIME: LazyLock<Result<&'static Runtime>> = LazyLock::new(|| {
    let runtime = runtime::Builder::new_current_thread().enable_all().build().context("cannot start the runtime")?;
    let runtime: &'static Runtime = Box::leak(Box::new(runtime));
    // A connection that nobody needs ends also while no call is made.
    threads::start("calls", || runtime.block_on(pending::<()>()))?;
    Ok(runtime)
});

/// A server, for calls one after the other. It must not be called on a thread of an async runtime.
#[derive(Clone)]
pub(crate) struct Server {
    client: Client,
    runtime: &'static Runtime,
}

impl Server {
    fn new(client: Client) -> Result<Self> {
        Ok(Self { client, runtime: RUNTIME.clone()? })
    }

    /// A server that is called without a key, whatever certificate it has.
    pub(super) fn unchecked(url: String, time_limit: Duration) -> Result<Self> {
        Self::new(Client::with_tls(url, None, tls::unchecked()?, time_limit)?)
    }

    /// The same server with another longest wait.
    pub(crate) fn with_time_limit(&self, time_limit: Duration) -> Self {
        Self { client: Client { time_limit, ..self.client.clone() }, ..*self }
    }

    pub(super) fn url(&self) -> &str {
        &self.client.url
    }

    /// The JSON of a good answer; that of an empty one is `null`.
    pub(crate) fn call<T: DeserializeOwned>(
        &self,
        method: Method,
        path: &str,
        body: Option<&Value>,
    ) -> Result<T, Fault> {
        let body = body.map_or_else(String::new, Value::to_string);
        let text = self.runtime.block_on(self.client.ask(method, path, body))?;
        let text = if text.is_empty() { "null".into() } else { text };
        serde_json::from_slice(&text).map_err(|e| self.client.fault(Cause::Unreadable(e.to_string())))
    }

    /// A field of the JSON object of a good answer.
    pub(crate) fn field<T: DeserializeOwned>(&self, method: Method, path: &str, name: &str) -> Result<T, Fault> {
        let mut object: Value = self.call(method, path, None)?;
        let field = object.get_mut(name).map(Value::take).unwrap_or_default();
        serde_json::from_value(field).map_err(|e| self.client.fault(Cause::Unreadable(format!("{name}: {e}"))))
    }

    /// The JSON of a good answer to a `GET`.
    pub(crate) fn get<T: DeserializeOwned>(&self, path: &str) -> Result<T, Fault> {
        self.call(Method::GET, path, None)
    }

    /// The body of a good answer, however long.
    pub(crate) fn read(&self, method: Method, path: &str, body: String) -> Result<Body, Fault> {
        let until = Instant::now() + self.client.time_limit;
        let answer = self.runtime.block_on(self.client.good(method, path, body, until))?;
        let length = answer.headers().get(CONTENT_LENGTH).and_then(|length| length.to_str().ok()?.parse().ok());
        Ok(Body { length, rest: answer.into_body(), piece: Bytes::new(), server: self.clone() })
    }
}

/// See [`Server::read`]. Reading fails if the connection ends before the body.
pub(crate) struct Body {
    pub(super) length: Option<u64>,
    rest: Incoming,
    piece: Bytes,
    server: Server,
}

impl Body {
    /// The same body, with another longest wait for each piece.
    pub(crate) fn with_time_limit(self, time_limit: Duration) -> Self {
        Self { server: self.server.with_time_limit(time_limit), ..self }
    }
}

impl Read for Body {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let Server { client, runtime } = &self.server;
        while self.piece.is_empty() {
            let frame = runtime.block_on(async { timeout(client.time_limit, self.rest.frame()).await });
            match frame.map_err(|_| io::Error::new(io::ErrorKind::TimedOut, client.silence()))? {
                Some(frame) => self.piece = frame.map_err(|error| cut(&error))?.into_data().unwrap_or_default(),
                None => return Ok(0),
            }
        }
        let count = self.piece.len().min(buffer.len());
        buffer[..count].copy_from_slice(&self.piece.split_to(count));
        Ok(count)
    }
}

/// The error of a body that ends early, with that of the operating system if there is one.
fn cut(error: &hyper::Error) -> io::Error {
    let cause = error.source().and_then(|cause| cause.downcast_ref::<io::Error>());
    match cause.and_then(io::Error::raw_os_error) {
        Some(code) => io::Error::from_raw_os_error(code),
        None => io::Error::new(io::ErrorKind::UnexpectedEof, "the server has cut the answer short"),
    }
}

/// Why a server gave no answer, and advice if the address may have the wrong scheme.
fn unreached(url: &str, error: &legacy::Error) -> String {
    use io::ErrorKind::{ConnectionReset, InvalidData, Other, UnexpectedEof};
    let first: &(dyn StdError + 'static) = error;
    let causes: Vec<_> = std::iter::successors(Some(first), |cause| (*cause).source()).collect();
    // The other side has answered, but not as expected. Errors of TLS are of the kind `Other`.
    let is_talk = causes.iter().any(|cause| match cause.downcast_ref::<io::Error>() {
        Some(error) => [ConnectionReset, InvalidData, Other, UnexpectedEof].contains(&error.kind()),
        None => cause.is::<hyper::Error>(),
    });
    let said = causes.last().map_or_else(String::new, ToString::to_string);
    let advice = match url.starts_with("https://") {
        _ if !is_talk => "",
        true if said.contains("UnknownIssuer") || said.contains("CaUsedAsEndEntity") => {
            ". Name the certificate of the server, or of its authority, with --ca-file"
        }
        true if said.contains("certificate") => "",
        true => ". If the server speaks no TLS, write http:// in its address",
        false => ". If the server speaks TLS, write https:// in its address",
    };
    format!("{said}{advice}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_has_a_scheme_and_a_host() {
        assert_eq!(address("--url", "http://a:1/").expect("good"), "http://a:1");
        assert_eq!(address("--url", "https://a").expect("good"), "https://a");
        for bad in ["", "a:1", "ftp://a", "http://", "https://"] {
            assert!(address("--url", bad).is_err(), "{bad}");
        }
    }
}

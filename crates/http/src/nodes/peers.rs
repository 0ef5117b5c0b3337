//! The other members of a cluster as this node calls them: pooled connections, limits, and a pause after a failure.

use std::time::{Duration, Instant};

use actix_web::HttpResponse;
use actix_web::http::StatusCode;
use actix_web::http::header::{CACHE_CONTROL, CONTENT_TYPE, ETAG, HeaderName, LINK, RETRY_AFTER};
use http_body_util::{BodyExt as _, Full, Limited};
use hyper::Request;
use hyper::body::{Body as _, Bytes};
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::client::legacy::connect::dns::GaiResolver;
use tokio::task::JoinSet;

use super::consistency::POSITION;
use super::peer::Peer;
use crate::connections::answer_memory::{self, SMALL};
use crate::connections::outgoing::{self, HttpClient, chain};
use crate::limits::Places;
use config::Cluster;
use model::error::Result;
use model::{Count, Members};

/// In a request: the command log of the node that has passed it on. Such a request goes no further. In an answer: the
/// owner is well, and leaves the request to the node that has passed it on.
pub(crate) const FORWARDED: HeaderName = HeaderName::from_static("tideline-forwarded");

/// Connections to one member that are kept without a request, and for how long: shorter than a server keeps them.
const IDLE_AT_ONCE: usize = 32;
const IDLE: Duration = Duration::from_secs(30);
/// Longest wait for a connection. Long in tests, for a busy machine.
const CONNECT: Duration = Duration::from_secs(if cfg!(test) { 10 } else { 1 });
/// Members are asked whether they are ready no more often than this.
const ASK_EVERY: Duration = Duration::from_millis(500);
/// Bytes that a connection reads at once.
const BUFFER: usize = 64 << 10;

/// The members of the cluster, and the connections to them.
#[derive(Debug)]
pub(crate) struct Peers {
    pub(crate) members: Members,
    /// The id of the command log of this node.
    pub(crate) log: String,
    /// In the order of the settings.
    peers: Vec<Peer>,
    client: HttpClient<GaiResolver>,
    began: Instant,
    /// Whether another member was ready, and when it was asked.
    others: tokio::sync::Mutex<Option<(Instant, bool)>>,
    /// Requests that members have answered.
    pub(crate) forwarded: Count,
    /// Requests for a member that this node answers itself.
    pub(crate) answered_here: Count,
}

/// The headers of an answer that the client gets.
const PASSED_ON: [HeaderName; 6] = [CONTENT_TYPE, LINK, RETRY_AFTER, POSITION, ETAG, CACHE_CONTROL];

/// The reason why a member has no answer for the client.
pub(crate) enum Lost {
    /// It is well, and leaves the request to others: it is not ready, or behind this node.
    Left,
    /// It has failed.
    Failed(String),
    /// It refuses this client, too much goes to it, or there is no memory for its answer here.
    Here,
}

impl Peers {
    /// The members of the settings, which all follow this log; `None` without a cluster.
    pub(crate) fn of(cluster: &Cluster, log: String) -> Option<Self> {
        let members = cluster.members()?;
        let is_encrypted = cluster.members.iter().any(|member| member.url.starts_with("https://"));
        let client = client(is_encrypted).inspect_err(
            |error| tracing::error!(%error, "other members of the cluster cannot be called: this node answers itself"),
        );
        let named = cluster.members.iter().map(|member| (member.name.to_string(), member.url.clone()));
        Some(Self {
            members,
            log,
            peers: named.map(|(name, url)| Peer::new(name, url)).collect(),
            client: client.ok()?,
            began: Instant::now(),
            others: tokio::sync::Mutex::default(),
            forwarded: Count::default(),
            answered_here: Count::default(),
        })
    }

    /// Whether a member has not failed just now.
    pub(crate) fn is_well(&self, member: usize) -> bool {
        self.peers.get(member).is_some_and(|peer| peer.is_asked(self.now()))
    }

    /// All other members that have not failed just now, in any order.
    pub(crate) fn all_well(&self) -> Vec<usize> {
        let mut all: Vec<_> = self.members.all_others().filter(|member| self.is_well(*member)).collect();
        fastrand::shuffle(&mut all);
        all
    }

    /// Whether another member is ready, by its own word. Asks all at most once in a while, for whoever asks here.
    pub(crate) async fn is_another_ready(&self) -> bool {
        let mut known = self.others.lock().await;
        if let Some((at, is_one)) = *known
            && at.elapsed() < ASK_EVERY
        {
            return is_one;
        }
        let mut asked = JoinSet::new();
        for member in self.members.all_others() {
            let request = Request::get(self.address(member, "/readyz")).header(FORWARDED.as_str(), self.log.as_str());
            let Ok(request) = request.body(Full::new(Bytes::new())) else { continue };
            asked.spawn(tokio::time::timeout(CONNECT, self.client.request(request)));
        }
        let mut is_one = false;
        while !is_one && let Some(answer) = asked.join_next().await {
            is_one = matches!(answer, Ok(Ok(Ok(answer))) if answer.status() == 200);
        }
        *known = Some((Instant::now(), is_one));
        is_one
    }

    /// The address of a path at a member.
    pub(crate) fn address(&self, member: usize, path: &str) -> String {
        format!("{}{path}", self.peers.get(member).map_or("", |peer| peer.url.as_str()))
    }

    /// The answer of a member to a request, within a time and a size. A member that fails is not asked for a while.
    /// `memory` gives that of a large answer.
    pub(crate) async fn ask(
        &self,
        member: usize,
        request: Request<Full<Bytes>>,
        (timeout, most): (Duration, usize),
        memory: impl FnOnce() -> Option<Places>,
    ) -> Result<HttpResponse, Lost> {
        let peer = self.peers.get(member).ok_or(Lost::Here)?;
        let _place = peer.places.try_acquire().map_err(|_| Lost::Here)?;
        let told = tokio::time::timeout(timeout, self.exchange(peer, request, most, memory)).await;
        let told = told.unwrap_or_else(|_| Err(Lost::Failed("it did not answer in time".to_owned())));
        match &told {
            Ok(_) => peer.note(None, self.now()),
            Err(Lost::Failed(why)) => peer.note(Some(why), self.now()),
            Err(Lost::Left | Lost::Here) => {}
        }
        told
    }

    async fn exchange(
        &self,
        peer: &Peer,
        request: Request<Full<Bytes>>,
        most: usize,
        memory: impl FnOnce() -> Option<Places>,
    ) -> Result<HttpResponse, Lost> {
        let answer = self.client.request(request).await.map_err(|e| Lost::Failed(chain(&e)))?;
        let (head, body) = answer.into_parts();
        let status = head.status.as_u16();
        if !is_for_the_client(status) {
            if head.headers.contains_key(FORWARDED.as_str()) {
                return Err(Lost::Left);
            }
            if !is_of_the_client(status) {
                return Err(Lost::Failed(format!("it answered {status}")));
            }
            // The member is well, and refuses this client: that must not keep the others from it.
            peer.refuses(status);
            return Err(Lost::Here);
        }
        // Every answer of a node tells its position.
        if !head.headers.contains_key(POSITION.as_str()) {
            return Err(Lost::Failed("it is not a node of a cluster".to_owned()));
        }
        // A node tells the size of each answer that it gives to another.
        let size = usize::try_from(body.size_hint().lower()).unwrap_or(usize::MAX);
        if size > most {
            return Err(Lost::Failed(format!("its answer is larger than {most} bytes")));
        }
        let mut memory = if size > SMALL { Some(memory().ok_or(Lost::Here)?) } else { None };
        if let Some(memory) = &mut memory {
            answer_memory::reserve(memory, size).map_err(|_| Lost::Here)?;
        }
        let body = Limited::new(body, size.max(SMALL)).collect().await;
        let body = body.map_err(|e| Lost::Failed(chain(&*e)))?.to_bytes();
        let mut response = HttpResponse::build(StatusCode::from_u16(status).unwrap_or_default());
        for name in PASSED_ON {
            if let Some(value) = head.headers.get(name.as_str()) {
                response.insert_header((name, value.as_bytes()));
            }
        }
        Ok(match memory {
            Some(memory) => answer_memory::reserved(response, body, memory),
            None => response.body(body),
        })
    }

    /// Requests that other members have answered, and requests for them that this node has answered itself.
    pub(crate) fn figures(&self) -> [u64; 2] {
        [self.forwarded.get(), self.answered_here.get()]
    }

    /// Lets all members be asked again, as if their pauses were over.
    #[cfg(test)]
    pub(crate) fn end_pauses(&self) {
        self.peers.iter().for_each(|peer| peer.paused.store(0, std::sync::atomic::Ordering::Relaxed));
    }

    fn now(&self) -> u64 {
        u64::try_from(self.began.elapsed().as_millis()).unwrap_or(u64::MAX)
    }
}

/// Whether the client gets an answer of this status: it is about the request. All others are about the way to the member
/// or about the member itself: this node has admitted the request, and answers it.
fn is_for_the_client(status: u16) -> bool {
    (200..300).contains(&status)
        || status == 304
        || (400..500).contains(&status) && !is_of_the_client(status) && status != 421
}

/// Whether an answer of this status is about this client, and not for it: the member may refuse a client that this node has
/// admitted. A request may also be too large with the headers of this node.
fn is_of_the_client(status: u16) -> bool {
    [401, 403, 408, 429, 431].contains(&status)
}

fn client(is_encrypted: bool) -> Result<HttpClient<GaiResolver>> {
    let mut sockets = HttpConnector::new();
    sockets.set_connect_timeout(Some(CONNECT));
    let connector = outgoing::connector(sockets, is_encrypted)?;
    Ok(outgoing::pool(IDLE_AT_ONCE, IDLE).http1_max_buf_size(BUFFER).build(connector))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_about_the_way_are_not_for_the_client() {
        let passed = [200, 204, 304, 400, 404, 409, 413, 415, 422];
        let kept = [100, 301, 302, 401, 403, 408, 421, 429, 431, 500, 502, 503, 504];
        assert!(passed.into_iter().all(is_for_the_client));
        assert!(!kept.into_iter().any(is_for_the_client));
    }
}

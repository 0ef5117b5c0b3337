//! Requests that a node of a cluster passes on to an owner of the user. Only owners keep the user's inbox, and the first
//! owner the user's presence.
//!
//! A request is passed on once: a member that gets it answers itself, whoever it thinks the owner is. If the owner
//! fails, is not ready, or takes too long, this node answers: a timeline that is pulled has the same items.

use std::pin::pin;
use std::time::{Duration, Instant};

use actix_web::HttpMessage;
use actix_web::http::Method;
use actix_web::http::header::{AUTHORIZATION, CONTENT_TYPE, HeaderName, IF_NONE_MATCH};
use actix_web::web::Bytes;
use http_body_util::Full;

use crate::connections::answer_memory;
use crate::guards::address::X_FORWARDED_FOR;
use crate::nodes::consistency::{self, POSITION, Wanted};
use crate::nodes::peers::{FORWARDED, Lost, Peers};
use crate::prelude::*;
use crate::wire::query::{CONSISTENCY, LIMIT};
use crate::wire::request_id::{RequestId, TRACEPARENT, X_REQUEST_ID};
use cluster::{Health, SLOW};
use model::UserId;

const TRACESTATE: HeaderName = HeaderName::from_static("tracestate");
/// The owner gets this fraction of the timeout of a request, and no more than so long. Time is left for an own answer.
const PART: u32 = 3;
// Long in tests, so that a busy machine does not answer in place of an owner that is well.
const LONGEST: Duration = Duration::from_secs(if cfg!(test) { 20 } else { 2 });
/// How long the owner waits for changes that the other node has already.
const GLANCE: Duration = Duration::from_millis(50);
/// Most bytes of an item on a page, beside those of its publish: counts, and the profile of its author.
const BESIDE: usize = 16 << 10;

/// The answer of another node to a request; `None` if this node is to answer, which then has the changes that a read
/// must have.
pub(crate) async fn answer_of_another(call: &Call, id: RequestId) -> Result<Option<HttpResponse>> {
    check(call)?;
    if call.info.reads_shared() {
        // A wrong parameter is not a matter of other nodes.
        call.wanted()?;
    }
    if is_left(call).await? {
        return Ok(Some(HttpResponse::ServiceUnavailable().insert_header((FORWARDED, "left")).finish()));
    }
    call.request.extensions_mut().insert(id);
    if call.request.method() == Method::GET
        && let Some(answer) = read(call).await
    {
        return Ok(Some(answer));
    }
    if call.info.reads_shared() { wait_or_pass_on(call).await } else { Ok(None) }
}

/// Waits until this node has the changes that a read must have.
async fn has_changes(call: &Call) -> Result<()> {
    let Some(node) = &call.api.node else { return Ok(()) };
    match call.wanted()? {
        Wanted::All => call.in_time(node.read_index()).await?,
        Wanted::Position(position) => call.in_time(node.come_to(position)).await?,
        Wanted::Nothing => Ok(()),
    }
}

/// Waits until this node has the changes that a read must have. If that takes too long, another node answers.
async fn wait_or_pass_on(call: &Call) -> Result<Option<HttpResponse>> {
    let is_slow = call.api.node.as_ref().is_some_and(|node| node.is_slow());
    let mut waiting = pin!(has_changes(call));
    let early = tokio::time::timeout(if is_slow { Duration::ZERO } else { SLOW }, &mut waiting).await;
    if matches!(early, Ok(Ok(()))) {
        return Ok(None);
    }
    if call.request.method() == Method::GET
        && let Some(answer) = elsewhere(call).await
    {
        return Ok(Some(answer));
    }
    match early {
        Ok(waited) => waited,
        Err(_) => waiting.await,
    }
    .map(|()| None)
}

/// The answer of an owner to a read; `None` if this node is to answer.
async fn read(call: &Call) -> Option<HttpResponse> {
    call.info.kept.filter(|_| call.api.peers.is_some())?;
    let id = call.user().ok()?;
    let user = call.read_of(&id, |_, user| Ok(user)).await.ok()?;
    to_owner(call, user, Bytes::new()).await
}

/// The answer of an owner of a user to a request; `None` if this node is to answer.
pub(crate) async fn to_owner(call: &Call, user: UserId, body: Bytes) -> Option<HttpResponse> {
    let (peers, kept) = (call.api.peers.as_ref()?, call.info.kept?);
    // A user without a number has no inbox.
    if user == UserId::UNKNOWN {
        return None;
    }
    let owners = match kept {
        OfOwner::Inbox if peers.members.owns(user) => Vec::new(),
        OfOwner::Inbox => peers.members.others(user),
        OfOwner::Presence => peers.members.first_elsewhere(user).into_iter().collect(),
    };
    if owners.is_empty() {
        return None;
    }
    let told = told(call, peers, &owners, body).await;
    if told.is_some() { &peers.forwarded } else { &peers.answered_here }.add(1);
    told
}

/// The answer of another node to a read that waits for the log here; `None` if this node is to answer. The other one
/// need not keep the inbox: a page that is pulled is the same.
async fn elsewhere(call: &Call) -> Option<HttpResponse> {
    let peers = call.api.peers.as_ref().filter(|_| call.info.passes())?;
    let told = told(call, peers, &peers.all_well(), Bytes::new()).await?;
    peers.forwarded.add(1);
    Some(told)
}

/// Asks members, one after another, until one answers or fails.
async fn told(call: &Call, peers: &Peers, owners: &[usize], body: Bytes) -> Option<HttpResponse> {
    if call.request.headers().contains_key(FORWARDED) {
        return None;
    }
    let config = call.api.config();
    let timeout = (call.api.limits.timeout / PART).min(LONGEST);
    let most = (LIMIT.most)(config) * config.server.body_limit.saturating_add(BESIDE);
    let memory = || answer_memory::begin(&call.api.limits.answers, call.caller.holder).ok();
    let began = Instant::now();
    for owner in owners.iter().copied().filter(|owner| peers.is_well(*owner)) {
        let request = outgoing(call, peers, owner, body.clone())?;
        match peers.ask(owner, request, (timeout.saturating_sub(began.elapsed()), most), memory).await {
            Err(Lost::Left) => {}
            told => return told.ok(),
        }
    }
    None
}

/// The request as the owner gets it.
fn outgoing(call: &Call, peers: &Peers, owner: usize, body: Bytes) -> Option<hyper::Request<Full<Bytes>>> {
    let mut path = call.request.uri().path_and_query()?.as_str().to_owned();
    let mut position = None;
    if call.info.reads_shared() {
        let wanted = call.wanted().ok()?;
        path.push_str(&missing_parameter(call, wanted));
        position = match wanted {
            Wanted::All => None,
            Wanted::Position(position) => Some(position),
            // The client has asked this node, and must not see less than it has.
            Wanted::Nothing => call.api.node.as_ref().map(|node| node.shown()),
        };
    }
    let mut request = hyper::Request::builder().method(call.request.method().as_str()).uri(peers.address(owner, &path));
    // One value each, so that the head does not become too large for the owner.
    for name in [AUTHORIZATION, IF_NONE_MATCH, TRACEPARENT, TRACESTATE] {
        if let Some(value) = call.request.headers().get(&name) {
            request = request.header(name.as_str(), value.as_bytes());
        }
    }
    if let Some(position) = position {
        request = request.header(POSITION.as_str(), position.to_string());
    }
    // The id that this node logs. A trace comes first at the owner, too.
    if let Some(id) = call.request.extensions().get::<RequestId>() {
        request = request.header(X_REQUEST_ID.as_str(), id.as_str());
    }
    if let Some(client) = call.api.admission.address(&call.request) {
        request = request.header(X_FORWARDED_FOR, client.to_string());
    }
    if *call.request.method() != Method::GET {
        request = request.header(CONTENT_TYPE.as_str(), "application/json");
    }
    request.header(FORWARDED.as_str(), peers.log.as_str()).body(Full::new(body)).ok()
}

/// Refuses a request that a node with another command log has passed on: the members in its settings are out of date,
/// and its client must not see timelines of another cluster.
fn check(call: &Call) -> Result<()> {
    let (Some(log), Some(peers)) = (call.request.headers().get(FORWARDED), &call.api.peers) else { return Ok(()) };
    if log.as_bytes() == peers.log.as_bytes() {
        return Ok(());
    }
    Err(Error::refused(Code::LogUnavailable, format_args!("{FORWARDED}: this node has another command log")))
}

/// Whether this node leaves a read that another node has passed on to that node: it cannot answer a read that waits for
/// the log, or one that does not would show less than the other node has.
async fn is_left(call: &Call) -> Result<bool> {
    let Some(node) = call.api.node.as_ref().filter(|_| call.request.headers().contains_key(FORWARDED)) else {
        return Ok(false);
    };
    // Presence is there at once, and a stream is of this node.
    if !call.info.passes() {
        return Ok(false);
    }
    let is_local = call.wanted()? == Wanted::Nothing;
    let is_ready = node.health() == Health::Serving;
    if !is_local {
        return Ok(!is_ready);
    }
    // The other node follows this log, as `check` has found.
    let place = consistency::position(&call.request)?.map_or(0, |position| position.place);
    Ok(!node.has(place, if is_ready { GLANCE } else { Duration::ZERO }).await)
}

/// The parameter of the consistency, if the request leaves it to this node: the setting of the owner may differ.
fn missing_parameter(call: &Call, wanted: Wanted) -> String {
    let query = call.request.query_string();
    if query::values(query, CONSISTENCY).next().is_some() {
        return String::new();
    }
    let word = match wanted {
        Wanted::All => "strict",
        Wanted::Position(_) => "session",
        Wanted::Nothing => "local",
    };
    let mark = if call.request.uri().query().is_some() { '&' } else { '?' };
    format!("{mark}{CONSISTENCY}={word}")
}

#[cfg(test)]
mod tests;

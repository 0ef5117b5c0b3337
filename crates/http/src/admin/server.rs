//! Endpoints for operators: health, figures, and checks of a timeline.

use std::collections::BTreeMap;

use serde::Serialize;
use serde_json::json;
use utoipa::ToSchema;

use crate::call::Call;
use crate::calls::show::ItemId;
use crate::endpoint::parameters::{number, optional, required};
use crate::endpoint::{Endpoint, get, group};
use crate::nodes::peers::FORWARDED;
use crate::pools::Wants;
use crate::route_info::OfOwner;
use crate::wire::problem::Problem;
use crate::wire::reply::{self, Answer};
use feed::standbys::KnownStandby;
use feed::{Feed, PathExplanation, timeline};
use model::error::{Code, Result};
use model::schemas::id_text;
use model::{HostId, HostIds, Millis, Position, Time};

/// Items that `verify` compares by default.
const DEFAULT_DEPTH: usize = 1000;
/// Most items that it compares.
const MAX_DEPTH: usize = 100_000;

/// The calls of this file.
pub(crate) fn endpoints() -> Vec<Endpoint> {
    let stats_of_now = json!({
        "version": "0.1.0",
        "jobs": {"waiting": 0, "limit": 100_000, "fan_out": 0, "settle": 0, "rebuild": 0, "coalesced": 0, "refused": 0,
            "failures": 0},
        "pending_items": 0, "unsettled_pairs": 0, "deliveries": 424, "log_bytes": 4096,
        "standbys": [{"name": "b", "following_since": 1_795_357_800_123_u64, "seen_at": 1_795_357_801_500_u64, "row": 900,
            "behind_rows": 0, "behind_bytes": 0, "behind_ms": 0}],
        "tables": {"content": {"rows_estimate": 20_000, "bytes": 3_000_000}}
    });
    let exact = json!({
        "user_id": "111", "exact": true, "compared": 424, "complete": true, "missing": [], "extra": []
    });
    let why = json!({
        "user_id": "111", "content_id": "32850", "listed": true, "reason": "listed", "author_id": "200",
        "published_at": 1_689_089_522_000_u64, "muted": false, "hidden": false, "blocked": false, "suspended": false,
        "floor": null,
        "paths": [{"source_id": "200", "following": true, "requested": false, "muted": false, "hidden": false, "blocked": false,
            "suspended": false, "in_exclusive_list": false, "ruled_out": false, "unsettled": false, "pending": false, "in_inbox": true,
            "pulled": false}]
    });
    let calls = [
        get("/healthz", healthz, "getHealth", "Whether the process runs")
            .answers::<Health>(200, "The process runs", json!({"status": "ok"}))
            .always()
            .open()
            .of_any_host()
            .never_waits(),
        get("/readyz", readyz, "getReadiness", "Whether the server accepts requests")
            .answers::<Health>(200, "The server accepts requests", json!({"status": "ready"}))
            .refuses(&[Code::Stopping, Code::StorageStopped, Code::HandingOver])
            .always()
            .open()
            .of_any_host()
            .never_waits(),
        get("/v1/admin/stats", stats, "getStats", "The main figures of the server")
            .answers::<Stats>(200, "The main figures", stats_of_now)
            .of_this_server()
            .refuses(&[Code::Overloaded])
            .never_waits(),
        get("/v1/admin/users/{uid}/timeline/verify", verify, "verifyTimeline", "Compare a timeline with its sources")
            .about(
                "Compares the timeline with a merge of the outboxes of all followed users. In a cluster, ask each node: \
                 those that do not keep the user's inbox have only the merge.",
            )
            .query([optional("depth", "The number of items to compare", number(1, MAX_DEPTH, DEFAULT_DEPTH))])
            .answers::<VerificationBody<'_>>(200, "The differences", exact),
        get(
            "/v1/admin/users/{uid}/timeline/explain",
            explain,
            "explainTimeline",
            "Why a timeline shows an item, or does not",
        )
        .query([required("content_id", "The id of the item", id_text(), "32850")])
        .of_owner(OfOwner::Inbox)
        .answers::<ExplanationBody>(200, "The reason, and the facts behind it", why),
    ];
    group("operations", calls)
}

/// The state of the server: `ok` or `ready`.
#[derive(Serialize, ToSchema)]
struct Health {
    status: &'static str,
}

/// The main figures of the server, with the names of `/metrics` without the prefix `tideline_`.
#[derive(Serialize, ToSchema)]
struct Stats {
    version: &'static str,
    jobs: Jobs,
    /// Items whose fan-out has not ended.
    pending_items: u64,
    /// Pairs of a user and an author whose settle job has not ended.
    unsettled_pairs: u64,
    /// Entries written into inboxes by fan-outs.
    deliveries: u64,
    /// Bytes of the write-ahead log.
    log_bytes: u64,
    /// The standbys that have called lately.
    standbys: Vec<StandbyFigures>,
    /// The size of each table, by its name.
    #[schema(value_type = HashMap<String, Figures>)]
    tables: BTreeMap<&'static str, Figures>,
}

/// How far a standby is.
#[derive(Serialize, ToSchema)]
struct StandbyFigures {
    /// Its name.
    name: String,
    /// Since when it follows; missing if it does not at present.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Time)]
    following_since: Option<Millis>,
    /// When it last told how far it is.
    #[schema(value_type = Time)]
    seen_at: Millis,
    /// The last row of the log on its device.
    row: u64,
    /// Rows of the log that it lacks.
    behind_rows: u64,
    /// Bytes of the log that it was not sent yet, about.
    behind_bytes: u64,
    /// For how long it has lacked some, milliseconds; 0 if it has all.
    behind_ms: u64,
}

impl From<KnownStandby> for StandbyFigures {
    fn from(known: KnownStandby) -> Self {
        Self {
            name: known.name,
            following_since: known.following_since,
            seen_at: known.seen_at,
            row: known.applied,
            behind_rows: known.behind,
            behind_bytes: known.bytes_behind,
            behind_ms: known.behind_for,
        }
    }
}

/// The queue of jobs.
#[derive(Serialize, ToSchema)]
struct Jobs {
    /// Places in use: by running and waiting jobs, and by open requests that may add jobs.
    waiting: u64,
    /// The limit of places.
    limit: u64,
    /// Fan-outs running or waiting.
    fan_out: u64,
    /// Settle jobs running or waiting.
    settle: u64,
    /// Rebuilds running or waiting.
    rebuild: u64,
    /// Settle jobs without work, because a newer job of the same pair existed.
    coalesced: u64,
    /// Changes refused because the queue was full.
    refused: u64,
    /// Failed attempts; each is repeated.
    failures: u64,
}

/// The size of one table.
#[derive(Serialize, ToSchema)]
struct Figures {
    /// An estimate: rows that were replaced or removed may count until a compaction.
    rows_estimate: u64,
    bytes: u64,
}

/// The result of a comparison of a timeline with its sources.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = Verification)]
struct VerificationBody<'a> {
    user_id: HostId,
    /// Whether there are no differences.
    exact: bool,
    /// The number of items compared.
    compared: usize,
    /// Whether the whole timeline was compared.
    complete: bool,
    /// Items that the timeline lacks.
    missing: Vec<ItemId<'a>>,
    /// Items that the timeline should not have.
    extra: Vec<ItemId<'a>>,
}

/// The reason why a timeline shows an item or does not, with the facts behind it.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = Explanation)]
struct ExplanationBody {
    user_id: HostId,
    content_id: HostId,
    /// Whether the timeline shows the item.
    listed: bool,
    /// The deciding reason: `listed`, `no_content`, `deleted`, `not_broadcast`, `blocked`, `requested`, `not_following`,
    /// `muted`, `hidden`, `suspended`, `in_exclusive_list`, `ruled_out`, or `changed_meanwhile` if something changed during the
    /// request.
    reason: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    author_id: Option<HostId>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Time)]
    published_at: Option<Millis>,
    /// The user has muted the author.
    muted: bool,
    /// The author hides its content from the user.
    hidden: bool,
    /// The user has blocked the author, or the author the user.
    blocked: bool,
    /// The author is suspended.
    suspended: bool,
    /// The paths of the item: the author if it is broadcast, then further sources.
    paths: Vec<PathExplanationBody>,
    /// The inbox is complete only above this cursor; `null` for an inbox that is complete to its end.
    #[schema(required, value_type = Option<String>, pattern = r"^[0-9]+-[^\x00-\x1f\x7f-\x9f]+$")]
    floor: Option<Position<HostId>>,
}

/// Why an item is, or is not, in a timeline through one of its paths.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = PathExplanation)]
struct PathExplanationBody {
    source_id: HostId,
    /// The user follows the source.
    following: bool,
    /// A request of the user to follow the source waits.
    requested: bool,
    /// The user has muted the source.
    muted: bool,
    /// The source hides its content from the user.
    hidden: bool,
    /// The user has blocked the source, or the source the user.
    blocked: bool,
    /// The source is suspended.
    suspended: bool,
    /// The source is a member of an exclusive list of the user.
    in_exclusive_list: bool,
    /// The rule of the follow does not admit the kind of the item.
    ruled_out: bool,
    /// A follow or unfollow of this source is still being applied to the inbox.
    unsettled: bool,
    /// The fan-out of the item on this path has not ended.
    pending: bool,
    /// The inbox has a row for the item on this path, above the floor.
    in_inbox: bool,
    /// A read takes the item from the source's outbox.
    pulled: bool,
}

/// `GET /healthz`: the process is up.
pub(crate) async fn healthz(_: Call) -> Answer {
    reply::ok(&Health { status: "ok" })
}

/// `GET /readyz`: the server accepts requests. It stays ready when the device is full: reads go on, and a restart would
/// not help.
pub(crate) async fn readyz(call: Call) -> Answer {
    if call.api.standbys.has_handed_over() {
        return Err(Code::HandingOver.into());
    }
    if call.api.is_draining() {
        return Err(Code::Stopping.into());
    }
    if call.api.feed().store().needs_restart() {
        return Err(Code::StorageStopped.into());
    }
    if let Some(node) = &call.api.node {
        let health = node.health();
        health.is_ready()?;
        // If all nodes are slow, it helps nobody to take one away. Another node that asks wants this one's word.
        let is_asked_by_another = call.request.headers().contains_key(FORWARDED);
        if health == cluster::Health::Slow && (is_asked_by_another || is_another_ready(&call).await) {
            let detail = "changes and strict reads wait for longer than a second at this node";
            return Err(Problem::new(Code::LogUnavailable, detail));
        }
    }
    reply::ok(&Health { status: "ready" })
}

async fn is_another_ready(call: &Call) -> bool {
    match &call.api.peers {
        Some(peers) => peers.is_another_ready().await,
        None => false,
    }
}

/// `GET /v1/admin/users/{uid}/timeline/verify`
pub(crate) async fn verify(call: Call) -> Answer {
    let user = call.user()?;
    let depth = call.query()?.number("depth", MAX_DEPTH)?.unwrap_or(DEFAULT_DEPTH);
    let id = user.clone();
    let verified = move |feed: &Feed| -> Result<_> {
        let read = feed.read();
        let found = timeline::verify(read, read.find(&id)?, depth)?;
        let ids = read.host_ids(&[&found.missing[..], &found.extra[..]].concat())?;
        Ok((found, ids))
    };
    let (found, ids) = call.run(Wants::Audit, verified).await?;
    reply::ok(&VerificationBody {
        user_id: user,
        exact: found.missing.is_empty() && found.extra.is_empty(),
        compared: found.compared,
        complete: found.complete,
        missing: found.missing.into_iter().map(|entry| ItemId::new(entry, &ids)).collect(),
        extra: found.extra.into_iter().map(|entry| ItemId::new(entry, &ids)).collect(),
    })
}

/// `GET /v1/admin/users/{uid}/timeline/explain?content_id=`
pub(crate) async fn explain(call: Call) -> Answer {
    let user = call.user()?;
    let id: HostId = call.query()?.required("content_id")?;
    let (user_id, content_id) = (user.clone(), id.clone());
    let explained = move |feed: &Feed| -> Result<_> {
        let read = feed.read();
        let found = timeline::explain(read, read.find(&user_id)?, read.find(&content_id)?)?;
        let sources: Vec<_> = found.paths.iter().map(|path| path.source).collect();
        let ids = read.host_ids(&(found.floor, (found.entry, sources)))?;
        Ok((found, ids))
    };
    let (found, ids) = call.run(Wants::Read, explained).await?;
    reply::ok(&ExplanationBody {
        user_id: user,
        content_id: id,
        listed: found.listed,
        reason: found.reason,
        author_id: found.entry.map(|found| ids.of(found.author)),
        published_at: found.entry.map(|found| found.cursor.at),
        muted: found.muted,
        hidden: found.hidden,
        blocked: found.blocked,
        suspended: found.suspended,
        paths: found.paths.into_iter().map(|path| PathExplanationBody::new(path, &ids)).collect(),
        floor: found.floor.map(|place| ids.place(place)),
    })
}

impl PathExplanationBody {
    fn new(path: PathExplanation, ids: &HostIds) -> Self {
        Self {
            source_id: ids.of(path.source),
            following: path.following,
            requested: path.requested,
            muted: path.muted,
            hidden: path.hidden,
            blocked: path.blocked,
            suspended: path.suspended,
            in_exclusive_list: path.in_exclusive_list,
            ruled_out: path.ruled_out,
            unsettled: path.unsettled,
            pending: path.pending,
            in_inbox: path.in_inbox,
            pulled: path.pulled,
        }
    }
}

/// `GET /v1/admin/stats`
pub(crate) async fn stats(call: Call) -> Answer {
    let sample = call.api.sample().await.ok_or(Code::Overloaded)?;
    let (backlog, workers) = (call.api.feed().backlog().usage(), call.api.observed.workers.usage());
    let standbys = call.api.standbys.list(call.api.feed().store())?;
    let tables = sample.store.tables.iter();
    let jobs = Jobs {
        waiting: backlog.places.used,
        limit: backlog.places.limit,
        fan_out: backlog.waiting.fan_out,
        settle: backlog.waiting.settle,
        rebuild: backlog.waiting.rebuild,
        coalesced: backlog.coalesced,
        refused: backlog.refused,
        failures: workers.failures,
    };
    reply::ok(&Stats {
        version: env!("CARGO_PKG_VERSION"),
        jobs,
        pending_items: backlog.pending_items,
        unsettled_pairs: backlog.unsettled_pairs,
        deliveries: workers.deliveries,
        log_bytes: sample.store.log.used,
        standbys: standbys.into_iter().map(StandbyFigures::from).collect(),
        tables: tables.map(|of| (of.table, Figures { rows_estimate: of.rows, bytes: of.bytes })).collect(),
    })
}

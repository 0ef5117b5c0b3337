//! The graph and the first posts, sent to the server.

use hyper::Method;
use hyper::body::Bytes;
use tokio::task::JoinSet;
use tokio::time::sleep;

use super::load::Load;
use super::requests::{Call, Requests};
use crate::cli::remote::calls::Client;
use crate::prelude::*;
use http::Reading;

/// Entries written into inboxes by fan-outs, in the metrics of the server.
pub(super) const DELIVERIES: &str = "tideline_deliveries_total";
/// Jobs running or waiting, by kind.
const JOBS: &str = "tideline_jobs";
/// Most follows, or posts, of one call.
const BATCH: usize = 500;
/// The interval of looks at interruptions and at waiting jobs.
const LOOK_EVERY: Duration = Duration::from_millis(50);
/// The wait before a call that the server had no room for is repeated.
const REST: Duration = Duration::from_millis(200);

/// Sends all follows, then the first posts, and waits until their jobs are done. Fails if interrupted before.
pub(super) async fn prepare(
    client: &Arc<Client>,
    load: &Load,
    requests: &mut Requests,
    history: usize,
    connections: usize,
    interrupt: &Interrupt,
) -> Result<()> {
    let filled = async {
        let follows = load.graph.follows();
        let parts = follows.chunk_by(|one, other| one.0 == other.0).flat_map(|of_user| of_user.chunks(BATCH));
        let calls = parts.map(|part| {
            let ids: Vec<u64> = part.iter().map(|(_, target)| requests.user(*target)).collect();
            let path = format!("/v1/users/{}/following/batch", requests.user(part[0].0));
            (ids.len(), (Method::POST, path, format!(r#"{{"follow":{ids:?}}}"#)))
        });
        let progress = Progress::new("follows", Some(follows.len() as u64), Unit::Count("follows"));
        send(client, calls, connections, progress).await?;
        let begin = now() - history as u64;
        let mut posts = load.history(history).zip(begin..);
        let calls = std::iter::from_fn(|| {
            let part: Vec<_> = posts.by_ref().take(BATCH).map(|(post, at)| requests.post(post, Some(at))).collect();
            let body = format!(r#"{{"items":[{}]}}"#, part.join(","));
            (!part.is_empty()).then(|| (part.len(), (Method::POST, "/v1/content/batch".to_owned(), body)))
        });
        let progress = Progress::new("posts", Some(history as u64), Unit::Count("posts"));
        send(client, calls, connections, progress).await
    };
    tokio::select! {
        filled = filled => filled?,
        () = asked(interrupt) => return Err(Error::Setup("interrupted before the run began".to_owned())),
    }
    drained(client, Duration::MAX, interrupt).await
}

/// The present figures of a server. Waits for a while if it has too much to do.
pub(super) async fn figures(client: &Client) -> Result<Reading> {
    let page = ask(client, (Method::GET, "/metrics".to_owned(), String::new()), client.time_limit).await?;
    let figures = Reading::of(&String::from_utf8_lossy(&page));
    let unknown = || Error::Setup(format!("no Tideline answers at {}", client.url));
    if figures.sum(DELIVERIES).is_nan() { Err(unknown()) } else { Ok(figures) }
}

/// The body of a good answer. While the server has no room for the call, it is repeated, for so long.
async fn ask(client: &Client, (method, path, body): Call, longest: Duration) -> Result<Bytes> {
    let began = Instant::now();
    loop {
        match client.ask(method.clone(), &path, body.clone()).await {
            Err(fault) if fault.is_busy() && began.elapsed() < longest => sleep(REST).await,
            answer => return Ok(answer?),
        }
    }
}

/// Waits until a server has no jobs left, but not longer than `time_limit`, and not after an interruption.
pub(super) async fn drained(client: &Client, time_limit: Duration, interrupt: &Interrupt) -> Result<()> {
    let (begin, progress) = (Instant::now(), Progress::new("deliveries", None, Unit::Count("jobs left")));
    loop {
        let left = jobs(&figures(client).await?);
        if left == 0 || begin.elapsed() >= time_limit || interrupt.was_asked() {
            return Ok(());
        }
        progress.at(left, "");
        sleep(LOOK_EVERY).await;
    }
}

/// The number of jobs running or waiting.
pub(super) fn jobs(figures: &Reading) -> u64 {
    figures.sum(JOBS) as u64
}

/// Ends when an interruption is asked for.
async fn asked(interrupt: &Interrupt) {
    while !interrupt.was_asked() {
        sleep(LOOK_EVERY).await;
    }
}

/// Makes calls, some at once, each with its number of objects. Calls for which the server has no room are repeated.
async fn send(
    client: &Arc<Client>,
    calls: impl Iterator<Item = (usize, Call)>,
    at_once: usize,
    progress: Progress,
) -> Result<()> {
    let (mut calls, mut under_way, mut done) = (calls, JoinSet::new(), 0);
    loop {
        while under_way.len() < at_once
            && let Some((count, call)) = calls.next()
        {
            let client = Arc::clone(client);
            under_way.spawn(async move { ask(&client, call, Duration::MAX).await.map(|_| count) });
        }
        let Some(finished) = under_way.join_next().await else { return Ok(()) };
        done += finished.context("a task failed")??;
        progress.at(done as u64, "");
    }
}

//! The graph and the first posts, sent to a server that runs already.

use std::cell::RefCell;
use std::rc::Rc;
use std::time::{Duration, Instant};

use hyper::Method;
use tokio::task::{JoinSet, LocalSet};
use tokio::time::{sleep, timeout};

use super::client::{Call, Server};
use super::figures::Figures;
use super::requests::Requests;
use crate::cli::terminal::interrupt::Interrupt;
use crate::cli::terminal::progress::{Progress, Unit};
use crate::trace::Load;
use model::clock::now;
use model::error::{Error, Result};

/// Most follows, or posts, of one call.
const BATCH: usize = 500;
/// The interval of looks at interruptions.
const LOOK_UP_EVERY: Duration = Duration::from_millis(200);
/// The interval of looks at waiting jobs.
const LOOK_EVERY: Duration = Duration::from_millis(50);

/// Sends all follows, then the first posts, and waits until their jobs are done.
pub(super) async fn prepare(
    server: &Rc<Server>,
    load: &Load,
    requests: &Rc<RefCell<Requests>>,
    history: usize,
    connections: usize,
    interrupt: &Interrupt,
) -> Result<()> {
    let graph = load.graph();
    let follows = (0..graph.users()).flat_map(|user| graph.following(user).chunks(BATCH).map(move |part| (user, part)));
    let follows = follows.map(|(user, part)| {
        let requests = requests.borrow();
        let ids: Vec<u64> = part.iter().map(|target| requests.user(*target)).collect();
        let path = format!("/v1/users/{}/following/batch", requests.user(user));
        (ids.len(), Call::new(Method::POST, path, format!(r#"{{"follow":{ids:?}}}"#)))
    });
    let progress = Progress::new("follows", Some(graph.edges() as u64), Unit::Count("follows"));
    LocalSet::new().run_until(send(server, follows, connections, progress, interrupt)).await?;
    let begin = now() - history as u64;
    let mut posts = load.history(history).zip(begin..).peekable();
    let calls = std::iter::from_fn(|| {
        posts.peek()?;
        let mut requests = requests.borrow_mut();
        let part: Vec<_> = posts.by_ref().take(BATCH).map(|(post, at)| requests.post(post, Some(at))).collect();
        let body = format!(r#"{{"items":[{}]}}"#, part.join(","));
        Some((part.len(), Call::new(Method::POST, "/v1/content/batch", body)))
    });
    let progress = Progress::new("posts", Some(history as u64), Unit::Count("posts"));
    LocalSet::new().run_until(send(server, calls, connections, progress, interrupt)).await?;
    drained(server, Duration::MAX, interrupt).await?;
    stop_if_asked(interrupt)
}

/// The present figures of a server. Waits for a while if it has too much to do.
pub(super) async fn figures(server: &Server) -> Result<Figures> {
    let page = server.ask(Call::get("/metrics"), server.patience).await?;
    Figures::read(&page).ok_or_else(|| Error::Setup(format!("no Tideline answers at {}", server.url)))
}

/// Waits until a server has no jobs left, but not longer than `patience`, and not after an interruption.
pub(super) async fn drained(server: &Server, patience: Duration, interrupt: &Interrupt) -> Result<()> {
    let (begin, progress) = (Instant::now(), Progress::new("deliveries", None, Unit::Count("jobs left")));
    loop {
        let left = figures(server).await?.jobs();
        if left == 0 || begin.elapsed() >= patience || interrupt.was_asked() {
            return Ok(());
        }
        progress.at(left, "");
        sleep(LOOK_EVERY).await;
    }
}

fn stop_if_asked(interrupt: &Interrupt) -> Result<()> {
    if interrupt.was_asked() {
        return Err(Error::Setup("interrupted before the run began".to_owned()));
    }
    Ok(())
}

/// Makes calls, some at once, each with its number of objects. Calls for which the server has no room are repeated.
async fn send(
    server: &Rc<Server>,
    calls: impl Iterator<Item = (usize, Call)>,
    at_once: usize,
    progress: Progress,
    interrupt: &Interrupt,
) -> Result<()> {
    let (mut calls, mut under_way, mut done) = (calls, JoinSet::new(), 0);
    loop {
        while under_way.len() < at_once
            && let Some((count, call)) = calls.next()
        {
            let server = Rc::clone(server);
            under_way.spawn_local(async move { server.ask(call, Duration::MAX).await.map(|_| count) });
        }
        stop_if_asked(interrupt)?;
        // Looks up now and then, also while the server has no room for anything.
        let Ok(finished) = timeout(LOOK_UP_EVERY, under_way.join_next()).await else { continue };
        let Some(finished) = finished else { return Ok(()) };
        done += finished.map_err(|e| Error::Setup(format!("a task failed: {e}")))??;
        progress.at(done as u64, "");
    }
}

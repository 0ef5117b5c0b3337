//! Sends the feed of changes to one receiver: one request at a time, each until it is taken.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use backon::{BackoffBuilder, ExponentialBuilder};
use hyper::body::Bytes;
use serde::Serialize;
use tokio::sync::watch;
use tokio::time::sleep;

use super::client::{Receiver, Refused};
use crate::api::Api;
use crate::changes::change::Change;
use crate::figures::webhooks::WebhookFigures;
use crate::limits::Holder;
use crate::pools::Wants;
use crate::wire::problem::Problem;
use crate::wire::reply;
use config::{Webhook, WebhookSecret};
use feed::{ChangePosition, ChangesAfter, Feed, ReceiverStart, events};
use model::error::{Code, Error, Result};
use model::{EffectKind, Millis};

/// Most changes of one request.
const MOST: usize = 100;
/// The pauses between requests that fail: the first, and the longest. A receiver may ask for a longer one, up to a bound.
const FIRST_PAUSE: Duration = Duration::from_secs(1);
const LONGEST_PAUSE: Duration = Duration::from_secs(300);
const LONGEST_ASKED: Duration = Duration::from_secs(3600);
/// The pause after a fault of this server.
const PAUSE: Duration = Duration::from_secs(5);
/// Positions of passed changes of other kinds are kept no more often than after so many.
const KEEP_EVERY: u64 = 10_000;

/// The sender of one receiver.
pub(super) struct Sender {
    api: Arc<Api>,
    hook: Webhook,
    /// The position up to which the receiver has taken changes, or changes are not for it.
    at: ChangePosition,
    kinds: Arc<[EffectKind]>,
    figures: Arc<WebhookFigures>,
    receiver: Receiver,
    /// Whether the position is on disk.
    is_kept: bool,
    /// Those of the last time that the file could be read; empty before the first one.
    secrets: Vec<WebhookSecret>,
    news: watch::Receiver<u64>,
}

/// Changes for one request.
struct Batch {
    /// Empty if there are none.
    body: Bytes,
    changes: u64,
    /// The time of the first one.
    since: Option<Millis>,
    /// The same for the same changes alone, because receivers leave out what they know by it.
    id: String,
    /// The position behind them.
    end: ChangePosition,
}

/// The body of a request.
#[derive(Serialize)]
struct Items<'a> {
    items: Vec<Change<'a>>,
}

impl Sender {
    pub(super) fn new(api: &Arc<Api>, hook: &Webhook, figures: &Arc<WebhookFigures>) -> Result<Self> {
        let wrong = |e| Error::Setup(format!("configuration: webhooks.{}.after: {e}, newest or oldest", hook.name));
        let start = hook.after.parse().map_err(wrong)?;
        let ReceiverStart { at, is_new, missed } = events::begin_receiver(api.feed(), &hook.name.to_string(), start)?;
        if let Some(why) = missed {
            figures.gaps.fetch_add(1, Ordering::Relaxed);
            tracing::error!(webhook = %hook.name, %why,
                "a webhook cannot begin where its settings say; it begins with the oldest change that is kept");
        }
        figures.state.lock().position = Some(at.to_string());
        Ok(Self {
            at,
            api: Arc::clone(api),
            hook: hook.clone(),
            kinds: hook.types.iter().map(|kind| kind.0).collect(),
            figures: Arc::clone(figures),
            receiver: Receiver::new(hook)?,
            is_kept: !is_new,
            // Without them it fails until the file can be read: a receiver never keeps the server from serving.
            secrets: hook.secrets().unwrap_or_else(|error| {
                tracing::error!(webhook = %hook.name, %error, "the secrets of a webhook cannot be read");
                Vec::new()
            }),
            news: api.end.subscribe(),
        })
    }

    /// Sends until the task ends.
    pub(super) async fn run(mut self) {
        if !self.is_kept {
            self.catch_up().await;
            self.keep(self.at).await;
        }
        let mut kept = self.at;
        loop {
            self.news.borrow_and_update();
            let batch = self.next().await;
            let passed = batch.end != self.at;
            if batch.changes > 0 || !passed {
                self.figures.state.lock().waiting_since = batch.since;
            }
            if batch.changes > 0 {
                self.deliver(&batch).await;
                self.figures.take(batch.changes);
            }
            self.at = batch.end;
            self.figures.state.lock().position = Some(batch.end.to_string());
            if batch.changes > 0 || batch.end.is_beyond(kept, KEEP_EVERY) {
                self.keep(batch.end).await;
                kept = batch.end;
            }
            if !passed && self.news.changed().await.is_err() {
                return;
            }
        }
    }

    /// On a node of a cluster, the position may be in the part of the command log that was not applied at the start.
    async fn catch_up(&mut self) {
        let Some(node) = self.api.node.clone() else { return };
        while node.barrier().await.is_err() {
            sleep(PAUSE).await;
        }
        loop {
            let (name, start) = (self.hook.name.to_string(), ChangesAfter::Receiver(self.at.number()));
            match self
                .api
                .run(Holder::Application, Wants::Read, move |feed| events::begin_receiver(feed, &name, start))
                .await
            {
                Ok(found) => {
                    self.at = found.at;
                    return;
                }
                Err(problem) => self.complain("the position of a webhook cannot be read", &problem).await,
            }
        }
    }

    /// Keeps the position on disk.
    async fn keep(&self, position: ChangePosition) {
        loop {
            let name = self.hook.name.to_string();
            let kept = self
                .api
                .run(Holder::Application, Wants::Change, move |feed| events::keep_receiver(feed, &name, position))
                .await;
            let Err(problem) = kept else { return };
            self.complain("the position of a webhook cannot be kept", &problem).await;
        }
    }

    /// The next changes, once they can be read. If those at the position are gone, the oldest that are kept.
    async fn next(&self) -> Batch {
        let mut from = ChangesAfter::Receiver(self.at.number());
        loop {
            let kinds = Arc::clone(&self.kinds);
            match self.api.run(Holder::Application, Wants::Read, move |feed| read(feed, from, &kinds)).await {
                Ok(batch) => return batch,
                Err(problem) if problem.code() == Code::ChangesGone && from != ChangesAfter::Oldest => {
                    self.figures.gaps.fetch_add(1, Ordering::Relaxed);
                    tracing::error!(
                        webhook = %self.hook.name,
                        "changes that were not sent yet are gone (changes.keep, changes.limit); the webhook goes on with \
                         the oldest change that is kept"
                    );
                    from = ChangesAfter::Oldest;
                }
                Err(problem) => self.complain("changes for a webhook cannot be read", &problem).await,
            }
        }
    }

    /// Sends a batch until the receiver takes it.
    async fn deliver(&mut self, batch: &Batch) {
        let mut pauses = ExponentialBuilder::default()
            .with_min_delay(FIRST_PAUSE)
            .with_max_delay(LONGEST_PAUSE)
            .without_max_times()
            .with_jitter()
            .build();
        let mut failures = 0_u64;
        loop {
            let sent = match self.read_secrets().await {
                Ok(()) => self.receiver.send(&batch.id, batch.body.clone(), &self.secrets).await,
                Err(why) => Err(Refused::from(why)),
            };
            let Err(Refused { why, retry_after }) = sent else { break };
            let asked = retry_after.unwrap_or_default().min(LONGEST_ASKED);
            let pause = pauses.next().unwrap_or(LONGEST_PAUSE).min(LONGEST_PAUSE).max(asked);
            self.figures.fail(&why, u64::try_from(pause.as_millis()).unwrap_or_default());
            if failures == 0 {
                tracing::warn!(webhook = %self.hook.name, url = self.figures.url, why, "a webhook fails; it is repeated");
            }
            failures += 1;
            sleep(pause).await;
        }
        if failures > 0 {
            tracing::info!(webhook = %self.hook.name, failures, "the webhook is taken again");
        }
    }

    /// Reads the secrets again; keeps the last ones if that fails. Fails if there are none yet: nothing goes without a
    /// signature.
    async fn read_secrets(&mut self) -> Result<(), String> {
        let hook = self.hook.clone();
        let why = match self.api.run_admitted(Wants::Read, move || hook.secrets()).await {
            Ok(Ok(secrets)) => {
                self.secrets = secrets;
                return Ok(());
            }
            Ok(Err(error)) => error.to_string(),
            Err(problem) => problem.to_string(),
        };
        if self.secrets.is_empty() {
            return Err(why);
        }
        tracing::warn!(why, "the last secrets of a webhook are used on");
        Ok(())
    }

    async fn complain(&self, what: &str, problem: &Problem) {
        tracing::warn!(webhook = %self.hook.name, why = %problem, "{what}; the next attempt follows");
        self.figures.fail(what, u64::try_from(PAUSE.as_millis()).unwrap_or_default());
        sleep(PAUSE).await;
    }
}

/// The changes behind a place.
fn read(feed: &Feed, after: ChangesAfter, kinds: &[EffectKind]) -> Result<Batch, Problem> {
    let read = feed.read();
    let (page, ids) = read.named(events::changes(read, after, MOST, kinds)?)?;
    let items: Vec<_> = page.changes.iter().map(|changed| Change::new(&page, changed, &ids)).collect();
    let ends = items.first().zip(items.last()).map(|(first, last)| (first.position.clone(), last.position.clone()));
    let id = ends.map(|(first, last)| format!("{first}_{last}")).unwrap_or_default();
    let (changes, since) = (items.len() as u64, page.changes.first().map(|changed| changed.at));
    Ok(Batch { body: reply::encode(&Items { items })?.into(), changes, since, id, end: page.end })
}

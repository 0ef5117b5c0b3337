//! Sends the feed of changes to one receiver: one request at a time, each until it is taken.

use std::time::Duration;

use backon::{BackoffBuilder, ExponentialBuilder};
use hyper::body::Bytes;
use parking_lot::Mutex;
use tokio::sync::watch;
use tokio::time::sleep;

use super::client::{Receiver, Refused};
use crate::changes::change::Change;
use crate::figures::webhooks::WebhookState;
use crate::prelude::*;
use crate::wire::reply::Items;
use config::{Webhook, WebhookSecret};
use feed::events::{self, ChangePosition, ChangesAfter, ReceiverStart};
use model::EffectKind;

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
    figures: Arc<Mutex<WebhookState>>,
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

impl Sender {
    pub(super) fn new(api: &Arc<Api>, hook: &Webhook, figures: &Arc<Mutex<WebhookState>>) -> Result<Self> {
        let wrong = |e| Error::Setup(format!("configuration: webhooks.{}.after: {e}, newest or oldest", hook.name));
        let start = hook.after.parse().map_err(wrong)?;
        let ReceiverStart { at, is_new, missed } = events::begin_receiver(api.feed(), &hook.name.to_string(), start)?;
        if let Some(why) = missed {
            figures.lock().gaps += 1;
            tracing::error!(webhook = %hook.name, cause = %why,
                "a webhook cannot begin where its settings say; it begins with the oldest change that is kept");
        }
        figures.lock().position = Some(at.to_string());
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
                self.figures.lock().waiting_since = batch.since;
            }
            if batch.changes > 0 {
                self.deliver(&batch).await;
                self.figures.lock().take(batch.changes);
            }
            self.at = batch.end;
            self.figures.lock().position = Some(batch.end.to_string());
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
        while node.read_index().await.is_err() {
            sleep(PAUSE).await;
        }
        let (name, start) = (self.hook.name.to_string(), ChangesAfter::Receiver(self.at.number()));
        let begin = move |feed: &Feed| events::begin_receiver(feed, &name, start);
        self.at = self.until_done("the position of a webhook cannot be read", Wants::Read, begin).await.at;
    }

    /// Keeps the position on disk.
    async fn keep(&self, position: ChangePosition) {
        let name = self.hook.name.to_string();
        let keep = move |feed: &Feed| events::keep_receiver(feed, &name, position);
        self.until_done("the position of a webhook cannot be kept", Wants::Change, keep).await;
    }

    /// The next changes, once they can be read. If those at the position are gone, the oldest that are kept.
    async fn next(&self) -> Batch {
        let mut from = ChangesAfter::Receiver(self.at.number());
        loop {
            let kinds = Arc::clone(&self.kinds);
            let look = move |feed: &Feed| match read(feed, from, &kinds) {
                Err(problem) if problem.code() == Some(Code::ChangesGone) && from != ChangesAfter::Oldest => Ok(None),
                batch => batch.map(Some),
            };
            if let Some(batch) = self.until_done("changes for a webhook cannot be read", Wants::Read, look).await {
                return batch;
            }
            self.figures.lock().gaps += 1;
            tracing::error!(
                webhook = %self.hook.name,
                "changes that were not sent yet are gone (changes.keep, changes.limit); the webhook goes on with \
                 the oldest change that is kept"
            );
            from = ChangesAfter::Oldest;
        }
    }

    /// Does work on a thread that may block, again until it succeeds. `failure` says what it means if it does not.
    async fn until_done<T: Send + 'static>(
        &self,
        failure: &str,
        wants: Wants,
        work: impl Fn(&Feed) -> Result<T> + Clone + Send + 'static,
    ) -> T {
        loop {
            match self.api.run(Holder::Application, wants, work.clone()).await {
                Ok(done) => return done,
                Err(problem) => {
                    tracing::warn!(webhook = %self.hook.name, error = %problem, "{failure}; the next attempt follows");
                    self.figures.lock().fail(failure, PAUSE);
                    sleep(PAUSE).await;
                }
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
            self.figures.lock().fail(&why, pause);
            if failures == 0 {
                tracing::warn!(webhook = %self.hook.name, url = self.figures.lock().url.clone(), cause = why, "a webhook fails; it is repeated");
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
        let read = self.api.pools.run(Wants::Read, move || hook.secrets().map_err(|e| e.to_string())).await;
        match read.map_err(|e| e.to_string()).flatten() {
            Ok(secrets) => self.secrets = secrets,
            Err(why) if self.secrets.is_empty() => return Err(why),
            Err(why) => tracing::warn!(cause = why, "the last secrets of a webhook are used on"),
        }
        Ok(())
    }
}

/// The changes behind a place.
fn read(feed: &Feed, after: ChangesAfter, kinds: &[EffectKind]) -> Result<Batch> {
    let read = feed.read();
    let (page, ids) = read.named(events::changes(read, after, MOST, kinds)?)?;
    let items: Vec<_> = page.changes.iter().map(|changed| Change::new(&page, changed, &ids)).collect();
    let ends = items.first().zip(items.last()).map(|(first, last)| (first.position.clone(), last.position.clone()));
    let id = ends.map(|(first, last)| format!("{first}_{last}")).unwrap_or_default();
    let (changes, since) = (items.len() as u64, page.changes.first().map(|changed| changed.at));
    Ok(Batch { body: reply::encode(&Items { items })?.into(), changes, since, id, end: page.end })
}

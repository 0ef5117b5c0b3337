//! A request while a handler processes it.

mod answers;
pub(crate) mod pieces;
mod show;

use std::borrow::Cow;
use std::cell::OnceCell;
use std::future::Future;
use std::ops::Deref;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use actix_web::HttpRequest;
use actix_web::http::header::{CONTENT_LENGTH, TRANSFER_ENCODING};
use serde::de::DeserializeOwned;
use tokio::sync::oneshot;

use self::answers::Answers;
use super::api::Api;
use super::kind::Kind;
use super::pools::Wants;
use crate::connections::attend::Upload;
use crate::guards::auth::{Caller, Who};
use crate::limits::{ChangePlace, Limits};
use crate::nodes::consistency;
use crate::wire::body::{self, Body, Since, WholeBody};
use crate::wire::problem::Problem;
use crate::wire::query;
use feed::{Change, Feed, OnDone, Read, Visibility, answered_at, ids, reactions};
use model::error::{Code, Error, Result};
use model::store::Tier;
use model::{HostId, Id, InvalidId, Millis, ReactionKind, Time, UserId, is_topic};

/// A large body waits for its turn at most this fraction of the request's timeout.
const PART_FOR_TURN: u32 = 3;

/// The API, as the requests of one thread share it. They count their references alone: threads that count together delay
/// each other.
pub(super) struct ThreadApi {
    api: Arc<Api>,
    answers: OnceCell<Arc<Answers>>,
}

impl ThreadApi {
    pub(super) fn new(api: &Arc<Api>) -> Rc<Self> {
        Rc::new(Self { api: Arc::clone(api), answers: OnceCell::new() })
    }
}

impl Deref for ThreadApi {
    type Target = Arc<Api>;
    fn deref(&self) -> &Arc<Api> {
        &self.api
    }
}

/// A request, with the state needed to answer it.
pub(super) struct Call {
    pub(super) request: HttpRequest,
    pub(super) api: Rc<ThreadApi>,
    /// The sender, whose credentials allow the call.
    pub(super) caller: Caller,
    pub(super) kind: Kind,
    upload: Option<Upload>,
    started: Instant,
}

impl Call {
    pub(super) fn new(api: Rc<ThreadApi>, kind: Kind, request: HttpRequest, caller: Caller, started: Instant) -> Self {
        let upload = Upload::of(&request);
        Self { request, api, caller, kind, upload, started }
    }

    /// The user named in the path as `{uid}`. A token that names another one does not learn which names exist.
    pub(super) fn user(&self) -> Result<HostId, Problem> {
        let named = self.id("uid")?;
        if let Who::User { id, .. } = &self.caller.who {
            ids::may_name(self.api.feed(), id, [&named], self.sight())?;
        }
        Ok(named)
    }

    /// Who sees the answer: the user of a token, or the viewer for whom a key asks; `None` for the application, which sees
    /// all that is live.
    pub(super) fn viewer(&self, asked: Option<HostId>) -> Option<HostId> {
        match &self.caller.who {
            Who::User { id, .. } => Some(id.clone()),
            Who::Anyone | Who::Key(..) => asked,
        }
    }

    /// The items that exist for the caller.
    pub(super) fn sight(&self) -> Visibility {
        match self.caller.who {
            Who::User { .. } => Visibility::User,
            Who::Anyone | Who::Key(..) => Visibility::Application,
        }
    }

    /// The time that the sender gives for a follow or a reaction; `None` for now. A user acts now: another time would
    /// move the user in the lists of others.
    pub(super) fn since(&self, Since { since }: Since) -> Result<Option<Millis>, Problem> {
        match (self.sight(), since) {
            (Visibility::User, Some(_)) => Err(Problem::new(Code::NotPermitted, "since: only a key may give a time")),
            (_, since) => Ok(since.map(|Time(since)| since)),
        }
    }

    /// The user named in the path as `{target}`.
    pub(super) fn target(&self) -> Result<HostId, Problem> {
        self.id("target")
    }

    /// The source named in the path as `{source}`.
    pub(super) fn source(&self) -> Result<HostId, Problem> {
        self.id("source")
    }

    /// The item named in the path as `{content_id}`.
    pub(super) fn content_id(&self) -> Result<HostId, Problem> {
        self.id("content_id")
    }

    /// The kind of reaction named in the path as `{kind}`.
    pub(super) fn reaction(&self) -> Result<ReactionKind, Problem> {
        let sent = self.segment("kind");
        let name = query::text(sent).ok_or_else(|| {
            Problem::new(
                Code::InvalidKind,
                format_args!("kind: expected a name, percent-encoded as UTF-8, not \"{sent}\""),
            )
        })?;
        Ok(reactions::kind(self.api.feed(), &name)?)
    }

    /// The topic named in the path as `{topic}`.
    pub(super) fn topic(&self) -> Result<String, Problem> {
        let sent = self.segment("topic");
        query::text(sent).filter(|topic| is_topic(topic)).map(Cow::into_owned).ok_or_else(|| {
            Problem::new(
                Code::InvalidTopic,
                format_args!("topic: expected 1 to 64 characters, percent-encoded as UTF-8, not \"{sent}\""),
            )
        })
    }

    /// The name of a list in the path, as `{list}`.
    pub(super) fn list(&self) -> Result<String, Problem> {
        let sent = self.segment("list");
        query::text(sent).filter(|name| is_topic(name)).map(Cow::into_owned).ok_or_else(|| {
            Problem::new(
                Code::InvalidList,
                format_args!("list: expected 1 to 64 characters, percent-encoded as UTF-8, not \"{sent}\""),
            )
        })
    }

    /// The user or the item named in the path by this parameter.
    pub(super) fn id(&self, name: &str) -> Result<HostId, Problem> {
        let sent = self.segment(name);
        let id = query::text(sent).ok_or(InvalidId).and_then(|text| text.parse());
        id.map_err(|e| Problem::new(Code::InvalidId, format_args!("{name}: {e}, not \"{sent}\"")))
    }

    /// A parameter of the path that may be any text.
    pub(super) fn part(&self, name: &str) -> String {
        query::text(self.segment(name)).unwrap_or_default().into_owned()
    }

    /// A parameter of the path as it was sent. The HTTP server decodes only some of the escapes.
    fn segment(&self, name: &str) -> &str {
        let is_it = |part: &str| part.strip_prefix('{').and_then(|part| part.strip_suffix('}')) == Some(name);
        let place = self.kind.pattern.split('/').position(is_it);
        place.and_then(|place| self.request.uri().path().split('/').nth(place)).unwrap_or_default()
    }

    /// The values of the query parameters `names`, in that order. Refuses any other parameter, but for the one that all
    /// reads take.
    pub(super) fn query<const N: usize>(&self, names: [&'static str; N]) -> Result<[Option<Cow<'_, str>>; N], Problem> {
        let also = self.kind.shares.then_some(query::CONSISTENCY);
        let (values, asked) = query::parse(self.request.query_string(), names, also)?;
        if self.kind.shares {
            consistency::check(&self.request, asked.as_deref())?;
        }
        Ok(values)
    }

    /// Refuses all query parameters.
    pub(super) fn no_query(&self) -> Result<(), Problem> {
        self.query([]).map(|[]| ())
    }

    /// Reads the body, at most `limit` bytes. Refuses a body announced as another type than plain JSON.
    pub(super) async fn body(&mut self, limit: usize) -> Result<Body, Problem> {
        let headers = self.request.headers();
        let length = headers.get(CONTENT_LENGTH).and_then(|value| value.to_str().ok()?.parse().ok());
        if length.is_some_and(|length: usize| length > limit) {
            return Err(Problem::body_too_large("the body", limit));
        }
        // Without both there is no body, whatever other protocol the client offers to speak.
        let announced = if headers.contains_key(TRANSFER_ENCODING) { None } else { Some(length.unwrap_or(0)) };
        if announced != Some(0) {
            body::check_type(&self.request)?;
        }
        // A body that cannot exceed a single change counts as a small body, for every call.
        let Limits { bodies, batches, .. } = &*self.api.limits;
        let most = length.unwrap_or(limit);
        let memory = if most <= self.api.limits.body_limit { bodies } else { batches };
        let upload = self.upload.take().unwrap_or_default();
        // The body is not read meanwhile, so its sender waits too. Time must be left for the rest.
        let turn = self.api.limits.turn(self.caller.holder, most, self.api.limits.timeout / PART_FOR_TURN).await;
        let memory = memory.none(self.caller.holder);
        self.in_time_or(Code::BodyTimeout, Body::read(upload, limit, announced, memory, turn)).await?
    }

    /// Reads the body of a single change, as a JSON object.
    pub(super) async fn json<T: DeserializeOwned + Send + 'static>(&mut self) -> Result<T, Problem> {
        let body = self.body(self.api.limits.body_limit).await?;
        self.parsed(body, |body| body.json()).await
    }

    /// Reads the body of a single change that needs none, as a JSON object.
    pub(super) async fn json_or_default<T: DeserializeOwned + Default + Send + 'static>(
        &mut self,
    ) -> Result<T, Problem> {
        let body = self.body(self.api.limits.body_limit).await?;
        self.parsed(body, |body| body.json_or_default()).await
    }

    /// Reads the body of a batch of changes, as a JSON object.
    pub(super) async fn json_of_batch<T: DeserializeOwned + Send + 'static>(&mut self) -> Result<T, Problem> {
        let body = self.body(self.api.limits.batch_limit).await?;
        self.parsed(body, |body| body.json()).await
    }

    /// A body as `parse` reads it. A large one is parsed on a thread that may block.
    async fn parsed<T: Send + 'static>(
        &self,
        body: Body,
        parse: fn(&WholeBody) -> Result<T, Problem>,
    ) -> Result<T, Problem> {
        if body.is_small() { parse(&body.whole()) } else { self.run(Wants::Read, move |_| parse(&body.whole())).await }
    }

    /// Reads from memory at once, or from the disk on a thread that may block.
    pub(super) async fn read<T: Send + 'static>(
        &self,
        look: impl Fn(Read<'_>) -> Result<T> + Send + 'static,
    ) -> Result<T, Problem> {
        match look(self.api.feed().read().within(Tier::Memory)) {
            // Boxed: the future of a read from memory is then small, and is moved several times.
            Err(Error::NotCached) => Box::pin(self.run(Wants::Read, move |feed| look(feed.read()))).await,
            seen => Ok(seen?),
        }
    }

    /// Reads as [`Call::read`] does, for the answer to a change that is made: no limit refuses it.
    pub(super) async fn read_in_any_case<T: Send + 'static>(
        &self,
        look: impl Fn(Read<'_>) -> Result<T> + Send + 'static,
    ) -> Result<T, Problem> {
        match look(self.api.feed().read().within(Tier::Memory)) {
            Err(Error::NotCached) => {
                let api = Arc::clone(&self.api);
                let read = self.api.run_admitted(Wants::Change, move || look(api.feed().read()));
                Ok(Box::pin(self.in_time(read)).await???)
            }
            seen => Ok(seen?),
        }
    }

    /// Reads what a user or an item has, by its id in the store.
    pub(crate) async fn read_of<I: Id, T: Send + 'static>(
        &self,
        id: &HostId,
        look: impl Fn(Read<'_>, I) -> Result<T> + Send + 'static,
    ) -> Result<T, Problem> {
        let id = id.clone();
        self.read(move |read| look(read, read.find(&id)?)).await
    }

    /// The id in the store of a user. A name that has no number gets one.
    pub(crate) async fn find_or_give(&self, user: &HostId) -> Result<UserId, Problem> {
        match self.read_of(user, |_, found| Ok(found)).await? {
            UserId::UNKNOWN => {
                let user = user.clone();
                self.run(Wants::Change, move |feed| ids::give(feed, &user)).await
            }
            found => Ok(found),
        }
    }

    /// Runs `work` on a thread that may block, and waits for it until the request times out.
    pub(super) async fn run<T, E>(
        &self,
        wants: Wants,
        work: impl FnOnce(&Feed) -> Result<T, E> + Send + 'static,
    ) -> Result<T, Problem>
    where
        T: Send + 'static,
        E: Into<Problem> + Send + 'static,
    {
        // Work that begins late, or waits, must not outlive the answer where that matters.
        let due = Some(self.due());
        self.in_time(self.api.run(self.caller.holder, wants, move |feed: &Feed| answered_at(due, || work(feed))))
            .await?
    }

    /// Hands over a change to the thread that makes changes, and waits for the result without a thread, but to read what is on
    /// the disk before. `place` is that of this request among changes.
    pub(super) async fn ask<C: Change + Send + 'static, R: Send + 'static>(
        &self,
        place: ChangePlace,
        mut change: C,
        ask: impl FnOnce(&Feed, C, OnDone<R>) -> Result<()>,
    ) -> Result<R, Problem> {
        if let Err(Error::NotCached) = change.warm(self.api.feed().read().within(Tier::Memory)) {
            let warmed = self.run(Wants::Read, move |feed| {
                // The change itself tells what is wrong.
                let _ = change.warm(feed.read());
                Ok::<_, Problem>(change)
            });
            change = Box::pin(warmed).await?;
        }
        let (tell, told) = oneshot::channel();
        let answers = Arc::clone(self.api.answers.get_or_init(Answers::of_this_thread));
        let tell = Box::new(move |result| {
            answers.give(move || {
                drop(place);
                // A caller that is gone needs no answer.
                let _ = tell.send(result);
            });
        });
        answered_at(Some(self.due()), || ask(self.api.feed(), change, tell))?;
        let told = self.in_time(told).await?;
        Ok(told.map_err(|_| Problem::internal("a change ended without a result"))??)
    }

    /// When the sender has an answer.
    fn due(&self) -> Instant {
        self.started + self.api.limits.timeout
    }

    /// Waits for `work` until the request times out.
    pub(super) async fn in_time<F: Future>(&self, work: F) -> Result<F::Output, Problem> {
        self.in_time_or(Code::Timeout, work).await
    }

    async fn in_time_or<F: Future>(&self, late: Code, work: F) -> Result<F::Output, Problem> {
        let left: Duration = self.api.limits.timeout.saturating_sub(self.started.elapsed());
        tokio::time::timeout(left, work).await.map_err(|_| {
            self.api.limits.timed_out.fetch_add(1, Ordering::Relaxed);
            late.into()
        })
    }
}

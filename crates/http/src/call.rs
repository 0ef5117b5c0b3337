//! A request while a handler processes it.

mod answers;
mod large_answers;
pub(crate) mod pieces;

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
use super::pools::Wants;
use super::route_info::{BodyKind, RouteInfo};
use crate::connections::serve::Upload;
use crate::guards::auth::{ACCESS_TOKEN, Caller, Who};
use crate::limits::Limits;
use crate::nodes::consistency::{self, Wanted};
use crate::wire::body::{self, Body, Nothing};
use crate::wire::problem::body_too_large;
use crate::wire::query::{self, CONSISTENCY, Query};
use feed::{Change, Feed, Read, Visibility, answered_at, ids};
use kv::Tier;
use model::error::{Code, Error, Result};
use model::{ExternalId, Id, InvalidId, Millis, Time, UserId, is_topic};

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
    pub(super) info: &'static RouteInfo,
    pub(super) upload: Option<Upload>,
    pub(super) started: Instant,
}

impl Call {
    /// The user named in the path as `{uid}`. A token that names another one does not learn which names exist.
    pub(super) fn user(&self) -> Result<ExternalId> {
        let named = self.id("uid")?;
        if let Who::User { id, .. } = &self.caller.who {
            ids::may_name(self.api.feed(), id, [&named], self.visibility())?;
        }
        Ok(named)
    }

    /// Another user named in the path, beside `{uid}`. A token does not learn which names exist.
    pub(super) fn other(&self, slot: &str) -> Result<ExternalId> {
        let (user, other) = (self.user()?, self.id(slot)?);
        ids::may_name(self.api.feed(), &user, [&other], self.visibility())?;
        Ok(other)
    }

    /// The reader of the answer: the user of a token, or the viewer for whom a key asks; `None` for the application, which sees
    /// all that is live.
    pub(super) fn viewer(&self, asked: Option<ExternalId>) -> Option<ExternalId> {
        match &self.caller.who {
            Who::User { id, .. } => Some(id.clone()),
            Who::Anyone | Who::Key(..) => asked,
        }
    }

    /// The items that exist for the caller.
    pub(super) fn visibility(&self) -> Visibility {
        match self.caller.who {
            Who::User { .. } => Visibility::User,
            Who::Anyone | Who::Key(..) => Visibility::Application,
        }
    }

    /// The time that the sender gives for a follow or a reaction; `None` for now. A user acts now: another time would
    /// move the user in the lists of others.
    pub(super) fn since(&self, since: Option<Time>) -> Result<Option<Millis>> {
        match (self.visibility(), since) {
            (Visibility::User, Some(_)) => Err(Error::refused(Code::NotPermitted, "since: only a key may give a time")),
            (_, since) => Ok(since.map(|Time(since)| since)),
        }
    }

    /// The topic, or the name of a list, in the path.
    pub(super) fn label(&self, name: &str, wrong: Code) -> Result<String> {
        let sent = self.segment(name);
        query::text(sent).filter(|text| is_topic(text)).map(Cow::into_owned).ok_or_else(|| {
            let expected = "expected 1 to 64 characters, percent-encoded as UTF-8";
            Error::refused(wrong, format_args!("{name}: {expected}, not \"{sent}\""))
        })
    }

    /// The user or the item named in the path by this parameter.
    pub(super) fn id(&self, name: &str) -> Result<ExternalId> {
        let sent = self.segment(name);
        let id = query::text(sent).ok_or(InvalidId).and_then(|text| text.parse());
        id.map_err(|e| Error::refused(Code::InvalidId, format_args!("{name}: {e}, not \"{sent}\"")))
    }

    /// A parameter of the path that may be any text.
    pub(super) fn part(&self, name: &str) -> String {
        query::text(self.segment(name)).unwrap_or_default().into_owned()
    }

    /// A parameter of the path as it was sent. The HTTP server decodes only some of the escapes.
    pub(super) fn segment(&self, name: &str) -> &str {
        let place = self.info.segment(name);
        place.and_then(|place| self.request.uri().path().split('/').nth(place)).unwrap_or_default()
    }

    /// The query. Refuses parameters that the call does not have, and a wrong consistency.
    pub(super) fn query(&self) -> Result<Query<'_>> {
        let shares = self.info.reads_shared();
        let also = |name: &str| match name {
            CONSISTENCY => shares,
            ACCESS_TOKEN => self.info.permit.in_query,
            _ => false,
        };
        let query = Query::parse(self.request.query_string(), &self.info.query, also, self.api.config())?;
        if shares {
            self.wanted()?;
        }
        Ok(query)
    }

    /// The changes that a read must have, by its consistency. Refuses a wrong one.
    pub(super) fn wanted(&self) -> Result<Wanted> {
        consistency::of(&self.request, self.api.config().cluster.consistency)
    }

    /// Reads the body. Refuses one announced as another type than plain JSON.
    pub(super) async fn body(&mut self) -> Result<Body> {
        let Limits { bodies, timeout, .. } = &*self.api.limits;
        let limit = if self.info.body == BodyKind::Batch { bodies.batch } else { bodies.one };
        let headers = self.request.headers();
        let length = headers.get(CONTENT_LENGTH).and_then(|value| value.to_str().ok()?.parse().ok());
        if length.is_some_and(|length: usize| length > limit) {
            return Err(body_too_large("the body", limit));
        }
        // Without both there is no body, whatever other protocol the client offers to speak.
        let announced = if headers.contains_key(TRANSFER_ENCODING) { None } else { Some(length.unwrap_or(0)) };
        if announced != Some(0) {
            body::check_type(&self.request)?;
        }
        // A body that cannot exceed a single change counts as a small body, for every call.
        let most = length.unwrap_or(limit);
        let memory = bodies.memory(most).none(self.caller.holder);
        let Some(upload) = self.upload.take().filter(|_| announced != Some(0)) else {
            return Ok(Body::new(memory, None));
        };
        // The body is not read meanwhile, so its sender waits too. Time must be left for the rest.
        let turn = bodies.turn(self.caller.holder, most, *timeout / PART_FOR_TURN).await;
        self.in_time_or(Code::BodyTimeout, Body::read(upload, limit, announced, memory, turn)).await?
    }

    /// Reads the body as a JSON object. A large one is parsed on a thread that may block.
    pub(super) async fn json<T: DeserializeOwned + Send + 'static>(&mut self) -> Result<T> {
        let mut body = self.body().await?;
        let may_be_left_out = self.info.body == BodyKind::Optional;
        match body.is_small() {
            true => body.json(may_be_left_out),
            false => self.run(Wants::Read, move |_| body.json(may_be_left_out)).await,
        }
    }

    /// Reads the body of a call that takes none, or an empty object.
    pub(super) async fn empty_body(&mut self) -> Result<()> {
        if self.info.body != BodyKind::Unread {
            let Nothing {} = self.json().await?;
        }
        Ok(())
    }

    /// Reads from memory at once, or from the disk on a thread that may block.
    pub(super) async fn read<T: Send + 'static>(
        &self,
        look: impl Fn(Read<'_>) -> Result<T> + Send + 'static,
    ) -> Result<T> {
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
    ) -> Result<T> {
        match look(self.api.feed().read().within(Tier::Memory)) {
            Err(Error::NotCached) => {
                let api = Arc::clone(&self.api);
                let read = self.api.pools.run(Wants::Change, move || look(api.feed().read()));
                Box::pin(self.in_time(read)).await??
            }
            seen => Ok(seen?),
        }
    }

    /// Reads what a user or an item has, by its id in the store.
    pub(crate) async fn read_of<I: Id, T: Send + 'static>(
        &self,
        id: &ExternalId,
        look: impl Fn(Read<'_>, I) -> Result<T> + Send + 'static,
    ) -> Result<T> {
        let id = id.clone();
        self.read(move |read| look(read, read.find(&id)?)).await
    }

    /// The id in the store of a user. A name that has no number gets one.
    pub(crate) async fn find_or_give(&self, user: &ExternalId) -> Result<UserId> {
        match self.read_of(user, |_, found| Ok(found)).await? {
            UserId::UNKNOWN => {
                let user = user.clone();
                self.run(Wants::Change, move |feed| ids::give(feed, &user)).await
            }
            found => Ok(found),
        }
    }

    /// Runs `work` on a thread that may block, and waits for it until the request times out.
    pub(super) async fn run<T: Send + 'static>(
        &self,
        wants: Wants,
        work: impl FnOnce(&Feed) -> Result<T> + Send + 'static,
    ) -> Result<T> {
        // Work that begins late, or waits, must not outlive the answer where that matters.
        let due = Some(self.due());
        self.in_time(self.api.run(self.caller.holder, wants, move |feed: &Feed| answered_at(due, || work(feed))))
            .await?
    }

    /// Makes a change. Waits for it without a thread, but to read what is on the disk before; on a node of a cluster a thread
    /// waits.
    pub(super) async fn submit<C: Change + Send + 'static>(&self, mut change: C) -> Result<C::Outcome> {
        let feed = self.api.feed();
        if feed.is_node() {
            return self.run(Wants::Change, move |feed| feed.submit(change)).await;
        }
        let place = self.api.limits.disk.of_change(self.caller.holder)?;
        if let Err(Error::NotCached) = change.warm(feed.read().within(Tier::Memory)) {
            let warmed = self.run(Wants::Read, move |feed| {
                // The change itself tells what is wrong.
                let _ = change.warm(feed.read());
                Ok::<_, Error>(change)
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
        answered_at(Some(self.due()), || feed.ask(change, tell))?;
        let told = self.in_time(told).await?;
        told.map_err(|_| Error::internal("a change ended without a result"))?
    }

    /// When the sender has an answer.
    fn due(&self) -> Instant {
        self.started + self.api.limits.timeout
    }

    /// Waits for `work` until the request times out.
    pub(super) async fn in_time<F: Future>(&self, work: F) -> Result<F::Output> {
        self.in_time_or(Code::Timeout, work).await
    }

    async fn in_time_or<F: Future>(&self, late: Code, work: F) -> Result<F::Output> {
        let left: Duration = self.api.limits.timeout.saturating_sub(self.started.elapsed());
        tokio::time::timeout(left, work).await.map_err(|_| {
            self.api.limits.timed_out.fetch_add(1, Ordering::Relaxed);
            late.into()
        })
    }
}

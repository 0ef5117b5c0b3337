//! Reads, each compared with the model.

use std::fmt::Display;

use feed::timeline::{self, PathExplanation};
use feed::{PutList, Read, Visibility, follows, items, lists, topics, users, visibility};
use kv::Tier;
use model::error::Error;
use model::{
    ContentId, Cursor, Entry, ExternalId, Id, ListSettings, Mentions, NamedRule, Page, PageRequest, Position, Side,
    Span, Unread, UserCursor, UserId,
};

use super::case::{Case, Wrong};
use super::change::{expect_code, expect_not_found, same_content};
use super::names::{TOPICS, USERS, id, rule};
use super::ops::{Ask, Place, WHOLE};
use crate::plain::{AHEAD, content_page, page_to_a_stop, user_page};

/// A request and its page.
type Found<T, I> = (PageRequest<I>, Page<T, I>);

impl Case {
    /// A place among content.
    pub(crate) fn place(&self, wanted: Place) -> Position<ExternalId> {
        match wanted {
            Place::Of(index) => match self.nth(index) {
                Some(item) => self.hosts.place_back(item.cursor()),
                None => Position { at: 3, id: self.hosts.host(3) },
            },
            Place::At(at, number) => Position { at, id: self.hosts.host(id(number)) },
        }
    }

    /// A place in a list of users.
    pub(crate) fn member(&self, whole: &[UserCursor], wanted: Place) -> Position<ExternalId> {
        match wanted {
            Place::Of(index) if !whole.is_empty() => self.hosts.place_back(whole[index % whole.len()]),
            Place::Of(_) => Position { at: 3, id: self.hosts.host(1) },
            Place::At(at, number) => Position { at, id: self.hosts.host(USERS[number as usize % USERS.len()]) },
        }
    }

    pub(crate) fn content_request(&self, ask: &Ask) -> PageRequest<ExternalId> {
        ask.request(|wanted| self.place(wanted))
    }

    /// A page by ids of the host, as in the API, with the request for it by ids in the store; `None` if it is refused
    /// because it has the cursor of an unknown name.
    pub(crate) fn page<I: Id + PartialEq, T>(
        &self,
        inline: bool,
        request: &PageRequest<ExternalId>,
        list: impl Fn(Read<'_>, &PageRequest<I>) -> Result<Page<T, I>, Error>,
    ) -> Result<Option<Found<T, I>>, String>
    where
        Page<T, I>: Mentions,
    {
        let feed = &self.system.feed;
        let answer = read_any(inline, |tier| {
            let read = feed.read().within(tier);
            read.named(list(read, &visibility::find_span(read, request, Visibility::Application)?)?)
        });
        let Some(known) = self.hosts.request(request) else {
            let error = answer.err().ok_or("a page at an unknown cursor")?;
            return expect_code(&error, "unknown_cursor").map(|()| None);
        };
        let (page, ids) = answer.map_err(|e| format!("a read fails: {e}"))?;
        self.hosts.shows(&page, &ids)?;
        Ok(Some((known, page)))
    }

    /// Whether a page may end early: the read looks at fewer entries than there may be.
    pub(crate) fn may_stop(&self) -> bool {
        self.system.config.timeline.look_at < 1000
    }

    fn content_page(
        &self,
        whole: &[Entry],
        request: &PageRequest<ContentId>,
        is: &Page<Entry, ContentId>,
    ) -> Page<Entry, ContentId> {
        match self.may_stop() {
            true => page_to_a_stop(whole, request, is, |list| content_page(list, request, is.prev)),
            false => content_page(whole, request, is.prev),
        }
    }

    /// Compares a count of unread items, which may end early, too.
    pub(crate) fn unread_is(&self, is: Unread, count: usize, what: impl Display) -> Result<(), String> {
        if is.capped && self.may_stop() {
            ensure!(is.count <= count, "{what}: {is:?} of {count}");
            return Ok(());
        }
        ensure_eq!(is, Unread { count, capped: false }, "{what}");
        Ok(())
    }

    fn timeline_is(
        &self,
        raw: u64,
        request: &PageRequest<ExternalId>,
        inline: bool,
        kinds: &NamedRule,
    ) -> Result<Option<Page<Entry, ContentId>>, String> {
        let (host, user) = (self.hosts.host(raw), self.hosts.user(raw));
        let found = self
            .page(inline, request, |read, request| timeline::page(read.of_kinds(kinds)?, read.find(&host)?, request))?;
        let Some((request, is)) = found else { return Ok(None) };
        let whole = self.model.timeline(user, self.system.config.timeline.include_own);
        let whole = self.model.of_kinds(whole, kinds);
        ensure_eq!(is, self.content_page(&whole, &request, &is), "timeline of {user}, {request:?}");
        Ok(Some(is))
    }

    pub(crate) fn read(&self, raw: u64, ask: &Ask) -> Result<(), String> {
        let Some(shown) = self.timeline_is(raw, &self.content_request(ask), ask.inline, &ask.kinds())? else {
            return Ok(());
        };
        let ids: Vec<_> = shown.items.iter().map(|entry| entry.cursor.id).collect();
        let (feed, host) = (&self.system.feed, self.hosts.host(raw));
        let (full, names) = read(ask.inline, |tier| {
            let read = feed.read().within(tier);
            read.named(visibility::hydrate(read, shown.clone(), Some(read.find(&host)?))?)
        })?;
        self.hosts.shows(&full, &names)?;
        ensure_eq!(full.items.iter().map(|shown| shown.content.id).collect::<Vec<_>>(), ids, "items in full");
        for shown in &full.items {
            let content = &shown.content;
            ensure_eq!(
                shown.author.as_ref().map(|summary| self.hosts.known(&summary.user)),
                Some(content.author),
                "author of {}",
                content.id
            );
            let item = self.model.item(content.id).ok_or_else(|| format!("content {} appears", content.id))?;
            same_content(item, content)?;
        }
        Ok(())
    }

    /// Compares every page; the pages in each direction together must be the whole list.
    pub(crate) fn scroll(&self, raw: u64, limit: usize) -> Result<(), String> {
        let reader = self.hosts.user(raw);
        let back = |place: Option<Cursor>| place.map(|place| self.hosts.place_back(place));
        let part = |before, after, inline| {
            let request = PageRequest { span: Span { before: back(before), after: back(after) }, limit };
            self.timeline_is(raw, &request, inline, &NamedRule::All)?.ok_or_else(|| format!("{request:?} is refused"))
        };
        let whole = self.model.timeline(reader, self.system.config.timeline.include_own);
        let (mut down, mut before) = (Vec::new(), None);
        loop {
            let part = part(before, None, false)?;
            down.extend(part.items);
            before = part.next;
            if before.is_none() {
                break;
            }
        }
        ensure_eq!(down, whole, "timeline of {reader} down to its end, by {limit}");
        let come: Vec<_> = whole.into_iter().filter(|entry| entry.cursor.at < AHEAD).collect();
        let Some(oldest) = come.last() else { return Ok(()) };
        let (mut up, mut after) = (vec![*oldest], Some(oldest.cursor));
        loop {
            let part = part(None, after, true)?;
            up.extend(part.items.iter().rev());
            if part.prev == after {
                break;
            }
            after = part.prev;
        }
        up.reverse();
        ensure_eq!(up, come, "timeline of {reader} up to its top, by {limit}");
        Ok(())
    }

    pub(crate) fn read_unread(&self, raw: u64, kinds: usize) -> Result<(), String> {
        let reader = self.hosts.user(raw);
        let (feed, host) = (&self.system.feed, self.hosts.host(raw));
        let (marker, ids) = read(true, |tier| {
            let read = feed.read().within(tier);
            read.named(timeline::marker(read, read.find(&host)?, None)?)
        })?;
        ensure_eq!(marker, self.marker(reader, None), "marker of {reader}");
        self.hosts.shows(&marker, &ids)?;
        let timeline = self.model.timeline(reader, self.system.config.timeline.include_own);
        let kinds = rule(kinds);
        let timeline = self.model.of_kinds(timeline, &kinds);
        let count = timeline.iter().filter(|entry| Some(entry.cursor) > marker).count();
        let unread = || {
            read(true, |tier| {
                let read = feed.read().within(tier);
                timeline::unread(read.of_kinds(&kinds)?, read.find(&host)?)
            })
        };
        let is = match self.wrong {
            Some(Wrong::UnreadForgetsLists) => self.without_exclusive_lists(&host, unread)?,
            _ => unread()?,
        };
        self.unread_is(is, count, format_args!("what {reader} has not read"))
    }

    /// What a read finds while no list of a user is exclusive.
    fn without_exclusive_lists<T>(&self, user: &ExternalId, read: impl Fn() -> Result<T, String>) -> Result<T, String> {
        let feed = &self.system.feed;
        let lists = feed.read().find(user).and_then(|user| lists::of_user(feed.read(), user));
        let lists = lists.map_err(|e| format!("no lists: {e}"))?;
        let put = |exclusive: bool| {
            let mut of_user = lists.iter().filter(|list| list.settings.exclusive);
            of_user.try_for_each(|list| {
                let settings = ListSettings { exclusive, ..list.settings.clone() };
                feed.submit(PutList { user: user.clone(), list: list.name.clone(), settings })
                    .map(drop)
                    .map_err(|e| e.to_string())
            })
        };
        put(false)?;
        let found = read()?;
        put(true).map(|()| found)
    }

    /// Who sees a page.
    pub(crate) fn viewer(&self, ask: &Ask) -> Option<UserId> {
        ask.viewer.map(|raw| self.hosts.user(raw))
    }

    /// A read as the viewer of a page sees.
    pub(crate) fn seen<'r>(&self, read: Read<'r>, ask: &Ask) -> Result<Read<'r>, Error> {
        read.seen_by(ask.viewer.map(|raw| self.hosts.host(raw)).as_ref())
    }

    pub(crate) fn read_outbox(&self, raw: u64, ask: &Ask) -> Result<(), String> {
        let (host, user, viewer) = (self.hosts.host(raw), self.hosts.user(raw), self.viewer(ask));
        let list = |read: Read<'_>, request: &_| {
            items::own_page(self.seen(read, ask)?.of_kinds(&ask.kinds())?, read.find(&host)?, request)
        };
        let whole = || self.model.seen_of(viewer, user, self.model.of_kinds(self.model.outbox(user), &ask.kinds()));
        let whose = format_args!("{raw}, seen by {viewer:?}");
        self.entries_are(ask.inline, &self.content_request(ask), list, whole, "outbox", whose)
    }

    /// A page of content by some user, or a topic, an item, or a list.
    pub(crate) fn entries_are(
        &self,
        inline: bool,
        request: &PageRequest<ExternalId>,
        list: impl Fn(Read<'_>, &PageRequest<ContentId>) -> Result<Page<Entry, ContentId>, Error>,
        whole: impl Fn() -> Vec<Entry>,
        what: &str,
        whose: impl Display,
    ) -> Result<(), String> {
        let Some((request, is)) = self.page(inline, request, list)? else { return Ok(()) };
        ensure_eq!(is, self.content_page(&whole(), &request, &is), "{what} of {whose}, {request:?}");
        Ok(())
    }

    fn topic_is(
        &self,
        topic: &str,
        request: &PageRequest<ExternalId>,
        ask: &Ask,
    ) -> Result<Option<Page<Entry, ContentId>>, String> {
        let list =
            |read: Read<'_>, request: &_| topics::page(self.seen(read, ask)?.of_kinds(&ask.kinds())?, topic, request);
        let Some((request, is)) = self.page(ask.inline, request, list)? else { return Ok(None) };
        let viewer = self.viewer(ask);
        let whole = self.model.of_kinds(self.model.topic(topic, self.system.config.topics.limit), &ask.kinds());
        let whole = self.model.seen_by(viewer, whole);
        ensure_eq!(is, self.content_page(&whole, &request, &is), "topic {topic:?}, seen by {viewer:?}, {request:?}");
        Ok(Some(is))
    }

    pub(crate) fn read_topic(&self, topic: &str, ask: &Ask) -> Result<(), String> {
        self.topic_is(topic, &self.content_request(ask), ask).map(drop)
    }

    /// Compares every page.
    pub(crate) fn scroll_topic(&self, topic: &str, limit: usize) -> Result<(), String> {
        let mut span = Span { before: None, after: None };
        loop {
            let ask = Ask { inline: true, ..WHOLE };
            let page = self.topic_is(topic, &PageRequest { span, limit }, &ask)?.ok_or("a cursor is refused")?;
            let Some(next) = page.next else { return Ok(()) };
            span = Span { before: Some(self.hosts.place_back(next)), after: None };
        }
    }

    pub(crate) fn read_comments(&self, index: usize, ask: &Ask) -> Result<(), String> {
        let Some(item) = self.nth(index) else { return Ok(()) };
        let (host, request) = (self.hosts.back(item.id), self.content_request(ask));
        let viewer = self.viewer(ask);
        let list = |read: Read<'_>, request: &_| {
            let read = self.seen(read, ask)?.of_kinds(&ask.kinds())?;
            let subject = visibility::find_live(read, &host)?;
            match self.wrong {
                Some(Wrong::CommentsWithoutSight) => items::comments(read.seen_by(None)?, subject, request),
                _ => items::comments(read, subject, request),
            }
        };
        if !self.model.finds(viewer, &item) {
            let request = PageRequest { span: Span::ALL, limit: request.limit };
            return expect_not_found(read_any(ask.inline, |tier| list(self.system.feed.read().within(tier), &request)));
        }
        let whole = || self.model.seen_by(viewer, self.model.of_kinds(self.model.comments(item.id), &ask.kinds()));
        let whose = format_args!("{}, seen by {viewer:?}", item.id);
        self.entries_are(ask.inline, &request, list, whole, "comments", whose)
    }

    pub(crate) fn read_user_comments(&self, raw: u64, ask: &Ask) -> Result<(), String> {
        let (host, user, viewer) = (self.hosts.host(raw), self.hosts.user(raw), self.viewer(ask));
        let list = |read: Read<'_>, request: &_| {
            items::user_comments(self.seen(read, ask)?.of_kinds(&ask.kinds())?, read.find(&host)?, request)
        };
        let whole = || {
            let comments = self.model.of_kinds(self.model.user_comments(user), &ask.kinds());
            self.model.seen_of(viewer, user, comments)
        };
        let whose = format_args!("{raw}, seen by {viewer:?}");
        self.entries_are(ask.inline, &self.content_request(ask), list, whole, "own comments", whose)
    }

    pub(crate) fn read_suspension(&self, raw: u64) -> Result<(), String> {
        let user = self.hosts.user(raw);
        let since = read(true, |tier| users::suspended_since(self.system.feed.read().within(tier), user))?;
        ensure_eq!(since, self.model.suspended.get(&user).copied(), "since when {user} is suspended");
        Ok(())
    }

    /// The counts of every live item, and of every user's own page.
    fn read_counts(&self) -> Result<(), String> {
        let store = self.system.store();
        let live: Vec<_> = self.model.items.iter().filter(|item| !item.deleted).map(|item| item.id).collect();
        let counts = read(true, |tier| feed::items::tables::item_counts(store, &live, tier))?;
        for (id, is) in live.iter().zip(counts) {
            ensure_eq!((is.comments, is.reposts), self.model.counts(*id), "counts of {id}");
        }
        for author in self.hosts.everybody() {
            let is = read(true, |tier| feed::follows::tables::user_counts(store, author, tier))?.content;
            ensure_eq!(is, self.model.published(author), "items counted on the page of {author}");
        }
        Ok(())
    }

    pub(crate) fn read_members(&self, raw: u64, side: Side, ask: &Ask) -> Result<(), String> {
        let (host, me) = (self.hosts.host(raw), self.hosts.user(raw));
        let whole = self.model.members(me, side);
        let request = ask.request(|wanted| self.member(&whole, wanted));
        let list =
            |read: Read<'_>, request: &_| follows::members(self.seen(read, ask)?, read.find(&host)?, side, request);
        let Some((request, is)) = self.page(ask.inline, &request, list)? else { return Ok(()) };
        let viewer = self.viewer(ask);
        let mut whole = if self.model.sees_members(viewer, me) { whole } else { Vec::new() };
        whole.retain(|place| viewer.is_none_or(|viewer| viewer == me) || self.model.sees_user(viewer, place.id));
        let should_be = user_page(&whole, &request);
        ensure_eq!(is, should_be, "{side:?} of {me}, seen by {viewer:?}, {request:?}");
        Ok(())
    }

    pub(crate) fn read_relations(&self, raw: u64) -> Result<(), String> {
        let me = self.hosts.user(raw);
        let mut targets = self.hosts.everybody();
        targets.retain(|target| *target != UserId::UNKNOWN);
        let is = read(true, |tier| follows::relations(self.system.feed.read().within(tier), me, &targets))?;
        ensure_eq!(is.len(), targets.len(), "relations of {me}");
        targets.iter().zip(&is).try_for_each(|(target, is)| self.relation_is(is, me, *target))
    }

    pub(crate) fn verify(&self, raw: u64, depth: usize) -> Result<(), String> {
        let user = self.hosts.user(raw);
        let found = timeline::verify(self.system.feed.read(), user, depth).map_err(|e| format!("verify fails: {e}"))?;
        let length = self.model.timeline(user, self.system.config.timeline.include_own).len();
        ensure!(found.missing.is_empty() && found.extra.is_empty(), "verify finds {found:?}");
        ensure_eq!(found.compared, length.min(depth), "what verify compared");
        // The last page may lead on to nothing.
        let is_open = length == depth && self.may_stop() && !found.complete;
        ensure!(found.complete == (length <= depth) || is_open, "{found:?} of {length}");
        Ok(())
    }

    pub(crate) fn explain(&self, raw: u64, index: usize) -> Result<(), String> {
        let (reader, include_own) = (self.hosts.user(raw), self.system.config.timeline.include_own);
        let Some(item) = self.nth(index) else { return Ok(()) };
        let why =
            timeline::explain(self.system.feed.read(), reader, item.id).map_err(|e| format!("explain fails: {e}"))?;
        let (model, author) = (&self.model, item.body.author);
        let muted = |source| model.mutes.contains_key(&(reader, source));
        let hidden = |source| model.hides.contains_key(&(source, reader));
        let suspended = |source| model.suspended.contains_key(&source);
        let blocked = |source| model.blocked(reader, source);
        let apart = |source| model.excludes(reader, source);
        let requested = |source| model.requests.contains_key(&(reader, source));
        let followed: Vec<_> = item.paths().filter(|source| model.follows(reader, *source)).collect();
        let reason = match item.deleted {
            true => "deleted",
            _ if model.shows(reader, &item, include_own) => "listed",
            _ if item.paths().next().is_none() => "not_broadcast",
            _ if suspended(author) => "suspended",
            _ if blocked(author) => "blocked",
            _ if muted(author) => "muted",
            _ if hidden(author) => "hidden",
            _ if followed.is_empty() && item.paths().any(blocked) => "blocked",
            _ if followed.is_empty() && item.paths().any(requested) => "requested",
            _ if followed.is_empty() => "not_following",
            _ if followed.iter().any(|source| suspended(*source)) => "suspended",
            _ if followed.iter().any(|source| muted(*source)) => "muted",
            _ if followed.iter().any(|source| hidden(*source)) => "hidden",
            _ if followed.iter().any(|source| apart(*source)) => "in_exclusive_list",
            _ => "ruled_out",
        };
        ensure_eq!((why.reason, why.listed), (reason, reason == "listed"), "why {} is listed for {reader}", item.id);
        if !item.deleted {
            let is = (why.entry, why.muted, why.hidden, why.blocked, why.suspended);
            let should_be = (Some(item.entry()), muted(author), hidden(author), blocked(author), suspended(author));
            ensure_eq!(is, should_be, "{} for {reader}", item.id);
            let seen = |path: &PathExplanation| {
                let PathExplanation { source, following, muted, hidden, blocked, suspended, .. } = *path;
                let out = (path.in_exclusive_list, path.ruled_out);
                (source, (following, path.requested), muted, hidden, blocked, suspended, out)
            };
            let of = |source| {
                let follows = (model.follows(reader, source), requested(source));
                let out = (apart(source), model.rules_out(reader, source, item.body.kind));
                (source, follows, muted(source), hidden(source), blocked(source), suspended(source), out)
            };
            let (is, should_be): (Vec<_>, Vec<_>) =
                (why.paths.iter().map(seen).collect(), item.paths().map(of).collect());
            ensure_eq!(is, should_be, "paths of {} for {reader}", item.id);
        }
        if !self.system.is_running() {
            let comes = why.paths.iter().any(|path| path.pending || path.in_inbox || path.pulled);
            ensure!(comes || !why.listed, "{} is listed for {reader} out of nothing: {why:?}", item.id);
        }
        Ok(())
    }

    /// Reads everything.
    pub(crate) fn read_all(&mut self) -> Result<(), String> {
        for raw in USERS {
            self.scroll(raw, 3)?;
            self.scroll(raw, 100)?;
            self.read_outbox(raw, &WHOLE)?;
            self.read_user_comments(raw, &WHOLE)?;
            for side in Side::all() {
                self.read_members(raw, side, &WHOLE)?;
            }
            self.read_relations(raw)?;
            self.verify(raw, 100)?;
            self.read_unread(raw, 0)?;
            self.read_suspension(raw)?;
            self.read_lists(raw)?;
            self.read_all_notices(raw)?;
        }
        TOPICS.iter().try_for_each(|topic| self.scroll_topic(topic, 3))?;
        self.read_all_reactions()?;
        for index in 0..self.model.items.len() {
            self.read_comments(index, &WHOLE)?;
            self.read_comments(index, &Ask { viewer: Some(USERS[index % USERS.len()]), ..WHOLE })?;
        }
        self.read_counts()?;
        let ids: Vec<_> = self.model.items.iter().map(|item| item.id).collect();
        let feed = &self.system.feed;
        let (contents, names) = read(true, |tier| {
            let read = feed.read().within(tier);
            read.named(visibility::contents(read, &ids)?)
        })?;
        self.hosts.shows(&contents, &names)?;
        let shown: Vec<_> = self.model.items.iter().filter(|item| self.model.is_shown(item)).collect();
        ensure_eq!(contents.len(), shown.len(), "shown content");
        shown.iter().zip(&contents).try_for_each(|(item, content)| same_content(item, content))?;
        for raw in USERS {
            let viewer = Ask { viewer: Some(raw), ..WHOLE };
            let contents =
                read(true, |tier| visibility::contents(self.seen(feed.read().within(tier), &viewer)?, &ids))?;
            let mut should_be = ids.clone();
            should_be.retain(|id| self.model.item(*id).is_some_and(|item| self.model.sees(self.viewer(&viewer), item)));
            ensure_eq!(contents.iter().map(|item| item.id).collect::<Vec<_>>(), should_be, "what {raw} sees");
        }
        Ok(())
    }
}

/// An answer from memory if requested and available, else from disk.
pub(crate) fn read<T>(inline: bool, from: impl Fn(Tier) -> Result<T, Error>) -> Result<T, String> {
    read_any(inline, from).map_err(|e| format!("a read fails: {e}"))
}

/// An answer of a read that may fail, from memory if requested and available, else from disk.
pub(crate) fn read_any<T>(inline: bool, from: impl Fn(Tier) -> Result<T, Error>) -> Result<T, Error> {
    match inline.then(|| from(Tier::Memory)) {
        None | Some(Err(Error::NotCached)) => from(Tier::Disk),
        Some(answer) => answer,
    }
}

//! Reads, each compared with the model.

use tideline::error::{Code, Error};
use tideline::model::{ContentId, Cursor, Entry, Page, PageRequest, Position, Side, Span, Unread, UserId};
use tideline::store::Tier;

use super::case::Case;
use super::change::same_content;
use super::names::{TOPICS, USERS, everybody, id, member, place, user};
use super::ops::{Ask, Place};
use crate::model::page;

impl Case {
    /// The cursor of a place among content.
    pub(crate) fn cursor(&self, wanted: Place) -> Cursor {
        match wanted {
            Place::Of(index) => self.nth(index).map_or(place(3, 3), |item| item.cursor()),
            Place::At(at, number) => place(at, id(number)),
        }
    }

    pub(crate) fn content_request(&self, ask: &Ask) -> PageRequest<ContentId> {
        let bound = |wanted: Option<Place>| wanted.map(|wanted| self.cursor(wanted));
        PageRequest { span: Span { before: bound(ask.before), after: bound(ask.after) }, limit: ask.limit }
    }

    fn timeline_is(
        &self,
        user: UserId,
        request: &PageRequest<ContentId>,
        inline: bool,
    ) -> Result<Page<Entry, ContentId>, String> {
        let is = read(inline, |tier| self.system.feed.timeline(user, request, tier))?;
        let whole = self.model.timeline(user, self.system.config.timeline.include_own);
        ensure_eq!(is, page(&whole, |entry| entry.cursor, request), "timeline of {user}, {request:?}");
        Ok(is)
    }

    pub(crate) fn read(&self, raw: u64, ask: &Ask) -> Result<(), String> {
        let shown = self.timeline_is(user(raw), &self.content_request(ask), ask.inline)?;
        let ids: Vec<_> = shown.items.iter().map(|entry| entry.cursor.id).collect();
        let full =
            read(ask.inline, |tier| self.system.feed.hydrate(shown.clone(), Some(user(raw)), tier, &mut |_| Ok(())))?;
        ensure_eq!(full.items.iter().map(|shown| shown.content.id).collect::<Vec<_>>(), ids, "items in full");
        for shown in &full.items {
            let content = &shown.content;
            ensure_eq!(shown.author.as_ref().map(|card| card.user), Some(content.author), "author of {}", content.id);
            let item = self.model.item(content.id).ok_or_else(|| format!("content {} appears", content.id))?;
            same_content(item, content)?;
        }
        Ok(())
    }

    /// Compares every page; the pages in each direction together must be the whole list.
    pub(crate) fn scroll(&self, raw: u64, limit: usize) -> Result<(), String> {
        let reader = user(raw);
        let whole = self.model.timeline(reader, self.system.config.timeline.include_own);
        let (mut down, mut span) = (Vec::new(), Span::ALL);
        loop {
            let part = self.timeline_is(reader, &PageRequest { span, limit }, false)?;
            down.extend(part.items);
            let Some(next) = part.next else { break };
            span = Span { before: Some(next), after: None };
        }
        ensure_eq!(down, whole, "timeline of {reader} down to its end, by {limit}");
        let Some(oldest) = whole.last() else { return Ok(()) };
        let (mut up, mut span) = (vec![*oldest], Span { before: None, after: Some(oldest.cursor) });
        loop {
            let part = self.timeline_is(reader, &PageRequest { span, limit }, true)?;
            up.extend(part.items.iter().rev());
            if part.items.is_empty() {
                break;
            }
            span.after = part.prev;
        }
        up.reverse();
        ensure_eq!(up, whole, "timeline of {reader} up to its top, by {limit}");
        Ok(())
    }

    pub(crate) fn read_unread(&mut self, raw: u64) -> Result<(), String> {
        let reader = user(raw);
        self.confirm_marker(reader);
        ensure_eq!(
            read(true, |tier| self.system.feed.marker(reader, tier))?,
            self.model.markers.get(&reader).copied(),
            "marker of {reader}"
        );
        let count = self.model.unread(reader, self.system.config.timeline.include_own);
        let is = read(true, |tier| self.system.feed.unread(reader, tier))?;
        ensure_eq!(is, Unread { count, capped: false }, "what {reader} has not read");
        Ok(())
    }

    pub(crate) fn read_outbox(&self, raw: u64, ask: &Ask) -> Result<(), String> {
        let (author, request) = (user(raw), self.content_request(ask));
        let is = read(ask.inline, |tier| self.system.feed.outbox(author, &request, tier))?;
        let should_be = page(&self.model.outbox(author), |entry| entry.cursor, &request);
        ensure_eq!(is, should_be, "outbox of {author}, {request:?}");
        Ok(())
    }

    fn topic_is(
        &self,
        topic: &str,
        request: &PageRequest<ContentId>,
        inline: bool,
    ) -> Result<Page<Entry, ContentId>, String> {
        let is = read(inline, |tier| self.system.feed.topic(topic, request, tier))?;
        let whole = self.model.topic(topic, self.system.config.topics.limit);
        ensure_eq!(is, page(&whole, |entry| entry.cursor, request), "topic {topic:?}, {request:?}");
        Ok(is)
    }

    pub(crate) fn read_topic(&self, topic: &str, ask: &Ask) -> Result<(), String> {
        self.topic_is(topic, &self.content_request(ask), ask.inline).map(drop)
    }

    /// Compares every page.
    pub(crate) fn scroll_topic(&self, topic: &str, limit: usize) -> Result<(), String> {
        let mut span = Span::ALL;
        loop {
            span.before = self.topic_is(topic, &PageRequest { span, limit }, true)?.next;
            if span.before.is_none() {
                return Ok(());
            }
        }
    }

    pub(crate) fn read_comments(&self, index: usize, ask: &Ask) -> Result<(), String> {
        let Some(item) = self.nth(index) else { return Ok(()) };
        let request = self.content_request(ask);
        let is = read_any(ask.inline, |tier| self.system.feed.comments(item.id, &request, tier));
        if item.deleted {
            let gone = matches!(is, Err(Error::Refused { code: Code::ContentNotFound, .. }));
            ensure!(gone, "comments on {}, which is deleted: {is:?}", item.id);
            return Ok(());
        }
        let should_be = page(&self.model.comments(item.id), |entry| entry.cursor, &request);
        ensure_eq!(is.map_err(|e| e.to_string())?, should_be, "comments on {}, {request:?}", item.id);
        Ok(())
    }

    pub(crate) fn read_user_comments(&self, raw: u64, ask: &Ask) -> Result<(), String> {
        let (author, request) = (user(raw), self.content_request(ask));
        let is = read(ask.inline, |tier| self.system.feed.user_comments(author, &request, tier))?;
        let should_be = page(&self.model.user_comments(author), |entry| entry.cursor, &request);
        ensure_eq!(is, should_be, "comments by {author}, {request:?}");
        Ok(())
    }

    /// The counts of every live item, and of every user's own page.
    fn read_counts(&self) -> Result<(), String> {
        let store = self.system.store();
        let live: Vec<_> = self.model.items.iter().filter(|item| !item.deleted).map(|item| item.id).collect();
        let counts = read(true, |tier| store.item_counts(&live, tier))?;
        for (id, is) in live.iter().zip(counts) {
            ensure_eq!((is.comments, is.reposts), self.model.counts(*id), "counts of {id}");
        }
        for author in everybody() {
            let is = read(true, |tier| store.user_counts(author, tier))?.content;
            ensure_eq!(is, self.model.outbox(author).len() as u64, "items counted on the page of {author}");
        }
        Ok(())
    }

    pub(crate) fn read_members(&self, raw: u64, side: Side, ask: &Ask) -> Result<(), String> {
        let me = user(raw);
        let whole = self.model.members(me, side);
        let bound = |wanted: Option<Place>| {
            wanted.map(|wanted| match wanted {
                Place::Of(index) if !whole.is_empty() => whole[index % whole.len()],
                Place::Of(_) => member(3, me),
                Place::At(at, number) => member(at, user(USERS[number as usize % USERS.len()])),
            })
        };
        let request =
            PageRequest { span: Span { before: bound(ask.before), after: bound(ask.after) }, limit: ask.limit };
        let is = read(ask.inline, |tier| self.system.feed.members(me, side, &request, tier))?;
        ensure_eq!(is, page(&whole, |place: &Position<UserId>| *place, &request), "{side:?} of {me}, {request:?}");
        Ok(())
    }

    pub(crate) fn read_relations(&self, raw: u64) -> Result<(), String> {
        let (me, targets) = (user(raw), everybody().collect::<Vec<_>>());
        let is = read(true, |tier| self.system.feed.relations(me, &targets, tier))?;
        let should_be: Vec<_> = targets.iter().map(|target| self.model.relation(me, *target)).collect();
        ensure_eq!(is, should_be, "relations of {me}");
        Ok(())
    }

    pub(crate) fn verify(&self, raw: u64, depth: usize) -> Result<(), String> {
        let found = self.system.feed.verify(user(raw), depth).map_err(|e| format!("verify fails: {e}"))?;
        let length = self.model.timeline(user(raw), self.system.config.timeline.include_own).len();
        ensure!(found.missing.is_empty() && found.extra.is_empty(), "verify finds {found:?}");
        ensure_eq!((found.compared, found.complete), (length.min(depth), length <= depth), "what verify compared");
        Ok(())
    }

    pub(crate) fn explain(&self, raw: u64, index: usize) -> Result<(), String> {
        let (reader, include_own) = (user(raw), self.system.config.timeline.include_own);
        let Some(item) = self.nth(index) else { return Ok(()) };
        let why = self.system.feed.explain(reader, item.id).map_err(|e| format!("explain fails: {e}"))?;
        let author = item.body.author;
        let (follows, own) = (self.model.follows(reader, author), include_own && author == reader);
        let muted = self.model.mutes.contains_key(&(reader, author));
        let hidden = self.model.hides.contains_key(&(author, reader));
        let reason = match (item.deleted, item.body.broadcast, follows) {
            (true, ..) => "deleted",
            (_, false, _) => "not_broadcast",
            _ if own => "listed",
            (_, _, false) => "not_following",
            _ if muted => "muted",
            _ if hidden => "hidden",
            _ => "listed",
        };
        ensure_eq!((why.reason, why.listed), (reason, reason == "listed"), "why {} is listed for {reader}", item.id);
        if !item.deleted {
            let is = (why.entry, why.following, why.muted, why.hidden);
            ensure_eq!(is, (Some(item.entry()), follows, muted, hidden), "{} for {reader}", item.id);
        }
        if !self.system.is_running() {
            let source = why.pending || why.in_inbox || why.pulled;
            ensure!(source || !why.listed, "{} is listed for {reader} out of nothing: {why:?}", item.id);
        }
        Ok(())
    }

    /// Reads everything.
    pub(crate) fn read_all(&mut self) -> Result<(), String> {
        let ask = |limit| Ask { before: None, after: None, limit, inline: false };
        for raw in USERS {
            self.scroll(raw, 3)?;
            self.scroll(raw, 100)?;
            self.read_outbox(raw, &ask(100))?;
            self.read_user_comments(raw, &ask(100))?;
            for side in [Side::Following, Side::Followers, Side::Friends, Side::Muted, Side::HiddenFrom] {
                self.read_members(raw, side, &ask(100))?;
            }
            self.read_relations(raw)?;
            self.verify(raw, 100)?;
            self.read_unread(raw)?;
        }
        TOPICS.iter().try_for_each(|topic| self.scroll_topic(topic, 3))?;
        self.read_all_reactions()?;
        (0..self.model.items.len()).try_for_each(|index| self.read_comments(index, &ask(100)))?;
        self.read_counts()?;
        let ids: Vec<_> = self.model.items.iter().map(|item| item.id).collect();
        let contents = read(true, |tier| self.system.feed.contents(&ids, tier))?;
        let live: Vec<_> = self.model.items.iter().filter(|item| !item.deleted).collect();
        ensure_eq!(contents.len(), live.len(), "live content");
        live.iter().zip(&contents).try_for_each(|(item, content)| same_content(item, content))
    }
}

/// An answer from memory if requested and available, else from disk.
pub(crate) fn read<T>(inline: bool, from: impl Fn(Tier) -> Result<T, Error>) -> Result<T, String> {
    read_any(inline, from).map_err(|e| format!("a read fails: {e}"))
}

/// The same for a read that may fail.
fn read_any<T>(inline: bool, from: impl Fn(Tier) -> Result<T, Error>) -> Result<T, Error> {
    match inline.then(|| from(Tier::Memory)) {
        None | Some(Err(Error::NotCached)) => from(Tier::Disk),
        Some(answer) => answer,
    }
}

//! The allowed and required content of an answer, derived from the changes around it.

use std::collections::{BTreeSet, HashMap};

use model::{ContentId, Cursor, Entry, Order, Page, PageRequest, Side, UserId};

use super::history::{History, Life, Read, Seen, all, any, not};

/// The error of an answer, and the item or user that shows it.
#[derive(Debug)]
pub(crate) struct Wrong {
    pub(crate) what: String,
    pub(crate) item: Option<Cursor>,
    pub(crate) other: Option<UserId>,
}

impl From<String> for Wrong {
    fn from(what: String) -> Self {
        Self { what, item: None, other: None }
    }
}

impl Wrong {
    fn item(cursor: Cursor, what: &str) -> Self {
        Self { what: format!("{cursor} {what}"), item: Some(cursor), other: None }
    }

    fn user(user: UserId, what: &str) -> Self {
        Self { what: format!("{user} {what}"), item: None, other: Some(user) }
    }
}

/// The content that one read may show, and the part that it must show.
struct Bounds<'a> {
    must: Vec<Cursor>,
    may: HashMap<Cursor, &'a Life>,
}

impl History {
    /// Compares one read with the changes around it.
    pub(crate) fn check(&self, read: &Read, include_own: bool) -> Result<(), Wrong> {
        let (user, window) = (read.user, &read.window);
        let follows = |source: UserId, is_repost: bool| match include_own && source == user {
            true => (true, true),
            false if is_repost => {
                let ruled_out = self.leaves_out_reposts(user, source, window);
                all([self.shows(user, source, window), not(ruled_out)])
            }
            false => self.shows(user, source, window),
        };
        let comes = |life: &Life| self.is_open(user, life.entry.author, window);
        match &read.seen {
            Seen::Timeline(request, page) => self.bounds(read, follows, comes).check_page(request, page),
            Seen::Posts(request, page) => {
                let follows = |source, is_repost| if is_repost { (false, false) } else { follows(source, false) };
                self.bounds(read, follows, comes).check_page(request, page)
            }
            Seen::Apart(request, page) => {
                let apart = |source, _| self.shows_apart(user, source, window);
                let comes = |life: &Life| all([comes(life), self.is_for(user, life, window)]);
                self.bounds(read, apart, comes).check_page(request, page)
            }
            Seen::Outbox(request, page) => {
                let own = |source, _| (source == user, source == user);
                self.bounds(read, own, |_| (true, true)).check_page(request, page)
            }
            Seen::Scroll(entries) => {
                let bounds = self.bounds(read, follows, comes);
                bounds.check_items(entries)?;
                bounds.no_hole(entries, |_| true)
            }
            Seen::Texts(asked, texts) => self.check_texts(read, asked, texts),
            Seen::Sight(asked, found) => self.check_visibility(read, asked, found),
            Seen::Members(side, members) => self.check_members(read, *side, members),
        }
    }

    /// `shown` returns whether a source, of which reposts may be asked for, must, and whether it may, count as a path;
    /// `comes` the same of an item that has such a path.
    fn bounds(
        &self,
        read: &Read,
        shown: impl Fn(UserId, bool) -> (bool, bool),
        comes: impl Fn(&Life) -> (bool, bool),
    ) -> Bounds<'_> {
        let mut sources = HashMap::new();
        let mut bounds = Bounds { must: Vec::new(), may: HashMap::new() };
        let unsuspended = |user| not(self.suspended(user, &read.window));
        for life in &self.lives {
            let counts = |source: &UserId| {
                let shown = || all([shown(*source, life.is_repost), unsuspended(*source)]);
                let shown = *sources.entry((*source, life.is_repost)).or_insert_with(shown);
                all([shown, life.stays_on(*source, &read.window)])
            };
            let path = any(life.on.iter().map(counts));
            if !path.1 {
                continue;
            }
            let (must, may) = all([path, unsuspended(life.entry.author), comes(life)]);
            if must && life.must_live(&read.window) {
                bounds.must.push(life.entry.cursor);
            }
            if may && life.may_live(&read.window) {
                bounds.may.insert(life.entry.cursor, life);
            }
        }
        bounds
    }

    fn check_texts(&self, read: &Read, asked: &[ContentId], texts: &[(ContentId, usize)]) -> Result<(), Wrong> {
        let came: HashMap<_, _> = texts.iter().copied().collect();
        for life in self.lives.iter().filter(|life| asked.contains(&life.entry.cursor.id)) {
            let (cursor, suspended) = (life.entry.cursor, self.suspended(life.entry.author, &read.window));
            match came.get(&cursor.id) {
                Some(_) if !life.may_live(&read.window) || suspended.0 => {
                    return Err(Wrong::item(cursor, "must not be there in full"));
                }
                Some(version) if !life.may_say(*version, &read.window) => {
                    return Err(Wrong::item(cursor, &format!("must not have text {version}")));
                }
                None if life.must_live(&read.window) && !suspended.1 => {
                    return Err(Wrong::item(cursor, "is missing in full"));
                }
                _ => {}
            }
        }
        Ok(())
    }

    fn check_visibility(&self, read: &Read, asked: &[ContentId], found: &[ContentId]) -> Result<(), Wrong> {
        for life in self.lives.iter().filter(|life| asked.contains(&life.entry.cursor.id)) {
            let (cursor, suspended) = (life.entry.cursor, self.suspended(life.entry.author, &read.window));
            let lives = (life.must_live(&read.window), life.may_live(&read.window));
            let (must, may) = all([lives, not(suspended), self.sees(read.user, life, &read.window)]);
            match found.contains(&cursor.id) {
                true if !may => return Err(Wrong::item(cursor, "must not be seen")),
                false if must => return Err(Wrong::item(cursor, "is not seen")),
                _ => {}
            }
        }
        Ok(())
    }

    fn check_members(&self, read: &Read, side: Side, members: &[UserId]) -> Result<(), Wrong> {
        let pairs = self.pairs.keys().chain(self.mutes.keys()).chain(self.hides.keys()).chain(self.blocks.keys());
        let near = pairs.filter(|(one, other)| [one, other].contains(&&read.user));
        let others: BTreeSet<_> = near.flat_map(|(one, other)| [*one, *other]).chain(members.iter().copied()).collect();
        for other in others.into_iter().filter(|other| *other != read.user) {
            let (must, may) = match side {
                Side::Followers => self.follows(other, read.user, &read.window),
                Side::Restricted(restriction) => self.restricted(read.user, other, restriction, &read.window),
                // Nobody reads these.
                Side::FollowRequests | Side::SentRequests => (false, false),
                _ => self.follows(read.user, other, &read.window),
            };
            match members.contains(&other) {
                true if !may => return Err(Wrong::user(other, "must not be in the list")),
                false if must => return Err(Wrong::user(other, "is missing")),
                _ => {}
            }
        }
        Ok(())
    }
}

impl Bounds<'_> {
    /// Newest first, without duplicates or forbidden items.
    fn check_items(&self, items: &[Entry]) -> Result<(), Wrong> {
        if let Some(pair) = items.windows(2).find(|pair| pair[0].cursor <= pair[1].cursor) {
            return Err(Wrong::item(pair[1].cursor, "is out of order, or comes twice"));
        }
        let may = |item: &Entry| self.may.get(&item.cursor).is_some_and(|life| life.entry == *item);
        match items.iter().find(|item| !may(item)) {
            Some(item) => Err(Wrong::item(item.cursor, "must not be there")),
            None => Ok(()),
        }
    }

    /// All required items in range are present.
    fn no_hole(&self, items: &[Entry], in_range: impl Fn(Cursor) -> bool) -> Result<(), Wrong> {
        let is_there = |cursor: &Cursor| items.binary_search_by(|item| cursor.cmp(&item.cursor)).is_ok();
        match self.must.iter().find(|cursor| in_range(**cursor) && !is_there(cursor)) {
            Some(cursor) => Err(Wrong::item(*cursor, "is missing")),
            None => Ok(()),
        }
    }

    fn check_page(&self, request: &PageRequest<ContentId>, page: &Page<Entry, ContentId>) -> Result<(), Wrong> {
        let (span, items) = (request.span, &page.items);
        let (first, last) = ends(request, items);
        self.check_items(items)?;
        self.check_shape(request, page)?;
        let upwards = request.order() == Order::OldestFirst;
        let full = items.len() == request.limit;
        let shown = |cursor| match (upwards, full) {
            (true, true) => first.is_none_or(|first| cursor <= first),
            (false, true) => last.is_none_or(|last| cursor >= last),
            _ => true,
        };
        let has_come = |cursor| !upwards || self.may.get(&cursor).is_none_or(|life| !life.ahead);
        self.no_hole(items, |cursor| span.contains(cursor) && shown(cursor) && has_come(cursor))?;
        // The items after `next`: downwards the rest of the span, upwards all older ones.
        let beyond = |cursor: &Cursor| last.is_some_and(|last| *cursor < last) && (upwards || span.contains(*cursor));
        match page.next {
            None => match self.must.iter().find(|cursor| beyond(cursor)) {
                Some(cursor) => Err(Wrong::item(*cursor, "is beyond an early end")),
                None => Ok(()),
            },
            Some(_) if self.may.keys().any(beyond) && (full || upwards) => Ok(()),
            Some(next) => Err(Wrong::item(next, "is `next` and leads to nothing")),
        }
    }

    fn check_shape(&self, request: &PageRequest<ContentId>, page: &Page<Entry, ContentId>) -> Result<(), String> {
        let (span, items) = (request.span, &page.items);
        let (first, last) = ends(request, items);
        ensure!(items.iter().all(|item| span.contains(item.cursor)), "something is out of range");
        ensure!(items.len() <= request.limit, "more than the limit");
        let top = first.or(span.after).or(span.before.map(Cursor::just_below));
        // Below items that are not in the order yet.
        let settled = page.prev.is_some_and(|prev| {
            let is_end = items.iter().any(|item| item.cursor == prev) || span.after.is_none_or(|after| after == prev);
            request.order() == Order::NewestFirst && Some(prev) < top && is_end
        });
        ensure!(page.prev == top || settled, "prev is {:?}, not {top:?}", page.prev);
        ensure!(page.next.is_none() || page.next == last, "next is not the end of the page");
        Ok(())
    }
}

/// The first item, and the end of the page: its last item or, if it is empty and upwards, just above its bound.
fn ends(request: &PageRequest<ContentId>, items: &[Entry]) -> (Option<Cursor>, Option<Cursor>) {
    let upwards = request.span.after.filter(|_| request.order() == Order::OldestFirst);
    (items.first().map(|item| item.cursor), items.last().map(|item| item.cursor).or(upwards.map(Cursor::just_above)))
}

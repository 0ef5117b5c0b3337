//! What several threads did and saw, and whether the one fits the other.
//!
//! Every call is written down with the ticks of a shared clock at which it began and ended. A change
//! that ended before a read began *must* show in it; one that began after it ended *must not*; in
//! between both are right.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};

use tideline::model::{ContentId, Cursor, Entry, Order, Page, PageRequest, UserId};

/// Counts calls that begin and end.
#[derive(Debug, Default)]
pub(crate) struct Clock(AtomicU64);

impl Clock {
    pub(crate) fn tick(&self) -> u64 {
        self.0.fetch_add(1, Ordering::SeqCst)
    }

    /// Makes a call; its window is the span of ticks around it.
    pub(crate) fn during<T>(&self, call: impl FnOnce() -> T) -> (Window, T) {
        let began = self.tick();
        let result = call();
        (Window { began, ended: self.tick() }, result)
    }
}

/// When a call was under way.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Window {
    pub(crate) began: u64,
    pub(crate) ended: u64,
}

impl Window {
    fn is_before(&self, other: &Self) -> bool {
        self.ended < other.began
    }
}

/// An item's life.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Life {
    pub(crate) entry: Entry,
    pub(crate) published: Window,
    pub(crate) deleted: Option<Window>,
}

impl Life {
    fn must_live(&self, read: &Window) -> bool {
        self.published.is_before(read) && self.deleted.is_none_or(|deleted| read.is_before(&deleted))
    }

    fn may_live(&self, read: &Window) -> bool {
        !read.is_before(&self.published) && self.deleted.is_none_or(|deleted| !deleted.is_before(read))
    }
}

/// What was read.
#[derive(Debug, Clone)]
pub(crate) enum Seen {
    Page(PageRequest<ContentId>, Page<Entry, ContentId>),
    /// From the top to the end by `next`.
    Scroll(Vec<Entry>),
}

/// One read.
#[derive(Debug, Clone)]
pub(crate) struct Read {
    pub(crate) user: UserId,
    pub(crate) window: Window,
    pub(crate) seen: Seen,
}

/// What one thread did, or all of them together.
#[derive(Debug, Default)]
pub(crate) struct History {
    pub(crate) lives: Vec<Life>,
    /// Of each pair of user and author, what was asked for, in order. One thread changes one pair.
    pub(crate) pairs: HashMap<(UserId, UserId), Vec<(Window, bool)>>,
    pub(crate) reads: Vec<Read>,
}

/// What may and what must be in an answer.
struct Bounds<'a> {
    must: Vec<Cursor>,
    may: HashMap<Cursor, &'a Life>,
}

impl History {
    pub(crate) fn relate(&mut self, user: UserId, target: UserId, window: Window, follow: bool) {
        self.pairs.entry((user, target)).or_default().push((window, follow));
    }

    pub(crate) fn merge(&mut self, other: Self) {
        self.lives.extend(other.lives);
        self.pairs.extend(other.pairs);
        self.reads.extend(other.reads);
    }

    /// Whether a user must, and whether a user may, be taken to follow an author during a read.
    fn follows(&self, user: UserId, author: UserId, read: &Window) -> (bool, bool) {
        let Some(changes) = self.pairs.get(&(user, author)) else { return (false, false) };
        let before = changes.iter().rev().find(|(window, _)| window.is_before(read)).is_some_and(|(_, follow)| *follow);
        let meanwhile = || changes.iter().filter(|(window, _)| !window.is_before(read) && !read.is_before(window));
        (before && meanwhile().all(|(_, follow)| *follow), before || meanwhile().any(|(_, follow)| *follow))
    }

    fn bounds(&self, read: &Read, include_own: bool) -> Bounds<'_> {
        let mut authors = HashMap::new();
        let mut bounds = Bounds { must: Vec::new(), may: HashMap::new() };
        for life in &self.lives {
            let author = life.entry.author;
            let (must, may) = *authors.entry(author).or_insert_with(|| match include_own && author == read.user {
                true => (true, true),
                false => self.follows(read.user, author, &read.window),
            });
            if must && life.must_live(&read.window) {
                bounds.must.push(life.entry.cursor);
            }
            if may && life.may_live(&read.window) {
                bounds.may.insert(life.entry.cursor, life);
            }
        }
        bounds
    }

    /// Compares every read with what was done around it.
    pub(crate) fn check(&self, include_own: bool) -> Result<(), String> {
        for read in &self.reads {
            let bounds = self.bounds(read, include_own);
            let result = match &read.seen {
                Seen::Page(request, page) => bounds.check_page(request, page),
                Seen::Scroll(entries) => bounds.check_items(entries).and_then(|()| bounds.no_hole(entries, |_| true)),
            };
            result.map_err(|failure| self.describe(read, &failure))?;
        }
        Ok(())
    }

    fn describe(&self, read: &Read, failure: &str) -> String {
        let pairs: Vec<_> = self.pairs.iter().filter(|((user, _), _)| *user == read.user).collect();
        let near = |window: &Window| window.ended + 200 > read.window.began && window.began < read.window.ended + 200;
        let changes: Vec<_> = pairs
            .iter()
            .flat_map(|(pair, changes)| changes.iter().filter(|(w, _)| near(w)).map(move |change| (pair.1, change)))
            .collect();
        format!("{failure}\n{read:?}\nchanges of follows around it: {changes:?}")
    }
}

impl Bounds<'_> {
    /// Newest first, nothing twice, nothing that may not be there.
    fn check_items(&self, items: &[Entry]) -> Result<(), String> {
        ensure!(items.is_sorted_by(|a, b| a.cursor > b.cursor), "not in order, or something comes twice");
        for item in items {
            ensure!(self.may.get(&item.cursor).is_some_and(|life| life.entry == *item), "{item:?} must not be there");
        }
        Ok(())
    }

    /// All that must be there, as far as it is in range.
    fn no_hole(&self, items: &[Entry], in_range: impl Fn(Cursor) -> bool) -> Result<(), String> {
        for cursor in self.must.iter().filter(|cursor| in_range(**cursor)) {
            let there = items.binary_search_by(|item| cursor.cmp(&item.cursor)).is_ok();
            ensure!(there, "{cursor} is missing");
        }
        Ok(())
    }

    fn check_page(&self, request: &PageRequest<ContentId>, page: &Page<Entry, ContentId>) -> Result<(), String> {
        let (span, items) = (request.span, &page.items);
        let (first, last) = (items.first().map(|item| item.cursor), items.last().map(|item| item.cursor));
        self.check_items(items)?;
        ensure!(items.iter().all(|item| span.contains(item.cursor)), "something is out of range");
        ensure!(items.len() <= request.limit, "more than the limit");
        ensure_eq!(page.prev, first.or(span.after), "prev");
        ensure!(page.next.is_none() || page.next == last, "next is not the last item");
        let upwards = request.order() == Order::OldestFirst;
        let full = items.len() == request.limit;
        let shown = |cursor| match (upwards, full) {
            (true, true) => first.is_none_or(|first| cursor <= first),
            (false, true) => last.is_none_or(|last| cursor >= last),
            _ => true,
        };
        self.no_hole(items, |cursor| span.contains(cursor) && shown(cursor))?;
        // What `next` leads to: downwards the rest of the span, upwards all that is older.
        let beyond = |cursor: &Cursor| last.is_some_and(|last| *cursor < last) && (upwards || span.contains(*cursor));
        match page.next {
            None => ensure!(!self.must.iter().any(beyond), "an early end"),
            Some(_) => ensure!(self.may.keys().any(beyond) && (full || upwards), "next leads to nothing"),
        }
        Ok(())
    }
}

//! Reading the home timeline.
//!
//! A page is merged from four sources: the inbox above its floor, the pending items, the outboxes of authors whose
//! items the inbox may lack, and, at or below the floor, the outboxes of all followees.
//!
//! Two orders matter. `pending` is read *before* the inbox: an item leaves `pending` after it is in the inboxes, so it
//! is found in one of them, or in both. The reader's activity, followees and unsettled pairs come from several places.
//! So epoch and activity are read before and compared after; if either changed, the page is read again.

use super::Feed;
use super::followees::List;
use super::lists::ReadStart;
use crate::error::{Error, Result};
use crate::model::{Activity, ContentId, Cursor, Entry, Order, Page, PageRequest, Span, UserId};
use crate::store::Tier;
use std::cell::Cell;
use std::ops::ControlFlow;

/// Attempts to read a page before it is pulled instead. A pull uses no inbox, so nothing can change between.
const ATTEMPTS: usize = 4;
/// The same for administrators, who want to see the inbox.
const PATIENT_ATTEMPTS: usize = 64;

/// The least number of entries that the second request for a stretch asks for, if the first stretch had too few live
/// entries.
const FIRST_MORE: usize = 32;
/// The least number doubles with each further request, up to this number.
const LAST_MORE: usize = 1024;

/// Most authors of a reader whose page is read from memory. Each author is looked up, even if the inbox has the whole
/// page.
const MOST_AUTHORS: usize = 2048;

/// Most pending items that a page from memory looks at.
const MOST_PENDING: usize = 2048;

/// Bounds of the numbers of outboxes that a read looks into.
pub(super) const PULLS: [u64; 8] = [0, 1, 4, 16, 64, 256, 1000, 4000];

/// The state of a reader that a page needs.
struct Reader {
    user: UserId,
    /// Authors whose content is shown, ascending; see [`Feed::authors`].
    authors: List,
    /// Authors whose rows in the inbox do not count, ascending.
    unsettled: Vec<UserId>,
    /// Decides which items the inbox may lack.
    activity: Activity,
    /// Outboxes read so far, for the figures.
    pulls: Cell<u64>,
}

/// Reads a stretch of a timeline: at least this many entries within a span, or all.
pub(super) type Stretches<'a> = dyn Fn(Span<ContentId>, Order, usize) -> Result<Stretch> + 'a;

/// A stretch of a timeline, in the order of its walk.
#[derive(Default)]
pub(super) struct Stretch {
    entries: Vec<Entry>,
    /// The end, if it is short of the span. Entries beyond it were not read.
    end: Option<Cursor>,
}

impl Feed {
    /// A page of a user's home timeline. Counts as the user being active.
    pub fn timeline(
        &self,
        user: UserId,
        request: &PageRequest<ContentId>,
        tier: Tier,
    ) -> Result<Page<Entry, ContentId>> {
        self.exact(user, tier, || self.see(user, tier), |stretch| self.page(request, stretch, tier))
    }

    /// The same page for administrators: it does not mark the user as seen.
    pub(super) fn peeked_timeline(
        &self,
        user: UserId,
        request: &PageRequest<ContentId>,
        tier: Tier,
    ) -> Result<Page<Entry, ContentId>> {
        let activity = || self.store.activity(user, tier);
        self.exact_after(PATIENT_ATTEMPTS, user, tier, activity, |stretch| self.page(request, stretch, tier))
    }

    /// Runs `look` on stretches of a timeline and returns its result. They come from the inbox if possible, else from
    /// outboxes alone. `look` may run several times.
    pub(super) fn exact<T>(
        &self,
        user: UserId,
        tier: Tier,
        activity: impl Fn() -> Result<Activity>,
        look: impl Fn(&Stretches<'_>) -> Result<T>,
    ) -> Result<T> {
        self.exact_after(ATTEMPTS, user, tier, activity, look)
    }

    fn exact_after<T>(
        &self,
        attempts: usize,
        user: UserId,
        tier: Tier,
        activity: impl Fn() -> Result<Activity>,
        look: impl Fn(&Stretches<'_>) -> Result<T>,
    ) -> Result<T> {
        for _ in 0..attempts {
            let start = self.read_start();
            let epoch = self.backlog.epoch(user);
            // First of all: fan-outs that choose their recipients after this choose a reader who was seen.
            let activity = activity()?;
            let reader = self.reader(user, activity, tier)?;
            if !reader.activity.has_inbox() {
                break;
            }
            let seen = look(&|span, order, n| Ok(self.stretch(&reader, span, order, n, tier)?.of_before(&start)))?;
            // A fan-out makes a reader dormant before it skips the reader. So if `look` lacks a skipped item, the
            // activity differs here.
            if self.store.activity(user, tier)?.is_like(reader.activity) && self.backlog.epoch(user) == epoch {
                self.pulls.observe(reader.pulls.get());
                return Ok(seen);
            }
        }
        let start = self.read_start();
        let authors = self.authors(user, tier)?;
        let pulls = Cell::new(0);
        let seen = look(&|span, order, n| {
            add(&pulls, authors.len());
            Ok(self.pull(&authors, span, order, n, tier)?.of_before(&start))
        })?;
        self.pulls.observe(pulls.get());
        Ok(seen)
    }

    /// The same page from outboxes alone: slower, and right by definition.
    pub(super) fn pulled_timeline(
        &self,
        user: UserId,
        request: &PageRequest<ContentId>,
        tier: Tier,
    ) -> Result<Page<Entry, ContentId>> {
        let start = self.read_start();
        let authors = self.authors(user, tier)?;
        let pull = |span, order, n| Ok(self.pull(&authors, span, order, n, tier)?.of_before(&start));
        self.page(request, &pull, tier)
    }

    /// Authors whose content a user is shown: the followees without barriers, and the user with `include_own`.
    /// Ascending.
    pub(super) fn authors(&self, user: UserId, tier: Tier) -> Result<List> {
        self.followees.get(user, || {
            let mut authors = self.store.authors(user, tier)?;
            if self.config.timeline.include_own
                && let Err(place) = authors.binary_search(&user)
            {
                authors.insert(place, user);
            }
            Ok(authors.into())
        })
    }

    fn reader(&self, user: UserId, activity: Activity, tier: Tier) -> Result<Reader> {
        let authors = self.authors(user, tier)?;
        if tier == Tier::Memory && authors.len() > MOST_AUTHORS {
            return Err(Error::NotCached);
        }
        let unsettled = self.backlog.unsettled(user);
        Ok(Reader { user, authors, unsettled, activity, pulls: Cell::new(0) })
    }

    /// Fills a page from stretches, without deleted items.
    fn page(
        &self,
        request: &PageRequest<ContentId>,
        stretch: &Stretches<'_>,
        tier: Tier,
    ) -> Result<Page<Entry, ContentId>> {
        let found = self.live_entries(request.span, request.order(), request.limit + 1, stretch, tier)?;
        let older_exist = |place: Cursor| {
            let span = Span { before: Some(place), after: None };
            Ok(!self.live_entries(span, Order::NewestFirst, 1, stretch, tier)?.is_empty())
        };
        Page::from_walk(request, found, |entry| entry.cursor, older_exist)
    }

    /// The first `limit` live items within `span`.
    pub(super) fn live_entries(
        &self,
        span: Span<ContentId>,
        order: Order,
        limit: usize,
        stretch: &Stretches<'_>,
        tier: Tier,
    ) -> Result<Vec<Entry>> {
        first_live(span, order, limit, stretch, |ids| self.store.deleted(ids, tier))
    }

    /// At least the next `n` entries of a reader's timeline within `span`, or all there are.
    fn stretch(&self, reader: &Reader, span: Span<ContentId>, order: Order, n: usize, tier: Tier) -> Result<Stretch> {
        // For oldest first, the oldest items may all lie below the floor and be dropped, so all are taken.
        let most = if order == Order::NewestFirst { n } else { usize::MAX };
        let seen = if tier == Tier::Memory { MOST_PENDING } else { usize::MAX };
        let pending = self.backlog.pending(&reader.authors, span, order, most, seen);
        let mut pending = pending.ok_or(Error::NotCached)?;
        let mut rows = Vec::with_capacity(n);
        let floor = self.store.inbox(reader.user, span, order, tier, &mut |entry| {
            let counts = reader.authors.binary_search(&entry.author).is_ok()
                && reader.unsettled.binary_search(&entry.author).is_err();
            if counts {
                rows.push(entry);
            }
            if rows.len() < n { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
        })?;
        pending.retain(|entry| Some(entry.cursor) > floor);
        let pulled = self.pulled_authors(reader, floor, tier)?;
        let above = || {
            add(&reader.pulls, pulled.len());
            let outboxes = self.store.outboxes(&pulled, span.newer_than(floor), order, n, tier)?;
            Ok(merge([pending, rows, outboxes], order, n))
        };
        // The floor divides the span; the part on the walk's side comes first.
        let Some(floor) = floor.filter(|floor| span.after.is_none_or(|after| after < *floor)) else { return above() };
        let below = |n| {
            add(&reader.pulls, reader.authors.len());
            match floor.next_newer() {
                Some(top) => self.pull(&reader.authors, span.older_than(top), order, n, tier),
                None => self.pull(&reader.authors, span, order, n, tier),
            }
        };
        match order {
            Order::NewestFirst => above()?.then(n, below),
            Order::OldestFirst => below(n)?.then(n, |_| above()),
        }
    }

    fn pull(&self, authors: &[UserId], span: Span<ContentId>, order: Order, n: usize, tier: Tier) -> Result<Stretch> {
        Ok(Stretch::of(self.store.outboxes(authors, span, order, n, tier)?, n))
    }

    /// Authors whose outboxes are read beside an inbox with this floor.
    fn pulled_authors(&self, reader: &Reader, floor: Option<Cursor>, tier: Tier) -> Result<Vec<UserId>> {
        let mut pulled = self.store.lacking(&reader.authors, floor, reader.activity.is_active(), tier)?;
        let shown = |author: &&UserId| reader.authors.binary_search(author).is_ok();
        pulled.extend(reader.unsettled.iter().chain([&reader.user]).filter(shown));
        pulled.sort_unstable();
        pulled.dedup();
        Ok(pulled)
    }
}

fn add(count: &Cell<u64>, more: usize) {
    count.set(count.get() + more as u64);
}

impl Stretch {
    /// A stretch of one source that was asked for `n` entries.
    fn of(entries: Vec<Entry>, n: usize) -> Self {
        let end = entries.last().filter(|_| entries.len() >= n).map(|entry| entry.cursor);
        Self { entries, end }
    }

    /// The same without entries that were published after `start`.
    fn of_before(mut self, start: &ReadStart<'_>) -> Self {
        start.keep_older(&mut self.entries);
        self
    }

    /// Appends the next stretch, unless this one has `n` entries or ended early.
    fn then(mut self, n: usize, next: impl FnOnce(usize) -> Result<Stretch>) -> Result<Stretch> {
        if self.end.is_none() && self.entries.len() < n {
            let more = next(n - self.entries.len())?;
            self.entries.extend(more.entries);
            self.end = more.end;
        } else if self.end.is_none() {
            // Enough, but some may be deleted, and entries beyond were not read.
            self.end = self.entries.last().map(|entry| entry.cursor);
        }
        Ok(self)
    }
}

/// The first `limit` entries within `span` that are not deleted. If some are deleted, it asks for more at a time,
/// because each stretch has a fixed cost.
fn first_live(
    mut span: Span<ContentId>,
    order: Order,
    limit: usize,
    stretch: &Stretches<'_>,
    deleted: impl Fn(&[ContentId]) -> Result<Vec<bool>>,
) -> Result<Vec<Entry>> {
    let mut found: Vec<Entry> = Vec::with_capacity(limit);
    let (mut ask, mut more) = (limit, FIRST_MORE);
    loop {
        let part = stretch(span, order, ask)?;
        let ids: Vec<_> = part.entries.iter().map(|entry| entry.cursor.id).collect();
        let deleted = deleted(&ids)?;
        found.extend(part.entries.into_iter().zip(deleted).filter(|(_, deleted)| !deleted).map(|(entry, _)| entry));
        found.truncate(limit);
        let Some(end) = part.end.filter(|_| found.len() < limit) else { return Ok(found) };
        match order {
            Order::NewestFirst => span.before = Some(end),
            Order::OldestFirst => span.after = Some(end),
        }
        ask = (limit - found.len()).max(more);
        more = (2 * more).min(LAST_MORE);
    }
}

/// Merges sources of the same span that were each asked for `n` entries. An entry of several sources comes once.
fn merge(sources: [Vec<Entry>; 3], order: Order, n: usize) -> Stretch {
    let later = |a: Cursor, b: Cursor| match order {
        Order::NewestFirst => a.min(b),
        Order::OldestFirst => a.max(b),
    };
    let earlier = |a: Cursor, b: Cursor| if later(a, b) == a { b } else { a };
    // A source that gave all it was asked for may have more beyond; so the stretch ends there.
    let end = sources.iter().filter_map(|source| source.get(n - 1)).map(|entry| entry.cursor).reduce(earlier);
    let mut entries: Vec<Entry> = Vec::with_capacity(sources.iter().map(Vec::len).sum());
    let mut sources = sources.map(|source| source.into_iter().peekable());
    loop {
        let heads = sources.iter_mut().enumerate().filter_map(|(i, source)| source.peek().map(|head| (i, head.cursor)));
        let first = heads.reduce(|a, b| if later(a.1, b.1) == b.1 { a } else { b });
        let Some(entry) = first.and_then(|(i, _)| sources[i].next()) else { break };
        if entries.last().is_none_or(|last| last.cursor != entry.cursor) {
            entries.push(entry);
        }
        if end == Some(entry.cursor) {
            break;
        }
    }
    Stretch { entries, end }
}

#[cfg(test)]
mod tests {
    use std::cell::RefCell;

    use super::*;

    fn entries(ids: &[u64]) -> Vec<Entry> {
        let cursor = |id: &u64| Cursor { at: 0, id: ContentId::new(*id).expect("in range") };
        ids.iter().map(|id| Entry { cursor: cursor(id), author: UserId::MIN }).collect()
    }

    #[test]
    fn a_stretch_that_is_not_gone_on_with_says_where_it_ends() {
        let whole = || Stretch { entries: entries(&[9, 8]), end: None };
        let next = |_| Ok(Stretch { entries: entries(&[7]), end: None });
        let then = |n| whole().then(n, next).expect("goes on");
        assert_eq!((then(2).entries, then(2).end), (entries(&[9, 8]), entries(&[8]).first().map(|e| e.cursor)));
        assert_eq!((then(3).entries, then(3).end), (entries(&[9, 8, 7]), None));
    }

    #[test]
    fn a_run_of_deleted_items_takes_few_stretches() {
        // 20 live ones, 1000 deleted ones, 5 live ones, newest first.
        let all: Vec<u64> = (1..=1025).rev().collect();
        let deleted = |ids: &[ContentId]| Ok(ids.iter().map(|id| (6..=1005).contains(&id.get())).collect());
        let asked = RefCell::new(Vec::new());
        let stretch = |span: Span<ContentId>, _: Order, n: usize| {
            asked.borrow_mut().push(n);
            let rows = entries(&all).into_iter().filter(|entry| span.contains(entry.cursor)).take(n);
            Ok(Stretch::of(rows.collect(), n))
        };
        for (limit, most) in [(20, 1), (21, 7), (25, 7), (26, 8)] {
            asked.borrow_mut().clear();
            let found = first_live(Span::ALL, Order::NewestFirst, limit, &stretch, deleted).expect("reads");
            let live: Vec<_> = all[..20].iter().chain(&all[1020..]).copied().take(limit).collect();
            assert_eq!(found, entries(&live), "{limit}");
            let asked = asked.borrow();
            assert!(asked[0] == limit && asked.len() <= most, "{limit}: {asked:?}");
        }
    }

    #[test]
    fn a_merge_ends_where_the_first_source_may_have_more() {
        let merged = merge([entries(&[9, 7]), entries(&[8, 7, 3]), entries(&[])], Order::NewestFirst, 3);
        assert_eq!(merged.entries, entries(&[9, 8, 7, 3]));
        assert_eq!(merged.end, entries(&[3]).first().map(|e| e.cursor));
        let merged = merge([entries(&[9, 6]), entries(&[8, 2]), entries(&[1])], Order::NewestFirst, 2);
        assert_eq!(merged.entries, entries(&[9, 8, 6]));
        let merged = merge([entries(&[1, 5]), entries(&[2]), entries(&[5, 6])], Order::OldestFirst, 2);
        assert_eq!(merged.entries, entries(&[1, 2, 5]));
        assert_eq!(merged.end, entries(&[5]).first().map(|e| e.cursor));
        let merged = merge([entries(&[1]), entries(&[2]), entries(&[])], Order::OldestFirst, 2);
        assert_eq!((merged.entries, merged.end), (entries(&[1, 2]), None));
    }
}

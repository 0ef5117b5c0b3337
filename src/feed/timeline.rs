//! Reading the home timeline.
//!
//! A page is merged from four sources: the inbox above its floor, the items whose fan-out is not
//! done, the outboxes of authors of whom the inbox may lack something, and, at or below the floor,
//! the outboxes of all followees.
//!
//! Two orders matter. An item is taken out of `pending` after it is in the inboxes, so `pending` is
//! read *before* the inbox: the item is then in one of them, or in both. And what is known of the
//! reader (activity, followees, unsettled pairs) comes from several places, so the reader's epoch is
//! taken before and compared after, and the activity looked at again: where either moved, the page
//! is read again.

use super::Feed;
use super::followees::List;
use super::lists::ReadStart;
use crate::error::{Error, Result};
use crate::model::{Activity, ContentId, Cursor, Entry, Order, Page, PageRequest, Span, UserId};
use crate::store::Tier;
use std::ops::ControlFlow;

/// How often a page is read again before it is pulled instead. A pull needs no inbox, and so
/// nothing that could change between.
const ATTEMPTS: usize = 4;
/// How often for those who look after the server, and want to see the inbox.
const PATIENT_ATTEMPTS: usize = 64;

/// How many entries are asked for at least once some were deleted: at first,
const FIRST_MORE: usize = 32;
/// and after doubling.
const LAST_MORE: usize = 1024;

/// Most authors of a reader whose page is read from memory: each is looked up there, also for a page that is all in
/// the inbox.
const MOST_AUTHORS: usize = 2048;

/// Most pending items that such a page looks at.
const MOST_PENDING: usize = 2048;

/// What a page needs to know of its reader.
struct Reader {
    user: UserId,
    /// Whose content is shown, ascending; see [`Feed::authors`].
    authors: List,
    /// Authors whose rows in the inbox do not count, ascending.
    unsettled: Vec<UserId>,
    /// What the inbox is good for.
    activity: Activity,
}

/// Reads a stretch of a timeline: at least so many entries within a span, or all there are.
pub(super) type Stretches<'a> = dyn Fn(Span<ContentId>, Order, usize) -> Result<Stretch> + 'a;

/// A stretch of a timeline, in the order of its walk.
#[derive(Default)]
pub(super) struct Stretch {
    entries: Vec<Entry>,
    /// Where the stretch ends short of its span: nothing beyond has been looked at.
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

    /// The same page without the user being seen, for those who look after the server.
    pub(super) fn peeked_timeline(
        &self,
        user: UserId,
        request: &PageRequest<ContentId>,
        tier: Tier,
    ) -> Result<Page<Entry, ContentId>> {
        let activity = || self.store.activity(user, tier);
        self.exact_after(PATIENT_ATTEMPTS, user, tier, activity, |stretch| self.page(request, stretch, tier))
    }

    /// What `look` makes of a timeline, of which it gets stretches: from the inbox if that can be, or else
    /// from outboxes alone. `look` may run several times.
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
            // Before anything else: from here on, fan-outs that choose their recipients choose a
            // reader who is seen.
            let activity = activity()?;
            let reader = self.reader(user, activity, tier)?;
            if !reader.activity.has_inbox() {
                break;
            }
            let seen = look(&|span, order, n| Ok(self.stretch(&reader, span, order, n, tier)?.of_before(&start)))?;
            // Whoever skips this reader in a fan-out has made it dormant first; so a look that lacks
            // what was skipped finds that here.
            if self.store.activity(user, tier)?.is_like(reader.activity) && self.backlog.epoch(user) == epoch {
                return Ok(seen);
            }
        }
        let start = self.read_start();
        let authors = self.authors(user, tier)?;
        look(&|span, order, n| Ok(self.pull(&authors, span, order, n, tier)?.of_before(&start)))
    }

    /// The same page from outboxes alone: slower, and the definition of what is right.
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

    /// Whose content a user is shown: the followees, less the muted and those who hide from the user; and
    /// the user itself with `include_own`. Ascending.
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
        Ok(Reader { user, authors, unsettled, activity })
    }

    /// Fills a page from stretches, leaving out what is deleted.
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
        // Upwards, the oldest may all lie below the floor and not be of use, so none is left out.
        let most = if order == Order::NewestFirst { n } else { usize::MAX };
        let seen = if tier == Tier::Memory { MOST_PENDING } else { usize::MAX };
        let pending = self.backlog.pending_among(&reader.authors, span, order, most, seen);
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
            let outboxes = self.store.outboxes(&pulled, span.newer_than(floor), order, n, tier)?;
            Ok(merge([pending, rows, outboxes], order, n))
        };
        // The floor divides the span; the part on the walk's side comes first.
        let Some(floor) = floor.filter(|floor| span.after.is_none_or(|after| after < *floor)) else { return above() };
        let below = |n| match floor.next_newer() {
            Some(top) => self.pull(&reader.authors, span.older_than(top), order, n, tier),
            None => self.pull(&reader.authors, span, order, n, tier),
        };
        match order {
            Order::NewestFirst => above()?.then(n, below),
            Order::OldestFirst => below(n)?.then(n, |_| above()),
        }
    }

    fn pull(&self, authors: &[UserId], span: Span<ContentId>, order: Order, n: usize, tier: Tier) -> Result<Stretch> {
        Ok(Stretch::of(self.store.outboxes(authors, span, order, n, tier)?, n))
    }

    /// Whose outboxes to read beside an inbox with this floor.
    fn pulled_authors(&self, reader: &Reader, floor: Option<Cursor>, tier: Tier) -> Result<Vec<UserId>> {
        let mut pulled = self.store.lacking(&reader.authors, floor, reader.activity.is_active(), tier)?;
        let shown = |author: &&UserId| reader.authors.binary_search(author).is_ok();
        pulled.extend(reader.unsettled.iter().chain([&reader.user]).filter(shown));
        pulled.sort_unstable();
        pulled.dedup();
        Ok(pulled)
    }
}

impl Stretch {
    /// Of one source that was asked for `n` entries.
    fn of(entries: Vec<Entry>, n: usize) -> Self {
        let end = entries.last().filter(|_| entries.len() >= n).map(|entry| entry.cursor);
        Self { entries, end }
    }

    /// The same without what came after an start.
    fn of_before(mut self, start: &ReadStart<'_>) -> Self {
        start.keep_older(&mut self.entries);
        self
    }

    /// Goes on with what comes after this stretch, unless it has enough or ended early.
    fn then(mut self, n: usize, next: impl FnOnce(usize) -> Result<Stretch>) -> Result<Stretch> {
        if self.end.is_none() && self.entries.len() < n {
            let more = next(n - self.entries.len())?;
            self.entries.extend(more.entries);
            self.end = more.end;
        } else if self.end.is_none() {
            // Enough, but some may be deleted: what comes after has not been looked at.
            self.end = self.entries.last().map(|entry| entry.cursor);
        }
        Ok(self)
    }
}

/// The first `limit` entries within `span` that are not deleted. Where some are, it asks for more and more
/// at a time: a stretch has its price however short it is.
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

/// Merges sources of the same span that were each asked for `n` entries. An entry that several have
/// comes once.
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

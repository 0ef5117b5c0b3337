//! Reading the home timeline.
//!
//! A page is merged from four sources: the inbox above its floor, the pending items, the outboxes of authors whose
//! items the inbox may lack, and, at or below the floor, the outboxes of all followees.
//!
//! Two orders matter. `pending` is read *before* the inbox: an item leaves `pending` after it is in the inboxes, so it
//! is found in one of them, or in both. The reader's activity, followees and unsettled pairs come from several places.
//! So epoch and activity are read before and compared after; if either changed, the page is read again.

use std::cell::Cell;
use std::ops::ControlFlow;

use super::followees::List;
use super::lists::ReadStart;
use crate::Feed;
use crate::timeline::segment::{Segment, Segments, fill_page, merge};
use model::error::{Error, Result};
use model::store::Tier;
use model::{Activity, ContentId, Cursor, Entry, Order, Page, PageRequest, Span, UserId};

/// Attempts to read a page before it is pulled instead. A pull uses no inbox, so nothing can change between.
const ATTEMPTS: usize = 4;
/// Attempts of a read for administrators, who want to see the inbox.
const PATIENT_ATTEMPTS: usize = 64;

/// Most authors of a reader whose page is read from memory. Each author is looked up, even if the inbox has the whole
/// page.
const MOST_AUTHORS: usize = 2048;

/// Most pending items that a page from memory looks at.
const MOST_PENDING: usize = 2048;

/// Bounds of the numbers of outboxes that a read looks into.
pub(crate) const PULLS: [u64; 8] = [0, 1, 4, 16, 64, 256, 1000, 4000];

/// The state of a reader that a page needs.
struct Reader {
    user: UserId,
    /// Authors whose content is shown, ascending; see [`Feed::authors`].
    authors: List,
    /// Authors whose entries in the inbox do not count, ascending.
    unsettled: Vec<UserId>,
    /// Decides which items the inbox may lack.
    activity: Activity,
    /// Outboxes read so far, for the figures.
    pulls: Cell<u64>,
}

impl Feed {
    /// A page of a user's home timeline. Counts as the user being active.
    pub fn timeline(
        &self,
        user: UserId,
        request: &PageRequest<ContentId>,
        tier: Tier,
    ) -> Result<Page<Entry, ContentId>> {
        self.exact(user, tier, || self.see(user, tier), |start, segment| self.page(request, start, segment, tier))
    }

    /// A page for administrators: it does not mark the user as seen.
    pub(crate) fn peeked_timeline(
        &self,
        user: UserId,
        request: &PageRequest<ContentId>,
        tier: Tier,
    ) -> Result<Page<Entry, ContentId>> {
        let activity = || self.activity(user, tier);
        let look = |start: &ReadStart<'_>, segment: &Segments<'_>| self.page(request, start, segment, tier);
        self.read_consistently(PATIENT_ATTEMPTS, user, tier, activity, look)
    }

    /// Runs `look` on segments of a timeline and returns its result. They come from the inbox if possible, else from
    /// outboxes alone. `look` may run several times.
    pub(crate) fn exact<T>(
        &self,
        user: UserId,
        tier: Tier,
        activity: impl Fn() -> Result<Activity>,
        look: impl Fn(&ReadStart<'_>, &Segments<'_>) -> Result<T>,
    ) -> Result<T> {
        self.read_consistently(ATTEMPTS, user, tier, activity, look)
    }

    fn read_consistently<T>(
        &self,
        attempts: usize,
        user: UserId,
        tier: Tier,
        activity: impl Fn() -> Result<Activity>,
        look: impl Fn(&ReadStart<'_>, &Segments<'_>) -> Result<T>,
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
            let segment = |span, order, n| Ok(self.segment(&reader, span, order, n, tier)?.of_before(&start, order));
            let seen = look(&start, &segment)?;
            // A fan-out makes a reader dormant before it skips the reader. So if `look` lacks a skipped item, the
            // activity differs here.
            if self.activity(user, tier)?.is_like(reader.activity) && self.backlog.epoch(user) == epoch {
                self.pulls.observe(reader.pulls.get());
                return Ok(seen);
            }
        }
        let start = self.read_start();
        let authors = self.authors(user, tier)?;
        let pulls = Cell::new(0);
        let seen = look(&start, &|span, order, n| {
            add(&pulls, authors.len());
            Ok(self.pull(&authors, span, order, n, tier)?.of_before(&start, order))
        })?;
        self.pulls.observe(pulls.get());
        Ok(seen)
    }

    /// A page from outboxes alone: slower, and right by definition.
    pub(crate) fn pulled_timeline(
        &self,
        user: UserId,
        request: &PageRequest<ContentId>,
        tier: Tier,
    ) -> Result<Page<Entry, ContentId>> {
        let start = self.read_start();
        let authors = self.authors(user, tier)?;
        let pull = |span, order, n| Ok(self.pull(&authors, span, order, n, tier)?.of_before(&start, order));
        self.page(request, &start, &pull, tier)
    }

    /// Authors whose content a user is shown: the followees without barriers, and the user with `include_own`.
    /// Ascending.
    pub(crate) fn authors(&self, user: UserId, tier: Tier) -> Result<List> {
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

    /// Fills a page from segments, without deleted items.
    fn page(
        &self,
        request: &PageRequest<ContentId>,
        start: &ReadStart<'_>,
        segment: &Segments<'_>,
        tier: Tier,
    ) -> Result<Page<Entry, ContentId>> {
        let found = self.live_entries(request.span, request.order(), request.limit + 1, segment, tier)?;
        let older_exist = |place: Cursor| {
            let span = Span { before: Some(place), after: None };
            Ok(!self.live_entries(span, Order::NewestFirst, 1, segment, tier)?.is_empty())
        };
        let page = Page::from_walk(request, found, |entry| entry.cursor, older_exist);
        page.map(|page| start.settled(page, request))
    }

    /// The first `limit` live items within `span`.
    pub(crate) fn live_entries(
        &self,
        span: Span<ContentId>,
        order: Order,
        limit: usize,
        segment: &Segments<'_>,
        tier: Tier,
    ) -> Result<Vec<Entry>> {
        fill_page(span, order, limit, segment, |entries| {
            let ids: Vec<_> = entries.iter().map(|entry| entry.cursor.id).collect();
            self.store.deleted(&ids, tier)
        })
    }

    /// At least the next `n` entries of a reader's timeline within `span`, or all there are.
    fn segment(&self, reader: &Reader, span: Span<ContentId>, order: Order, n: usize, tier: Tier) -> Result<Segment> {
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
        rows.retain(|entry| Some(entry.cursor) > floor);
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

    fn pull(&self, authors: &[UserId], span: Span<ContentId>, order: Order, n: usize, tier: Tier) -> Result<Segment> {
        Ok(Segment::of(self.store.outboxes(authors, span, order, n, tier)?, n))
    }

    /// Authors whose outboxes are read beside an inbox with this floor.
    fn pulled_authors(&self, reader: &Reader, floor: Option<Cursor>, tier: Tier) -> Result<Vec<UserId>> {
        let mut pulled = self.store.authors_with_unpushed(&reader.authors, floor, reader.activity.is_active(), tier)?;
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

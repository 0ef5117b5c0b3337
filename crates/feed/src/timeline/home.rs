//! Reading the home timeline.
//!
//! A page is merged from four sources: the inbox above its floor, the pending items, the outboxes of authors whose
//! items the inbox may lack, and, at or below the floor, the outboxes of all followees.
//!
//! Two orders matter. Pending items are read *before* the inbox: an item stops being pending after it is in the inboxes, so
//! it is found in one of the two, or in both. Sources, silenced authors, suspended users and unsettled pairs come from
//! several places. So their versions are noted first, and the page is read again if a change of them has begun meanwhile.
//! Otherwise an unfollow and then an unmute between two looks would show items that were never to be seen. The activity has
//! no version and is itself compared: see [`Inbox::activity`].

use std::cell::Cell;

use super::sources::listed_authors;
use super::tables;
use crate::caches::followees::List;
use crate::pages::segment::{MOST_PATHS, ReadStart, Segment, merge};
use crate::read::Read;
use crate::{inbox, items, restrictions, timeline, visibility};
use kv::Tier;
use model::error::{Error, Result};
use model::versions::{Dependencies, Thing};
use model::{
    Activity, ContentId, ContentPage, Cursor, Entry, ListId, Order, PageRequest, Scan, Scanned, ShownSources, UserId,
};

/// Most authors of a reader whose page is read from memory. Each author is looked up, even if the inbox has the whole
/// page.
const MOST_AUTHORS: usize = 2048;
/// Most pending items that a page from memory looks at.
const MOST_PENDING: usize = 2048;

/// The reader of a timeline.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Reader {
    /// The user of the timeline, who counts as seen.
    User,
    /// Somebody who looks at what the user sees. The user does not count as seen.
    Guest,
}

/// Most attempts of a read while changes are made.
const ATTEMPTS: usize = 4;

/// A page of a user's home timeline. Counts as the user being active, but for a read that is [`Read::peeking`].
pub fn page(read: Read<'_>, user: UserId, request: &PageRequest<ContentId>) -> Result<ContentPage> {
    let reader = if read.peeks { Reader::Guest } else { Reader::User };
    look_at_timeline(read, user, reader, |timeline| timeline.page(request))
}

/// A page of the home timeline from the inbox, if there is one. Unlike [`timeline::page`](crate::timeline::page), it uses
/// the inbox in the last attempt, too. Workers may have changed the inbox meanwhile.
pub(crate) fn inbox_page(read: Read<'_>, user: UserId, request: &PageRequest<ContentId>) -> Result<ContentPage> {
    let open = || Timeline::open(read, user, Reader::Guest);
    look_beside_changes(read, open, open, |timeline| timeline.page(request))
}

/// The page of [`timeline::page`](crate::timeline::page) from outboxes alone: slower. While no source changes it is right
/// by definition.
pub(crate) fn pulled_page(read: Read<'_>, user: UserId, request: &PageRequest<ContentId>) -> Result<ContentPage> {
    Timeline::pulled(read, user, None)?.page(request)
}

/// A page of the timeline of a user's list: that of its members in place of the followees, pulled from their outboxes.
pub fn list_page(read: Read<'_>, user: UserId, list: ListId, request: &PageRequest<ContentId>) -> Result<ContentPage> {
    look_at_list(read, user, list, |timeline| timeline.page(request))
}

/// The result of `look` for a timeline that does not change meanwhile. `look` may run several times.
pub(super) fn look_at_timeline<T>(
    read: Read<'_>,
    user: UserId,
    reader: Reader,
    look: impl Fn(&Timeline<'_>) -> Result<T>,
) -> Result<T> {
    look_beside_changes(read, || Timeline::open(read, user, reader), || Timeline::pulled(read, user, None), look)
}

/// The same for the timeline of a list.
pub(super) fn look_at_list<T>(
    read: Read<'_>,
    user: UserId,
    list: ListId,
    look: impl Fn(&Timeline<'_>) -> Result<T>,
) -> Result<T> {
    let open = || Timeline::pulled(read, user, Some(list));
    look_beside_changes(read, open, open, look)
}

/// Opens a timeline and looks at it, again until nothing has changed meanwhile. The last attempt holds changes back, and
/// opens the timeline by `open_still`.
fn look_beside_changes<'t, T>(
    read: Read<'_>,
    open: impl Fn() -> Result<Timeline<'t>>,
    open_still: impl Fn() -> Result<Timeline<'t>>,
    look: impl Fn(&Timeline<'_>) -> Result<T>,
) -> Result<T> {
    // Counted once for a read: the pulls of the attempt that answers.
    let counted = |timeline: &Timeline<'_>, seen| {
        read.feed.figures().pulls.observe(timeline.pulls.get());
        Ok(seen)
    };
    // Beside the writer only workers change something.
    for attempt in 0..if read.feed.makes_changes { 1 } else { ATTEMPTS } {
        if attempt > 1 {
            read.needs_disk()?;
            // Waits for the end of the changes under way.
            drop(read.feed.streaming.hold_changes());
        }
        let timeline = open()?;
        if !timeline.since.are_settled() {
            continue;
        }
        let seen = look(&timeline)?;
        if timeline.is_unchanged()? {
            return counted(&timeline, seen);
        }
    }
    read.needs_disk()?;
    let _still = read.feed.streaming.hold_changes();
    let timeline = open_still()?;
    let seen = look(&timeline)?;
    counted(&timeline, seen)
}

/// A user's home timeline, as one attempt to read it sees it.
pub(crate) struct Timeline<'r> {
    read: Read<'r>,
    start: ReadStart<'r>,
    user: UserId,
    /// All sources, those who are suspended among them; see [`sources`].
    listed: List,
    /// Sources whose content is shown, with their rules.
    authors: ShownSources,
    /// `None` if only outboxes are read.
    inbox: Option<Inbox>,
    /// The list whose members are the sources, if they are not the followees.
    list: Option<ListId>,
    /// The versions of the sources and of the suspended users, noted before all else was read.
    since: Dependencies,
    /// Outboxes read so far, for the figures.
    pulls: Cell<u64>,
}

/// The facts that decide which entries of the inbox count.
struct Inbox {
    /// Decides which items the inbox may lack. A fan-out makes a reader dormant before it skips the reader. So if an item is
    /// missing because of that, the activity at the end is another one. That holds for a user who has come back meanwhile,
    /// too: the time in it is later. It has no version, because workers change it for thousands of readers at once.
    activity: Activity,
    /// Authors whose entries in the inbox do not count, ascending.
    unsettled: Vec<UserId>,
}

impl<'r> Timeline<'r> {
    /// Opens the home timeline, with its inbox if there is one.
    pub(crate) fn open(read: Read<'r>, user: UserId, reader: Reader) -> Result<Self> {
        Self::with(read, user, None, || match reader {
            // Before the rest: fan-outs that choose their recipients after this choose a reader who was seen.
            Reader::User => timeline::mark_seen(read, user).map(Some),
            Reader::Guest => timeline::activity(read, user).map(Some),
        })
    }

    /// Opens the home timeline, or that of a list, from outboxes alone. Reads neither inbox nor activity.
    fn pulled(read: Read<'r>, user: UserId, list: Option<ListId>) -> Result<Self> {
        Self::with(read, user, list, || Ok(None))
    }

    fn with(
        read: Read<'r>,
        user: UserId,
        list: Option<ListId>,
        activity: impl FnOnce() -> Result<Option<Activity>>,
    ) -> Result<Self> {
        let start = ReadStart::of(read);
        read.depends([Thing::User(user), Thing::Sources(user)]);
        let since = read.feed.versions.now([Thing::Sources(user), Thing::Suspended]);
        let activity = activity()?;
        let (listed, authors) = sources(read, user, list)?;
        start.keeps_if_nothing_came();
        if authors.len() > MOST_AUTHORS {
            read.needs_disk()?;
        }
        let with_inbox = activity.filter(|activity| activity.has_inbox());
        let inbox = with_inbox.map(|activity| Inbox { activity, unsettled: read.feed.backlog.unsettled(user) });
        Ok(Self { read, start, user, listed, authors, inbox, list, since, pulls: Cell::default() })
    }

    /// Whether all that was read belongs together.
    fn is_unchanged(&self) -> Result<bool> {
        if !self.read.feed.is_unchanged(&self.since) {
            return Ok(false);
        }
        let Some(inbox) = &self.inbox else { return Ok(true) };
        Ok(timeline::activity(self.read, self.user)? == inbox.activity)
    }

    /// A page of live items.
    fn page(&self, request: &PageRequest<ContentId>) -> Result<ContentPage> {
        self.start.page(request, &|scan| self.next_segment(scan))
    }

    /// The live items of a scan.
    pub(super) fn entries(&self, scan: Scan<ContentId>) -> Result<Scanned<Entry, ContentId>> {
        self.start.entries(scan, &|scan| self.next_segment(scan))
    }

    /// The next segment: each item once, without deleted ones, without those whose authors are silenced or suspended, and
    /// without those that come only on paths whose rules do not admit their kind. In the timeline of a list also without
    /// items for followers only of whose paths the user follows none.
    fn next_segment(&self, scan: Scan<ContentId>) -> Result<Segment> {
        let segment = match &self.inbox {
            Some(inbox) => self.merged(inbox, scan)?,
            None => self.outboxes(scan)?,
        };
        // An item may come on several paths, and count on some of them only. So each entry is judged first.
        let segment = segment.without_suspended(self.read)?;
        let segment = segment.without_taken_off(self.read)?;
        let segment = self.without_silenced(segment)?;
        let segment = segment.each_item_once().without(|entries| {
            let ids: Vec<_> = entries.iter().map(|entry| entry.cursor.id).collect();
            items::tables::deleted(&self.read.feed.store, &ids, self.read.tier)
        })?;
        if self.list.is_none() {
            return Ok(segment);
        }
        segment.without(|entries| {
            let unseen = visibility::followers_only(self.read, self.user, entries)?;
            Ok(entries.iter().map(|entry| unseen.contains(&entry.cursor.id)).collect())
        })
    }

    /// A segment from the outboxes of all authors: entries of admitted kinds.
    fn outboxes(&self, scan: Scan<ContentId>) -> Result<Segment> {
        self.count_pulls(self.authors.len());
        // One more, because the last one is left out.
        let scan = Scan { limit: scan.limit.max(MOST_PATHS) + 1, ..scan };
        let entries = items::tables::outboxes(&self.read.feed.store, &self.authors, scan, self.read.tier)?;
        Ok(Segment::of_paths(entries, scan.limit).only(|entry| self.admits(entry)))
    }

    /// Leaves out the entries of authors whose content the user is not shown, on whatever path. Authors who are sources of
    /// the user are none of these.
    fn without_silenced(&self, segment: Segment) -> Result<Segment> {
        if !segment.has(|entry| entry.author != entry.source) {
            return Ok(segment);
        }
        if let Some(silenced) = self.authors.silenced() {
            return Ok(segment.only(|entry| !has(silenced, entry.author)));
        }
        segment.without(|entries| {
            let pairs: Vec<_> = entries.iter().map(|entry| (self.user, entry.author)).collect();
            restrictions::tables::silences(&self.read.feed.store, &pairs, self.read.tier)
        })
    }

    /// A segment from all four sources: entries of admitted kinds.
    fn merged(&self, inbox: &Inbox, scan: Scan<ContentId>) -> Result<Segment> {
        let (Read { feed, tier, .. }, Scan { span, order, limit: n }) = (self.read, scan);
        // One more, because the last item is left out.
        let paths = n.max(MOST_PATHS) + 1;
        // For oldest first, the oldest items may all lie below the floor and be dropped, so all are taken.
        let most = if order == Order::NewestFirst { paths } else { usize::MAX };
        let seen = if tier == Tier::Memory { MOST_PENDING } else { usize::MAX };
        let pending = feed.backlog.pending(&self.authors, span.scan(order, most), seen);
        let mut pending = pending.ok_or(Error::NotCached)?;
        let mut rows = self.start.rows(n);
        let floor = inbox::tables::inbox(&feed.store, self.user, span, order, tier, &mut |entry| {
            rows.look_at(entry, || {
                self.shows(entry.source) && self.admits(&entry) && !has(&inbox.unsettled, entry.source)
            })
        })?;
        pending.retain(|entry| Some(entry.cursor) > floor);
        let pulled = self.pulled_authors(inbox, floor)?;
        let above = || {
            self.count_pulls(pulled.len());
            let outboxes =
                items::tables::outboxes(&feed.store, &pulled, span.newer_than(floor).scan(order, paths), tier)?;
            let [pending, outboxes] = [Segment::of_paths(pending, most), Segment::of_paths(outboxes, paths)]
                .map(|segment| segment.only(|entry| self.admits(entry)));
            Ok(merge([pending, rows.above(floor), outboxes], order))
        };
        // The floor divides the span; the part on the walk's side comes first.
        let Some(floor) = floor.filter(|floor| span.after.is_none_or(|after| after < *floor)) else { return above() };
        let span_below = floor.next_newer().map_or(span, |top| span.older_than(top));
        let below = |n| self.outboxes(span_below.scan(order, n));
        match order {
            Order::NewestFirst => above()?.then(n, below),
            Order::OldestFirst => below(n)?.then(n, |_| above()),
        }
    }

    /// Authors whose outboxes are read beside an inbox with this floor.
    fn pulled_authors(&self, inbox: &Inbox, floor: Option<Cursor>) -> Result<Vec<UserId>> {
        let Read { feed, tier, .. } = self.read;
        let is_active = inbox.activity.is_active();
        let unpushed = timeline::unpushed_sources(self.read, &self.listed);
        let mut pulled = inbox::tables::authors_with_unpushed(&feed.store, &unpushed, floor, is_active, tier)?;
        pulled.extend(inbox.unsettled.iter().chain([&self.user]));
        pulled.retain(|author| self.shows(*author));
        pulled.sort_unstable();
        pulled.dedup();
        Ok(pulled)
    }

    /// Whether it shows an author.
    pub(crate) fn shows(&self, author: UserId) -> bool {
        self.authors.has(author)
    }

    /// Whether the kind of an entry of a shown source is to be shown: the rule of the source and the read admit it.
    pub(crate) fn admits(&self, entry: &Entry) -> bool {
        self.authors.rules_admit(entry.source, entry.kind) && self.read.takes(entry.kind)
    }

    /// Whether a read that found this floor takes an item of a shown author from the author's outbox.
    pub(crate) fn pulls(&self, entry: Entry, floor: Option<Cursor>) -> Result<bool> {
        let Some(inbox) = &self.inbox else { return Ok(true) };
        Ok(Some(entry.cursor) <= floor || has(&self.pulled_authors(inbox, floor)?, entry.source))
    }

    fn count_pulls(&self, more: usize) {
        self.pulls.set(self.pulls.get() + more as u64);
    }
}

/// The sources of a timeline: those of [`timeline::authors`](crate::timeline::authors), or the members of a list without
/// restrictions; then those of them who are not suspended.
fn sources(read: Read<'_>, user: UserId, list: Option<ListId>) -> Result<(List, ShownSources)> {
    let listed = match list {
        None => listed_authors(read, user)?,
        Some(list) => tables::list_authors(&read.feed.store, user, list, read.tier)?.into(),
    };
    let suspended = timeline::suspended_sources(read, &listed)?;
    read.depends(listed.sources.iter().copied().map(Thing::User));
    let shown = listed.sources.clone();
    let shown = if suspended.is_empty() { shown } else { shown.without(&suspended) };
    Ok((listed, shown))
}

/// Whether an ascending list has a user.
fn has(users: &[UserId], user: UserId) -> bool {
    users.binary_search(&user).is_ok()
}

//! Lists of content: read one segment after another until a page is full, and merged from several sources. Pages follow
//! the order of publishes.

use std::ops::ControlFlow;

use crate::read::Read;
use crate::streaming::ReadPlace;
use crate::{items, users};
use model::error::Result;
use model::{ContentId, ContentPage, Cursor, Entry, Id, MAX_TO, Order, PageRequest, Position, Scan, Scanned, UserId};

/// Unread items are counted up to here.
pub const MOST_UNREAD: usize = 1000;
/// Most entries of one item: its author, and its further paths.
pub(crate) const MOST_PATHS: usize = 1 + MAX_TO;
/// The least number of entries that the second request for a segment asks for, if entries of the first one were left
/// out.
const FIRST_MORE: usize = 32;
/// The least number doubles with each further request, up to this number.
pub(crate) const LAST_MORE: usize = 1024;

/// Reads the next segment of a list: at least the entries of a scan, or all.
pub(crate) type NextSegment<'a> = dyn Fn(Scan<ContentId>) -> Result<Segment> + 'a;

/// A segment of a list, in the order of its walk.
#[derive(Default)]
pub(crate) struct Segment {
    entries: Vec<Entry>,
    /// The end, if it is short of the span. Entries beyond it were not read.
    end: Option<Cursor>,
    /// How many entries were looked at, those left out included.
    looked_at: usize,
}

impl Segment {
    /// A segment of a list that was asked for `n` entries.
    pub(crate) fn of(entries: Vec<Entry>, n: usize) -> Self {
        let end = entries.last().filter(|_| entries.len() >= n).map(|entry| entry.cursor);
        let looked_at = entries.len();
        Self { entries, end, looked_at }
    }

    /// A segment of a list that may have an item several times, once for each of its paths, and was asked for `n` entries,
    /// more than an item has paths. If there may be more, the last item is left out: other entries of it may follow.
    pub(crate) fn of_paths(mut entries: Vec<Entry>, n: usize) -> Self {
        debug_assert!(n > MOST_PATHS, "{n} entries may be of one item");
        if entries.len() >= n
            && let Some(last) = entries.last().map(|entry| entry.cursor)
        {
            entries.retain(|entry| entry.cursor != last);
            let end = entries.last().map(|entry| entry.cursor);
            return Self { entries, end, looked_at: n };
        }
        let looked_at = entries.len();
        Self { entries, end: None, looked_at }
    }

    /// Whether an entry is so.
    pub(crate) fn has(&self, is_so: impl Fn(&Entry) -> bool) -> bool {
        self.entries.iter().any(is_so)
    }

    /// Leaves only entries for which `is_so` is true.
    pub(crate) fn only(mut self, is_so: impl Fn(&Entry) -> bool) -> Self {
        self.entries.retain(is_so);
        self
    }

    /// Leaves one entry of each item, whatever its paths.
    pub(crate) fn each_item_once(mut self) -> Self {
        self.entries.dedup_by_key(|entry| entry.cursor);
        self
    }

    /// Leaves out the entries for which `out` is true; it gets all of them at once.
    pub(crate) fn without(mut self, out: impl FnOnce(&[Entry]) -> Result<Vec<bool>>) -> Result<Self> {
        let mut out = out(&self.entries)?.into_iter();
        self.entries.retain(|_| out.next() == Some(false));
        Ok(self)
    }

    /// Leaves out the entries of suspended authors.
    pub(crate) fn without_suspended(mut self, read: Read<'_>) -> Result<Self> {
        let suspended = read.suspended_among(self.entries.iter().map(|entry| entry.author))?;
        if !suspended.is_empty() {
            self.entries.retain(|entry| !suspended.contains(&entry.author));
        }
        Ok(self)
    }

    /// Leaves out the entries on paths that their items were taken off.
    pub(crate) fn without_taken_off(mut self, read: Read<'_>) -> Result<Self> {
        let mut paths = self.entries.iter().map(|entry| (entry.cursor.id, entry.source));
        let taken_off = items::tables::taken_off(&read.feed.store, &mut paths, read.tier)?;
        if !taken_off.is_empty() {
            self.entries.retain(|entry| !taken_off.contains(&(entry.cursor.id, entry.source)));
        }
        Ok(self)
    }

    /// Leaves out entries that were published after `start`.
    pub(crate) fn of_before(mut self, start: &ReadStart<'_>, order: Order) -> Self {
        // Upwards, all that follows the end lies above it.
        let is_open = |end| order == Order::OldestFirst && start.open_below(end).is_some();
        if !start.keep_older(&mut self.entries, order) || self.end.is_some_and(is_open) {
            self.end = None;
        }
        self
    }

    /// Appends the next segment, unless this one has `n` entries or ended early.
    pub(crate) fn then(mut self, n: usize, next: impl FnOnce(usize) -> Result<Segment>) -> Result<Segment> {
        if self.end.is_none() && self.entries.len() < n {
            let more = next(n - self.entries.len())?;
            append(&mut self.entries, more.entries);
            self.end = more.end;
            self.looked_at += more.looked_at;
        } else if self.end.is_none() {
            // Enough, but some may be deleted, and entries beyond were not read.
            self.end = self.entries.last().map(|entry| entry.cursor);
        }
        Ok(self)
    }
}

/// Entries of a list that may have an item several times, while they are visited: those that count, up to a number.
pub(crate) struct Rows {
    n: usize,
    /// Most entries to look at.
    most: usize,
    counted: Vec<Entry>,
    looked_at: usize,
    /// The place of the last one that was looked at.
    last: Option<Cursor>,
    /// Whether there are more behind it.
    is_cut: bool,
}

impl Rows {
    /// Takes the next entry of the list, if it counts; breaks if it is one too many. An item is taken with all of its
    /// entries: only some of its paths may count.
    #[inline]
    pub(crate) fn look_at(&mut self, entry: Entry, counts: impl FnOnce() -> bool) -> ControlFlow<()> {
        if self.last != Some(entry.cursor) {
            self.is_cut = self.counted.len() >= self.n || self.looked_at >= self.most;
            if self.is_cut {
                return ControlFlow::Break(());
            }
            self.last = Some(entry.cursor);
        }
        self.looked_at += 1;
        if counts() {
            self.counted.push(entry);
        }
        ControlFlow::Continue(())
    }

    /// The entries above a floor, at or below which the list claims nothing.
    pub(crate) fn above(self, floor: Option<Cursor>) -> Segment {
        let Self { counted: mut entries, looked_at, last, is_cut, .. } = self;
        entries.retain(|entry| Some(entry.cursor) > floor);
        Segment { entries, end: last.filter(|last| is_cut && Some(*last) > floor), looked_at }
    }
}

/// The entries of a scan over a list whose segments leave some out. If they do, it asks for more at a time, because each
/// segment has a fixed cost. It stops after `most` entries, as soon as a place that tells of no other item leads on.
pub(crate) fn fill(scan: Scan<ContentId>, most: usize, next: &NextSegment<'_>) -> Result<Scanned<Entry, ContentId>> {
    let mut found: Vec<Entry> = Vec::new();
    let (mut rest, mut more, mut looked_at) = (scan, FIRST_MORE, 0);
    loop {
        let part = next(rest)?;
        append(&mut found, part.entries);
        found.truncate(scan.limit);
        let Some(end) = part.end.filter(|_| found.len() < scan.limit) else { return Ok(found.into()) };
        looked_at += part.looked_at;
        let stopped = leads_on(end, found.last().map(|entry| entry.cursor), scan.order);
        if looked_at >= most && scan.span.contains(stopped) {
            return Ok(Scanned { found, stopped: Some(stopped) });
        }
        rest = rest.beyond(end, (scan.limit - found.len()).max(more));
        more = (2 * more).min(LAST_MORE);
    }
}

/// Appends entries. Most lists are of one part only, which is not copied then.
fn append(entries: &mut Vec<Entry>, more: Vec<Entry>) {
    match entries.is_empty() {
        true => *entries = more,
        false => entries.extend(more),
    }
}

/// The place from which a scan goes on that has looked at all entries up to `end`: the last one found, or the edge of the time
/// of `end`. The cursor of `end` itself would tell of an item that the reader may not see. What was looked at of that time is
/// looked at again.
pub(crate) fn leads_on<I: Id>(end: Position<I>, found: Option<Position<I>>, order: Order) -> Position<I> {
    match order {
        Order::NewestFirst => {
            let above = Position { at: end.at, id: I::LAST_NUMBER }.just_above();
            found.map_or(above, |found| found.min(above))
        }
        Order::OldestFirst => {
            let below = Position { at: end.at, id: I::MIN }.just_below();
            found.map_or(below, |found| found.max(below))
        }
    }
}

/// Merges segments of several lists, which begin at one place. Where one of them ends, there may be more of its list; so
/// the result ends there, too.
pub(crate) fn merge(segments: [Segment; 3], order: Order) -> Segment {
    let ends = segments.iter().filter_map(|segment| segment.end);
    let end = match order {
        Order::NewestFirst => ends.max(),
        Order::OldestFirst => ends.min(),
    };
    let looked_at = segments.iter().map(|segment| segment.looked_at).sum();
    let (mut entries, mut longest) = (Vec::new(), 0);
    for segment in segments {
        longest = longest.max(segment.entries.len());
        append(&mut entries, segment.entries);
    }
    // Each of them is in this order.
    if entries.len() > longest {
        match order {
            Order::NewestFirst => entries.sort_unstable_by(|a, b| b.cmp(a)),
            Order::OldestFirst => entries.sort_unstable(),
        }
    }
    if let Some(end) = end {
        let is_within = |entry: &Entry| match order {
            Order::NewestFirst => entry.cursor >= end,
            Order::OldestFirst => entry.cursor <= end,
        };
        entries.truncate(entries.partition_point(is_within));
    }
    Segment { entries, end, looked_at }
}

/// The instant at which a read begins. The read may find some items published later and miss others, so it leaves out
/// all of them. See [`Sequencer::later_than`](crate::streaming::Sequencer::later_than).
pub(crate) struct ReadStart<'a> {
    read: Read<'a>,
    place: ReadPlace,
    /// Most entries to look at.
    most: usize,
}

impl<'a> ReadStart<'a> {
    /// Must come before the first read of the store.
    pub(crate) fn of(read: Read<'a>) -> Self {
        let place = read.place.unwrap_or_else(|| read.feed.streaming.sequencer().read_place());
        Self { read, place, most: read.feed.config.timeline.look_at }
    }

    /// To be called when the read has noted all sources: a page leaves out what was published since its beginning, and would be
    /// kept without that.
    pub(crate) fn keeps_if_nothing_came(&self) {
        if self.read.notes() && self.read.feed.streaming.sequencer().read_place() != self.place {
            self.read.keeps_nothing();
        }
    }

    /// For up to `n` entries of a list that are visited, and the further ones of the last item.
    pub(crate) fn rows(&self, n: usize) -> Rows {
        Rows { n, most: self.most.max(n), counted: Vec::with_capacity(n), looked_at: 0, last: None, is_cut: false }
    }

    /// The entries of a scan, without items that were published later. All of them are plain: nobody asks for more.
    pub(crate) fn entries(&self, scan: Scan<ContentId>, next: &NextSegment<'_>) -> Result<Scanned<Entry, ContentId>> {
        let mut entries = fill(scan, self.most, &|scan| Ok(next(scan)?.of_before(self, scan.order)))?;
        entries.found.iter_mut().for_each(|entry| *entry = Entry::plain(entry.cursor, entry.author));
        Ok(entries)
    }

    /// A page of a list, without items that were published later.
    pub(crate) fn page(&self, request: &PageRequest<ContentId>, next: &NextSegment<'_>) -> Result<ContentPage> {
        let page = ContentPage::read(request, |entry| entry.cursor, |scan| self.entries(scan, next))?;
        Ok(self.settled(page, request))
    }

    /// Removes entries that were published later; false if all that follow would be removed, too. A walk upwards ends
    /// where items may still come: a client goes on from the last entry of the page, and would never see these.
    pub(crate) fn keep_older(&self, entries: &mut Vec<Entry>, order: Order) -> bool {
        match order {
            Order::NewestFirst => {
                let cursors = entries.iter().map(|entry| entry.cursor);
                if let Some(new) = self.read.feed.streaming.sequencer().later_than(cursors, self.place) {
                    entries.retain(|entry| !new.contains(&entry.cursor));
                }
                true
            }
            Order::OldestFirst => {
                let Some(open) = entries.last().and_then(|last| self.open_below(last.cursor)) else { return true };
                entries.retain(|entry| entry.cursor < open);
                false
            }
        }
    }

    /// The page with `prev` below the items of times that have not come yet: later items lie below these.
    fn settled(&self, mut page: ContentPage, request: &PageRequest<ContentId>) -> ContentPage {
        if request.order() == Order::NewestFirst
            && let Some(open) = page.prev.and_then(|prev| self.open_below(prev))
        {
            let settled = page.items.iter().map(|entry| entry.cursor).find(|cursor| *cursor < open);
            // Only a time: the open end may follow the id of an item that the reader does not see.
            let below = Cursor { at: open.at, id: ContentId::MIN }.just_below();
            page.prev = settled.or(request.span.after).or(Some(below));
        }
        page
    }

    /// The open end of the order, if a cursor is not below it.
    fn open_below(&self, cursor: Cursor) -> Option<Cursor> {
        if self.place.is_above(cursor) {
            return None;
        }
        // Binds later times no further than this page needs it, in case the clock is ahead.
        let streaming = &self.read.feed.streaming;
        let time = streaming.time_of_changes().min(cursor.at.saturating_add(1));
        let open = streaming.sequencer().open(self.place, time);
        let is_open = cursor >= open;
        if is_open {
            // Another page at another time, although nothing changes.
            self.read.keeps_nothing();
        }
        is_open.then_some(open)
    }
}

impl Read<'_> {
    /// The suspended ones among authors.
    pub(crate) fn suspended_among(&self, mut authors: impl Iterator<Item = UserId>) -> Result<Vec<UserId>> {
        users::tables::suspended_among(&self.feed.store, &mut authors, self.tier)
    }
}

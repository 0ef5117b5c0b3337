//! Pages that follow the order of publishes.

use crate::Feed;
use crate::streaming::{ReadPlace, Streaming};
use model::error::Result;
use model::{ContentId, Cursor, Entry, Order, Page, PageRequest, Span};

/// The instant at which a read begins. The read may find some items published later and miss others, so it leaves out
/// all of them. See [`Sequencer::later_than`](crate::streaming::Sequencer::later_than).
pub(crate) struct ReadStart<'a> {
    streaming: &'a Streaming,
    place: ReadPlace,
}

impl ReadStart<'_> {
    /// Removes entries that were published later; false if all that follow would be removed, too. A walk upwards ends
    /// where items may still come: a client goes on from the last entry of the page, and would never see these.
    pub(crate) fn keep_older(&self, entries: &mut Vec<Entry>, order: Order) -> bool {
        match order {
            Order::NewestFirst => {
                let cursors = entries.iter().map(|entry| entry.cursor);
                if let Some(new) = self.streaming.sequencer().later_than(cursors, self.place) {
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
    pub(crate) fn settled(
        &self,
        mut page: Page<Entry, ContentId>,
        request: &PageRequest<ContentId>,
    ) -> Page<Entry, ContentId> {
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
        let time = self.streaming.time_of_changes().min(cursor.at.saturating_add(1));
        let open = self.streaming.sequencer().open(self.place, time);
        Some(open).filter(|open| cursor >= *open)
    }
}

impl Feed {
    /// Must come before the first read of the store.
    pub(crate) fn read_start(&self) -> ReadStart<'_> {
        ReadStart { streaming: &self.streaming, place: self.streaming.sequencer().read_place() }
    }

    /// A page of a list of entries. `first` returns as many as asked for, or all.
    pub(crate) fn list_page(
        &self,
        request: &PageRequest<ContentId>,
        first: impl Fn(Span<ContentId>, Order, usize) -> Result<Vec<Entry>>,
    ) -> Result<Page<Entry, ContentId>> {
        let (start, wanted) = (self.read_start(), request.limit + 1);
        let (mut span, mut found) = (request.span, Vec::new());
        loop {
            let asked = wanted - found.len();
            let mut part = first(span, request.order(), asked)?;
            let end = part.last().map(|entry| entry.cursor).filter(|_| part.len() == asked);
            let goes_on = start.keep_older(&mut part, request.order());
            found.append(&mut part);
            let Some(end) = end.filter(|_| goes_on && found.len() < wanted) else { break };
            match request.order() {
                Order::NewestFirst => span.before = Some(end),
                Order::OldestFirst => span.after = Some(end),
            }
        }
        let older_exist = |place: Cursor| {
            let span = Span { before: Some(place), after: None };
            Ok(!first(span, Order::NewestFirst, 1)?.is_empty())
        };
        let page = Page::from_walk(request, found, |entry| entry.cursor, older_exist);
        page.map(|page| start.settled(page, request))
    }
}

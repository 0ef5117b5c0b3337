//! Pages that follow the order of publishes.

use super::Feed;
use crate::error::Result;
use crate::model::{ContentId, Cursor, Entry, Order, Page, PageRequest, Span};
use crate::streaming::{ReadPlace, Sequencer};

/// The instant at which a read begins. The read may find some items published later and miss others, so it leaves out
/// all of them. See [`Sequencer::later_than`].
pub(super) struct ReadStart<'a> {
    sequencer: &'a Sequencer,
    place: ReadPlace,
}

impl ReadStart<'_> {
    /// Removes entries that were published later.
    pub(super) fn keep_older(&self, entries: &mut Vec<Entry>) {
        let cursors = entries.iter().map(|entry| entry.cursor);
        if let Some(new) = self.sequencer.later_than(cursors, self.place) {
            entries.retain(|entry| !new.contains(&entry.cursor));
        }
    }
}

impl Feed {
    /// Must come before the first read of the store.
    pub(super) fn read_start(&self) -> ReadStart<'_> {
        let sequencer = self.streaming.sequencer();
        ReadStart { sequencer, place: sequencer.read_place() }
    }

    /// A page of a list of entries. `first` returns as many as asked for, or all.
    pub(super) fn list_page(
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
            start.keep_older(&mut part);
            found.append(&mut part);
            let Some(end) = end.filter(|_| found.len() < wanted) else { break };
            match request.order() {
                Order::NewestFirst => span.before = Some(end),
                Order::OldestFirst => span.after = Some(end),
            }
        }
        let older_exist = |place: Cursor| {
            let span = Span { before: Some(place), after: None };
            Ok(!first(span, Order::NewestFirst, 1)?.is_empty())
        };
        Page::from_walk(request, found, |entry| entry.cursor, older_exist)
    }
}

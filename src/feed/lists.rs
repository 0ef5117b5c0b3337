//! Pages that keep to the order in which items were published.

use super::Feed;
use crate::error::Result;
use crate::model::{ContentId, Cursor, Entry, Order, Page, PageRequest, Span};
use crate::streaming::Sequencer;

/// The instant at which a read begins. What is published from then on it may find or not, one without the other;
/// so it leaves out all of it. See [`Sequencer::later_than`].
pub(super) struct ReadStart<'a> {
    sequencer: &'a Sequencer,
    end: u64,
}

impl ReadStart<'_> {
    /// Takes out what came later.
    pub(super) fn keep_older(&self, entries: &mut Vec<Entry>) {
        let cursors = entries.iter().map(|entry| entry.cursor);
        if let Some(new) = self.sequencer.later_than(cursors, self.end) {
            entries.retain(|entry| !new.contains(&entry.cursor));
        }
    }
}

impl Feed {
    /// Comes before the first look into the store.
    pub(super) fn read_start(&self) -> ReadStart<'_> {
        let sequencer = self.streaming.sequencer();
        ReadStart { sequencer, end: sequencer.end() }
    }

    /// A page of a list of entries, of which `first` gives as many as asked for.
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

//! Parts of lists of content: read one after another until a page is full, and merged from several sources.

use super::lists::ReadStart;
use model::error::Result;
use model::{ContentId, Cursor, Entry, Order, Span};

/// The least number of entries that the second request for a segment asks for, if entries of the first one were left
/// out.
const FIRST_MORE: usize = 32;
/// The least number doubles with each further request, up to this number.
const LAST_MORE: usize = 1024;

/// Reads a segment of a list: at least this many entries within a span, or all.
pub(crate) type Segments<'a> = dyn Fn(Span<ContentId>, Order, usize) -> Result<Segment> + 'a;

/// A segment of a list, in the order of its walk.
#[derive(Default)]
pub(crate) struct Segment {
    entries: Vec<Entry>,
    /// The end, if it is short of the span. Entries beyond it were not read.
    end: Option<Cursor>,
}

impl Segment {
    /// A segment of one source that was asked for `n` entries.
    pub(crate) fn of(entries: Vec<Entry>, n: usize) -> Self {
        let end = entries.last().filter(|_| entries.len() >= n).map(|entry| entry.cursor);
        Self { entries, end }
    }

    /// Leaves out entries that were published after `start`.
    pub(crate) fn of_before(mut self, start: &ReadStart<'_>, order: Order) -> Self {
        if !start.keep_older(&mut self.entries, order) {
            self.end = None;
        }
        self
    }

    /// Appends the next segment, unless this one has `n` entries or ended early.
    pub(crate) fn then(mut self, n: usize, next: impl FnOnce(usize) -> Result<Segment>) -> Result<Segment> {
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

/// The first `limit` entries within `span` that are not left out. If some are, it asks for more at a time, because each
/// segment has a fixed cost.
pub(crate) fn fill_page(
    mut span: Span<ContentId>,
    order: Order,
    limit: usize,
    segment: &Segments<'_>,
    left_out: impl Fn(&[Entry]) -> Result<Vec<bool>>,
) -> Result<Vec<Entry>> {
    let mut found: Vec<Entry> = Vec::with_capacity(limit);
    let (mut ask, mut more) = (limit, FIRST_MORE);
    loop {
        let part = segment(span, order, ask)?;
        let left_out = left_out(&part.entries)?;
        found.extend(part.entries.into_iter().zip(left_out).filter(|(_, out)| !out).map(|(entry, _)| entry));
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
pub(crate) fn merge(sources: [Vec<Entry>; 3], order: Order, n: usize) -> Segment {
    let later = |a: Cursor, b: Cursor| match order {
        Order::NewestFirst => a.min(b),
        Order::OldestFirst => a.max(b),
    };
    let earlier = |a: Cursor, b: Cursor| if later(a, b) == a { b } else { a };
    // A source that gave all it was asked for may have more beyond; so the segment ends there.
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
    Segment { entries, end }
}

#[cfg(test)]
mod tests {
    use std::cell::RefCell;

    use super::*;
    use model::UserId;

    fn entries(ids: &[u64]) -> Vec<Entry> {
        let cursor = |id: &u64| Cursor { at: 0, id: ContentId::new(*id).expect("in range") };
        ids.iter().map(|id| Entry { cursor: cursor(id), author: UserId::MIN }).collect()
    }

    #[test]
    fn a_stretch_that_is_not_gone_on_with_says_where_it_ends() {
        let whole = || Segment { entries: entries(&[9, 8]), end: None };
        let next = |_| Ok(Segment { entries: entries(&[7]), end: None });
        let then = |n| whole().then(n, next).expect("goes on");
        assert_eq!((then(2).entries, then(2).end), (entries(&[9, 8]), entries(&[8]).first().map(|e| e.cursor)));
        assert_eq!((then(3).entries, then(3).end), (entries(&[9, 8, 7]), None));
    }

    #[test]
    fn a_run_of_deleted_items_takes_few_stretches() {
        // 20 live ones, 1000 deleted ones, 5 live ones, newest first.
        let all: Vec<u64> = (1..=1025).rev().collect();
        let deleted = |entry: &Entry| (6..=1005).contains(&entry.cursor.id.get());
        let deleted = |entries: &[Entry]| Ok(entries.iter().map(deleted).collect());
        let asked = RefCell::new(Vec::new());
        let segment = |span: Span<ContentId>, _: Order, n: usize| {
            asked.borrow_mut().push(n);
            let rows = entries(&all).into_iter().filter(|entry| span.contains(entry.cursor)).take(n);
            Ok(Segment::of(rows.collect(), n))
        };
        for (limit, most) in [(20, 1), (21, 7), (25, 7), (26, 8)] {
            asked.borrow_mut().clear();
            let found = fill_page(Span::ALL, Order::NewestFirst, limit, &segment, deleted).expect("reads");
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

//! Outboxes, newest entries first, the older ones perhaps in the archive; and comments.

use crate::memory::archived::Walks;
use crate::memory::outbox_parts::{First, Rest};
use crate::rows::tables::{COMMENTS, UNLISTED, USER_COMMENTS};
use crate::rows::values;
use crate::rows::walk::{MOST_SEEKS, go_on, listed};
use crate::store::Store;
use kv::Tier;
use model::error::{Error, Result};
use model::{ContentId, Cursor, Entry, Order, Scan, Span, UserId};

/// Entries of the merged outboxes of `authors`. Costs one seek for each author, and then only entries that are among
/// the first so far.
pub fn outboxes(store: &Store, sources: &[UserId], scan: Scan<ContentId>, tier: Tier) -> Result<Vec<Entry>> {
    let Scan { span, order, limit } = scan;
    if sources.is_empty() || scan.is_empty() {
        return Ok(Vec::new());
    }
    if tier == Tier::Memory && sources.len() > MOST_SEEKS {
        return Err(Error::NotCached);
    }
    let mut first = First::new(order, limit);
    if let [source] = sources {
        Walks::new(&store.memory.outboxes.rows, store.now(tier))?.rows(
            source.get(),
            span,
            order,
            &mut |cursor, value| go_on(first.take(values::read_entry(cursor, *source, value)?)),
        )?;
        return Ok(first.into_entries());
    }
    let rests: Vec<_> = sources
        .iter()
        .filter_map(|source| store.memory.outboxes.parts.look(*source, span, order, &mut first))
        .collect();
    if !rests.is_empty() {
        // After the looks: what a look has seen is in these tables, or was removed later.
        let mut walks = Walks::new(&store.memory.outboxes.rows, store.now(tier))?;
        for rest in &rests {
            match order {
                Order::NewestFirst => read_ahead(store, &mut walks, rest, span.after, &mut first)?,
                Order::OldestFirst => walks.rows(rest.source.get(), span, order, &mut |cursor, value| {
                    go_on(first.take(values::read_entry(cursor, rest.source, value)?))
                })?,
            }
        }
    }
    Ok(first.into_entries())
}

/// Moves entries of an outbox to the archive, oldest first, up to and including `newest`, at most `most` in one
/// write. Returns how many were moved; 0 if there is nothing to gain. No answer depends on it. No change may be under way.
pub fn archive_outbox(store: &Store, source: UserId, newest: Cursor, most: usize) -> Result<usize> {
    store.memory.outboxes.rows.move_rows(store, source.get(), newest, most)
}

/// Comments that point at an item. The item may be missing. A purged item has none.
pub fn comments(store: &Store, subject: ContentId, scan: Scan<ContentId>, tier: Tier) -> Result<Vec<Entry>> {
    listed(store.now(tier), (COMMENTS.spec, subject.get()), scan, values::read_listed)
}

/// Comments of a user.
pub fn user_comments(store: &Store, author: UserId, scan: Scan<ContentId>, tier: Tier) -> Result<Vec<Entry>> {
    listed(store.now(tier), (USER_COMMENTS.spec, author.get()), scan, |cursor, value| {
        values::read_entry(cursor, author, value)
    })
}

/// The *unlisted* items of a user: those that neither the outbox nor the comments of the user have, because they are not
/// broadcast, or are deleted and not purged; deleted items of others with a path through the user; and the places of
/// such items that are purged, which [`kept`](crate::items::tables::kept) does not have. So the three lists have all items of
/// the user; only comments that are broadcast are in two of them.
pub fn unlisted(store: &Store, author: UserId, scan: Scan<ContentId>, tier: Tier) -> Result<Vec<Cursor>> {
    UNLISTED.places(store.now(tier), author, scan)
}

/// Gives the rest of an outbox above `after` to `first`, and keeps it with some entries more.
fn read_ahead(
    store: &Store,
    walks: &mut Walks<'_>,
    rest: &Rest,
    after: Option<Cursor>,
    first: &mut First,
) -> Result<()> {
    let (mut found, mut wanted, mut whole) = (Vec::with_capacity(rest.ahead()), true, true);
    let span = Span { before: rest.before, after: None };
    let walked = walks.rows(rest.source.get(), span, Order::NewestFirst, &mut |cursor, value| {
        let entry = values::read_entry(cursor, rest.source, value)?;
        wanted = wanted && after < Some(cursor) && first.take(entry);
        found.push(entry);
        whole = wanted || found.len() < rest.ahead();
        go_on(whole)
    });
    match walked {
        // The rows that were needed are there.
        Err(Error::NotCached) if !wanted => whole = false,
        walked => walked?,
    }
    store.memory.outboxes.parts.keep(rest, found, whole);
    Ok(())
}

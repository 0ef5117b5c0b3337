//! Pages of lists of users, and of items by another time than that of their publish.

use crate::erasure;
use crate::pages::segment::{LAST_MORE, leads_on};
use crate::read::Read;
use crate::writer::entry_times::NEAR;
use model::error::Result;
use model::{Id, Millis, Order, Page, PageRequest, Position, Scan, Scanned, Span, UserCursor, UserId};

/// A page of a list in the order of the times of its entries. Entries whose time has not come are on no page upwards, and `prev` lies below them: others
/// with the server's time may still come there.
pub(crate) fn by_time<I: Id>(
    read: Read<'_>,
    request: &PageRequest<I>,
    scan: impl Fn(Scan<I>) -> Result<Scanned<Position<I>, I>>,
) -> Result<Page<Position<I>, I>> {
    let open = Position { at: time_that_has_come(read) + NEAR, id: I::MIN };
    let come = |part: Scan<I>| match part.order {
        Order::OldestFirst => Scan { span: part.span.older_than(open), ..part },
        Order::NewestFirst => part,
    };
    let mut page = Page::read(request, |place| *place, |part| scan(come(part)))?;
    if request.order() == Order::NewestFirst && page.prev.is_some_and(|prev| prev >= open) {
        let newest = scan(Span::ALL.older_than(open).newest(1))?;
        page.prev = newest.stopped.or(newest.found.first().copied()).or(Some(Position::OLDEST));
    }
    Ok(page)
}

/// The entries of a scan that the viewer sees: users of whom the viewer sees something, or items. `all` reads the whole list, as
/// many entries as asked for, or all. Stops behind many unseen ones, as lists of content do.
pub(crate) fn seen_ids<I: Id>(
    read: Read<'_>,
    scan: Scan<I>,
    all: impl Fn(Scan<I>) -> Result<Vec<Position<I>>>,
    unseen_among: impl Fn(std::vec::IntoIter<I>) -> Result<Vec<I>>,
) -> Result<Scanned<Position<I>, I>> {
    let (mut found, mut rest, mut more, mut looked_at): (Vec<Position<I>>, _, _, _) = (Vec::new(), scan, scan.limit, 0);
    loop {
        let mut part = all(rest)?;
        let end = part.last().copied().filter(|_| part.len() >= rest.limit);
        looked_at += part.len();
        let unseen = unseen_among(part.iter().map(|place| place.id).collect::<Vec<_>>().into_iter())?;
        part.retain(|place| !unseen.contains(&place.id));
        found.extend(part);
        found.truncate(scan.limit);
        let Some(end) = end.filter(|_| found.len() < scan.limit) else { return Ok(found.into()) };
        let stopped = leads_on(end, found.last().copied(), scan.order);
        if looked_at >= read.feed.config.timeline.look_at && scan.span.contains(stopped) {
            return Ok(Scanned { found, stopped: Some(stopped) });
        }
        // Behind many unseen ones: more at a time, on a thread that may block.
        read.needs_disk()?;
        more = (2 * more).min(LAST_MORE);
        rest = scan.beyond(end, more);
    }
}

/// The users of a scan over a list, but for those who are being erased.
pub(crate) fn left_users(
    read: Read<'_>,
    scan: Scan<UserId>,
    all: impl Fn(Scan<UserId>) -> Result<Vec<UserCursor>>,
) -> Result<Scanned<UserCursor, UserId>> {
    let store = &read.feed.store;
    if !erasure::tables::has_erasures(store) {
        return all(scan).map(Scanned::from);
    }
    seen_ids(read, scan, all, |users| Ok(users.filter(|user| erasure::tables::is_erasing(store, *user)).collect()))
}

/// That of the clock, or of the newest item, if the server has given it a later one.
pub(crate) fn time_that_has_come(read: Read<'_>) -> Millis {
    let streaming = &read.feed.streaming;
    streaming.time_of_changes().max(streaming.sequencer().sequence().at)
}

//! Lists of notices: filtered and grouped when they are read.

use std::collections::{BTreeSet, HashSet};
use std::time::{Duration, Instant};

use super::tables;
use crate::pages::segment::{LAST_MORE, MOST_UNREAD};
use crate::read::{Read, Visibility};
use crate::{items, pages, restrictions, visibility};
use model::error::Result;
use model::{
    ContentId, Cursor, Entry, ExternalId, ExternalNoticeId, Millis, Notice, NoticeCursor, NoticeId, NoticeKind, Order,
    Page, PageRequest, Position, Scan, Span, Unread, UserId,
};

/// Most actors whom a group shows.
const MOST_ACTORS: usize = 8;
/// The longest wait of a page in milliseconds, and the time between two looks: most changes end within a millisecond.
const TIME_LIMIT: Millis = 100;
const STEP: Duration = Duration::from_micros(300);

/// Neighbours in a list of notices that are shown as one; without grouping each notice alone.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NoticeGroup {
    /// The newest one.
    pub newest: Notice,
    /// The place of the oldest one.
    pub oldest: NoticeCursor,
    /// How many there are.
    pub count: usize,
    /// The actors of the newest ones, newest first, each once, at most eight.
    pub actors: Vec<UserId>,
}

/// A page of notices.
pub type NoticePage = Page<NoticeGroup, NoticeId>;

/// The result of a scan of notices.
struct Found {
    /// In the order of the scan.
    groups: Vec<NoticeGroup>,
    /// Whether another group follows.
    more: bool,
    /// The place up to which rows were looked at, if the scan ended there although there may be more.
    stopped: Option<NoticeCursor>,
}

impl NoticeGroup {
    fn of(notice: Notice) -> Self {
        Self { newest: notice, oldest: notice.place, count: 1, actors: vec![notice.place.id.actor] }
    }

    /// Takes the next notice of a scan.
    fn add(&mut self, notice: Notice, order: Order) {
        let actor = notice.place.id.actor;
        self.count += 1;
        match order {
            Order::NewestFirst => {
                self.oldest = notice.place;
                if self.actors.len() < MOST_ACTORS && !self.actors.contains(&actor) {
                    self.actors.push(actor);
                }
            }
            Order::OldestFirst => {
                self.newest = notice;
                self.actors.retain(|other| *other != actor);
                self.actors.insert(0, actor);
                self.actors.truncate(MOST_ACTORS);
            }
        }
    }
}

/// A page of the notices of a user, as the user sees them: nothing of users whom the user mutes, who hide from the user
/// or are suspended, and nothing over a block; nothing about items that are deleted or that the user does not see.
/// Neighbours that belong together are one group if `grouped`, as far as the read looks at them.
pub fn page(read: Read<'_>, user: UserId, request: &PageRequest<NoticeId>, grouped: bool) -> Result<NoticePage> {
    let (Span { before, after }, order) = (request.span, request.order());
    // Notices of changes under way come below those that are there, and so do all below those of times that have not come.
    // So a page upwards ends where one may still come, and `prev` is below.
    let open = NoticeCursor::begin_of(complete_with_newest(read, user, order)?);
    let span = match order {
        Order::NewestFirst => request.span,
        Order::OldestFirst => Span { before: Some(open), after },
    };
    let Found { mut groups, more, stopped } = scan_notices(read, user, span.scan(order, request.limit), grouped)?;
    if order == Order::OldestFirst {
        groups.reverse();
    }
    let (first, last) = (groups.first().map(|group| group.newest.place), groups.last().map(|group| group.oldest));
    let next = match order {
        Order::NewestFirst => last.filter(|_| more).or(stopped),
        Order::OldestFirst => match last.or(after.map(NoticeCursor::above)) {
            Some(place) => {
                let older = scan_notices(read, user, Span::ALL.older_than(place).newest(1), false)?;
                Some(place).filter(|_| !older.groups.is_empty() || older.stopped.is_some())
            }
            None => None,
        },
    };
    let prev = match order {
        Order::OldestFirst => stopped.or(first).or(after),
        Order::NewestFirst => {
            let come = groups.iter().map(|group| group.newest.place).find(|place| *place < open);
            let below = first.or(before).map(|place| place.below().min(open.below()));
            come.or(after).or(below)
        }
    };
    Ok(Page { items: groups, next, prev })
}

/// Counts the notices that a user sees above the marker of the notices, as far as a page would look.
pub fn unread(read: Read<'_>, user: UserId) -> Result<Unread> {
    let newer = Span { before: None, after: marker(read, user)? }.newest(MOST_UNREAD);
    let Found { groups, more, stopped } = scan_notices(read, user, newer, false)?;
    Ok(Unread { count: groups.len(), capped: more || stopped.is_some() })
}

/// The notice at a place, if the user sees one there.
pub fn at(read: Read<'_>, user: UserId, place: NoticeCursor) -> Result<Option<NoticeGroup>> {
    let before = place.id.next().map(|id| Position { at: place.at, id });
    let mut newest = tables::notices(&read.feed.store, user, Span { before, after: None }.newest(1), read.tier)?;
    newest.retain(|notice| notice.place == place && notice.place.at >= kept_since(read));
    Ok(seen_notices(read, user, newest)?.pop().map(NoticeGroup::of))
}

/// The time from which on notices may still come, if possible one above that of the newest notice of the user. So it waits
/// until the clock has passed that; a page upwards waits for changes under way, too, but not for one that takes long.
fn complete_with_newest(read: Read<'_>, user: UserId, order: Order) -> Result<Millis> {
    let streaming = &read.feed.streaming;
    // The times of follows and reactions may be a little ahead of the clock.
    let come = NoticeCursor::begin_of(pages::time_that_has_come(read) + TIME_LIMIT).above();
    let newest = tables::notices(&read.feed.store, user, Span::ALL.older_than(come).newest(1), read.tier)?.pop();
    let (began, newest) = (Instant::now(), newest.map(|notice| notice.place.at));
    loop {
        let (complete, by_change) = streaming.notices_complete();
        let Some(newest) = newest.filter(|newest| *newest >= complete) else { return Ok(complete) };
        if by_change && order == Order::NewestFirst {
            return Ok(complete);
        }
        if began.elapsed() >= Duration::from_millis(TIME_LIMIT) {
            // The time of a log stands still without changes; the next one comes after the clock's.
            return Ok(if streaming.has_log_time() { newest + 1 } else { complete });
        }
        read.needs_disk()?;
        std::thread::sleep(STEP);
    }
}

fn kept_since(read: Read<'_>) -> Millis {
    read.feed.notices_since(read.feed.streaming.time_of_changes())
}

/// The place up to which a user has read the notices; `None` until one was set.
pub fn marker(read: Read<'_>, user: UserId) -> Result<Option<NoticeCursor>> {
    tables::notice_marker(&read.feed.store, user, read.tier)
}

/// A place for the marker of notices; `unknown_cursor` as in [`visibility::find_place`](crate::visibility::find_place). With
/// [`Visibility::Application`] an unknown actor, who may be erased, leads to the end of the millisecond.
pub fn find(read: Read<'_>, place: &Position<ExternalNoticeId>, visibility: Visibility) -> Result<NoticeCursor> {
    notice_place(read, place, visibility, NoticeCursor::without_actor)
}

/// The request for a page of notices; `unknown_cursor` as in [`visibility::find_place`](crate::visibility::find_place). With
/// [`Visibility::Application`] an unknown actor leads to the time alone: both directions show all of this millisecond.
pub fn find_span(
    read: Read<'_>,
    request: &PageRequest<ExternalNoticeId>,
    visibility: Visibility,
) -> Result<PageRequest<NoticeId>> {
    let Span { before, after } = &request.span;
    let before = before.as_ref().map(|place| find(read, place, visibility)).transpose()?;
    let begin = |unknown: NoticeCursor| NoticeCursor::begin_of(unknown.at).below();
    let after = after.as_ref().map(|place| notice_place(read, place, visibility, begin)).transpose()?;
    Ok(PageRequest { span: Span { before, after }, limit: request.limit })
}

fn notice_place(
    read: Read<'_>,
    place: &Position<ExternalNoticeId>,
    visibility: Visibility,
    of_unknown: impl Fn(NoticeCursor) -> NoticeCursor,
) -> Result<NoticeCursor> {
    let ExternalNoticeId { kind, reaction, actor, item } = &place.id;
    let find = |id: &ExternalId| Position { at: place.at, id: id.clone() };
    let actor: Position<UserId> = visibility::find_place(read, &find(actor), visibility)?;
    let item =
        item.as_ref().map(|item| visibility::find_place::<ContentId>(read, &find(item), visibility)).transpose()?;
    let id = NoticeId { kind: *kind, reaction: *reaction, actor: actor.id, item: item.map(|item| item.id) };
    let is_unknown = actor.id == UserId::UNKNOWN && visibility == Visibility::Application;
    let place = Position { at: place.at, id };
    Ok(if is_unknown { of_unknown(place) } else { place })
}

/// The first groups of a scan, whose limit is of groups. Looks at some thousand rows at most.
fn scan_notices(read: Read<'_>, user: UserId, scan: Scan<NoticeId>, grouped: bool) -> Result<Found> {
    let (kept, order) = (kept_since(read), scan.order);
    let floor = kept.checked_sub(1).map(|at| NoticeCursor { at, id: NoticeId::MAX });
    let mut rest = Scan { span: scan.span.newer_than(floor), limit: (scan.limit + 1).min(LAST_MORE), ..scan };
    let (mut groups, mut looked_at): (Vec<NoticeGroup>, _) = (Vec::new(), 0);
    loop {
        let part = tables::notices(&read.feed.store, user, rest, read.tier)?;
        let end = part.last().map(|notice| notice.place).filter(|_| part.len() >= rest.limit);
        looked_at += part.len();
        for notice in seen_notices(read, user, part)? {
            if let Some(group) = groups.last_mut().filter(|group| grouped && group.newest.is_like(&notice)) {
                group.add(notice, order);
                continue;
            }
            if groups.len() == scan.limit {
                return Ok(Found { groups, more: true, stopped: None });
            }
            groups.push(NoticeGroup::of(notice));
        }
        let Some(end) = end else { return Ok(Found { groups, more: false, stopped: None }) };
        if looked_at >= read.feed.config.timeline.look_at {
            return Ok(Found { groups, more: false, stopped: Some(end) });
        }
        // More at a time, on a thread that may block.
        read.needs_disk()?;
        rest = rest.beyond(end, (2 * rest.limit).clamp(32, LAST_MORE));
    }
}

/// Those of some notices that their user sees.
fn seen_notices(read: Read<'_>, user: UserId, mut notices: Vec<Notice>) -> Result<Vec<Notice>> {
    notices.retain(|notice| notice.place.id.kind != NoticeKind::Reaction || notice.reaction.is_some());
    let actors: BTreeSet<_> = notices.iter().map(|notice| notice.place.id.actor).collect();
    let pairs: Vec<_> = actors.iter().map(|actor| (user, *actor)).collect();
    let silenced = restrictions::tables::silences(&read.feed.store, &pairs, read.tier)?;
    let mut unseen: HashSet<UserId> = read.suspended_among(actors.iter().copied())?.into_iter().collect();
    unseen.extend(actors.iter().zip(silenced).filter(|(_, silenced)| *silenced).map(|(actor, _)| *actor));
    notices.retain(|notice| !unseen.contains(&notice.place.id.actor));
    let items: BTreeSet<_> =
        notices.iter().flat_map(|notice| notice.place.id.item.into_iter().chain(notice.on)).collect();
    let items: Vec<ContentId> = items.into_iter().collect();
    let deleted = items::tables::deleted(&read.feed.store, &items, read.tier)?;
    let mut gone: HashSet<ContentId> =
        items.iter().zip(deleted).filter(|(_, deleted)| *deleted).map(|(item, _)| *item).collect();
    let entries: Vec<Entry> = notices
        .iter()
        .filter_map(|notice| {
            let (id, actor) = (notice.published()?, notice.place.id.actor);
            let cursor = Cursor { at: notice.place.at, id };
            Some(Entry { audience: notice.audience, ..Entry::plain(cursor, actor) })
        })
        .filter(|entry| !gone.contains(&entry.cursor.id))
        .collect();
    gone.extend(visibility::followers_only(read, user, &entries)?);
    notices.retain(|notice| notice.place.id.item.iter().chain(&notice.on).all(|item| !gone.contains(item)));
    Ok(notices)
}

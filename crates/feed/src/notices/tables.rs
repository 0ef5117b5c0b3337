//! Notices: rows of what happened to a user, each written and removed in the change that causes it.

use std::collections::BTreeMap;
use std::sync::atomic::Ordering;

use crate::items;
use crate::rows::changes::change_row;
use crate::rows::mirrors::Given;
use crate::rows::tables::{NOTICE_MARKERS, NOTICES};
use crate::rows::{keys, values};
use crate::store::Store;
use kv::{MOST_ROWS, Scope, Tier, WriteBatch};
use model::error::{Error, Result};
use model::failpoint::Write;
use model::{
    Content, ContentId, Effect, EffectKind, Millis, Notice, NoticeCursor, NoticeId, NoticeKind, Order, ReactionKind,
    Scan, UserId,
};

/// Notices before a time are neither written nor listed from now on, and compactions remove them. [`Millis::MAX`] is for no
/// notices at all. Times must rise, and on a node of a cluster be made of the time of its log.
pub fn keep_notices(store: &Store, since: Millis) {
    store.memory.rules.notices_since.fetch_max(since, Ordering::Relaxed);
}

/// Notices of a user, whatever became of their actors and items. One of a reaction that is neither taken nor shown has no
/// kind of reaction.
pub fn notices(store: &Store, user: UserId, scan: Scan<NoticeId>, tier: Tier) -> Result<Vec<Notice>> {
    let Scan { span, order, limit } = scan;
    // Older rows stay until a compaction.
    let ended = store.memory.rules.notices_since.load(Ordering::Relaxed).checked_sub(1);
    let span = span.newer_than(ended.map(|at| NoticeCursor { at, id: NoticeId::MAX }));
    let mut found = Vec::new();
    if limit == 0 || span.is_empty() {
        return Ok(found);
    }
    let mut rows = store.now(tier).rows(NOTICES, Scope::Partition)?;
    match order {
        Order::NewestFirst => match span.before {
            Some(before) => rows.seek(keys::notice(user, before)),
            None => rows.seek(keys::id(user.get())),
        },
        Order::OldestFirst => match span.after {
            Some(after) => rows.seek_for_prev(keys::notice(user, after)),
            None => rows.seek_for_prev(keys::last_notice(user)),
        },
    }
    let known = store.memory.kinds.reactions.known();
    while found.len() < limit
        && let Some((key, value)) = rows.item()
        && key.starts_with(&keys::id(user.get()))
    {
        let notice = read_notice(key, value)?;
        if span.contains(notice.place) {
            if tier == Tier::Memory && found.len() == MOST_ROWS {
                return Err(Error::NotCached);
            }
            let reaction = known.kind(notice.place.id.reaction);
            let is_reaction = notice.place.id.kind == NoticeKind::Reaction;
            found.push(Notice { reaction: reaction.filter(|_| is_reaction), ..notice });
        } else if Some(notice.place) != span.before && Some(notice.place) != span.after {
            break;
        }
        match order {
            Order::NewestFirst => rows.next(),
            Order::OldestFirst => rows.prev(),
        }
    }
    rows.status()?;
    Ok(found)
}

/// The byte of a kind of reactions in the places of notices; `None` before its first reaction.
pub fn reaction_byte(store: &Store, kind: ReactionKind) -> Option<u8> {
    store.memory.kinds.reactions.known().byte(kind)
}

/// The place up to which a user has read the notices; `None` until one was set.
pub fn notice_marker(store: &Store, user: UserId, tier: Tier) -> Result<Option<NoticeCursor>> {
    store.read(NOTICE_MARKERS, &keys::id(user.get()), tier, values::read_notice_marker)
}

/// Moves the marker of a user's notices up to `place`, and returns its place afterwards. If it is there or beyond,
/// nothing is written. Moves of one user apply one after the other. Acknowledges.
pub fn move_notice_marker(store: &Store, user: UserId, place: NoticeCursor) -> Result<NoticeCursor> {
    let present = notice_marker(store, user, Tier::Disk)?;
    if let Some(present) = present.filter(|present| *present >= place) {
        return Ok(present);
    }
    let mut change = WriteBatch::default();
    put_notice_marker(&mut change, user, [present, Some(place)])?;
    let moved = Effect::on(EffectKind::NoticeMarkerMoved, user);
    store.acknowledge(Write::Record, change, vec![moved], |_| ())?;
    Ok(place)
}

/// Removes all notices of a user in a change.
pub(crate) fn remove_notices_of(store: &Store, change: &mut WriteBatch, user: UserId) -> Result<()> {
    store.now(Tier::Disk).delete_rows(change, NOTICES, &keys::id(user.get()), &keys::last_notice(user))
}

/// Puts the row of a notice into a change, or removes it (`None`). Of oneself there is none, nor of times that are not
/// kept.
pub(crate) fn put_notice(
    store: &Store,
    change: &mut WriteBatch,
    owner: UserId,
    place: NoticeCursor,
    value: Option<&[u8]>,
) {
    let is_kept = || place.at >= store.memory.rules.notices_since.load(Ordering::Relaxed);
    if owner == place.id.actor || (value.is_some() && !is_kept()) {
        return;
    }
    change.set(NOTICES, keys::notice(owner, place), value);
}

/// Puts the notices of new items into a change. An item points at an item of the store, deleted or purged ones too, or at an
/// earlier one of these. So the time of a purge, which differs between servers, changes no notice.
pub(crate) fn put_published_notices(store: &Store, change: &mut WriteBatch, new: &[&Content]) -> Result<()> {
    let subjects: Vec<_> = new.iter().filter_map(|content| Some(NoticeKind::of_item(content)?.1)).collect();
    if subjects.is_empty() && new.iter().all(|content| content.mentions.is_empty()) {
        return Ok(());
    }
    let mut authors = authors_of(store, &subjects)?;
    for content in new {
        for (owner, place, value) in notices_of(content, |subject| authors.get(&subject).copied()) {
            put_notice(store, change, owner, place, Some(&value));
        }
        authors.insert(content.id, content.author);
    }
    Ok(())
}

/// Removes the notice of a user whom an item mentions.
pub(crate) fn remove_mention(store: &Store, change: &mut WriteBatch, user: UserId, content: &Content) {
    put_notice(store, change, user, published(content, NoticeKind::Mention), None);
}

/// Removes the notices of an item that is purged.
pub(crate) fn remove_published_notices(store: &Store, change: &mut WriteBatch, content: &Content) -> Result<()> {
    let subject = NoticeKind::of_item(content).map(|(_, subject)| subject);
    let authors = authors_of(store, subject.as_slice())?;
    for (owner, place, _) in notices_of(content, |subject| authors.get(&subject).copied()) {
        put_notice(store, change, owner, place, None);
    }
    Ok(())
}

/// The authors of items, also of deleted and purged ones.
pub(crate) fn authors_of(store: &Store, items: &[ContentId]) -> Result<BTreeMap<ContentId, UserId>> {
    let stored = items::tables::stored(store, items, Tier::Disk)?.into_iter().flatten();
    let mut authors: BTreeMap<_, _> = stored.map(|stored| (stored.content.id, stored.content.author)).collect();
    let gone = items.iter().copied().filter(|id| !authors.contains_key(id)).collect::<Vec<_>>();
    authors.extend(items::tables::purged_among(store, &gone)?.into_iter().map(|(id, _, purged)| (id, purged.author)));
    Ok(authors)
}

/// Moves the marker of the notices of a user in a change; `None` for none.
pub(crate) fn put_notice_marker(change: &mut WriteBatch, user: UserId, place: [Option<NoticeCursor>; 2]) -> Result<()> {
    change_row(
        change,
        NOTICE_MARKERS,
        keys::id(user.get()),
        place.map(|place| place.map(values::notice_marker)),
        &Given::default(),
    )
}

/// The place of a notice of an item.
fn published(content: &Content, kind: NoticeKind) -> NoticeCursor {
    NoticeCursor { at: content.published_at, id: NoticeId::new(kind, content.author, Some(content.id)) }
}

/// The rows of the notices of an item: whose they are, place and value. Who is mentioned has the notice of that alone: it does
/// not depend on the item that this one points at, which may be deleted or came later.
fn notices_of(content: &Content, author: impl Fn(ContentId) -> Option<UserId>) -> Vec<(UserId, NoticeCursor, Vec<u8>)> {
    let mut rows = Vec::new();
    let pointing = NoticeKind::of_item(content).and_then(|(kind, subject)| Some((kind, subject, author(subject)?)));
    if let Some((kind, subject, owner)) = pointing.filter(|(.., owner)| !content.mentions.contains(owner)) {
        rows.push((owner, published(content, kind), values::notice(Some(subject), content.audience)));
    }
    let place = published(content, NoticeKind::Mention);
    rows.extend(content.mentions.iter().map(|user| (*user, place, values::notice(None, content.audience))));
    rows
}

/// The notice of a row, but for the kind of its reaction.
pub(crate) fn read_notice(key: &[u8], value: &[u8]) -> Result<Notice> {
    let corrupt = || Error::Corrupt("a row of notices".to_owned());
    let (_, place) = keys::split_notice(key).ok_or_else(corrupt)?;
    if !place.id.kind.is_published() {
        return if value.is_empty() { Ok(Notice::plain(place)) } else { Err(corrupt()) };
    }
    let (on, audience) = values::read_notice(value)?;
    if on.is_some() != (place.id.kind != NoticeKind::Mention) {
        return Err(corrupt());
    }
    Ok(Notice { on, audience, ..Notice::plain(place) })
}

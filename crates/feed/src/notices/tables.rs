//! Notices: rows of what happened to a user, each written and removed in the change that causes it.

use std::collections::BTreeMap;
use std::sync::atomic::Ordering;

use crate::items;
use crate::rows::keys;
use crate::rows::mirrors::Given;
use crate::rows::tables::{NOTICE_MARKERS, NOTICES};
use crate::rows::values::Value;
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
    let mut rows = store.now(tier).rows(&NOTICES, Scope::Partition)?;
    match order {
        Order::NewestFirst => match span.before {
            Some(before) => rows.seek(keys::of((user, before))),
            None => rows.seek(keys::id(user.get())),
        },
        Order::OldestFirst => match span.after {
            Some(after) => rows.seek_for_prev(keys::of((user, after))),
            None => rows.seek_for_prev(keys::tail(user.get())),
        },
    }
    let known = store.memory.kinds.reactions.known();
    while found.len() < limit
        && let Some((key, value)) = rows.item()
        && key.starts_with(&keys::id(user.get()))
    {
        let notice = Notice::read(key, value)?;
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
    NOTICE_MARKERS.get(store.now(tier), user)
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
    store.acknowledge(Write::Record, change, vec![moved])?;
    Ok(place)
}

/// Removes all notices of a user in a change.
pub(crate) fn remove_notices_of(store: &Store, change: &mut WriteBatch, user: UserId) -> Result<()> {
    store.now(Tier::Disk).delete_rows(change, &NOTICES, &keys::id(user.get()), &keys::tail(user.get()))
}

/// Puts the row of a notice into a change, or removes it. Of oneself there is none, nor of times that are not kept.
pub(crate) fn set_notice(
    store: &Store,
    change: &mut WriteBatch,
    owner: UserId,
    notice: &Notice,
    stands: bool,
) -> Result<()> {
    let place = notice.place;
    let is_kept = || place.at >= store.memory.rules.notices_since.load(Ordering::Relaxed);
    if owner == place.id.actor || (stands && !is_kept()) {
        return Ok(());
    }
    NOTICES.set(change, (owner, place), stands.then_some(notice))
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
        for (owner, notice) in notices_of(content, |subject| authors.get(&subject).copied()) {
            set_notice(store, change, owner, &notice, true)?;
        }
        authors.insert(content.id, content.author);
    }
    Ok(())
}

/// Removes the notice of a user whom an item mentions.
pub(crate) fn remove_mention(store: &Store, change: &mut WriteBatch, user: UserId, content: &Content) -> Result<()> {
    set_notice(store, change, user, &published(content, NoticeKind::Mention, None), false)
}

/// Removes the notices of an item that is purged.
pub(crate) fn remove_published_notices(store: &Store, change: &mut WriteBatch, content: &Content) -> Result<()> {
    let subject = NoticeKind::of_item(content).map(|(_, subject)| subject);
    let authors = authors_of(store, subject.as_slice())?;
    for (owner, notice) in notices_of(content, |subject| authors.get(&subject).copied()) {
        set_notice(store, change, owner, &notice, false)?;
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
    NOTICE_MARKERS.change(change, user, place.each_ref().map(Option::as_ref), &Given::default())
}

/// The notice of an item, which may be on another one.
fn published(content: &Content, kind: NoticeKind, on: Option<ContentId>) -> Notice {
    let place = NoticeCursor { at: content.published_at, id: NoticeId::new(kind, content.author, Some(content.id)) };
    Notice { on, audience: content.audience, ..Notice::plain(place) }
}

/// The notices of an item, each with its owner. Who is mentioned has the notice of that alone: it does not depend on the item
/// that this one points at, which may be deleted or came later.
fn notices_of(content: &Content, author: impl Fn(ContentId) -> Option<UserId>) -> Vec<(UserId, Notice)> {
    let mut notices = Vec::new();
    let pointing = NoticeKind::of_item(content).and_then(|(kind, subject)| Some((kind, subject, author(subject)?)));
    if let Some((kind, subject, owner)) = pointing.filter(|(.., owner)| !content.mentions.contains(owner)) {
        notices.push((owner, published(content, kind, Some(subject))));
    }
    notices.extend(content.mentions.iter().map(|user| (*user, published(content, NoticeKind::Mention, None))));
    notices
}

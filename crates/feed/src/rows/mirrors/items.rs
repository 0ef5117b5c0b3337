//! Rows that follow from items.

use std::collections::BTreeSet;

use super::{Facts, Mirror, Rows, Source, one};
use crate::rows::keys::{self, KeyBytes};
use crate::rows::values;
use crate::rows::values::Stored;
use crate::rows::values::Value;
use crate::rows::values::deletions::{Deletion, Purged};
use model::error::Result;
use model::{COMMENT, Content, ContentId, Cursor, Entry, ItemCounter};

impl Mirror {
    /// The deletions of items. A purged item is deleted, too.
    pub(crate) const DELETED: Self = Self {
        rows: |_, fact| {
            let row = |Stored { content, deleted_at }: &Stored| {
                deleted_at.map(|at| one(keys::id(content.id.get()), values::millis(at))).unwrap_or_default()
            };
            Ok(fact.item().map(|stored| row(&stored)))
        },
        source: |key, _| keys::read::<ContentId>(key).map(|_| Source::IfThere(key.into())),
    };

    /// The places of unlisted items, by [`unlisted`].
    pub(crate) const UNLISTED: Self = Self {
        rows: |_, fact| Ok(fact.item().map(|stored| places(unlisted(&stored.content, stored.deleted_at.is_some())))),
        source: of_item,
    };

    /// The same places of purged items, which follow from the rows of their deletions.
    pub(crate) const UNLISTED_PURGED: Self = Self {
        rows: |_, fact| {
            let read = keys::read(fact.key).zip(Deletion::read(fact.key, fact.value).ok());
            Ok(read.map(|(id, Deletion { purged, .. })| {
                places(purged.iter().flat_map(|purged| unlisted_purged(id, purged)))
            }))
        },
        source: of_item,
    };

    /// The items that mention a user.
    pub(crate) const MENTIONED_IN: Self = Self {
        rows: |_, fact| {
            let rows =
                |Content { mentions, .. }: &Content, at| places(mentions.iter().map(|user| keys::of((*user, at))));
            Ok(fact.item().map(|stored| rows(&stored.content, stored.content.cursor())))
        },
        source: of_item,
    };

    /// The live items on each of their paths.
    pub(crate) const OUTBOX: Self = Self {
        rows: |_, fact| {
            let row = |entry: Entry| (keys::of((entry.source, entry.cursor)).into(), values::entry(&entry));
            Ok(fact.item().map(|stored| live(&stored).into_iter().flat_map(Content::entries).map(row).collect()))
        },
        source: of_item,
    };

    /// The live items of topics. The rule for items tells of topics without an id.
    pub(crate) const TOPIC_CONTENT: Self = Self {
        rows: |facts, fact| {
            let Some(stored) = fact.item() else { return Ok(None) };
            let (mut rows, content) = (Vec::new(), &stored.content);
            for name in live(&stored).into_iter().flat_map(|content| &content.topics).collect::<BTreeSet<_>>() {
                let row = |topic: u64| (keys::of((topic, content.cursor())).into(), values::listed(&content.entry()));
                rows.extend(facts.topic_id(name)?.map(row));
            }
            Ok(Some(rows))
        },
        source: of_item,
    };

    /// The live comments on an item.
    pub(crate) const COMMENTS: Self = Self {
        rows: |facts, fact| {
            let Some(stored) = fact.item() else { return Ok(None) };
            let Some(content) = live(&stored) else { return Ok(Some(Vec::new())) };
            Ok(Some(comment(content, subject(facts, content)?).into_iter().collect()))
        },
        source: of_item,
    };

    /// The live comments of a user.
    pub(crate) const USER_COMMENTS: Self = Self {
        rows: |_, fact| Ok(fact.item().map(|stored| live(&stored).and_then(user_comment).into_iter().collect())),
        source: of_item,
    };
}

/// Rows whose keys say all.
fn places(keys: impl Iterator<Item = KeyBytes>) -> Rows {
    keys.map(|key| (key.into(), Vec::new())).collect()
}

fn live(stored: &Stored) -> Option<&Content> {
    Some(&stored.content).filter(|_| stored.deleted_at.is_none())
}

/// The item at a place in a list.
fn of_item(key: &[u8], _: &[u8]) -> Option<Source> {
    keys::place(key).map(|(_, place)| Source::Of(keys::of(place.id).into()))
}

/// The item under which `content` is listed and counted: the one that it points at, unless that is purged. A purge removes such
/// rows, and none is added after it.
pub(crate) fn subject(facts: &dyn Facts, content: &Content) -> Result<Option<ContentId>> {
    match counted_on(content) {
        Some(subject) if facts.has_purged(subject)? => Ok(None),
        subject => Ok(subject),
    }
}

/// The item that an item of a counted kind points at.
pub(crate) fn counted_on(content: &Content) -> Option<ContentId> {
    content.ref_id.filter(|_| ItemCounter::of_kind(&content.kind).is_some())
}

/// The row of a comment in the list of its item.
fn comment(content: &Content, subject: Option<ContentId>) -> Option<(Vec<u8>, Vec<u8>)> {
    let subject = subject.filter(|_| content.kind == COMMENT)?;
    Some((keys::of((subject, content.cursor())).into(), values::listed(&content.entry())))
}

/// The row of a comment in the list of its author.
fn user_comment(content: &Content) -> Option<(Vec<u8>, Vec<u8>)> {
    let row = || (keys::of((content.author, content.cursor())).into(), values::entry(&content.entry()));
    (content.kind == COMMENT).then(row)
}

/// Whether an item is in one of the lists of its author while it is live. If it is not, or not live, it is *unlisted*.
fn is_listed(content: &Content) -> bool {
    content.broadcast || content.kind == COMMENT
}

/// The keys of an item in `unlisted`: for its author if it is deleted or not listed, for its other sources if it is deleted.
fn unlisted(content: &Content, is_deleted: bool) -> impl Iterator<Item = KeyBytes> {
    let author = (is_deleted || !is_listed(content)).then_some(content.author);
    let others = content.to.iter().copied().filter(move |_| is_deleted);
    author.into_iter().chain(others).map(|source| keys::of((source, content.cursor())))
}

/// The keys that a purged item keeps there.
pub(crate) fn unlisted_purged(id: ContentId, purged: &Purged) -> impl Iterator<Item = KeyBytes> {
    let place = Cursor { at: purged.published_at, id };
    [purged.author].into_iter().chain(purged.sources.iter().copied()).map(move |source| keys::of((source, place)))
}

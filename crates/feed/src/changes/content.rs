//! Publishing, editing, deleting and showing content.

use std::collections::HashSet;
use std::fmt::Display;
use std::hash::Hash;
use std::thread;
use std::time::{Duration, Instant};

use super::command::{Change, DeleteItem, EditItem, PublishItems, RestoreItem};
use crate::streaming::{ChangeTime, Crowded, Kind};
use crate::{Feed, Visibility};
use model::error::{Code, Error, Result};
use model::failpoint;
use model::failpoint::Failpoint;
use model::store::{Batch, Published, Restored, Tier};
use model::sync::atomic::Ordering;
use model::versions::Thing;
use model::{
    Audience, Content, ContentId, Draft, Edit, EditDraft, HostId, JsonObject, KindId, MAX_TO, MediaList, Millis,
    Moment, Publish, UserId, canonical,
};

/// Most reactions that a delete purges itself.
const REACTIONS_AT_ONCE: usize = 1000;

/// Attempts to publish with ids made here while one of them is taken. Each attempt skips further. One retry is rare: a
/// host has named the id, or an earlier run of the server has made it.
const ID_ATTEMPTS: u32 = 10;
/// How long a publish waits while the times given are too far ahead of the clock, and how often it asks.
const MOST_WAIT: Duration = Duration::from_secs(1);
const ASK_EVERY: Duration = Duration::from_millis(1);

impl Change for PublishItems {
    type Outcome = Vec<(Content, bool)>;

    const NOTIFIES: bool = true;

    fn apply(self, feed: &Feed, at: ChangeTime) -> Result<Self::Outcome> {
        let Self { drafts, on_live_items } = self;
        for draft in &drafts {
            match draft.ref_id.as_ref().zip(on_live_items) {
                Some((subject, Visibility::Application)) => drop(feed.read().find_live(subject)?),
                Some((subject, sight)) => drop(feed.read().find_item(subject, &draft.author_id, sight)?),
                None => {}
            }
        }
        each_once(drafts.iter().filter_map(|draft| draft.content_id.as_ref()), "content")?;
        let alone = drafts.len() == 1;
        let field = |place, name| if alone { str::to_owned(name) } else { format!("items[{place}].{name}") };
        for (place, draft) in drafts.iter().enumerate() {
            let refused = |name| move |why: String| Error::refused(Code::InvalidBody, field(place, name) + ": " + &why);
            draft.check_to().map_err(refused("to"))?;
            draft.check_mentions().map_err(refused("mentions"))?;
        }
        let held = feed.hold(drafts.iter().flat_map(Draft::ids))?;
        let items = feed.completed(drafts, &held.ids)?;
        let (mut items, ahead) = feed.sift_items(items, |place| field(place, "published_at"), at)?;
        feed.number_kinds(&mut items)?;
        let repeats: Vec<_> =
            ahead.into_iter().map(|(place, there)| Ok((place, (there?, false)))).collect::<Result<_>>()?;
        for attempt in 0..ID_ATTEMPTS {
            let (mut room, push) = feed.room_to_push(paths(&items), at)?;
            let _changing = feed.change_items(items.iter().map(|item| &item.content));
            let mut flight =
                feed.take_times(at, Some(MOST_WAIT), || feed.streaming.sequencer().begin(&mut items, at))?;
            let published = feed.store.publish(&items, Batch::AllOrNone, push, &mut |fresh| {
                fresh.jobs.iter().for_each(|job| feed.backlog.add(&mut room, *job));
                flight.commit(fresh.cursor);
            })?;
            drop(flight);
            drop(room);
            if !published.contains(&Published::Taken) {
                let result = |(item, published): (Publish, Published)| match published {
                    Published::New(_) => (item.content, true),
                    Published::Same(content) => (content, false),
                    Published::Taken => (item.content, false),
                };
                let mut results: Vec<(Content, bool)> = items.into_iter().zip(published).map(result).collect();
                let new = results.iter().filter(|(_, new)| *new).count() as u64;
                feed.published.fetch_add(new, Ordering::Relaxed);
                feed.streaming.sequencer().wait_until_logged(results.iter().map(|(content, _)| content.cursor()));
                failpoint::pass(Failpoint::PublishQueued);
                feed.tell_published(results.iter().filter(|(_, new)| *new).map(|(content, _)| content));
                // In ascending order, so that each comes to its own place.
                repeats.into_iter().for_each(|(place, there)| results.insert(place, there));
                return Ok(results);
            }
            // A made id is replaced at the next attempt.
            let taken = |(item, published): (&Publish, Published)| published == Published::Taken && !item.id_made;
            if let Some(place) = items.iter().zip(published).position(taken) {
                // Items that repeat earlier ones were taken out.
                let place = repeats.iter().fold(place, |place, (before, _)| place + usize::from(*before <= place));
                return Err(content_exists(field(place, "content_id")));
            }
            feed.streaming.sequencer().skip_ids(attempt);
        }
        Err(Error::refused(Code::Overloaded, "the server found no free content id. Send the request again"))
    }
}

impl Change for EditItem {
    type Outcome = Content;

    fn apply(self, feed: &Feed, at: ChangeTime) -> Result<Self::Outcome> {
        let Self { item, edit } = self;
        let id: ContentId = feed.read().find_content(&item)?;
        let edit = Edit {
            text: edit.text,
            media: edit.media.map(|media| media.map_or_else(|| "[]".to_owned(), MediaList::into_string)),
            extra: edit.extra.map(|extra| extra.map(JsonObject::into_string)),
        };
        if edit == Edit::default() {
            let present = feed.read().live_contents(&[id])?.pop().ok_or_else(Error::content_not_found)?;
            return Ok(Content::clone(&present));
        }
        let _turn = feed.item_change_locks.of(id.get()).lock();
        let _changing = feed.versions.change([Thing::Item(id)]);
        let change = feed.contents.change(id);
        let ticket = feed.streaming.sequencer().take(Kind::Edit, at);
        let moment = Moment { at: at.now(), event: Some(ticket.event()) };
        let content = feed.store.edit(id, &edit, moment)?.ok_or_else(Error::content_not_found)?;
        // Before the event: streams send the content that is read after it.
        drop(change);
        ticket.commit(&content);
        Ok(content)
    }
}

impl Change for DeleteItem {
    type Outcome = ();

    fn apply(self, feed: &Feed, at: ChangeTime) -> Result<Self::Outcome> {
        self.set(feed, at, at.now())
    }
}

impl DeleteItem {
    /// Makes the change; the item is deleted since that time.
    pub(super) fn set(self, feed: &Feed, at: ChangeTime, since: Millis) -> Result<()> {
        let id: ContentId = feed.read().find_content(&self.item)?;
        let _turn = feed.item_change_locks.of(id.get()).lock();
        // The event of a delete has only fields that never change, so they may be read before.
        let content = feed.read().live_contents(&[id])?.pop();
        if content.is_none() && (!self.purge || feed.store.deleted(&[id], Tier::Disk)? != [true]) {
            return Err(Error::content_not_found());
        }
        let _changing = feed.change_items(content.as_deref().map(|content| &**content));
        let change = feed.contents.change(id);
        let ticket = content.as_ref().map(|_| feed.streaming.sequencer().take(Kind::Delete, at));
        let event = ticket.as_ref().map(|ticket| ticket.event());
        let deleted = match self.purge {
            // A deletion that is final already is so on every node, purged or not.
            true => feed.store.delete_for_good(id, feed.deleted_since(at), event)?,
            false => feed.store.delete(id, Moment { at: since, event })?,
        };
        if !deleted && content.is_some() {
            return Err(Error::content_not_found());
        }
        drop(change);
        if let (Some(ticket), Some(content)) = (ticket, content) {
            ticket.commit(&content);
        }
        if (self.purge || feed.config.content.deleted_retention.as_millis() == 0)
            && let Err(error) = feed.purge(id)
        {
            tracing::debug!(%error, content_id = %id,
                "deleted content could not be purged at once; a compaction purges it");
        }
        Ok(())
    }
}

impl Change for RestoreItem {
    type Outcome = Content;

    fn apply(self, feed: &Feed, at: ChangeTime) -> Result<Self::Outcome> {
        let id: ContentId = feed.read().find_content(&self.item)?;
        let _turn = feed.item_change_locks.of(id.get()).lock();
        let (mut room, push) = feed.room_to_push(1 + MAX_TO, at)?;
        let deleted_since = feed.deleted_since(at);
        let deleted = feed.store.kept(&[id])?.pop().flatten();
        let _changing = feed.change_items(deleted.as_ref().map(|(content, _)| content));
        let ticket = feed.streaming.sequencer().take(Kind::Restore, at);
        let event = Some(ticket.event());
        let restored =
            feed.store.restore(id, deleted_since, event, push, &mut |job| feed.backlog.add(&mut room, job))?;
        match restored {
            Restored::Now(content, _) => {
                ticket.commit(&content);
                Ok(content)
            }
            Restored::Live(content) => Ok(content),
            Restored::Gone => Err(Error::content_not_found()),
        }
    }
}

impl Feed {
    /// Publishes all drafts or none. Returns the content of each, and whether it is new.
    ///
    /// `content_exists` if an id belongs to another item, `time_ahead` if a time lies too far ahead, `overloaded` if
    /// the queue of jobs is full, or ids fall faster than one a millisecond.
    pub fn publish(&self, drafts: Vec<Draft>) -> Result<Vec<(Content, bool)>> {
        self.submit(PublishItems { drafts, on_live_items: None })
    }

    /// The items of drafts; `ids` has the ids of each in the order of [`Draft::ids`].
    pub(crate) fn completed(&self, drafts: Vec<Draft>, ids: &[ContentId]) -> Result<Vec<Publish>> {
        let mut ids = ids.iter().copied();
        let complete = |draft: Draft| {
            let audience = draft.audience;
            let too_few = || Error::Corrupt("the store returned too few numbers of names".to_owned());
            let mut item = complete(draft, || ids.next()).ok_or_else(too_few)?;
            item.content.audience = match audience {
                Some(audience) => audience,
                None => self.store.settings(item.content.author, Tier::Disk)?.default_audience,
            };
            Ok(item)
        };
        drafts.into_iter().map(complete).collect()
    }

    /// Sets the numbers of the kinds of items; `too_many_kinds` if the server knows too many.
    pub(crate) fn number_kinds(&self, items: &mut [Publish]) -> Result<()> {
        let kinds: Vec<_> = items.iter().map(|item| item.content.kind.as_str()).collect();
        for (id, item) in self.store.kind_ids(&kinds)?.into_iter().zip(items) {
            item.content.kind_id = id;
        }
        Ok(())
    }

    /// Takes times and numbers for items. Waits, at most for so long, while the times given are too far ahead of the clock.
    /// The time of a log does not go on, so there it does not wait.
    pub(crate) fn take_times<T>(
        &self,
        at: ChangeTime,
        longest: Option<Duration>,
        mut take: impl FnMut() -> Result<T, Crowded>,
    ) -> Result<T> {
        let began = Instant::now();
        loop {
            match take() {
                Ok(taken) => return Ok(taken),
                Err(_) if at == ChangeTime::Clock && longest.is_none_or(|longest| began.elapsed() < longest) => {
                    thread::sleep(ASK_EVERY);
                }
                Err(Crowded) => break,
            }
        }
        self.times_refused.fetch_add(1, Ordering::Relaxed);
        let detail = "too many items without published_at arrived after an item with a greater id; each of them needs a \
                      later millisecond. Send published_at, or no ids, or rising ids one after another";
        Err(Error::refused(Code::Overloaded, detail))
    }

    /// Edits an item; `content_not_found` if it does not exist. An empty edit changes nothing, not even the time of
    /// edit.
    pub fn edit(&self, item: HostId, edit: EditDraft) -> Result<Content> {
        self.submit(EditItem { item, edit })
    }

    /// Deletes an item; `content_not_found` if it does not exist. It can be restored for `content.deleted_retention`;
    /// if that is 0, it is purged at once.
    pub fn delete(&self, item: HostId) -> Result<()> {
        self.submit(DeleteItem { item, purge: false })
    }

    /// Deletes an item for good, also one that is deleted already: nothing of it can be read any more, and a compaction removes
    /// it from the disk. `content_not_found` if there was no such item.
    pub fn delete_for_good(&self, item: HostId) -> Result<()> {
        self.submit(DeleteItem { item, purge: true })
    }

    /// An item deleted at this instant or later can still be restored.
    fn deleted_since(&self, at: ChangeTime) -> Millis {
        self.streaming.final_before(at.now(), self.config.content.deleted_retention.as_millis())
    }

    /// Purges an item that cannot be restored. An item with many reactions is left for a compaction.
    fn purge(&self, id: ContentId) -> Result<()> {
        if self.store.purge_reactions(id, Millis::MAX, REACTIONS_AT_ONCE, None)?.len() < REACTIONS_AT_ONCE {
            self.store.purge(id, Millis::MAX)?;
        }
        Ok(())
    }

    /// Takes a deletion back: the item is in every list again, at its old place. A live item gets the same answer.
    /// `content_not_found` if it does not exist or was deleted too long ago, `overloaded` if the queue of jobs is full.
    pub fn restore(&self, item: HostId) -> Result<Content> {
        self.submit(RestoreItem { item })
    }
}

/// `invalid_body` if an id occurs twice.
pub(crate) fn each_once<T: Hash + Eq + Display>(ids: impl IntoIterator<Item = T>, what: &str) -> Result<()> {
    let mut seen = HashSet::new();
    match ids.into_iter().find_map(|id| seen.replace(id)) {
        Some(twice) => Err(Error::refused(Code::InvalidBody, format_args!("{what} {twice} occurs twice in the batch"))),
        None => Ok(()),
    }
}

/// How many paths items have, all together.
pub(crate) fn paths(items: &[Publish]) -> usize {
    items.iter().map(|item| item.content.paths().count()).sum()
}

pub(crate) fn content_exists(field: impl Display) -> Error {
    Error::refused(
        Code::ContentExists,
        format_args!("{field}: the item exists with other fields, or is deleted. Use another content_id"),
    )
}

/// The item of a draft, with defaults for omitted fields but for its audience. A missing time or id is set when the order is
/// decided.
fn complete(draft: Draft, mut next: impl FnMut() -> Option<ContentId>) -> Option<Publish> {
    let id_made = draft.content_id.is_none();
    let id = if id_made { ContentId::MIN } else { next()? };
    let author = UserId::new(next()?.get()).ok()?;
    let ref_id = if draft.ref_id.is_some() { Some(next()?) } else { None };
    let source = |next: ContentId| UserId::new(next.get()).ok();
    let to = (0..draft.to.len()).map(|_| source(next()?)).collect::<Option<_>>()?;
    let mentions = (0..draft.mentions.len()).map(|_| source(next()?)).collect::<Option<_>>()?;
    let mut content = Content {
        id,
        author,
        published_at: draft.published_at.map_or(0, |time| time.0),
        edited_at: None,
        kind: draft.kind.into_string(),
        kind_id: KindId::POST,
        text: draft.text,
        media: draft.media.map_or_else(|| "[]".to_owned(), MediaList::into_string),
        topics: draft.topics.into_vec(),
        ref_id,
        extra: draft.extra.map(JsonObject::into_string),
        broadcast: draft.broadcast,
        to,
        audience: Audience::Public,
        mentions,
        fingerprint: 0,
    };
    content.fingerprint = fingerprint(&content);
    let (time_given, audience_given) = (draft.published_at.is_some(), draft.audience.is_some());
    Some(Publish { content, time_given, audience_given, id_made, event: None })
}

/// A hash of the body without id, time and audience. Spaces and the order of keys in JSON do not change it.
fn fingerprint(content: &Content) -> u64 {
    let body = (
        content.author.get().to_string(),
        &content.kind,
        &content.text,
        canonical(&content.media),
        &content.topics,
        content.ref_id.map(|id| id.get().to_string()),
        content.extra.as_deref().map(canonical),
        content.broadcast,
        content.to.iter().map(|source| source.get().to_string()).collect::<Vec<_>>(),
    );
    let mentions: Vec<_> = content.mentions.iter().map(|user| user.get().to_string()).collect();
    // As before there were mentions, for an item without any.
    let text = if mentions.is_empty() { serde_json::to_vec(&body) } else { serde_json::to_vec(&(body, mentions)) };
    // Strings, numbers and lists of them always make JSON.
    xxhash_rust::xxh3::xxh3_64(&text.unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hash(extra: &str) -> u64 {
        fingerprint(&content(extra))
    }

    fn content(extra: &str) -> Content {
        Content {
            id: ContentId::MIN,
            author: UserId::MIN,
            published_at: 1,
            edited_at: None,
            kind: "post".to_owned(),
            kind_id: KindId::POST,
            text: Some("hi".to_owned()),
            media: "[]".to_owned(),
            topics: vec![],
            ref_id: None,
            extra: Some(extra.to_owned()),
            broadcast: true,
            to: vec![],
            audience: Audience::Public,
            mentions: vec![],
            fingerprint: 0,
        }
    }

    #[test]
    fn a_fingerprint_is_of_the_meaning_and_stays_the_same_for_ever() {
        let first = hash(r#"{"a":1,"b":[2]}"#);
        assert_eq!(first, hash(r#"{ "b": [2], "a": 1 }"#));
        assert_ne!(first, hash(r#"{"a":1,"b":[3]}"#));
        for (one, other) in [
            (r#"{"a":12345678901234567890123}"#, r#"{"a":12345678901234567890124}"#),
            (r#"{"a":0.1}"#, r#"{"a":0.10000000000000001}"#),
            (r#"{"$serde_json::private::RawValue":"{\"a\":1,\"b\":[2]}"}"#, r#"{"a":1,"b":[2]}"#),
        ] {
            assert_ne!(hash(one), hash(other), "{one} {other}");
        }
        let mut followers_only = content(r#"{"a":1,"b":[2]}"#);
        followers_only.audience = Audience::Followers;
        assert_eq!(first, fingerprint(&followers_only), "the audience is compared apart");
        let mut mentioning = content(r#"{"a":1,"b":[2]}"#);
        mentioning.mentions = vec![UserId::MIN];
        assert_ne!(first, fingerprint(&mentioning));
        assert_eq!(first, GOLDEN, "stored fingerprints would no longer match");
    }

    const GOLDEN: u64 = 12_464_058_704_366_906_195;
}

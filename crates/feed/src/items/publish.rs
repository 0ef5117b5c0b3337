//! Publishes: all new items of a call or none. Comments are publishes on an item.

use std::collections::HashSet;
use std::fmt::Display;
use std::sync::Arc;

use super::tables;
use crate::core::Core;
use crate::feed::Feed;
use crate::items::new_content::{each_once, paths};
use crate::items::tables::{Batch, Published};
use crate::read::{Read, Visibility};
use crate::streaming::Crowded;
use crate::writer::command::{Change, OnDone, PublishItems};
use crate::writer::txn::Txn;
use crate::{ids, items, kinds, notices, visibility, warm};
use kv::Tier;
use model::error::{Code, Error, Result};
use model::failpoint::Failpoint;
use model::sync::atomic::Ordering;
use model::{Content, ContentId, ExternalId, ExternalIds, ItemView, NewComment, NewContent, Publish, failpoint};

/// Publishes a comment on an item; returns the comment, and whether it is new. `content_not_found` if the item does not
/// exist, with [`Visibility::User`] this or `blocked` if it is not for the author of the comment by the rules of
/// [`visibility::ids_if_permitted`](crate::visibility::ids_if_permitted); other errors as in [`PublishItems`](crate::PublishItems).
pub fn comment(
    feed: &Feed,
    subject: ExternalId,
    new_item: NewComment,
    visibility: Visibility,
) -> Result<(Content, bool)> {
    let published =
        feed.submit(PublishItems { new_items: vec![new_item.on(subject)], on_live_items: Some(visibility) })?;
    only(published)
}

/// An item after its publish.
#[derive(Debug, Clone)]
pub struct PublishedItem {
    /// The item with its counts. These can be above 0, because comments may come before their subject.
    pub shown: ItemView,
    /// The ids that it mentions; it may have more.
    pub ids: Arc<ExternalIds>,
    /// Whether it was not there before.
    pub is_new: bool,
}

impl Change for PublishItems {
    type Outcome = Vec<(Content, bool)>;

    fn bytes(&self) -> usize {
        self.new_items.iter().map(NewContent::bytes).sum()
    }

    fn jobs(&self) -> usize {
        self.new_items.iter().map(NewContent::paths).sum()
    }

    fn warm(&self, read: Read<'_>) -> Result<()> {
        warm::new_items(read, &self.new_items)
    }

    fn apply(self, txn: &mut Txn<'_>) -> Result<Self::Outcome> {
        let feed = txn.feed;
        let Self { new_items, on_live_items } = self;
        for new_item in &new_items {
            match new_item.ref_id.as_ref().zip(on_live_items) {
                Some((subject, Visibility::Application)) => {
                    let subject = feed.read().find_content(subject)?;
                    visibility::contents(feed.read(), &[subject])?.pop().ok_or_else(Error::content_not_found)?;
                }
                Some((subject, visibility)) => {
                    visibility::ids_if_permitted(feed.read(), subject, &new_item.author_id, visibility)?;
                }
                None => {}
            }
        }
        each_once(new_items.iter().filter_map(|new_item| new_item.content_id.as_ref()), "content")?;
        let alone = new_items.len() == 1;
        for (place, new_item) in new_items.iter().enumerate() {
            check(new_item, |name| field(alone, place, name))?;
        }
        publish_items(txn, new_items)
    }
}

impl PublishItems {
    /// A publish of all new items, or none.
    pub fn all(new_items: Vec<NewContent>) -> Self {
        Self { new_items, on_live_items: None }
    }

    /// A publish of one new item.
    pub fn one(new_item: NewContent) -> Self {
        Self::all(vec![new_item])
    }
}

/// Publishes one new item, with the errors of [`PublishItems`](crate::PublishItems).
pub fn publish_one(feed: &Feed, new_item: NewContent) -> Result<PublishedItem> {
    published(feed.read(), &only(feed.submit(PublishItems::all(vec![new_item]))?)?)
}

/// Publishes one new item without blocking. Calls `told` with the content, and whether it is new. Fails with `overloaded` if
/// too many changes wait. Not for nodes.
pub fn ask(feed: &Feed, publish: PublishItems, told: OnDone<(Content, bool)>) -> Result<()> {
    feed.ask(publish, Box::new(move |made| told(made.and_then(only))))
}

fn publish_items(txn: &mut Txn<'_>, new_items: Vec<NewContent>) -> Result<Vec<(Content, bool)>> {
    let (feed, at, alone) = (txn.feed, txn.at, new_items.len() == 1);
    let ids: Vec<ContentId> = ids::for_change(feed, new_items.iter().flat_map(NewContent::ids))?;
    let items = items::completed(feed, new_items, &ids)?;
    let (mut items, ahead) = items::sift_items(feed, items, |index| field(alone, index, "published_at"), at)?;
    // Before the refusals of times: a command log has always had it so.
    kinds::number(feed, &mut items)?;
    let mut there = Vec::with_capacity(ahead.len());
    for (place, repeated) in ahead {
        there.push((place, repeated?));
    }
    // The places of the items in the call.
    let places: Vec<_> =
        (0..items.len() + there.len()).filter(|place| there.iter().all(|(other, _)| other != place)).collect();
    let (mut room, push) = txn.room_to_push(paths(&items))?;
    make_ids(feed, &mut items)?;
    feed.streaming.sequencer().begin(&mut items).map_err(|refused| no_time(feed, refused))?;
    let published = tables::publish(&feed.store, &items, Batch::AllOrNone, push)?;
    if let Some(place) = published.iter().position(|published| *published == Published::Taken) {
        return Err(content_exists(field(alone, places[place], "content_id")));
    }
    let (mut results, mut jobs, mut new) = (Vec::with_capacity(items.len()), Vec::new(), Vec::new());
    let mut events = Vec::new();
    for (item, published) in items.into_iter().zip(published) {
        results.push(match published {
            Published::New(of_item) => {
                jobs.extend(of_item);
                events.extend(item.event.map(|event| event.of(&item.content)));
                new.push(item.content.clone());
                (item.content, true)
            }
            Published::Same(content) => (content, false),
            Published::Taken => return Err(no_item()),
        });
    }
    // In ascending order, so that each comes to its own place.
    there.into_iter().for_each(|(place, content)| results.insert(place, (content, false)));
    events.sort_unstable_by_key(|event| event.number);
    events.into_iter().for_each(|event| txn.log(event));
    let count = new.len() as u64;
    txn.once_written(move || {
        jobs.into_iter().for_each(|job| feed.backlog.add(&mut room, job));
        feed.figures().published.fetch_add(count, Ordering::Relaxed);
        failpoint::pass(Failpoint::PublishQueued);
    });
    txn.once_logged(move || notices::tell_published(feed, &new));
    Ok(results)
}

/// Gives ids to the items that have none: greater than all that were made before, none of which is taken.
pub(crate) fn make_ids(feed: &Core, items: &mut [Publish]) -> Result<()> {
    let (sequencer, server) = (feed.streaming.sequencer(), feed.config.ids.server);
    let named: HashSet<_> = items.iter().filter(|item| !item.id_made).map(|item| item.content.id).collect();
    let mut made: Vec<_> = items.iter_mut().filter(|item| item.id_made).map(|item| &mut item.content.id).collect();
    for attempt in 0.. {
        if made.is_empty() {
            break;
        }
        sequencer.make_ids(made.iter_mut().map(|id| &mut **id), server, attempt);
        let ids: Vec<_> = made.iter().map(|id| **id).collect();
        let (kept, deleted) = (tables::kept(&feed.store, &ids)?, tables::deleted(&feed.store, &ids, Tier::Disk)?);
        let mut is_taken = ids
            .iter()
            .zip(&kept)
            .zip(deleted)
            .map(|((id, kept), deleted)| kept.is_some() || deleted || named.contains(id));
        made.retain(|_| is_taken.next() == Some(true));
    }
    Ok(())
}

/// The refusal of items that get no times.
pub(crate) fn no_time(feed: &Core, _: Crowded) -> Error {
    feed.figures().times_refused.fetch_add(1, Ordering::Relaxed);
    let detail = "too many items without published_at arrived after an item with a greater id; each of them needs a \
                  later millisecond. Send published_at, or no ids, or rising ids one after another";
    Error::refused(Code::Overloaded, detail)
}

/// An item after its publish.
pub fn published(read: Read<'_>, (content, is_new): &(Content, bool)) -> Result<PublishedItem> {
    let (shown, ids) = read.named(visibility::with_counts(read, vec![Arc::new(content.clone().into())])?)?;
    let shown = shown.into_iter().next().ok_or_else(no_item)?;
    Ok(PublishedItem { shown, ids: Arc::new(ids), is_new: *is_new })
}

/// The name of a field of a new item in the request: with the place of the new item, if it is not alone.
fn field(alone: bool, place: usize, name: &str) -> String {
    if alone { name.to_owned() } else { format!("items[{place}].{name}") }
}

/// `invalid_body` for what is wrong in a new item itself; `field` names a field in the request.
pub(crate) fn check(new_item: &NewContent, field: impl Fn(&str) -> String) -> Result<()> {
    let checked = new_item.check_to().map_err(|why| ("to", why));
    let checked = checked.and_then(|()| new_item.check_mentions().map_err(|why| ("mentions", why)));
    checked.map_err(|(name, why)| Error::refused(Code::InvalidBody, field(name) + ": " + &why))
}

/// The only item of a publish.
pub(crate) fn only(published: Vec<(Content, bool)>) -> Result<(Content, bool)> {
    published.into_iter().next().ok_or_else(no_item)
}

fn no_item() -> Error {
    Error::Corrupt("a publish returned no item".to_owned())
}

pub(crate) fn content_exists(field: impl Display) -> Error {
    Error::refused(
        Code::ContentExists,
        format_args!("{field}: the item exists with other fields, or is deleted. Use another content_id"),
    )
}

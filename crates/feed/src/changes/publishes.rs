//! Publishes: all drafts of a call or none.

use std::collections::HashSet;
use std::fmt::Display;
use std::sync::Arc;

use super::command::{Change, PublishItems};
use super::drafts::{each_once, paths};
use super::txn::Txn;
use crate::streaming::Crowded;
use crate::{Feed, OnDone, Read, Visibility};
use model::error::{Code, Error, Result};
use model::failpoint;
use model::failpoint::Failpoint;
use model::store::{Batch, Published, Tier};
use model::sync::atomic::Ordering;
use model::{Content, ContentId, Draft, HostIds, ItemView, Publish};

/// An item after its publish.
#[derive(Debug, Clone)]
pub struct PublishedItem {
    /// The item with its counts. These can be above 0, because comments may come before their subject.
    pub shown: ItemView,
    /// The ids that it mentions; it may have more.
    pub ids: Arc<HostIds>,
    /// Whether it was not there before.
    pub is_new: bool,
}

impl Change for PublishItems {
    type Outcome = Vec<(Content, bool)>;

    fn warm(&self, read: Read<'_>) -> Result<()> {
        read.warm_drafts(&self.drafts)
    }

    fn apply(self, txn: &mut Txn<'_>) -> Result<Self::Outcome> {
        let feed = txn.feed;
        let Self { drafts, on_live_items } = self;
        for draft in &drafts {
            match draft.ref_id.as_ref().zip(on_live_items) {
                Some((subject, Visibility::Application)) => {
                    let subject = feed.read().find_content(subject)?;
                    feed.read().contents(&[subject])?.pop().ok_or_else(Error::content_not_found)?;
                }
                Some((subject, sight)) => drop(feed.read().find_item(subject, &draft.author_id, sight)?),
                None => {}
            }
        }
        each_once(drafts.iter().filter_map(|draft| draft.content_id.as_ref()), "content")?;
        let alone = drafts.len() == 1;
        for (place, draft) in drafts.iter().enumerate() {
            check(draft, |name| field(alone, place, name))?;
        }
        feed.publish_items(txn, drafts)
    }
}

impl PublishItems {
    /// A publish of one draft.
    pub fn one(draft: Draft) -> Self {
        Self { drafts: vec![draft], on_live_items: None }
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

    /// Publishes one draft, with the errors of [`Feed::publish`].
    pub fn publish_one(&self, draft: Draft) -> Result<PublishedItem> {
        self.read().published(&only(self.publish(vec![draft])?)?)
    }

    /// Publishes one draft; `told` gets the content, and whether it is new. Does not block; `overloaded` if too many changes
    /// wait. Not on a node.
    pub fn ask_publish(&self, publish: PublishItems, told: OnDone<(Content, bool)>) -> Result<()> {
        self.ask(publish, Box::new(move |made| told(made.and_then(only))))
    }

    fn publish_items(&self, txn: &mut Txn<'_>, drafts: Vec<Draft>) -> Result<Vec<(Content, bool)>> {
        let (feed, at, alone) = (txn.feed, txn.at, drafts.len() == 1);
        let ids: Vec<ContentId> = feed.ids_for_change(drafts.iter().flat_map(Draft::ids))?;
        let items = feed.completed(drafts, &ids)?;
        let (mut items, ahead) = feed.sift_items(items, |index| field(alone, index, "published_at"), at)?;
        // Before the refusals of times: a command log has always had it so.
        feed.number_kinds(&mut items)?;
        let mut there = Vec::with_capacity(ahead.len());
        for (place, repeated) in ahead {
            there.push((place, repeated?));
        }
        // The places of the items in the call.
        let places: Vec<_> =
            (0..items.len() + there.len()).filter(|place| there.iter().all(|(other, _)| other != place)).collect();
        let (mut room, push) = feed.room_to_push(paths(&items), at)?;
        txn.concerns_items(items.iter().map(|item| &item.content));
        feed.make_ids(&mut items)?;
        feed.streaming.sequencer().begin(&mut items).map_err(|refused| feed.no_time(refused))?;
        let published = feed.store.publish(&items, Batch::AllOrNone, push)?;
        if let Some(place) = published.iter().position(|published| *published == Published::Taken) {
            return Err(content_exists(field(alone, places[place], "content_id")));
        }
        // No cache keeps an item that a later change of the group has read: the write may fail.
        txn.keep(items.iter().map(|item| feed.contents.change(item.content.id)).collect::<Vec<_>>());
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
        txn.once_written(move || {
            jobs.into_iter().for_each(|job| feed.backlog.add(&mut room, job));
            feed.published.fetch_add(new.len() as u64, Ordering::Relaxed);
            failpoint::pass(Failpoint::PublishQueued);
            feed.tell_published(&new);
        });
        Ok(results)
    }

    /// Gives ids to the items that have none: greater than all that were made before, none of which is taken.
    pub(crate) fn make_ids(&self, items: &mut [Publish]) -> Result<()> {
        let (sequencer, server) = (self.streaming.sequencer(), self.config.ids.server);
        let named: HashSet<_> = items.iter().filter(|item| !item.id_made).map(|item| item.content.id).collect();
        let mut made: Vec<_> = items.iter_mut().filter(|item| item.id_made).map(|item| &mut item.content.id).collect();
        for attempt in 0.. {
            if made.is_empty() {
                break;
            }
            sequencer.make_ids(made.iter_mut().map(|id| &mut **id), server, attempt);
            let ids: Vec<_> = made.iter().map(|id| **id).collect();
            let (kept, deleted) = (self.store.kept(&ids)?, self.store.deleted(&ids, Tier::Disk)?);
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
    pub(crate) fn no_time(&self, _: Crowded) -> Error {
        self.times_refused.fetch_add(1, Ordering::Relaxed);
        let detail = "too many items without published_at arrived after an item with a greater id; each of them needs a \
                      later millisecond. Send published_at, or no ids, or rising ids one after another";
        Error::refused(Code::Overloaded, detail)
    }
}

impl Read<'_> {
    /// An item after its publish.
    pub fn published(&self, (content, is_new): &(Content, bool)) -> Result<PublishedItem> {
        let (shown, ids) = self.named(self.with_counts(vec![Arc::new(content.clone().into())])?)?;
        let shown = shown.into_iter().next().ok_or_else(no_item)?;
        Ok(PublishedItem { shown, ids: Arc::new(ids), is_new: *is_new })
    }
}

/// The name of a field of a draft in the request: with the place of the draft, if it is not alone.
fn field(alone: bool, place: usize, name: &str) -> String {
    if alone { name.to_owned() } else { format!("items[{place}].{name}") }
}

/// `invalid_body` for what is wrong in a draft itself; `field` names a field in the request.
fn check(draft: &Draft, field: impl Fn(&str) -> String) -> Result<()> {
    let checked = draft.check_to().map_err(|why| ("to", why));
    let checked = checked.and_then(|()| draft.check_mentions().map_err(|why| ("mentions", why)));
    checked.map_err(|(name, why)| Error::refused(Code::InvalidBody, field(name) + ": " + &why))
}

/// The only item of a publish.
pub(super) fn only(published: Vec<(Content, bool)>) -> Result<(Content, bool)> {
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

#[cfg(test)]
mod tests;

//! Publishes: batches, all or none, and single ones, which are written together.

use std::collections::HashMap;
use std::fmt::Display;
use std::ops::ControlFlow::{self, Break, Continue};
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use super::command::{Change, PublishItems};
use super::drafts::{each_once, paths};
use super::kinds::HeldKinds;
use super::queues::{Bounds, Lead, OnDone};
use crate::backlog::JobReservation;
use crate::streaming::{ChangeTime, Crowded};
use crate::{Feed, Visibility};
use config::AcceptedIds;
use model::error::{Code, Error, Result};
use model::failpoint;
use model::failpoint::Failpoint;
use model::store::{Batch, Published, Push};
use model::sync::atomic::Ordering;
use model::{Content, ContentId, Draft, HostIds, ItemView, Publish, SharedContent};

/// Attempts to publish with ids made here while one of them is taken. Each attempt skips further. One retry is rare: a
/// host has named the id, or an earlier run of the server has made it.
const ID_ATTEMPTS: u32 = 10;
/// How long a publish waits while the times given are too far ahead of the clock, and how often it asks.
const MOST_WAIT: Duration = Duration::from_secs(1);
const ASK_EVERY: Duration = Duration::from_millis(1);

/// Of single publishes that wait or are being written; the HTTP side lets fewer wait. 256 share a flush and the look-ups as well
/// as more would, and none waits long for the others.
pub(crate) const BOUNDS: Bounds<Draft> = Bounds {
    what: "publishes",
    in_queue: 4096,
    in_all: 4096,
    in_write: 256,
    bytes_in_write: 4 << 20,
    bytes: Draft::bytes,
};

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

/// The item of a publish, and whether it is new; or the refusal.
type ItemResult = Result<(Content, bool)>;

impl Change for PublishItems {
    type Outcome = Vec<(Content, bool)>;

    const NOTIFIES: bool = true;

    fn apply(self, feed: &Feed, at: ChangeTime) -> Result<Self::Outcome> {
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
        feed.publish_items(drafts, Batch::AllOrNone, at)?.into_iter().collect()
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
        let (content, is_new) = only(self.publish(vec![draft])?)?;
        self.shown(Arc::new(content.into()), is_new)
    }

    /// Whether single publishes are better written together. A node hands them over to the command log, which gathers them
    /// itself.
    pub fn publishes_together(&self) -> bool {
        self.proposer.get().is_none()
    }

    /// Publishes one draft as [`Feed::publish_one`] does; `told` gets the result. Drafts that come while others are written are
    /// written together, and those without a time get one time. Does not block: a returned lead must be passed to
    /// [`Feed::lead`] on a thread that may block. If it is dropped, `told` gets `overloaded`. Not on a node.
    pub fn ask_publish(&self, draft: Draft, told: OnDone<PublishedItem>) -> Result<Option<Lead>> {
        // A time of this server may have to be waited for, above all by ids that fall: others do not wait with them.
        let queue = (draft.published_at.is_some(), draft.content_id.is_some());
        let head = self.publish_queues.join(queue, draft, told)?;
        Ok(head.map(|head| Lead::new(move |feed| head.lead(|_, drafts| Ok(feed.publish_and_show(drafts))))))
    }

    /// How many writes of single publishes there were.
    pub fn publish_writes(&self) -> u64 {
        self.publish_writes.load(Ordering::Relaxed)
    }

    fn publish_and_show(&self, drafts: Vec<Draft>) -> Vec<Result<PublishedItem>> {
        let share = |(content, is_new): (Content, bool)| (Arc::<SharedContent>::new(content.into()), is_new);
        let published: Vec<_> = self.publish_each(drafts).into_iter().map(|result| result.map(share)).collect();
        let contents = published.iter().flatten().map(|(content, _)| Arc::clone(content)).collect();
        let Ok((shown, ids)) = self.read().with_counts(contents).and_then(|shown| self.read().named(shown)) else {
            // An item that cannot be shown must not fail the others.
            let alone = |result: Result<_>| result.and_then(|(content, is_new)| self.shown(content, is_new));
            return published.into_iter().map(alone).collect();
        };
        let (mut shown, ids) = (shown.into_iter(), Arc::new(ids));
        let mut item =
            |(_, is_new)| Ok(PublishedItem { shown: shown.next().ok_or_else(no_item)?, ids: Arc::clone(&ids), is_new });
        published.into_iter().map(|result| result.and_then(&mut item)).collect()
    }

    fn shown(&self, content: Arc<SharedContent>, is_new: bool) -> Result<PublishedItem> {
        let (shown, ids) = self.read().named(self.read().with_counts(vec![content])?)?;
        let shown = shown.into_iter().next().ok_or_else(no_item)?;
        Ok(PublishedItem { shown, ids: Arc::new(ids), is_new })
    }

    /// Publishes each draft that is not refused. Those with the same id come in different writes, in their order.
    fn publish_each(&self, drafts: Vec<Draft>) -> Vec<ItemResult> {
        let mut results: Vec<_> = drafts.iter().map(|_| Err(no_item())).collect();
        let (mut groups, mut seen) = (Vec::<Vec<_>>::new(), HashMap::<_, usize>::new());
        for (place, draft) in drafts.into_iter().enumerate() {
            let before = draft.content_id.as_ref().map_or(0, |id| {
                let times = seen.entry(id.clone()).or_default();
                std::mem::replace(times, *times + 1)
            });
            match groups.get_mut(before) {
                Some(group) => group.push((place, draft)),
                None => groups.push(vec![(place, draft)]),
            }
        }
        for group in groups {
            let _entered = self.inside.enter();
            let _notices = self.streaming.begin_notices();
            let mut allowed = Vec::with_capacity(group.len());
            for (place, draft) in group {
                match self.may_publish(&draft) {
                    Ok(()) => allowed.push((place, draft)),
                    Err(refused) => results[place] = Err(refused),
                }
            }
            self.publish_group(allowed, &mut results);
        }
        self.streaming.sequencer().wait_for_effects();
        results
    }

    /// Publishes drafts, each with another id, in one write. Puts the result of each into its place.
    fn publish_group(&self, mut group: Vec<(usize, Draft)>, results: &mut [ItemResult]) {
        let drafts = group.iter().map(|(_, draft)| draft.clone()).collect();
        match self.publish_items(drafts, Batch::Each, ChangeTime::Clock) {
            Ok(published) => {
                group.iter().zip(published).for_each(|((place, _), result)| results[*place] = result);
            }
            // Nothing is written. An item that cannot be read must not fail the others.
            Err(error) if !error.is_unavailable() && group.len() > 1 => {
                let rest = group.split_off(group.len() / 2);
                self.publish_group(group, results);
                self.publish_group(rest, results);
            }
            Err(error) => group.iter().for_each(|(place, _)| results[*place] = Err(error.clone())),
        }
    }

    /// The refusals that are those of the whole change elsewhere, in their order.
    fn may_publish(&self, draft: &Draft) -> Result<()> {
        self.refuse_erasing(draft.users())?;
        check(draft, str::to_owned)?;
        if self.config.ids.accept == AcceptedIds::Numbers && draft.ids().any(|id| id.name().is_some()) {
            self.read().find_all::<ContentId>(draft.ids())?;
        }
        Ok(())
    }

    /// Publishes checked drafts in one change, each with another id. Returns the result of each, once the items are in the log
    /// of events. With [`Batch::AllOrNone`] the first refusal is that of the call. With [`Batch::Each`] an error
    /// is one of all, and nothing is written.
    fn publish_items(&self, drafts: Vec<Draft>, batch: Batch, at: ChangeTime) -> Result<Vec<ItemResult>> {
        let alone = batch == Batch::Each || drafts.len() == 1;
        let mut results = Results { batch, decided: Vec::with_capacity(drafts.len()) };
        let mut places: Vec<_> = (0..drafts.len()).collect();
        let held = self.hold(drafts.iter().flat_map(Draft::ids))?;
        let items = self.completed(drafts, &held.ids)?;
        let (items, ahead) = self.sift_items(items, |index| field(alone, index, "published_at"), at)?;
        places.retain(|place| !ahead.iter().any(|(ahead, _)| ahead == place));
        let mut left = Left { items, places };
        // Before the refusals of times: a command log has always had it so.
        let _kinds = self.number_each_kind(&mut left, &mut results)?;
        for (place, there) in ahead {
            results.add(place, there.map(|there| (there, false)))?;
        }
        let (mut room, push) = self.room_for_each(&mut left, &mut results, at)?;
        // Until they are in the log: a page that is read before lacks them.
        let _changing = self.change_items(left.items.iter().map(|item| &item.content));
        let mut attempts = 0..ID_ATTEMPTS;
        while !left.items.is_empty() {
            let published = match attempts.next() {
                Some(attempt) => {
                    if attempt > 0 {
                        self.streaming.sequencer().skip_ids(attempt - 1);
                    }
                    self.write_items(&mut left.items, &mut room, (batch, push), at)
                }
                None => {
                    let detail = "the server found no free content id. Send the request again";
                    Err(Error::refused(Code::Overloaded, detail))
                }
            };
            let published = match published {
                Err(error) if results.has_written() || batch == Batch::Each && error.is_unavailable() => {
                    left.decide(&mut results, |_, _| Break(Err(error.clone())))?;
                    break;
                }
                published => published?,
            };
            let is_none_written = batch == Batch::AllOrNone && published.contains(&Published::Taken);
            let mut published = published.into_iter();
            left.decide(&mut results, |place, item| match published.next() {
                Some(Published::Taken) if !item.id_made => {
                    Break(Err(content_exists(field(alone, place, "content_id"))))
                }
                Some(Published::New(_)) if !is_none_written => Break(Ok((item.content, true))),
                Some(Published::Same(content)) if !is_none_written => Break(Ok((content, false))),
                // A made id that is taken is replaced at the next attempt.
                _ => Continue(item),
            })?;
        }
        drop(room);
        Ok(self.finish(results))
    }

    /// Writes items. Their times, made ids and numbers are taken anew.
    fn write_items(
        &self,
        items: &mut [Publish],
        room: &mut JobReservation<'_>,
        (batch, push): (Batch, Push),
        at: ChangeTime,
    ) -> Result<Vec<Published>> {
        let requests = if batch == Batch::Each { items.len() as u64 } else { 1 };
        self.publish_writes.fetch_add(u64::from(batch == Batch::Each), Ordering::Relaxed);
        let mut flight =
            self.take_times(at, Some(MOST_WAIT), requests, || self.streaming.sequencer().begin(items, at))?;
        self.store.publish(items, batch, push, &mut |fresh| {
            fresh.jobs.iter().for_each(|job| self.backlog.add(room, *job));
            flight.commit(fresh.cursor);
        })
    }

    /// Sets the numbers of the kinds of items. Of items that do not depend on each other, only those with a kind that gets
    /// none are refused.
    fn number_each_kind(&self, left: &mut Left, results: &mut Results) -> Result<Vec<HeldKinds<'_>>> {
        match self.number_kinds(&mut left.items) {
            Err(error) if error.code() == Some(Code::TooManyKinds) && results.batch == Batch::Each => {
                let mut kinds = Vec::new();
                left.decide(results, |_, mut item| match self.number_kinds(std::slice::from_mut(&mut item)) {
                    Ok(held) => {
                        kinds.push(held);
                        Continue(item)
                    }
                    Err(refused) => Break(Err(refused)),
                })?;
                Ok(kinds)
            }
            numbered => Ok(vec![numbered?]),
        }
    }

    /// Room for the fan-outs of items: for all, or for as many as there is room for. Refuses the others.
    fn room_for_each(
        &self,
        left: &mut Left,
        results: &mut Results,
        at: ChangeTime,
    ) -> Result<(JobReservation<'_>, Push)> {
        if results.batch == Batch::AllOrNone {
            return self.room_to_push(paths(&left.items), at);
        }
        let each: Vec<_> = left.items.iter().map(|item| paths(std::slice::from_ref(item))).collect();
        let (room, refused) = self.backlog.reserve_each(&each);
        let mut refused = refused.into_iter();
        left.decide(results, |_, item| match refused.next().flatten() {
            None => Continue(item),
            Some(refused) => Break(Err(refused)),
        })?;
        Ok((room, Push::Queued))
    }

    /// Waits until the items are in the log of events, and tells streams of their notices. Returns the results in the order of
    /// the drafts.
    fn finish(&self, Results { mut decided, .. }: Results) -> Vec<ItemResult> {
        decided.sort_unstable_by_key(|(place, _)| *place);
        let results: Vec<ItemResult> = decided.into_iter().map(|(_, result)| result).collect();
        let new = || results.iter().flatten().filter(|(_, is_new)| *is_new).map(|(content, _)| content);
        self.published.fetch_add(new().count() as u64, Ordering::Relaxed);
        let cursors = results.iter().flatten().map(|(content, _)| content.cursor());
        self.streaming.sequencer().wait_until_logged(cursors);
        failpoint::pass(Failpoint::PublishQueued);
        self.tell_published(new());
        results
    }

    /// Takes times and numbers for the items of some requests. Waits, at most for so long, while the times given are too far ahead of the clock.
    /// The time of a log does not go on, so there it does not wait.
    pub(crate) fn take_times<T>(
        &self,
        at: ChangeTime,
        longest: Option<Duration>,
        requests: u64,
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
        self.times_refused.fetch_add(requests, Ordering::Relaxed);
        let detail = "too many items without published_at arrived after an item with a greater id; each of them needs a \
                      later millisecond. Send published_at, or no ids, or rising ids one after another";
        Err(Error::refused(Code::Overloaded, detail))
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

/// The results of drafts, each with the place of its draft in the call.
struct Results {
    batch: Batch,
    decided: Vec<(usize, ItemResult)>,
}

impl Results {
    /// A refusal is an error if all drafts or none are to be published.
    fn add(&mut self, place: usize, result: ItemResult) -> Result<()> {
        if self.batch == Batch::AllOrNone && result.is_err() {
            return result.map(drop);
        }
        self.decided.push((place, result));
        Ok(())
    }

    fn has_written(&self) -> bool {
        self.decided.iter().any(|(_, result)| matches!(result, Ok((_, true))))
    }
}

/// Items that are not decided yet, each with the place of its draft.
struct Left {
    items: Vec<Publish>,
    places: Vec<usize>,
}

impl Left {
    /// Asks for each item whether it goes on or has a result.
    fn decide(
        &mut self,
        results: &mut Results,
        mut judge: impl FnMut(usize, Publish) -> ControlFlow<ItemResult, Publish>,
    ) -> Result<()> {
        let (items, places) = (std::mem::take(&mut self.items), std::mem::take(&mut self.places));
        for (item, place) in items.into_iter().zip(places) {
            match judge(place, item) {
                Continue(item) => {
                    self.items.push(item);
                    self.places.push(place);
                }
                Break(result) => results.add(place, result)?,
            }
        }
        Ok(())
    }
}

/// The only item of a publish.
pub(super) fn only(published: Vec<(Content, bool)>) -> ItemResult {
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

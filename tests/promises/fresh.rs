//! Caches and counts under threads: a read that begins after a change is acknowledged shows the change, for every
//! reader and any other load.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use config::Durability;
use fastrand::Rng;
use feed::{DeleteItem, EditItem, Feed, PublishItems, ReactionRequest, Visibility, reactions, users, visibility};
use model::{ContentEdit, ContentId, Cursor, Entry, ItemView, NewContent, Page, Profile, ReactionKind};

use super::names::{Ids, json};
use super::seed::{modes, seed};
use super::shape::{self, Kind};
use super::system::System;
use crate::wait::PATIENCE;

/// Items changed and read at the same time.
const SLOTS: u64 = 6;
const WRITERS: u64 = 2;
const READERS: u64 = 2;
const ROUND: Duration = Duration::from_millis(600);
/// Changes in the life of an item. The first publishes it, the last deletes it. Between them edits alternate with
/// comments and likes.
const CHANGES: u64 = 40;

/// A sequence of items, one at a time. Both numbers count changes over all lives: `begun` rises before a change is
/// requested, `done` after its answer.
#[derive(Default)]
struct Slot {
    begun: AtomicU64,
    done: AtomicU64,
}

/// The item in a slot after a number of changes, and the number of its own changes.
#[derive(Clone, Copy)]
struct Point {
    life: u64,
    age: u64,
}

impl Point {
    fn after(changes: u64) -> Self {
        Self { life: changes / CHANGES, age: changes % CHANGES }
    }
}

/// The text after this many changes, at least one.
fn text_at(age: u64) -> u64 {
    age.saturating_sub(1) / 2 * 2
}

/// The comments, and the likes, after this many changes.
fn comments_at(age: u64) -> u64 {
    age.min(CHANGES - 1) / 2
}

fn raw_of(slot: u64, life: u64) -> u64 {
    1 + slot + SLOTS * life
}

fn id_of(feed: &Feed, hosts: Ids, slot: u64, life: u64) -> ContentId {
    hosts.item(feed, raw_of(slot, life))
}

/// Makes the next change of a slot after this many.
fn change(feed: &Feed, hosts: Ids, slot: u64, changes: u64) -> Result<(), String> {
    let Point { life, age } = Point::after(changes);
    let host = hosts.host(raw_of(slot, life));
    let text = json(&host);
    let author = |raw| json(&hosts.host(raw));
    let publish = |fields: String| {
        let new_item = format!("{{{fields},\"broadcast\":false}}");
        feed.submit(PublishItems::all(vec![serde_json::from_str::<NewContent>(&new_item).expect("a new_item")]))
    };
    let made = match age {
        0 => publish(format!("\"content_id\":{text},\"author_id\":{},\"text\":\"0\"", author(1 + slot))).map(drop),
        _ if age == CHANGES - 1 => feed.submit(DeleteItem { item: host.clone(), purge: false }),
        _ if age % 2 == 1 => {
            let (user, kind) = (hosts.host(age), "like".to_owned());
            let like =
                ReactionRequest { user, kind, active: true, since: Some(age), visibility: Visibility::Application };
            let comment = format!("\"author_id\":{},\"kind\":\"comment\",\"ref_id\":{text}", author(1));
            publish(comment).and_then(|_| reactions::react(feed, host.clone(), like).map(drop))
        }
        _ => {
            let edit = ContentEdit { text: Some(Some(age.to_string())), ..ContentEdit::default() };
            feed.submit(EditItem { item: host.clone(), edit }).map(drop)
        }
    };
    made.map_err(|error| format!("change {age} of content {host} fails: {error}"))
}

/// Reads the present and previous items of all slots, in one of the ways.
fn read(feed: &Feed, hosts: Ids, slots: &[Slot], names: &[Slot], way: u64) -> Result<(), String> {
    let done: Vec<_> = slots.iter().map(|slot| Point::after(slot.done.load(Ordering::SeqCst))).collect();
    let named: Vec<_> = names.iter().map(|name| name.done.load(Ordering::SeqCst)).collect();
    let lives =
        done.iter().zip(0..).flat_map(|(done, slot)| [(slot, Some(done.life)), (slot, done.life.checked_sub(1))]);
    let ids: Vec<_> = lives.filter_map(|(slot, life)| life.map(|life| id_of(feed, hosts, slot, life))).collect();
    let shown = match way {
        0 => {
            visibility::contents(feed.read(), &ids).and_then(|contents| visibility::with_counts(feed.read(), contents))
        }
        1 => visibility::contents(feed.read(), &ids).and_then(|contents| visibility::listed(feed.read(), contents)),
        _ => {
            let author = hosts.user(feed, 1);
            let entry = |id: &ContentId| Entry::plain(Cursor { at: 1, id: *id }, author);
            let page = Page { items: ids.iter().map(entry).collect(), next: None, prev: None };
            visibility::hydrate(feed.read(), page, Some(author)).map(|page| page.items)
        }
    };
    let shown = shown.map_err(|error| format!("a read fails: {error}"))?;
    for ((done, slot), number) in done.into_iter().zip(slots).zip(0..) {
        let begun = Point::after(slot.begun.load(Ordering::SeqCst));
        let most = if begun.life > done.life { CHANGES } else { begun.age };
        let found = |life| shown.iter().find(|shown| shown.content.id == id_of(feed, hosts, number, life));
        let before = done.life.checked_sub(1).and_then(found);
        ensure!(before.is_none(), "way {way}: deleted, and there: {before:?}");
        check(done.age, most, found(done.life)).map_err(|why| {
            format!("way {way}: {} after {} to {most} changes: {why}", id_of(feed, hosts, number, done.life), done.age)
        })?;
    }
    for summary in shown.iter().filter_map(|shown| shown.author.as_ref()) {
        let slot = (0..slots.len()).find(|slot| hosts.host(1 + *slot as u64) == summary.user);
        let slot = slot.ok_or_else(|| format!("way {way}: an author {}", summary.user))?;
        let nickname = summary.nickname.as_ref().map_or(Ok(0), |name| name.parse()).map_err(|_| "no number")?;
        let numbers = named[slot]..=names[slot].begun.load(Ordering::SeqCst);
        ensure!(
            numbers.contains(&nickname),
            "way {way}: nickname {nickname} of {} is not in {numbers:?}",
            summary.user
        );
    }
    Ok(())
}

/// The result must be the item after `least` of its changes, `most`, or a number between.
fn check(least: u64, most: u64, found: Option<&ItemView>) -> Result<(), String> {
    let Some(shown) = found else {
        ensure!(least == 0 || most == CHANGES, "it is not there");
        return Ok(());
    };
    ensure!(most > 0, "it is there before it was published");
    let text: u64 = shown.content.text.as_ref().and_then(|text| text.parse().ok()).ok_or("no text")?;
    let texts = text_at(least)..=text_at(most);
    ensure!(texts.contains(&text), "text {text} is not in {texts:?}");
    let counts = comments_at(least)..=comments_at(most);
    ensure!(counts.contains(&shown.counts.comments), "{} comments are not in {counts:?}", shown.counts.comments);
    let likes = shown.counts.reactions.get(ReactionKind::LIKE);
    ensure!(counts.contains(&likes), "{likes} likes are not in {counts:?}");
    Ok(())
}

/// Changes the slots of one writer.
fn write(
    feed: &Feed,
    hosts: Ids,
    slots: &[Slot],
    names: &[Slot],
    writer: u64,
    stop: &AtomicBool,
) -> Result<(), String> {
    let mut random = Rng::with_seed(seed() + writer);
    while !stop.load(Ordering::Relaxed) {
        let slot = writer + WRITERS * random.u64(..SLOTS / WRITERS);
        let Slot { begun, done } = &slots[slot as usize];
        let changes = begun.fetch_add(1, Ordering::SeqCst);
        change(feed, hosts, slot, changes)?;
        done.store(changes + 1, Ordering::SeqCst);
        if random.u64(..3) == 0 {
            // The nickname is the number of changes of the author's profile, which have counters of their own.
            let Slot { begun, done } = &names[slot as usize];
            let number = begun.fetch_add(1, Ordering::SeqCst) + 1;
            let profile = Profile { nickname: Some(number.to_string()), ..Profile::default() };
            users::put_profile(feed, hosts.host(1 + slot), profile)
                .map_err(|error| format!("a profile fails: {error}"))?;
            done.store(number, Ordering::SeqCst);
        }
    }
    Ok(())
}

/// Runs writers and readers at the same time, on both stores.
pub(crate) fn run() {
    for (kind, hosts) in
        [Kind::Memory, Kind::Rocks].into_iter().flat_map(|kind| modes().into_iter().map(move |ids| (kind, ids)))
    {
        let mut config = shape::random(&mut Rng::with_seed(seed()));
        config.storage.durability = Durability::Os;
        let system = System::new(kind, config);
        let (feed, slots, stop) =
            (&*system.feed, (0..SLOTS).map(|_| Slot::default()).collect::<Vec<_>>(), AtomicBool::new(false));
        let names = (0..SLOTS).map(|_| Slot::default()).collect::<Vec<_>>();
        let (slots, names, stop) = (&slots[..], &names[..], &stop);
        let reads = AtomicU64::new(0);
        let shows_something = || {
            let lives = Point::after(slots[0].done.load(Ordering::SeqCst)).life;
            lives > 0 && reads.load(Ordering::Relaxed) > 100
        };
        let outcome = thread::scope(|threads| {
            let mut all: Vec<_> = (0..WRITERS)
                .map(|writer| threads.spawn(move || write(feed, hosts, slots, names, writer, stop)))
                .collect();
            all.extend((0..READERS).map(|reader| {
                let reads = &reads;
                threads.spawn(move || {
                    while !stop.load(Ordering::Relaxed) {
                        read(feed, hosts, slots, names, (reads.fetch_add(1, Ordering::Relaxed) + reader) % 3)?;
                    }
                    Ok(())
                })
            }));
            thread::sleep(ROUND);
            // Longer on a slow machine, or the test shows nothing.
            let until = Instant::now() + PATIENCE;
            while !shows_something() && Instant::now() < until && !all.iter().any(|thread| thread.is_finished()) {
                thread::sleep(ROUND);
            }
            stop.store(true, Ordering::Relaxed);
            all.into_iter().try_for_each(|thread| thread.join().expect("no panic"))
        });
        outcome.unwrap_or_else(|failure| panic!("{failure}\non {kind:?}, {hosts:?}; TIDELINE_TEST_SEED={}", seed()));
        assert!(shows_something(), "the test shows nothing: {} reads", reads.load(Ordering::Relaxed));
    }
}

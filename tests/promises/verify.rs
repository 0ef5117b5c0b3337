//! `verify` during changes: it reports no error in a sound inbox, and every error each time.

use std::any::Any;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use config::Config;
use fastrand::Rng;
use feed::store::Store;
use feed::{DeleteItem, EditItem, Feed, PublishItems, Relate, RestoreItem, SetRestriction, timeline};
use model::{ContentEdit, Cursor, Entry, NewContent, PageRequest, Restriction, Span, UserId};

use super::names::{Ids, host, json};
use super::seed::{modes, pick, scaled, seed};
use super::shape::{Kind, small};
use super::system::System;
use crate::store::support::{put_inbox_entry, remove_inbox_entry};
use crate::wait::PATIENCE;

/// Nothing is trimmed and no user is dormant, so the inbox has a row for every item.
fn config() -> Config {
    let mut config = small();
    config.timeline.inbox_limit = 1_000_000;
    config.fanout.workers = 2;
    config
}
const READER: u64 = 1;
/// Publishes before the changes, and is always followed.
const QUIET: u64 = 2;
/// Items of the quiet author, with even times.
const ITEMS: u64 = 150;
/// Always change their items; the reader always follows them.
const BUSY: [u64; 2] = [3, 4];
/// Publish; one is followed and unfollowed, one is muted, one hides from the reader.
const FICKLE: [u64; 3] = [5, 6, 7];
/// Verifications in each state of the inbox.
const TIMES: u32 = 40;

pub(crate) fn run() {
    modes().into_iter().for_each(run_with);
}

fn run_with(ids: Ids) {
    let mut system = System::new(Kind::Rocks, config());
    let feed = system.feed.clone();
    let user = |raw| ids.user(&feed, raw);
    let everybody = [QUIET].into_iter().chain(BUSY).chain(FICKLE).map(|author| (ids.host(author), None));
    feed.submit(Relate::of(ids.host(READER), everybody.collect(), vec![])).expect("follows");
    (1..=ITEMS).for_each(|n| _ = publish(&feed, ids, QUIET, Some(2 * n), Some(n)).expect("publishes"));
    for author in FICKLE {
        (1..=100).for_each(|n| _ = publish(&feed, ids, author, Some(3 * n), None).expect("publishes"));
    }
    let top = PageRequest { span: Span::ALL, limit: 100 };
    timeline::page(feed.read(), user(READER), &top).expect("reads");
    system.drain().expect("settles");
    let (stop, calls) = (AtomicBool::new(false), AtomicU64::new(0));
    let checked = thread::scope(|scope| {
        for (number, author) in (0..).zip(BUSY.into_iter().chain(FICKLE)) {
            let (feed, stop, calls) = (&feed, &stop, &calls);
            scope.spawn(move || post(feed, ids, author, Rng::with_seed(seed() + number), stop, calls));
        }
        for author in FICKLE {
            let (feed, stop, calls) = (&feed, &stop, &calls);
            scope.spawn(move || relate(feed, ids, author, stop, calls));
        }
        let checked = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| check(&feed, ids, &calls)));
        stop.store(true, Ordering::SeqCst);
        checked
    });
    if let Err(why) = checked {
        std::panic::resume_unwind(why);
    }
    system.drain().expect("settles");
    found(&feed, user(READER), &[], &[], "at rest");
}

/// Inbox states: sound, one row missing, two missing and one too many, one too many, sound again.
fn check(feed: &Feed, ids: Ids, calls: &AtomicU64) {
    let store: &dyn Any = &**feed.store();
    let rocks: &Store = store.downcast_ref().expect("on disk");
    let reader = ids.user(feed, READER);
    let entry = |at, id| Entry::plain(Cursor { at, id: ids.item(feed, id) }, ids.user(feed, QUIET));
    let lost = |n: u64| entry(2 * n, n);
    let added = entry(101, 1_000_000);
    let several = |missing: &[Entry], extra: &[Entry], what: &str| {
        let before = calls.load(Ordering::SeqCst);
        let (began, mut times) = (Instant::now(), 0);
        // On a busy machine the changes may come late.
        while times < scaled(TIMES) || calls.load(Ordering::SeqCst) == before {
            found(feed, reader, missing, extra, what);
            times += 1;
            let has_changed = calls.load(Ordering::SeqCst) > before;
            assert!(has_changed || began.elapsed() < PATIENCE, "{what}: nothing changed meanwhile");
        }
    };
    several(&[], &[], "sound");
    remove_inbox_entry(rocks, reader, lost(40));
    several(&[lost(40)], &[], "a row too few");
    put_inbox_entry(rocks, reader, added);
    remove_inbox_entry(rocks, reader, lost(140));
    several(&[lost(140), lost(40)], &[added], "two too few and one too many");
    put_inbox_entry(rocks, reader, lost(40));
    put_inbox_entry(rocks, reader, lost(140));
    several(&[], &[added], "a row too many");
    remove_inbox_entry(rocks, reader, added);
    several(&[], &[], "sound again");
}

#[track_caller]
fn found(feed: &Feed, reader: UserId, missing: &[Entry], extra: &[Entry], what: &str) {
    let found = timeline::verify(feed.read(), reader, 100_000).expect("compares");
    assert_eq!((&found.missing[..], &found.extra[..]), (missing, extra), "{what}");
    assert!(found.complete && found.compared >= ITEMS as usize - missing.len(), "{what}: {}", found.compared);
}

fn publish(feed: &Feed, ids: Ids, author: u64, at: Option<u64>, id: Option<u64>) -> Result<Cursor, String> {
    let id = id.map(|id| format!(",\"content_id\":{}", json(&ids.host(id))));
    let (at, author) = (at.map(|at| format!(",\"published_at\":{at}")), json(&ids.host(author)));
    let text = format!("{{\"author_id\":{author}{}{}}}", at.unwrap_or_default(), id.unwrap_or_default());
    let new_item: NewContent = serde_json::from_str(&text).expect("a new_item");
    let published = feed.submit(PublishItems::all(vec![new_item])).map_err(|e| e.to_string())?;
    Ok(published[0].0.cursor())
}

/// Publishes with the present time and with old ones, edits, deletes and restores.
fn post(feed: &Feed, ids: Ids, author: u64, mut random: Rng, stop: &AtomicBool, calls: &AtomicU64) {
    let (mut live, mut gone): (Vec<Cursor>, Vec<Cursor>) = (Vec::new(), Vec::new());
    while !stop.load(Ordering::SeqCst) {
        calls.fetch_add(1, Ordering::SeqCst);
        thread::sleep(Duration::from_micros(random.u64(..500)));
        match random.u64(..6) {
            0 | 1 if live.len() + gone.len() < 100 => {
                let at = random.bool().then(|| 1 + 2 * random.u64(..ITEMS));
                live.push(publish(feed, ids, author, at, None).expect("publishes"));
            }
            2 if !live.is_empty() => {
                let edit: ContentEdit = serde_json::from_str("{\"text\":\"edited\"}").expect("an edit");
                feed.submit(EditItem { item: host(feed, pick(&mut random, &live).id), edit }).expect("edits");
            }
            3 if !gone.is_empty() => {
                let back = gone.swap_remove(random.usize(..gone.len()));
                feed.submit(RestoreItem { item: host(feed, back.id) }).expect("restores");
                live.push(back);
            }
            _ if live.len() > 20 => {
                let item = live.swap_remove(random.usize(..live.len()));
                feed.submit(DeleteItem { item: host(feed, item.id), purge: false }).expect("deletes");
                gone.push(item);
            }
            _ => {}
        }
    }
}

/// Removes an author with many items from the reader's timeline and restores them, in that author's way.
fn relate(feed: &Feed, ids: Ids, author: u64, stop: &AtomicBool, calls: &AtomicU64) {
    let relate = |follow: Vec<_>, unfollow| feed.submit(Relate::of(ids.host(READER), follow, unfollow)).map(drop);
    let bar = |[user, target]: [u64; 2], restriction, off| {
        feed.submit(SetRestriction { user: ids.host(user), target: ids.host(target), restriction, raised: off })
            .map(drop)
    };
    let mut off = true;
    while !stop.load(Ordering::SeqCst) {
        calls.fetch_add(1, Ordering::SeqCst);
        let done = match FICKLE.iter().position(|raw| *raw == author) {
            Some(0) if off => relate(vec![], vec![ids.host(author)]),
            Some(0) => relate(vec![(ids.host(author), None)], vec![]),
            Some(1) => bar([READER, author], Restriction::Mute, off),
            _ => bar([author, READER], Restriction::Hide, off),
        };
        done.expect("relates");
        off = !off;
        thread::sleep(Duration::from_micros(300));
    }
}

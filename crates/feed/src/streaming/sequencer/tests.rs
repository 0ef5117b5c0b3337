use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::thread;
use std::time::Duration;

use super::*;
use model::{Entry, Id, UserId};

/// For that which comes, also on a busy machine.
const LONG: Duration = Duration::from_secs(30);

fn sequencer() -> Sequencer {
    Sequencer::new(crossbeam_channel::bounded(1).0)
}

/// An item as a host names it; 0 stands for an omitted field.
fn item(id: u64, at: Millis) -> Publish {
    let content = Content {
        id: ContentId::new(id).unwrap_or(ContentId::MIN),
        author: UserId::MIN,
        published_at: at,
        edited_at: None,
        kind: "post".to_owned(),
        kind_id: model::KindId::POST,
        text: None,
        media: "[]".to_owned(),
        topics: vec![],
        ref_id: None,
        extra: None,
        broadcast: id.is_multiple_of(2),
        to: vec![],
        audience: model::Audience::Public,
        mentions: vec![],
        fingerprint: 0,
    };
    Publish { content, time_given: at > 0, audience_given: true, id_made: id == 0, event: None }
}

fn begin<'a>(sequencer: &'a Sequencer, items: &mut [Publish]) -> Flight<'a> {
    sequencer.begin(items, ChangeTime::Clock).expect("a time")
}

/// The whole log: the kind of each event, and its cursor.
fn logged(sequencer: &Sequencer) -> Vec<(EventKind, Cursor)> {
    let events = sequencer.slice(1, u64::MAX, usize::MAX).events;
    assert!(events.is_sorted_by(|a, b| a.number < b.number && a.logged <= b.logged && a.top <= b.top));
    events.into_iter().map(|event| (event.kind, event.entry.cursor)).collect()
}

fn published(items: &[&Publish]) -> Vec<(EventKind, Cursor)> {
    items.iter().map(|item| (EventKind::Publish, item.content.cursor())).collect()
}

fn cursor(item: &[Publish; 1]) -> Cursor {
    item[0].content.cursor()
}

/// The cursors that a read leaves out, if it began at this place.
fn later(sequencer: &Sequencer, cursors: &[Cursor], place: ReadPlace) -> Vec<Cursor> {
    let new = sequencer.later_than(cursors.iter().copied(), place).unwrap_or_default();
    cursors.iter().copied().filter(|cursor| new.contains(cursor)).collect()
}

#[test]
fn an_early_commit_waits_for_publishes_begun_before() {
    let sequencer = sequencer();
    let (mut first, mut second, mut third) = ([item(0, 0)], [item(0, 0)], [item(0, 0)]);
    let (mut a, mut b) = (begin(&sequencer, &mut first), begin(&sequencer, &mut second));
    let c = begin(&sequencer, &mut third);
    let begun = sequencer.read_place();
    b.commit(cursor(&second));
    assert_eq!((logged(&sequencer), sequencer.in_flight()), (vec![], 3));
    let all = [cursor(&first), cursor(&second), cursor(&third)];
    assert_eq!(later(&sequencer, &all, begun), all);
    a.commit(cursor(&first));
    let expected = published(&[&first[0], &second[0]]);
    assert_eq!(logged(&sequencer), expected);
    assert_eq!(later(&sequencer, &all, begun), all, "for a read that began before");
    assert_eq!(later(&sequencer, &all, sequencer.read_place()), all[2..]);
    drop((a, b, c));
    assert_eq!((logged(&sequencer), sequencer.in_flight()), (expected, 0));
    assert_eq!(later(&sequencer, &all, sequencer.read_place()), []);
}

#[test]
fn a_change_is_answered_once_what_was_begun_before_is_over() {
    let sequencer = Arc::new(sequencer());
    let mut earlier = [item(7, 7)];
    let mut flight = begin(&sequencer, &mut earlier);
    let (ticket, answered) = (sequencer.take(EventKind::Edit, ChangeTime::Clock), AtomicBool::new(false));
    let edited = item(8, 8).content;
    thread::scope(|scope| {
        scope.spawn(|| {
            ticket.commit(&edited);
            answered.store(true, Ordering::SeqCst);
        });
        while sequencer.state.lock().waiting() == 0 {
            thread::sleep(Duration::from_millis(1));
        }
        assert!(!answered.load(Ordering::SeqCst) && logged(&sequencer).is_empty());
        flight.commit(cursor(&earlier));
    });
    let edit = (EventKind::Edit, edited.cursor());
    assert_eq!(logged(&sequencer), [published(&[&earlier[0]]), vec![edit]].concat());
}

#[test]
fn a_failure_and_a_panic_hold_nobody_up() {
    let sequencer = Arc::new(sequencer());
    let panics = Arc::clone(&sequencer);
    let died = thread::spawn(move || {
        let _flight = begin(&panics, &mut [item(0, 0), item(7, 7)]);
        let _ticket = panics.take(EventKind::Delete, ChangeTime::Clock);
        panic!("on purpose");
    });
    assert!(died.join().is_err());
    let mut failed = [item(0, 0)];
    let flight = begin(&sequencer, &mut failed);
    let mut good = [item(0, 0)];
    let mut after = begin(&sequencer, &mut good);
    after.commit(cursor(&good));
    assert_eq!(logged(&sequencer), []);
    drop(flight);
    assert_eq!(logged(&sequencer), published(&[&good[0]]));
    assert_eq!(sequencer.in_flight(), 0);
}

/// The open end of the order for a read that began at this place, if the clock stands still.
fn open(sequencer: &Sequencer, place: ReadPlace) -> Cursor {
    sequencer.open(place, 0)
}

#[test]
fn an_old_item_is_left_out_by_nobody() {
    let sequencer = sequencer();
    let mut late = [item(5, 1000)];
    let begun = sequencer.read_place();
    let mut flight = begin(&sequencer, &mut late);
    assert_eq!(cursor(&late).at, 1000, "the time is the host's");
    assert_eq!(later(&sequencer, &[cursor(&late)], begun), []);
    assert!(sequencer.is_coming(cursor(&late)));
    flight.commit(cursor(&late));
    assert!(!sequencer.is_coming(cursor(&late)));
    assert_eq!(later(&sequencer, &[cursor(&late)], begun), []);
    drop(flight);
    // A repeat changes nothing either, also with a time of the host.
    let again = begin(&sequencer, &mut late);
    assert_eq!(later(&sequencer, &[cursor(&late)], begun), []);
    assert!(!sequencer.is_coming(cursor(&late)), "it is there");
    drop(again);
    assert_eq!(logged(&sequencer), published(&[&late[0]]));
}

#[test]
fn a_time_of_the_host_that_has_come_takes_its_place_in_the_order() {
    let sequencer = sequencer();
    let mut first = [item(0, 0)];
    let mut slow = begin(&sequencer, &mut first);
    let at = cursor(&first).at;
    let mut host = [item(1 << 62, at)];
    let begun = sequencer.read_place();
    let mut fast = begin(&sequencer, &mut host);
    fast.commit(cursor(&host));
    let mut second = [item(9, 0)];
    drop(begin(&sequencer, &mut second));
    assert!(cursor(&second) > cursor(&host), "what is given later is above it");
    let all = [cursor(&first), cursor(&host)];
    assert_eq!((later(&sequencer, &all, begun), open(&sequencer, begun)), (all.to_vec(), all[0]));
    slow.commit(cursor(&first));
    assert_eq!(logged(&sequencer), published(&[&first[0], &host[0]]));
    assert_eq!((later(&sequencer, &all, begun), open(&sequencer, begun)), (all.to_vec(), all[0]), "begun before");
    let place = sequencer.read_place();
    assert_eq!(later(&sequencer, &all, place), []);
    assert!(open(&sequencer, place) > all[1], "it is acknowledged, and on every page");
    // A repeat is no news.
    let _again = begin(&sequencer, &mut host);
    assert_eq!(later(&sequencer, &all, sequencer.read_place()), []);
}

#[test]
fn a_time_of_the_host_that_has_not_come_stands_above_the_open_end() {
    let sequencer = sequencer();
    let mut ahead = [item(5, now() + 60_000)];
    begin(&sequencer, &mut ahead).commit(cursor(&ahead));
    let place = sequencer.read_place();
    assert_eq!(later(&sequencer, &[cursor(&ahead)], place), [], "it is acknowledged");
    let open = open(&sequencer, place);
    let mut given = [item(0, 0)];
    let mut flight = begin(&sequencer, &mut given);
    assert!((open..cursor(&ahead)).contains(&cursor(&given)), "{open} {given:?}");
    // Its time comes, but not before what is on its way.
    let late = |place| sequencer.open(place, cursor(&ahead).at + 1);
    let place = sequencer.read_place();
    assert_eq!(late(place), cursor(&given));
    flight.commit(cursor(&given));
    assert_eq!(late(place), cursor(&given));
    assert!(late(sequencer.read_place()) > cursor(&ahead));
    let mut next = [item(0, 0)];
    drop(begin(&sequencer, &mut next));
    assert!(cursor(&next) > cursor(&ahead), "readers were told so");
}

#[test]
fn imported_items_without_a_time_are_in_the_order_too() {
    let sequencer = sequencer();
    let (mut imported, mut host) = ([item(0, 0), item(7, 7), item(8, now())], [item(9, 0)]);
    let begun = sequencer.read_place();
    let gap = sequencer.gap(&mut imported, ChangeTime::Clock).expect("a time");
    assert!(imported.iter().all(|item| item.event == Some(gap.event())));
    let mut after = begin(&sequencer, &mut host);
    after.commit(cursor(&host));
    let given = imported[0].content.cursor();
    assert!(cursor(&host) > given && cursor(&host) > imported[2].content.cursor());
    assert_eq!((open(&sequencer, begun), later(&sequencer, &[given], begun)), (given, vec![given]));
    gap.commit_gap();
    assert_eq!(open(&sequencer, begun), given, "for a read that began before");
    let place = sequencer.read_place();
    assert!(open(&sequencer, place) > cursor(&host) && later(&sequencer, &[given], place).is_empty());
    drop(sequencer.gap(&mut [item(0, 0)], ChangeTime::Clock).expect("a time"));
    assert_eq!(sequencer.state.lock().given.len(), 0, "given back");
}

#[test]
fn a_read_from_before_the_events_in_memory_is_careful() {
    let sequencer = sequencer();
    let mut first = [item(0, 0)];
    let begun = sequencer.read_place();
    begin(&sequencer, &mut first).commit(cursor(&first));
    let entry = Entry::plain(Cursor::OLDEST, UserId::MIN);
    (0..Sequencer::KEPT).for_each(|_| sequencer.changed(EventKind::Edit, entry));
    assert!(open(&sequencer, begun) <= cursor(&first));
}

/// The later items, asked for while another thread has the lock for some time; `None` if the lock is needed.
fn later_without_lock(
    sequencer: &Sequencer,
    cursors: &[Cursor],
    place: ReadPlace,
    time: Duration,
) -> Option<Vec<Cursor>> {
    let (tell, told) = crossbeam_channel::bounded(1);
    thread::scope(|scope| {
        let locked = sequencer.state.lock();
        scope.spawn(move || tell.send(later(sequencer, cursors, place)));
        let found = told.recv_timeout(time).ok();
        drop(locked);
        found
    })
}

#[test]
fn a_read_of_items_before_the_last_of_the_log_takes_no_lock() {
    let sequencer = sequencer();
    let (mut old, mut host) = ([item(0, 0)], [item(7, 7)]);
    begin(&sequencer, &mut old).commit(cursor(&old));
    begin(&sequencer, &mut host).commit(cursor(&host));
    thread::sleep(Duration::from_millis(2));
    let mut last = [item(0, 0)];
    begin(&sequencer, &mut last).commit(cursor(&last));
    let (mut coming, begun) = ([item(0, 0)], sequencer.read_place());
    let mut flight = begin(&sequencer, &mut coming);
    let older = [cursor(&old), cursor(&host)];
    assert_eq!(later_without_lock(&sequencer, &older, begun, LONG), Some(vec![]));
    assert_eq!(later_without_lock(&sequencer, &[cursor(&coming)], begun, Duration::from_millis(200)), None);
    assert_eq!(later(&sequencer, &[cursor(&last), cursor(&coming)], begun), [cursor(&coming)]);
    flight.commit(cursor(&coming));
    assert_eq!(later_without_lock(&sequencer, &older, begun, LONG), Some(vec![]), "also after the publish");
    assert_eq!(later(&sequencer, &[cursor(&last), cursor(&coming)], begun), [cursor(&coming)]);
    // Once a reader has looked at the clock, the last item is one of those before.
    let place = sequencer.read_place();
    assert_eq!(later_without_lock(&sequencer, &[cursor(&coming)], place, Duration::from_millis(200)), None);
    sequencer.open(place, cursor(&coming).at + 1);
    assert_eq!(later_without_lock(&sequencer, &[cursor(&coming)], sequencer.read_place(), LONG), Some(vec![]));
}

#[test]
fn given_cursors_rise_whatever_ids_the_host_names() {
    let sequencer = sequencer();
    let mut last = Cursor::OLDEST;
    let mut taken = 0;
    for id in (1..20_000).rev() {
        let mut items = [item(id, 0)];
        let Ok(flight) = sequencer.begin(&mut items, ChangeTime::Clock) else { break };
        drop(flight);
        assert!(cursor(&items) > last);
        last = cursor(&items);
        taken += 1;
    }
    assert!(taken >= 10_000, "{taken}");
    let ahead = last.at.saturating_sub(now());
    assert!(ahead <= 10_001, "{ahead}");
    let sequencer = self::sequencer();
    let mut batch: Vec<_> = (200..210).rev().map(|id| item(id, 0)).chain([item(0, 0)]).collect();
    let mut flight = begin(&sequencer, &mut batch);
    batch.iter().for_each(|item| flight.commit(item.content.cursor()));
    drop(flight);
    let times: HashSet<_> = batch.iter().map(|item| item.content.published_at).collect();
    assert_eq!(times.len(), 1, "one call, one time");
    assert!(logged(&sequencer).is_sorted_by_key(|(_, cursor)| *cursor));
    assert_eq!(logged(&sequencer).len(), 11);
}

#[test]
fn a_publish_without_room_leaves_nothing_in_flight() {
    let sequencer = sequencer();
    let crowded = (1..1 << 20).rev().any(|id| sequencer.begin(&mut [item(id, 0)], ChangeTime::Clock).is_err());
    assert!(crowded && sequencer.in_flight() == 0);
    drop(begin(&sequencer, &mut [item(1, 5)]));
    drop(begin(&sequencer, &mut [item(0, 0)]));
}

#[test]
fn made_ids_are_anew_at_each_call_and_never_one_of_the_named() {
    let sequencer = sequencer();
    let mut items = [item(0, 0), item(0, 0)];
    drop(begin(&sequencer, &mut items));
    let first = items[0].content.id;
    assert!(items[1].content.id > first);
    let named = ContentId::new(first.get() + 2).expect("in range");
    let mut items = [item(0, 0), item(named.get(), 0)];
    drop(begin(&sequencer, &mut items));
    assert!(items[0].content.id > first && items[0].content.id != named);
    let mut imported = [item(0, 0)];
    drop(sequencer.gap(&mut imported, ChangeTime::Clock).expect("a time"));
    assert!(Some(imported[0].content.id) >= named.next_greater());
    assert_eq!(sequencer.in_flight(), 0);
}

#[test]
fn a_mark_leads_to_its_place() {
    let sequencer = sequencer();
    let (end, mark) = sequencer.mark();
    assert_eq!(sequencer.mark(), (end, mark), "nothing happened since");
    assert_eq!((sequencer.place(mark), sequencer.end()), (Some(0), 1));
    let mut items = [item(0, 0)];
    let mut flight = begin(&sequencer, &mut items);
    drop(sequencer.take(EventKind::Edit, ChangeTime::Clock));
    assert_eq!(sequencer.mark(), (end, mark), "what is on its way will be news");
    flight.commit(cursor(&items));
    let (end, mark) = sequencer.mark();
    assert_eq!((sequencer.place(cursor(&items)), sequencer.place(mark), end), (Some(1), Some(1), 2));
    assert_ne!(mark, cursor(&items), "nobody is told of items that are not shown to them");
}

#[test]
fn every_event_is_a_place() {
    let sequencer = sequencer();
    let entry = Entry::plain(Cursor { at: 1000, id: ContentId::MIN }, UserId::MIN);
    for kind in [EventKind::Publish, EventKind::Delete, EventKind::Restore, EventKind::Delete, EventKind::Restore] {
        sequencer.changed(kind, entry);
    }
    let places = sequencer.slice(1, u64::MAX, 9).events.iter().map(Event::place).collect::<Vec<_>>();
    let found: Vec<_> = places.iter().map(|place| sequencer.place(*place)).collect();
    assert_eq!(found, (1..=5).map(Some).collect::<Vec<_>>());
    assert_eq!(sequencer.place(entry.cursor), Some(1));
}

/// The events that are on disk after items were published at this time.
fn on_disk(at: Millis) -> Vec<Event> {
    let event = |number| Event::new(number, EventKind::Publish, true, at, at);
    (1..=3).map(|number| event(number).of(&item(number, at).content)).collect()
}

#[test]
fn after_a_restart_all_goes_on_whatever_the_clock_says() {
    let day = 86_400_000;
    for at in [now() - day, now() + day, 1 << 43, (1 << 44) + day] {
        let (sequencer, newest) = (sequencer(), on_disk(at));
        sequencer.restore(newest.clone(), None, true, true);
        assert_eq!(sequencer.mark(), (4, newest[2].place()));
        assert_eq!(sequencer.place(newest[1].entry.cursor), Some(2));
        assert!(!sequencer.slice(0, 4, 9).lost, "nothing was before the first");
        let mut items = [item(0, 0), item(2, 0)];
        let flight = begin(&sequencer, &mut items);
        assert!(items.iter().all(|item| item.content.cursor() > newest[2].entry.cursor), "{at}");
        let numbers = items.each_ref().map(|item| item.event.as_ref().expect("a number").number);
        assert_eq!(numbers.iter().sum::<u64>(), 4 + 5);
        assert!(items[0].content.id.get() > 1, "{at}");
        drop(flight);
    }
}

#[test]
fn places_before_a_log_without_a_beginning_are_lost() {
    let sequencer = sequencer();
    sequencer.restore(vec![], None, false, true);
    assert!(!sequencer.slice(0, 9, 9).lost && logged(&sequencer).is_empty());
    sequencer.restore(vec![], None, true, true);
    assert_eq!(logged(&sequencer), [(EventKind::Gap, Cursor::OLDEST)]);
    sequencer.restore(on_disk(now()).split_off(1), None, true, false);
    assert!(sequencer.slice(1, 9, 9).lost && !sequencer.slice(2, 9, 9).lost);
}

use std::thread;
use std::time::Duration;

use super::*;
use model::{Content, EffectKind, Entry, UserId};

/// For that which comes, also on a busy machine.
const LONG: Duration = Duration::from_secs(30);

fn sequencer() -> Sequencer {
    let sequencer = Sequencer::new(crossbeam_channel::bounded(1).0);
    sequencer.begin_group(ChangeTime::Clock);
    sequencer
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

fn begin(sequencer: &Sequencer, items: &mut [Publish]) {
    sequencer.begin(items).expect("a time");
}

/// Adds events to those that are being written.
fn write(sequencer: &Sequencer, events: impl IntoIterator<Item = Event>) {
    let mut all = sequencer.state.lock().coming.clone();
    all.extend(events);
    all.sort_unstable_by_key(|event| event.number);
    sequencer.write_group(all);
}

/// Begins the publish of items that are new, and writes them.
fn publish(sequencer: &Sequencer, items: &mut [Publish]) {
    begin(sequencer, items);
    write(sequencer, items.iter().filter_map(|item| Some(item.event.as_ref()?.of(&item.content))));
}

fn id(sequencer: &Sequencer) -> ContentId {
    let mut id = ContentId::MIN;
    sequencer.make_ids([&mut id], 0, 0);
    id
}

/// An item for which the server makes the id.
fn made(sequencer: &Sequencer) -> Publish {
    item(id(sequencer).get(), 0)
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
fn events_come_into_the_log_when_they_are_on_disk() {
    let sequencer = sequencer();
    let (mut first, mut second) = ([made(&sequencer)], [made(&sequencer)]);
    publish(&sequencer, &mut first);
    publish(&sequencer, &mut second);
    begin(&sequencer, &mut [made(&sequencer)]);
    let begun = sequencer.read_place();
    assert_eq!(logged(&sequencer), vec![]);
    let all = [cursor(&first), cursor(&second)];
    assert_eq!(later(&sequencer, &all, begun), all);
    sequencer.end_group(true);
    assert_eq!(later(&sequencer, &all, begun), all, "for a read that began before");
    let expected = published(&[&first[0], &second[0]]);
    assert_eq!((logged(&sequencer), sequencer.end()), (expected, 3), "not past the number of what was refused");
    assert_eq!(later(&sequencer, &all, sequencer.read_place()), []);
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
    publish(&sequencer, &mut late);
    assert_eq!(cursor(&late).at, 1000, "the time is the host's");
    assert_eq!(later(&sequencer, &[cursor(&late)], begun), []);
    sequencer.end_group(true);
    assert_eq!(later(&sequencer, &[cursor(&late)], begun), []);
    // A repeat changes nothing either, also with a time of the host.
    begin(&sequencer, &mut late);
    assert_eq!(later(&sequencer, &[cursor(&late)], begun), []);
    assert_eq!(logged(&sequencer), published(&[&late[0]]));
}

#[test]
fn a_time_of_the_host_that_has_come_takes_its_place_in_the_order() {
    let sequencer = sequencer();
    let mut first = [made(&sequencer)];
    publish(&sequencer, &mut first);
    let at = cursor(&first).at;
    let mut host = [item(1 << 62, at)];
    let begun = sequencer.read_place();
    publish(&sequencer, &mut host);
    let mut second = [item(9, 0)];
    begin(&sequencer, &mut second);
    assert!(cursor(&second) > cursor(&host), "what is given later is above it");
    let all = [cursor(&first), cursor(&host)];
    assert_eq!(later(&sequencer, &all, begun), all);
    assert!(open(&sequencer, begun) <= all[0]);
    sequencer.end_group(true);
    assert_eq!(logged(&sequencer), published(&[&first[0], &host[0]]));
    assert_eq!((later(&sequencer, &all, begun), open(&sequencer, begun)), (all.to_vec(), all[0]), "begun before");
    let place = sequencer.read_place();
    assert_eq!(later(&sequencer, &all, place), []);
    assert!(open(&sequencer, place) > all[1], "it is acknowledged, and on every page");
    // A repeat is no news.
    begin(&sequencer, &mut host);
    assert_eq!(later(&sequencer, &all, sequencer.read_place()), []);
}

#[test]
fn a_time_of_the_host_that_has_not_come_stands_above_the_open_end() {
    let sequencer = sequencer();
    let mut ahead = [item(5, now() + 60_000)];
    publish(&sequencer, &mut ahead);
    sequencer.end_group(true);
    let place = sequencer.read_place();
    assert_eq!(later(&sequencer, &[cursor(&ahead)], place), [], "it is acknowledged");
    let open = open(&sequencer, place);
    sequencer.begin_group(ChangeTime::Clock);
    let mut given = [made(&sequencer)];
    publish(&sequencer, &mut given);
    assert!((open..cursor(&ahead)).contains(&cursor(&given)), "{open} {given:?}");
    // Its time comes, but not before what is on its way.
    let late = |place| sequencer.open(place, cursor(&ahead).at + 1);
    let place = sequencer.read_place();
    assert!(late(place) <= cursor(&given));
    sequencer.end_group(true);
    assert_eq!(late(place), cursor(&given));
    assert!(late(sequencer.read_place()) > cursor(&ahead));
    let mut next = [made(&sequencer)];
    begin(&sequencer, &mut next);
    assert!(cursor(&next) > cursor(&ahead), "readers were told so");
}

#[test]
fn imported_items_without_a_time_are_in_the_order_too() {
    let sequencer = sequencer();
    let (mut imported, mut host) = ([made(&sequencer), item(7, 7), item(8, now())], [item(9, 0)]);
    let begun = sequencer.read_place();
    write(&sequencer, [sequencer.gap(&mut imported).expect("a time")]);
    assert!(imported.iter().all(|item| item.event.as_ref().is_some_and(|event| event.kind == EventKind::Gap)));
    publish(&sequencer, &mut host);
    let given = imported[0].content.cursor();
    assert!(cursor(&host) > given && cursor(&host) > imported[2].content.cursor());
    assert_eq!(later(&sequencer, &[given], begun), [given]);
    assert!(open(&sequencer, begun) <= given);
    sequencer.end_group(true);
    assert_eq!(open(&sequencer, begun), given, "for a read that began before");
    let place = sequencer.read_place();
    assert!(open(&sequencer, place) > cursor(&host) && later(&sequencer, &[given], place).is_empty());
    sequencer.gap(&mut [made(&sequencer)]).expect("a time");
    assert!(open(&sequencer, place) > cursor(&host), "of a change that is refused");
}

#[test]
fn a_read_from_before_the_events_in_memory_is_careful() {
    let sequencer = sequencer();
    let mut first = [made(&sequencer)];
    let begun = sequencer.read_place();
    publish(&sequencer, &mut first);
    sequencer.end_group(true);
    let entry = Entry::plain(Cursor::OLDEST, UserId::MIN);
    (0..Sequencer::KEPT).for_each(|_| changed(&sequencer, EventKind::Edit, entry));
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
    let (mut old, mut host) = ([made(&sequencer)], [item(7, 7)]);
    publish(&sequencer, &mut old);
    publish(&sequencer, &mut host);
    sequencer.end_group(true);
    thread::sleep(Duration::from_millis(2));
    sequencer.begin_group(ChangeTime::Clock);
    let mut last = [made(&sequencer)];
    publish(&sequencer, &mut last);
    sequencer.end_group(true);
    sequencer.begin_group(ChangeTime::Clock);
    let (mut coming, begun) = ([made(&sequencer)], sequencer.read_place());
    publish(&sequencer, &mut coming);
    let older = [cursor(&old), cursor(&host)];
    assert_eq!(later_without_lock(&sequencer, &older, begun, LONG), Some(vec![]));
    assert_eq!(later_without_lock(&sequencer, &[cursor(&coming)], begun, Duration::from_millis(200)), None);
    assert_eq!(later(&sequencer, &[cursor(&last), cursor(&coming)], begun), [cursor(&coming)]);
    sequencer.end_group(true);
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
        if sequencer.begin(&mut items).is_err() {
            break;
        }
        assert!(cursor(&items) > last);
        last = cursor(&items);
        taken += 1;
    }
    assert!(taken >= 10_000, "{taken}");
    let ahead = last.at.saturating_sub(now());
    assert!(ahead <= 10_001, "{ahead}");
    let sequencer = self::sequencer();
    let mut batch: Vec<_> = (200..210).rev().map(|id| item(id, 0)).chain([made(&sequencer)]).collect();
    publish(&sequencer, &mut batch);
    sequencer.end_group(true);
    let times: HashSet<_> = batch.iter().map(|item| item.content.published_at).collect();
    assert_eq!(times.len(), 1, "one call, one time");
    assert!(logged(&sequencer).is_sorted_by_key(|(_, cursor)| *cursor));
    assert_eq!(logged(&sequencer).len(), 11);
}

#[test]
fn a_publish_without_room_takes_nothing() {
    let sequencer = sequencer();
    let crowded = (1..1 << 20).rev().any(|id| sequencer.begin(&mut [item(id, 0)]).is_err());
    let before = sequencer.course();
    assert!(crowded && sequencer.begin(&mut [item(1, 0)]).is_err());
    assert_eq!(sequencer.course(), before);
    begin(&sequencer, &mut [item(1, 5)]);
}

#[test]
fn a_mark_leads_to_its_place() {
    let sequencer = sequencer();
    let (end, mark) = sequencer.mark();
    assert_eq!(sequencer.mark(), (end, mark), "nothing happened since");
    assert_eq!((sequencer.place(mark), sequencer.end()), (Some(0), 1));
    let mut items = [made(&sequencer)];
    publish(&sequencer, &mut items);
    assert_eq!(sequencer.mark(), (end, mark), "what is on its way will be news");
    sequencer.end_group(true);
    let (end, mark) = sequencer.mark();
    assert_eq!((sequencer.place(cursor(&items)), sequencer.place(mark), end), (Some(1), Some(1), 2));
    assert_ne!(mark, cursor(&items), "nobody is told of items that are not shown to them");
}

#[test]
fn nobody_knows_of_the_number_of_an_effect_that_was_not_written() {
    let (sequencer, effect) = (sequencer(), || vec![Effect::on(EffectKind::ProfileChanged, UserId::MIN)]);
    let number = |rows: Vec<Logged>| rows[0].number();
    assert_eq!(number(sequencer.number(effect())), 1);
    sequencer.end_group(true);
    assert_eq!(sequencer.end(), 2);
    sequencer.begin_group(ChangeTime::Clock);
    assert_eq!(number(sequencer.number(effect())), 2);
    sequencer.end_group(false);
    sequencer.begin_group(ChangeTime::Clock);
    sequencer.end_group(true);
    assert_eq!(sequencer.end(), 2, "nothing was written");
    sequencer.begin_group(ChangeTime::Clock);
    assert_eq!(number(sequencer.number(effect())), 3);
    sequencer.end_group(true);
    assert_eq!(sequencer.end(), 4);
}

#[test]
fn every_event_is_a_place() {
    let sequencer = sequencer();
    let entry = Entry::plain(Cursor { at: 1000, id: ContentId::MIN }, UserId::MIN);
    for kind in [EventKind::Publish, EventKind::Delete, EventKind::Restore, EventKind::Delete, EventKind::Restore] {
        changed(&sequencer, kind, entry);
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

fn rows(events: Vec<Event>, from: u64) -> NewestRows {
    let last = Event { kind: EventKind::Mark, ..events[events.len() - 1].clone() };
    NewestRows { events, last, from }
}

#[test]
fn after_a_restart_all_goes_on_whatever_the_clock_says() {
    let day = 86_400_000;
    for at in [now() - day, now() + day, 1 << 43, (1 << 44) + day] {
        let (sequencer, newest) = (sequencer(), on_disk(at));
        sequencer.restore(Some(rows(newest.clone(), 0)), true);
        assert_eq!(sequencer.mark(), (4, newest[2].place()));
        assert_eq!(sequencer.place(newest[1].entry.cursor), Some(2));
        assert!(!sequencer.slice(0, 4, 9).lost, "nothing was before the first");
        let mut items = [made(&sequencer), item(2, 0)];
        publish(&sequencer, &mut items);
        assert!(items.iter().all(|item| item.content.cursor() > newest[2].entry.cursor), "{at}");
        let numbers = items.each_ref().map(|item| item.event.as_ref().expect("a number").number);
        assert_eq!(numbers.iter().sum::<u64>(), 4 + 5);
        assert!(items[0].content.id.get() > 1, "{at}");
    }
}

#[test]
fn places_before_a_log_without_a_beginning_are_lost() {
    let sequencer = sequencer();
    sequencer.restore(None, false);
    assert!(!sequencer.slice(0, 9, 9).lost && logged(&sequencer).is_empty());
    sequencer.restore(None, true);
    assert_eq!(logged(&sequencer), [(EventKind::Gap, Cursor::OLDEST)]);
    sequencer.restore(Some(rows(on_disk(now()).split_off(1), 2)), true);
    assert!(sequencer.slice(1, 9, 9).lost && !sequencer.slice(2, 9, 9).lost);
}

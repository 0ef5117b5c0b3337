//! Something in every table, and the reads of a store, for the tests that go through all of them. A new table of records
//! is a line in [`RECORDS`], any other a row in [`fill`]; a read that may be answered from memory is a line in [`reads`].

use std::fmt::{Debug, Display};
use std::ops::ControlFlow;

use feed::follows::tables::Change;
use feed::inbox::tables::Then;
use feed::items::tables::{Batch, Push};
use feed::store::Store;
use feed::{
    erasure, events, follows, ids, inbox, items, lists, notices, reactions, restrictions, timeline, topics, users,
};
use kv::Tier;
use model::error::Result;
use model::{
    Activity, Audience, Changed, ContentEdit, ContentId, Cursor, Effect, EffectKind, Entry, Event, EventKind, KindId,
    ListSettings, Logged, Moment, NoticeCursor, NoticeId, NoticeKind, Order, Profile, Progress, Publish, Reach,
    Reaction, ReactionKind, Restriction, Rule, Side, Span, UserId, UserSettings, Work,
};

use super::support::{
    MANY, deliver, digest, erasure_of, follow_of, follow_settled, item, jobs, place, post, push, relate, timed,
    unfollow, user, users,
};

/// The topics of a small world, and one that no item has.
pub(crate) const TOPICS: [&str; 4] = ["t", "u", "a/é 🌊", "none"];

/// Names of users or items, and one that has no number.
pub(crate) const NAMES: [&str; 4] = ["ann", "042", "b/é 🌊", "nobody"];

/// The names of lists: one of them, in the order of its bytes, is last and first of all.
pub(crate) const LISTS: [&str; 3] = [LIST, " ", "é/🌊"];
const LIST: &str = "close";

/// The first number of a kind.
const COMMENTS: KindId = KindId(1);

/// Kinds of content.
pub(crate) const KINDS: [&str; 3] = ["video", "post", "poll"];

/// Items of each of three authors: enough for lists longer than any page.
const ITEMS: u64 = 300;

/// Something in every table and in every state: some of it deleted, archived, below a floor, or still to be delivered.
pub(crate) fn fill(store: &Store) {
    assert_eq!(items::tables::give_kinds(store, &["comment"]).expect("holds"), [COMMENTS]);
    for author in 1..=3 {
        items::tables::publish(store, &items_of(author), Batch::AllOrNone, Push::Queued).expect("publishes");
    }
    for who in 4..=9 {
        for target in 1..=3 {
            follow_settled(store, who, target, who * target % 7);
            follow_settled(store, target, who, who);
        }
    }
    ids::tables::give_numbers(store, &NAMES[..3]).expect("gives");
    unfollow(store, 4, 1);
    let rule = Rule::new(true, &items::tables::give_kinds(store, &KINDS).expect("holds"));
    relate(store, 10, &[Change { rule: Some(rule), ..follow_of(1, 70) }]);
    push(store, 40, 3, 400, &users([5, 6]));
    let event = Event::new(1, EventKind::Edit, false, 1, 1);
    let changed = Changed { number: 3, at: 1, effect: Effect::on(EffectKind::ProfileChanged, user(1)).named("a") };
    events::tables::log_effects(store, &[Logged::Effect { changed, top: 1 }]).expect("logs");
    let edit = ContentEdit { text: Some(None), ..ContentEdit::default() };
    items::tables::edit(store, item(1003), edit, Moment { at: 99, event: Some(event) })
        .expect("edits")
        .expect("is there");
    let reactions: Vec<_> = (1..=9)
        .flat_map(|n| {
            [ReactionKind::LIKE, ReactionKind::FAVORITE].map(|kind| Reaction { user: user(n), kind, since: Some(n) })
        })
        .collect();
    for id in [1000, 1007, 1011] {
        reactions::tables::react(store, item(id), &reactions).expect("reacts");
    }
    for id in [1007, 2004, 3200] {
        items::tables::delete(store, item(id), 50.into()).expect("deletes");
    }
    let event = Event::new(2, EventKind::TakenOff, false, 1, 1);
    assert!(items::tables::take_off(store, item(1015), user(1), 52, &event).expect("takes off"));
    let mutes = [1, 11, 12, 13, 14].map(|target| (Restriction::Mute, 4, target, target));
    let hides = [(2, 4), (3, 4), (9, 8)].map(|(who, target)| (Restriction::Hide, who, target, who));
    let blocks = [(4, 77), (78, 4)].map(|(who, target)| (Restriction::Block, who, target, who));
    for (restriction, who, target, since) in mutes.into_iter().chain(hides).chain(blocks) {
        let (who, target) = (user(who), user(target));
        restrictions::tables::set_restriction(store, who, target, restriction, Some(since), MANY).expect("sets");
    }
    for (number, who) in [(5, 93), (6, 94)] {
        let event = Event::new(number, EventKind::Suspension, false, 2, 2).of_user(user(who));
        assert!(erasure::tables::begin_erasure(store, &erasure_of(who, 2), Some(&event)).expect("begins"));
    }
    assert!(erasure::tables::end_erasure(store, user(94), 2, 0).expect("ends"));
    users::tables::put_profile(store, user(4), &Profile::default()).expect("puts");
    users::tables::put_settings(
        store,
        user(79),
        UserSettings { approve_followers: true, default_audience: Audience::Followers },
    )
    .expect("puts");
    relate(store, 4, &[follow_of(79, 71)]);
    for change in RECORDS {
        [5, 6].into_iter().for_each(|who| change(store, user(who), who).expect("changes"));
    }
    inbox::tables::raise_floor(store, user(5), place(100, 1)).expect("raises");
    inbox::tables::raise_floor(store, user(6), Cursor::NEWEST).expect("raises");
    users::tables::move_marker(store, user(4), place(100, 1), None).expect("moves");
    inbox::tables::meet(store, user(7), 5).expect("meets");
    store.put_notes(&[("note", Some(b"1"))]).expect("writes");
    for (who, now) in [(1, 10), (2, 20), (3, 30), (4, 40)] {
        let job = inbox::tables::touch(store, user(who), now).expect("touches").job.expect("was dormant");
        if who % 2 == 0 {
            inbox::tables::rebuild(store, job.id, user(who), &users([1, 3]), 5).expect("rebuilds");
        }
    }
    inbox::tables::split_active(store, &users([1, 2, 3]), 25).expect("splits");
    let fan_outs = jobs(store).into_iter().filter_map(|job| match job.work {
        Work::FanOut { entry } => Some((job, entry)),
        _ => None,
    });
    for ((job, entry), reach) in fan_outs.zip([Reach::All, Reach::Active, Reach::Nobody]) {
        inbox::tables::begin_fan_out(store, job.id, entry, reach).expect("begins");
        deliver(store, job, &users([4]), Then::Progress(Progress { reach, done_to: Some(user(4)) }));
    }
    items::tables::archive_outbox(store, user(2), place(20, 2020), 9).expect("archives");
    let topic = topics::tables::topic(store, TOPICS[0], Tier::Disk).expect("reads").expect("is named");
    topics::tables::archive_topic(store, topic, place(20, 3020), 9).expect("archives");
}

fn items_of(author: u64) -> Vec<Publish> {
    let item = |n: u64| {
        let mut content = post(author * 1000 + n, author, n);
        content.broadcast = n % 7 != 6;
        content.mentions = users((n == 4).then_some(9));
        content.extra = n.is_multiple_of(5).then(|| "{\"k\":\"\u{e9}\"}".to_owned());
        content.topics = TOPICS[..3].iter().skip(n as usize % 4).map(|topic| (*topic).to_owned()).collect();
        if n >= ITEMS * 2 / 3 {
            (content.kind, content.kind_id) = ("comment".to_owned(), COMMENTS);
            content.ref_id = Some(item(author * 1000));
        }
        timed(content)
    };
    (0..ITEMS).map(item).collect()
}

/// The tables without a row, after [`fill`].
pub(crate) fn empty_tables(store: &Store) -> Vec<&'static str> {
    // Before a compaction the engine may count a row once for each write.
    store.compact().expect("compacts");
    let stats = store.usage().expect("reads").tables.into_iter();
    stats.filter(|figures| figures.rows == 0).map(|figures| figures.table).collect()
}

/// Users and items to read, and the part of each list.
#[derive(Debug, Clone)]
pub(crate) struct Scope {
    pub(crate) users: Vec<UserId>,
    pub(crate) ids: Vec<ContentId>,
    pub(crate) span: Span<ContentId>,
    pub(crate) order: Order,
    pub(crate) limit: usize,
}

impl Scope {
    /// Whole lists of some users and items.
    pub(crate) fn whole(users: &[UserId], ids: &[ContentId]) -> Self {
        Self { users: users.to_vec(), ids: ids.to_vec(), span: Span::ALL, order: Order::NewestFirst, limit: MANY }
    }

    /// The users and some of the items of [`fill`], and of a world of small numbers.
    pub(crate) fn filled() -> Self {
        let sample = (1..=3).flat_map(|author| (0..=ITEMS).step_by(19).map(move |n| author * 1000 + n));
        let ids: Vec<_> = (1..=40).chain([1003, 1007, 1011, 2004, 3200]).chain(sample).map(item).collect();
        Self::whole(&users(1..=10), &ids)
    }
}

/// A read, and its answer as text.
pub(crate) type Read<'a> = Box<dyn Fn(&Store, Tier) -> Result<String> + 'a>;

/// Reads with the names of their methods and subjects.
#[derive(Default)]
struct Reads<'a>(Vec<(String, Read<'a>)>);

impl<'a> Reads<'a> {
    fn add<T: Debug>(&mut self, name: impl Display, read: impl Fn(&Store, Tier) -> Result<T> + 'a) {
        self.0.push((name.to_string(), Box::new(move |store, tier| Ok(format!("{:?}", read(store, tier)?)))));
    }
}

/// The reads of a store that memory may answer, and of what only this node has.
pub(crate) fn reads(scope: &Scope) -> Vec<(String, Read<'_>)> {
    let Scope { users, ids, span, order, limit } = scope;
    let (span, order, limit) = (*span, *order, *limit);
    let mut reads = Reads::default();
    reads.add("contents", |store, tier| items::tables::contents(store, ids, tier));
    reads.add("erasing", |store, _| {
        Ok((
            erasure::tables::has_erasures(store),
            users.iter().map(|user| erasure::tables::is_erasing(store, *user)).collect::<Vec<_>>(),
        ))
    });
    reads.add("deleted", |store, tier| items::tables::deleted(store, ids, tier));
    reads.add("taken_off", |store, tier| {
        let paths = ids.iter().flat_map(|id| users.iter().map(|user| (*id, *user)));
        items::tables::taken_off(store, &mut paths.clone(), tier)
    });
    reads.add("item_counts", |store, tier| items::tables::item_counts(store, ids, tier));
    reads.add("outboxes", move |store, tier| items::tables::outboxes(store, users, span.scan(order, limit), tier));
    reads.add("lacking", |store, tier| {
        let mut authors_with_unpushed = inbox::tables::authors_with_unpushed(store, users, None, false, tier)?;
        authors_with_unpushed.sort_unstable();
        Ok(authors_with_unpushed)
    });
    reads.add("numbers", |store, tier| ids::tables::numbers(store, &NAMES, tier));
    for name in NAMES {
        reads.add(format_args!("names {name}"), move |store, tier| {
            let given: Vec<_> = ids::tables::numbers(store, &[name], tier)?.into_iter().flatten().collect();
            ids::tables::names(store, &given, tier)
        });
    }
    reads.add("users_named", |store, _| users::tables::users_named(store, "", MANY));
    reads.add("names_beginning", |store, _| ids::tables::names_beginning(store, "", MANY));
    reads.add("logged", |store, _| events::tables::logged(store, 0, MANY));
    reads.add("newest_logged", |store, _| {
        let mut newest = Vec::new();
        events::tables::newest_logged(store, &mut |row| {
            newest.push(row);
            if newest.len() < 3 { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
        })?;
        Ok(newest)
    });
    reads.add("suspended_among", |store, tier| users::tables::suspended_among(store, &mut users.iter().copied(), tier));
    reads.add("users_after", |store, _| users::tables::users_after(store, None, MANY));
    reads.add("has_data", |store, _| feed::check::has_data(store));
    reads.add("not_evicted", |store, _| inbox::tables::not_evicted(store, users.clone()));
    for name in TOPICS {
        reads.add(format_args!("topic {name}"), move |store, tier| {
            let Some(topic) = topics::tables::topic(store, name, tier)? else { return Ok(None) };
            topics::tables::topic_content(store, topic, span.scan(order, limit), limit, tier).map(Some)
        });
    }
    for &id in ids {
        reads.add(format_args!("comments {id}"), move |store, tier| {
            items::tables::comments(store, id, span.scan(order, limit), tier)
        });
        reads.add(format_args!("reacted_to {id}"), move |store, tier| {
            reactions::tables::reacted_to(store, id, users, tier)
        });
        for kind in [ReactionKind::LIKE, ReactionKind::FAVORITE] {
            reads.add(format_args!("reactors {id} {kind:?}"), move |store, tier| {
                reactions::tables::reactors(store, id, kind, Span::ALL.scan(order, limit), tier)
            });
        }
    }
    for &user in users {
        of_user(scope, user, &mut |name, read| reads.0.push((format!("{name} {user}"), read)));
    }
    reads.0
}

/// A change of a user's record, made with a number.
type Record = fn(&Store, UserId, u64) -> Result<()>;

/// Changes of the records of users.
const RECORDS: [Record; 6] = [
    |store, user, number| {
        users::tables::put_profile(store, user, &Profile { nickname: Some(number.to_string()), ..Profile::default() })
    },
    |store, user, number| {
        let approve_followers = number % 2 == 0;
        users::tables::put_settings(store, user, UserSettings { approve_followers, ..UserSettings::default() })
    },
    |store, user, number| users::tables::move_marker(store, user, place(number, 1), None).map(|_| ()),
    |store, owner, number| {
        let id = NoticeId::new(NoticeKind::Follow, user(100 + number), None);
        notices::tables::move_notice_marker(store, owner, NoticeCursor { at: number, id }).map(|_| ())
    },
    |store, user, number| {
        // Times in the order of the numbers, as those of other events.
        let event_number = 10 + number;
        let event =
            Event::new(event_number, EventKind::Suspension, false, event_number, 2 * event_number).of_user(user);
        users::tables::set_suspension(store, user, (number != 2).then_some(number), event).map(|_| ())
    },
    |store, member, number| {
        let (owner, settings) = (UserId::MIN, ListSettings { title: None, exclusive: number % 4 != 2 });
        lists::tables::put_list(store, owner, LIST, &settings, MANY)?;
        let rule = Rule::new(number % 2 == 0, &[KindId(3)]).filter(|_| number % 3 == 0);
        lists::tables::change_members(
            store,
            owner,
            LIST,
            &[Change { rule: Some(rule), ..Change::new(member, Some(number)) }],
            MANY,
        )?;
        lists::tables::move_list_marker(store, owner, LIST, place(number, 1), None).map(|_| ())
    },
];

/// Every read about one user.
fn of_user<'a>(scope: &'a Scope, user: UserId, put: &mut dyn FnMut(&str, Read<'a>)) {
    let Scope { users, ids, span, order, limit } = scope;
    let (span, order, limit) = (*span, *order, *limit);
    let mut reads = Reads::default();
    reads.add("outbox", move |store, tier| items::tables::outboxes(store, &[user], span.scan(order, limit), tier));
    reads.add("user_comments", move |store, tier| {
        items::tables::user_comments(store, user, span.scan(order, limit), tier)
    });
    reads.add("unlisted", move |store, tier| items::tables::unlisted(store, user, span.scan(order, limit), tier));
    reads.add("inbox", move |store, tier| inbox(store, user, span, order, limit, tier));
    for side in Side::all() {
        reads.add(format_args!("members {side:?}"), move |store, tier| {
            follows::tables::members(store, user, side, Span::ALL.scan(order, limit), tier)
        });
    }
    for kind in [ReactionKind::LIKE, ReactionKind::FAVORITE] {
        reads.add(format_args!("reacted_by {kind:?}"), move |store, tier| {
            reactions::tables::reacted_by(store, user, kind, span.scan(order, limit), tier)
        });
    }
    reads.add("reacted", move |store, tier| {
        let live = items::tables::contents(store, ids, tier)?.into_iter().flatten();
        reactions::tables::reacted(store, user, &live.map(|content| content.cursor()).collect::<Vec<_>>(), tier)
    });
    reads.add("relations", move |store, tier| follows::tables::relations(store, user, users, tier));
    reads.add("followees", move |store, tier| follows::tables::followees(store, user, tier));
    reads.add("authors", move |store, tier| timeline::tables::authors(store, user, tier));
    reads.add("authors_among", move |store, tier| timeline::tables::authors_among(store, user, users, tier));
    reads.add("silences", move |store, tier| {
        restrictions::tables::silences(store, &users.iter().map(|author| (user, *author)).collect::<Vec<_>>(), tier)
    });
    reads.add("hiders_among", move |store, tier| restrictions::tables::hiders_among(store, user, users, tier));
    reads.add("blocked_among", move |store, tier| follows::tables::blocked_among(store, user, users, tier));
    reads.add("user_counts", move |store, tier| follows::tables::user_counts(store, user, tier));
    reads.add("activity", move |store, tier| inbox::tables::activity(store, user, tier).map(without_job));
    reads.add("unpushed", move |store, tier| inbox::tables::unpushed(store, user, tier));
    reads.add("profiles", move |store, tier| users::tables::profiles(store, &[user], tier));
    reads.add("settings", move |store, tier| users::tables::settings(store, user, tier));
    reads.add("marker", move |store, tier| users::tables::marker(store, user, tier));
    reads.add("notices", move |store, tier| {
        let at = |place: Cursor| NoticeCursor {
            at: place.at,
            id: NoticeId::new(NoticeKind::Reaction, UserId::MIN, Some(place.id)),
        };
        let span = Span { before: span.before.map(at), after: span.after.map(at) };
        notices::tables::notices(store, user, span.scan(order, limit), tier)
    });
    reads.add("notice_marker", move |store, tier| notices::tables::notice_marker(store, user, tier));
    reads.add("reaction_byte", |store, _| Ok(notices::tables::reaction_byte(store, ReactionKind::LIKE)));
    reads.add("lists", move |store, tier| lists::tables::lists(store, user, tier));
    for name in LISTS {
        reads.add(format_args!("list {name}"), move |store, tier| {
            let Some(list) = lists::tables::list(store, user, name, tier)? else { return Ok(None) };
            let members = lists::tables::list_members(store, list.id, Span::ALL.scan(order, limit), tier)?;
            let (among, authors) = (
                lists::tables::memberships(store, list.id, users, tier)?,
                timeline::tables::list_authors(store, user, list.id, tier)?,
            );
            Ok(Some((list.clone(), members, among, authors, lists::tables::list_marker(store, list.id, tier)?)))
        });
    }
    reads.add("suspended_since", move |store, tier| users::tables::suspended_since(store, user, tier));
    reads.add("note", move |store, _| {
        ["a", "b", "note"].map(|name| store.note(name)).into_iter().collect::<Result<Vec<_>>>()
    });
    reads.0.into_iter().for_each(|(name, read)| put(&name, read));
}

/// At most `limit` rows of an inbox, and its floor.
pub(crate) fn inbox(
    store: &Store,
    user: UserId,
    span: Span<ContentId>,
    order: Order,
    limit: usize,
    tier: Tier,
) -> Result<(Vec<Entry>, Option<Cursor>)> {
    let mut rows = Vec::new();
    let mut visit = |row| {
        rows.push(row);
        if rows.len() == limit { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    };
    let floor = inbox::tables::inbox(store, user, span, order, tier, &mut visit)?;
    Ok((rows, floor))
}

/// An activity without the number of its job, which differs between stores.
pub(crate) fn without_job(activity: Activity) -> Activity {
    match activity {
        Activity::Returning { seen, empty, .. } => Activity::Returning { seen, empty, rebuild: 0 },
        other => other,
    }
}

/// The answers to every read, from the disk, and the digests of all tables that nodes share.
pub(crate) fn dump(store: &Store, scope: &Scope) -> Vec<String> {
    let answer = |(name, read): (String, Read<'_>)| {
        let text = read(store, Tier::Disk).unwrap_or_else(|error| panic!("{name}: {error:?}"));
        format!("{name}: {text}")
    };
    let tables = digest(store, 0).into_iter().map(|table| format!("{table:?}"));
    reads(scope).into_iter().map(answer).chain(tables).collect()
}

//! Random operations and reads over few users, items and times, so that they collide.

use std::collections::BTreeSet;
use std::fmt::{self, Debug, Formatter};
use std::sync::Arc;

use proptest::collection::{btree_map, btree_set, vec};
use proptest::option;
use proptest::prelude::*;
use proptest::sample::select;

use model::error::Result;
use model::store::{Batch, Change, Store, Tier};
use model::{
    Barrier, ContentId, Edit, Event, EventKind, KindId, ListSettings, MAX_ID, MAX_MILLIS, Millis, NoticeCursor,
    NoticeId, NoticeKind, Order, Position, Profile, Reach, Reaction, ReactionKind, ReactionKinds, Rule, Side, Span,
    UserId, UserSettings,
};

use crate::store::everything::{LISTS, NAMES, RECORDS, TOPICS, inbox};

/// Few users, at the ends of the range and at carries between bytes.
pub(crate) const USERS: [u64; 5] = [1, 2, 255, 256, MAX_ID];
pub(crate) const ITEMS: [u64; 7] = [1, 2, 255, 256, 0x00FF_00FF_00FF_00FF, MAX_ID - 1, MAX_ID];
pub(crate) const MOST_STEPS: usize = 80;
const TIMES: [Millis; 5] = [0, 1, 255, 256, MAX_MILLIS];

/// One change, then some reads.
#[derive(Debug, Clone)]
pub(crate) struct Step {
    pub(crate) op: Op,
    /// Reads of a part; everything is compared after every step anyway.
    pub(crate) reads: Vec<Call>,
}

/// An item to publish.
#[derive(Debug, Clone)]
pub(crate) struct Item {
    pub(crate) author: UserId,
    pub(crate) at: Millis,
    pub(crate) time_given: bool,
    pub(crate) fingerprint: u64,
    pub(crate) broadcast: bool,
    /// Further paths; may have the author.
    pub(crate) to: BTreeSet<UserId>,
    pub(crate) kind: &'static str,
    pub(crate) ref_id: Option<ContentId>,
    pub(crate) topics: Vec<&'static str>,
    pub(crate) mentions: Vec<UserId>,
}

/// What a delivery records of its job.
#[derive(Debug, Clone)]
pub(crate) enum Record {
    Nothing,
    Progress(Option<UserId>),
    End,
}

/// A change. `job` picks one of the existing jobs that fit. Without any the change does nothing.
#[derive(Debug, Clone)]
pub(crate) enum Op {
    Same(Call),
    Publish {
        items: Vec<(ContentId, Item)>,
        batch: Batch,
    },
    Edit {
        id: ContentId,
        edit: Edit,
        now: Millis,
    },
    Delete {
        id: ContentId,
        now: Millis,
    },
    DeleteForGood {
        id: ContentId,
        deleted_since: Millis,
    },
    Restore {
        id: ContentId,
        deleted_since: Millis,
    },
    /// Begins an erasure, or goes on with it by so many parts, and ends it after the last.
    Erase {
        user: UserId,
        parts: usize,
    },
    PurgeReactions {
        id: ContentId,
        most: usize,
    },
    Relate {
        user: UserId,
        changes: Vec<Change>,
        limit: usize,
    },
    Answer {
        target: UserId,
        user: UserId,
        follow: Option<Millis>,
    },
    Bar {
        user: UserId,
        target: UserId,
        barrier: Barrier,
        since: Option<Millis>,
        limit: usize,
    },
    ArchiveTopic {
        topic: &'static str,
        newest: Position<ContentId>,
        most: usize,
    },
    BeginFanOut {
        job: usize,
        reach: Reach,
    },
    Deliver {
        job: usize,
        recipients: Vec<UserId>,
        record: Record,
    },
    Settle {
        job: usize,
        room: usize,
    },
    Rebuild {
        job: usize,
        authors: Vec<UserId>,
        room: usize,
    },
    DropJob {
        job: usize,
    },
    Touch {
        user: UserId,
        now: Millis,
    },
    ArchiveOutbox {
        author: UserId,
        newest: Position<ContentId>,
        most: usize,
    },
    TrimEvents {
        below: u64,
    },
    KeepNotices {
        since: Millis,
    },
    Reopen,
}

type Run = dyn Fn(&dyn Store, Tier) -> Result<String>;

/// A call that both stores must answer alike.
#[derive(Clone)]
pub(crate) struct Call {
    text: String,
    run: Arc<Run>,
}

impl Debug for Call {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl Call {
    /// The answer as text.
    pub(crate) fn run(&self, store: &dyn Store, tier: Tier) -> Result<String> {
        (self.run)(store, tier)
    }
}

fn call<A: Debug + 'static, T: Debug + 'static>(
    name: &str,
    arguments: A,
    run: fn(&dyn Store, &A, Tier) -> Result<T>,
) -> Call {
    let text = format!("{name} {arguments:?}");
    let run = move |store: &dyn Store, tier| Ok(format!("{:?}", run(store, &arguments, tier)?));
    Call { text, run: Arc::new(run) }
}

/// Sequences of steps.
pub(crate) fn sequences() -> impl Strategy<Value = Vec<Step>> {
    let step = (op(), vec(read(), 0..4)).prop_map(|(op, reads)| Step { op, reads });
    vec(step, 1..MOST_STEPS)
}

fn user() -> impl Strategy<Value = UserId> {
    select(&USERS[..]).prop_map(|raw| UserId::new(raw).expect("in range"))
}

fn item() -> impl Strategy<Value = ContentId> {
    select(&ITEMS[..]).prop_map(|raw| ContentId::new(raw).expect("in range"))
}

fn time() -> impl Strategy<Value = Millis> {
    select(&TIMES[..])
}

fn name() -> impl Strategy<Value = &'static str> {
    select(&NAMES[..])
}

fn list() -> impl Strategy<Value = &'static str> {
    select(&LISTS[..])
}

/// The names of the kinds of reactions after this many openings. Some come and go.
pub(crate) fn kinds(openings: usize) -> ReactionKinds {
    let names = [["like", "favorite", "👏", "a b"], ["👏", "new", "like", "more"]][openings % 2];
    ReactionKinds::new(names.map(str::to_owned).into()).expect("names")
}

fn kind() -> impl Strategy<Value = ReactionKind> {
    select(kinds(0).iter().map(|(kind, _)| kind).collect::<Vec<_>>())
}

fn wish() -> impl Strategy<Value = Reaction> {
    (user(), kind(), option::weighted(0.65, time())).prop_map(|(user, kind, since)| Reaction { user, kind, since })
}

fn order() -> impl Strategy<Value = Order> {
    select(&[Order::NewestFirst, Order::OldestFirst][..])
}

fn position<I: std::fmt::Debug>(id: impl Strategy<Value = I>) -> impl Strategy<Value = Position<I>> {
    (time(), id).prop_map(|(at, id)| Position { at, id })
}

fn content_span() -> impl Strategy<Value = Span<ContentId>> {
    (option::of(position(item())), option::of(position(item()))).prop_map(|(before, after)| Span { before, after })
}

fn user_span() -> impl Strategy<Value = Span<UserId>> {
    (option::of(position(user())), option::of(position(user()))).prop_map(|(before, after)| Span { before, after })
}

fn notice_place() -> impl Strategy<Value = NoticeCursor> {
    let id = (select(NoticeKind::ALL.to_vec()), 0..3_u8, user(), option::of(item()));
    (time(), id)
        .prop_map(|(at, (kind, reaction, actor, item))| Position { at, id: NoticeId { kind, reaction, actor, item } })
}

/// Different users in any order.
fn some_users() -> impl Strategy<Value = Vec<UserId>> {
    btree_set(user(), 0..=USERS.len()).prop_map(|set| set.into_iter().collect::<Vec<_>>()).prop_shuffle()
}

fn limit() -> impl Strategy<Value = usize> {
    prop_oneof![0_usize..5, Just(1000)]
}

fn published() -> impl Strategy<Value = Item> {
    let refers = (select(vec!["post", "comment", "repost"]), option::of(select(ITEMS.to_vec())));
    let given = (any::<bool>(), prop::bool::weighted(0.8));
    // Now and then one twice.
    let topics = vec(select(&TOPICS[..3]), 0..4);
    let to = || prop_oneof![2 => Just(BTreeSet::new()), 1 => btree_set(user(), 0..4)];
    (user(), time(), given, 0..4_u64, refers, topics, (to(), to())).prop_map(
        |(author, at, (time_given, broadcast), fingerprint, (kind, ref_id), topics, (to, mentions))| Item {
            author,
            at,
            time_given,
            fingerprint,
            broadcast,
            to,
            kind,
            ref_id: ref_id.and_then(|id| ContentId::new(id).ok()),
            topics,
            mentions: mentions.into_iter().collect(),
        },
    )
}

fn edit() -> impl Strategy<Value = Edit> {
    let text = option::of(option::of("[a-c]{0,2}"));
    let extra = option::of(option::of(Just("{\"k\":1}".to_owned())));
    (text, option::of(Just("[{}]".to_owned())), extra).prop_map(|(text, media, extra)| Edit { text, media, extra })
}

fn barrier() -> impl Strategy<Value = Barrier> {
    select(&Barrier::ALL[..])
}

fn profile() -> impl Strategy<Value = Profile> {
    let text = || option::of(select(&["", "é"][..]).prop_map(str::to_owned));
    (text(), text(), text()).prop_map(|(nickname, avatar, extra)| Profile { nickname, avatar, extra })
}

fn op() -> impl Strategy<Value = Op> {
    let batch = || select(&[Batch::AllOrNone, Batch::Each][..]);
    let items = btree_map(item(), published(), 0..4).prop_map(|map| map.into_iter().collect::<Vec<_>>()).prop_shuffle();
    let one = (item(), published()).prop_map(|one| vec![one]);
    let changes = changes(4).prop_shuffle();
    let reach = || select(&[Reach::All, Reach::Active, Reach::Nobody][..]);
    let record = prop_oneof![
        2 => Just(Record::Nothing),
        2 => option::of(user()).prop_map(Record::Progress),
        1 => Just(Record::End),
    ];
    let job = || any::<u16>().prop_map(usize::from);
    prop_oneof![
        8 => (one, batch()).prop_map(|(items, batch)| Op::Publish { items, batch }),
        3 => (items, batch()).prop_map(|(items, batch)| Op::Publish { items, batch }),
        3 => (item(), edit(), time()).prop_map(|(id, edit, now)| Op::Edit { id, edit, now }),
        4 => (item(), time()).prop_map(|(id, now)| Op::Delete { id, now }),
        2 => (item(), time()).prop_map(|(id, deleted_since)| Op::DeleteForGood { id, deleted_since }),
        2 => (user(), 0..9_usize).prop_map(|(user, parts)| Op::Erase { user, parts }),
        4 => (item(), time()).prop_map(|(id, deleted_since)| Op::Restore { id, deleted_since }),
        10 => (user(), changes, 0..7_usize).prop_map(|(user, mut changes, limit)| {
            changes.retain(|change| change.target != user);
            Op::Relate { user, changes, limit }
        }),
        4 => (user(), user(), option::weighted(0.6, time()))
            .prop_map(|(target, user, follow)| Op::Answer { target, user, follow }),
        4 => (user(), user(), barrier(), option::weighted(0.6, time()), 0..5_usize)
            .prop_map(|(user, target, barrier, since, limit)| Op::Bar { user, target, barrier, since, limit }),
        2 => (item(), 1..5_usize).prop_map(|(id, most)| Op::PurgeReactions { id, most }),
        4 => (select(&TOPICS[..]), position(item()), 1_usize..9)
            .prop_map(|(topic, newest, most)| Op::ArchiveTopic { topic, newest, most }),
        5 => (job(), reach()).prop_map(|(job, reach)| Op::BeginFanOut { job, reach }),
        9 => (job(), some_users(), record).prop_map(|(job, recipients, record)| Op::Deliver { job, recipients, record }),
        9 => (job(), limit()).prop_map(|(job, room)| Op::Settle { job, room }),
        3 => (job(), some_users(), limit()).prop_map(|(job, authors, room)| Op::Rebuild { job, authors, room }),
        1 => job().prop_map(|job| Op::DropJob { job }),
        4 => (user(), time()).prop_map(|(user, now)| Op::Touch { user, now }),
        3 => (user(), position(item()), 1..4_usize)
            .prop_map(|(author, newest, most)| Op::ArchiveOutbox { author, newest, most }),
        1 => (0..110_u64).prop_map(|below| Op::TrimEvents { below }),
        1 => select(vec![1, 255, 256]).prop_map(|since| Op::KeepNotices { since }),
        1 => Just(Op::Reopen),
        33 => same().prop_map(Op::Same),
    ]
}

/// Fewer than `most` follows and unfollows, or changes of members, some of them with rules.
fn changes(most: usize) -> impl Strategy<Value = Vec<Change>> {
    let kinds = vec((0..4_u8).prop_map(KindId), 1..4);
    let rule = (any::<bool>(), kinds).prop_map(|(is_only, kinds)| Rule::new(is_only, &kinds));
    let rule = prop_oneof![2 => Just(None), 1 => Just(Some(None)), 2 => rule.prop_map(Some)];
    let changes = btree_map(user(), (option::weighted(0.7, time()), rule), 0..most);
    changes.prop_map(|all| {
        let change = |(target, (follow, rule))| Change { rule, ..Change::new(target, follow) };
        all.into_iter().map(change).collect()
    })
}

/// Changes whose answers have no number of a job.
fn same() -> impl Strategy<Value = Call> {
    prop_oneof![
        4 => (item(), user(), time(), 0..1000_u64).prop_map(|of| {
            call("take_off", of, |store, &(id, source, at, number), _| {
                // Times in the order of the numbers, as those of other events.
                let place = 1_000_000 + number;
                let event = Event::new(place, EventKind::TakenOff, false, place, 2 * place).of_user(source);
                store.take_off(id, source, at, &event)
            })
        }),
        1 => (some_users(), user()).prop_map(|of| {
            call("clear_inboxes", of, |store, (readers, author), _| store.clear_inboxes(readers, *author))
        }),
        2 => (item(), time()).prop_map(|of| call("purge", of, |store, &(id, before), _| store.purge(id, before))),
        1 => item().prop_map(|of| call("take_id", of, |store, id, _| store.take_id(*id))),
        1 => vec(select(&["like", "favorite", "wow"][..]).prop_map(str::to_owned), 0..3)
            .prop_map(|of| call("number_reactions", of, |store, kinds, _| store.number_reactions(kinds))),
        8 => (item(), vec(wish(), 0..6)).prop_map(|of| call("react", of, |store, (id, all), _| store.react(*id, all))),
        2 => (user(), position(item()))
            .prop_map(|of| call("raise_floor", of, |store, &(user, floor), _| store.raise_floor(user, floor))),
        2 => Just(()).prop_map(|of| call("write_arrivals", of, |store, (), _| store.write_arrivals())),
        3 => (some_users(), time())
            .prop_map(|of| call("split_active", of, |store, (users, since), _| store.split_active(users, *since))),
        1 => user().prop_map(|of| call("keep_no_inbox", of, |store, user, _| store.keep_no_inbox(*user))),
        1 => (select(vec!["a", "b"]), option::of(0..3_u8)).prop_map(|of| {
            call("put_notes", of, |store, (name, note), _| {
                store.put_notes(&[(name, note.as_ref().map(std::slice::from_ref))])
            })
        }),
        2 => (user(), time()).prop_map(|of| call("meet", of, |store, &(user, now), _| store.meet(user, now))),
        3 => (user(), time(), option::of(position(item())))
            .prop_map(|of| call("evict", of, |store, &(user, before, floor), _| store.evict(user, before, floor))),
        3 => (user(), position(item()), any::<bool>()).prop_map(|of| {
            call("move_marker", of, |store, &(user, place, back), _| {
                let wrong = store.marker(user, Tier::Disk)?.filter(|_| back);
                store.move_marker(user, place, wrong)
            })
        }),
        3 => (user(), notice_place()).prop_map(|of| {
            call("move_notice_marker", of, |store, &(user, place), _| store.move_notice_marker(user, place))
        }),
        3 => (user(), any::<bool>()).prop_map(|of| {
            call("put_settings", of, |store, &(user, approve_followers), _| {
                store.put_settings(user, UserSettings { approve_followers, ..UserSettings::default() })
            })
        }),
        2 => vec((user(), profile()), 0..3)
            .prop_map(|of| call("put_profiles", of, |store, profiles, _| store.put_profiles(profiles))),
        2 => vec(select(&["post", "a", "b", "c"][..]), 0..4)
            .prop_map(|of| call("give_kinds", of, |store, kinds, _| store.give_kinds(kinds))),
        1 => vec(select(&["post", "a", "b", "c"][..]), 0..4)
            .prop_map(|of| call("known_kinds", of, |store, kinds, _| store.known_kinds(kinds))),
        1 => Just(()).prop_map(|of| call("kind_names", of, |store, (), _| store.kind_names())),
        4 => vec(name(), 0..4)
            .prop_map(|of| call("give_numbers", of, |store, names, _| store.give_numbers(names))),
        2 => (user(), 0..RECORDS.len(), 0..3_u64).prop_map(|of| {
            call("record", of, |store, &(user, record, number), _| (RECORDS[record].1)(store, user, number))
        }),
        4 => (user(), list(), option::of(Just("é".to_owned())), any::<bool>(), 0..4_usize).prop_map(|of| {
            call("put_list", of, |store, (user, name, title, exclusive, limit), _| {
                store.put_list(*user, name, &ListSettings { title: title.clone(), exclusive: *exclusive }, *limit)
            })
        }),
        1 => (user(), list())
            .prop_map(|of| call("delete_list", of, |store, (user, name), _| store.delete_list(*user, name))),
        6 => (user(), list(), changes(4), 0..4_usize).prop_map(|of| {
            call("change_members", of, |store, (user, name, changes, limit), _| {
                store.change_members(*user, name, changes, *limit)
            })
        }),
        2 => (user(), list(), position(item())).prop_map(|of| {
            call("move_list_marker", of, |store, &(user, name, place), _| {
                store.move_list_marker(user, name, place, None)
            })
        }),
        1 => Just(()).prop_map(|of| call("sync", of, |store, (), _| store.sync())),
        1 => Just(()).prop_map(|of| call("compact", of, |store, (), _| store.compact())),
    ]
}

fn read() -> impl Strategy<Value = Call> {
    let side = select(Side::all().collect::<Vec<_>>());
    let after = || option::of(user());
    prop_oneof![
        (some_users(), content_span(), order(), limit()).prop_map(|of| {
            call("outboxes", of, |store, (authors, span, order, limit), tier| {
                store.outboxes(authors, span.scan(*order, *limit), tier)
            })
        }),
        (select(&TOPICS[..]), content_span(), order(), limit(), limit()).prop_map(|of| {
            call("topic_content", of, |store, &(name, span, order, limit, depth), tier| {
                let Some(topic) = store.topic(name, tier)? else { return Ok(None) };
                store.topic_content(topic, span.scan(order, limit), depth, tier).map(Some)
            })
        }),
        (item(), content_span(), order(), limit()).prop_map(|of| {
            call("comments", of, |store, &(subject, span, order, limit), tier| {
                store.comments(subject, span.scan(order, limit), tier)
            })
        }),
        (user(), content_span(), order(), limit()).prop_map(|of| {
            call("user_comments", of, |store, &(author, span, order, limit), tier| {
                store.user_comments(author, span.scan(order, limit), tier)
            })
        }),
        (user(), content_span(), order(), limit()).prop_map(|of| {
            call("unlisted", of, |store, &(author, span, order, limit), tier| {
                store.unlisted(author, span.scan(order, limit), tier)
            })
        }),
        (user(), content_span(), order(), 1..9_usize).prop_map(|of| {
            call("inbox", of, |store, &(user, span, order, limit), tier| inbox(store, user, span, order, limit, tier))
        }),
        (user(), side, user_span(), order(), limit()).prop_map(|of| {
            call("members", of, |store, &(user, side, span, order, limit), tier| {
                store.members(user, side, span.scan(order, limit), tier)
            })
        }),
        (item(), kind(), user_span(), order(), limit()).prop_map(|of| {
            call("reactors", of, |store, &(id, kind, span, order, limit), tier| {
                store.reactors(id, kind, span.scan(order, limit), tier)
            })
        }),
        (user(), kind(), content_span(), order(), limit()).prop_map(|of| {
            call("reacted_by", of, |store, &(user, kind, span, order, limit), tier| {
                store.reacted_by(user, kind, span.scan(order, limit), tier)
            })
        }),
        vec(item(), 0..9).prop_map(|of| call("erased_paths", of, |store, ids, _| store.erased_paths(ids))),
        vec(item(), 0..9).prop_map(|of| call("kept", of, |store, ids, _| store.kept(ids))),
        vec(item(), 0..9).prop_map(|of| {
            call("contents", of, |store, ids, tier| Ok((store.contents(ids, tier)?, store.deleted(ids, tier)?)))
        }),
        (user(), vec(user(), 0..6)).prop_map(|of| {
            call("relations", of, |store, (user, targets), tier| store.relations(*user, targets, tier))
        }),
        (user(), after(), limit()).prop_map(|of| {
            call("followers_after", of, |store, &(user, after, limit), _| store.followers_after(user, after, limit))
        }),
        (after(), limit())
            .prop_map(|of| call("users_after", of, |store, &(after, limit), _| store.users_after(after, limit))),
        (user(), barrier(), after(), limit()).prop_map(|of| {
            call("barred_after", of, |store, &(user, barrier, after, limit), _| {
                store.barred_after(user, barrier, after, limit)
            })
        }),
        (user(), vec(user(), 0..6)).prop_map(|of| {
            call("hiders_among", of, |store, (user, users), tier| store.hiders_among(*user, users, tier))
        }),
        (user(), vec(user(), 0..6)).prop_map(|of| {
            call("blocked_among", of, |store, (user, users), tier| store.blocked_among(*user, users, tier))
        }),
        (user(), after(), limit()).prop_map(|of| {
            call("hiders_after", of, |store, &(user, after, limit), _| store.hiders_after(user, after, limit))
        }),
        (user(), list(), user_span(), order(), limit()).prop_map(|of| {
            call("list_members", of, |store, &(user, name, span, order, limit), tier| {
                let Some(list) = store.list(user, name, tier)? else { return Ok(None) };
                store.list_members(list.id, span.scan(order, limit), tier).map(Some)
            })
        }),
        vec(user(), 0..6).prop_map(|of| {
            call("suspended_among", of, |store, users, tier| store.suspended_among(&mut users.iter().copied(), tier))
        }),
        vec((item(), user()), 0..6).prop_map(|of| {
            call("taken_off", of, |store, paths, tier| store.taken_off(&mut paths.iter().copied(), tier))
        }),
        vec(user(), 0..6).prop_map(|of| call("profiles", of, |store, users, tier| store.profiles(users, tier))),
        some_users().prop_map(|of| call("not_evicted", of, |store, users, _| store.not_evicted(users.clone()))),
        (after(), 1..6_usize, time())
            .prop_map(|of| call("idle", of, |store, &(after, limit, before), _| store.idle(after, limit, before))),
        (some_users(), option::of(position(item())), any::<bool>()).prop_map(|of| {
            call("lacking", of, |store, (authors, floor, active), tier| {
                let (version, may) = store.may_have_unpushed(authors);
                let lacking = |authors: &[UserId]| -> Result<Vec<UserId>> {
                    let mut found = store.authors_with_unpushed(authors, *floor, *active, tier)?;
                    found.sort_unstable();
                    Ok(found)
                };
                Ok((lacking(authors)?, lacking(&may)?, store.unpushed_version() == version))
            })
        }),
    ]
}

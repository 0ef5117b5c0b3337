//! Random operations and reads over few users, items and times, so that they collide.

use proptest::collection::{btree_map, btree_set, vec};
use proptest::option;
use proptest::prelude::*;
use proptest::sample::select;

use tideline::model::{
    Barrier, ContentId, Edit, MAX_ID, MAX_MILLIS, Millis, Order, Position, Profile, Reach, Reaction, ReactionKind,
    Side, Span, UserId,
};
use tideline::store::Batch;

use crate::everything::TOPICS;

/// Few users, at the ends of the range and at carries between bytes.
pub(crate) const USERS: [u64; 5] = [1, 2, 255, 256, MAX_ID];
pub(crate) const ITEMS: [u64; 7] = [1, 2, 255, 256, 0x00FF_00FF_00FF_00FF, MAX_ID - 1, MAX_ID];
const TIMES: [Millis; 5] = [0, 1, 255, 256, MAX_MILLIS];

/// One change, then some reads.
#[derive(Debug, Clone)]
pub(crate) struct Step {
    pub(crate) op: Op,
    pub(crate) reads: Vec<Read>,
}

/// An item to publish.
#[derive(Debug, Clone)]
pub(crate) struct Item {
    pub(crate) author: UserId,
    pub(crate) at: Millis,
    pub(crate) time_given: bool,
    pub(crate) id_given: bool,
    pub(crate) fingerprint: u64,
    pub(crate) broadcast: bool,
    pub(crate) kind: &'static str,
    pub(crate) ref_id: Option<ContentId>,
    pub(crate) topics: Vec<&'static str>,
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
    Publish { items: Vec<(ContentId, Item)>, batch: Batch },
    Edit { id: ContentId, edit: Edit, now: Millis },
    Delete { id: ContentId, now: Millis },
    Purge { id: ContentId, deleted_before: Millis },
    Restore { id: ContentId, deleted_since: Millis },
    React { id: ContentId, wishes: Vec<Reaction> },
    PurgeReactions { id: ContentId, most: usize },
    Relate { user: UserId, changes: Vec<(UserId, Option<Millis>)>, limit: usize },
    RaiseFloor { user: UserId, floor: Position<ContentId> },
    ArchiveTopic { topic: &'static str, newest: Position<ContentId>, most: usize },
    BeginFanOut { job: usize, reach: Reach },
    Deliver { job: usize, recipients: Vec<UserId>, record: Record },
    Settle { job: usize, room: usize },
    Rebuild { job: usize, authors: Vec<UserId> },
    DropJob { job: usize },
    Touch { user: UserId, now: Millis },
    SplitActive { users: Vec<UserId>, seen_since: Millis },
    ArchiveOutbox { author: UserId, newest: Position<ContentId>, most: usize },
    Meet { user: UserId, now: Millis },
    Evict { user: UserId, seen_before: Millis, floor: Position<ContentId> },
    MoveMarker { user: UserId, place: Position<ContentId> },
    SetBarrier { user: UserId, target: UserId, barrier: Barrier, since: Option<Millis>, limit: usize },
    PutProfiles { profiles: Vec<(UserId, Profile)> },
    TrimEvents { below: u64 },
    Sync,
    Compact,
    Reopen,
}

/// A read of a part; whole tables are compared after every step anyway.
#[derive(Debug, Clone)]
pub(crate) enum Read {
    Outboxes { authors: Vec<UserId>, span: Span<ContentId>, order: Order, limit: usize },
    Comments { subject: ContentId, span: Span<ContentId>, order: Order, limit: usize },
    UserComments { author: UserId, span: Span<ContentId>, order: Order, limit: usize },
    Inbox { user: UserId, span: Span<ContentId>, order: Order, stop_at: usize },
    Topic { topic: &'static str, span: Span<ContentId>, order: Order, limit: usize, depth: usize },
    Members { user: UserId, side: Side, span: Span<UserId>, order: Order, limit: usize },
    Reactors { id: ContentId, kind: ReactionKind, span: Span<UserId>, order: Order, limit: usize },
    ReactedBy { user: UserId, kind: ReactionKind, span: Span<ContentId>, order: Order, limit: usize },
    Contents { ids: Vec<ContentId> },
    Relations { user: UserId, targets: Vec<UserId> },
    FollowersAfter { user: UserId, after: Option<UserId>, limit: usize },
    UsersAfter { after: Option<UserId>, limit: usize },
    BarredAfter { user: UserId, barrier: Barrier, after: Option<UserId>, limit: usize },
    HidersAfter { user: UserId, after: Option<UserId>, limit: usize },
    Profiles { users: Vec<UserId> },
    NotEvicted { users: Vec<UserId> },
    Idle { after: Option<UserId>, limit: usize, seen_before: Millis },
    Lacking { authors: Vec<UserId>, floor: Option<Position<ContentId>>, active: bool },
}

/// Sequences of steps.
pub(crate) fn sequences() -> impl Strategy<Value = Vec<Step>> {
    let step = (op(), vec(read(), 0..4)).prop_map(|(op, reads)| Step { op, reads });
    vec(step, 1..80)
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

fn kind() -> impl Strategy<Value = ReactionKind> {
    select(&ReactionKind::ALL[..])
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

/// Different users in any order.
fn some_users() -> impl Strategy<Value = Vec<UserId>> {
    btree_set(user(), 0..=USERS.len()).prop_map(|set| set.into_iter().collect::<Vec<_>>()).prop_shuffle()
}

fn limit() -> impl Strategy<Value = usize> {
    prop_oneof![0_usize..5, Just(1000)]
}

fn published() -> impl Strategy<Value = Item> {
    let refers = (select(vec!["post", "comment", "repost"]), option::of(select(ITEMS.to_vec())));
    let given = (any::<bool>(), prop::bool::weighted(0.8), prop::bool::weighted(0.8));
    // Now and then one twice.
    let topics = vec(select(&TOPICS[..3]), 0..4);
    (user(), time(), given, 0..2_u64, refers, topics).prop_map(
        |(author, at, (time_given, id_given, broadcast), fingerprint, (kind, ref_id), topics)| Item {
            author,
            at,
            time_given,
            id_given,
            fingerprint,
            broadcast,
            kind,
            ref_id: ref_id.and_then(|id| ContentId::new(id).ok()),
            topics,
        },
    )
}

fn edit() -> impl Strategy<Value = Edit> {
    let text = option::of(option::of("[a-c]{0,2}"));
    let extra = option::of(option::of(Just("{\"k\":1}".to_owned())));
    (text, option::of(Just("[{}]".to_owned())), extra).prop_map(|(text, media, extra)| Edit { text, media, extra })
}

fn barrier() -> impl Strategy<Value = Barrier> {
    select(&[Barrier::Mute, Barrier::Hide][..])
}

fn profile() -> impl Strategy<Value = Profile> {
    let text = || option::of(select(&["", "é"][..]).prop_map(str::to_owned));
    (text(), text(), text()).prop_map(|(nickname, avatar, extra)| Profile { nickname, avatar, extra })
}

fn op() -> impl Strategy<Value = Op> {
    let batch = || select(&[Batch::AllOrNone, Batch::Each][..]);
    let items = btree_map(item(), published(), 0..4).prop_map(|map| map.into_iter().collect::<Vec<_>>()).prop_shuffle();
    let one = (item(), published()).prop_map(|one| vec![one]);
    let changes = btree_map(user(), option::weighted(0.65, time()), 0..4)
        .prop_map(|map| map.into_iter().collect::<Vec<_>>())
        .prop_shuffle();
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
        2 => (item(), time()).prop_map(|(id, deleted_before)| Op::Purge { id, deleted_before }),
        4 => (item(), time()).prop_map(|(id, deleted_since)| Op::Restore { id, deleted_since }),
        10 => (user(), changes, 0..7_usize).prop_map(|(user, mut changes, limit)| {
            changes.retain(|(target, _)| *target != user);
            Op::Relate { user, changes, limit }
        }),
        8 => (item(), vec(wish(), 0..6)).prop_map(|(id, wishes)| Op::React { id, wishes }),
        2 => (item(), 1..5_usize).prop_map(|(id, most)| Op::PurgeReactions { id, most }),
        2 => (user(), position(item())).prop_map(|(user, floor)| Op::RaiseFloor { user, floor }),
        4 => (select(&TOPICS[..]), position(item()), 1_usize..9)
            .prop_map(|(topic, newest, most)| Op::ArchiveTopic { topic, newest, most }),
        5 => (job(), reach()).prop_map(|(job, reach)| Op::BeginFanOut { job, reach }),
        9 => (job(), some_users(), record).prop_map(|(job, recipients, record)| Op::Deliver { job, recipients, record }),
        9 => (job(), limit()).prop_map(|(job, room)| Op::Settle { job, room }),
        3 => (job(), some_users()).prop_map(|(job, authors)| Op::Rebuild { job, authors }),
        1 => job().prop_map(|job| Op::DropJob { job }),
        4 => (user(), time()).prop_map(|(user, now)| Op::Touch { user, now }),
        3 => (some_users(), time()).prop_map(|(users, seen_since)| Op::SplitActive { users, seen_since }),
        2 => (user(), time()).prop_map(|(user, now)| Op::Meet { user, now }),
        3 => (user(), position(item()), 1..4_usize)
            .prop_map(|(author, newest, most)| Op::ArchiveOutbox { author, newest, most }),
        3 => (user(), time(), position(item()))
            .prop_map(|(user, seen_before, floor)| Op::Evict { user, seen_before, floor }),
        2 => (user(), position(item())).prop_map(|(user, place)| Op::MoveMarker { user, place }),
        6 => (user(), user(), barrier(), option::weighted(0.7, time()), 0..5_usize)
            .prop_map(|(user, target, barrier, since, limit)| Op::SetBarrier { user, target, barrier, since, limit }),
        2 => vec((user(), profile()), 0..3).prop_map(|profiles| Op::PutProfiles { profiles }),
        1 => (0..110_u64).prop_map(|below| Op::TrimEvents { below }),
        1 => Just(Op::Sync),
        1 => Just(Op::Compact),
        1 => Just(Op::Reopen),
    ]
}

fn read() -> impl Strategy<Value = Read> {
    let side = select(&[Side::Following, Side::Followers, Side::Friends, Side::Muted, Side::HiddenFrom][..]);
    prop_oneof![
        (some_users(), content_span(), order(), limit()).prop_map(|(authors, span, order, limit)| Read::Outboxes {
            authors,
            span,
            order,
            limit
        }),
        (select(&TOPICS[..]), content_span(), order(), limit(), limit())
            .prop_map(|(topic, span, order, limit, depth)| Read::Topic { topic, span, order, limit, depth }),
        (item(), content_span(), order(), limit()).prop_map(|(subject, span, order, limit)| Read::Comments {
            subject,
            span,
            order,
            limit
        }),
        (user(), content_span(), order(), limit()).prop_map(|(author, span, order, limit)| Read::UserComments {
            author,
            span,
            order,
            limit
        }),
        (user(), content_span(), order(), 1..9_usize).prop_map(|(user, span, order, stop_at)| Read::Inbox {
            user,
            span,
            order,
            stop_at
        }),
        (user(), side, user_span(), order(), limit()).prop_map(|(user, side, span, order, limit)| Read::Members {
            user,
            side,
            span,
            order,
            limit
        }),
        (item(), kind(), user_span(), order(), limit()).prop_map(|(id, kind, span, order, limit)| Read::Reactors {
            id,
            kind,
            span,
            order,
            limit
        }),
        (user(), kind(), content_span(), order(), limit())
            .prop_map(|(user, kind, span, order, limit)| { Read::ReactedBy { user, kind, span, order, limit } }),
        vec(item(), 0..9).prop_map(|ids| Read::Contents { ids }),
        (user(), vec(user(), 0..6)).prop_map(|(user, targets)| Read::Relations { user, targets }),
        (user(), option::of(user()), limit()).prop_map(|(user, after, limit)| Read::FollowersAfter {
            user,
            after,
            limit
        }),
        (option::of(user()), limit()).prop_map(|(after, limit)| Read::UsersAfter { after, limit }),
        (user(), barrier(), option::of(user()), limit()).prop_map(|(user, barrier, after, limit)| Read::BarredAfter {
            user,
            barrier,
            after,
            limit
        }),
        (user(), option::of(user()), limit()).prop_map(|(user, after, limit)| Read::HidersAfter { user, after, limit }),
        vec(user(), 0..6).prop_map(|users| Read::Profiles { users }),
        some_users().prop_map(|users| Read::NotEvicted { users }),
        (option::of(user()), 1..6_usize, time()).prop_map(|(after, limit, seen_before)| Read::Idle {
            after,
            limit,
            seen_before
        }),
        (some_users(), option::of(position(item())), any::<bool>())
            .prop_map(|(authors, floor, active)| Read::Lacking { authors, floor, active }),
    ]
}

//! The parts of a sequence.

use proptest::collection::{btree_map, btree_set, vec};
use proptest::prelude::*;
use proptest::sample::select;

use config::{Config, Duration};
use model::{
    Audience, COMMENT, ExternalId, NamedRule, PageRequest, Position, REPOST, ReactionKind, Restriction, Side, Span,
    UserSettings,
};

use super::names::{AUTHORS, IDS, Ids, LISTS, RULES, TIMES, TOPICS, USERS, id, reaction_kinds, rule, time};
use super::react::Wish;
use super::seed::modes;
use super::shape::{ANY, LONG, configs};

/// An item to publish. The server chooses fields that are `None`.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Post {
    pub(crate) author: u64,
    pub(crate) id: Option<u64>,
    pub(crate) at: Option<u64>,
    pub(crate) text: u8,
    pub(crate) extra: u8,
    pub(crate) broadcast: bool,
    /// Further paths, a bit for each author.
    pub(crate) to: u8,
    /// Mentioned users, a bit each.
    pub(crate) mentions: u8,
    pub(crate) audience: Option<Audience>,
    /// The topics, a bit each.
    pub(crate) topics: u8,
    /// The kind, and the number of the item it refers to.
    pub(crate) kind: &'static str,
    pub(crate) subject: Option<u64>,
}

impl Post {
    /// A broadcast post at the time of its id.
    pub(crate) fn plain(author: u64, id: u64) -> Self {
        let (id, at) = (Some(id), Some(id));
        let (audience, kind, subject) = (None, "post", None);
        let (text, extra, broadcast, to, mentions, topics) = (1, 0, true, 0, 0, 0);
        Self { author, id, at, text, extra, broadcast, to, mentions, audience, topics, kind, subject }
    }

    /// The further paths.
    pub(crate) fn sources(self) -> impl Iterator<Item = u64> {
        let authors = USERS[..AUTHORS].iter().copied().enumerate();
        authors.filter(move |(n, raw)| self.to >> n & 1 == 1 && *raw != self.author).map(|(_, raw)| raw)
    }

    /// The mentioned users.
    pub(crate) fn mentioned(self) -> impl Iterator<Item = u64> {
        USERS.into_iter().enumerate().filter(move |(n, _)| self.mentions >> n & 1 == 1).map(|(_, raw)| raw)
    }
}

/// New values of an item; `None` keeps, `Some(0)` clears.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Edit {
    pub(crate) text: Option<u8>,
    pub(crate) extra: Option<u8>,
}

/// A place in a list.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Place {
    /// The place of an item or user, by index modulo their number.
    Of(usize),
    /// Any place, taken or not: time, and the number of an id or user.
    At(u64, u64),
}

/// A page to ask for.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Ask {
    pub(crate) before: Option<Place>,
    pub(crate) after: Option<Place>,
    pub(crate) limit: usize,
    /// Whether to try in memory first.
    pub(crate) inline: bool,
    /// The kinds of content, by the number of a rule.
    pub(crate) kinds: usize,
    /// Who sees the page, if it is one that each viewer sees otherwise.
    pub(crate) viewer: Option<u64>,
}

/// The whole of a list that is no longer than this, as the application sees it.
pub(crate) const WHOLE: Ask = Ask { before: None, after: None, limit: 100, inline: false, kinds: 0, viewer: None };

impl Ask {
    /// The request, with its places by `place`.
    pub(crate) fn request(&self, place: impl Fn(Place) -> Position<ExternalId>) -> PageRequest<ExternalId> {
        let span = Span { before: self.before.map(&place), after: self.after.map(&place) };
        PageRequest { span, limit: self.limit }
    }

    /// The kinds of content.
    pub(crate) fn kinds(&self) -> NamedRule {
        rule(self.kinds)
    }
}

/// One step of a sequence.
#[derive(Debug, Clone)]
pub(crate) enum Op {
    Publish(Vec<Post>),
    Import(Vec<Post>),
    /// Publishes the item with this index again.
    Repeat(usize, bool),
    Edit(usize, Edit),
    Delete(usize),
    /// Deletes an item for good, also one that is deleted already.
    Purge(usize),
    /// Deletes this many of the newest items of a topic.
    DeleteNewest(usize, usize),
    Restore(usize),
    /// Takes an item off the path through a user.
    TakeOff(usize, u64),
    /// A comment on the item with this index.
    Comment(usize, Post),
    Relate {
        user: u64,
        follow: Vec<(u64, Option<u64>)>,
        unfollow: Vec<u64>,
    },
    /// Follows a user with the rule of this number, and perhaps with the approval of the user.
    Follow(u64, u64, Option<u64>, usize, bool),
    /// Raises a restriction of the first user against the second, or lifts it.
    Bar(u64, u64, Restriction, bool),
    PutSettings(u64, UserSettings),
    /// Answers the request of the second user to follow the first.
    Answer(u64, u64, bool),
    /// Follows, the first of them with the rule of this number.
    ImportFollows(Vec<(u64, u64, Option<u64>)>, usize),
    /// Suspends a user, or takes that back.
    Suspend(u64, bool),
    /// Makes a list of the user, exclusive or not, or changes it.
    PutList(u64, &'static str, bool),
    DeleteList(u64, &'static str),
    /// Adds members to a list, and removes others.
    ChangeMembers(u64, &'static str, Vec<u64>, Vec<u64>),
    /// Adds a member with the rule of this number.
    PutMember(u64, &'static str, u64, usize),
    /// Moves the marker of a list, or tries to move it back.
    MarkList(u64, &'static str, Place),
    ReadList(u64, &'static str, Ask),
    Read(u64, Ask),
    /// Of the kinds by the number of a rule.
    Unread(u64, usize),
    /// Moves the marker, or tries to move it back.
    Mark(u64, Place),
    /// Grouped or not.
    Notices(u64, Ask, bool),
    /// Moves the marker of notices, or tries to move it back.
    MarkNotices(u64, Place),
    /// Concurrent reactions of different users or kinds to the item with this index.
    React(usize, Vec<Wish>),
    Reactors(usize, ReactionKind, Ask),
    ReactedBy(u64, ReactionKind, Ask),
    /// To the end by `next`, and back up by `prev`.
    Scroll(u64, usize),
    Outbox(u64, Ask),
    Topic(usize, Ask),
    /// To the end by `next`.
    ScrollTopic(usize, usize),
    /// The comments on the item with this index.
    Comments(usize, Ask),
    UserComments(u64, Ask),
    Members(u64, Side, Ask),
    Relations(u64),
    /// Opens a stream of the user, or closes it.
    Listen(u64),
    Verify(u64, usize),
    Explain(u64, usize),
    /// Starts the workers.
    Start,
    /// Stops the workers at any point.
    Stop,
    /// Runs the workers until no job is left; on or off afterwards.
    Drain(bool),
    Sleep(u64),
    /// Raises the floor to the entry this far beyond the limit, as in a trim.
    Trim(u64, usize),
    /// Raises the floor to any place.
    Floor(u64, Place),
    /// Moves an outbox to the archive, up to any place, at most this many entries.
    Archive(u64, Place, usize),
    /// Moves a topic's list to the archive, up to any place, at most this many items.
    ArchiveTopic(usize, Place, usize),
    /// Drops the inbox, with the floor at any place.
    Evict(u64, Place),
    /// Damages the inbox: its row (0), a change of it (1), or the row behind so many entries less one.
    Damage(u64, usize),
    Compact,
    /// Stops properly, and opens again.
    Reopen,
    /// Stops properly, and opens again; then times may lie this far ahead, as after an update or a changed setting.
    Allow(Duration),
    /// Continues with the directory in its state of this instant.
    Crash,
}

/// Settings and steps.
#[derive(Debug, Clone)]
pub(crate) struct Sequence {
    pub(crate) config: Config,
    pub(crate) ids: Ids,
    /// Whether a whole timeline is compared after every step. Not always, because a reader is not dormant.
    pub(crate) watched: bool,
    pub(crate) ops: Vec<Op>,
}

pub(crate) fn sequences(steps: usize) -> impl Strategy<Value = Sequence> {
    (configs(), select(modes()), any::<bool>(), vec(op(), 1..steps)).prop_map(|(config, ids, watched, ops)| Sequence {
        config,
        ids,
        watched,
        ops,
    })
}

fn user() -> impl Strategy<Value = u64> + Clone {
    select(&USERS[..])
}

fn author() -> impl Strategy<Value = u64> + Clone {
    select(&USERS[..AUTHORS])
}

fn list() -> impl Strategy<Value = &'static str> + Clone {
    select(&LISTS[..])
}

fn at() -> impl Strategy<Value = u64> + Clone {
    (0..=TIMES).prop_map(time)
}

fn named_or_not() -> impl Strategy<Value = Option<u64>> + Clone {
    prop_oneof![6 => at().prop_map(Some), 1 => Just(None)]
}

fn settings() -> impl Strategy<Value = UserSettings> {
    (prop::bool::weighted(0.4), prop::bool::weighted(0.4)).prop_map(|(approve_followers, is_private)| UserSettings {
        approve_followers,
        default_audience: if is_private { Audience::Followers } else { Audience::Public },
    })
}

fn post() -> impl Strategy<Value = Post> {
    let its_id = prop_oneof![12 => (1..=IDS).prop_map(|n| Some(id(n))), 1 => Just(None)];
    let topics = prop_oneof![1 => Just(0), 1 => 0..(1_u8 << TOPICS.len())];
    let what = prop_oneof![3 => Just("post"), 1 => Just(COMMENT), 1 => Just(REPOST)];
    let to = prop_oneof![3 => Just(0), 2 => 0..(1_u8 << AUTHORS)];
    let audience = prop_oneof![
        3 => Just(None),
        1 => Just(Some(Audience::Public)),
        2 => Just(Some(Audience::Followers)),
    ];
    let mentions = prop_oneof![2 => Just(0), 1 => any::<u8>()];
    let what = (topics, what, prop::option::of((1..=IDS).prop_map(id)), (to, mentions), audience);
    (author(), its_id, named_or_not(), 0..3_u8, 0..4_u8, prop::bool::weighted(0.9), what).prop_map(
        |(author, id, at, text, extra, broadcast, (topics, kind, subject, (to, mentions), audience))| Post {
            author,
            id,
            at,
            text,
            extra,
            broadcast,
            to,
            mentions,
            audience,
            topics,
            kind,
            subject,
        },
    )
}

fn place() -> impl Strategy<Value = Place> {
    prop_oneof![3 => any::<usize>().prop_map(|n| Place::Of(n % 64)), 1 => (at(), 1..=IDS).prop_map(|(t, n)| Place::At(t, n))]
}

fn ask() -> impl Strategy<Value = Ask> {
    let bound = || prop_oneof![1 => Just(None), 1 => place().prop_map(Some)];
    let kinds = prop_oneof![2 => Just(0), 1 => 0..RULES];
    let viewer = prop::option::weighted(0.7, user());
    let all = (bound(), bound(), 1_usize..=5, any::<bool>(), kinds, viewer);
    all.prop_map(|(before, after, limit, inline, kinds, viewer)| Ask { before, after, limit, inline, kinds, viewer })
}

/// Mostly one pair, sometimes several of one user, sometimes with a repeated target.
fn relate() -> impl Strategy<Value = Op> {
    let one =
        (user(), author(), named_or_not(), prop::bool::weighted(0.65)).prop_map(|(user, target, since, follow)| {
            let (follow, unfollow) = if follow { (vec![(target, since)], vec![]) } else { (vec![], vec![target]) };
            Op::Relate { user, follow, unfollow }
        });
    let several = (user(), btree_set(user(), 0..6), vec(user(), 0..4), named_or_not(), prop::bool::weighted(0.1))
        .prop_map(|(user, follow, unfollow, since, twice)| {
            let unfollow = unfollow.into_iter().filter(|target| twice || !follow.contains(target)).collect();
            Op::Relate { user, follow: follow.into_iter().map(|target| (target, since)).collect(), unfollow }
        });
    prop_oneof![4 => one, 1 => several]
}

/// Mostly a restriction between a reader and an author.
fn bar() -> impl Strategy<Value = Op> {
    let restriction = select(&Restriction::ALL[..]);
    (user(), author(), restriction, any::<bool>(), prop::bool::weighted(0.6)).prop_map(
        |(reader, author, restriction, by_reader, raised)| match restriction {
            Restriction::Hide => Op::Bar(author, reader, restriction, raised),
            Restriction::Block if !by_reader => Op::Bar(author, reader, restriction, raised),
            _ => Op::Bar(reader, author, restriction, raised),
        },
    )
}

fn kind() -> impl Strategy<Value = ReactionKind> + Clone {
    select(reaction_kinds().iter().map(|(kind, _)| kind).collect::<Vec<_>>())
}

fn wishes() -> impl Strategy<Value = Vec<Wish>> {
    let wish = || ((user(), kind()), prop::option::weighted(0.65, at()));
    let several = btree_map((user(), kind()), prop::option::weighted(0.65, at()), 2..6)
        .prop_map(|wishes| wishes.into_iter().map(|((user, kind), since)| (user, kind, since)).collect());
    prop_oneof![3 => wish().prop_map(|((user, kind), since)| vec![(user, kind, since)]), 1 => several]
}

fn op() -> impl Strategy<Value = Op> {
    let index = || 0_usize..64;
    let side = select(Side::all().collect::<Vec<_>>());
    let change = prop_oneof![
        8 => post().prop_map(|post| Op::Publish(vec![post])),
        2 => vec(post(), 0..5).prop_map(Op::Publish),
        1 => vec(post(), 0..5).prop_map(Op::Import),
        1 => (index(), any::<bool>()).prop_map(|(n, time)| Op::Repeat(n, time)),
        1 => (index(), prop::option::of(0..3_u8), prop::option::of(0..4_u8))
            .prop_map(|(n, text, extra)| Op::Edit(n, Edit { text, extra })),
        3 => index().prop_map(Op::Delete),
        1 => index().prop_map(Op::Purge),
        1 => (0..TOPICS.len(), 1_usize..12).prop_map(|(topic, most)| Op::DeleteNewest(topic, most)),
        3 => index().prop_map(Op::Restore),
        3 => (index(), author()).prop_map(|(n, source)| Op::TakeOff(n, source)),
        2 => (index(), post()).prop_map(|(n, post)| Op::Comment(n, post)),
        10 => relate(),
        4 => (user(), author(), named_or_not(), 0..RULES, prop::bool::weighted(0.3))
            .prop_map(|(user, target, since, rule, approved)| Op::Follow(user, target, since, rule, approved)),
        1 => (user(), place()).prop_map(|(user, place)| Op::Mark(user, place)),
        5 => bar(),
        2 => (user(), settings()).prop_map(|(user, settings)| Op::PutSettings(user, settings)),
        2 => (author(), user(), prop::bool::weighted(0.7)).prop_map(|(user, from, so)| Op::Answer(user, from, so)),
        4 => (index(), wishes()).prop_map(|(n, wishes)| Op::React(n, wishes)),
        1 => (vec((user(), user(), named_or_not()), 0..5), 0..RULES)
            .prop_map(|(follows, rule)| Op::ImportFollows(follows, rule)),
        // Few, so that most items are shown.
        2 => (user(), prop::bool::weighted(0.4)).prop_map(|(user, suspended)| Op::Suspend(user, suspended)),
        2 => (user(), list(), any::<bool>()).prop_map(|(user, list, exclusive)| Op::PutList(user, list, exclusive)),
        1 => (user(), list()).prop_map(|(user, list)| Op::DeleteList(user, list)),
        4 => (user(), list(), vec(author(), 0..4), vec(user(), 0..2))
            .prop_map(|(user, list, add, remove)| Op::ChangeMembers(user, list, add, remove)),
        3 => (user(), list(), author(), 0..RULES)
            .prop_map(|(user, list, member, rule)| Op::PutMember(user, list, member, rule)),
        1 => (user(), list(), place()).prop_map(|(user, list, place)| Op::MarkList(user, list, place)),
        2 => (author(), place()).prop_map(|(user, place)| Op::MarkNotices(user, place)),
    ];
    let read = prop_oneof![
        12 => (user(), ask()).prop_map(|(user, ask)| Op::Read(user, ask)),
        2 => (user(), 1_usize..=5).prop_map(|(user, limit)| Op::Scroll(user, limit)),
        2 => (user(), 0..RULES).prop_map(|(user, kinds)| Op::Unread(user, kinds)),
        4 => (user(), list(), ask()).prop_map(|(user, list, ask)| Op::ReadList(user, list, ask)),
        1 => (index(), kind(), ask()).prop_map(|(n, kind, ask)| Op::Reactors(n, kind, ask)),
        1 => (user(), kind(), ask()).prop_map(|(user, kind, ask)| Op::ReactedBy(user, kind, ask)),
        1 => (author(), ask()).prop_map(|(user, ask)| Op::Outbox(user, ask)),
        2 => (0..TOPICS.len(), ask()).prop_map(|(topic, ask)| Op::Topic(topic, ask)),
        1 => (0..TOPICS.len(), 1_usize..=5).prop_map(|(topic, limit)| Op::ScrollTopic(topic, limit)),
        2 => (index(), ask()).prop_map(|(n, ask)| Op::Comments(n, ask)),
        1 => (author(), ask()).prop_map(|(user, ask)| Op::UserComments(user, ask)),
        2 => (user(), side, ask()).prop_map(|(user, side, ask)| Op::Members(user, side, ask)),
        4 => (author(), ask(), any::<bool>()).prop_map(|(user, ask, grouped)| Op::Notices(user, ask, grouped)),
        1 => user().prop_map(Op::Relations),
        2 => user().prop_map(Op::Listen),
        1 => (user(), 1_usize..40).prop_map(|(user, depth)| Op::Verify(user, depth)),
        2 => (user(), index()).prop_map(|(user, n)| Op::Explain(user, n)),
    ];
    let behind = prop_oneof![
        4 => Just(Op::Start),
        3 => Just(Op::Stop),
        6 => any::<bool>().prop_map(Op::Drain),
        4 => (1_u64..=6).prop_map(Op::Sleep),
        3 => (user(), 0_usize..3).prop_map(|(user, beyond)| Op::Trim(user, beyond)),
        1 => (user(), place()).prop_map(|(user, place)| Op::Floor(user, place)),
        2 => (user(), place()).prop_map(|(user, place)| Op::Evict(user, place)),
        2 => (user(), 0_usize..6).prop_map(|(user, way)| Op::Damage(user, way)),
        2 => (author(), place(), 1_usize..6).prop_map(|(author, place, most)| Op::Archive(author, place, most)),
        4 => (0..TOPICS.len(), place(), 1_usize..9).prop_map(|(n, place, most)| Op::ArchiveTopic(n, place, most)),
        1 => Just(Op::Compact),
        1 => Just(Op::Reopen),
        2 => prop_oneof![3 => Just(LONG), 1 => Just(ANY)].prop_map(Op::Allow),
        1 => Just(Op::Crash),
    ];
    prop_oneof![9 => change, 7 => read, 4 => behind]
}

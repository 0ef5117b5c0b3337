//! All answers of a store about a small world, to compare two stores or two points in time.

use std::ops::ControlFlow;

use tideline::model::{
    Activity, Barrier, Content, ContentId, Cursor, Entry, Event, ItemCounts, Order, Profile, ReactionKind, Reactions,
    Relation, Side, Span, Unpushed, UserCounts, UserCursor, UserId,
};
use tideline::store::{Store, Tier};

/// The topics of a small world, and one that no item has.
pub(crate) const TOPICS: [&str; 4] = ["t", "u", "a/é 🌊", "none"];

/// All answers about some users and items, except the jobs.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Dump {
    contents: Vec<Option<Content>>,
    deleted: Vec<bool>,
    item_counts: Vec<ItemCounts>,
    reactors: Vec<Vec<UserCursor>>,
    topics: Vec<Option<Vec<Entry>>>,
    comments: Vec<Vec<Entry>>,
    events: Vec<Event>,
    all_outboxes: Vec<Entry>,
    users_after: Vec<UserId>,
    users: Vec<UserDump>,
}

/// All answers about one user.
#[derive(Debug, PartialEq, Eq)]
struct UserDump {
    user: UserId,
    outbox: Vec<Entry>,
    comments: Vec<Entry>,
    inbox: Vec<Entry>,
    floor: Option<Cursor>,
    relations: Vec<Relation>,
    followees: Vec<UserId>,
    authors: Vec<UserId>,
    authors_among: Vec<UserId>,
    barred: Vec<Vec<UserId>>,
    hiders: Vec<UserId>,
    followers: Vec<UserId>,
    follower_count: u64,
    counts: UserCounts,
    members: Vec<Vec<UserCursor>>,
    profile: Option<Profile>,
    activity: Activity,
    unpushed: Unpushed,
    marker: Option<Cursor>,
    reacted: Vec<Reactions>,
    reacted_to: Vec<Reactions>,
    reacted_by: Vec<Vec<Entry>>,
}

/// An activity without the number of its job, which differs between stores.
pub(crate) fn without_job(activity: Activity) -> Activity {
    match activity {
        Activity::Returning { seen, empty, .. } => Activity::Returning { seen, empty, rebuild: 0 },
        other => other,
    }
}

/// Reads everything about `users` and `ids`.
pub(crate) fn dump(store: &dyn Store, users: &[UserId], ids: &[ContentId]) -> Dump {
    let (all, newest, tier) = (1_000_000, Order::NewestFirst, Tier::Disk);
    let of_user = |user: &UserId| {
        let user = *user;
        let mut inbox = Vec::new();
        let mut visit = |entry| {
            inbox.push(entry);
            ControlFlow::Continue(())
        };
        let floor = store.inbox(user, Span::ALL, newest, tier, &mut visit).expect("inbox");
        let members = [Side::Following, Side::Followers, Side::Friends, Side::Muted, Side::HiddenFrom]
            .map(|side| store.members(user, side, Span::ALL, newest, all, tier).expect("members"));
        let barred = [Barrier::Mute, Barrier::Hide]
            .map(|barrier| store.barred_after(user, barrier, None, all).expect("barred_after"));
        UserDump {
            user,
            outbox: store.outboxes(&[user], Span::ALL, newest, all, tier).expect("outboxes"),
            comments: store.user_comments(user, Span::ALL, newest, all, tier).expect("user_comments"),
            inbox,
            floor,
            relations: store.relations(user, users, tier).expect("relations"),
            followees: store.followees(user, tier).expect("followees"),
            authors: store.authors(user, tier).expect("authors"),
            authors_among: store.authors_among(user, users, tier).expect("authors_among"),
            barred: barred.to_vec(),
            hiders: store.hiders_after(user, None, all).expect("hiders_after"),
            followers: store.followers_after(user, None, all).expect("followers_after"),
            follower_count: store.follower_count(user).expect("follower_count"),
            counts: store.user_counts(user, tier).expect("user_counts"),
            members: members.to_vec(),
            profile: store.profiles(&[user], tier).expect("profiles").remove(0),
            activity: without_job(store.activity(user, tier).expect("activity")),
            unpushed: store.unpushed(user, tier).expect("unpushed"),
            marker: store.marker(user, tier).expect("marker"),
            reacted: store.reacted(user, ids, tier).expect("reacted"),
            reacted_to: ids.iter().map(|id| store.reacted_to(*id, &[user], tier).expect("reacted_to")[0]).collect(),
            reacted_by: ReactionKind::ALL
                .map(|kind| store.reacted_by(user, kind, Span::ALL, newest, all, tier).expect("reacted_by"))
                .to_vec(),
        }
    };
    let reactors = |id: &ContentId| {
        ReactionKind::ALL.map(|kind| store.reactors(*id, kind, Span::ALL, newest, all, tier).expect("reactors"))
    };
    let topic = |name: &str| {
        let topic = store.topic(name, tier).expect("topic")?;
        Some(store.topic_content(topic, Span::ALL, newest, all, all, tier).expect("topic_content"))
    };
    let comments = |id: &ContentId| store.comments(*id, Span::ALL, newest, all, tier).expect("comments");
    Dump {
        contents: store.contents(ids, tier).expect("contents"),
        deleted: store.deleted(ids, tier).expect("deleted"),
        item_counts: store.item_counts(ids, tier).expect("item_counts"),
        reactors: ids.iter().flat_map(reactors).collect(),
        topics: TOPICS.map(topic).to_vec(),
        comments: ids.iter().map(comments).collect(),
        events: store.events(0, all).expect("events"),
        all_outboxes: store.outboxes(users, Span::ALL, newest, all, tier).expect("outboxes"),
        users_after: store.users_after(None, all).expect("users_after"),
        users: users.iter().map(of_user).collect(),
    }
}

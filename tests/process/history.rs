//! Makes changes through the API, records the acknowledged ones, and compares every answer with the model.

use std::collections::{BTreeMap, BTreeSet};
use std::time::{Duration, Instant};

use feed::MOST_UNREAD;
use model::{Barrier, Cursor, EventKind, ReactionKind, RuleDraft, Side, UserId};
use serde_json::{Value, json};

use super::home::TOPIC_LIMIT;
use super::model::{Change, Item, ids, item, members, user};
use crate::plain::Model;
use crate::server::{PATIENCE, Reply, Server};

/// Items a page: small, so that every list has several.
const PAGE: usize = 7;

/// An event: its kind, and the author, time and id of the item.
pub(crate) type Told = (EventKind, u64, u64, u64);

/// The outcome of a change.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Outcome {
    /// Acknowledged.
    Made,
    /// Answered 503: the storage takes no changes.
    Refused,
    /// No answer: it may have been made or not.
    Lost,
}

/// The acknowledged changes of one client, and at most one change without an answer.
#[derive(Debug, Default)]
pub(crate) struct History {
    pub(crate) model: Model,
    pub(crate) doubt: Option<Change>,
    /// The changes made, in order.
    pub(crate) made: Vec<Change>,
}

impl History {
    /// Makes a change once.
    #[track_caller]
    pub(crate) fn make(&mut self, server: &Server, change: Change) -> Outcome {
        assert_eq!(self.doubt, None, "to be resolved first");
        match outcome(&change, send(server, &change)) {
            Outcome::Made => self.was_made(&change),
            Outcome::Refused => {}
            Outcome::Lost => {
                self.doubt = Some(change);
                return Outcome::Lost;
            }
        }
        Outcome::Made
    }

    /// Makes a change, again and again while the storage refuses it.
    #[track_caller]
    pub(crate) fn insist(&mut self, server: &Server, change: &Change) -> Outcome {
        let began = Instant::now();
        loop {
            match outcome(change, send(server, change)) {
                Outcome::Refused => {
                    assert!(!is_made(server, &self.model, change), "answered 503 and made: {change:?}");
                    assert!(began.elapsed() < PATIENCE, "refused for ever: {change:?}");
                    std::thread::sleep(Duration::from_millis(20));
                }
                Outcome::Made => {
                    self.was_made(change);
                    return Outcome::Made;
                }
                Outcome::Lost => {
                    self.doubt = Some(change.clone());
                    return Outcome::Lost;
                }
            }
        }
    }

    /// Finds out whether the change without an answer was made.
    pub(crate) fn resolve(&mut self, server: &Server) {
        if let Some(change) = self.doubt.take()
            && is_made(server, &self.model, &change)
        {
            self.was_made(&change);
        }
    }

    fn was_made(&mut self, change: &Change) {
        self.model.apply(change);
        self.made.push(change.clone());
    }

    /// The events of these changes, in the order of their numbers.
    pub(crate) fn events(&self) -> Vec<Told> {
        let mut known = BTreeMap::new();
        let mut events = Vec::new();
        for change in &self.made {
            let (kind, ids) = match change {
                Change::Publish(items) => {
                    known.extend(items.iter().map(|item| (item.id, item)));
                    (EventKind::Publish, items.iter().map(|item| item.id).collect())
                }
                Change::Edit { id, .. } => (EventKind::Edit, vec![*id]),
                Change::Delete(id) => (EventKind::Delete, vec![*id]),
                Change::Restore(id) => (EventKind::Restore, vec![*id]),
                Change::TakeOff { id, .. } => (EventKind::TakenOff, vec![*id]),
                Change::Suspend { user, .. } => {
                    let Cursor { at, id } = Cursor::OLDEST;
                    events.push((EventKind::Suspension, *user, at, id.get()));
                    continue;
                }
                Change::Like { .. }
                | Change::Rule { .. }
                | Change::Approve { .. }
                | Change::Answer { .. }
                | Change::List { .. }
                | Change::Member { .. }
                | Change::Relate { .. }
                | Change::Mark { .. }
                | Change::Mute { .. }
                | Change::Hide { .. }
                | Change::Block { .. }
                | Change::Record { .. } => continue,
            };
            // The events of one change are in the order of the ids.
            let ids: BTreeSet<u64> = ids.into_iter().collect();
            events.extend(ids.into_iter().map(|id| (kind, known[&id].author, known[&id].at, id)));
        }
        events
    }
}

/// Calls a server that may have ended.
pub(crate) fn call(server: &Server, method: &str, path: &str, body: &Value) -> Option<Reply> {
    server.attempt(method, path, body.to_string()).ok()
}

/// Sends a change.
pub(crate) fn send(server: &Server, change: &Change) -> Option<Reply> {
    match change {
        Change::Publish(items) => match items.as_slice() {
            [item] => call(server, "POST", "/v1/content", &body(item)),
            items => {
                let items: Vec<_> = items.iter().map(body).collect();
                call(server, "POST", "/v1/content/batch", &json!({"items": items}))
            }
        },
        Change::Edit { id, text } => call(server, "PATCH", &format!("/v1/content/{id}"), &json!({"text": text})),
        Change::Delete(id) => call(server, "DELETE", &format!("/v1/content/{id}"), &Value::Null),
        Change::Restore(id) => call(server, "POST", &format!("/v1/content/{id}/restore"), &json!({})),
        Change::Mark { user, place } => {
            call(server, "PUT", &format!("/v1/users/{user}/marker"), &json!({"cursor": cursor(*place)}))
        }
        Change::Like { id, user, on } => {
            let path = format!("/v1/content/{id}/reactions/like/{user}");
            if *on { call(server, "PUT", &path, &json!({})) } else { call(server, "DELETE", &path, &Value::Null) }
        }
        Change::Relate { user, follow, unfollow } => match (follow.as_slice(), unfollow.as_slice()) {
            ([target], []) => call(server, "PUT", &format!("/v1/users/{user}/following/{target}"), &json!({})),
            ([], [target]) => call(server, "DELETE", &format!("/v1/users/{user}/following/{target}"), &Value::Null),
            _ => {
                let path = format!("/v1/users/{user}/following/batch");
                call(server, "POST", &path, &json!({"follow": follow, "unfollow": unfollow}))
            }
        },
        Change::Mute { user, target, muted } => bar(server, &format!("/v1/users/{user}/mutes/{target}"), *muted),
        Change::Hide { user, target, hidden } => {
            bar(server, &format!("/v1/users/{user}/hidden-from/{target}"), *hidden)
        }
        Change::Block { user, target, blocked } => bar(server, &format!("/v1/users/{user}/blocks/{target}"), *blocked),
        Change::Rule { user, target, rule } => {
            call(server, "PUT", &format!("/v1/users/{user}/following/{target}"), &rule_body(rule))
        }
        Change::Approve { user, approves } => {
            call(server, "PUT", &format!("/v1/users/{user}/settings"), &json!({"approve_followers": approves}))
        }
        Change::Answer { user, from, approved } => {
            bar(server, &format!("/v1/users/{user}/follow-requests/{from}"), *approved)
        }
        Change::Suspend { user, suspended } => bar(server, &format!("/v1/users/{user}/suspension"), *suspended),
        Change::TakeOff { id, source } => {
            call(server, "DELETE", &format!("/v1/users/{source}/content/{id}"), &Value::Null)
        }
        Change::List { user, name, exclusive } => {
            let path = format!("/v1/users/{user}/lists/{name}");
            match exclusive {
                Some(exclusive) => call(server, "PUT", &path, &json!({"exclusive": exclusive})),
                None => call(server, "DELETE", &path, &Value::Null),
            }
        }
        Change::Member { user, name, source, rule } => {
            let path = format!("/v1/users/{user}/lists/{name}/members/{source}");
            match rule {
                Some(rule) => call(server, "PUT", &path, &rule_body(rule)),
                None => call(server, "DELETE", &path, &Value::Null),
            }
        }
        Change::Record { path, body, .. } => call(server, if body.is_null() { "DELETE" } else { "PUT" }, path, body),
    }
}

/// A rule as the fields of a follow have it.
fn rule_body(rule: &RuleDraft) -> Value {
    match rule.names() {
        (_, names) if names.is_empty() => json!({}),
        (true, names) => json!({"only": names}),
        (false, names) => json!({"except": names}),
    }
}

/// The rule in an answer.
fn rule_in(answer: &Value) -> Value {
    let fields = answer.as_object().expect("fields").iter();
    fields
        .filter(|(name, _)| ["only", "except"].contains(&name.as_str()))
        .map(|(n, v)| (n.clone(), v.clone()))
        .collect()
}

/// The members of a list with their rules.
fn members_of(server: &Server, user: u64, name: &str) -> BTreeMap<u64, Value> {
    let found = server.get(&format!("/v1/users/{user}/lists/{name}/members?limit=100"));
    let member = |item: &Value| (item["user_id"].as_str().expect("id").parse().expect("number"), rule_in(item));
    found["items"].as_array().expect("items").iter().map(member).collect()
}

/// A user's relation to another.
fn relation(server: &Server, user: u64, target: u64) -> Value {
    server.get(&format!("/v1/users/{user}/relations?targets={target}"))["items"][0].take()
}

/// A user's marker, as text.
fn marker(server: &Server, user: u64) -> Option<String> {
    server.get(&format!("/v1/users/{user}/marker"))["cursor"].as_str().map(str::to_owned)
}

fn cursor(place: (u64, u64)) -> String {
    format!("{}-{}", place.0, place.1)
}

fn bar(server: &Server, path: &str, stands: bool) -> Option<Reply> {
    call(server, if stands { "PUT" } else { "DELETE" }, path, &json!({}))
}

fn body(item: &Item) -> Value {
    let topics = item.topics();
    let (id, author) = (item.id, item.author);
    json!({"content_id": id, "author_id": author, "published_at": item.at, "text": item.text, "topics": topics,
        "kind": item.kind(), "to": item.to().into_iter().collect::<Vec<_>>()})
}

/// The outcome by the answer to a change. A refusal must be a clear one.
#[track_caller]
pub(crate) fn outcome(change: &Change, answer: Option<Reply>) -> Outcome {
    match answer {
        None => Outcome::Lost,
        Some(answer) if (200..300).contains(&answer.status) => Outcome::Made,
        Some(answer) if answer.status == 503 => {
            answer.problem("a refusal", 503, "storage_unavailable");
            assert!(answer.header("retry-after").is_some(), "no Retry-After");
            Outcome::Refused
        }
        Some(answer) => panic!("{change:?}: {answer:?}"),
    }
}

/// Whether a change that comes after `model` was made: whole or not at all.
#[track_caller]
pub(crate) fn is_made(server: &Server, model: &Model, change: &Change) -> bool {
    match change {
        Change::Publish(items) => {
            let found = items.iter().filter(|item| text(server, item.id).is_some()).count();
            assert!(found == 0 || found == items.len(), "{found} of {} items of a batch", items.len());
            found > 0
        }
        Change::Edit { id, text: new } => {
            let found = text(server, *id).unwrap_or_else(|| panic!("content {id} is gone"));
            assert!(
                found == *new || Some(&found) == model.item(item(*id)).and_then(|item| item.text.as_ref()),
                "content {id}: {found}"
            );
            found == *new
        }
        Change::Delete(id) => text(server, *id).is_none(),
        Change::Restore(id) => text(server, *id).is_some(),
        Change::Mark { user, .. } => {
            let mut after = model.clone();
            after.apply(change);
            let found = marker(server, *user);
            let of = |model: &Model| model.markers.get(&self::user(*user)).map(ToString::to_string);
            assert!(found == of(&after) || found == of(model), "user {user}: {found:?}");
            found == of(&after)
        }
        Change::Like { id, user, on } => likers(server, *id).contains(user) == *on,
        Change::Relate { user, .. } => {
            let mut after = model.clone();
            after.apply(change);
            let found = [following(server, *user), asked(server, *user)];
            let of = |model: &Model| {
                [Side::Following, Side::SentRequests].map(|side| members(&model.members(self::user(*user), side)))
            };
            assert!(found == of(&after) || found == of(model), "user {user}: {found:?}");
            found == of(&after)
        }
        Change::Mute { user, target, muted } => stands(server, *user, *target, "muted") == *muted,
        Change::Hide { user, target, hidden } => stands(server, *user, *target, "hidden") == *hidden,
        Change::Block { user, target, blocked } => stands(server, *user, *target, "blocked") == *blocked,
        Change::Rule { user, target, rule } => rule_in(&relation(server, *user, *target)) == rule_body(rule),
        Change::Approve { user, approves } => {
            server.get(&format!("/v1/users/{user}/settings"))["approve_followers"] == json!(approves)
        }
        Change::Answer { user, from, .. } => relation(server, *from, *user)["requested"] == json!(false),
        Change::Suspend { user, suspended } => is_suspended(server, *user) == *suspended,
        Change::TakeOff { id, source } => {
            let content = server.get(&format!("/v1/content/{id}"));
            let is_author = content["author_id"] == json!(source.to_string());
            let to = content["to"].as_array().expect("sources");
            if is_author { content["broadcast"] == json!(false) } else { !to.contains(&json!(source.to_string())) }
        }
        Change::List { user, name, exclusive } => {
            let path = format!("/v1/users/{user}/lists/{name}");
            let answer = call(server, "GET", &path, &Value::Null).expect("an answer");
            (answer.status == 200).then(|| answer.json()["exclusive"].as_bool().expect("a flag")) == *exclusive
        }
        Change::Member { user, name, source, rule } => {
            members_of(server, *user, name).get(source).cloned() == rule.as_ref().map(rule_body)
        }
        Change::Record { path, shown, .. } => {
            let found = record(server, path, shown);
            // The fields of a record that was never put are null.
            let as_before = match model.records.get(path) {
                Some(before) => found == *before,
                None => found.as_object().expect("fields").values().all(Value::is_null),
            };
            assert!(found == *shown || as_before, "{path}: {found}");
            found == *shown
        }
    }
}

/// The text of an item, if it is live.
fn text(server: &Server, id: u64) -> Option<String> {
    let answer = call(server, "GET", &format!("/v1/content/{id}"), &Value::Null).expect("an answer");
    (answer.status == 200).then(|| answer.json()["text"].as_str().expect("text").to_owned())
}

/// A flag of one user's relation to another.
fn stands(server: &Server, user: u64, target: u64, what: &str) -> bool {
    relation(server, user, target)[what].as_bool().expect("a flag")
}

/// The fields of a record that `like` has.
fn record(server: &Server, path: &str, like: &Value) -> Value {
    let found = server.get(path);
    let fields = like.as_object().expect("fields").keys();
    fields.map(|name| (name.clone(), found[name].clone())).collect()
}

/// A user's followees.
pub(crate) fn following(server: &Server, user: u64) -> BTreeSet<u64> {
    scroll(server, &format!("/v1/users/{user}/following?"), "user_id").into_iter().collect()
}

/// Whom a user has asked to follow.
fn asked(server: &Server, user: u64) -> BTreeSet<u64> {
    scroll(server, &format!("/v1/users/{user}/sent-requests?"), "user_id").into_iter().collect()
}

fn is_suspended(server: &Server, user: u64) -> bool {
    server.get(&format!("/v1/users/{user}/suspension"))["suspended"].as_bool().expect("a flag")
}

/// The users who like an item.
fn likers(server: &Server, id: u64) -> BTreeSet<u64> {
    scroll(server, &format!("/v1/content/{id}/reactions/like?"), "user_id").into_iter().collect()
}

/// A whole list, page by page.
pub(crate) fn scroll(server: &Server, path: &str, name: &str) -> Vec<u64> {
    let (mut found, mut before) = (Vec::new(), String::new());
    loop {
        let page = server.get(&format!("{path}limit={PAGE}{before}"));
        let items = page["items"].as_array().expect("items").iter();
        found.extend(items.map(|item| item[name].as_str().expect("id").parse::<u64>().expect("number")));
        let Some(next) = page["next"].as_str() else { return found };
        before = format!("&before={next}");
    }
}

/// Compares the lists of a user, with their members and timelines.
#[track_caller]
fn compare_lists(server: &Server, model: &Model, user: UserId, when: &str) {
    let found = server.get(&format!("/v1/users/{user}/lists"));
    let found = found["items"].as_array().expect("items").iter();
    let found: Vec<_> = found.map(|list| (list["list"].clone(), list["exclusive"].clone())).collect();
    let lists: Vec<_> = model.lists.iter().filter(|((owner, _), _)| *owner == user).collect();
    let expected: Vec<_> = lists.iter().map(|((_, name), list)| (json!(name), json!(list.exclusive))).collect();
    assert_eq!(found, expected, "{when}: lists of user {user}");
    for ((_, name), list) in lists {
        let rule = |member: &UserId| list.rules.get(member).map_or_else(|| json!({}), rule_body);
        let expected: BTreeMap<_, _> = list.members.keys().map(|member| (member.get(), rule(member))).collect();
        assert_eq!(members_of(server, user.get(), name), expected, "{when}: members of {name} of user {user}");
        let shown = scroll(server, &format!("/v1/users/{user}/lists/{name}/timeline?view=ids&"), "content_id");
        assert_eq!(shown, ids(&model.list_timeline(user, name)), "{when}: {name} of user {user}");
    }
}

/// Compares every page of every user, and every text, with the model.
#[track_caller]
pub(crate) fn compare(server: &Server, model: &Model, when: &str) {
    let scrolled = |path: String, name| scroll(server, &path, name);
    for user in model.users() {
        let of_user = |path: &str| scrolled(format!("/v1/users/{user}/{path}?view=ids&"), "content_id");
        assert_eq!(of_user("timeline"), ids(&model.timeline(user, false)), "{when}: timeline of user {user}");
        assert_eq!(of_user("content"), ids(&model.outbox(user)), "{when}: page of user {user}");
        let is_shown = !model.suspended.contains_key(&user);
        let liked = if is_shown { ids(&model.reacted_by(user, ReactionKind::LIKE)) } else { Vec::new() };
        assert_eq!(of_user("reactions/like"), liked, "{when}: likes of user {user}");
        let read_to = model.markers.get(&user).map(ToString::to_string);
        assert_eq!(marker(server, user.get()), read_to, "{when}: marker of user {user}");
        let unread = server.get(&format!("/v1/users/{user}/timeline/unread"));
        let count = model.unread(user, false);
        let expected = json!({"count": count.min(MOST_UNREAD), "capped": count > MOST_UNREAD});
        assert_eq!(unread, expected, "{when}: what user {user} has not read");
        for (list, side) in [
            ("following", Side::Following),
            ("mutes", Side::Barred(Barrier::Mute)),
            ("hidden-from", Side::Barred(Barrier::Hide)),
            ("blocks", Side::Barred(Barrier::Block)),
            ("sent-requests", Side::SentRequests),
            ("follow-requests", Side::FollowRequests),
        ] {
            let mut listed = scrolled(format!("/v1/users/{user}/{list}?"), "user_id");
            listed.sort_unstable();
            assert_eq!(listed, Vec::from_iter(members(&model.members(user, side))), "{when}: {list} of user {user}");
        }
        assert_eq!(
            is_suspended(server, user.get()),
            model.suspended.contains_key(&user),
            "{when}: suspension of {user}"
        );
        let approves = server.get(&format!("/v1/users/{user}/settings"))["approve_followers"].take();
        assert_eq!(approves, json!(model.settings_of(user).approve_followers), "{when}: settings of user {user}");
        compare_lists(server, model, user, when);
    }
    for ((user, target), rule) in &model.rules {
        let found = rule_in(&relation(server, user.get(), target.get()));
        assert_eq!(found, rule_body(rule), "{when}: rule of user {user} for {target}");
    }
    for (path, shown) in &model.records {
        assert_eq!(record(server, path, shown), *shown, "{when}: {path}");
    }
    let live: BTreeMap<_, _> = model.living().filter(|item| model.is_shown(item)).map(|item| (item.id, item)).collect();
    for id in model.reactions.keys().map(|(id, ..)| *id).filter(|id| live.contains_key(id)).collect::<BTreeSet<_>>() {
        let expected = members(&model.reactors(id, ReactionKind::LIKE));
        assert_eq!(likers(server, id.get()), expected, "{when}: who likes {id}");
        // Removing a missing like changes nothing, and answers the counts.
        let nobody = Change::Like { id: id.get(), user: u64::MAX >> 1, on: false };
        let counts = send(server, &nobody).expect("an answer").json()["counts"].take();
        assert_eq!(
            counts["reactions"]["like"].as_u64().unwrap_or_default(),
            expected.len() as u64,
            "{when}: likes of {id}"
        );
    }
    for topic in live.values().flat_map(|item| &item.body.topics).collect::<BTreeSet<_>>() {
        let listed = scrolled(format!("/v1/topics/{topic}/content?view=ids&"), "content_id");
        assert_eq!(listed, ids(&model.topic(topic, TOPIC_LIMIT)), "{when}: topic {topic}");
    }
    for part in live.keys().collect::<Vec<_>>().chunks(100) {
        let asked: Vec<_> = part.iter().map(ToString::to_string).collect();
        let found = server.get(&format!("/v1/content?ids={}", asked.join(",")));
        let texts: Vec<_> =
            found["items"].as_array().expect("items").iter().map(|item| item["text"].as_str()).collect();
        let expected: Vec<_> = part.iter().map(|id| live[id].text.as_deref()).collect();
        assert_eq!(texts, expected, "{when}: texts");
    }
}

//! Makes changes through the API, records the acknowledged ones, and compares every answer with the model.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Debug;
use std::time::{Duration, Instant};

use feed::MOST_UNREAD;
use model::{ContentId, Cursor, EventKind, NamedRule, ReactionKind, Restriction, Side, UserId};
use serde_json::{Value, json};

use super::home::TOPIC_LIMIT;
use super::model::{Change, Item, ids, members};
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
fn rule_body(rule: &NamedRule) -> Value {
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
    let mut after = model.clone();
    after.apply(change);
    let is_there = differ(server, &after).is_ok();
    if !is_there {
        compare(server, model, &format!("neither made nor not made: {change:?}"));
    }
    is_there
}

/// The fields of a record that `like` has.
fn record(server: &Server, path: &str, like: &Value) -> Value {
    let found = server.get(path);
    let fields = like.as_object().expect("fields").keys();
    fields.map(|name| (name.clone(), found[name].clone())).collect()
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

/// An error with the text of `what` if two values are not the same.
fn same<T: PartialEq + Debug>(found: T, expected: T, what: impl FnOnce() -> String) -> Result<(), String> {
    if found == expected { Ok(()) } else { Err(format!("{}: {found:?}, not {expected:?}", what())) }
}

/// Compares the lists of a user, with their members and timelines.
fn lists_differ(server: &Server, model: &Model, user: UserId) -> Result<(), String> {
    let found = server.get(&format!("/v1/users/{user}/lists"));
    let found = found["items"].as_array().expect("items").iter();
    let found: Vec<_> = found.map(|list| (list["list"].clone(), list["exclusive"].clone())).collect();
    let lists: Vec<_> = model.lists.iter().filter(|((owner, _), _)| *owner == user).collect();
    let expected: Vec<_> = lists.iter().map(|((_, name), list)| (json!(name), json!(list.exclusive))).collect();
    same(found, expected, || format!("lists of user {user}"))?;
    for ((_, name), list) in lists {
        let rule = |member: &UserId| list.rules.get(member).map_or_else(|| json!({}), rule_body);
        let expected: BTreeMap<_, _> = list.members.keys().map(|member| (member.get(), rule(member))).collect();
        same(members_of(server, user.get(), name), expected, || format!("members of {name} of user {user}"))?;
        let shown = scroll(server, &format!("/v1/users/{user}/lists/{name}/timeline?view=ids&"), "content_id");
        same(shown, ids(&model.list_timeline(user, name)), || format!("{name} of user {user}"))?;
    }
    Ok(())
}

/// Compares every page of every user, and every text, with the model.
#[track_caller]
pub(crate) fn compare(server: &Server, model: &Model, when: &str) {
    differ(server, model).unwrap_or_else(|difference| panic!("{when}: {difference}"));
}

/// The first difference between the answers of a server and the model.
fn differ(server: &Server, model: &Model) -> Result<(), String> {
    let scrolled = |path: String, name| scroll(server, &path, name);
    for user in model.users() {
        let of = |what: &str| format!("{what} of user {user}");
        let of_user = |path: &str| scrolled(format!("/v1/users/{user}/{path}?view=ids&"), "content_id");
        same(of_user("timeline"), ids(&model.timeline(user, false)), || of("timeline"))?;
        same(of_user("content"), ids(&model.outbox(user)), || of("page"))?;
        let is_shown = !model.suspended.contains_key(&user);
        let liked = if is_shown { ids(&model.reacted_by(user, ReactionKind::LIKE)) } else { Vec::new() };
        same(of_user("reactions/like"), liked, || of("likes"))?;
        let marker = server.get(&format!("/v1/users/{user}/marker"))["cursor"].as_str().map(str::to_owned);
        same(marker, model.markers.get(&user).map(ToString::to_string), || of("marker"))?;
        let unread = server.get(&format!("/v1/users/{user}/timeline/unread"));
        let count = model.unread(user, false);
        let expected = json!({"count": count.min(MOST_UNREAD), "capped": count > MOST_UNREAD});
        same(unread, expected, || of("the unread items"))?;
        for (list, side) in [
            ("following", Side::Following),
            ("mutes", Side::Restricted(Restriction::Mute)),
            ("hidden-from", Side::Restricted(Restriction::Hide)),
            ("blocks", Side::Restricted(Restriction::Block)),
            ("sent-requests", Side::SentRequests),
            ("follow-requests", Side::FollowRequests),
        ] {
            let listed: BTreeSet<_> = scrolled(format!("/v1/users/{user}/{list}?"), "user_id").into_iter().collect();
            same(listed, members(&model.members(user, side)), || of(list))?;
        }
        let suspension = server.get(&format!("/v1/users/{user}/suspension"))["suspended"].take();
        same(suspension, json!(!is_shown), || of("suspension"))?;
        let approves = server.get(&format!("/v1/users/{user}/settings"))["approve_followers"].take();
        same(approves, json!(model.settings_of(user).approve_followers), || of("settings"))?;
        lists_differ(server, model, user)?;
    }
    for ((user, target), rule) in &model.rules {
        let relation = server.get(&format!("/v1/users/{user}/relations?targets={target}"))["items"][0].take();
        same(rule_in(&relation), rule_body(rule), || format!("rule of user {user} for {target}"))?;
    }
    for (path, shown) in &model.records {
        same(record(server, path, shown), shown.clone(), || path.clone())?;
    }
    let live: BTreeMap<_, _> = model.living().filter(|item| model.is_shown(item)).map(|item| (item.id, item)).collect();
    for id in model.reactions.keys().map(|(id, ..)| *id).filter(|id| live.contains_key(id)).collect::<BTreeSet<_>>() {
        let likers = scrolled(format!("/v1/content/{id}/reactions/like?"), "user_id").into_iter().collect();
        same(likers, members(&model.reactors(id, ReactionKind::LIKE)), || format!("who likes {id}"))?;
    }
    for topic in live.values().flat_map(|item| &item.body.topics).collect::<BTreeSet<_>>() {
        let listed = scrolled(format!("/v1/topics/{topic}/content?view=ids&"), "content_id");
        same(listed, ids(&model.topic(topic, TOPIC_LIMIT)), || format!("topic {topic}"))?;
    }
    for part in live.keys().collect::<Vec<_>>().chunks(100) {
        let asked: Vec<_> = part.iter().map(ToString::to_string).collect();
        let found = server.get(&format!("/v1/content?ids={}", asked.join(",")));
        let shown = |item: &Value| (item["text"].clone(), item["counts"]["reactions"]["like"].as_u64().unwrap_or(0));
        let found: Vec<_> = found["items"].as_array().expect("items").iter().map(shown).collect();
        let likes = |id: ContentId| members(&model.reactors(id, ReactionKind::LIKE)).len() as u64;
        let expected: Vec<_> = part.iter().map(|id| (json!(live[id].shown.text), likes(**id))).collect();
        same(found, expected, || format!("texts and likes of {asked:?}"))?;
    }
    Ok(())
}

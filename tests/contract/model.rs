//! The contract as a pure function: computes all answers of the server from the calls made.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Value, json};

use super::records::RECORD_PATHS;

/// A user.
pub(crate) type User = u64;
/// An item.
pub(crate) type Item = u64;
/// Pairs of users to a time.
pub(crate) type Pairs = BTreeMap<(User, User), u64>;

/// The kinds of reactions.
pub(crate) const REACTIONS: [&str; 3] = ["like", "favorite", "👏 100%"];

/// A list of a user.
#[derive(Debug, Clone, Default)]
pub(crate) struct List {
    pub(crate) title: Value,
    pub(crate) exclusive: bool,
    /// Members to `since`.
    pub(crate) members: BTreeMap<User, u64>,
    /// Members to the field with their rule.
    pub(crate) rules: BTreeMap<User, Value>,
    pub(crate) marker: Option<(u64, Item)>,
}

/// The state after all calls.
#[derive(Debug, Clone, Default)]
pub(crate) struct Model {
    /// Live items as published and edited: without counts, author and viewer.
    pub(crate) items: BTreeMap<Item, Value>,
    /// Deleted items, likewise.
    pub(crate) deleted: BTreeMap<Item, Value>,
    /// User and followee to `since`.
    pub(crate) follows: Pairs,
    /// User and followee to the field with the rule of the follow.
    pub(crate) rules: BTreeMap<(User, User), Value>,
    pub(crate) mutes: Pairs,
    pub(crate) hidden: Pairs,
    pub(crate) blocks: Pairs,
    /// Suspended users to `since`.
    pub(crate) suspended: BTreeMap<User, u64>,
    /// User and the user whom it has asked to `since`.
    pub(crate) requests: Pairs,
    /// Kind, item and user to `since`.
    pub(crate) reactions: BTreeMap<(&'static str, Item, User), u64>,
    /// Nickname, avatar and extra.
    pub(crate) profiles: BTreeMap<User, Value>,
    /// The records below each user's path.
    pub(crate) records: BTreeMap<(User, &'static str), Value>,
    /// By user and name.
    pub(crate) lists: BTreeMap<(User, String), List>,
    /// The users and topics to compare.
    pub(crate) users: BTreeSet<User>,
    pub(crate) topics: BTreeSet<String>,
}

pub(crate) fn number(value: &Value) -> u64 {
    value.as_str().unwrap().parse().unwrap()
}

/// A name in a path.
pub(crate) fn in_path(name: &str) -> String {
    name.bytes().map(|byte| format!("%{byte:02X}")).collect()
}

/// The sources whose followers get an item.
pub(crate) fn paths(item: &Value) -> Vec<User> {
    let author = (item["broadcast"] == true).then(|| number(&item["author_id"]));
    author.into_iter().chain(item["to"].as_array().into_iter().flatten().map(number)).collect()
}

/// Whether a rule admits an item: an object with `only`, with `except`, or with neither.
pub(crate) fn admits(rule: &Value, item: &Value) -> bool {
    let has = |kinds: &Value| kinds.as_array().unwrap().contains(&item["kind"]);
    (rule["only"].is_null() || has(&rule["only"])) && (rule["except"].is_null() || !has(&rule["except"]))
}

/// Adds the fields of a rule to an object.
pub(crate) fn with_rule(mut object: Value, rule: Option<&Value>) -> Value {
    for (name, kinds) in rule.into_iter().filter_map(Value::as_object).flatten() {
        object[name] = kinds.clone();
    }
    object
}

/// A page with a whole list.
pub(crate) fn whole(items: &[Value], cursor: impl Fn(&Value) -> String) -> Value {
    json!({"items": items, "next": null, "prev": items.first().map(cursor)})
}

/// The place of an item of a content list.
pub(crate) fn content_cursor(item: &Value) -> String {
    format!("{}-{}", item["published_at"], item["content_id"].as_str().unwrap())
}

/// The place of a user in a list of users.
pub(crate) fn user_cursor(item: &Value) -> String {
    format!("{}-{}", item["since"], item["user_id"].as_str().unwrap())
}

impl Model {
    fn place(&self, id: Item) -> (u64, Item) {
        (self.items[&id]["published_at"].as_u64().unwrap(), id)
    }

    pub(crate) fn author(&self, id: Item) -> User {
        number(&self.items[&id]["author_id"])
    }

    /// Whether an item is live, and its author not suspended.
    pub(crate) fn is_shown(&self, id: Item) -> bool {
        self.items.contains_key(&id) && !self.suspended.contains_key(&self.author(id))
    }

    /// The live items that fit and are shown, newest first.
    pub(crate) fn select(&self, fits: impl Fn(&Value) -> bool) -> Vec<Item> {
        let mut found = self.select_live(fits);
        found.retain(|id| self.is_shown(*id));
        found
    }

    /// The live items that fit, newest first.
    fn select_live(&self, fits: impl Fn(&Value) -> bool) -> Vec<Item> {
        let mut found: Vec<Item> = self.items.iter().filter(|(_, item)| fits(item)).map(|(id, _)| *id).collect();
        found.sort_by_key(|id| std::cmp::Reverse(self.place(*id)));
        found
    }

    /// The home timeline, as defined.
    pub(crate) fn timeline(&self, user: User) -> Vec<Item> {
        self.select(|item| {
            let is_apart =
                |source| self.lists_of(user).any(|(_, list)| list.exclusive && list.members.contains_key(&source));
            let is_ruled_out = |source| self.rules.get(&(user, source)).is_some_and(|rule| !admits(rule, item));
            let follows = |source| self.follows.contains_key(&(user, source));
            self.comes(user, item, |source| follows(source) && !is_apart(source) && !is_ruled_out(source))
        })
    }

    /// Whether an item of nobody who is suspended comes to a user on one of these paths.
    fn comes(&self, user: User, item: &Value, counts: impl Fn(User) -> bool) -> bool {
        let author = number(&item["author_id"]);
        let counts =
            |source: User| counts(source) && !self.is_barred(user, source) && !self.suspended.contains_key(&source);
        paths(item).into_iter().any(counts) && (author == user || !self.is_barred(user, author))
    }

    fn is_barred(&self, user: User, author: User) -> bool {
        let blocked = [(user, author), (author, user)].iter().any(|pair| self.blocks.contains_key(pair));
        blocked || self.mutes.contains_key(&(user, author)) || self.hidden.contains_key(&(author, user))
    }

    fn lists_of(&self, user: User) -> impl Iterator<Item = (&str, &List)> {
        let of_user = self.lists.iter().filter(move |((owner, _), _)| *owner == user);
        of_user.map(|((_, name), list)| (name.as_str(), list))
    }

    /// The timeline of a list, as defined.
    fn list_timeline(&self, user: User, list: &List) -> Vec<Item> {
        self.select(|item| {
            let is_ruled_out = |source| list.rules.get(&source).is_some_and(|rule| !admits(rule, item));
            let author = number(&item["author_id"]);
            self.comes(user, item, |source| list.members.contains_key(&source) && !is_ruled_out(source))
                && (author == user || self.is_for(user, item))
        })
    }

    /// A list in an answer.
    pub(crate) fn list(&self, user: User, name: &str) -> Value {
        let List { title, exclusive, .. } = &self.lists[&(user, name.to_owned())];
        json!({"list": name, "title": title, "exclusive": exclusive})
    }

    /// The user's own page.
    pub(crate) fn own_page(&self, user: User) -> Vec<Item> {
        self.select(|item| paths(item).contains(&user) && !self.suspended.contains_key(&user))
    }

    fn pointing(&self, id: Item, kind: &str) -> Vec<Item> {
        let id = id.to_string();
        self.select_live(|item| item["kind"] == kind && item["ref_id"] == id)
    }

    pub(crate) fn comments(&self, id: Item) -> Vec<Item> {
        self.pointing(id, "comment").into_iter().filter(|id| self.is_shown(*id)).collect()
    }

    fn reacted(&self, id: Item, kind: &str) -> usize {
        self.reactions.keys().filter(|(other, item, _)| *other == kind && *item == id).count()
    }

    /// An item that is not in a list.
    pub(crate) fn alone(&self, id: Item) -> Value {
        let mut item = self.items[&id].clone();
        let reactions: BTreeMap<_, _> = REACTIONS.map(|kind| (kind, self.reacted(id, kind))).into_iter().collect();
        item["counts"] = json!({
            "comments": self.pointing(id, "comment").len(), "reposts": self.pointing(id, "repost").len(),
            "reactions": reactions.into_iter().filter(|(_, count)| *count > 0).collect::<BTreeMap<_, _>>(),
        });
        if self.suspended.contains_key(&self.author(id)) {
            item["suspended"] = json!(true);
        }
        item
    }

    /// An item in a list.
    pub(crate) fn listed(&self, id: Item) -> Value {
        let mut item = self.alone(id);
        let author = self.author(id);
        let profile = self.profile(author);
        item["author"] =
            json!({"user_id": author.to_string(), "nickname": profile["nickname"], "avatar": profile["avatar"]});
        item
    }

    /// An item in a viewer's own timeline, or on its stream.
    pub(crate) fn viewed(&self, id: Item, viewer: User) -> Value {
        let mut item = self.listed(id);
        let done = REACTIONS.into_iter();
        let done: Vec<_> = done.filter(|kind| self.reactions.contains_key(&(*kind, id, viewer))).collect();
        item["viewer"] = json!({"reactions": done});
        item
    }

    pub(crate) fn contents(&self, ids: &[Item]) -> Value {
        whole(&ids.iter().map(|id| self.listed(*id)).collect::<Vec<_>>(), content_cursor)
    }

    fn profile(&self, user: User) -> Value {
        let unset = || json!({"nickname": null, "avatar": null, "extra": null});
        self.profiles.get(&user).cloned().unwrap_or_else(unset)
    }

    /// `GET /v1/users/{uid}`
    pub(crate) fn user(&self, user: User) -> Value {
        let mut body = self.profile(user);
        body["user_id"] = json!(user.to_string());
        body["counts"] = json!({
            "following": self.follows.keys().filter(|(from, _)| *from == user).count(),
            "followers": self.follows.keys().filter(|(_, to)| *to == user).count(),
            "friends": self.friends(user).len(), "content": self.select_live(|item| paths(item).contains(&user)).len(),
        });
        body
    }

    fn friends(&self, user: User) -> Vec<(u64, User)> {
        let mutual = |(&(from, to), since): (&(User, User), &u64)| {
            let back = self.follows.get(&(to, from))?;
            (from == user).then_some((*since.max(back), to))
        };
        self.follows.iter().filter_map(mutual).collect()
    }

    /// The relation of one user to another.
    pub(crate) fn relation(&self, user: User, target: User) -> Value {
        let (to, from) = (self.follows.get(&(user, target)), self.follows.get(&(target, user)));
        let word = match (to, from) {
            (None, None) => "none",
            (Some(_), None) => "following",
            (None, Some(_)) => "followed_by",
            (Some(_), Some(_)) => "mutual",
        };
        let mut relation = json!({
            "user_id": user.to_string(), "target_id": target.to_string(), "relation": word,
            "muted": self.mutes.contains_key(&(user, target)), "hidden": self.hidden.contains_key(&(user, target)),
            "blocked": self.blocks.contains_key(&(user, target)),
            "requested": self.requests.contains_key(&(user, target)),
        });
        if let Some(since) = to {
            relation["since"] = json!(since);
        }
        with_rule(relation, self.rules.get(&(user, target)))
    }

    /// How far a user has read.
    pub(crate) fn read_to(&self, user: User) -> (u64, Item) {
        let marker = self.records.get(&(user, "/marker")).and_then(|record| record["cursor"].as_str());
        let (at, id) = marker.and_then(|cursor| cursor.split_once('-')).unwrap_or(("0", "0"));
        (at.parse().unwrap(), id.parse().unwrap())
    }

    fn unread(&self, user: User) -> usize {
        let marker = self.read_to(user);
        self.timeline(user).into_iter().filter(|id| self.place(*id) > marker).count()
    }

    /// The expected answer of every path; `None` for what must not be found.
    pub(crate) fn everything(&self) -> BTreeMap<String, Option<Value>> {
        let mut seen = BTreeMap::new();
        for user in &self.users {
            self.around_user(*user, &mut |path, body| drop(seen.insert(format!("/v1/users/{user}{path}"), Some(body))));
        }
        for topic in &self.topics {
            let found = self.select(|item| item["topics"].as_array().unwrap().contains(&json!(topic)));
            seen.insert(format!("/v1/topics/{topic}/content"), Some(self.contents(&found)));
        }
        let known: Vec<Item> = self.items.keys().chain(self.deleted.keys()).copied().collect();
        for &id in &known {
            self.around_item(id, &mut |path, body| drop(seen.insert(format!("/v1/content/{id}{path}"), body)));
        }
        let ids: Vec<String> = known.iter().map(Item::to_string).collect();
        let shown = known.iter().filter(|id| self.is_shown(**id));
        let found = json!({"items": shown.map(|id| self.listed(*id)).collect::<Vec<_>>()});
        seen.insert(format!("/v1/content?ids={}", ids.join(",")), Some(found));
        seen
    }

    fn around_user(&self, user: User, put: &mut dyn FnMut(&str, Value)) {
        let timeline: Vec<Value> = self.timeline(user).into_iter().map(|id| self.viewed(id, user)).collect();
        put("", self.user(user));
        put("/timeline", whole(&timeline, content_cursor));
        let since = self.suspended.get(&user);
        let mut suspension = json!({"user_id": user.to_string(), "suspended": since.is_some()});
        since.into_iter().for_each(|since| suspension["since"] = json!(since));
        put("/suspension", suspension);
        put("/timeline/unread", json!({"count": self.unread(user), "capped": false}));
        for (path, unset, _) in RECORD_PATHS {
            let unset = || serde_json::from_str(unset).unwrap();
            put(path, self.records.get(&(user, path)).cloned().unwrap_or_else(unset));
        }
        let lists: Vec<Value> = self.lists_of(user).map(|(name, _)| self.list(user, name)).collect();
        put("/lists", json!({ "items": lists }));
        for (name, list) in self.lists_of(user) {
            let path = format!("/lists/{}", in_path(name));
            let timeline = self.list_timeline(user, list);
            let newer = timeline.iter().filter(|id| list.marker.is_none_or(|marker| self.place(**id) > marker)).count();
            let viewed: Vec<Value> = timeline.into_iter().map(|id| self.viewed(id, user)).collect();
            put(&path, self.list(user, name));
            let mut page = members(list.members.iter().map(|(member, at)| (*at, *member)));
            for item in page["items"].as_array_mut().unwrap() {
                let rule = list.rules.get(&number(&item["user_id"]));
                *item = with_rule(item.take(), rule);
            }
            put(&format!("{path}/members"), page);
            put(&format!("{path}/timeline"), whole(&viewed, content_cursor));
            put(&format!("{path}/unread"), json!({"count": newer, "capped": false}));
            let marker = list.marker.map(|(at, id)| format!("{at}-{id}"));
            put(&format!("{path}/marker"), json!({ "cursor": marker }));
        }
        put("/content", self.contents(&self.own_page(user)));
        let by_user = |item: &Value| item["kind"] == "comment" && number(&item["author_id"]) == user;
        put("/comments", self.contents(&self.select(by_user)));
        let from = |pairs: &Pairs| members(pairs.iter().filter(|(pair, _)| pair.0 == user).map(|(p, at)| (*at, p.1)));
        put("/following", from(&self.follows));
        put("/mutes", from(&self.mutes));
        put("/hidden-from", from(&self.hidden));
        put("/blocks", from(&self.blocks));
        put("/sent-requests", from(&self.requests));
        let received = self.requests.iter().filter(|(pair, _)| pair.1 == user);
        put("/follow-requests", members(received.map(|(pair, at)| (*at, pair.0))));
        let followers = self.follows.iter().filter(|(pair, _)| pair.1 == user);
        put("/followers", members(followers.map(|(pair, at)| (*at, pair.0))));
        put("/friends", members(self.friends(user).into_iter()));
        for kind in REACTIONS {
            let is_shown = !self.suspended.contains_key(&user);
            let done =
                |item: &Value| is_shown && self.reactions.contains_key(&(kind, number(&item["content_id"]), user));
            put(&format!("/reactions/{}", in_path(kind)), self.contents(&self.select(done)));
        }
        let targets: Vec<String> = self.users.iter().map(User::to_string).collect();
        let relations: Vec<Value> = self.users.iter().map(|target| self.relation(user, *target)).collect();
        put(&format!("/relations?targets={}", targets.join(",")), json!({ "items": relations }));
    }

    fn around_item(&self, id: Item, put: &mut dyn FnMut(&str, Option<Value>)) {
        // By its id also an item of a suspended author.
        let shown = self.items.contains_key(&id);
        put("", shown.then(|| self.alone(id)));
        put("/comments", shown.then(|| self.contents(&self.comments(id))));
        for kind in REACTIONS {
            let who = self
                .reactions
                .iter()
                .filter(|((other, item, user), _)| *other == kind && *item == id && !self.suspended.contains_key(user));
            put(
                &format!("/reactions/{}", in_path(kind)),
                shown.then(|| members(who.map(|((_, _, user), at)| (*at, *user)))),
            );
        }
    }
}

pub(crate) fn members(found: impl Iterator<Item = (u64, User)>) -> Value {
    let mut found: Vec<(u64, User)> = found.collect();
    found.sort_unstable_by(|a, b| b.cmp(a));
    let items: Vec<Value> = found.iter().map(|(at, id)| json!({"user_id": id.to_string(), "since": at})).collect();
    whole(&items, user_cursor)
}

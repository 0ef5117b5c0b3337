//! Feeds that apply the same commands at the same times agree on every outcome and every list, whatever their store,
//! their own settings, their inboxes and the progress of their workers. One feed has them from JSON.

use std::collections::BTreeMap;
use std::mem::discriminant;
use std::ops::ControlFlow;
use std::sync::LazyLock;
use std::thread;

use config::{Config, Duration};
use fastrand::Rng;
use feed::check::Watch;
use feed::items::tables::FINAL;
use feed::store::Store;
use feed::streaming::ChangeTime;
use feed::{
    Command, EditItem, EndErasure, EraseRows, Feed, Group, ImportItems, Made, PublishItems, React, ReactionRequest,
    Relate, Visibility, follows, items, lists, reactions, timeline, topics, users, visibility,
};
use kv::Tier;
use model::error::Result as Done;
use model::{
    Audience, ContentEdit, ContentId, ErasedPart, ErasurePlace, Event, ExternalId, Logged, Millis, NamedRule,
    NewComment, NoticeId, NoticeKind, PageRequest, Position, Restriction, Side, Span, UserId,
};
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use super::names::{IDS, Ids, LISTS, RULES, TOPICS, USERS, id, rule};
use super::seed::{modes, pick, scaled, seed};
use super::shape::{Kind, LONG, small};
use super::system::System;
use crate::plain::FREE_FIELDS;

/// Commands of one log, with the usual number of cases.
const COMMANDS: u32 = 3000;
/// More events than come between two comparisons.
const EVENTS: usize = 1000;
/// The feed that has its commands from JSON.
const READER: usize = 2;

/// Commands of each kind (crates/feed/src/writer/command/tests.rs), of which others are made.
static GOLDEN: LazyLock<BTreeMap<&str, Vec<&str>>> = LazyLock::new(|| {
    let mut kinds: BTreeMap<_, Vec<_>> = BTreeMap::new();
    for line in include_str!("../../crates/feed/src/writer/command/golden.ndjson").lines() {
        kinds.entry(line.split('"').nth(1).expect("a kind")).or_default().push(line);
    }
    kinds.retain(|kind, _| !MADE_HERE.contains(kind));
    kinds
});
/// The kinds that [`Log`] makes by itself: those with JSON of the host, those that are to come often, and the steps of erasures.
const MADE_HERE: [&str; 7] =
    ["publish_items", "edit_item", "import_items", "relate", "react", "erase_rows", "end_erasure"];
/// Kinds that are made less often, because they take away what others need.
const RARE: [&str; 2] = ["erase_user", "delete_list"];

/// Ids that a log could mistake for others, or spoil.
const ODD_NAMES: [&str; 10] =
    [" ", "null", "1-1", "'\"\\/", "\u{feff}", "\u{2028}", "\u{202e}1", "\u{fffd}", "é", "e\u{301}"];
/// Texts that a log could mistake for others, or spoil.
const ODD_TEXTS: [&str; 4] = ["", "\0\u{1}\t\r\n\"\\/", "\u{2028}\u{feff}\u{10ffff}", "e\u{301} \\u00e9 null"];
/// Media and extra, as a host may write them.
const MEDIA: [&str; 3] = [
    "[]",
    "[ {\"url\" : \"\\u00e9\\/\",\n\"type\":\"\", \"w\":1.50} ]",
    r#"[{"type":"a","url":"b"},{"type":"a","url":"b"}]"#,
];
const EXTRA: [&str; 4] = [
    "{}",
    r#"{"a":1}"#,
    "{ \"b\":-0.10e+2,\r\n\"a\":[12345678901234567890123,null,\"\\ud83c\\udf0a\\u0000\"] }",
    r#"{"$serde_json::private::RawValue":"{}"}"#,
];

pub(crate) fn run() {
    for ids in modes() {
        let mut random = Rng::with_seed(seed());
        // In memory, refused changes keep the numbers of their names.
        let other = if ids == Ids::Numbers { Kind::Memory } else { Kind::Rocks };
        let mut systems = [
            System::new(Kind::Rocks, config(|_| ())),
            System::new(other, config(|config| config.timeline.inbox_limit = 3)),
            System::new(Kind::Rocks, config(|config| config.fanout.push_threshold = 2)),
            System::new(other, config(|config| config.timeline.active_for = Duration::from_millis(1))),
        ];
        // The last system has no workers until the end.
        systems[..3].iter_mut().for_each(System::start);
        let mut log = Log {
            ids,
            random: random.fork(),
            made: Vec::new(),
            now: model::clock::now() + 60_000,
            erasing: Default::default(),
        };
        for n in 0..scaled(COMMANDS) {
            let (at, command) = log.next();
            let shown = format!("{command:?}");
            let mut copies = [(); 4].map(|()| command.clone());
            copies[READER] = from_json(&command);
            let outcomes: Vec<_> = systems
                .iter()
                .zip(copies)
                .map(|(system, command)| format!("{:?}", made(&system.feed, command, at)))
                .collect();
            log.learn(&systems[0].feed);
            let same = outcomes.iter().all(|outcome| *outcome == outcomes[0]);
            assert!(same, "{ids:?}, command {n} at {at:?}\n{shown}\n{outcomes:#?}");
            if n % 50 == 0 || n + 1 == scaled(COMMANDS) {
                compare(&systems, ids, &mut random);
            }
        }
        systems[3].start();
        systems.iter_mut().for_each(|system| system.drain().expect("drains"));
        compare(&systems, ids, &mut random);
        same_tables(&systems, 0).expect("one state");
    }
}

/// Compares the tables of feeds that have applied the same changes.
pub(crate) fn same_tables<'a>(
    systems: impl IntoIterator<Item = &'a System>,
    final_before: Millis,
) -> Result<(), String> {
    let mut digests = systems.into_iter().map(|system| {
        let digests = feed::check::digest(system.store(), final_before, &mut || (), &mut Findings::default());
        digests.map_err(|e| format!("no digest: {e}"))
    });
    let first = digests.next().ok_or("nothing to compare")??;
    digests.try_for_each(|other| {
        ensure_eq!(other?, first, "digests of the tables that all share");
        Ok(())
    })
}

/// Disagreements of the tables of a store.
#[derive(Default)]
pub(crate) struct Findings(pub(crate) Vec<String>);

impl Watch for Findings {
    fn finds(&mut self, line: String) {
        self.0.push(line);
    }

    fn looked_at(&mut self, _: &'static str, _: u64) -> Done<()> {
        Ok(())
    }
}

/// Makes a command of a log alone.
pub(crate) fn made(feed: &Feed, command: Command, at: ChangeTime) -> Made {
    let feed = feed.for_changes();
    let mut group = Group::begin(&feed, at);
    let made = group.make(command);
    group.end().expect("writes");
    made
}

/// A command, written to a log and read from it.
fn from_json(command: &Command) -> Command {
    let json = serde_json::to_vec(command).expect("writes");
    let read: Command = serde_json::from_slice(&json).expect("reads");
    let text = String::from_utf8(json).expect("UTF-8");
    assert_eq!(format!("{read:?}"), format!("{command:?}"), "{text}");
    assert_eq!(serde_json::to_string(&read).expect("writes"), text);
    read
}

/// Settings that agree in all that decides an answer.
fn config(own: impl FnOnce(&mut Config)) -> Config {
    let mut config = small();
    config.graph.follow_limit = 4;
    config.content.max_ahead = LONG;
    own(&mut config);
    config
}

/// Makes commands, with times that mostly rise.
struct Log {
    ids: Ids,
    random: Rng,
    /// Ids that the server made.
    made: Vec<ExternalId>,
    now: Millis,
    /// The erasure under way, and its next step.
    erasing: (Erasing, Option<Command>),
}

/// Whose erasure goes on, how far it has come, and whether anything was found since the search began.
pub(crate) type Erasing = (Option<UserId>, ErasurePlace, bool);

/// The next step of an erasure under way, as the thread of a server takes it: one user after the other. A log may lose a
/// step, so the end comes after a search that finds nothing.
pub(crate) fn next_step(feed: &Feed, erasing: &mut Erasing) -> Option<Command> {
    let store = feed.store();
    let (of, place, found) = erasing;
    let user = match *of {
        Some(user) => user,
        None => feed::erasure::tables::erasures(store).expect("reads").first()?.user,
    };
    *of = Some(user);
    loop {
        match feed::erasure::tables::to_erase(store, user, place, 3).expect("reads") {
            Some(part) if names_any(feed, user, &part) => {
                *found = true;
                return Some(EraseRows { user: user.get(), part }.into());
            }
            Some(_) => {}
            None if std::mem::take(found) => *place = ErasurePlace::default(),
            None => {
                *erasing = Erasing::default();
                return Some(EndErasure { user: user.get() }.into());
            }
        }
    }
}

/// Whether there is anything left of a part. Items that are deleted for good are found until they are purged.
fn names_any(feed: &Feed, user: UserId, part: &ErasedPart) -> bool {
    if part.table != "content" {
        return !part.keys.is_empty();
    }
    let id = |key: &Vec<u8>| ContentId::new(u64::from_be_bytes(key[..].try_into().expect("an id"))).expect("an id");
    let ids: Vec<_> = part.keys.iter().map(id).collect();
    let kept = feed::items::tables::kept(feed.store(), &ids).expect("reads");
    let sources = |id| feed::erasure::tables::erased_paths(feed.store(), &[id]).expect("reads");
    ids.into_iter().zip(kept).any(|(id, kept)| match kept {
        Some((item, deleted_at)) => item.author != user || deleted_at != Some(FINAL),
        None => sources(id).contains(&user),
    })
}

impl Log {
    fn next(&mut self) -> (ChangeTime, Command) {
        self.now += pick(&mut self.random, &[0, 0, 1, 1, 7, 400]);
        let step = if self.random.bool() { self.erasing.1.take() } else { None };
        (ChangeTime::Log(self.now), step.unwrap_or_else(|| self.command()))
    }

    /// Takes over ids made here, so that later commands name them.
    fn learn(&mut self, feed: &Feed) {
        let newest = newest_events(feed.store(), 1);
        let made =
            newest.iter().map(|event| event.entry.cursor.id.get()).filter(|raw| (1 << 40..1 << 63).contains(raw));
        self.made.extend(made.map(ExternalId::Number));
        if self.made.len() > 20 {
            self.made.remove(0);
        }
        if self.erasing.1.is_none() {
            self.erasing.1 = next_step(feed, &mut self.erasing.0);
        }
    }

    fn user(&mut self) -> ExternalId {
        self.odd_name().unwrap_or_else(|| self.ids.host(pick(&mut self.random, &USERS)))
    }

    /// Rarely a name that no comparison asks for.
    fn odd_name(&mut self) -> Option<ExternalId> {
        let wanted = self.ids != Ids::Numbers && self.random.u8(..30) == 0;
        wanted.then(|| pick(&mut self.random, &ODD_NAMES).parse().expect("an id"))
    }

    fn rule(&mut self) -> Option<NamedRule> {
        self.random.bool().then(|| rule(self.random.usize(..RULES)))
    }

    fn item(&mut self) -> ExternalId {
        match self.random.choice(&self.made) {
            Some(made) if self.random.u8(..4) == 0 => made.clone(),
            _ => self.odd_name().unwrap_or_else(|| self.ids.host(id(self.random.u64(..IDS)))),
        }
    }

    /// A time in the past, now, or refused.
    fn time(&mut self) -> Option<Millis> {
        let now = self.now;
        pick(
            &mut self.random,
            &[None, None, Some(now), Some(now - 10_000), Some(5), Some(now + 1000), Some(u64::MAX >> 1)],
        )
    }

    /// Mostly one of a few, so that publishes are repeated.
    fn text(&mut self) -> String {
        match self.random.u8(..8) {
            0 => pick(&mut self.random, &ODD_TEXTS).to_owned(),
            _ => self.random.u8(..3).to_string(),
        }
    }

    /// The fields that a publish and a comment have. Some of those left out are null.
    fn fields(&mut self) -> Value {
        let mut fields = json!({"author_id": self.user(), "text": self.text()});
        let topics = [pick(&mut self.random, &TOPICS)];
        let given = [
            ("content_id", self.random.bool().then(|| json!(self.item()))),
            ("published_at", self.time().map(|at| json!(at))),
            ("topics", self.random.bool().then(|| json!(topics))),
        ];
        for (name, given) in given {
            if let Some(value) = given.or_else(|| (self.random.u8(..4) == 0).then_some(Value::Null)) {
                fields[name] = value;
            }
        }
        fields
    }

    /// A new item of these fields. JSON of the host is given as text, because its exact bytes count.
    fn body<T: DeserializeOwned>(&mut self, fields: &Value) -> T {
        let mut text = fields.to_string();
        for (name, some) in [("media", &MEDIA[..]), ("extra", &EXTRA[..])] {
            let value = match self.random.u8(..8) {
                0 => "null",
                1 | 2 => pick(&mut self.random, some),
                _ => continue,
            };
            let end = if text == "{}" { "" } else { "," };
            text.insert_str(1, &format!("\"{name}\": {value}{end}"));
        }
        serde_json::from_str(&text).expect("a new_item")
    }

    fn new_item<T: DeserializeOwned>(&mut self) -> T {
        let mut fields = self.fields();
        for (name, values) in &*FREE_FIELDS {
            if self.random.bool() {
                fields[name] = self.random.choice(values).expect("values").clone();
            }
        }
        if self.random.u8(..5) == 0 {
            fields["kind"] = json!(pick(&mut self.random, &["comment", "repost"]));
            fields["ref_id"] = json!(self.item());
        }
        if self.random.u8(..3) == 0 {
            // Now and then one twice, or the author.
            fields["to"] = json!(self.some(3, Self::user));
        }
        if self.random.u8(..4) == 0 {
            // Now and then one twice.
            fields["mentions"] = json!(self.some(3, Self::user));
        }
        self.body(&fields)
    }

    fn visibility(&mut self) -> Visibility {
        pick(&mut self.random, &[Visibility::Application, Visibility::User])
    }

    fn edit(&mut self) -> ContentEdit {
        let fields = match self.random.u8(..4) {
            0 => json!({}),
            1 => json!({"text": null}),
            _ => json!({"text": self.text()}),
        };
        self.body(&fields)
    }

    fn some<T>(&mut self, most: usize, make: impl Fn(&mut Self) -> T) -> Vec<T> {
        (0..self.random.usize(..=most)).map(|_| make(self)).collect()
    }

    fn wish(&mut self) -> ReactionRequest {
        ReactionRequest {
            user: self.user(),
            kind: pick(&mut self.random, &["like", "favorite", "👏", "none"]).to_owned(),
            active: self.random.u8(..3) > 0,
            since: self.time(),
            visibility: self.visibility(),
        }
    }

    /// A command like one of the golden lines.
    fn like_golden(&mut self) -> Command {
        let (kind, lines) = self.random.choice(&*GOLDEN).expect("kinds");
        if RARE.contains(kind) && self.random.u8(..4) > 0 {
            return self.like_golden();
        }
        let mut command = serde_json::from_str(pick(&mut self.random, lines)).expect("JSON");
        self.vary(kind, &mut command, *kind == "import_line");
        serde_json::from_str(&command.to_string()).expect("a command")
    }

    /// Puts others in the places of users, items, lists, times and texts. A line of an import only adds.
    fn vary(&mut self, name: &str, value: &mut Value, adds: bool) {
        *value = match (name, &mut *value) {
            ("rule" | "rules", Value::String(_) | Value::Object(_)) => json!(self.rule().unwrap_or_default()),
            (_, Value::Object(fields)) => {
                return fields.iter_mut().for_each(|(name, part)| self.vary(name, part, adds));
            }
            (_, Value::Array(parts)) => {
                // A pair stays one.
                if parts.windows(2).all(|two| discriminant(&two[0]) == discriminant(&two[1])) {
                    parts.truncate(self.random.usize(1..=parts.len().max(1)));
                }
                return parts.iter_mut().for_each(|part| self.vary(name, part, adds));
            }
            ("since" | "follows", Value::Number(_) | Value::Null) => json!(self.time()),
            ("awaited", _) => return,
            // Mostly taken back, so that most items are shown.
            ("suspended", Value::Bool(_)) if !adds => json!(self.random.u8(..3) == 0),
            (_, Value::Bool(_)) if !adds => json!(self.random.bool()),
            (_, Value::String(text)) => match name {
                "user" | "target" | "from" | "source" | "add" | "remove" | "ids" | "follows" | "profiles" => {
                    json!(self.user())
                }
                "item" => json!(self.item()),
                "list" => json!(pick(&mut self.random, &LISTS)),
                "place" if text.split('-').count() > 4 => {
                    let (actor, item) = (self.user(), self.random.bool().then(|| self.item()));
                    let id = NoticeId { kind: pick(&mut self.random, &NoticeKind::ALL), reaction: 0, actor, item };
                    json!(Position { at: self.time().unwrap_or(self.now), id })
                }
                "place" => json!(Position { at: self.time().unwrap_or(self.now), id: self.item() }),
                "nickname" | "avatar" | "title" => json!(self.text()),
                "extra" => json!(pick(&mut self.random, &EXTRA)),
                "restriction" => json!(pick(&mut self.random, &Restriction::ALL)),
                "visibility" if !adds => json!(self.visibility()),
                "default_audience" => json!(pick(&mut self.random, &[Audience::Public, Audience::Followers])),
                _ => return,
            },
            _ => return,
        };
    }

    fn command(&mut self) -> Command {
        match self.random.u8(..50) {
            0..9 => PublishItems { new_items: vec![self.new_item()], on_live_items: None }.into(),
            9 => PublishItems { new_items: self.some(4, Self::new_item), on_live_items: None }.into(),
            10 => {
                let fields = self.fields();
                let comment: NewComment = self.body(&fields);
                PublishItems { new_items: vec![comment.on(self.item())], on_live_items: Some(self.visibility()) }.into()
            }
            11 | 12 => EditItem { item: self.item(), edit: self.edit() }.into(),
            13..19 => {
                let follow = self.some(2, |log| (log.user(), log.time()));
                let (unfollow, rule) = (self.some(1, Self::user), self.rule());
                Relate { user: self.user(), follow, unfollow, rule, approved: self.random.u8(..4) == 0 }.into()
            }
            19..26 => {
                let (item, requests) = (self.item(), self.some(3, Self::wish));
                React { item, requests, imported: self.random.u8(..5) == 0 }.into()
            }
            26 => ImportItems {
                new_items: self.some(3, Self::new_item),
                edited: self.some(2, |log| (log.random.u8(..3) == 0).then_some(7)),
            }
            .into(),
            _ => self.like_golden(),
        }
    }
}

/// Compares all that readers can see, at the same time in all systems.
fn compare(systems: &[System], ids: Ids, random: &mut Rng) {
    let limit = random.usize(1..30);
    let all: Vec<Vec<String>> = thread::scope(|threads| {
        let reads: Vec<_> =
            systems.iter().map(|system| threads.spawn(move || seen(&system.feed, ids, limit))).collect();
        reads.into_iter().map(|read| read.join().expect("no panic")).collect()
    });
    for (system, seen) in all.iter().enumerate() {
        for (is, should_be) in seen.iter().zip(&all[0]) {
            assert_eq!(is, should_be, "{ids:?}, system {system}");
        }
    }
}

/// The newest events, the last one first.
pub(crate) fn newest_events(store: &Store, limit: usize) -> Vec<Event> {
    let mut events = Vec::new();
    let visit = &mut |row: Logged| {
        events.extend(row.event());
        if events.len() < limit { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
    };
    feed::events::tables::newest_logged(store, visit).expect("reads");
    events
}

/// All that readers can see.
pub(crate) fn seen(feed: &Feed, ids: Ids, limit: usize) -> Vec<String> {
    let (read, store, tier, mut seen) = (feed.read(), feed.store(), Tier::Disk, Vec::new());
    let users: Vec<UserId> = USERS.iter().map(|raw| read.find(&ids.host(*raw)).expect("finds")).collect();
    let items: Vec<ContentId> = (0..IDS).map(|n| read.find(&ids.host(id(n))).expect("finds")).collect();
    seen.push(format!("ids {users:?} {items:?}"));
    seen.push(format!("events {:?}", newest_events(store, EVENTS)));
    let contents = feed::items::tables::contents(store, &items, tier).expect("reads");
    // Each server purges the comments of the others in its own time.
    let live: Vec<ContentId> = contents.iter().flatten().map(|item| item.id).collect();
    seen.push(format!("contents {contents:?}"));
    seen.push(format!("counts {:?}", feed::items::tables::item_counts(store, &items, tier)));
    for topic in TOPICS {
        let request = PageRequest { span: Span::ALL, limit };
        seen.push(format!("topic {topic} {:?}", topics::page(read, topic, &request)));
    }
    for user in users.iter().copied().filter(|user| *user != UserId::UNKNOWN) {
        seen.push(format!("relations {user} {:?}", follows::relations(read, user, &users)));
        let of_kinds = read.of_kinds(&rule(limit)).expect("kinds");
        seen.push(format!(
            "kinds {user} {:?}",
            timeline::page(of_kinds, user, &PageRequest { span: Span::ALL, limit })
        ));
        let request = PageRequest { span: Span::ALL, limit };
        seen.push(format!("timeline {user} {:?}", timeline::page(read, user, &request)));
        let whole = PageRequest { span: Span::ALL, limit: 1000 };
        seen.push(format!("outbox {user} {:?}", items::own_page(read, user, &whole)));
        seen.push(format!("comments {user} {:?}", items::user_comments(read, user, &request)));
        let host = read.named(user).expect("reads").1.of(user);
        let viewed = read.seen_by(Some(&host)).and_then(|read| visibility::contents(read, &items));
        let viewed = viewed.map(|items| items.iter().map(|item| item.id).collect::<Vec<_>>());
        seen.push(format!("seen by {user} {viewed:?}"));
        let other = users[(limit + users.iter().position(|known| *known == user).unwrap_or(0)) % users.len()];
        let lists = read.seen_by(Some(&host)).and_then(|read| {
            let comments = live.iter().skip(limit).take(3).map(|item| items::comments(read, *item, &request));
            let comments = comments.collect::<Result<Vec<_>, _>>()?;
            let members = follows::members(read, other, Side::Followers, &PageRequest { span: Span::ALL, limit: 100 })?;
            Ok((items::own_page(read, other, &request)?, topics::page(read, TOPICS[0], &request)?, comments, members))
        });
        seen.push(format!("lists seen by {user} {lists:?}"));
        seen.push(format!("profile {user} {:?}", users::user(read, user)));
        seen.push(format!("marker {user} {:?}", feed::users::tables::marker(store, user, tier)));
        for list in lists::of_user(read, user).expect("reads") {
            let of_list = (
                timeline::list_page(read, user, list.id, &request),
                feed::lists::tables::list_marker(store, list.id, tier),
            );
            let members = lists::members(read, list.id, &PageRequest { span: Span::ALL, limit: 100 });
            let rules = lists::member_rules(read, list.id, &users);
            seen.push(format!("list of {user} {list:?} {of_list:?} {members:?} {rules:?}"));
        }
        seen.push(format!("suspension {user} {:?}", users::suspended_since(read, user)));
        seen.push(format!("settings {user} {:?}", feed::users::tables::settings(store, user, tier)));
        for side in Side::all() {
            let request = PageRequest { span: Span::ALL, limit: 100 };
            seen.push(format!("{side:?} {user} {:?}", follows::members(read, user, side, &request)));
        }
        for (kind, _) in read.reaction_kinds().iter() {
            let request = PageRequest { span: Span::ALL, limit: 100 };
            seen.push(format!("{kind:?} by {user} {:?}", reactions::reacted_by(read, user, kind, &request)));
        }
    }
    seen
}

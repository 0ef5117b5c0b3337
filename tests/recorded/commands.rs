//! Random commands of every kind, about users and items that most of the earlier commands have made.

use fastrand::Rng;
use std::collections::VecDeque;

use feed::{
    AnswerRequest, ChangeMembers, Command, DeleteItem, DeleteList, EditItem, EraseUser, Feed, GiveNumbers,
    ImportFollows, ImportItems, ImportLine, KeepReceiver, MoveMarker, MoveNoticeMarker, NumberReactions, PublishItems,
    PutList, PutProfiles, PutSettings, React, Relate, RestoreItem, SetBarrier, SetSuspension, TakeOff, Visibility,
    Wish,
};
use model::{
    Audience, Barrier, CommentDraft, Draft, EditDraft, HostId, ListSettings, Millis, NoticeId, NoticeKind, Position,
    Profile, RuleDraft, UserSettings,
};
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use crate::promises::lines::{Parts, line};
use crate::promises::names::{Ids, LISTS, RULES, TOPICS, USERS, rule};
use crate::promises::replay::{Erasing, newest_events, next_step};
use crate::promises::seed::pick;

/// The time of the first record: long ago, so that no clock of a follower is near the times of the log.
pub(crate) const BEGIN: Millis = 1_600_000_000_000;
/// Names of kinds of reactions. The settings have two or three of them at a time.
pub(crate) static REACTIONS: [&str; 4] = ["like", "favorite", "👏", "a b"];

/// Users beside those whose pages are compared whole.
const OTHERS: u64 = 400;
/// Items that most commands are about: the newest ones.
const LATE: u64 = 300;
/// Ids that another reader of the log could mistake for others.
const ODD: [&str; 6] = [" ", "null", "1-1", "'\"\\/", "\u{feff}", "e\u{301}"];
const TEXTS: [&str; 5] =
    ["a text", "another text", "", "\0\u{1}\t\r\n\"\\/ \u{2028}\u{10ffff}", "e\u{301} \\u00e9 null"];
const MEDIA: [&str; 2] = ["[]", "[ {\"url\" : \"\\u00e9\\/\",\n\"type\":\"\", \"w\":1.50} ]"];
const EXTRA: [&str; 3] = ["{}", r#"{"a":1}"#, "{ \"b\":-0.10e+2,\r\n\"a\":[12345678901234567890123,null] }"];

/// The users whom commands name.
pub(crate) fn users() -> impl Iterator<Item = u64> {
    USERS.into_iter().chain(100..100 + OTHERS)
}

/// How many paths are remembered.
const RECENT: usize = 100;

/// Makes commands.
pub(crate) struct Commands {
    pub(crate) ids: Ids,
    pub(crate) random: Rng,
    /// The highest number of an item.
    newest: u64,
    /// Ids that the server made.
    made: Vec<HostId>,
    /// Topics that were named.
    topics: u64,
    /// Some paths of the latest items.
    paths: VecDeque<(HostId, HostId)>,
    pub(crate) now: Millis,
    /// The erasure under way, and its next step.
    erasing: (Erasing, Option<Command>),
}

impl Commands {
    pub(crate) fn new(ids: Ids, random: Rng) -> Self {
        Self {
            ids,
            random,
            newest: 1,
            made: Vec::new(),
            topics: 0,
            paths: VecDeque::new(),
            now: BEGIN,
            erasing: Default::default(),
        }
    }

    /// Takes over ids made of late, so that later commands name them.
    pub(crate) fn learn(&mut self, feed: &Feed) {
        let events = newest_events(feed.store(), 20);
        let numbers = events.iter().map(|event| event.entry.cursor.id.get());
        self.made = numbers.filter(|raw| (1 << 40..1 << 63).contains(raw)).map(HostId::Number).collect();
    }

    /// Finds the next step of an erasure under way.
    pub(crate) fn learn_erasure(&mut self, feed: &Feed) {
        if self.erasing.1.is_none() {
            self.erasing.1 = next_step(feed, &mut self.erasing.0);
        }
    }

    fn is(&mut self, percent: u32) -> bool {
        self.random.u32(..100) < percent
    }

    fn raw_user(&mut self) -> u64 {
        if self.is(25) { pick(&mut self.random, &USERS) } else { 100 + self.random.u64(..OTHERS) }
    }

    /// Few users have lists, so that most changes of members find one.
    fn owner(&mut self) -> HostId {
        let raw = pick(&mut self.random, &USERS[..2]);
        self.ids.host(raw)
    }

    fn user(&mut self) -> HostId {
        match self.odd() {
            Some(odd) => odd,
            None => self.ids.host(self.raw_user()),
        }
    }

    /// Rarely another id: one that looks odd, or one that no other command names.
    fn odd(&mut self) -> Option<HostId> {
        if self.ids == Ids::Numbers || self.random.u32(..200) > 0 {
            return None;
        }
        let odd =
            if self.is(50) { pick(&mut self.random, &ODD).to_owned() } else { format!("once {}", self.random.u64(..)) };
        Some(odd.parse().expect("an id"))
    }

    /// An item that there is, mostly.
    fn item(&mut self) -> HostId {
        if self.is(5)
            && let Some(made) = self.random.choice(&self.made)
        {
            return made.clone();
        }
        let raw = match self.is(70) {
            true => self.random.u64(self.newest.saturating_sub(LATE).max(1)..=self.newest),
            false => self.random.u64(1..=self.newest),
        };
        self.odd().unwrap_or_else(|| self.ids.host(raw))
    }

    /// An item and a source, mostly one of its paths.
    fn path(&mut self) -> (HostId, HostId) {
        match self.paths.len() {
            paths if paths > 0 && self.is(80) => self.paths[self.random.usize(..paths)].clone(),
            _ => (self.item(), self.user()),
        }
    }

    /// The id of an item to publish.
    fn new_item(&mut self) -> HostId {
        if self.is(20) {
            return self.item();
        }
        self.newest += 1;
        self.ids.host(self.newest)
    }

    /// A time in the past, now, or refused.
    fn time(&mut self) -> Option<Millis> {
        let now = self.now;
        match self.random.u32(..20) {
            0 => Some(u64::MAX >> 1),
            1 => Some(5),
            2 => Some(now + 400),
            3..6 => Some(now - self.random.u64(..1_000_000)),
            6..9 => Some(now),
            _ => None,
        }
    }

    fn text(&mut self) -> &'static str {
        pick(&mut self.random, &TEXTS)
    }

    /// One of a few, or one of those whose number grows with the log.
    fn topic(&mut self) -> String {
        if self.is(60) {
            return pick(&mut self.random, &TOPICS).to_owned();
        }
        self.topics += u64::from(self.random.u32(..20) == 0);
        format!("topic {}", self.random.u64(..=self.topics))
    }

    /// The fields that a publish and a comment have.
    fn fields(&mut self) -> Value {
        let author = self.user();
        let mut fields = json!({"author_id": author, "text": self.text()});
        if !self.is(3) {
            let id = self.new_item();
            fields["content_id"] = json!(id);
            self.paths.push_back((id, author));
            if self.paths.len() > RECENT {
                self.paths.pop_front();
            }
        }
        if let Some(at) = self.time() {
            fields["published_at"] = json!(at);
        }
        if self.is(40) {
            fields["topics"] = json!([self.topic()]);
        }
        if self.is(25) {
            // Now and then one twice, or the author.
            fields["to"] = json!(self.some(3, Self::user));
        }
        if self.is(20) {
            fields["audience"] = json!(pick(&mut self.random, &["public", "followers"]));
        }
        if self.is(20) {
            // Now and then one twice.
            fields["mentions"] = json!(self.some(3, Self::user));
        }
        fields
    }

    /// A draft of these fields. JSON of the host is given as text, because its exact bytes count.
    fn body<T: DeserializeOwned>(&mut self, fields: &Value) -> T {
        let mut text = fields.to_string();
        for (name, some) in [("media", &MEDIA[..]), ("extra", &EXTRA[..])] {
            if self.is(10) {
                let end = if text == "{}" { "" } else { "," };
                text.insert_str(1, &format!("\"{name}\": {}{end}", pick(&mut self.random, some)));
            }
        }
        serde_json::from_str(&text).expect("a draft")
    }

    fn draft(&mut self) -> Draft {
        let mut fields = self.fields();
        fields["broadcast"] = json!(!self.is(8));
        if self.is(20) {
            fields["kind"] = json!(self.kind_of_item());
            fields["ref_id"] = json!(self.item());
        }
        self.body(&fields)
    }

    /// One of a few, or one of those whose number grows with the log, until a server refuses further ones.
    fn kind_of_item(&mut self) -> String {
        match self.is(10) {
            true => format!("kind_{}", self.newest / 100),
            false => pick(&mut self.random, &["comment", "repost", "video", "poll"]).to_owned(),
        }
    }

    fn edit(&mut self) -> EditDraft {
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

    fn sight(&mut self) -> Visibility {
        pick(&mut self.random, &[Visibility::Application, Visibility::User])
    }

    fn rule(&mut self) -> Option<RuleDraft> {
        self.is(30).then(|| rule(self.random.usize(..RULES)))
    }

    fn kind(&mut self) -> String {
        pick(&mut self.random, &REACTIONS).to_owned()
    }

    fn wish(&mut self) -> Wish {
        Wish { user: self.user(), kind: self.kind(), active: self.is(70), since: self.time(), sight: self.sight() }
    }

    fn list(&mut self) -> String {
        pick(&mut self.random, &LISTS).to_owned()
    }

    fn profile(&mut self) -> Profile {
        let [nickname, avatar] = [(); 2].map(|()| Some(self.text().to_owned()).filter(|text| !text.is_empty()));
        let extra = self.random.bool().then(|| pick(&mut self.random, &EXTRA).to_owned());
        Profile { nickname, avatar, extra }
    }

    fn settings(&mut self) -> UserSettings {
        let default_audience = if self.is(80) { Audience::Public } else { Audience::Followers };
        UserSettings { approve_followers: self.is(60), default_audience }
    }

    /// The next command.
    pub(crate) fn next(&mut self) -> Command {
        if let Some(step) = self.erasing.1.take_if(|_| self.random.bool()) {
            return step;
        }
        match self.random.u8(..106) {
            0..22 => PublishItems { drafts: vec![self.draft()], on_live_items: None }.into(),
            22..25 => {
                let (item, source) = self.path();
                TakeOff { item, source }.into()
            }
            25..28 => PublishItems { drafts: self.some(4, Self::draft), on_live_items: None }.into(),
            28..33 => {
                let fields = self.fields();
                let comment: CommentDraft = self.body(&fields);
                PublishItems { drafts: vec![comment.on(self.item())], on_live_items: Some(self.sight()) }.into()
            }
            33..38 => EditItem { item: self.item(), edit: self.edit() }.into(),
            38..44 => DeleteItem { item: self.item(), purge: self.is(30) }.into(),
            44..47 => RestoreItem { item: self.item() }.into(),
            47..62 => {
                let follow = self.some(2, |commands| (commands.user(), commands.time()));
                let (unfollow, rule) = (self.some(1, Self::user), self.rule());
                Relate { user: self.user(), follow, unfollow, rule, approved: self.is(20) }.into()
            }
            62..67 => {
                let barrier = pick(&mut self.random, &Barrier::ALL);
                SetBarrier { user: self.user(), target: self.user(), barrier, raised: self.random.bool() }.into()
            }
            67..83 => {
                let (item, wishes) = (self.item(), self.some(3, Self::wish));
                React { item, wishes, imported: self.is(10) }.into()
            }
            83..88 => {
                let at = self.time().unwrap_or(self.now);
                if self.is(30) {
                    let (actor, item) = (self.user(), self.random.bool().then(|| self.item()));
                    let id = NoticeId { kind: pick(&mut self.random, &NoticeKind::ALL), reaction: 0, actor, item };
                    let place = Position { at, id };
                    return MoveNoticeMarker { user: self.user(), place, sight: self.sight() }.into();
                }
                let (place, list) = (Position { at, id: self.item() }, self.is(30).then(|| self.list()));
                MoveMarker { user: self.user(), place, sight: self.sight(), list }.into()
            }
            88 | 89 if self.is(60) => {
                let title = self.random.bool().then(|| self.text().to_owned());
                let settings = ListSettings { title, exclusive: self.random.bool() };
                PutList { user: self.owner(), list: self.list(), settings }.into()
            }
            88 | 89 => DeleteList { user: self.owner(), list: self.list() }.into(),
            90 => {
                let (add, remove) = (self.some(3, Self::user), self.some(1, Self::user));
                ChangeMembers { user: self.owner(), list: self.list(), add, remove, rule: self.rule() }.into()
            }
            91 => PutProfiles { profiles: self.some(2, |commands| (commands.user(), commands.profile())) }.into(),
            92 if self.is(20) => EraseUser { user: self.user() }.into(),
            92 => SetSuspension { user: self.user(), suspended: self.is(30) }.into(),
            93 if self.is(20) => {
                let (receiver, node) = (self.list(), pick(&mut self.random, &["", "a", "b"]).to_owned());
                let position = format!("{:016x}-{}", 7, self.random.u32(..));
                KeepReceiver { receiver, node, position }.into()
            }
            93 if self.is(20) => NumberReactions { kinds: self.some(3, Self::kind) }.into(),
            93 => GiveNumbers { ids: self.some(2, Self::user) }.into(),
            100 => PutSettings { user: self.user(), settings: self.settings() }.into(),
            101..104 => AnswerRequest { user: self.user(), from: self.user(), approved: self.is(60) }.into(),
            104 | 105 => {
                let parts = Parts {
                    user: self.user(),
                    other: self.user(),
                    since: self.time(),
                    place: Position { at: self.time().unwrap_or(self.now), id: self.item() },
                    list: self.list(),
                    settings: self.settings(),
                    rule: self.rule(),
                };
                ImportLine { line: line(&mut self.random, parts) }.into()
            }
            94..97 => ImportItems {
                drafts: self.some(3, Self::draft),
                edited: self.some(2, |commands| commands.is(30).then_some(7)),
            }
            .into(),
            _ => {
                let follows = self.some(4, |commands| (commands.user(), commands.time()));
                ImportFollows {
                    user: self.user(),
                    follows,
                    rules: self.some(2, |commands| commands.rule().unwrap_or_default()),
                }
                .into()
            }
        }
    }
}

//! The reference model: a list of content, a set of follows, and the function that defines a timeline. Nothing here is
//! fast or clever.
#![allow(dead_code, reason = "each test binary uses a part")]

pub(crate) mod notices;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::LazyLock;

use model::{
    Audience, COMMENT, ContentId, Cursor, Entry, Id, Millis, NamedRule, NoticeCursor, Order, POST, Page, PageRequest,
    Position, REPOST, ReactionCounts, ReactionKind, Relation, Restriction, Side, UserCursor, UserId, UserSettings,
};
use serde_json::Value;

pub(crate) fn user(raw: u64) -> UserId {
    UserId::new(raw).expect("a user id")
}

pub(crate) fn item(raw: u64) -> ContentId {
    ContentId::new(raw).expect("a content id")
}

/// Optional fields of a publish that may stand beside any others, and some of their values: flags, and words of a choice.
pub(crate) static FREE_FIELDS: LazyLock<Vec<(String, Vec<Value>)>> = LazyLock::new(|| {
    let document: Value = serde_json::from_str(&http::description(".").expect("a document")).expect("JSON");
    let schemas = &document["components"]["schemas"];
    let values = |field: &Value| {
        // Each may be null, too.
        let named = field["oneOf"][0]["$ref"].as_str().and_then(|path| path.rsplit('/').next());
        match field["type"][0] == "boolean" {
            true => vec![true.into(), false.into(), false.into()],
            false => named.and_then(|name| schemas[name]["enum"].as_array()).cloned().unwrap_or_default(),
        }
    };
    let fields = schemas["NewContent"]["properties"].as_object().expect("fields");
    let with_values = fields.iter().map(|(name, field)| (name.clone(), values(field)));
    let mut free: Vec<_> = with_values.filter(|(_, values)| !values.is_empty()).collect();
    assert!(free.len() > 1, "the audience and a flag");
    free.iter_mut().for_each(|(_, values)| values.push(Value::Null));
    free
});

/// The fields of a publish, except id and time.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Body {
    pub(crate) author: UserId,
    pub(crate) text: Option<String>,
    /// As written.
    pub(crate) extra: Option<String>,
    pub(crate) broadcast: bool,
    pub(crate) to: Vec<UserId>,
    pub(crate) audience: Option<Audience>,
    pub(crate) topics: Vec<String>,
    pub(crate) kind: &'static str,
    pub(crate) ref_id: Option<ContentId>,
    pub(crate) mentions: Vec<UserId>,
}

impl Body {
    /// A broadcast post of an author, without anything in it.
    pub(crate) fn plain(author: UserId) -> Self {
        Self {
            author,
            text: None,
            extra: None,
            broadcast: true,
            to: vec![],
            audience: None,
            topics: vec![],
            kind: POST,
            ref_id: None,
            mentions: vec![],
        }
    }

    /// What a repeated publish must have, too: an audience only if it names one.
    fn meaning(&self) -> Self {
        let extra = self.extra.as_ref().map(|text| text.replace(' ', ""));
        let (to, topics, mentions) = (set(&self.to), set(&self.topics), set(&self.mentions));
        Self { audience: None, extra, to, topics, mentions, ..self.clone() }
    }

    /// The sources whose followers get it.
    pub(crate) fn paths(&self) -> impl Iterator<Item = UserId> {
        self.broadcast.then_some(self.author).into_iter().chain(self.to.iter().copied())
    }
}

/// One published item.
#[derive(Debug, Clone)]
pub(crate) struct Item {
    pub(crate) id: ContentId,
    pub(crate) at: Millis,
    /// As published.
    pub(crate) body: Body,
    /// That of the body, or else the default of the author at the time of the publish.
    pub(crate) audience: Audience,
    /// As edited since.
    pub(crate) shown: Body,
    pub(crate) edited: bool,
    pub(crate) deleted: bool,
    /// Whether it was deleted for good.
    pub(crate) purged: bool,
    /// Paths that it was taken off.
    pub(crate) off: BTreeSet<UserId>,
}

impl Item {
    pub(crate) fn new(id: ContentId, at: Millis, body: Body) -> Self {
        let (shown, audience) = (body.clone(), body.audience.unwrap_or_default());
        Self { id, at, body, audience, shown, edited: false, deleted: false, purged: false, off: BTreeSet::new() }
    }

    pub(crate) fn cursor(&self) -> Cursor {
        Cursor { at: self.at, id: self.id }
    }

    /// The sources whose followers get it now.
    pub(crate) fn paths(&self) -> impl Iterator<Item = UserId> {
        self.body.paths().filter(|source| !self.off.contains(source))
    }

    pub(crate) fn entry(&self) -> Entry {
        Entry::plain(self.cursor(), self.body.author)
    }

    /// Whether publishing `body` at `at` repeats the publish of this item.
    pub(crate) fn is_repeated_by(&self, body: &Body, at: Option<Millis>) -> bool {
        let same =
            self.body.meaning() == body.meaning() && body.audience.is_none_or(|audience| audience == self.audience);
        !self.deleted && same && at.is_none_or(|at| at == self.at)
    }
}

/// The elements, each once, in their order.
fn set<T: Ord + Clone>(list: &[T]) -> Vec<T> {
    list.iter().cloned().collect::<BTreeSet<_>>().into_iter().collect()
}

/// A list of a user.
#[derive(Debug, Default, Clone)]
pub(crate) struct List {
    pub(crate) exclusive: bool,
    /// Members to `since`.
    pub(crate) members: BTreeMap<UserId, Millis>,
    /// The rules of some of them.
    pub(crate) rules: BTreeMap<UserId, NamedRule>,
    pub(crate) marker: Option<Cursor>,
}

/// All acknowledged changes.
#[derive(Debug, Default, Clone)]
pub(crate) struct Model {
    pub(crate) items: Vec<Item>,
    /// User and target to `since`.
    pub(crate) follows: BTreeMap<(UserId, UserId), Millis>,
    /// The rules of some of them.
    pub(crate) rules: BTreeMap<(UserId, UserId), NamedRule>,
    pub(crate) markers: BTreeMap<UserId, Cursor>,
    /// User and muted user to `since`.
    pub(crate) mutes: BTreeMap<(UserId, UserId), Millis>,
    /// User and user hidden from to `since`.
    pub(crate) hides: BTreeMap<(UserId, UserId), Millis>,
    /// User and blocked user to `since`.
    pub(crate) blocks: BTreeMap<(UserId, UserId), Millis>,
    /// Suspended users to `since`.
    pub(crate) suspended: BTreeMap<UserId, Millis>,
    /// By user and name.
    pub(crate) lists: BTreeMap<(UserId, String), List>,
    /// User and the user whom it has asked to follow to `since`.
    pub(crate) requests: BTreeMap<(UserId, UserId), Millis>,
    /// User and target of follows that began with an approval of the target.
    pub(crate) approved: BTreeSet<(UserId, UserId)>,
    pub(crate) notice_markers: BTreeMap<UserId, NoticeCursor>,
    /// The settings of the users who have chosen any.
    pub(crate) settings: BTreeMap<UserId, UserSettings>,
    /// The path of a record to the fields that a read shows.
    pub(crate) records: BTreeMap<String, Value>,
    /// Item, kind and user to `since`; also of deleted items.
    pub(crate) reactions: BTreeMap<(ContentId, ReactionKind, UserId), Millis>,
}

impl Model {
    pub(crate) fn item(&self, id: ContentId) -> Option<&Item> {
        self.items.iter().find(|item| item.id == id)
    }

    /// Adds an item.
    pub(crate) fn publish(&mut self, id: ContentId, at: Millis, body: Body) {
        let audience = body.audience.unwrap_or_else(|| self.settings_of(body.author).default_audience);
        self.items.push(Item { audience, ..Item::new(id, at, body) });
    }

    pub(crate) fn settings_of(&self, user: UserId) -> UserSettings {
        self.settings.get(&user).copied().unwrap_or_default()
    }

    pub(crate) fn live(&mut self, id: ContentId) -> Option<&mut Item> {
        self.items.iter_mut().find(|item| item.id == id && !item.deleted)
    }

    /// Whether a user or an item has this id.
    pub(crate) fn mentions(&self, id: u64) -> bool {
        let pairs = [&self.follows, &self.mutes, &self.hides, &self.blocks, &self.requests];
        let pairs = pairs.into_iter().flat_map(BTreeMap::keys);
        let in_items = self.items.iter().flat_map(|Item { id, body, .. }| {
            let named = [Some(id.get()), Some(body.author.get()), body.ref_id.map(ContentId::get)];
            named.into_iter().chain(body.to.iter().chain(&body.mentions).map(|user| Some(user.get())))
        });
        in_items
            .flatten()
            .chain(pairs.flat_map(|(user, target)| [user.get(), target.get()]))
            .chain(self.markers.iter().flat_map(|(user, place)| [user.get(), place.id.get()]))
            .chain(self.notice_markers.iter().flat_map(|(user, NoticeCursor { id, .. })| {
                [user.get(), id.actor.get()].into_iter().chain(id.item.map(ContentId::get))
            }))
            .chain(self.reactions.keys().map(|(.., user)| user.get()))
            .chain(self.suspended.keys().map(|user| user.get()))
            .chain(self.lists.keys().map(|(user, _)| user.get()))
            .chain(self.lists.values().flat_map(|list| {
                list.members.keys().map(|user| user.get()).chain(list.marker.map(|place| place.id.get()))
            }))
            .chain(self.settings.keys().map(|user| user.get()))
            .any(|other| other == id)
    }

    pub(crate) fn follows(&self, user: UserId, target: UserId) -> bool {
        self.follows.contains_key(&(user, target))
    }

    /// Whether a reader is shown an item: the reader follows a path of it that counts, and the author is not silenced.
    pub(crate) fn shows(&self, reader: UserId, item: &Item, include_own: bool) -> bool {
        let counts = |source| {
            let follows = self.follows(reader, source) && !self.silences(reader, source);
            let counts = follows && !self.excludes(reader, source) && !self.rules_out(reader, source, item.body.kind);
            counts || (include_own && source == reader)
        };
        self.comes(reader, item, counts)
    }

    /// Whether a reader is shown an item if these of its paths count.
    fn comes(&self, reader: UserId, item: &Item, counts: impl Fn(UserId) -> bool) -> bool {
        let (body, is_suspended) = (&item.body, |user| self.suspended.contains_key(&user));
        item.paths().any(|source| counts(source) && !is_suspended(source))
            && !is_suspended(body.author)
            && (body.author == reader || !self.silences(reader, body.author))
    }

    /// Whether a restriction lies between a reader and a source.
    pub(crate) fn silences(&self, reader: UserId, source: UserId) -> bool {
        self.mutes.contains_key(&(reader, source))
            || self.hides.contains_key(&(source, reader))
            || self.blocked(reader, source)
    }

    /// Whether the rule of a user's follow does not admit a kind.
    pub(crate) fn rules_out(&self, user: UserId, source: UserId, kind: &str) -> bool {
        self.rules.get(&(user, source)).is_some_and(|rule| !admits(rule, kind))
    }

    /// Those of some entries whose items are of kinds that are asked for.
    pub(crate) fn of_kinds(&self, mut entries: Vec<Entry>, kinds: &NamedRule) -> Vec<Entry> {
        entries.retain(|entry| self.item(entry.cursor.id).is_some_and(|item| admits(kinds, item.body.kind)));
        entries
    }

    /// Whether a user has an author in an exclusive list.
    pub(crate) fn excludes(&self, user: UserId, author: UserId) -> bool {
        let mut of_user = self.lists.iter().filter(|((owner, _), _)| *owner == user);
        of_user.any(|(_, list)| list.exclusive && list.members.contains_key(&author))
    }

    pub(crate) fn list(&self, user: UserId, name: &str) -> Option<&List> {
        self.lists.get(&(user, name.to_owned()))
    }

    /// The timeline of a list, newest first; none for a list that does not exist.
    pub(crate) fn list_timeline(&self, user: UserId, name: &str) -> Vec<Entry> {
        let Some(list) = self.list(user, name) else { return Vec::new() };
        let counts = |source, kind| {
            let is_admitted = list.rules.get(&source).is_none_or(|rule| admits(rule, kind));
            list.members.contains_key(&source) && is_admitted && !self.silences(user, source)
        };
        let is_for = |item: &Item| item.body.author == user || self.is_for(user, item);
        self.entries(|item| {
            !item.deleted && self.comes(user, item, |source| counts(source, item.body.kind)) && is_for(item)
        })
    }

    /// Whether one of two users has blocked the other.
    pub(crate) fn blocked(&self, user: UserId, other: UserId) -> bool {
        [(user, other), (other, user)].iter().any(|pair| self.blocks.contains_key(pair))
    }

    /// Whether an item is public, or for a viewer who is not its author by one of its paths.
    fn is_for(&self, viewer: UserId, item: &Item) -> bool {
        let counts = |source: UserId| {
            (source == viewer || self.follows(viewer, source))
                && !self.suspended.contains_key(&source)
                && !self.hides.contains_key(&(source, viewer))
        };
        item.audience.is_public() || item.paths().any(counts)
    }

    /// What refuses a user who reacts to an item or comments on it; `None` if the user sees the item.
    pub(crate) fn refusal(&self, user: UserId, item: &Item) -> Option<&'static str> {
        let author = item.body.author;
        let is_open = !self.hides.contains_key(&(author, user)) && self.is_for(user, item);
        match self.is_shown(item) && (author == user || is_open) {
            false => Some("content_not_found"),
            true => (author != user && self.blocked(user, author)).then_some("blocked"),
        }
    }

    /// Whether a viewer sees an item; the application sees all that is shown.
    pub(crate) fn sees(&self, viewer: Option<UserId>, item: &Item) -> bool {
        viewer.map_or_else(|| self.is_shown(item), |viewer| self.refusal(viewer, item).is_none())
    }

    /// Whether an item is found by its id: for the application also while its author is suspended.
    pub(crate) fn finds(&self, viewer: Option<UserId>, item: &Item) -> bool {
        if viewer.is_none() { !item.deleted } else { self.sees(viewer, item) }
    }

    /// Whether a viewer sees anything of a user.
    pub(crate) fn sees_user(&self, viewer: Option<UserId>, user: UserId) -> bool {
        let is_apart = |viewer| self.hides.contains_key(&(user, viewer)) || self.blocked(viewer, user);
        !self.suspended.contains_key(&user) && !viewer.is_some_and(is_apart)
    }

    /// Whether a viewer sees the lists of users around a user: of one who approves followers only these do.
    pub(crate) fn sees_members(&self, viewer: Option<UserId>, user: UserId) -> bool {
        viewer.is_none_or(|viewer| {
            let is_open = !self.settings_of(user).approve_followers || self.follows(viewer, user);
            viewer == user || (is_open && self.sees_user(Some(viewer), user))
        })
    }

    /// The entries of the items that a viewer sees.
    pub(crate) fn seen_by(&self, viewer: Option<UserId>, mut entries: Vec<Entry>) -> Vec<Entry> {
        entries.retain(|entry| self.item(entry.cursor.id).is_some_and(|item| self.sees(viewer, item)));
        entries
    }

    /// The entries of the items that a viewer sees on a page of a user; none if the viewer sees nothing of the user.
    pub(crate) fn seen_of(&self, viewer: Option<UserId>, user: UserId, entries: Vec<Entry>) -> Vec<Entry> {
        if self.sees_user(viewer, user) { self.seen_by(viewer, entries) } else { Vec::new() }
    }

    /// Whether anybody is shown an item.
    pub(crate) fn is_shown(&self, item: &Item) -> bool {
        !item.deleted && !self.suspended.contains_key(&item.body.author)
    }

    pub(crate) fn restrictions(&mut self, restriction: Restriction) -> &mut BTreeMap<(UserId, UserId), Millis> {
        match restriction {
            Restriction::Mute => &mut self.mutes,
            Restriction::Hide => &mut self.hides,
            Restriction::Block => &mut self.blocks,
        }
    }

    /// How many users a user follows or has asked to follow.
    pub(crate) fn connected(&self, user: UserId) -> usize {
        self.follows.keys().chain(self.requests.keys()).filter(|(follower, _)| *follower == user).count()
    }

    /// Whether a user follows another, or has asked to.
    pub(crate) fn is_connected(&self, user: UserId, target: UserId) -> bool {
        self.follows(user, target) || self.requests.contains_key(&(user, target))
    }

    /// The timeline of a user, newest first.
    pub(crate) fn timeline(&self, user: UserId, include_own: bool) -> Vec<Entry> {
        self.entries(|item| !item.deleted && self.shows(user, item, include_own))
    }

    /// All live content of a user's followees, newest first, with the source.
    pub(crate) fn followed(&self, user: UserId) -> Vec<(UserId, Entry)> {
        let live = self.items.iter().filter(|item| !item.deleted);
        let of_paths = live.flat_map(|item| item.paths().map(|source| (source, item.entry())));
        of_paths.filter(|(source, _)| self.follows(user, *source)).collect()
    }

    /// Number of items in a user's timeline newer than the marker.
    pub(crate) fn unread(&self, user: UserId, include_own: bool) -> usize {
        let marker = self.markers.get(&user);
        self.timeline(user, include_own).iter().filter(|entry| marker.is_none_or(|read| entry.cursor > *read)).count()
    }

    /// The own page of a source, newest first.
    pub(crate) fn outbox(&self, source: UserId) -> Vec<Entry> {
        let is_suspended = self.suspended.contains_key(&source);
        self.entries(|item| self.is_shown(item) && !is_suspended && item.paths().any(|path| path == source))
    }

    /// The number of live items on the own page of a source, also of those that a suspension hides.
    pub(crate) fn published(&self, source: UserId) -> u64 {
        self.entries(|item| !item.deleted && item.paths().any(|path| path == source)).len() as u64
    }

    /// The newest items that name a topic, newest first. Those of suspended authors are left out of these.
    pub(crate) fn topic(&self, topic: &str, limit: usize) -> Vec<Entry> {
        let mut entries = self.entries(|item| !item.deleted && item.body.topics.iter().any(|name| name == topic));
        entries.truncate(limit);
        entries.retain(|entry| !self.suspended.contains_key(&entry.author));
        entries
    }

    /// The comments on an item, newest first.
    pub(crate) fn comments(&self, subject: ContentId) -> Vec<Entry> {
        self.shown_items(|body| body.kind == COMMENT && body.ref_id == Some(subject))
    }

    /// The comments by a user, newest first.
    pub(crate) fn user_comments(&self, author: UserId) -> Vec<Entry> {
        self.shown_items(|body| body.kind == COMMENT && body.author == author)
    }

    /// Number of comments on a live item, and of its reposts, also of those of suspended authors.
    pub(crate) fn counts(&self, subject: ContentId) -> (u64, u64) {
        let points = |item: &Item, kind| item.body.kind == kind && item.body.ref_id == Some(subject);
        let count = |kind| self.entries(|item| !item.deleted && points(item, kind)).len() as u64;
        (count(COMMENT), count(REPOST))
    }

    fn shown_items(&self, fits: impl Fn(&Body) -> bool) -> Vec<Entry> {
        self.entries(|item| self.is_shown(item) && fits(&item.body))
    }

    fn entries(&self, fits: impl Fn(&Item) -> bool) -> Vec<Entry> {
        let mut entries: Vec<_> = self.items.iter().filter(|item| fits(item)).map(Item::entry).collect();
        entries.sort_by_key(|entry| std::cmp::Reverse(entry.cursor));
        entries
    }

    /// Users who reacted to an item, newest first, without suspended ones.
    pub(crate) fn reactors(&self, id: ContentId, kind: ReactionKind) -> Vec<UserCursor> {
        let mine = self
            .reactions
            .iter()
            .filter(|((of, k, user), _)| (*of, *k) == (id, kind) && !self.suspended.contains_key(user));
        let mut reactors: Vec<_> = mine.map(|((.., user), since)| UserCursor { at: *since, id: *user }).collect();
        reactors.sort_by_key(|place| std::cmp::Reverse(*place));
        reactors
    }

    /// How many users have each reaction to an item.
    pub(crate) fn reaction_counts(&self, id: ContentId) -> ReactionCounts {
        let kinds: BTreeSet<_> = self.reactions.keys().filter(|(of, ..)| *of == id).map(|(_, kind, _)| *kind).collect();
        let count = |kind| self.reactions.keys().filter(|(of, k, _)| (*of, *k) == (id, kind)).count() as u64;
        kinds.into_iter().map(|kind| (kind, count(kind))).collect()
    }

    /// The items that a user reacted to and is shown, newest first.
    pub(crate) fn reacted_by(&self, user: UserId, kind: ReactionKind) -> Vec<Entry> {
        self.entries(|item| self.is_shown(item) && self.reactions.contains_key(&(item.id, kind, user)))
    }

    /// One side of the graph around a user, newest first.
    pub(crate) fn members(&self, user: UserId, side: Side) -> Vec<UserCursor> {
        let following = self.follows.iter().filter(|((u, _), _)| *u == user).map(|((_, t), since)| (*t, *since));
        let followers = self.follows.iter().filter(|((_, t), _)| *t == user).map(|((u, _), since)| (*u, *since));
        let friends = following.clone().filter_map(|(t, since)| Some((t, since.max(*self.follows.get(&(t, user))?))));
        let of_user = |pairs: &BTreeMap<(UserId, UserId), Millis>| {
            let of_user = pairs.iter().filter(|((u, _), _)| *u == user);
            of_user.map(|((_, t), since)| UserCursor { at: *since, id: *t }).collect::<Vec<_>>()
        };
        let mut members: Vec<_> = match side {
            Side::Following => following.map(|(t, since)| UserCursor { at: since, id: t }).collect(),
            Side::Followers => followers.map(|(u, since)| UserCursor { at: since, id: u }).collect(),
            Side::Friends => friends.map(|(t, since)| UserCursor { at: since, id: t }).collect(),
            Side::Restricted(Restriction::Mute) => of_user(&self.mutes),
            Side::Restricted(Restriction::Hide) => of_user(&self.hides),
            Side::Restricted(Restriction::Block) => of_user(&self.blocks),
            Side::SentRequests => of_user(&self.requests),
            Side::FollowRequests => {
                let received = self.requests.iter().filter(|((_, t), _)| *t == user);
                received.map(|((u, _), since)| UserCursor { at: *since, id: *u }).collect()
            }
        };
        members.sort_by_key(|place| std::cmp::Reverse(*place));
        members
    }

    pub(crate) fn relation(&self, user: UserId, target: UserId) -> Relation {
        Relation {
            user,
            target,
            following_since: self.follows.get(&(user, target)).copied(),
            followed_since: self.follows.get(&(target, user)).copied(),
            restrictions: [&self.mutes, &self.hides, &self.blocks].map(|pairs| pairs.get(&(user, target)).copied()),
            // Kinds have names here.
            rule: None,
            requested_since: self.requests.get(&(user, target)).copied(),
        }
    }
}

/// Whether a rule admits a kind.
pub(crate) fn admits(rule: &NamedRule, kind: &str) -> bool {
    let (is_only, names) = rule.names();
    names.contains(&kind) == is_only
}

/// The page of a complete list of content that a read may answer which stops after some entries: the page up to that place.
/// `page_of` makes the page of a list.
pub(crate) fn page_to_a_stop(
    list: &[Entry],
    request: &PageRequest<ContentId>,
    is: &Page<Entry, ContentId>,
    page_of: impl Fn(&[Entry]) -> Page<Entry, ContentId>,
) -> Page<Entry, ContentId> {
    let whole = page_of(list);
    if whole == *is {
        return whole;
    }
    let upwards = request.order() == Order::OldestFirst;
    // The place lies beyond where the walk began.
    let begins = if upwards { request.span.after } else { request.span.before };
    let stop = if upwards { is.prev } else { is.next };
    let Some(stop) = stop.filter(|stop| begins.is_none_or(|begins| (*stop > begins) == upwards && *stop != begins))
    else {
        return whole;
    };
    let is_within = |entry: &&Entry| if upwards { entry.cursor <= stop } else { entry.cursor >= stop };
    let within: Vec<_> = list.iter().filter(is_within).copied().collect();
    // A full page may stop beyond its last item, but not beyond a further one.
    if within.iter().filter(|entry| request.span.contains(entry.cursor)).count() > request.limit {
        return whole;
    }
    let page = page_of(&within);
    match upwards {
        // The look for older items may have stopped, too.
        true => {
            let lowest = page.items.last().map(|entry| entry.cursor).or(begins.map(Position::just_above));
            Page { prev: Some(stop), next: page.next.or(is.next.filter(|next| Some(*next) == lowest)), ..page }
        }
        false => Page { next: Some(stop), ..page },
    }
}

/// Times from here on have not come while a test runs.
pub(crate) const AHEAD: Millis = 1 << 50;

/// The page of a complete list of content. A page upwards ends below the items whose times have not come. If another page
/// begins with some of them, its `prev` is below these, or, without other items, where the server's times have come to:
/// `prev` if that is possible.
pub(crate) fn content_page(
    list: &[Entry],
    request: &PageRequest<ContentId>,
    prev: Option<Cursor>,
) -> Page<Entry, ContentId> {
    let come: Vec<Entry> = list.iter().filter(|entry| entry.cursor.at < AHEAD).copied().collect();
    let place = |entry: &Entry| entry.cursor;
    if request.order() == Order::OldestFirst {
        let page = page(&come, place, request);
        let end = request.span.after.map(Position::just_above).filter(|_| page.items.is_empty());
        let older = end.filter(|end| list.iter().any(|entry| entry.cursor < *end));
        return Page { next: page.next.or(older), ..page };
    }
    let mut page = page(list, place, request);
    if page.prev.is_some_and(|prev| prev.at >= AHEAD) {
        // It names a time only.
        let newest = come.first().map(|entry| Cursor { id: ContentId::MIN, ..entry.cursor }.just_below());
        let settled = page.items.iter().map(place).find(|place| place.at < AHEAD).or(request.span.after);
        page.prev = settled.or(prev.filter(|prev| prev.at < AHEAD && Some(*prev) >= newest));
    }
    page
}

/// The page of a complete list of users. A page upwards ends below the entries whose times have not come. If another page
/// begins with some of them, its `prev` is the newest other entry.
pub(crate) fn user_page(list: &[UserCursor], request: &PageRequest<UserId>) -> Page<UserCursor, UserId> {
    let come: Vec<_> = list.iter().filter(|place| place.at < AHEAD).copied().collect();
    let whole = page(list, |place| *place, request);
    if request.order() == Order::OldestFirst {
        let page = page(&come, |place| *place, request);
        let end = request.span.after.map(Position::just_above).filter(|_| page.items.is_empty());
        let older = end.filter(|end| list.iter().any(|place| place < end));
        return Page { next: page.next.or(older), ..page };
    }
    match whole.prev.filter(|prev| prev.at >= AHEAD) {
        Some(_) => Page { prev: come.first().copied().or(Some(UserCursor::OLDEST)), ..whole },
        None => whole,
    }
}

/// The page of a complete list, which is newest first.
pub(crate) fn page<T: Copy, I: Id>(
    list: &[T],
    place: impl Fn(&T) -> Position<I>,
    request: &PageRequest<I>,
) -> Page<T, I> {
    let (before, after) = (request.span.before, request.span.after);
    let older = |item: &&T| before.is_none_or(|before| place(item) < before);
    let newer = |item: &&T| after.is_none_or(|after| place(item) > after);
    let within: Vec<T> = list.iter().filter(older).filter(newer).copied().collect();
    let upwards = before.is_none() && after.is_some();
    let skipped = if upwards { within.len().saturating_sub(request.limit) } else { 0 };
    let items: Vec<T> = within.iter().skip(skipped).take(request.limit).copied().collect();
    let last = items.last().map(&place);
    // An empty page lies between its bound and the next place on its side.
    let end = last.or(after.filter(|_| upwards).map(Position::just_above));
    let older_exist = match end {
        Some(end) if upwards => list.iter().any(|item| place(item) < end),
        Some(end) => within.iter().any(|item| place(item) < end),
        None => false,
    };
    let prev = items.first().map(&place).or(after).or(before.map(Position::just_below));
    Page { items, next: end.filter(|_| older_exist), prev }
}

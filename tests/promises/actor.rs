//! The actions of the threads: post, relate, read, and maintain the store.

use std::cell::RefCell;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use fastrand::Rng;
use feed::worker::{Candidate, Candidates};
use feed::{
    ChangeMembers, DeleteItem, EditItem, Feed, PublishItems, PutList, PutSettings, Relate, RestoreItem, SetRestriction,
    SetSuspension, TakeOff, follows, items, lists, timeline, visibility,
};
use model::clock::now;
use model::error::{Code, Error};
use model::versions::Dependencies;
use model::{
    Audience, ContentEdit, ContentId, ContentPage, Cursor, ListSettings, MAX_ID, MAX_MILLIS, NamedRule, NewContent,
    PageRequest, REPOST, Restriction, Side, Span, UserId, UserSettings,
};

use super::change::expect_code;
use super::history::{Clock, History, Life, Read, Seen, Window};
use super::names::{AUTHORS, Ids, USERS, host, json, place};
use super::polls::Poll;
use super::seed::pick;
use super::upkeep::{archive, evict, trim};

/// Most items that a thread publishes in a round, and most live ones before it publishes another.
const MOST_NEW: usize = 250;
const MOST_LIVE: usize = 120;
/// Given times lie below this; others come from the server's clock.
const TIMES: u64 = 60;
/// How far times about that of the clock are from it, milliseconds.
const NEAR: [i64; 7] = [0, 0, -1, -5, 1, 5, 60_000];
/// Most reads of a thread in a round, about. More would leave the writers no time.
const MOST_READS: usize = 2000;
/// Most pages that a reader keeps.
const MOST_KEPT: usize = 4;
/// The name of the exclusive list of each user.
const APART: &str = "apart";
const LIMITS: [usize; 5] = [1, 2, 5, 20, 100];

/// The task of a thread.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Role {
    /// Publishes, edits and deletes items of its own.
    Poster,
    /// Changes the follows, mutes and hides of its share of the users.
    Grapher,
    Reader,
    /// Trims and compacts.
    Keeper,
}

/// The number of a thread, and of threads in its role.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Share {
    pub(crate) role: Role,
    pub(crate) number: u64,
    pub(crate) of: u64,
}

/// The state of a thread that is kept between rounds.
#[derive(Debug)]
pub(crate) struct Part {
    pub(crate) share: Share,
    pub(crate) random: Rng,
    pub(crate) history: History,
    /// Items published so far.
    pub(crate) made: u64,
    /// Lists that a reader polls.
    pub(crate) polls: Vec<Poll>,
}

/// State that all threads of a round share.
#[derive(Clone, Copy)]
pub(crate) struct Round<'a> {
    pub(crate) feed: &'a Feed,
    pub(crate) candidates: &'a Candidates,
    pub(crate) clock: &'a Clock,
    pub(crate) stop: &'a AtomicBool,
    pub(crate) inbox_limit: usize,
    pub(crate) ids: Ids,
    /// In the order of [`USERS`].
    pub(crate) users: &'a [UserId],
    /// Whether deletes can be undone.
    pub(crate) can_restore: bool,
    /// Whether changes go by the clock, not by the time of a log.
    pub(crate) by_clock: bool,
    /// Called at the beginning of each read.
    pub(crate) ready: &'a (dyn Fn() + Sync),
}

impl Part {
    pub(crate) fn new(share: Share, random: Rng) -> Self {
        Self { share, random, history: History::default(), made: 0, polls: Vec::new() }
    }

    /// Runs until told to stop.
    pub(crate) fn run(&mut self, round: Round<'_>) -> Result<(), String> {
        let rough = self.random.bool();
        let mut actor = Actor { round, part: self, rough, kept: Vec::new() };
        let first_new = actor.part.made;
        while !round.stop.load(Ordering::Relaxed) {
            match actor.part.share.role {
                Role::Poster => actor.post(first_new)?,
                Role::Grapher if actor.part.random.u64(..4) == 0 => actor.bar()?,
                Role::Grapher if actor.part.random.u64(..40) == 0 => actor.suspend()?,
                Role::Grapher if actor.part.random.u64(..8) == 0 => actor.keep_apart()?,
                Role::Grapher if actor.part.random.u64(..8) == 0 => actor.answer()?,
                Role::Grapher => actor.relate()?,
                Role::Reader => actor.read_something()?,
                Role::Keeper => actor.keep()?,
            }
        }
        Ok(())
    }

    /// Reads all timelines completely.
    pub(crate) fn scroll_all(&mut self, round: Round<'_>) -> Result<(), String> {
        round
            .users
            .iter()
            .try_for_each(|user| Actor { round, part: self, rough: false, kept: Vec::new() }.scroll(*user))
    }
}

/// A rule, and kinds to ask for.
pub(crate) fn without_reposts() -> NamedRule {
    NamedRule::Except(REPOST.parse().expect("kinds"))
}

/// Makes a change. One of a cluster is refused while the log takes none, and then has changed nothing.
fn again<T>(change: impl Fn() -> Result<T, Error>) -> Result<T, Error> {
    loop {
        match change() {
            Err(error) if error.code() == Some(Code::LogUnavailable) => thread::sleep(Duration::from_millis(5)),
            result => return result,
        }
    }
}

struct Actor<'a> {
    round: Round<'a>,
    part: &'a mut Part,
    /// Whether a keeper also shrinks inboxes itself, so that the worker has little to trim.
    rough: bool,
    /// Pages that are shown again as long as nothing in them has changed.
    kept: Vec<(UserId, PageRequest<ContentId>, ContentPage, Dependencies)>,
}

impl Actor<'_> {
    fn anybody(&mut self) -> UserId {
        pick(&mut self.part.random, self.round.users)
    }

    fn somewhere(&mut self) -> Cursor {
        if self.part.random.u64(..8) == 0 {
            return pick(&mut self.part.random, &[Cursor::OLDEST, Cursor::NEWEST, place(MAX_MILLIS, 1)]);
        }
        let id = 1 + self.part.random.u64(..1000);
        if self.part.random.u64(..8) == 0 {
            return place(now().saturating_add_signed(pick(&mut self.part.random, &NEAR)), id);
        }
        let is_name = self.round.ids != Ids::Numbers && self.part.random.bool();
        place(self.part.random.u64(..TIMES), if is_name { MAX_ID + 1 + id } else { id })
    }

    fn span(&mut self) -> Span<ContentId> {
        let bound = |actor: &mut Self| actor.part.random.bool().then(|| actor.somewhere());
        Span { before: bound(self), after: bound(self) }
    }

    /// One change, and half the time a read by some user right after it.
    fn post(&mut self, first_new: u64) -> Result<(), String> {
        let new = (self.part.made - first_new) as usize;
        let lives = &self.part.history.lives;
        let (live, gone): (Vec<_>, Vec<_>) = (0..lives.len()).partition(|n| lives[*n].lives());
        let room = new < MOST_NEW && live.len() < MOST_LIVE;
        let any = live.get(self.part.random.usize(..live.len().max(1))).copied();
        // The item deleted last is restored more often than others: its first fan-out may still run.
        let back = if self.part.random.bool() { gone.last() } else { gone.first() };
        match (self.part.random.u64(..10), any, back) {
            (0..5, ..) if room => self.publish()?,
            (5, Some(any), _) => self.edit(any)?,
            (9, Some(any), _) => self.take_off(any)?,
            (6, _, Some(back)) => self.restore(*back)?,
            (_, Some(any), _) => self.delete(any)?,
            (_, None, _) => thread::sleep(Duration::from_micros(200)),
        }
        if self.part.random.bool() {
            let reader = self.anybody();
            self.read_timeline(reader, Span::ALL)?;
        }
        Ok(())
    }

    /// A new item, whether its time may not have come yet, and the sources that it is published on.
    fn new_item(&mut self) -> (NewContent, bool, Vec<UserId>) {
        let id = 1 + self.part.share.number + self.part.share.of * self.part.made;
        self.part.made += 1;
        let ids = self.round.ids;
        let (id, by) = (json(&ids.host(id)), self.part.random.usize(..AUTHORS));
        let author = json(&ids.host(USERS[by]));
        let (time, ahead) = match self.part.random.u64(..6) {
            0 | 1 => (String::new(), false),
            // About that of the clock, as where several machines give times.
            2 => {
                let by = pick(&mut self.part.random, &NEAR);
                (format!(",\"published_at\":{}", now().saturating_add_signed(by)), by > 0 || !self.round.by_clock)
            }
            _ => (format!(",\"published_at\":{}", self.part.random.u64(..TIMES)), false),
        };
        let random = &mut self.part.random;
        let mut to: Vec<usize> = match random.u64(..3) {
            0 => (0..AUTHORS).filter(|n| *n != by && random.u64(..3) == 0).collect(),
            _ => Vec::new(),
        };
        let broadcast = to.is_empty() || random.u64(..3) > 0;
        let sources = to.iter().map(|n| json(&ids.host(USERS[*n]))).collect::<Vec<_>>().join(",");
        let kind = pick(random, &["post", "post", "repost"]);
        // Without one it is the default of the author.
        let audience = pick(random, &["", ",\"audience\":\"public\"", ",\"audience\":\"followers\""]);
        let new_item = format!(
            "{{\"content_id\":{id},\"author_id\":{author},\"text\":\"0\",\"to\":[{sources}],\"broadcast\":{broadcast},\
             \"kind\":\"{kind}\"{audience}{time}}}"
        );
        to.extend(broadcast.then_some(by));
        let on = to.into_iter().map(|n| self.round.users[n]).collect();
        (serde_json::from_str(&new_item).expect("a new_item"), ahead, on)
    }

    fn publish(&mut self) -> Result<(), String> {
        let count = pick(&mut self.part.random, &[1, 1, 1, 3]);
        let mut new_items = Vec::new();
        let mut details = Vec::new();
        for (new_item, ahead, on) in (0..count).map(|_| self.new_item()).collect::<Vec<_>>() {
            details.push((new_item.published_at.is_none(), ahead, on));
            new_items.push(new_item);
        }
        let (window, published) =
            self.round.clock.during(|| again(|| self.round.feed.submit(PublishItems::all(new_items.clone()))));
        let published = published.map_err(|e| format!("publish fails: {e}"))?;
        for ((content, new), (of_server, ahead, on)) in published.into_iter().zip(details) {
            ensure!(new, "{content:?} was there before");
            let life = Life::new(content.shown_as(), window);
            let (is_repost, for_followers) = (content.kind == REPOST, !content.audience.is_public());
            self.part.history.lives.push(Life { of_server, ahead, on, is_repost, for_followers, ..life });
        }
        Ok(())
    }

    fn edit(&mut self, which: usize) -> Result<(), String> {
        let life = &mut self.part.history.lives[which];
        let text = (life.version + life.edits.len() + 1).to_string();
        let edit = ContentEdit { text: Some(Some(text.clone())), ..ContentEdit::default() };
        let (feed, item) = (self.round.feed, host(self.round.feed, life.entry.cursor.id));
        let (window, edited) =
            self.round.clock.during(|| again(|| feed.submit(EditItem { item: item.clone(), edit: edit.clone() })));
        life.edits.push(window);
        let edited = edited.map_err(|e| format!("edit fails: {e}"))?;
        ensure_eq!(edited.text, Some(text), "text of {} as edited", edited.id);
        Ok(())
    }

    fn delete(&mut self, which: usize) -> Result<(), String> {
        let life = &mut self.part.history.lives[which];
        let (feed, item) = (self.round.feed, host(self.round.feed, life.entry.cursor.id));
        let (window, result) =
            self.round.clock.during(|| again(|| feed.submit(DeleteItem { item: item.clone(), purge: false })));
        life.turns.push((window, false));
        result.map_err(|e| format!("delete fails: {e}"))
    }

    /// Takes an item off one of its paths, if it has any left.
    fn take_off(&mut self, which: usize) -> Result<(), String> {
        let life = &mut self.part.history.lives[which];
        let paths: Vec<_> = life.paths().collect();
        if paths.is_empty() {
            return Ok(());
        }
        let (feed, source) = (self.round.feed, pick(&mut self.part.random, &paths));
        let (item, of) = (host(feed, life.entry.cursor.id), host(feed, source));
        let (window, result) =
            self.round.clock.during(|| again(|| feed.submit(TakeOff { item: item.clone(), source: of.clone() })));
        life.off.push((source, window));
        result.map_err(|e| format!("a path stays: {e}"))
    }

    /// Undoes a delete, or tries to where that is not possible.
    fn restore(&mut self, which: usize) -> Result<(), String> {
        let life = &mut self.part.history.lives[which];
        let (feed, item) = (self.round.feed, host(self.round.feed, life.entry.cursor.id));
        let (window, result) = self.round.clock.during(|| again(|| feed.submit(RestoreItem { item: item.clone() })));
        match result {
            Ok(_) if !self.round.can_restore => Err(format!("{:?} comes back", life.entry)),
            Ok(_) => {
                life.turns.push((window, true));
                Ok(())
            }
            Err(Error::Refused { code: Code::ContentNotFound, .. }) if !self.round.can_restore => Ok(()),
            Err(e) => Err(format!("restore fails: {e}")),
        }
    }

    /// The users whose follows and restrictions only this thread changes.
    fn mine(&self) -> Vec<UserId> {
        let Share { number, of, .. } = self.part.share;
        self.round.users.iter().copied().skip(number as usize).step_by(of as usize).collect()
    }

    /// Raises or lifts a restriction of one of this thread's users, and mostly reads an affected list right after it.
    fn bar(&mut self) -> Result<(), String> {
        let mine = self.mine();
        let restriction = pick(&mut self.part.random, &Restriction::ALL);
        let me = pick(&mut self.part.random, &mine);
        let target = match restriction {
            // It ends follows of both.
            Restriction::Block => pick(&mut self.part.random, &mine),
            _ => self.anybody(),
        };
        if me == target {
            return Ok(());
        }
        let raised = self.part.random.bool();
        let feed = self.round.feed;
        let (user, of) = (host(feed, me), host(feed, target));
        let (window, result) = self.round.clock.during(|| {
            again(|| feed.submit(SetRestriction { user: user.clone(), target: of.clone(), restriction, raised }))
        });
        result.map_err(|e| format!("a restriction cannot be set: {e}"))?;
        self.part.history.bar(me, target, restriction, window, raised);
        let reader = if restriction == Restriction::Hide || self.part.random.bool() { target } else { me };
        match self.part.random.u64(..8) {
            0..5 => self.read_timeline(reader, Span::ALL),
            5 => self.read_members(me, Side::Restricted(restriction)),
            _ => Ok(()),
        }
    }

    /// Puts an author into the exclusive list of one of this thread's users, or takes it out; then reads that list, or the
    /// home timeline.
    fn keep_apart(&mut self) -> Result<(), String> {
        let mine = self.mine();
        let (me, author) =
            (pick(&mut self.part.random, &mine), pick(&mut self.part.random, &self.round.users[..AUTHORS]));
        let (feed, apart) = (self.round.feed, self.part.random.bool());
        let user = host(feed, me);
        // Empty at first, so it does not matter when it is made.
        let settings = ListSettings { title: None, exclusive: true };
        again(|| feed.submit(PutList { user: user.clone(), list: APART.to_owned(), settings: settings.clone() }))
            .map_err(|e| e.to_string())?;
        let change = || {
            let member = vec![host(feed, author)];
            let (add, remove) = if apart { (member, Vec::new()) } else { (Vec::new(), member) };
            feed.submit(ChangeMembers { user: user.clone(), list: APART.to_owned(), add, remove, rule: None })
        };
        let (window, result) = self.round.clock.during(|| again(change));
        result.map_err(|e| format!("a member cannot be changed: {e}"))?;
        self.part.history.apart.entry((me, author)).or_default().push((window, apart));
        if self.part.random.bool() {
            return self.read_timeline(me, Span::ALL);
        }
        let list = lists::named(feed.read(), me, APART).map_err(|e| format!("a list is missing: {e}"))?.id;
        let request = PageRequest { span: self.span(), limit: pick(&mut self.part.random, &LIMITS) };
        let (window, page) = self.read(|| timeline::list_page(feed.read(), me, list, &request));
        let page = page.map_err(|e| format!("a read of a list fails: {e}"))?;
        self.note(me, window, Seen::Apart(request, page));
        Ok(())
    }

    /// Suspends an author, or mostly takes that back, if the author is one of this thread's users; then reads. Only the
    /// last author, so that polls find the items of the others.
    fn suspend(&mut self) -> Result<(), String> {
        let author = self.round.users[AUTHORS - 1];
        if !self.mine().contains(&author) {
            return Ok(());
        }
        let (feed, suspended) = (self.round.feed, self.part.random.u64(..3) == 0);
        let set = || again(|| feed.submit(SetSuspension { user: host(feed, author), suspended }));
        let (window, result) = self.round.clock.during(set);
        result.map_err(|e| format!("a suspension fails: {e}"))?;
        self.part.history.suspensions.entry((author, author)).or_default().push((window, suspended));
        let reader = self.anybody();
        self.read_timeline(reader, Span::ALL)
    }

    /// Lets an author approve followers or not, or answers the request of one of this thread's users to follow the author,
    /// if the author is one of them, too; then reads.
    fn answer(&mut self) -> Result<(), String> {
        let (author, mine) = (self.round.users[AUTHORS - 2], self.mine());
        let me = pick(&mut self.part.random, &mine);
        if !mine.contains(&author) || me == author {
            return Ok(());
        }
        let (feed, choice) = (self.round.feed, self.part.random.bool());
        let (of, from) = (host(feed, author), host(feed, me));
        if self.part.random.u64(..4) == 0 {
            let default_audience = if self.part.random.bool() { Audience::Public } else { Audience::Followers };
            let settings = UserSettings { approve_followers: choice, default_audience };
            return again(|| feed.submit(PutSettings { user: of.clone(), settings }))
                .map(drop)
                .map_err(|e| format!("settings: {e}"));
        }
        let (window, result) = self.round.clock.during(|| again(|| follows::answer_request(feed, &of, &from, choice)));
        match result {
            Err(error) if error.code() == Some(Code::RequestNotFound) => return Ok(()),
            Err(error) => return Err(format!("an answer fails: {error}")),
            Ok(relation) => {
                self.part.history.relate(me, author, window, relation.followed_since.is_some());
            }
        }
        self.read_timeline(me, Span::ALL)
    }

    /// Follows and unfollows for one of this thread's users, and half the time reads right after it.
    fn relate(&mut self) -> Result<(), String> {
        let mine = self.mine();
        let random = &mut self.part.random;
        let me = pick(random, &mine);
        let targets: Vec<_> = self.round.users[..AUTHORS].iter().copied().filter(|target| *target != me).collect();
        let wanted: Vec<_> = match random.u64(..3) {
            0 => targets.into_iter().map(|target| (target, random.u64(..3))).filter(|(_, n)| *n < 2).collect(),
            _ => vec![(pick(random, &targets), random.u64(..2))],
        };
        let part = |wanted_as| wanted.iter().filter(move |(_, n)| *n == wanted_as).map(|(target, _)| *target);
        let (follow, unfollow): (Vec<_>, Vec<_>) = (part(1).map(|t| (t, None)).collect(), part(0).collect());
        let feed = self.round.feed;
        // A follow of one may have a rule.
        let rule = match (&follow[..], &unfollow[..]) {
            ([_], []) if self.part.random.bool() => {
                Some(if self.part.random.bool() { NamedRule::All } else { without_reposts() })
            }
            _ => None,
        };
        let relate = || {
            if let (Some(rule), [(target, since)]) = (&rule, &follow[..]) {
                let followed = follows::follow(feed, host(feed, me), host(feed, *target), *since, rule.clone(), false);
                return followed.map(|relation| vec![relation]);
            }
            let to_follow = follow.iter().map(|(target, since)| (host(feed, *target), *since)).collect();
            let to_unfollow = unfollow.iter().map(|target| host(feed, *target)).collect();
            feed.submit(Relate::of(host(feed, me), to_follow, to_unfollow))
        };
        let (window, result) = self.round.clock.during(|| again(relate));
        if follow.iter().any(|(target, _)| self.part.history.blocked_now(me, *target)) {
            return match result {
                Err(error) => expect_code(&error, "blocked"),
                Ok(relations) => Err(format!("a follow in spite of a block: {relations:?}")),
            };
        }
        let relations = result.map_err(|e| format!("relate fails: {e}"))?;
        for ((target, _), relation) in follow.iter().zip(&relations) {
            // Otherwise it is a request, which shows nothing, and has the rule of an earlier one.
            let changes = self.part.history.pairs.entry((me, *target)).or_default();
            changes.push((window, relation.following_since.is_some()));
            if let Some(rule) = &rule {
                self.part.history.rule(me, *target, window, *rule != NamedRule::All);
            }
        }
        unfollow.iter().for_each(|target| self.part.history.relate(me, *target, window, false));
        match self.part.random.u64(..8) {
            0..4 => self.read_timeline(me, Span::ALL),
            4 => self.read_members(me, Side::Following),
            // Lets some pairs settle between two changes.
            5 => {
                thread::sleep(Duration::from_micros(self.part.random.u64(..600)));
                Ok(())
            }
            _ => Ok(()),
        }
    }

    fn read_something(&mut self) -> Result<(), String> {
        if self.part.history.reads.len() >= MOST_READS {
            thread::sleep(Duration::from_millis(1));
            return Ok(());
        }
        let reader = self.anybody();
        if self.part.random.bool() && !self.part.polls.is_empty() {
            return self.poll();
        }
        match self.part.random.u64(..12) {
            0 => self.scroll(reader),
            1..4 => self.read_timeline(reader, Span::ALL),
            4 => self.read_outbox(reader),
            5 => self.read_members(reader, Side::Following),
            6 => self.read_members(reader, Side::Followers),
            _ => {
                let span = self.span();
                self.read_timeline(reader, span)
            }
        }
    }

    /// Reads, and returns the window of the read.
    fn read<T>(&self, read: impl FnOnce() -> T) -> (Window, T) {
        self.round.clock.during(|| {
            (self.round.ready)();
            read()
        })
    }

    fn note(&mut self, user: UserId, window: Window, seen: Seen) {
        self.part.history.reads.push(Read { user, window, seen });
    }

    fn read_timeline(&mut self, reader: UserId, span: Span<ContentId>) -> Result<(), String> {
        let request = PageRequest { span, limit: pick(&mut self.part.random, &LIMITS) };
        let feed = self.round.feed;
        if self.part.random.u64(..8) == 0 {
            let read = || timeline::page(feed.read().of_kinds(&without_reposts())?, reader, &request);
            let (window, page) = self.read(read);
            let page = page.map_err(|e| format!("a read of some kinds fails: {e}"))?;
            self.note(reader, window, Seen::Posts(request, page));
            return Ok(());
        }
        for (reader, request, page, dependencies) in std::mem::take(&mut self.kept) {
            let (window, is_unchanged) = self.read(|| feed.is_unchanged(&dependencies));
            if is_unchanged {
                self.note(reader, window, Seen::Timeline(request, page.clone()));
                self.kept.push((reader, request, page, dependencies));
            }
        }
        let noted = RefCell::default();
        let (window, page) = self.read(|| timeline::page(feed.read().noting(Some(&noted)), reader, &request));
        let page = page.map_err(|e| format!("a read fails: {e}"))?;
        self.note(reader, window, Seen::Timeline(request, page.clone()));
        let dependencies = noted.take();
        if dependencies.are_settled() {
            self.kept.truncate(MOST_KEPT - 1);
            self.kept.insert(0, (reader, request, page.clone(), dependencies));
        }
        if self.part.random.u64(..6) == 0 && !page.items.is_empty() {
            let asked: Vec<_> = page.items.iter().map(|entry| entry.cursor.id).collect();
            let viewer = self.anybody();
            let (window, seen) = self.read(|| {
                let read = feed.read().seen_by(Some(&host(feed, viewer)))?;
                Ok::<_, Error>(visibility::contents(read, &asked)?.iter().map(|content| content.id).collect())
            });
            let seen = seen.map_err(|e: Error| format!("a read by a viewer fails: {e}"))?;
            self.note(viewer, window, Seen::Sight(asked, seen));
        }
        if self.part.random.u64(..6) == 0 && !page.items.is_empty() {
            let asked = page.items.iter().map(|entry| entry.cursor.id).collect();
            let (window, full) = self.read(|| visibility::hydrate(feed.read(), page, None));
            let full = full.map_err(|e| format!("a read in full fails: {e}"))?;
            let text = |text: &Option<String>| {
                text.as_ref().and_then(|text| text.parse().ok()).ok_or("an item without its text")
            };
            let texts = full.items.iter().map(|shown| Ok((shown.content.id, text(&shown.content.text)?)));
            let texts = texts.collect::<Result<_, &str>>()?;
            self.note(reader, window, Seen::Texts(asked, texts));
        }
        Ok(())
    }

    fn poll(&mut self) -> Result<(), String> {
        (self.round.ready)();
        let (feed, Part { polls, random, .. }) = (self.round.feed, &mut *self.part);
        let which = random.usize(..polls.len());
        polls[which].go_on(feed, random)
    }

    fn read_outbox(&mut self, author: UserId) -> Result<(), String> {
        let request = PageRequest { span: self.span(), limit: pick(&mut self.part.random, &LIMITS) };
        let (window, page) = self.read(|| items::own_page(self.round.feed.read(), author, &request));
        let page = page.map_err(|e| format!("a read of an own page fails: {e}"))?;
        self.note(author, window, Seen::Outbox(request, page));
        Ok(())
    }

    fn read_members(&mut self, of: UserId, side: Side) -> Result<(), String> {
        let request = PageRequest { span: Span::ALL, limit: 100 };
        let (window, page) = self.read(|| follows::members(self.round.feed.read(), of, side, &request));
        let page = page.map_err(|e| format!("a list of users fails: {e}"))?;
        self.note(of, window, Seen::Members(side, page.items.iter().map(|member| member.id).collect()));
        Ok(())
    }

    /// Reads all pages by `next`. Items present throughout come exactly once.
    fn scroll(&mut self, reader: UserId) -> Result<(), String> {
        let limit = pick(&mut self.part.random, &LIMITS[1..]);
        let (began, mut entries, mut span) = (self.round.clock.tick(), Vec::new(), Span::ALL);
        (self.round.ready)();
        loop {
            let page = timeline::page(self.round.feed.read(), reader, &PageRequest { span, limit });
            let page = page.map_err(|e| format!("a read fails: {e}"))?;
            entries.extend(page.items);
            span.before = page.next;
            if span.before.is_none() {
                break;
            }
        }
        let window = Window { began, ended: self.round.clock.tick() };
        self.note(reader, window, Seen::Scroll(entries));
        Ok(())
    }

    /// Requests trims, as compactions do; drops inboxes and compacts now and then.
    fn keep(&mut self) -> Result<(), String> {
        let reader = self.anybody();
        match self.part.random.u64(..60) {
            0 => self.round.feed.store().compact().map_err(|e| format!("compaction fails: {e}"))?,
            1..40 if !self.rough => {
                self.round.feed.store().write_arrivals().map_err(|e| format!("a write fails: {e}"))?
            }
            1..8 => trim(self.round.feed.store(), reader, self.round.inbox_limit, 0)?,
            8..11 => evict(self.round.feed.store(), reader, place(self.part.random.u64(..TIMES), u64::MAX))?,
            11..16 => {
                let _still = self.round.feed.streaming().hold_changes();
                archive(self.round.feed.store(), reader, place(self.part.random.u64(..TIMES), u64::MAX), 50)?;
            }
            16..30 => self.round.candidates.name(Candidate::Outbox(reader)),
            _ => self.round.feed.store().write_arrivals().map_err(|e| format!("a write fails: {e}"))?,
        }
        thread::sleep(Duration::from_micros(self.part.random.u64(..if self.rough { 3000 } else { 600 })));
        Ok(())
    }
}

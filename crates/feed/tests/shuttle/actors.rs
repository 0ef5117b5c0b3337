//! Calls of the feed, recorded as they are made.

use model::{
    Barrier, ContentId, Cursor, Draft, Entry, HostId, ListSettings, MAX_MILLIS, POST, PageRequest, REPOST, RuleDraft,
    Span, UserId,
};

use crate::promises::history::{Clock, History, Life, Read, Seen, Window};
use crate::promises::names::{item, user};
use crate::world::{Act, World, Wrong};
use model::clock;
use model::store::Change;

/// One thread of a scenario.
pub(crate) struct Actor<'a> {
    pub(crate) world: &'a World,
    history: History,
    /// The cursor for the next poll, and the comments found by polling.
    polled: Option<(Option<Cursor>, Vec<ContentId>)>,
}

impl<'a> Actor<'a> {
    pub(crate) fn act(world: &'a World, act: Act) -> History {
        let mut actor = Self { world, history: History::default(), polled: None };
        act(&mut actor);
        world.polled.lock().expect("no panic").extend(actor.polled);
        actor.history
    }

    fn clock(&self) -> &'a Clock {
        &self.world.ticks
    }

    /// Publishes one item with this id and time.
    pub(crate) fn publish(&mut self, author: u64, id: u64, at: u64) {
        self.publish_on(author, &[], id, at);
    }

    /// Publishes one item with this id and time, also on further sources.
    pub(crate) fn publish_on(&mut self, author: u64, to: &[u64], id: u64, at: u64) {
        self.publish_as(POST, author, to, id, at);
    }

    /// Publishes one repost with this id and time.
    pub(crate) fn repost(&mut self, author: u64, id: u64, at: u64) {
        self.publish_as(REPOST, author, &[], id, at);
    }

    fn publish_as(&mut self, kind: &str, author: u64, to: &[u64], id: u64, at: u64) {
        let text = format!(
            "{{\"content_id\":{id},\"author_id\":{author},\"to\":{to:?},\"published_at\":{at},\"kind\":\"{kind}\"}}"
        );
        let draft: Draft = serde_json::from_str(&text).expect("a draft");
        let (window, published) = self.clock().during(|| self.world.feed.publish(vec![draft]));
        for (content, _) in published.expect("a publish") {
            let on = content.paths().collect();
            self.history.lives.push(Life { on, is_repost: kind == REPOST, ..Life::new(content.shown_as(), window) });
        }
    }

    /// Takes an item off a path. The same thread must have published it.
    pub(crate) fn take_off(&mut self, id: u64, source: u64) {
        let feed = &self.world.feed;
        let (window, result) = self.clock().during(|| feed.take_off(HostId::Number(id), HostId::Number(source)));
        result.expect("a path");
        let life = self.history.lives.iter_mut().find(|life| life.entry.cursor.id == item(id)).expect("published here");
        life.off.push((user(source), window));
    }

    /// Puts a source into an exclusive list of a user, or takes it out.
    pub(crate) fn keep_apart(&mut self, me: u64, source: u64, apart: bool) {
        let (feed, name) = (&self.world.feed, "apart".to_owned());
        let settings = ListSettings { title: None, exclusive: true };
        feed.put_list(HostId::Number(me), name.clone(), settings).expect("a list");
        let member = vec![HostId::Number(source)];
        let (add, remove) = if apart { (member, Vec::new()) } else { (Vec::new(), member) };
        let (window, result) = self.clock().during(|| feed.change_members(HostId::Number(me), name, add, remove));
        result.expect("a change");
        self.history.apart.entry((user(me), user(source))).or_default().push((window, apart));
    }

    /// Suspends an author, or takes that back.
    pub(crate) fn suspend(&mut self, author: u64, suspended: bool) {
        let feed = &self.world.feed;
        let (window, result) = self.clock().during(|| feed.set_suspension(HostId::Number(author), suspended));
        result.expect("a change");
        self.history.suspensions.entry((user(author), user(author))).or_default().push((window, suspended));
    }

    /// Makes a comment, to which the server gives id and time.
    pub(crate) fn comment(&mut self, author: u64) {
        let text = format!("{{\"author_id\":{author},\"kind\":\"comment\",\"broadcast\":false}}");
        let draft: Draft = serde_json::from_str(&text).expect("a draft");
        let published = self.world.feed.publish(vec![draft]).expect("a publish");
        self.world.made.lock().expect("no panic").extend(published.iter().map(|(content, _)| content.id));
    }

    /// Makes a comment with a time that is so far from that of the clock.
    pub(crate) fn comment_at(&mut self, author: u64, by: i64) {
        let at = clock::now().saturating_add_signed(by);
        let text = format!("{{\"author_id\":{author},\"kind\":\"comment\",\"broadcast\":false,\"published_at\":{at}}}");
        let draft: Draft = serde_json::from_str(&text).expect("a draft");
        self.world.feed.publish(vec![draft]).expect("a publish");
    }

    /// Asks for comments of a user that are newer than all found before.
    pub(crate) fn poll(&mut self, author: u64) {
        let (after, found) = self.polled.get_or_insert_default();
        poll(self.world, author, after, found);
    }

    /// Deletes and restores an item. The same thread must have published it.
    pub(crate) fn delete_and_restore(&mut self, id: u64) {
        let feed = &self.world.feed;
        let (deleted, result) = self.clock().during(|| feed.delete(HostId::Number(id)));
        result.expect("a deletion");
        let (restored, result) = self.clock().during(|| feed.restore(HostId::Number(id)));
        result.expect("an item");
        let life = self.history.lives.iter_mut().find(|life| life.entry.cursor.id == item(id)).expect("published here");
        life.turns.extend([(deleted, false), (restored, true)]);
    }

    /// Follows and unfollows in one change.
    pub(crate) fn relate(&mut self, me: u64, follow: &[u64], unfollow: &[u64]) {
        let follows: Vec<_> = follow.iter().map(|target| (user(*target), Some(5))).collect();
        let unfollows: Vec<_> = unfollow.iter().map(|target| user(*target)).collect();
        let me = user(me);
        let (window, _) = self.clock().during(|| match self.world.wrong {
            Wrong::UnsettleAfterWrite => self.relate_wrongly(me, &follows, &unfollows),
            _ => self.relate_rightly(me, &follows, &unfollows),
        });
        follow.iter().for_each(|target| self.history.relate(me, user(*target), window, true));
        unfollow.iter().for_each(|target| self.history.relate(me, user(*target), window, false));
    }

    /// Follows an author, with or without reposts, or changes that.
    pub(crate) fn follow(&mut self, me: u64, target: u64, with_reposts: bool) {
        let (feed, reposts) = (&self.world.feed, || RuleDraft::Except(REPOST.parse().expect("a kind")));
        let rule = if with_reposts { RuleDraft::All } else { reposts() };
        let follow = || feed.follow(HostId::Number(me), HostId::Number(target), Some(5), rule, true);
        let (window, followed) = self.clock().during(follow);
        followed.expect("a follow");
        self.history.relate(user(me), user(target), window, true);
        self.history.rule(user(me), user(target), window, !with_reposts);
    }

    fn relate_rightly(&self, me: UserId, follow: &[(UserId, Option<u64>)], unfollow: &[UserId]) {
        let host = |user: UserId| HostId::Number(user.get());
        let follow = follow.iter().map(|(target, since)| (host(*target), *since)).collect();
        let unfollow = unfollow.iter().map(|target| host(*target)).collect();
        self.world.feed.relate(host(me), follow, unfollow).expect("a change");
    }

    /// The pairs become unsettled only after the change is written.
    fn relate_wrongly(&self, me: UserId, follow: &[(UserId, Option<u64>)], unfollow: &[UserId]) {
        let world = self.world;
        let follows = follow.iter().map(|(target, since)| Change::new(*target, *since));
        let unfollows = unfollow.iter().map(|target| Change::new(*target, None));
        let changes: Vec<_> = follows.chain(unfollows).collect();
        let mut room = world.backlog.reserve(changes.len()).expect("room");
        let related = world.store.relate(me, &changes, usize::MAX).expect("a change");
        // Changes nothing more, but drops the user's cached follows.
        self.relate_rightly(me, follow, unfollow);
        for (change, related) in changes.iter().zip(related) {
            if let Some(job) = related.job {
                world.backlog.unsettle(me, change.target).commit(&mut room, job);
            }
        }
    }

    /// Blocks a user, or takes that back.
    pub(crate) fn block(&mut self, me: u64, target: u64, raised: bool) {
        let (me, target, feed) = (user(me), user(target), &self.world.feed);
        let host = |user: UserId| HostId::Number(user.get());
        let (window, relation) =
            self.clock().during(|| feed.set_barrier(host(me), host(target), Barrier::Block, raised));
        relation.expect("a block");
        self.history.bar(me, target, Barrier::Block, window, raised);
    }

    /// Drops the inbox, as if the user had been away for long.
    pub(crate) fn evict(&mut self, whose: u64, floor: Cursor) {
        self.world.store.evict(user(whose), MAX_MILLIS, Some(floor)).expect("an eviction");
    }

    /// The newest items.
    pub(crate) fn read(&mut self, reader: u64, limit: usize) {
        let request = PageRequest { span: Span::ALL, limit };
        let (window, page) = self.clock().during(|| self.world.feed.read().timeline(user(reader), &request));
        let seen = Seen::Timeline(request, page.expect("a page"));
        self.history.reads.push(Read { user: user(reader), window, seen });
    }

    /// From the top to the end by `next`.
    pub(crate) fn scroll(&mut self, reader: u64, limit: usize) -> Vec<Entry> {
        let (began, mut entries, mut span) = (self.clock().tick(), Vec::new(), Span::ALL);
        loop {
            let page = self.world.feed.read().timeline(user(reader), &PageRequest { span, limit }).expect("a page");
            entries.extend(page.items);
            span.before = page.next;
            if span.before.is_none() {
                break;
            }
        }
        let window = Window { began, ended: self.clock().tick() };
        self.history.reads.push(Read { user: user(reader), window, seen: Seen::Scroll(entries.clone()) });
        entries
    }

    pub(crate) fn scroll_all(&mut self) {
        for reader in World::readers() {
            self.scroll(reader.get(), 100);
        }
    }
}

/// Reads a page of comments newer than `after`, and moves `after` to its `prev`.
pub(crate) fn poll(world: &World, author: u64, after: &mut Option<Cursor>, found: &mut Vec<ContentId>) {
    let span = Span { before: None, after: Some(after.unwrap_or(Cursor::OLDEST)) };
    let page = world.feed.read().user_comments(user(author), &PageRequest { span, limit: 100 }).expect("a page");
    found.extend(page.items.iter().map(|entry| entry.cursor.id));
    *after = page.prev;
}

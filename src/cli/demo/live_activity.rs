//! The life of a community while it is served: users post, comment, like, repost and follow.

use std::sync::Weak;
use std::thread;

use fastrand::Rng;

use super::Community;
use super::people::{self, CLOCK, READER, SWIMMERS, cast};
use super::writer::{Answer, Post, Writer};
use crate::prelude::*;
use feed::{PublishItems, ReactionRequest, Relate, Visibility, follows, reactions};
use model::{Relation, Restriction};

/// Something happens this often.
const BEAT: Duration = Duration::from_millis(500);
/// So many beats are a round, in which the clock posts once, and one neighbour of the reader.
const ROUND: u64 = 10;
/// Neighbours are looked for among so many users.
const LOOKED_AT: usize = 5000;
/// One neighbour in so many reposts something instead of posting.
const NEIGHBOURS_PER_REPOST: u8 = 8;

/// Starts the life; it ends with the server.
pub(super) fn start(feed: &Arc<Feed>, community: Community) -> Result<()> {
    let feed = Arc::downgrade(feed);
    let life = Life { feed, writer: Writer::new(community, Rng::new()), neighbours: Vec::new() };
    threads::start("demo", move || life.go_on()).map(drop)
}

struct Life {
    /// Weak, so that the server can stop.
    feed: Weak<Feed>,
    writer: Writer,
    /// The authors in the timeline of the reader whose turn is still to come.
    neighbours: Vec<usize>,
}

impl Life {
    fn go_on(mut self) {
        for beat in 0_u64.. {
            thread::sleep(BEAT);
            let Some(feed) = self.feed.upgrade() else { return };
            let done = match beat % ROUND {
                0 => self.publish(&feed, CLOCK.min(self.writer.community.users as usize - 1), None),
                5 => self.let_a_neighbour_publish(&feed),
                _ => self.let_somebody_act(&feed),
            };
            if let Err(error) = done {
                tracing::warn!(%error, "nothing happened in the demo this time; the next attempt follows");
            }
        }
    }

    /// Each neighbour has its turn before one has another.
    fn let_a_neighbour_publish(&mut self, feed: &Feed) -> Result<()> {
        if self.neighbours.is_empty() {
            self.neighbours = self.find_neighbours(feed)?;
            self.writer.random.shuffle(&mut self.neighbours);
        }
        let Some(user) = self.neighbours.pop() else { return Ok(()) };
        let shared = self.writer.answerable(user, now());
        let shared = shared.filter(|_| self.writer.random.u8(..NEIGHBOURS_PER_REPOST) == 0);
        self.publish(feed, user, shared.map(|to| Answer { to, is_repost: true }))
    }

    /// The users that the reader follows and has not muted, without the clock, which has turns of its own.
    fn find_neighbours(&self, feed: &Feed) -> Result<Vec<usize>> {
        let users: Vec<usize> = (0..LOOKED_AT.min(self.writer.community.users as usize)).collect();
        let ids: Vec<ExternalId> = users.iter().map(|user| self.writer.community.user(*user)).collect();
        let ids: Vec<UserId> = feed.read().find_all(&ids)?;
        let relations = follows::relations(feed.read(), ids[READER], &ids)?;
        let is_seen = |relation: &Relation| {
            relation.following_since.is_some() && relation.restricted_since(Restriction::Mute).is_none()
        };
        let found = users.into_iter().zip(&relations).filter(|(user, relation)| *user != CLOCK && is_seen(relation));
        Ok(found.map(|(user, _)| user).collect())
    }

    /// Anybody but the reader, who is the visitor.
    fn let_somebody_act(&mut self, feed: &Feed) -> Result<()> {
        let users = self.writer.community.users as usize;
        if users == 1 {
            return Ok(());
        }
        let user = self.writer.random.usize(READER + 1..users);
        let deed = self.writer.random.u8(..100);
        match self.writer.answerable(user, now()) {
            _ if user == CLOCK => Ok(()),
            _ if deed < 4 || people::only_posts(user) => self.publish(feed, user, None),
            _ if deed < 10 => {
                let target = self.writer.random.usize(..cast().min(users));
                self.follow(feed, user, target)
            }
            Some(to) if deed < 40 => self.publish(feed, user, Some(Answer { to, is_repost: deed >= 35 })),
            Some(post) => {
                let mut kinds = feed.reaction_kinds().iter().map(|(_, name)| name.to_owned());
                let kind = if deed < 48 { kinds.last() } else { kinds.next() }.unwrap_or_default();
                let user = self.writer.community.user(user);
                let request =
                    ReactionRequest { user, kind, active: true, since: None, visibility: Visibility::Application };
                reactions::react(feed, post.id, request).map(drop)
            }
            None => Ok(()),
        }
    }

    fn follow(&self, feed: &Feed, user: usize, target: usize) -> Result<()> {
        if user == target || target == CLOCK {
            return Ok(());
        }
        let [user, target] = [user, target].map(|user| self.writer.community.user(user));
        match feed.submit(Relate::of(user, vec![(target, None)], Vec::new())) {
            Err(error) if error.code() == Some(Code::Blocked) => Ok(()),
            followed => followed.map(drop),
        }
    }

    /// Lets a user publish a post, or an answer to one.
    fn publish(&mut self, feed: &Feed, user: usize, answer: Option<Answer>) -> Result<()> {
        let at = now();
        let (subject, mut body) = self.writer.write(user, at, answer.as_ref());
        let is_post = answer.is_none() && user != CLOCK;
        if is_post && SWIMMERS.contains(&user) && self.writer.random.bool() {
            body["to"] = json!([self.writer.community.group()]);
        }
        let new_item = serde_json::from_value(body).context("a post of the demo")?;
        for (content, _) in feed.submit(PublishItems::all(vec![new_item]))?.into_iter().filter(|_| is_post) {
            let id = content.id;
            let (_, ids) = feed.read().named(content)?;
            self.writer.remember(Post { id: ids.of(id), author: user, at, subject });
        }
        Ok(())
    }
}

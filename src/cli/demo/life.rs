//! The life of a community while it is served: users post, comment, like, repost and follow.

use std::sync::{Arc, Weak};
use std::thread;
use std::time::Duration;

use fastrand::Rng;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use super::Community;
use super::people::{self, CAST, CLOCK, READER, SWIMMERS};
use super::texts::decks::Decks;
use super::texts::{self, TIDE};
use crate::threads;
use feed::{Feed, PublishItems, Relate, Visibility, Wish, follows, ids, items, reactions};
use model::clock::now;
use model::error::{Code, Error, Result};
use model::{Barrier, CommentDraft, HostId, Relation, UserId};

/// Something happens this often.
const BEAT: Duration = Duration::from_millis(500);
/// So many beats are a round, in which the clock posts once, and one neighbour of the reader.
const ROUND: u64 = 10;
/// Most posts that somebody may still answer.
const REMEMBERED: usize = 20;
/// Neighbours are looked for among so many users.
const LOOKED_AT: usize = 5000;
/// One live post in so many has a picture.
const POSTS_PER_PICTURE: u8 = 6;
/// One neighbour in so many reposts something instead of posting.
const NEIGHBOURS_PER_REPOST: u8 = 8;

/// Starts the life; it ends with the server.
pub(super) fn start(feed: &Arc<Feed>, community: Community) -> Result<()> {
    let feed = Arc::downgrade(feed);
    let mut random = Rng::new();
    let decks = Decks::shuffled(&mut random);
    let life = Life { feed, community, random, decks, neighbours: Vec::new(), recent: Vec::new() };
    threads::start("demo", move || life.go_on()).map(drop)
}

struct Life {
    /// Weak, so that the server can stop.
    feed: Weak<Feed>,
    community: Community,
    random: Rng,
    decks: Decks,
    /// The authors in the timeline of the reader whose turn is still to come.
    neighbours: Vec<usize>,
    /// The newest posts of people.
    recent: Vec<Recent>,
}

/// A post that somebody may answer.
#[derive(Debug, Clone)]
struct Recent {
    id: HostId,
    author: usize,
    subject: usize,
}

impl Life {
    fn go_on(mut self) {
        for beat in 0_u64.. {
            thread::sleep(BEAT);
            let Some(feed) = self.feed.upgrade() else { return };
            let done = match beat % ROUND {
                0 => self.tell_the_tide(&feed),
                5 => self.let_a_neighbour_publish(&feed),
                _ => self.let_somebody_act(&feed),
            };
            if let Err(error) = done {
                tracing::warn!(%error, "nothing happened in the demo this time; the next attempt follows");
            }
        }
    }

    fn tell_the_tide(&mut self, feed: &Feed) -> Result<()> {
        let clock = CLOCK.min(self.community.users as usize - 1);
        let author = self.community.host_user(clock)?;
        let body = json!({"author_id": author, "text": texts::tide(now()), "topics": texts::topics(TIDE)});
        feed.submit(PublishItems::all(vec![request(body)?])).map(drop)
    }

    /// Each neighbour has its turn before one has another.
    fn let_a_neighbour_publish(&mut self, feed: &Feed) -> Result<()> {
        if self.neighbours.is_empty() {
            self.neighbours = self.find_neighbours(feed)?;
            self.random.shuffle(&mut self.neighbours);
        }
        let Some(user) = self.neighbours.pop() else { return Ok(()) };
        let shared = self.random.choice(&self.recent).filter(|post| post.author != user).cloned();
        match shared.filter(|_| self.random.u8(..NEIGHBOURS_PER_REPOST) == 0 && !people::only_posts(user)) {
            Some(post) => self.repost(feed, user, &post),
            None => self.post(feed, user),
        }
    }

    /// The users that the reader follows and has not muted, without the clock, which has turns of its own.
    fn find_neighbours(&self, feed: &Feed) -> Result<Vec<usize>> {
        let users: Vec<usize> = (0..LOOKED_AT.min(self.community.users as usize)).collect();
        let ids: Vec<HostId> = users.iter().map(|user| self.community.host_user(*user)).collect::<Result<_>>()?;
        let ids: Vec<UserId> = ids::give_all(feed, &ids)?;
        let relations = follows::relations(feed.read(), ids[READER], &ids)?;
        let is_seen =
            |relation: &Relation| relation.following_since.is_some() && relation.barred_since(Barrier::Mute).is_none();
        let found = users.into_iter().zip(&relations).filter(|(user, relation)| *user != CLOCK && is_seen(relation));
        Ok(found.map(|(user, _)| user).collect())
    }

    /// Anybody but the reader, who is the visitor.
    fn let_somebody_act(&mut self, feed: &Feed) -> Result<()> {
        let users = self.community.users as usize;
        if users == 1 {
            return Ok(());
        }
        let user = self.random.usize(READER + 1..users);
        let deed = self.random.u8(..100);
        let recent = self.random.choice(&self.recent).filter(|post| post.author != user).cloned();
        match recent {
            _ if user == CLOCK => Ok(()),
            _ if deed < 4 || people::only_posts(user) => self.post(feed, user),
            _ if deed < 10 => {
                let target = self.random.usize(..CAST.len().min(users));
                self.follow(feed, user, target)
            }
            Some(post) if deed < 35 => self.comment(feed, user, &post),
            Some(post) if deed < 40 => self.repost(feed, user, &post),
            Some(post) => {
                let mut kinds = feed.reaction_kinds().iter().map(|(_, name)| name.to_owned());
                let kind = if deed < 48 { kinds.last() } else { kinds.next() }.unwrap_or_default();
                let user = self.community.host_user(user)?;
                let wish = Wish { user, kind, active: true, since: None, sight: Visibility::Application };
                reactions::react(feed, post.id.clone(), wish).map(drop)
            }
            None => Ok(()),
        }
    }

    fn follow(&self, feed: &Feed, user: usize, target: usize) -> Result<()> {
        if user == target || target == CLOCK {
            return Ok(());
        }
        let [user, target] = [user, target].map(|user| self.community.host_user(user));
        match feed.submit(Relate::of(user?, vec![(target?, None)], Vec::new())) {
            Err(error) if error.code() == Some(Code::Blocked) => Ok(()),
            followed => followed.map(drop),
        }
    }

    fn comment(&mut self, feed: &Feed, user: usize, post: &Recent) -> Result<()> {
        let tongue = people::tongue(self.community.seed, user);
        let text = self.decks.comment(tongue, post.subject, &mut self.random);
        let draft: CommentDraft = request(json!({"author_id": self.community.host_user(user)?, "text": text}))?;
        items::comment(feed, post.id.clone(), draft, Visibility::Application).map(drop)
    }

    fn repost(&mut self, feed: &Feed, user: usize, post: &Recent) -> Result<()> {
        let (author, text) = (self.community.host_user(user)?, self.decks.remark());
        let body = json!({"author_id": author, "kind": "repost", "ref_id": post.id, "text": text});
        feed.submit(PublishItems::all(vec![request(body)?])).map(drop)
    }

    fn post(&mut self, feed: &Feed, author: usize) -> Result<()> {
        let (subject, text) = self.decks.post(&people::subjects(self.community.seed, author));
        let mut body = json!({
            "author_id": self.community.host_user(author)?, "text": text, "topics": texts::topics(subject),
        });
        if self.random.u8(..POSTS_PER_PICTURE) == 0 {
            body["media"] = people::picture(self.random.u64(..));
        }
        if SWIMMERS.contains(&author) && self.random.bool() {
            body["to"] = json!([self.community.group()?]);
        }
        for (content, _) in feed.submit(PublishItems::all(vec![request(body)?]))? {
            let id = content.id;
            let (_, ids) = feed.read().named(content)?;
            self.recent.push(Recent { id: ids.of(id), author, subject });
        }
        let old = self.recent.len().saturating_sub(REMEMBERED);
        self.recent.drain(..old);
        Ok(())
    }
}

/// A request as the API takes it.
pub(super) fn request<T: DeserializeOwned>(body: Value) -> Result<T> {
    serde_json::from_value(body).map_err(|e| Error::Setup(e.to_string()))
}

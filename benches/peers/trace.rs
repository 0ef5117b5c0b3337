//! The trace that every side gets: a follow graph and posts, the same for the same number of users.

use std::fmt::Write;

use fastrand::Rng;

use crate::opened::Ids;

/// Followers of each author.
pub const FOLLOWERS: u64 = 200;
/// Followees of a user, on average.
pub const FOLLOWEES: u64 = 50;
/// Entries that an inbox keeps.
pub const INBOX_LIMIT: u64 = 300;
/// Posts of an author, on average, that fill the inboxes: a third more than the limit needs, because some users follow fewer
/// authors.
pub const FILL: u64 = INBOX_LIMIT / FOLLOWEES * 4 / 3;
/// The time of item 0, milliseconds.
const BEGIN: u64 = 1_700_000_000_000;

/// Authors with the ids from 1 on, and after them their followers.
pub struct Trace {
    pub users: u64,
    pub authors: u64,
    /// Followers of each author, ascending.
    audiences: Vec<Vec<u64>>,
}

/// An item. The time follows from the id.
#[derive(Clone, Copy)]
pub struct Post {
    pub id: u64,
    pub author: u64,
}

impl Trace {
    pub fn new(users: u64) -> Self {
        Self::with(users, FOLLOWEES)
    }

    /// A trace with another average of followees.
    pub fn with(users: u64, followees: u64) -> Self {
        let users = users.max(4 * FOLLOWERS);
        let authors = users * followees / FOLLOWERS;
        let mut random = Rng::with_seed(users);
        let audiences = (0..authors).map(|_| choose(&mut random, FOLLOWERS, authors + 1, users)).collect();
        Self { users, authors, audiences }
    }

    pub fn followers(&self, author: u64) -> &[u64] {
        &self.audiences[author as usize - 1]
    }

    /// A user who follows authors.
    pub fn reader(&self, random: &mut Rng) -> u64 {
        self.authors + 1 + random.u64(..self.users)
    }

    /// Pairs of user and author.
    pub fn follows(&self) -> impl Iterator<Item = (u64, u64)> {
        let pairs = |author| self.followers(author).iter().map(move |user| (*user, author));
        (1..=self.authors).flat_map(pairs)
    }

    /// The post with an id. Any author is as likely: authors in turn would make inboxes that repeat, and compress as
    /// no real ones do.
    pub fn post(&self, id: u64) -> Post {
        Post { id, author: 1 + Rng::with_seed(id).u64(..self.authors) }
    }

    /// A number of posts from an id on.
    pub fn posts(&self, from: u64, count: u64) -> impl Iterator<Item = Post> + Clone {
        (from..from + count).map(|id| self.post(id))
    }

    /// The posts that fill the inboxes. Their ids begin at 1.
    pub fn fill(&self) -> u64 {
        self.authors * FILL
    }
}

/// Distinct numbers of a range, ascending.
pub fn choose(random: &mut Rng, count: u64, from: u64, range: u64) -> Vec<u64> {
    let mut chosen = Vec::with_capacity(count as usize);
    while chosen.len() < count as usize {
        while chosen.len() < count as usize {
            chosen.push(from + random.u64(..range));
        }
        chosen.sort_unstable();
        chosen.dedup();
    }
    chosen
}

impl Post {
    pub fn at(self) -> u64 {
        BEGIN + self.id
    }

    pub fn text(self) -> String {
        format!(
            "Post {} of author {}: the water is high at the pier this morning, the ferry leaves ten minutes late, and \
             the market has fresh herring again.",
            self.id, self.author
        )
    }

    /// The body of a publish.
    pub fn new_item(self, ids: Ids) -> String {
        let (id, author) = (ids.item(self.id), ids.user(self.author));
        format!(
            r#"{{"content_id":"{id}","author_id":"{author}","published_at":{},"text":"{}"}}"#,
            self.at(),
            self.text()
        )
    }

    /// The item as Tideline's full pages show it. The other sides store this text.
    pub fn shown(self) -> String {
        let Self { id, author } = self;
        format!(
            r#"{{"content_id":"{id}","author_id":"{author}","published_at":{},"kind":"post","text":"{}","media":[],"topics":[],"broadcast":true,"to":[],"audience":"public","counts":{{"comments":0,"reposts":0,"reactions":{{}}}},"author":{{"user_id":"{author}","nickname":null,"avatar":null}},"viewer":{{"reactions":[]}}}}"#,
            self.at(),
            self.text()
        )
    }
}

/// The bodies of batches of publishes.
pub fn batches(posts: impl Iterator<Item = Post>, size: usize) -> Vec<String> {
    let (mut batches, mut posts) = (Vec::new(), posts.peekable());
    while posts.peek().is_some() {
        let mut body = String::from(r#"{"items":["#);
        for (place, post) in posts.by_ref().take(size).enumerate() {
            let comma = if place > 0 { "," } else { "" };
            write!(body, "{comma}{}", post.new_item(Ids::Numbers)).expect("strings take all");
        }
        body.push_str("]}");
        batches.push(body);
    }
    batches
}

//! Posts of the last two weeks, with comments and reposts: mostly by a few users, in bursts, with equal times.

use std::collections::HashSet;

use fastrand::Rng;
use serde_json::{Value, json};

use super::people::{self, CLOCK, READER, cast};
use super::texts::decks::Decks;
use super::texts::{self, ADVERTS, TEXTS, TIDE};
use crate::trace::Graph;
use model::Millis;

const MINUTE: Millis = 60_000;
const DAY: Millis = 24 * 60 * MINUTE;
/// Age limit of posts.
pub(super) const WINDOW: Millis = 14 * DAY;
/// Age limit of follows.
pub(super) const YEAR: Millis = 365 * DAY;

/// There is one burst for each group of this many posts.
const POSTS_PER_BURST: u32 = 1000;

/// Of 100 items, so many are comments on an earlier post …
const COMMENTS: u8 = 12;
/// … and so many are reposts of one.
const REPOSTS: u8 = 6;
/// An answer is to one of so many items before it: people answer what is new.
const RECENT: usize = 200;
/// One post in so many has a picture.
const POSTS_PER_PICTURE: u8 = 7;

/// The kind of an item; an answer has the index of its post.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Post,
    Comment(usize),
    Repost(usize),
}

/// One item.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Post {
    /// Index of the author.
    pub(super) author: u32,
    /// Time.
    pub(super) at: Millis,
    pub(super) kind: Kind,
    pub(super) text: String,
    /// Index of the subject; for an answer, that of its post.
    pub(super) subject: usize,
    /// The number of its picture, if it has one.
    pub(super) picture: Option<u64>,
}

impl Post {
    /// An item that a user writes now: a post on one of the user's subjects, or an answer to a post on `subject`.
    pub(super) fn write(
        (author, seed): (usize, u64),
        at: Millis,
        (kind, subject): (Kind, usize),
        decks: &mut Decks,
        random: &mut Rng,
    ) -> Self {
        let mut picture = None;
        let (subject, text) = match kind {
            Kind::Post if author == CLOCK => (TIDE, texts::tide(at)),
            Kind::Post => {
                picture = (random.u8(..POSTS_PER_PICTURE) == 0).then(|| random.u64(..));
                let (subject, text) = decks.post(&people::subjects(seed, author));
                (subject, text.to_owned())
            }
            Kind::Comment(_) => (subject, decks.comment(people::tongue(seed, author), subject, random).to_owned()),
            Kind::Repost(_) => (subject, decks.remark().to_owned()),
        };
        Self { author: author as u32, at, kind, text, subject, picture }
    }

    /// The item as a request, without its id and its time. `answered` is the id of the post that it answers.
    pub(super) fn body(&self, author: &str, answered: Option<String>) -> Value {
        let mut body = json!({"author_id": author, "text": self.text});
        match self.kind {
            Kind::Post => body["topics"] = json!(texts::topics(self.subject)),
            Kind::Repost(_) => body["kind"] = json!("repost"),
            Kind::Comment(_) => {
                body["kind"] = json!("comment");
                // Comments are below their post, not in timelines.
                body["broadcast"] = json!(false);
            }
        }
        if let Some(id) = answered {
            body["ref_id"] = json!(id);
        }
        if let Some(number) = self.picture {
            body["media"] = people::picture(number);
        }
        body
    }
}

/// The content of one item before it has a text.
#[derive(Debug, Clone, Copy)]
enum Plan {
    /// Anything by this user.
    Any(u32),
    /// A line of a thread.
    Line { thread: usize, line: usize },
}

/// This number of items, oldest first; items of one millisecond are in random order. An answer comes after its post.
/// The threads are among them, unless that would be more than a tenth.
pub(super) fn make(graph: &Graph, posts: u32, until: Millis, seed: u64, random: &mut Rng) -> Vec<Post> {
    let bursts: Vec<Millis> =
        (0..posts.div_ceil(POSTS_PER_BURST)).map(|_| until - random.u64(..WINDOW - 10 * MINUTE)).collect();
    let lines: u32 = TEXTS.threads.iter().map(|thread| thread.lines.len() as u32).sum();
    let told = posts / 10 >= lines && graph.users() as usize >= cast();
    let mut plans = if told { plan_threads(until, random) } else { Vec::new() };
    let others = posts - plans.len() as u32;
    plans.extend((0..others).map(|_| (time(&bursts, until, random), Plan::Any(author(graph, random)))));
    plans.sort_by_key(|(at, _)| *at);
    let seen = graph.following(READER as u32).iter().map(|followee| *followee as usize).collect();
    let mut writer = Writer {
        seed,
        seen,
        near: Decks::shuffled(random),
        far: Decks::shuffled(random),
        openings: vec![0; TEXTS.threads.len()],
        made: Vec::with_capacity(plans.len()),
    };
    for (at, plan) in plans {
        let post = match plan {
            Plan::Any(author) => writer.write(author, at, random),
            Plan::Line { thread, line } => writer.tell(thread, line, at),
        };
        writer.made.push(post);
    }
    writer.made
}

/// The lines of all threads, with times that fit their order.
fn plan_threads(until: Millis, random: &mut Rng) -> Vec<(Millis, Plan)> {
    let mut plans = Vec::new();
    for (number, thread) in TEXTS.threads.iter().enumerate() {
        let mut at = until - thread.age * MINUTE;
        for line in 0..thread.lines.len() {
            plans.push((at, Plan::Line { thread: number, line }));
            at += random.u64(MINUTE..7 * MINUTE);
        }
    }
    plans
}

struct Writer {
    seed: u64,
    /// The authors in the timeline of the reader. They have decks of their own, so that this timeline varies.
    seen: HashSet<usize>,
    near: Decks,
    far: Decks,
    /// The index of the post of each thread.
    openings: Vec<usize>,
    made: Vec<Post>,
}

impl Writer {
    fn tell(&mut self, thread: usize, line: usize, at: Millis) -> Post {
        let kind = match line {
            0 => Kind::Post,
            _ => Kind::Comment(self.openings[thread]),
        };
        if line == 0 {
            self.openings[thread] = self.made.len();
        }
        let (author, text) = &TEXTS.threads[thread].lines[line];
        let subject = texts::named(&TEXTS.threads[thread].subject).unwrap_or_default();
        Post { author: *author as u32, at, kind, text: text.clone(), subject, picture: None }
    }

    /// Some item of an author.
    fn write(&mut self, author: u32, at: Millis, random: &mut Rng) -> Post {
        let user = author as usize;
        let answered = self.made.len().checked_sub(1 + random.usize(..RECENT));
        let answered = answered.filter(|index| {
            let post = &self.made[*index];
            post.kind == Kind::Post && post.at < at && post.author != author && !people::only_posts(user)
        });
        let share = random.u8(..100);
        let (kind, subject) = match answered.map(|index| (index, self.made[index].subject)) {
            Some((index, subject)) if share < COMMENTS => (Kind::Comment(index), subject),
            Some((index, subject)) if share < COMMENTS + REPOSTS && ![ADVERTS, TIDE].contains(&subject) => {
                (Kind::Repost(index), subject)
            }
            _ => (Kind::Post, 0),
        };
        let decks = if self.seen.contains(&user) { &mut self.near } else { &mut self.far };
        Post::write((user, self.seed), at, (kind, subject), decks, random)
    }
}

/// Half of the posts are by popular authors. The others are by any user, low ids more often.
fn author(graph: &Graph, random: &mut Rng) -> u32 {
    let share = random.f64();
    let anybody = (share * share * f64::from(graph.users())) as u32;
    graph.popular(random).filter(|_| random.bool()).unwrap_or(anybody)
}

fn time(bursts: &[Millis], until: Millis, random: &mut Rng) -> Millis {
    let at = match random.choice(bursts) {
        // In the ten minutes before the burst's time, mostly close to it.
        Some(burst) if random.u8(..100) < 40 => {
            let share = random.f64();
            burst - (share * share * share * (10 * MINUTE) as f64) as Millis
        }
        _ => until - random.u64(..WINDOW),
    };
    // Many hosts keep only whole seconds, so equal times are common.
    if random.u8(..100) < 60 { at - at % 1000 } else { at }
}

//! The load: a graph with the posts on it, and a sequence of operations, each with the time when it is due.
//!
//! The same graph, posts, mix, rate and seed give the same steps on every machine. Users are numbered from 0; requests are
//! made of the steps elsewhere.

use fastrand::Rng;

use super::mix::{Kind, Mix};
use crate::cli::graph::Graph;
use crate::prelude::*;

/// Seconds from burst to burst. The first of them has four times the mean rate, and the others a quarter of it.
const CYCLE: f64 = 5.0;
/// The rate within a burst, as a multiple of the mean.
const PEAK: f64 = 4.0;
/// A user to follow is looked for this often before one that is followed already is taken.
const ATTEMPTS: usize = 8;
/// Of the numbers from a seed, those for the operations are others than those for the posts before.
const OPERATIONS: u64 = 0x5EED_0F0B;

/// A post to publish.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Post {
    pub(super) author: u32,
    /// The number of characters of its text.
    pub(super) length: u16,
}

impl Post {
    /// Characters of a post, where no file says it.
    pub(super) const LENGTH: u16 = 120;
}

/// All that a load needs besides its mix and rate.
#[derive(Debug)]
pub(super) struct Load {
    pub(super) graph: Graph,
    /// Posts of files; empty if authors are chosen.
    posts: Vec<Post>,
    /// The weights of the users as authors, each with those of the users before.
    weights: Vec<f64>,
    seed: u64,
}

impl Load {
    /// A graph, and posts in their order, again and again; without posts, authors by chance: the more followers, the more
    /// posts (by the logarithm).
    pub(super) fn new(graph: Graph, posts: Vec<Post>, seed: u64) -> Self {
        let weight = |user| (1.0 + f64::from(graph.audience(user))).ln();
        let weights = (0..graph.users()).map(weight).scan(0.0, |sum, weight| {
            *sum += weight;
            Some(*sum)
        });
        Self { weights: weights.collect(), graph, posts, seed }
    }

    /// Post number `number`, from 0.
    fn post(&self, number: usize, random: &mut Rng) -> Post {
        if !self.posts.is_empty() {
            return self.posts[number % self.posts.len()];
        }
        let drawn = random.f64() * self.weights.last().copied().unwrap_or(0.0);
        // Without follows all have weight 0, and the first user publishes.
        let author = self.weights.partition_point(|sum| *sum <= drawn).min(self.weights.len().saturating_sub(1));
        Post { author: if drawn == 0.0 { 0 } else { author as u32 }, length: Post::LENGTH }
    }

    /// Posts to publish before the first operation.
    pub(super) fn history(&self, count: usize) -> impl Iterator<Item = Post> {
        let mut random = Rng::with_seed(self.seed);
        (0..count).map(move |number| self.post(number, &mut random))
    }

    /// Endless operations of a mix at a mean rate per second. Listed posts continue after the first `history`.
    pub(super) fn trace(self: &Arc<Self>, mix: Mix, rate: f64, history: usize) -> Trace {
        let mut random = Rng::with_seed(self.seed ^ OPERATIONS);
        let (mut online, mut offline): (Vec<u32>, _) = ((0..self.graph.users()).collect(), Vec::new());
        random.shuffle(&mut online);
        if mix == Mix::Pequod {
            // Seven of ten users are active, and half of these are online at first.
            online.truncate((online.len() * 7).div_ceil(10));
            offline = online.split_off(online.len().div_ceil(2));
        }
        let giant = (mix == Mix::BigAuthor).then(|| (self.graph.giant(), 1));
        let (load, due) = (Arc::clone(self), Duration::ZERO);
        let mut trace = Trace { load, posted: history, random, mix, rate, even: 0.0, due, giant, online, offline };
        trace.go_on();
        trace
    }
}

/// An operation, and when to begin it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Step {
    /// From the begin of the trace.
    pub(super) due: Duration,
    pub(super) kind: Kind,
    /// The author of a publish; the reader of another operation.
    pub(super) user: u32,
    /// Characters of the text; only of a publish.
    pub(super) length: u16,
    /// The user who is followed; only of a follow.
    pub(super) target: u32,
}

impl Step {
    pub(super) fn new(due: Duration, kind: Kind, user: u32) -> Self {
        Self { due, kind, user, length: 0, target: 0 }
    }
}

/// See [`Load::trace`]. Four bytes for each user.
#[derive(Debug, Clone)]
pub(super) struct Trace {
    load: Arc<Load>,
    /// The number of posts so far.
    posted: usize,
    random: Rng,
    mix: Mix,
    /// Operations per second that come by chance.
    rate: f64,
    /// Seconds of an even rate until the next of them …
    even: f64,
    /// … and when it is due.
    due: Duration,
    /// The author whose turn comes by the clock, and the number of that turn.
    giant: Option<(u32, u32)>,
    online: Vec<u32>,
    offline: Vec<u32>,
}

impl Trace {
    /// Sets the next due time: a Poisson process, as of many independent users, of an even rate or bent into bursts.
    fn go_on(&mut self) {
        self.even -= (1.0 - self.random.f64()).ln() / self.rate;
        let seconds = if self.mix == Mix::WriteBurst { in_bursts(self.even) } else { self.even };
        // Beyond all durations only with a rate near 0.
        self.due = Duration::try_from_secs_f64(seconds).unwrap_or(Duration::MAX);
    }

    fn post(&mut self) -> Post {
        self.posted += 1;
        self.load.post(self.posted - 1, &mut self.random)
    }

    /// The publish of the giant, if it comes before the next other operation.
    fn turn_of_giant(&mut self) -> Option<Step> {
        let (author, turn) = self.giant?;
        let due = Duration::from_secs_f64(Mix::GIANT_EVERY * (f64::from(turn) - 0.5));
        if due > self.due {
            return None;
        }
        self.giant = Some((author, turn + 1));
        Some(Step { length: self.post().length, ..Step::new(due, Kind::PublishBig, author) })
    }

    fn kind(&mut self) -> Kind {
        let parts = self.mix.parts();
        let all: u32 = parts.iter().map(|(_, part)| part).sum();
        let (drawn, mut sum) = (self.random.u32(..all), 0);
        let is_drawn = |(_, part): &&(Kind, u32)| {
            sum += part;
            drawn < sum
        };
        parts.iter().find(is_drawn).map_or(Kind::Read, |(kind, _)| *kind)
    }

    /// A user who is online; there is always one.
    fn reader(&mut self) -> u32 {
        self.random.choice(&self.online).copied().unwrap_or_default()
    }

    /// A popular user whom `user` does not follow in the graph, if one is found soon.
    fn target(&mut self, user: u32) -> Option<u32> {
        let (graph, mut found) = (&self.load.graph, None);
        for _ in 0..ATTEMPTS {
            let target = graph.popular(&mut self.random).filter(|target| *target != user);
            found = target.or(found);
            if target.is_some_and(|target| !graph.has(user, target)) {
                break;
            }
        }
        found
    }

    /// The next operation that comes by chance.
    fn operation(&mut self) -> Step {
        let (due, kind) = (self.due, self.kind());
        let Self { random, online, offline, .. } = self;
        match kind {
            Kind::Publish | Kind::PublishBig => {
                let Post { mut author, length } = self.post();
                if self.giant.is_some_and(|(giant, _)| author == giant) {
                    author = (author + 1) % self.load.graph.users();
                }
                return Step { length, ..Step::new(due, Kind::Publish, author) };
            }
            Kind::Follow => {
                let user = self.reader();
                if let Some(target) = self.target(user) {
                    return Step { target, ..Step::new(due, kind, user) };
                }
            }
            Kind::LogIn if !offline.is_empty() => return Step::new(due, kind, change(random, offline, online)),
            // The last reader stays.
            Kind::LogOut if online.len() > 1 => return Step::new(due, kind, change(random, online, offline)),
            Kind::LogIn | Kind::LogOut | Kind::Read => {}
        }
        Step::new(due, Kind::Read, self.reader())
    }
}

/// Moves a user from one list to the other.
fn change(random: &mut Rng, from: &mut Vec<u32>, to: &mut Vec<u32>) -> u32 {
    let user = from.swap_remove(random.usize(..from.len()));
    to.push(user);
    user
}

/// The time in bursts at which as much has come as would have come at `even` seconds of an even rate.
fn in_bursts(even: f64) -> f64 {
    let within = even % CYCLE;
    let seconds = if within < PEAK { within / PEAK } else { 1.0 + (within - PEAK) * (CYCLE - 1.0) };
    even - within + seconds
}

impl Iterator for Trace {
    type Item = Step;

    fn next(&mut self) -> Option<Step> {
        if let Some(step) = self.turn_of_giant() {
            return Some(step);
        }
        let step = self.operation();
        self.go_on();
        Some(step)
    }
}

#[cfg(test)]
mod tests;

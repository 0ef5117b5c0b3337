//! The operations of a mix, one after the other.

use std::sync::Arc;
use std::time::Duration;

use fastrand::Rng;

use super::arrivals::Clock;
use super::load::{Load, Post};
use super::mix::{Kind, Mix};

/// A user to follow is looked for this often before one that is followed already is taken.
const ATTEMPTS: usize = 8;
/// Of the numbers from a seed, those for the operations are others than those for the posts before.
const OPERATIONS: u64 = 0x5EED_0F0B;

/// One operation, by numbers of users.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Operation {
    /// An author publishes.
    Publish(Post),
    /// The giant of [`Mix::BigAuthor`] publishes, whose turn comes by the clock.
    PublishBig(Post),
    /// A user reads the newest page of the own timeline.
    Read(u32),
    /// A user follows another, who was nearly always not followed in the graph.
    Follow(u32, u32),
    /// A user comes online and reads the newest page of the own timeline.
    LogIn(u32),
    /// A user goes offline.
    LogOut(u32),
}

impl Operation {
    /// The kind.
    pub fn kind(self) -> Kind {
        match self {
            Self::Publish(_) => Kind::Publish,
            Self::PublishBig(_) => Kind::PublishBig,
            Self::Read(_) => Kind::Read,
            Self::Follow(..) => Kind::Follow,
            Self::LogIn(_) => Kind::LogIn,
            Self::LogOut(_) => Kind::LogOut,
        }
    }
}

/// An operation, and when to begin it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Step {
    /// From the begin of the trace.
    pub due: Duration,
    /// What to do.
    pub operation: Operation,
}

impl Load {
    /// Endless operations of a mix at a mean rate per second. Listed posts continue after the first `history`.
    pub fn trace(self: &Arc<Self>, mix: Mix, rate: f64, history: usize) -> Trace {
        let mut random = Rng::with_seed(self.seed ^ OPERATIONS);
        let mut online: Vec<u32> = (0..self.graph().users()).collect();
        random.shuffle(&mut online);
        let active = (online.len() as u64 * u64::from(mix.active_percent())).div_ceil(100);
        online.truncate(active as usize);
        let has_sessions = mix.parts().iter().any(|(kind, _)| *kind == Kind::LogIn);
        // Half of the users who log in and out are online at first.
        let offline = if has_sessions { online.split_off(online.len().div_ceil(2)) } else { Vec::new() };
        let giant = (mix == Mix::BigAuthor).then(|| (self.graph().giant(), 1));
        let mut clock = Clock::new(mix.has_bursts(), rate);
        let due = clock.next(&mut random);
        Trace { load: Arc::clone(self), posted: history, random, mix, clock, due, giant, online, offline }
    }
}

/// See [`Load::trace`]. It ends only if the graph has no users. Four bytes for each user.
#[derive(Debug, Clone)]
pub struct Trace {
    load: Arc<Load>,
    /// The number of posts so far.
    posted: usize,
    random: Rng,
    mix: Mix,
    clock: Clock,
    /// When the next operation that comes by chance is due.
    due: Duration,
    /// The author whose turn comes by the clock, and the number of that turn.
    giant: Option<(u32, u32)>,
    online: Vec<u32>,
    offline: Vec<u32>,
}

impl Trace {
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
        let length = self.post().length;
        Some(Step { due, operation: Operation::PublishBig(Post { author, length }) })
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

    fn reader(&mut self) -> Option<u32> {
        self.random.choice(&self.online).copied()
    }

    /// A popular user whom `user` does not follow in the graph, if one is found soon.
    fn target(&mut self, user: u32) -> Option<u32> {
        let mut found = None;
        for _ in 0..ATTEMPTS {
            let graph = self.load.graph();
            let target = graph.popular(&mut self.random).unwrap_or_else(|| self.random.u32(..graph.users()));
            if target != user {
                found = Some(target);
                if !graph.has(user, target) {
                    break;
                }
            }
        }
        found
    }

    /// The user who changes between the lists; any user of the other list if this one is empty.
    fn change(random: &mut Rng, from: &mut Vec<u32>, to: &mut Vec<u32>) -> Option<u32> {
        if from.is_empty() {
            return random.choice(&*to).copied();
        }
        let user = from.swap_remove(random.usize(..from.len()));
        to.push(user);
        Some(user)
    }

    /// The next operation that comes by chance; `None` if there is no user for it.
    fn operation(&mut self) -> Option<Operation> {
        match self.kind() {
            Kind::Publish | Kind::PublishBig => {
                let mut post = self.post();
                if let Some((giant, _)) = self.giant
                    && post.author == giant
                {
                    post.author = (giant + 1) % self.load.graph().users();
                }
                Some(Operation::Publish(post))
            }
            Kind::Follow => {
                let user = self.reader()?;
                Some(self.target(user).map_or(Operation::Read(user), |target| Operation::Follow(user, target)))
            }
            Kind::LogIn => Self::change(&mut self.random, &mut self.offline, &mut self.online).map(Operation::LogIn),
            // The last reader stays.
            Kind::LogOut if self.online.len() > 1 => {
                Self::change(&mut self.random, &mut self.online, &mut self.offline).map(Operation::LogOut)
            }
            Kind::Read | Kind::LogOut => self.reader().map(Operation::Read),
        }
    }
}

impl Iterator for Trace {
    type Item = Step;

    fn next(&mut self) -> Option<Step> {
        if self.load.graph().users() == 0 {
            return None;
        }
        if let Some(step) = self.turn_of_giant() {
            return Some(step);
        }
        let operation = self.operation()?;
        let due = std::mem::replace(&mut self.due, Duration::ZERO);
        self.due = self.clock.next(&mut self.random);
        Some(Step { due, operation })
    }
}

#[cfg(test)]
mod tests;

//! A follow graph, from follows or made up with a heavy tail.
//!
//! Followers: the rule of D. J. de Solla Price, "A general theory of bibliometric and other cumulative advantage
//! processes" (1976): a new follow goes to a user with a likelihood that grows linearly with its followers. The number
//! of followers then has a power law, with an exponent that the weight of users without followers sets. It is set to
//! the exponent 2.276 that H. Kwak, C. Lee, H. Park and S. Moon measured on Twitter ("What is Twitter, a social network
//! or a news media?", WWW 2010).
//!
//! Followees: a Pareto distribution with exponent 2 around the wanted mean: most follow few, some follow hundreds.

use std::cmp::Reverse;
use std::collections::BTreeSet;

use fastrand::Rng;

/// The exponent of the number of followers, less the 2 that the rule gives without the weight below.
const TAIL: f64 = 0.276;
/// The share of follows that go to a user by its followers; the rest go to any user. For a mean of m follows the rule
/// has the exponent 2 + a / m, where a is the weight of a user without followers, and this share m / (m + a).
const BY_FOLLOWERS: f64 = 1.0 / (1.0 + TAIL);
/// Most followees of a user: the default of `graph.follow_limit`.
const MOST_FOLLOWEES: f64 = 1000.0;
/// A user is looked for this often before one that is followed already is given up.
const ATTEMPTS: usize = 8;

/// All follows. Eight bytes for each follow, four for each user.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Graph {
    /// User and followee, in ascending order.
    follows: Vec<(u32, u32)>,
    /// For each user the number of its followers.
    audiences: Vec<u32>,
}

impl Graph {
    /// Most follows of a graph.
    pub(super) const MOST_FOLLOWS: usize = 200_000_000;

    /// A graph of `users` users with follows as pairs of user and followee. Follows of oneself, of users that are not
    /// there, and repeated ones are left out.
    pub(super) fn new(users: u32, mut follows: Vec<(u32, u32)>) -> Self {
        follows.retain(|&(user, target)| user != target && user < users && target < users);
        follows.sort_unstable();
        follows.dedup();
        let mut audiences = vec![0; users as usize];
        follows.iter().for_each(|(_, target)| audiences[*target as usize] += 1);
        Self { follows, audiences }
    }

    /// A made-up graph: the number of users, the mean number of followees of a user, and whether all users follow user 0.
    /// The same seed gives the same graph.
    pub(super) fn made_up(users: u32, mean: u32, first_is_giant: bool, seed: u64) -> Self {
        let mut random = Rng::with_seed(seed);
        let (mut follows, mut followees) = (Vec::new(), BTreeSet::new());
        for user in 0..users {
            let wanted = number_of_followees(f64::from(mean), &mut random).min(users.saturating_sub(1) as usize);
            if first_is_giant && user != 0 {
                followees.insert(0);
            }
            for _ in 0..wanted {
                for _ in 0..ATTEMPTS {
                    let by_followers = random.f64() < BY_FOLLOWERS;
                    let popular = if by_followers { random.choice(&follows) } else { None };
                    let target = popular.map_or_else(|| random.u32(..users), |(_, target)| *target);
                    if target != user && followees.insert(target) {
                        break;
                    }
                }
            }
            follows.extend(followees.iter().map(|target| (user, *target)));
            followees.clear();
        }
        Self::new(users, follows)
    }

    /// The number of users.
    pub(super) fn users(&self) -> u32 {
        self.audiences.len() as u32
    }

    /// All follows: user and followee, in ascending order.
    pub(super) fn follows(&self) -> &[(u32, u32)] {
        &self.follows
    }

    /// The followees of a user, in ascending order.
    pub(super) fn following(&self, user: u32) -> impl Iterator<Item = u32> {
        let begin = self.follows.partition_point(|follow| follow.0 < user);
        self.follows[begin..].iter().take_while(move |follow| follow.0 == user).map(|(_, target)| *target)
    }

    /// Whether a user follows another.
    pub(super) fn has(&self, user: u32, target: u32) -> bool {
        self.follows.binary_search(&(user, target)).is_ok()
    }

    /// The number of followers of a user.
    pub(super) fn audience(&self, user: u32) -> u32 {
        self.audiences[user as usize]
    }

    /// The first of the users with the most followers.
    pub(super) fn giant(&self) -> u32 {
        (0..self.users()).max_by_key(|user| (self.audience(*user), Reverse(*user))).unwrap_or(0)
    }

    /// A user by preference for users with followers: each as likely as it has followers. `None` without follows.
    pub(super) fn popular(&self, random: &mut Rng) -> Option<u32> {
        random.choice(&self.follows).map(|(_, target)| *target)
    }
}

/// From a Pareto distribution with exponent 2, whose mean is twice its minimum.
fn number_of_followees(mean: f64, random: &mut Rng) -> usize {
    let value = mean / 2.0 / (1.0 - random.f64()).sqrt();
    // Rounded up or down at random, so that the mean stays.
    (value.min(MOST_FOLLOWEES) + random.f64()).floor().min(MOST_FOLLOWEES) as usize
}

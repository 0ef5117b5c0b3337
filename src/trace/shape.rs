//! Made-up follow graphs with a heavy tail.
//!
//! Followers: the rule of D. J. de Solla Price, "A general theory of bibliometric and other cumulative advantage
//! processes" (1976): a new follow goes to a user with a likelihood that grows linearly with its followers. The number
//! of followers then has a power law, with an exponent that the weight of users without followers sets. It is set to
//! the exponent 2.276 that H. Kwak, C. Lee, H. Park and S. Moon measured on Twitter ("What is Twitter, a social network
//! or a news media?", WWW 2010).
//!
//! Followees: a Pareto distribution with exponent 2 around the wanted mean: most follow few, some follow hundreds.

use std::collections::HashSet;

use fastrand::Rng;

use super::graph::Graph;

/// The exponent of the number of followers, less the 2 that the rule gives without the weight below.
const TAIL: f64 = 0.276;
/// The share of follows that go to a user by its followers; the rest go to any user. For a mean of m follows the rule
/// has the exponent 2 + a / m, where a is the weight of a user without followers, and this share m / (m + a).
const BY_FOLLOWERS: f64 = 1.0 / (1.0 + TAIL);
/// Most followees of a user: the default of `graph.follow_limit`.
const MOST_FOLLOWEES: f64 = 1000.0;
/// A user is looked for this often before one that is followed already is given up.
const ATTEMPTS: usize = 8;

/// The size of a made-up graph.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Shape {
    /// The number of users.
    pub users: u32,
    /// The mean number of followees of a user.
    pub follows: u32,
    /// Whether all users follow user 0.
    pub first_is_giant: bool,
}

impl Shape {
    /// Makes the graph; the same seed gives the same graph.
    pub fn make(self, seed: u64) -> Graph {
        let Self { users, follows, first_is_giant } = self;
        let mut random = Rng::with_seed(seed);
        let mut graph = Graph::without_follows(users);
        let mut followees = HashSet::new();
        for user in 0..users {
            let wanted = number_of_followees(f64::from(follows), &mut random).min(users.saturating_sub(1) as usize);
            if first_is_giant && user != 0 {
                followees.insert(0);
            }
            for _ in 0..wanted {
                for _ in 0..ATTEMPTS {
                    let by_followers = random.f64() < BY_FOLLOWERS;
                    let popular = if by_followers { graph.popular(&mut random) } else { None };
                    let target = popular.unwrap_or_else(|| random.u32(..users));
                    if target != user && followees.insert(target) {
                        break;
                    }
                }
            }
            graph.add_user(followees.drain().collect());
        }
        graph
    }
}

/// From a Pareto distribution with exponent 2, whose mean is twice its minimum.
fn number_of_followees(mean: f64, random: &mut Rng) -> usize {
    let value = mean / 2.0 / (1.0 - random.f64()).sqrt();
    // Rounded up or down at random, so that the mean stays.
    (value.min(MOST_FOLLOWEES) + random.f64()).floor().min(MOST_FOLLOWEES) as usize
}

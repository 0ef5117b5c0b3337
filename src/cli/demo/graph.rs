//! A follow graph with a heavy tail: users with followers gain more.

use std::collections::HashSet;

use fastrand::Rng;

use super::people::{CAST, CLOCK, GAZETTE, READER};

/// One user in this many is a celebrity.
const USERS_PER_CELEBRITY: u32 = 500;
/// Most users follow at least this many …
const FEWEST: u64 = 5;
/// … and at most this many of their own choice, as the reader does, who does not follow the crowd.
const MOST: u64 = 50;
/// One user in this many follows the clock.
const USERS_PER_FRIEND_OF_THE_CLOCK: usize = 100;
/// Users who follow this many do not follow back. It is below the default follow limit.
const FOLLOW_BACK_UP_TO: usize = 500;

/// For each of `users` the followees, in the order of following, without duplicates and without the user.
///
/// The users after the reader are celebrities, without the clock. A third of all users follow each of them; nearly all
/// follow the gazette. The reader follows them all, the rest of the cast, and many others.
pub(super) fn make(users: u32, random: &mut Rng) -> Vec<Vec<u32>> {
    let celebrities = if users < 10 { 0 } else { users.div_ceil(USERS_PER_CELEBRITY) };
    let mut graph = Graph { following: vec![Vec::new(); users as usize], edges: HashSet::new(), targets: Vec::new() };
    let is_celebrity = |user: u32| (1..=celebrities).contains(&user) || user as usize == CLOCK;
    for user in 0..users {
        for celebrity in (1..=celebrities).filter(|celebrity| *celebrity as usize != CLOCK) {
            let follows = if celebrity as usize == GAZETTE { random.u8(..10) > 0 } else { random.u8(..3) == 0 };
            if follows || user as usize == READER {
                graph.follow(user, celebrity);
            }
        }
        // Squaring makes small numbers common.
        let share = random.f64();
        let usual = FEWEST + (share * share * (MOST - FEWEST + 1) as f64) as u64;
        let wanted = match user as usize {
            READER => MOST,
            // Its followees would follow back.
            CLOCK => 0,
            _ => usual,
        };
        for _ in 0..wanted.min(u64::from(users - 1)) {
            let popular = random.choice(&graph.targets).copied();
            let anybody = random.u32(..users);
            let target = popular.filter(|_| random.u8(..100) < 70 && user as usize != READER).unwrap_or(anybody);
            let followed = !is_celebrity(target) && graph.follow(user, target);
            if followed {
                graph.targets.push(target);
                if random.u8(..100) < 30 && graph.following[target as usize].len() < FOLLOW_BACK_UP_TO {
                    graph.follow(target, user);
                }
            }
        }
    }
    for followee in (0..CAST.len().min(users as usize)).filter(|user| *user != CLOCK) {
        graph.follow(READER as u32, followee as u32);
    }
    for friend in (CAST.len()..users as usize).step_by(USERS_PER_FRIEND_OF_THE_CLOCK) {
        graph.follow(friend as u32, CLOCK as u32);
    }
    graph.following
}

struct Graph {
    following: Vec<Vec<u32>>,
    edges: HashSet<(u32, u32)>,
    /// Each user once for each time it was chosen, so that a random pick prefers popular users.
    targets: Vec<u32>,
}

impl Graph {
    /// False if the follow exists, or both users are the same.
    fn follow(&mut self, user: u32, target: u32) -> bool {
        let new = user != target && self.edges.insert((user, target));
        if new {
            self.following[user as usize].push(target);
        }
        new
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_graph_has_the_shape_of_a_community() {
        let graph = make(2000, &mut Rng::with_seed(1));
        let mut followers = vec![0_usize; graph.len()];
        let edges: HashSet<(usize, u32)> =
            graph.iter().enumerate().flat_map(|(u, targets)| targets.iter().map(move |t| (u, *t))).collect();
        assert_eq!(edges.len(), graph.iter().map(Vec::len).sum::<usize>(), "an edge is there twice");
        for (user, target) in &edges {
            assert_ne!(*user, *target as usize);
            followers[*target as usize] += 1;
        }
        let usual = graph.iter().filter(|targets| (5..=50).contains(&targets.len())).count();
        assert!(usual > 1500, "{usual} follow 5 to 50");
        assert!(graph.iter().all(|targets| targets.len() < 1000));
        let mutual = edges.iter().filter(|(u, t)| edges.contains(&(*t as usize, *u as u32))).count();
        assert!((edges.len() / 10..edges.len() / 10 * 7).contains(&mutual), "{mutual} of {} mutual", edges.len());
        let famous = followers.iter().filter(|count| (550..800).contains(*count)).count();
        assert!((1..=20).contains(&famous), "{famous} celebrities");
        assert!(followers[GAZETTE] > 1700 && followers[CLOCK] == 20, "{}", followers[CLOCK]);
        let known = |user: usize| graph[READER].contains(&(user as u32));
        assert!(graph[READER].len() > 50, "{}", graph[READER].len());
        assert!((1..CAST.len()).all(|user| known(user) == (user != CLOCK)));
        followers.sort_unstable();
        assert!(followers[1950] > 3 * followers[1000], "no heavy tail: {} and {}", followers[1950], followers[1000]);
    }

    #[test]
    fn tiny_communities_work() {
        for users in 1..12 {
            let graph = make(users, &mut Rng::with_seed(3));
            assert_eq!(graph.len(), users as usize);
            assert!(graph.iter().all(|targets| targets.len() < users as usize));
        }
    }
}

//! A follow graph in two flat lists.

use fastrand::Rng;

/// Who follows whom. Four bytes for each follow, eight for each user.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Graph {
    /// For each user the end of its followees in `targets`.
    ends: Vec<u32>,
    /// The followees of each user, in ascending order.
    targets: Vec<u32>,
    /// For each user the number of its followers.
    audiences: Vec<u32>,
}

impl Graph {
    /// Most follows of a graph.
    pub const MOST_FOLLOWS: usize = 200_000_000;

    /// A graph of `users` users with follows as pairs of user and followee. Follows of oneself, of users that are not
    /// there, and repeated ones are left out.
    pub fn new(users: u32, mut follows: Vec<(u32, u32)>) -> Self {
        follows.retain(|&(user, target)| user != target && user < users && target < users);
        follows.sort_unstable();
        follows.dedup();
        let mut graph = Self::without_follows(users);
        let mut follows = follows.into_iter().peekable();
        for user in 0..users {
            while let Some((_, target)) = follows.next_if(|follow| follow.0 == user) {
                graph.targets.push(target);
            }
            graph.end_of_user();
        }
        graph
    }

    /// For users that are added in order; see [`Graph::add_user`].
    pub(super) fn without_follows(users: u32) -> Self {
        let users = users as usize;
        Self { ends: Vec::with_capacity(users), targets: Vec::new(), audiences: vec![0; users] }
    }

    /// Adds the followees of the next user, which are distinct and do not contain the user.
    pub(super) fn add_user(&mut self, mut followees: Vec<u32>) {
        followees.sort_unstable();
        self.targets.append(&mut followees);
        self.end_of_user();
    }

    fn end_of_user(&mut self) {
        let begin = self.ends.last().map_or(0, |end| *end as usize);
        for target in &self.targets[begin..] {
            self.audiences[*target as usize] += 1;
        }
        self.ends.push(self.targets.len() as u32);
    }

    /// The number of users.
    pub fn users(&self) -> u32 {
        self.audiences.len() as u32
    }

    /// The number of follows.
    pub fn edges(&self) -> usize {
        self.targets.len()
    }

    /// The followees of a user, in ascending order.
    pub fn following(&self, user: u32) -> &[u32] {
        let user = user as usize;
        let begin = if user == 0 { 0 } else { self.ends[user - 1] as usize };
        &self.targets[begin..self.ends[user] as usize]
    }

    /// The number of followers of a user.
    pub fn audience(&self, user: u32) -> u32 {
        self.audiences[user as usize]
    }

    /// The first of the users with the most followers.
    pub fn giant(&self) -> u32 {
        let users = 0..self.users();
        users.max_by_key(|user| (self.audience(*user), std::cmp::Reverse(*user))).unwrap_or(0)
    }

    /// All follows: user and followee, ordered by user.
    pub fn follows(&self) -> impl Iterator<Item = (u32, u32)> + '_ {
        (0..self.users()).flat_map(|user| self.following(user).iter().map(move |target| (user, *target)))
    }

    /// A user by preference for users with followers: each as likely as it has followers. `None` without follows.
    pub fn popular(&self, random: &mut Rng) -> Option<u32> {
        random.choice(&self.targets).copied()
    }
}

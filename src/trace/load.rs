//! A graph with the posts on it.

use fastrand::Rng;

use super::graph::Graph;

/// A post to publish.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Post {
    /// The number of its author.
    pub author: u32,
    /// The number of characters of its text.
    pub length: u16,
}

impl Post {
    /// Characters of a post, where no file says it.
    pub const LENGTH: u16 = 120;
}

/// All that a load needs besides its mix and rate.
#[derive(Debug)]
pub struct Load {
    graph: Graph,
    /// Posts of files; empty if authors are chosen.
    posts: Vec<Post>,
    /// The weights of the users as authors, each with those of the users before.
    weights: Vec<f64>,
    pub(super) seed: u64,
}

impl Load {
    /// A graph, and posts in their order, again and again; without posts, authors by chance: the more followers, the more
    /// posts (by the logarithm).
    pub fn new(graph: Graph, posts: Vec<Post>, seed: u64) -> Self {
        let weight = |user| (1.0 + f64::from(graph.audience(user))).ln();
        let weights = (0..graph.users()).map(weight).scan(0.0, |sum, weight| {
            *sum += weight;
            Some(*sum)
        });
        Self { weights: weights.collect(), graph, posts, seed }
    }

    /// The graph.
    pub fn graph(&self) -> &Graph {
        &self.graph
    }

    /// Post number `number`, from 0.
    pub(super) fn post(&self, number: usize, random: &mut Rng) -> Post {
        if !self.posts.is_empty() {
            return self.posts[number % self.posts.len()];
        }
        let drawn = random.f64() * self.weights.last().copied().unwrap_or(0.0);
        // Without follows all have weight 0, and the first user publishes.
        let author = self.weights.partition_point(|sum| *sum <= drawn).min(self.weights.len().saturating_sub(1));
        Post { author: if drawn == 0.0 { 0 } else { author as u32 }, length: Post::LENGTH }
    }

    /// Posts to publish before the first operation.
    pub fn history(&self, count: usize) -> impl Iterator<Item = Post> + '_ {
        let mut random = Rng::with_seed(self.seed);
        (0..count).map(move |number| self.post(number, &mut random))
    }
}

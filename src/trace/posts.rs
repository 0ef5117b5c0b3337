//! Who publishes.

use std::sync::Arc;

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

/// The authors of posts, one after the other: those of a list in its order, again and again, or by chance. Users with
/// more followers publish more by chance: as often as the logarithm of their followers says.
#[derive(Debug, Clone)]
pub(super) enum Authors {
    Listed { posts: Arc<[Post]>, next: usize },
    Chosen { sums: Arc<[f64]> },
}

impl Authors {
    pub(super) fn new(graph: &Graph, posts: Option<Arc<[Post]>>) -> Self {
        if let Some(posts) = posts.filter(|posts| !posts.is_empty()) {
            return Self::Listed { posts, next: 0 };
        }
        let weight = |user| (1.0 + f64::from(graph.audience(user))).ln();
        let sums = (0..graph.users()).map(weight).scan(0.0, |sum, weight| {
            *sum += weight;
            Some(*sum)
        });
        Self::Chosen { sums: sums.collect() }
    }

    /// Leaves out the first posts of a list.
    pub(super) fn skip(&mut self, count: usize) {
        if let Self::Listed { posts, next } = self {
            *next = (*next + count % posts.len()) % posts.len();
        }
    }

    pub(super) fn next(&mut self, random: &mut Rng) -> Post {
        match self {
            Self::Listed { posts, next } => {
                let post = posts[*next];
                *next = (*next + 1) % posts.len();
                post
            }
            Self::Chosen { sums } => {
                let drawn = random.f64() * sums.last().copied().unwrap_or(0.0);
                // Without follows all have weight 0, and the first user publishes.
                let author = sums.partition_point(|sum| *sum <= drawn).min(sums.len().saturating_sub(1));
                let author = if drawn == 0.0 { 0 } else { author };
                Post { author: author as u32, length: Post::LENGTH }
            }
        }
    }
}

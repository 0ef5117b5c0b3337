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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn users_with_followers_publish_more() {
        // 0 has 63 followers, 1 has 7, the others none.
        let follows = (2..65).map(|user| (user, 0)).chain((2..9).map(|user| (user, 1)));
        let graph = Graph::new(65, follows.collect());
        let (mut authors, mut random) = (Authors::new(&graph, None), Rng::with_seed(1));
        let mut counts = [0; 65];
        (0..9000).for_each(|_| counts[authors.next(&mut random).author as usize] += 1);
        // ln 64 is twice ln 8.
        assert!((5700..6300).contains(&counts[0]) && counts[0] + counts[1] == 9000, "{counts:?}");
    }

    #[test]
    fn listed_posts_come_in_their_order_again_and_again() {
        let posts: Arc<[Post]> = [3, 1, 4].map(|author| Post { author, length: 5 }).into();
        let graph = Graph::new(5, Vec::new());
        let (mut authors, mut random) = (Authors::new(&graph, Some(posts)), Rng::with_seed(1));
        authors.skip(4);
        let next: Vec<u32> = (0..4).map(|_| authors.next(&mut random).author).collect();
        assert_eq!(next, [1, 4, 3, 1]);
    }
}

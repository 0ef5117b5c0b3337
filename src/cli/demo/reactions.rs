//! Likes and favorites: most items have few, some have many, and they come from followers of the author.

use fastrand::Rng;

use super::posts::{Kind, Post};
use crate::trace::Graph;
use model::Millis;

/// Most reactions of an item.
const MOST: usize = 40;
/// One reaction in so many is a favorite.
const REACTIONS_PER_FAVORITE: u8 = 7;
/// Most reactions come this soon after the item.
const SOON: Millis = 6 * 60 * 60 * 1000;

/// A reaction of a user to the item with this index.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Liked {
    pub(super) post: usize,
    pub(super) user: u32,
    pub(super) favorite: bool,
    pub(super) at: Millis,
}

/// Passes each reaction to `take`, in the order of the items.
pub(super) fn make<E>(
    graph: &Graph,
    posts: &[Post],
    until: Millis,
    random: &mut Rng,
    mut take: impl FnMut(Liked) -> Result<(), E>,
) -> Result<(), E> {
    let mut followers: Vec<Vec<u32>> = vec![Vec::new(); graph.users() as usize];
    graph.follows().iter().for_each(|(user, target)| followers[*target as usize].push(*user));
    for (index, post) in posts.iter().enumerate().filter(|(_, post)| post.kind == Kind::Post) {
        let crowd = &followers[post.author as usize];
        let share = random.f64();
        // A high power makes small numbers common.
        let wanted = (share.powi(4) * MOST.min(crowd.len()) as f64) as usize;
        let first = random.usize(..crowd.len().max(1));
        // Neighbours in the list, so that nobody is chosen twice.
        for user in crowd.iter().cycle().skip(first).take(wanted) {
            let at = post.at + random.u64(..=SOON.min(until - post.at));
            let favorite = random.u8(..REACTIONS_PER_FAVORITE) == 0;
            take(Liked { post: index, user: *user, favorite, at })?;
        }
    }
    Ok(())
}

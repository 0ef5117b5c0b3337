//! Posts of the last two weeks, with comments and reposts: mostly by a few users, in bursts, with equal times.

use fastrand::Rng;

use super::people::{CLOCK, GAZETTE, writes_chinese};
use super::texts;

use crate::model::Millis;

const MINUTE: Millis = 60_000;
const DAY: Millis = 24 * 60 * MINUTE;
/// Age limit of posts.
pub(super) const WINDOW: Millis = 14 * DAY;
/// Age limit of follows.
pub(super) const YEAR: Millis = 365 * DAY;

/// There is one burst for each group of this many posts.
const POSTS_PER_BURST: u32 = 1000;

/// Of 100 items, so many are comments on an earlier post …
const COMMENTS: u8 = 12;
/// … and so many are reposts of one.
const REPOSTS: u8 = 6;
/// An answer is to one of so many items before it: people answer what is new.
const RECENT: usize = 200;
/// One post in so many has a picture.
const POSTS_PER_PICTURE: u8 = 7;

/// The kind of an item; an answer has the index of its post.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Post,
    Comment(usize),
    Repost(usize),
}

/// One item.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Post {
    /// Index of the author.
    pub(super) author: u32,
    /// Time.
    pub(super) at: Millis,
    pub(super) kind: Kind,
    pub(super) text: String,
    pub(super) topics: &'static [&'static str],
    /// The number of its picture, if it has one.
    pub(super) picture: Option<u64>,
}

/// This number of items, oldest first; items of one millisecond are in random order. An answer comes after its post.
pub(super) fn make(graph: &[Vec<u32>], posts: u32, until: Millis, seed: u64, random: &mut Rng) -> Vec<Post> {
    let bursts: Vec<Millis> =
        (0..posts.div_ceil(POSTS_PER_BURST)).map(|_| until - random.u64(..WINDOW - 10 * MINUTE)).collect();
    let mut places: Vec<(Millis, u32)> =
        (0..posts).map(|_| (time(&bursts, until, random), author(graph, random))).collect();
    places.sort_by_key(|(at, _)| *at);
    let mut made: Vec<Post> = Vec::with_capacity(places.len());
    for (at, author) in places {
        let post = write(author, at, &made, seed, random);
        made.push(post);
    }
    made
}

/// The item of an author at a time, after others.
fn write(author: u32, at: Millis, before: &[Post], seed: u64, random: &mut Rng) -> Post {
    let plain = Post { author, at, kind: Kind::Post, text: String::new(), topics: &[], picture: None };
    let user = author as usize;
    let answered = before.len().checked_sub(1 + random.usize(..RECENT));
    let answered = answered.filter(|index| before[*index].kind == Kind::Post && before[*index].at < at);
    let share = random.u8(..100);
    match answered {
        _ if user == CLOCK => Post { text: texts::tide(at), topics: &["tide"], ..plain },
        _ if user == GAZETTE => {
            let (text, topics) = texts::news(random);
            Post { text: text.to_owned(), topics, ..plain }
        }
        Some(post) if share < COMMENTS => {
            Post { kind: Kind::Comment(post), text: texts::comment(random).to_owned(), ..plain }
        }
        Some(post) if share < COMMENTS + REPOSTS => Post { kind: Kind::Repost(post), ..plain },
        _ => {
            let (text, topics) = texts::post(writes_chinese(seed, user), random);
            let picture = (random.u8(..POSTS_PER_PICTURE) == 0).then(|| random.u64(..));
            Post { text: text.to_owned(), topics, picture, ..plain }
        }
    }
}

/// Half of the posts are by followees of random users, so mostly by popular authors; the others by any user, low ids
/// more often.
fn author(graph: &[Vec<u32>], random: &mut Rng) -> u32 {
    let followed = random.choice(graph).and_then(|targets| random.choice(targets)).copied();
    let share = random.f64();
    let anybody = (share * share * graph.len() as f64) as u32;
    followed.filter(|_| random.bool()).unwrap_or(anybody)
}

fn time(bursts: &[Millis], until: Millis, random: &mut Rng) -> Millis {
    let at = match random.choice(bursts) {
        // In the ten minutes before the burst's time, mostly close to it.
        Some(burst) if random.u8(..100) < 40 => {
            let share = random.f64();
            burst - (share * share * share * (10 * MINUTE) as f64) as Millis
        }
        _ => until - random.u64(..WINDOW),
    };
    // Many hosts keep only whole seconds, so equal times are common.
    if random.u8(..100) < 60 { at - at % 1000 } else { at }
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use super::super::graph;
    use super::*;

    #[test]
    fn posts_are_in_order_in_the_window_with_bursts_and_ties() {
        let mut random = Rng::with_seed(1);
        let graph = graph::make(500, &mut random);
        let until = 1_700_000_000_123;
        let posts = make(&graph, 20_000, until, 1, &mut random);
        assert_eq!(posts.len(), 20_000);
        assert!(posts.is_sorted_by_key(|post| post.at));
        assert!(posts.iter().all(|post| (until - WINDOW - 1000..=until).contains(&post.at) && post.author < 500));
        let count = |key: fn(&Post) -> u64| {
            let mut counts = HashMap::<u64, u32>::new();
            posts.iter().for_each(|post| *counts.entry(key(post)).or_default() += 1);
            counts
        };
        let busiest_minute = count(|post| post.at / MINUTE).into_values().max().expect("posts");
        assert!(busiest_minute > 50, "{busiest_minute} in the busiest minute");
        let tied = count(|post| post.at).into_values().filter(|count| *count > 1).count();
        assert!(tied > 500, "{tied} ties");
        let mut by_author: Vec<u32> = count(|post| u64::from(post.author)).into_values().collect();
        by_author.sort_unstable();
        let (most, median) = (by_author[by_author.len() - 1], by_author[by_author.len() / 2]);
        assert!(most > 5 * median, "no heavy tail: {most} and {median}");
        let of = |wanted: fn(&Kind) -> bool| posts.iter().filter(|post| wanted(&post.kind)).count();
        let (comments, reposts) =
            (of(|kind| matches!(kind, Kind::Comment(_))), of(|kind| matches!(kind, Kind::Repost(_))));
        assert!(comments > 800 && reposts > 400, "{comments} comments, {reposts} reposts");
        for post in &posts {
            if let Kind::Comment(of) | Kind::Repost(of) = post.kind {
                assert!(posts[of].kind == Kind::Post && posts[of].at < post.at);
            }
            assert_eq!(post.text.is_empty(), matches!(post.kind, Kind::Repost(_)));
        }
        assert!(posts.iter().filter(|post| post.picture.is_some()).count() > 1000);
    }

    #[test]
    fn no_post_is_no_post() {
        assert_eq!(make(&[vec![]], 0, YEAR, 1, &mut Rng::with_seed(1)), []);
        assert_eq!(make(&[vec![]], 3, YEAR, 1, &mut Rng::with_seed(1)).len(), 3);
    }
}

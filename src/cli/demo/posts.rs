//! Posts of the last two weeks: mostly by a few users, in bursts, with equal times.

use fastrand::Rng;

use crate::model::Millis;

const MINUTE: Millis = 60_000;
const DAY: Millis = 24 * 60 * MINUTE;
/// Age limit of posts.
pub(super) const WINDOW: Millis = 14 * DAY;
/// Age limit of follows.
pub(super) const YEAR: Millis = 365 * DAY;

/// There is one burst for each group of this many posts.
const POSTS_PER_BURST: u32 = 1000;

/// One post.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Post {
    /// Index of the author.
    pub(super) author: u32,
    /// Time.
    pub(super) at: Millis,
    /// Text.
    pub(super) text: String,
}

/// This number of posts, oldest first; posts of one millisecond are in random order.
pub(super) fn make(graph: &[Vec<u32>], posts: u32, until: Millis, random: &mut Rng) -> Vec<Post> {
    let bursts: Vec<Millis> =
        (0..posts.div_ceil(POSTS_PER_BURST)).map(|_| until - random.u64(..WINDOW - 10 * MINUTE)).collect();
    let mut made: Vec<Post> = (0..posts)
        .map(|_| Post { author: author(graph, random), at: time(&bursts, until, random), text: text(random) })
        .collect();
    made.sort_by_key(|post| post.at);
    made
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

fn text(random: &mut Rng) -> String {
    const OPENINGS: &[&str] = &[
        "Just finished",
        "Thinking about",
        "Who else likes",
        "Morning walk:",
        "Finally fixed",
        "Reading up on",
        "Lunch break with",
        "Can anybody recommend",
        "Proud of",
        "Day three of",
        "Back to",
        "Unpopular opinion:",
    ];
    const THINGS: &[&str] = &[
        "the old harbour",
        "a new bicycle",
        "sourdough",
        "my first marathon",
        "the night train",
        "a broken radio",
        "three small cats",
        "the autumn market",
        "a very long book",
        "this garden",
        "tidal pools",
        "the last tram",
    ];
    const ENDINGS: &[&str] = &[
        ".",
        "!",
        "?",
        ", and it was worth it.",
        ", again.",
        " (photos soon).",
        " – \"never again\", I said.",
        ".\nMore tomorrow.",
        " 🌊",
        ", as every year.",
    ];
    let mut part = |among: &[&'static str]| random.choice(among).copied().unwrap_or_default();
    let (opening, thing, ending) = (part(OPENINGS), part(THINGS), part(ENDINGS));
    format!("{opening} {thing}{ending}")
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
        let posts = make(&graph, 20_000, until, &mut random);
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
        assert!(posts.iter().all(|post| post.text.len() > 10));
    }

    #[test]
    fn no_post_is_no_post() {
        assert_eq!(make(&[vec![]], 0, YEAR, &mut Rng::with_seed(1)), []);
        assert_eq!(make(&[vec![]], 3, YEAR, &mut Rng::with_seed(1)).len(), 3);
    }
}

//! Items of the last two weeks: mostly by a few users, with equal times; and the reactions to them.

use fastrand::Rng;
use serde_json::Value;

use super::people::cast;
use super::texts::{self, ADVERTS, TEXTS, TIDE};
use super::writer::{Answer, Post, Writer};
use crate::trace::Graph;
use model::Millis;

const MINUTE: Millis = 60_000;
const HOUR: Millis = 60 * MINUTE;
/// Age limit of posts.
pub(super) const WINDOW: Millis = 14 * 24 * HOUR;
/// Age limit of follows.
pub(super) const YEAR: Millis = 365 * 24 * HOUR;

/// Of 100 items, so many are comments on an earlier post …
const COMMENTS: u8 = 12;
/// … and so many are reposts of one.
const REPOSTS: u8 = 6;

/// Most reactions to a post.
const MOST_REACTIONS: usize = 40;
/// One reaction in so many is a favorite.
const REACTIONS_PER_FAVORITE: u8 = 7;
/// Most reactions come this soon after the post.
const SOON: Millis = 6 * HOUR;

/// What is to be written at a time.
#[derive(Debug, Clone, Copy)]
enum Plan {
    /// Anything by this user.
    Any(u32),
    /// A line of a thread.
    Line { thread: usize, line: usize },
}

/// An item, its time, and its body as a request without id and time.
#[derive(Debug)]
pub(super) struct Item {
    pub(super) post: Post,
    pub(super) body: Value,
    /// The users who react to it, with the time, and whether it is a favorite.
    pub(super) reactions: Vec<(u32, Millis, bool)>,
}

/// Passes each item of the community to `take`, oldest first; items of one millisecond are in random order. An answer comes
/// after its post. The threads are among them, unless that would be more than a tenth.
pub(super) fn make<E>(
    graph: &Graph,
    writer: &mut Writer,
    mut take: impl FnMut(Item) -> Result<(), E>,
) -> Result<(), E> {
    let mut followers: Vec<Vec<u32>> = vec![Vec::new(); graph.users() as usize];
    graph.follows().iter().for_each(|(user, target)| followers[*target as usize].push(*user));
    let until = writer.community.until;
    let mut openings = vec![None; TEXTS.threads.len()];
    for (number, (at, plan)) in plan(graph, writer).into_iter().enumerate() {
        let (author, answer, subject, body) = match plan {
            Plan::Any(author) => {
                let user = author as usize;
                let answer = answer(writer, user, at);
                let (subject, body) = writer.write(user, at, answer.as_ref());
                (user, answer, subject, body)
            }
            Plan::Line { thread, line } => {
                let subject = texts::named(&TEXTS.threads[thread].subject).unwrap_or_default();
                let (author, text) = &TEXTS.threads[thread].lines[line];
                let answer = openings[thread].clone().map(Answer::Comment);
                (*author, answer.clone(), subject, writer.body(*author, subject, answer.as_ref(), text))
            }
        };
        let post = Post { id: writer.community.post(number), author, at, subject };
        let mut reactions = Vec::new();
        if answer.is_none() {
            writer.remember(post.clone());
            if let Plan::Line { thread, .. } = plan {
                openings[thread] = Some(post.clone());
            }
            reactions = react(&followers[author], at, until, &mut writer.random);
        }
        take(Item { post, body, reactions })?;
    }
    Ok(())
}

/// The times of all items, with what is to be written.
fn plan(graph: &Graph, writer: &mut Writer) -> Vec<(Millis, Plan)> {
    let Writer { community, random, .. } = writer;
    let (until, mut plans) = (community.until, Vec::new());
    let lines: u32 = TEXTS.threads.iter().map(|thread| thread.lines.len() as u32).sum();
    if community.posts / 10 >= lines && graph.users() as usize >= cast() {
        for (number, thread) in TEXTS.threads.iter().enumerate() {
            let mut at = until - thread.age * MINUTE;
            for line in 0..thread.lines.len() {
                plans.push((at, Plan::Line { thread: number, line }));
                at += random.u64(MINUTE..7 * MINUTE);
            }
        }
    }
    let others = community.posts - plans.len() as u32;
    plans.extend((0..others).map(|_| (time(until, random), Plan::Any(author(graph, random)))));
    plans.sort_by_key(|(at, _)| *at);
    plans
}

/// The post that a user answers, if it writes no post.
fn answer(writer: &mut Writer, user: usize, at: Millis) -> Option<Answer> {
    let post = writer.answerable(user, at)?;
    match writer.random.u8(..100) {
        0..COMMENTS => Some(Answer::Comment(post)),
        share if share < COMMENTS + REPOSTS && ![ADVERTS, TIDE].contains(&post.subject) => Some(Answer::Repost(post)),
        _ => None,
    }
}

/// Reactions of followers of the author: to most posts few, to some many.
fn react(crowd: &[u32], at: Millis, until: Millis, random: &mut Rng) -> Vec<(u32, Millis, bool)> {
    // A high power makes small numbers common.
    let wanted = (random.f64().powi(4) * MOST_REACTIONS.min(crowd.len()) as f64) as usize;
    let first = random.usize(..crowd.len().max(1));
    // Neighbours in the list, so that nobody is chosen twice.
    let users = crowd.iter().cycle().skip(first).take(wanted);
    let react =
        |user: &u32| (*user, at + random.u64(..=SOON.min(until - at)), random.u8(..REACTIONS_PER_FAVORITE) == 0);
    users.map(react).collect()
}

/// Half of the posts are by popular authors. The others are by any user, low ids more often.
fn author(graph: &Graph, random: &mut Rng) -> u32 {
    let share = random.f64();
    let anybody = (share * share * f64::from(graph.users())) as u32;
    graph.popular(random).filter(|_| random.bool()).unwrap_or(anybody)
}

fn time(until: Millis, random: &mut Rng) -> Millis {
    let at = until - random.u64(..WINDOW);
    // Many hosts keep only whole seconds, so equal times are common.
    if random.u8(..100) < 60 { at - at % 1000 } else { at }
}

#[cfg(test)]
mod tests {
    use std::collections::{HashMap, HashSet};
    use std::convert::Infallible;

    use super::super::people::READER;
    use super::super::{Community, Ids, graph};
    use super::*;

    const UNTIL: Millis = 1_700_000_000_123;

    fn made(users: u32, posts: u32) -> (Graph, Vec<Item>) {
        let community = Community { users, posts, ids: Ids::Numbers, seed: 1, until: UNTIL };
        let mut random = Rng::with_seed(1);
        let graph = graph::make(users, &mut random);
        let mut items = Vec::new();
        let taken = make(&graph, &mut Writer::new(community, random), |item| {
            items.push(item);
            Ok::<(), Infallible>(())
        });
        taken.expect("all are taken");
        (graph, items)
    }

    fn text(item: &Item) -> &str {
        item.body["text"].as_str().expect("a text")
    }

    fn of_kind<'a>(items: &'a [Item], kind: &str) -> Vec<&'a Item> {
        items.iter().filter(|item| item.body["kind"].as_str().unwrap_or("post") == kind).collect()
    }

    fn distinct(items: &[&Item]) -> usize {
        items.iter().map(|item| text(item)).collect::<HashSet<_>>().len()
    }

    #[test]
    fn items_are_in_order_in_the_window_with_ties() {
        let (_, items) = made(500, 20_000);
        assert_eq!(items.len(), 20_000);
        assert!(items.is_sorted_by_key(|item| item.post.at));
        let window = UNTIL - WINDOW - 1000..=UNTIL;
        assert!(items.iter().all(|item| window.contains(&item.post.at) && item.post.author < 500));
        let count = |key: fn(&Post) -> u64| {
            let mut counts = HashMap::<u64, u32>::new();
            items.iter().for_each(|item| *counts.entry(key(&item.post)).or_default() += 1);
            counts
        };
        let tied = count(|post| post.at).into_values().filter(|count| *count > 1).count();
        assert!(tied > 50, "{tied} ties");
        let mut by_author: Vec<u32> = count(|post| post.author as u64).into_values().collect();
        by_author.sort_unstable();
        let (most, median) = (by_author[by_author.len() - 1], by_author[by_author.len() / 2]);
        assert!(most > 5 * median, "no heavy tail: {most} and {median}");
        let (comments, reposts) = (of_kind(&items, "comment").len(), of_kind(&items, "repost").len());
        assert!(comments > 800 && reposts > 400, "{comments} comments, {reposts} reposts");
        let posts: HashMap<&str, &Item> =
            of_kind(&items, "post").into_iter().map(|item| (item.post.id.as_str(), item)).collect();
        for item in &items {
            if let Some(answered) = item.body["ref_id"].as_str() {
                assert!(posts[answered].post.at < item.post.at);
            }
            assert!(!text(item).is_empty());
            assert!(item.reactions.iter().all(|(_, at, _)| (item.post.at..=UNTIL).contains(at)));
        }
        assert!(items.iter().filter(|item| item.body.get("media").is_some()).count() > 1000);
        assert!(items.iter().filter(|item| !item.reactions.is_empty()).count() > 1000);
    }

    #[test]
    fn the_reader_sees_many_authors_and_no_text_again_soon() {
        let (graph, items) = made(2000, 20_000);
        let in_timeline =
            |item: &&Item| item.body["kind"] != "comment" && graph.has(READER as u32, item.post.author as u32);
        let seen: Vec<&Item> = items.iter().rev().filter(in_timeline).collect();
        assert!(seen.len() > 500, "{}", seen.len());
        let authors: HashSet<usize> = seen[..50].iter().map(|item| item.post.author).collect();
        let newest = distinct(&seen[..50]);
        assert!(authors.len() >= 8 && newest > 45, "{} authors, {newest} texts", authors.len());
        let repeated = seen.windows(2).filter(|two| text(two[0]) == text(two[1])).count();
        assert_eq!(repeated, 0);
        let (mut posts, comments) = (of_kind(&items, "post"), distinct(&of_kind(&items, "comment")));
        posts.retain(|item| item.post.subject != TIDE);
        assert!(distinct(&posts) > 200 && comments > 120, "{} texts, {comments} comments", distinct(&posts));
    }

    #[test]
    fn threads_are_told_in_their_order() {
        let (_, items) = made(50, 1000);
        for thread in TEXTS.threads.iter() {
            let opening = items.iter().find(|item| text(item) == thread.lines[0].1).expect("told");
            assert_eq!(opening.body.get("ref_id"), None);
            assert_eq!(opening.post.subject, texts::named(&thread.subject).expect("a subject"));
            let told = items.iter().filter(|item| item.body["ref_id"] == *opening.post.id);
            let told = told.map(|item| (item.post.author, text(item).to_owned()));
            let scripted: Vec<_> = told.filter(|line| thread.lines.contains(line)).collect();
            assert_eq!(scripted, thread.lines[1..]);
        }
    }

    #[test]
    fn no_post_is_no_post() {
        assert_eq!(made(1, 0).1.len(), 0);
        assert_eq!(made(1, 3).1.len(), 3);
    }
}

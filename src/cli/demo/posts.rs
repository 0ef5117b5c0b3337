//! Items of the last two weeks: mostly by a few users, with equal times; and the reactions to them.

use fastrand::Rng;

use super::people::cast;
use super::texts::{self, ADVERTS, TEXTS, TIDE};
use super::writer::{Answer, Post, Writer};
use crate::cli::graph::Graph;
use crate::prelude::*;

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

/// One item to write at a time.
#[derive(Debug, Clone, Copy)]
enum Plan {
    /// Anything by this user.
    Any(u32),
    /// A line of a thread.
    Line { thread: usize, line: usize },
}

/// Writes each item of the community, oldest first, and the reactions to it; items of one millisecond are in random order. An
/// answer comes after its post. The threads are among them, unless that would be more than a tenth. Returns the number of
/// reactions.
pub(super) fn write(
    content: &mut impl Write,
    reactions: &mut impl Write,
    graph: &Graph,
    writer: &mut Writer,
) -> io::Result<usize> {
    writeln!(reactions, "content_id,user_id,kind,since")?;
    let mut count = 0;
    let mut followers: Vec<Vec<u32>> = vec![Vec::new(); graph.users() as usize];
    graph.follows().iter().for_each(|(user, target)| followers[*target as usize].push(*user));
    let until = writer.community.until;
    let mut openings = vec![None; TEXTS.threads.len()];
    for (number, (at, plan)) in plan(graph, writer).into_iter().enumerate() {
        let (author, answer, subject, mut body) = match plan {
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
        let id = writer.community.post(number);
        (body["content_id"], body["published_at"]) = (json!(id), json!(at));
        writeln!(content, "{body}")?;
        if answer.is_some() {
            continue;
        }
        for (user, at, is_favorite) in react(&followers[author], at, until, &mut writer.random) {
            let (user, kind) = (writer.community.user(user as usize), if is_favorite { "favorite" } else { "like" });
            writeln!(reactions, "{id},{user},{kind},{at}")?;
            count += 1;
        }
        let post = Post { id, author, at, subject };
        if let Plan::Line { thread, .. } = plan {
            openings[thread] = Some(post.clone());
        }
        writer.remember(post);
    }
    Ok(count)
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

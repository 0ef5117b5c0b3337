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
struct Plan {
    at: Millis,
    author: usize,
    /// The thread, and the text in it; any text if there is none.
    line: Option<(usize, &'static str)>,
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
    for (number, Plan { at, author, line }) in plan(graph, writer).into_iter().enumerate() {
        let (answer, (subject, mut body)) = match line {
            None => {
                let answer = answer(writer, author, at);
                let written = writer.write(author, at, answer.as_ref());
                (answer, written)
            }
            Some((thread, text)) => {
                let subject = texts::named(&TEXTS.threads[thread].subject).unwrap_or_default();
                let answer = openings[thread].clone().map(|to| Answer { to, is_repost: false });
                let body = writer.body(author, subject, answer.as_ref(), text);
                (answer, (subject, body))
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
        if let Some((thread, _)) = line {
            openings[thread] = Some(post.clone());
        }
        writer.remember(post);
    }
    Ok(count)
}

/// All items, oldest first.
fn plan(graph: &Graph, writer: &mut Writer) -> Vec<Plan> {
    let Writer { community, random, .. } = writer;
    let (until, mut plans) = (community.until, Vec::new());
    let lines: u32 = TEXTS.threads.iter().map(|thread| thread.lines.len() as u32).sum();
    if community.posts / 10 >= lines && graph.users() as usize >= cast() {
        for (number, thread) in TEXTS.threads.iter().enumerate() {
            let mut at = until - thread.age * MINUTE;
            for (author, text) in &thread.lines {
                plans.push(Plan { at, author: *author, line: Some((number, text)) });
                at += random.u64(MINUTE..7 * MINUTE);
            }
        }
    }
    let others = community.posts - plans.len() as u32;
    let any = |_| Plan { at: time(until, random), author: author(graph, random) as usize, line: None };
    plans.extend((0..others).map(any));
    plans.sort_by_key(|plan| plan.at);
    plans
}

/// The post that a user answers, if it writes no post.
fn answer(writer: &mut Writer, user: usize, at: Millis) -> Option<Answer> {
    let post = writer.answerable(user, at)?;
    let share = writer.random.u8(..100);
    let is_repost = share >= COMMENTS;
    let may = share < COMMENTS + REPOSTS && !(is_repost && [ADVERTS, TIDE].contains(&post.subject));
    may.then_some(Answer { to: post, is_repost })
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

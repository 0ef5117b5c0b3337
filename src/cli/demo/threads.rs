//! Conversations, told line by line.

use std::sync::LazyLock;

use super::texts;

/// A post with its comments.
pub(super) struct Thread {
    /// Index of the subject.
    pub(super) subject: usize,
    /// Age of the post, in minutes, when the community is made.
    pub(super) age: u64,
    /// The post, then the comments, each with the index of its author.
    pub(super) lines: Vec<(usize, &'static str)>,
}

pub(super) static THREADS: LazyLock<Vec<Thread>> = LazyLock::new(|| {
    let mut threads: Vec<Thread> = Vec::new();
    let number = |text: &str| text.parse().unwrap_or_default();
    for line in texts::lines(include_str!("texts/threads.txt")) {
        match (line.split_once(' '), threads.last_mut()) {
            (Some(("##", head)), _) => {
                let (subject, age) = head.split_once(' ').unwrap_or_default();
                let subject = texts::named(subject).unwrap_or_default();
                threads.push(Thread { subject, age: number(age) as u64, lines: Vec::new() });
            }
            (Some((author, text)), Some(thread)) => thread.lines.push((number(author), text)),
            _ => {}
        }
    }
    threads
});

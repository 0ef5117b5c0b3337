//! The texts of posts and comments, by subject, because a subject is also a topic.

pub(super) mod decks;

use std::ops::Range;
use std::sync::LazyLock;

/// A subject, and the words of those who care for it.
#[derive(Debug, Default)]
struct Subject {
    topics: Vec<&'static str>,
    /// How they describe themselves.
    bios: Vec<String>,
    posts: Vec<String>,
    /// Answers to its posts, in the language of the subject.
    comments: Vec<String>,
}

/// The lines of a file of texts, without comments and empty lines.
pub(super) fn lines(text: &'static str) -> impl Iterator<Item = &'static str> {
    text.lines().filter(|line| !line.is_empty() && !line.starts_with("# "))
}

/// The subjects, in the order of their numbers; then the comments for any post, and the words above reposts.
static SUBJECTS: LazyLock<Vec<Subject>> = LazyLock::new(|| {
    let mut subjects: Vec<Subject> = Vec::new();
    let mut part: fn(&mut Subject) -> &mut Vec<String> = |subject| &mut subject.posts;
    for line in lines(include_str!("texts/subjects.txt")) {
        if let Some(topics) = line.strip_prefix("## ") {
            subjects.push(Subject { topics: topics.split(", ").collect(), ..Subject::default() });
            continue;
        }
        match (line, subjects.last_mut()) {
            ("bios:", _) => part = |subject| &mut subject.bios,
            ("posts:", _) => part = |subject| &mut subject.posts,
            ("comments:", _) => part = |subject| &mut subject.comments,
            (text, Some(subject)) => part(subject).push(text.replace("\\n", "\n")),
            (_, None) => {}
        }
    }
    subjects
});

/// The subjects of people who write English.
pub(super) const ENGLISH: Range<usize> = FERRY..NEWS;

pub(super) const FERRY: usize = 0;
pub(super) const NEWS: usize = 16;
pub(super) const ADVERTS: usize = 17;
pub(super) const TIDE: usize = 18;
pub(super) const CHINESE: usize = 20;
pub(super) const ARABIC: usize = 21;
/// Comments for any post.
const ANY: usize = 22;
/// Words above a repost.
const REMARKS: usize = 23;

/// A language.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Tongue {
    English,
    Chinese,
    Arabic,
}

impl Tongue {
    /// The one subject that holds all texts of a language other than English.
    pub(super) fn subject(self) -> Option<usize> {
        match self {
            Self::English => None,
            Self::Chinese => Some(CHINESE),
            Self::Arabic => Some(ARABIC),
        }
    }
}

/// The subject whose first topic has this name.
pub(super) fn named(topic: &str) -> Option<usize> {
    SUBJECTS.iter().position(|subject| subject.topics.first() == Some(&topic))
}

/// The topics of the posts on a subject.
pub(super) fn topics(subject: usize) -> &'static [&'static str] {
    &SUBJECTS[subject].topics
}

/// How a person who cares for a subject may describe itself; the same number gives the same words.
pub(super) fn bio(subject: usize, number: u64) -> &'static str {
    let bios = &SUBJECTS[subject].bios;
    &bios[(number % bios.len() as u64) as usize]
}

/// The height of the water, which rises and falls twice a day, at a time in milliseconds since 1970.
pub(super) fn tide(at: u64) -> String {
    const PERIOD: f64 = 12.42 * 3_600_000.0;
    let phase = at as f64 / PERIOD * std::f64::consts::TAU;
    let (height, word) = (2.4 + 1.8 * phase.sin(), if phase.cos() > 0.0 { "rising" } else { "falling" });
    let time = at / 1000 % (24 * 60 * 60);
    let [hours, minutes, seconds] = [time / 3600, time / 60 % 60, time % 60];
    format!("{hours:02}:{minutes:02}:{seconds:02} UTC: {height:.3} m at the old harbour, {word}.")
}

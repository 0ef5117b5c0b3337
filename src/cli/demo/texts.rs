//! The texts and pictures of posts and comments, by subject, because a subject is also a topic.

use std::ops::Range;
use std::sync::LazyLock;

use serde::Deserialize;

/// All texts. A test finds them whole.
pub(super) static TEXTS: LazyLock<Texts> =
    LazyLock::new(|| toml::from_str(include_str!("texts.toml")).unwrap_or_default());

#[derive(Debug, Default, Deserialize)]
pub(super) struct Texts {
    /// First and last names; in Chinese family names and then given names; in Arabic given names and then family names.
    pub(super) names: Vec<Vec<String>>,
    /// Pictures of people, which are symmetric like faces, and of posts. `HUE` stands for the hue of a colour.
    pub(super) avatars: Vec<String>,
    pub(super) landscapes: Vec<String>,
    /// Comments for any post.
    pub(super) any: Vec<String>,
    /// Words above a repost.
    pub(super) remarks: Vec<String>,
    /// Whom everybody in town knows.
    pub(super) cast: Vec<Member>,
    pub(super) threads: Vec<Thread>,
    pub(super) subjects: Vec<Subject>,
}

/// One of the cast.
#[derive(Debug, Deserialize)]
pub(super) struct Member {
    pub(super) name: String,
    pub(super) bio: String,
    /// The dearest first.
    pub(super) subjects: Vec<String>,
}

/// A conversation: a post with its comments.
#[derive(Debug, Deserialize)]
pub(super) struct Thread {
    pub(super) subject: String,
    /// Age of the post, in minutes, when the community is made.
    pub(super) age: u64,
    /// The post, then the comments, each with the index of its author.
    pub(super) lines: Vec<(usize, String)>,
}

/// A subject, and the words of those who care for it.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Subject {
    pub(super) topics: Vec<String>,
    /// How they describe themselves.
    pub(super) bios: Vec<String>,
    pub(super) posts: Vec<String>,
    /// Answers to its posts, in the language of the subject.
    pub(super) comments: Vec<String>,
}

/// The subjects of people who write English.
pub(super) const ENGLISH: Range<usize> = 0..16;
pub(super) const ADVERTS: usize = 17;
pub(super) const TIDE: usize = 18;
/// Each has all texts of its language.
pub(super) const CHINESE: usize = 20;
pub(super) const ARABIC: usize = 21;

/// The subject whose first topic has this name.
pub(super) fn named(topic: &str) -> Option<usize> {
    TEXTS.subjects.iter().position(|subject| subject.topics.first().is_some_and(|first| first == topic))
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

//! Texts of the demo: posts, and answers to new items. A text comes again only after all others of its list.

use std::collections::{HashMap, VecDeque};

use crate::prelude::*;
use fastrand::Rng;

use super::Community;
use super::people::{self, CLOCK};
use super::texts::{self, ARABIC, CHINESE, TEXTS, TIDE};

/// Most posts that somebody may still answer: people answer what is new.
const REMEMBERED: usize = 50;
/// One post in so many has a picture.
const POSTS_PER_PICTURE: u8 = 7;
/// Of 100 comments in English, so many are about the subject of the post.
const TO_THE_POINT: u8 = 60;

/// A post that somebody may answer.
#[derive(Debug, Clone)]
pub(super) struct Post {
    pub(super) id: ExternalId,
    pub(super) author: usize,
    pub(super) at: Millis,
    pub(super) subject: usize,
}

/// An answer to a post.
#[derive(Debug, Clone)]
pub(super) struct Answer {
    pub(super) to: Post,
    /// Whether it is a repost, and no comment.
    pub(super) is_repost: bool,
}

/// The hand of all people.
pub(super) struct Writer {
    pub(super) community: Community,
    pub(super) random: Rng,
    /// The place in each list of texts, by its first text.
    places: HashMap<&'static str, usize>,
    /// The newest posts of people.
    recent: VecDeque<Post>,
}

impl Writer {
    pub(super) fn new(community: Community, random: Rng) -> Self {
        Self { community, random, places: HashMap::new(), recent: VecDeque::new() }
    }

    fn draw(&mut self, texts: &'static [String]) -> &'static str {
        let Some(first) = texts.first() else { return "" };
        let place = self.places.entry(first).or_insert_with(|| self.random.usize(..texts.len()));
        *place += 1;
        &texts[*place % texts.len()]
    }

    /// Lets others answer a post.
    pub(super) fn remember(&mut self, post: Post) {
        self.recent.push_back(post);
        if self.recent.len() > REMEMBERED {
            self.recent.pop_front();
        }
    }

    /// An earlier post that a user may answer.
    pub(super) fn answerable(&mut self, user: usize, at: Millis) -> Option<Post> {
        let chosen = self.random.choice(&self.recent)?;
        let may = chosen.author != user && chosen.at < at && !people::only_posts(user);
        may.then(|| chosen.clone())
    }

    /// Something that a user writes, as a request without its id and its time; and its subject.
    pub(super) fn write(&mut self, user: usize, at: Millis, answer: Option<&Answer>) -> (usize, Value) {
        let own = people::subjects(self.community.seed, user);
        match answer {
            None if user == CLOCK => (TIDE, self.body(user, TIDE, None, &texts::tide(at))),
            None => {
                let subject = own[self.random.usize(..own.len())];
                let text = self.draw(&TEXTS.subjects[subject].posts);
                let mut body = self.body(user, subject, None, text);
                if self.random.u8(..POSTS_PER_PICTURE) == 0 {
                    body["media"] = people::picture(self.random.u64(..));
                }
                (subject, body)
            }
            Some(Answer { to: Post { subject, .. }, is_repost }) => {
                let foreign = [CHINESE, ARABIC];
                let texts = if *is_repost {
                    &TEXTS.remarks
                } else if foreign.contains(&own[0]) {
                    &TEXTS.subjects[own[0]].comments
                } else if foreign.contains(subject) || self.random.u8(..100) >= TO_THE_POINT {
                    &TEXTS.any
                } else {
                    &TEXTS.subjects[*subject].comments
                };
                let text = self.draw(texts);
                (*subject, self.body(user, *subject, answer, text))
            }
        }
    }

    /// A request with a text.
    pub(super) fn body(&self, user: usize, subject: usize, answer: Option<&Answer>, text: &str) -> Value {
        let author = self.community.user(user);
        match answer {
            None => json!({"author_id": author, "text": text, "topics": TEXTS.subjects[subject].topics}),
            // Comments are below their post, not in timelines.
            Some(Answer { to, is_repost }) => {
                let kind = if *is_repost { "repost" } else { "comment" };
                json!({"author_id": author, "text": text, "kind": kind, "ref_id": to.id, "broadcast": is_repost})
            }
        }
    }
}

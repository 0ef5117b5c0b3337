//! Texts as decks of cards: one comes again only after all others of its deck.

use fastrand::Rng;

use super::{Subject, TEXTS, Tongue};

/// Of 100 comments in English, so many are about the subject of the post.
const TO_THE_POINT: u8 = 60;

/// A deck for each use, all shuffled.
pub(in crate::cli::demo) struct Decks {
    posts: Vec<Deck>,
    comments: Vec<Deck>,
    any: Deck,
    remarks: Deck,
}

impl Decks {
    pub(in crate::cli::demo) fn shuffled(random: &mut Rng) -> Self {
        let mut of = |part: fn(&Subject) -> &[String]| {
            TEXTS.subjects.iter().map(|subject| Deck::shuffled(part(subject), random)).collect()
        };
        let (posts, comments) = (of(|subject| &subject.posts), of(|subject| &subject.comments));
        let [any, remarks] = [&TEXTS.any, &TEXTS.remarks].map(|texts| Deck::shuffled(texts, random));
        Self { posts, comments, any, remarks }
    }

    /// A post on one of some subjects, which is returned too: the one of which least has been told.
    pub(in crate::cli::demo) fn post(&mut self, among: &[usize]) -> (usize, &'static str) {
        let subject = among.iter().copied().min_by_key(|subject| self.posts[*subject].share_told()).unwrap_or_default();
        (subject, self.posts[subject].draw())
    }

    /// A comment on a post, in the language of its author.
    pub(in crate::cli::demo) fn comment(&mut self, tongue: Tongue, subject: usize, random: &mut Rng) -> &'static str {
        let foreign = [Tongue::Chinese, Tongue::Arabic].iter().any(|other| other.subject() == Some(subject));
        match tongue.subject() {
            Some(own) => self.comments[own].draw(),
            None if foreign || random.u8(..100) >= TO_THE_POINT => self.any.draw(),
            None => self.comments[subject].draw(),
        }
    }

    /// Words above a repost.
    pub(in crate::cli::demo) fn remark(&mut self) -> &'static str {
        self.remarks.draw()
    }
}

struct Deck {
    texts: Vec<&'static str>,
    drawn: usize,
}

impl Deck {
    fn shuffled(texts: &'static [String], random: &mut Rng) -> Self {
        let mut texts: Vec<_> = texts.iter().map(String::as_str).collect();
        random.shuffle(&mut texts);
        Self { texts, drawn: 0 }
    }

    /// The next text; in the same order again after the last one.
    fn draw(&mut self) -> &'static str {
        let text = self.texts.iter().cycle().nth(self.drawn % self.texts.len().max(1));
        self.drawn += 1;
        text.copied().unwrap_or_default()
    }

    /// How often all texts have been drawn, in thousandths.
    fn share_told(&self) -> usize {
        self.drawn * 1000 / self.texts.len().max(1)
    }
}

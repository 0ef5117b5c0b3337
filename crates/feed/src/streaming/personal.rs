//! Events of one user alone: notices, and moves of the user's markers. The user's streams tell it once, as it comes.

use super::memory::{Memory, Share};
use model::{Cursor, NoticeCursor, UserId};

/// Most that wait for the thread that moves events to the queues.
pub(super) const MOST_WAITING: usize = 10_000;

/// Something that concerns a user alone.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Personal {
    /// A notice of the user came.
    Notice(NoticeCursor),
    /// The marker of the home timeline moved, or that of the list with this name.
    Marker(Cursor, Option<Box<str>>),
    /// The marker of the notices moved.
    NoticeMarker(NoticeCursor),
}

/// A text for the streams of one user.
#[derive(Debug)]
pub struct Note {
    text: String,
    /// The user who caused it: it is not sent once the receiver silences this one.
    actor: Option<UserId>,
    /// Its share of the memory.
    _share: Share,
}

impl Note {
    pub(super) fn new(text: String, actor: Option<UserId>, memory: &Memory) -> Self {
        let _share = memory.hold(text.len());
        Self { text, actor, _share }
    }

    /// The text.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Whether one of these users, in ascending order, caused it.
    pub(super) fn is_of(&self, users: &[UserId]) -> bool {
        self.actor.is_some_and(|actor| users.binary_search(&actor).is_ok())
    }
}

//! What concerns a user alone: notices, and moves of the user's markers. The user's streams tell it once, as it comes.

use std::collections::VecDeque;

use super::memory::{Memory, Share};
use model::sync::Mutex;
use model::{Cursor, NoticeCursor, UserId};

/// Most that wait for the thread that moves events to the queues.
const CAPACITY: usize = 10_000;

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

/// What waits to be told, each with its user.
#[derive(Debug, Default)]
pub(super) struct Waiting(Mutex<VecDeque<(UserId, Personal)>>);

impl Waiting {
    /// Adds something; false if too much waits.
    pub(super) fn push(&self, user: UserId, what: Personal) -> bool {
        let mut waiting = self.0.lock();
        let has_room = waiting.len() < CAPACITY;
        if has_room {
            waiting.push_back((user, what));
        }
        has_room
    }

    /// Takes the oldest, at most this many.
    pub(super) fn take(&self, most: usize) -> Vec<(UserId, Personal)> {
        let mut waiting = self.0.lock();
        let many = waiting.len().min(most);
        waiting.drain(..many).collect()
    }
}

/// A text for the streams of one user.
#[derive(Debug)]
pub struct Note {
    text: String,
    /// The user who caused it: it is not sent once the receiver silences this one.
    actor: Option<UserId>,
    memory: Memory,
    /// Its share of the memory.
    _share: Share,
}

impl Note {
    pub(super) fn new(text: String, actor: Option<UserId>, memory: Memory) -> Self {
        let _share = memory.hold(text.len());
        Self { text, actor, memory, _share }
    }

    /// The text.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Whether one of these users, in ascending order, caused it.
    pub(super) fn is_of(&self, users: &[UserId]) -> bool {
        self.actor.is_some_and(|actor| users.binary_search(&actor).is_ok())
    }

    pub(super) fn memory(&self) -> &Memory {
        &self.memory
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_waits_is_bounded_and_comes_in_order() {
        let waiting = Waiting::default();
        let what = |at| Personal::Marker(Cursor { at, ..Cursor::OLDEST }, None);
        assert!((0..CAPACITY as u64).all(|at| waiting.push(UserId::MIN, what(at))));
        assert!(!waiting.push(UserId::MIN, what(0)));
        assert_eq!(waiting.take(2), [(UserId::MIN, what(0)), (UserId::MIN, what(1))]);
        assert!(waiting.push(UserId::MIN, what(7)));
        assert_eq!(waiting.take(usize::MAX).last(), Some(&(UserId::MIN, what(7))));
        assert!(waiting.take(1).is_empty());
    }
}

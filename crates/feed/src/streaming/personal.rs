//! Events of one user alone: notices, and moves of the user's markers. The user's streams tell it once, as it comes.

use crossbeam_channel::{Receiver, Sender, unbounded};

use super::memory::{Memory, Share};
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

/// Events that wait to be sent, each with its user.
#[derive(Debug)]
pub(super) struct Waiting(Sender<(UserId, Personal)>, Receiver<(UserId, Personal)>);

impl Default for Waiting {
    fn default() -> Self {
        let (push, take) = unbounded();
        Self(push, take)
    }
}

impl Waiting {
    /// Adds something; false if too much waits.
    pub(super) fn push(&self, user: UserId, what: Personal) -> bool {
        self.0.len() < CAPACITY && self.0.send((user, what)).is_ok()
    }

    /// Takes the oldest, at most this many.
    pub(super) fn take(&self, most: usize) -> Vec<(UserId, Personal)> {
        self.1.try_iter().take(most).collect()
    }
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

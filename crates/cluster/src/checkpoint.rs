//! The mark of a node: the place up to which it has applied the log, and all that later commands depend on.

use serde::{Deserialize, Serialize};

use super::record::{FIRST_LEVEL, Token};
use crate::prelude::*;
use feed::streaming::SequenceState;

/// How long a session is remembered after its last record. A session is one run of a node, and a record of it comes late
/// by no more than `cluster.timeout`, which is an hour at most.
const REMEMBERED: Millis = 2 * 3_600_000;
/// The sessions that wrote last are remembered for ever: the time of the log may jump ahead.
const AT_LEAST: usize = 128;
/// Most sessions that are remembered.
const MOST_SESSIONS: usize = 1024;

/// The place of a node in the log.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Mark {
    /// The id of the log.
    pub(super) log: Token,
    /// The offset of the last record that is applied as a whole.
    pub(super) last: u64,
    /// The hash of the log before that record, and with it.
    pub(super) before: Token,
    pub(super) hash: Token,
    /// Commands of the next record that are applied already.
    pub(super) done: u64,
    /// The time of the last command. Times of commands do not fall.
    pub(super) time: Millis,
    /// The level in force: no record of the log has a higher one so far.
    pub(super) level: u32,
    /// Items deleted before this time stay deleted, whatever the settings say now.
    pub(super) final_before: Millis,
    /// The last record of each session.
    pub(super) sessions: Sessions,
    /// Times, made ids and numbers of events.
    pub(super) sequence: SequenceState,
    /// The first place of the tail of the log: an offset, and the hash of the log up to it.
    pub(super) anchor: (u64, Token),
}

/// Of each session, the number and the time of its last record; the session that wrote last at the end.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Sessions(Vec<(Token, u64, Millis)>);

impl Sessions {
    /// Whether a record is the first with its number, and none with a higher number came before it.
    pub(super) fn is_new(&self, session: Token, number: u64) -> bool {
        self.0.iter().all(|(known, last, _)| *known != session || *last < number)
    }

    /// A new record of a session is applied; `time` is that of the log.
    pub(super) fn note(&mut self, session: Token, number: u64, time: Millis) {
        self.0.retain(|(known, ..)| *known != session);
        self.0.push((session, number, time));
        let is_over = |(place, (.., last)): (usize, &(Token, u64, Millis))| {
            let later = self.0.len() - place;
            later > MOST_SESSIONS || later > AT_LEAST && last.saturating_add(REMEMBERED) < time
        };
        let over = self.0.iter().enumerate().take_while(|entry| is_over(*entry)).count();
        self.0.drain(..over);
    }
}

impl Mark {
    /// The mark of a node that has applied only the first record of a log.
    pub(super) fn first(log: Token) -> Self {
        Self {
            log,
            last: 0,
            before: Token(0),
            // As the log up to there; see `log_id`.
            hash: log,
            done: 0,
            time: 0,
            level: FIRST_LEVEL,
            final_before: 0,
            sessions: Sessions::default(),
            sequence: SequenceState::new(0),
            anchor: (0, log),
        }
    }

    /// As bytes: JSON.
    pub(super) fn bytes(&self) -> Result<Vec<u8>> {
        serde_json::to_vec(self).map_err(|e| Error::Corrupt(format!("a mark cannot be written: {e}")))
    }

    /// From bytes.
    pub(super) fn read(bytes: &[u8]) -> Result<Self> {
        if bytes.first() != Some(&b'{') {
            return Err(Error::Setup("an earlier version of Tideline wrote the mark of this node".to_owned()));
        }
        serde_json::from_slice(bytes)
            .map_err(|e| Error::Corrupt(format!("the mark of the node in the command log: {e}")))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mark_comes_back_as_it_was() {
        let mut sessions = Sessions::default();
        sessions.note(Token(8), 1, 50);
        sessions.note(Token(u64::MAX), 5, 60);
        let sequence = SequenceState::new(1_700_000_000_000);
        let mark = Mark { last: 2, hash: Token(u64::MAX), done: 5, sessions, sequence, ..Mark::first(Token(1)) };
        let bytes = mark.bytes().expect("writes");
        assert_eq!(Mark::read(&bytes).expect("reads"), mark);
        for wrong in [&bytes[1..], &bytes[..bytes.len() - 1], &[]] {
            assert!(Mark::read(wrong).is_err());
        }
    }

    #[test]
    fn a_record_that_comes_twice_or_late_is_not_new() {
        let mut sessions = Sessions::default();
        assert!(sessions.is_new(Token(1), 3));
        sessions.note(Token(1), 3, 0);
        assert!(
            !sessions.is_new(Token(1), 3)
                && !sessions.is_new(Token(1), 2)
                && sessions.is_new(Token(1), 4)
                && sessions.is_new(Token(2), 1)
        );
        for other in 100..100 + MOST_SESSIONS as u64 - 1 {
            sessions.note(Token(other), 1, 0);
            sessions.note(Token(1), other, 0);
        }
        assert!(!sessions.is_new(Token(1), 50), "a session that goes on is remembered");
        (200..200 + MOST_SESSIONS as u64).for_each(|other| sessions.note(Token(other), 1, 0));
        assert_eq!(sessions.0.len(), MOST_SESSIONS);
        assert!(sessions.is_new(Token(1), 50), "one that is long over is not");
        sessions.note(Token(1), 50, REMEMBERED);
        assert_eq!(sessions.0.len(), MOST_SESSIONS);
        sessions.note(Token(2), 1, REMEMBERED + 1);
        let newest = [(Token(1), 50, REMEMBERED), (Token(2), 1, REMEMBERED + 1)];
        assert_eq!((sessions.0.len(), &sessions.0[AT_LEAST - 2..]), (AT_LEAST, &newest[..]));
    }

    #[test]
    fn a_time_that_jumps_ahead_forgets_no_session_that_may_go_on() {
        let mut sessions = Sessions::default();
        sessions.note(Token(1), 5, 1000);
        sessions.note(Token(2), 1, 1000 + 100 * REMEMBERED);
        assert!(!sessions.is_new(Token(1), 5), "the record may come once more");
    }
}

//! The mark of a node: the place up to which it has applied the log, and all that later commands depend on.

use std::iter;

use super::record::Token;
use feed::streaming::{FIRST_LEVEL, SequenceState};
use model::Millis;
use model::error::{Error, Result};

/// How long a session is remembered after its last record. A session is one run of a node, and a record of it comes late
/// by no more than `cluster.timeout`, which is an hour at most.
const REMEMBERED: Millis = 2 * 3_600_000;
/// The sessions that wrote last are remembered for ever: the time of the log may jump ahead.
const AT_LEAST: usize = 128;
/// Most sessions that are remembered.
const MOST_SESSIONS: usize = 1024;
const VERSION: u8 = 2;

/// The place of a node in the log.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Mark {
    /// The id of the log.
    pub(super) log: u64,
    /// The offset of the last record that is applied as a whole.
    pub(super) last: u64,
    /// The hash of the log before that record, and with it.
    pub(super) before: u64,
    pub(super) hash: u64,
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
    pub(super) course: SequenceState,
}

/// Of each session, the number and the time of its last record; the session that wrote last at the end.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Sessions(Vec<(u64, u64, Millis)>);

impl Sessions {
    /// Whether a record is the first with its number, and none with a higher number came before it.
    pub(super) fn is_new(&self, session: u64, number: u64) -> bool {
        self.0.iter().all(|(known, last, _)| *known != session || *last < number)
    }

    /// A new record of a session is applied; `time` is that of the log.
    pub(super) fn note(&mut self, session: u64, number: u64, time: Millis) {
        self.0.retain(|(known, ..)| *known != session);
        self.0.push((session, number, time));
        let is_over = |(place, (.., last)): (usize, &(u64, u64, Millis))| {
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
            log: log.0,
            last: 0,
            before: 0,
            // As the log up to there; see `log_id`.
            hash: log.0,
            done: 0,
            time: 0,
            level: FIRST_LEVEL,
            final_before: 0,
            sessions: Sessions::default(),
            course: SequenceState::new(0),
        }
    }

    /// As bytes: the version, nine numbers, the course, and three numbers for each session; big-endian.
    pub(super) fn bytes(&self) -> Vec<u8> {
        let Self { log, last, before, hash, done, time, level, final_before, .. } = *self;
        let level = level.into();
        let numbers = [log, last, before, hash, done, time, level, final_before, self.sessions.0.len() as u64];
        let sessions = self.sessions.0.iter().flat_map(|(session, number, time)| [*session, *number, *time]);
        let numbers = numbers.into_iter().chain(self.course.numbers()).chain(sessions);
        iter::once(VERSION).chain(numbers.flat_map(u64::to_be_bytes)).collect()
    }

    /// From bytes.
    pub(super) fn read(bytes: &[u8]) -> Result<Self> {
        Self::parse(bytes).ok_or_else(|| Error::Corrupt("the mark of the node in the command log".to_owned()))
    }

    fn parse(bytes: &[u8]) -> Option<Self> {
        let ([VERSION], rest) = bytes.split_first_chunk()? else { return None };
        let (numbers, []) = rest.as_chunks() else { return None };
        let numbers: Vec<_> = numbers.iter().copied().map(u64::from_be_bytes).collect();
        let (&[log, last, before, hash, done, time, level, final_before, len], rest) = numbers.split_first_chunk()?;
        let (course, sessions) = rest.split_first_chunk()?;
        let (sessions, []) = sessions.as_chunks() else { return None };
        let sessions: Vec<_> = sessions.iter().map(|[session, number, time]| (*session, *number, *time)).collect();
        let is_whole = sessions.len() as u64 == len;
        let (sessions, course, level) = (Sessions(sessions), SequenceState::of(*course)?, u32::try_from(level).ok()?);
        is_whole.then_some(Self { log, last, before, hash, done, time, level, final_before, sessions, course })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mark() -> Mark {
        let mut sessions = Sessions::default();
        sessions.note(8, 1, 50);
        sessions.note(9, 5, 60);
        let course = SequenceState::new(1_700_000_000_000);
        Mark {
            log: 1,
            last: 2,
            before: 3,
            hash: u64::MAX,
            done: 5,
            time: 6,
            level: 1,
            final_before: 4,
            sessions,
            course,
        }
    }

    #[test]
    fn a_mark_comes_back_as_it_was() {
        let bytes = mark().bytes();
        assert_eq!(Mark::read(&bytes).expect("reads"), mark());
        assert_eq!(bytes[..17], [2, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 2]);
        assert_eq!(bytes.len(), 1 + 72 + 64 + 48);
        for wrong in [&bytes[1..], &bytes[..bytes.len() - 1], &bytes[..bytes.len() - 24], &[]] {
            assert!(Mark::read(wrong).is_err());
        }
    }

    #[test]
    fn a_record_that_comes_twice_or_late_is_not_new() {
        let mut sessions = Sessions::default();
        assert!(sessions.is_new(1, 3));
        sessions.note(1, 3, 0);
        assert!(!sessions.is_new(1, 3) && !sessions.is_new(1, 2) && sessions.is_new(1, 4) && sessions.is_new(2, 1));
        for other in 100..100 + MOST_SESSIONS as u64 - 1 {
            sessions.note(other, 1, 0);
            sessions.note(1, other, 0);
        }
        assert!(!sessions.is_new(1, 50), "a session that goes on is remembered");
        (200..200 + MOST_SESSIONS as u64).for_each(|other| sessions.note(other, 1, 0));
        assert_eq!(sessions.0.len(), MOST_SESSIONS);
        assert!(sessions.is_new(1, 50), "one that is long over is not");
        sessions.note(1, 50, REMEMBERED);
        assert_eq!(sessions.0.len(), MOST_SESSIONS);
        sessions.note(2, 1, REMEMBERED + 1);
        let newest = [(1, 50, REMEMBERED), (2, 1, REMEMBERED + 1)];
        assert_eq!((sessions.0.len(), &sessions.0[AT_LEAST - 2..]), (AT_LEAST, &newest[..]));
    }

    #[test]
    fn a_time_that_jumps_ahead_forgets_no_session_that_may_go_on() {
        let mut sessions = Sessions::default();
        sessions.note(1, 5, 1000);
        sessions.note(2, 1, 1000 + 100 * REMEMBERED);
        assert!(!sessions.is_new(1, 5), "the record may come once more");
    }
}

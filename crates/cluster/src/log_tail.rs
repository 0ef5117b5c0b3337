//! The places of the log that a node has passed of late, by which it finds out whether the log still leads to its own.
//!
//! A log can lose records that a node has applied, or be made anew. Then this node must stop, and no other one. So on any
//! sign that nodes have seen different logs, a node reads the log again, and asks nobody who is right.

use std::collections::VecDeque;

use super::checkpoint::Mark;
use super::log::{Log, NotRead};
use super::record::{Token, chain};
use crate::prelude::*;

/// How long a start asks a log again that seems to end too early.
pub(super) const OLD_END: Duration = Duration::from_secs(if cfg!(test) { 0 } else { 5 });

/// Places that are kept.
const MOST: usize = 4096;
/// Longest wait for one answer of the log, and the pause after none.
const PART: Duration = Duration::from_millis(200);

/// Offsets, each with the hash of the log up to it. The last one is the place of the node.
#[derive(Debug)]
pub(super) struct LogTail(VecDeque<(u64, Token)>);

impl LogTail {
    /// From a mark. A node that has started again reads from the first place of an earlier run on, too.
    pub(super) fn new(mark: &Mark) -> Self {
        let place = mark.last.checked_sub(1).map(|before| (before, mark.before));
        let least = place.map_or(mark.last, |(before, _)| before);
        let anchor = Some(mark.anchor).filter(|(offset, _)| *offset < least);
        Self(anchor.into_iter().chain(place).chain([(mark.last, mark.hash)]).collect())
    }

    /// The first place.
    pub(super) fn anchor(&self) -> (u64, Token) {
        self.0.front().copied().unwrap_or_default()
    }

    /// A record is applied.
    pub(super) fn push(&mut self, offset: u64, hash: Token) {
        if self.0.len() == MOST {
            self.0.pop_front();
        }
        self.0.push_back((offset, hash));
    }

    /// Whether the log had another hash up to an offset, as far as that is known.
    pub(super) fn differs(&self, offset: u64, hash: Token) -> bool {
        let place = self.0.binary_search_by_key(&offset, |(offset, _)| *offset);
        place.is_ok_and(|place| self.0[place].1 != hash)
    }

    /// Reads the log again, from the first place on, or only its `last` record. Fails with the reason if it does not lead to
    /// the last place.
    pub(super) fn check(&self, last: bool, log: &dyn Log, is_over: impl Fn() -> bool) -> Result<(), String> {
        let first = if last { self.0.len().saturating_sub(2) } else { 0 };
        let (Some(&(mut at, mut hash)), Some((last, expected))) = (self.0.get(first), self.0.back()) else {
            return Ok(());
        };
        let began = Instant::now();
        while at < *last && !is_over() {
            match log.read(at + 1, PART) {
                Ok(records) if records.is_empty() => {
                    // Just after an election a leader may answer with an old end.
                    let ends_before = |end| end <= *last && began.elapsed() >= OLD_END;
                    if let Some(end) = log.bounds(PART).ok().map(|bounds| bounds.end).filter(|end| ends_before(*end)) {
                        return Err(format!("the log ends before it, at offset {end}"));
                    }
                }
                Ok(records) => {
                    for record in records.iter().take_while(|record| record.offset <= *last) {
                        (at, hash) = (record.offset, chain(hash, record));
                    }
                }
                Err(NotRead::Unreachable(_)) => thread::sleep(PART),
                Err(NotRead::Gone(why)) => match log.bounds(PART) {
                    // The log has dropped its oldest records. It is compared as far as it is there.
                    Ok(bounds) if bounds.start > at + 1 => {
                        let left = self.0.iter().find(|(offset, _)| offset + 1 >= bounds.start);
                        (at, hash) = *left.unwrap_or(&(*last, *expected));
                    }
                    Ok(_) => return Err(why),
                    Err(_) => thread::sleep(PART),
                },
            }
        }
        if at < *last || hash == *expected {
            return Ok(());
        }
        Err("the records there are other ones".to_owned())
    }
}

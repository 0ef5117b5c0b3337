//! Changes during which a node crashes or cannot reach the log, and restarts.

use std::thread;
use std::time::Duration;

use cluster::Record;
use feed::DeleteItem;
use feed::store::MARK;
use model::{ExternalId, MAX_ID};

use super::Machine;
use crate::cluster::nodes::read_index;
use crate::cluster::wrong::{self, Wrong};
use crate::plain::Model;
use crate::promises::hosts::Hosts;
use crate::promises::ops::Op;

/// Longer than any caller waits.
const LONG_AWAY: Duration = Duration::from_secs(600);

impl Machine {
    /// A change at a node that cannot reach the log until the caller has an answer. Whatever this answer is, the change is
    /// never made: the caller may have made other ones since. But what the node has sent comes into the log later.
    pub(super) fn outlive(&mut self, op: &Op) -> Result<(), String> {
        let before: (Model, Hosts) = (self.nodes.case.model.clone(), self.nodes.case.hosts.clone());
        // The deadline goes by the clock of the log, which the node has seen.
        let chances = self.nodes.log().without_jumps();
        (0..2).try_for_each(|_| read_index(&self.nodes.case.system))?;
        let node = self.nodes.present();
        self.nodes.log().send_away(node, LONG_AWAY, true);
        // Sometimes it waits behind another one, which is made or not, and is about an item of no sequence.
        let first = self.nodes.random.bool().then(|| {
            let feed = self.nodes.case.system.feed.clone();
            thread::spawn(move || drop(feed.submit(DeleteItem { item: ExternalId::Number(MAX_ID - 1), purge: false })))
        });
        let answer = self.nodes.case.apply(op);
        self.nodes.log().bring_back(node);
        first.into_iter().for_each(|first| first.join().expect("no panic"));
        match answer {
            // Nothing was to be done.
            Ok(()) => self.answered(),
            Err(why) if why.contains("nothing has changed") || why.contains("it may still be made") => {
                (self.nodes.case.model, self.nodes.case.hosts) = before;
                self.counts.refused += 1;
                self.counts.outlived += 1;
            }
            Err(why) => return Err(why),
        }
        // The records that the node has sent are in the log then.
        let made = read_index(&self.nodes.case.system);
        self.nodes.log().set(chances);
        made
    }

    /// Makes a change, and goes on with a copy of the directory from some instant meanwhile.
    pub(super) fn crash_during(&mut self, op: &Op) -> Result<bool, String> {
        let pause = Duration::from_micros(self.nodes.random.u64(..1500));
        let node = self.nodes.present();
        let copier = self.nodes.case.system.copier();
        let copying = thread::spawn(move || {
            thread::sleep(pause);
            copier()
        });
        let made = self.make(op);
        let copy = copying.join().expect("no panic");
        let made = made?;
        if let Some(copy) = copy {
            let mark = self.forged(node);
            self.counts.starts += 1;
            self.nodes.go_on_with(copy, mark);
            // What it showed before the crash is gone until it has caught up.
            self.shows[node] = 0;
        }
        Ok(made)
    }

    /// A mark in place of the one that was written with the last command.
    fn forged(&mut self, node: usize) -> Option<Vec<u8>> {
        match self.wrong? {
            Wrong::MarkOutside => self.marks[node].clone(),
            Wrong::NotedLate => {
                let (mark, session) = wrong::without_a_session(&self.mark()?, &mut self.nodes.random)?;
                let records = self.nodes.log().records();
                let of_session = |record: &&Record| wrong::has_commands_of(&record.bytes, session);
                self.echo = records.iter().rev().find(of_session).map(|record| record.bytes.clone());
                Some(mark)
            }
            _ => None,
        }
    }

    pub(super) fn mark(&self) -> Option<Vec<u8>> {
        self.nodes.case.system.store().note(MARK).expect("reads")
    }

    pub(super) fn restart(&mut self, op: &Op) -> Result<(), String> {
        let node = self.nodes.present();
        self.counts.starts += 1;
        if self.wrong == Some(Wrong::AnsweredEarly) {
            return Ok(());
        }
        match self.nodes.random.u32(..8) {
            number if number == 1 && self.wrong.is_none() || self.wrong == Some(Wrong::NoRuns) => {
                self.counts.twins += u64::from(self.nodes.twin(self.wrong.is_some())?)
            }
            0 if !matches!(self.wrong, Some(Wrong::MarkOutside | Wrong::NotedLate)) => self.nodes.replace(),
            _ if matches!(op, Op::Crash) => match self.wrong {
                Some(_) => {
                    if let Some(copy) = self.nodes.case.system.copy() {
                        let mark = self.forged(node);
                        self.nodes.go_on_with(copy, mark);
                    }
                }
                None => self.nodes.crash(),
            },
            _ => self.nodes.reopen(),
        }
        self.shows[node] = 0;
        self.marks[node] = self.mark();
        Ok(())
    }
}

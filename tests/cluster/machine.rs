//! One operation after another, each on any node, compared with the model.

mod crashes;

use std::collections::VecDeque;
use std::thread;
use std::time::Duration;

use feed::{DeleteItem, timeline};
use model::{Entry, PageRequest, Span, UserId};

use super::log::{Chances, Fate, Part};
use super::nodes::{NODES, Nodes, reach, read_index};
use super::wrong::{self, Wrong};
use crate::plain::{Model, page};
use crate::promises::hosts::Hosts;
use crate::promises::mirror::Mirror;
use crate::promises::names::{Ids, USERS};
use crate::promises::ops::{Op, Sequence};
use crate::promises::seed::pick;
use crate::promises::shape::{LONG, WIDE};

/// States that a node which lags may show.
const STATES: usize = 300;
pub(crate) const CHANCES: Chances =
    Chances { unknown: 50, refused: 8, twice: 40, delay: 150, read: 60, back: 60, ahead: 1, lie: 0 };

/// Counts of what was done.
#[derive(Debug, Default, Clone, Copy)]
pub(crate) struct Counts {
    pub(crate) operations: u64,
    pub(crate) records: u64,
    pub(crate) starts: u64,
    /// Changes that a node refused because the log took none, or for lack of room.
    pub(crate) refused: u64,
    /// Sequences that ended early, because it is not known which changes were made.
    pub(crate) undecided: u64,
    /// Changes that a node could not send until their callers had an answer.
    pub(crate) outlived: u64,
    /// Nodes that ran twice.
    pub(crate) twins: u64,
    /// Items for which a node had no room.
    pub(crate) left_out: u64,
    /// Entries of the log that nobody of the cluster has written.
    pub(crate) strangers: u64,
    /// Nodes that had applied what the log then lost.
    pub(crate) lost: u64,
}

/// The cluster under test.
pub(crate) struct Machine {
    pub(crate) nodes: Nodes,
    pub(crate) ids: Ids,
    /// The fault that the machine must notice.
    pub(crate) wrong: Option<Wrong>,
    pub(crate) counts: Counts,
    /// The position after the last change, as its client got it.
    token: u64,
    /// The model after each of the last changes, with its number.
    states: VecDeque<(u64, Model)>,
    /// The number of the last state that each node must show.
    shows: [u64; NODES],
    /// A record that comes once more.
    echo: Option<Vec<u8>>,
    /// Marks of nodes as they were a while ago.
    marks: [Option<Vec<u8>>; NODES],
    /// Reads the feed of changes at any node.
    pub(crate) mirror: Mirror,
}

/// What an operation needs.
enum Sort {
    /// One command.
    Change,
    /// Several commands.
    Changes,
    Read,
    /// Work of one node.
    Own,
    Restart,
    Members,
    Nothing,
}

fn sort(op: &Op) -> Sort {
    match op {
        Op::React(_, wishes) if wishes.len() == 1 => Sort::Change,
        Op::Publish(_)
        | Op::Repeat(..)
        | Op::Edit(..)
        | Op::Delete(_)
        | Op::Restore(_)
        | Op::TakeOff(..)
        | Op::Purge(_) => Sort::Change,
        Op::Comment(..) | Op::Relate { .. } | Op::Follow(..) | Op::Bar(..) | Op::Mark(..) => Sort::Change,
        Op::PutSettings(..) | Op::Answer(..) => Sort::Change,
        Op::PutList(..) | Op::DeleteList(..) | Op::ChangeMembers(..) | Op::PutMember(..) => Sort::Change,
        Op::MarkList(..) | Op::MarkNotices(..) | Op::Suspend(..) => Sort::Change,
        Op::React(..) | Op::Import(_) | Op::DeleteNewest(..) | Op::ImportFollows(..) => Sort::Changes,
        Op::Read(..) | Op::Unread(..) | Op::Notices(..) | Op::Reactors(..) | Op::ReactedBy(..) | Op::Scroll(..) => {
            Sort::Read
        }
        Op::Outbox(..) | Op::Topic(..) | Op::ScrollTopic(..) | Op::Comments(..) | Op::UserComments(..) => Sort::Read,
        Op::Members(..) | Op::ReadList(..) | Op::Relations(_) | Op::Verify(..) | Op::Explain(..) => Sort::Read,
        Op::Start | Op::Stop | Op::Drain(_) | Op::Sleep(_) | Op::Trim(..) | Op::Floor(..) => Sort::Own,
        Op::Archive(..) | Op::ArchiveTopic(..) | Op::Evict(..) | Op::Damage(..) | Op::Compact => Sort::Own,
        Op::Reopen | Op::Crash => Sort::Restart,
        Op::Allow(_) => Sort::Members,
        // A stream of a node gives its user a number by a command of its own.
        Op::Listen(_) => Sort::Nothing,
    }
}

impl Machine {
    /// Runs a sequence, up to the comparison of all nodes.
    pub(crate) fn run(seed: u64, sequence: &Sequence, wrong: Option<Wrong>) -> Result<Self, String> {
        let mut base = sequence.config.clone();
        base.fanout.queue = WIDE;
        base.content.max_ahead = LONG;
        let mut nodes = match wrong {
            Some(Wrong::NoDeadline) => Nodes::hasty(seed, &base, sequence.ids),
            _ => Nodes::new(seed, &base, sequence.ids, true),
        };
        if seed.is_multiple_of(3) {
            nodes.narrow(1);
        }
        nodes.log().set(CHANCES);
        match wrong {
            Some(Wrong::NoDuplicates) => nodes.log().forget_sessions(),
            Some(Wrong::LeaderClock) => {
                nodes.log().strip(Part::Sent);
                nodes.log().set(Chances { ahead: 20, ..CHANCES });
            }
            Some(Wrong::NoDeadline) => nodes.log().strip(Part::Until),
            Some(Wrong::NoRuns) => nodes.log().strip(Part::Node),
            _ => {}
        }
        let states = VecDeque::from([(0, Model::default())]);
        let mut machine = Self {
            nodes,
            ids: sequence.ids,
            wrong,
            counts: Counts { starts: NODES as u64, ..Counts::default() },
            token: 0,
            states,
            shows: [0; NODES],
            echo: None,
            marks: [const { None }; NODES],
            mirror: Mirror::default(),
        };
        for (number, op) in sequence.ops.iter().enumerate() {
            let before = machine.counts.undecided;
            machine.step(op).map_err(|failure| format!("step {number}, {op:?}: {failure}"))?;
            machine.counts.operations += 1;
            if machine.counts.undecided > before {
                break;
            }
        }
        machine.end().map_err(|failure| format!("after the last step: {failure}"))?;
        machine.counts.records = machine.nodes.log().end();
        machine.counts.left_out = machine.nodes.left_out();
        Ok(machine)
    }

    fn step(&mut self, op: &Op) -> Result<(), String> {
        let random = &mut self.nodes.random;
        if random.u32(..12) == 0 {
            let (node, time) = (random.usize(..NODES), Duration::from_micros(random.u64(..30_000)));
            self.nodes.log().blind(node, time);
        }
        if self.nodes.random.u32(..60) == 0 {
            let random = &mut self.nodes.random;
            let (node, time, holds) = (random.usize(..NODES), Duration::from_millis(random.u64(..100)), random.bool());
            self.nodes.log().send_away(node, time, holds);
        }
        if self.nodes.random.u32(..10) == 0
            && let Some(echo) = self.echo.take()
        {
            self.nodes.log().put(echo);
        }
        self.nodes.go_anywhere();
        if self.wrong.is_none() {
            self.event()?;
            self.mirror.read_on(&self.nodes.case.system.feed, 5, false)?;
        }
        match sort(op) {
            Sort::Change if self.wrong == Some(Wrong::AnsweredEarly) => match self.answer_early(op)? {
                // Some of the readers have had the item.
                true => (0..USERS.len()).try_for_each(|_| self.local()),
                false => self.change(op),
            },
            Sort::Change if matches!(self.wrong, Some(Wrong::ReadIndexReused | Wrong::EndAsReadIndex)) => {
                self.read_elsewhere(op)
            }
            Sort::Change => self.change(op),
            Sort::Changes => {
                self.strict()?;
                let is_import = matches!(op, Op::Import(_) | Op::ImportFollows(..));
                let made = if is_import && self.nodes.random.bool() { self.crash_during(op)? } else { self.make(op)? };
                if made && self.wrong.is_none() {
                    // No read sees a state between two of them.
                    (0..NODES).try_for_each(|number| {
                        self.nodes.go_to(number);
                        self.strict()
                    })?;
                }
                Ok(())
            }
            Sort::Read => match self.nodes.random.u32(..5) {
                0 => self.local(),
                1 => {
                    reach(&self.nodes.case.system, self.token)?;
                    self.shows_all();
                    self.nodes.case.apply(op)
                }
                _ => {
                    self.strict()?;
                    self.nodes.case.apply(op)
                }
            },
            Sort::Own if matches!(self.wrong, Some(Wrong::MarkOutside | Wrong::NotedLate)) => self.restart(&Op::Crash),
            Sort::Own if matches!(op, Op::Stop) && self.nodes.is_narrow() => Ok(()),
            Sort::Own => {
                self.strict()?;
                self.nodes.case.apply(op)?;
                self.nodes.go_on();
                Ok(())
            }
            Sort::Restart => self.restart(op),
            Sort::Members => {
                self.nodes.change_members();
                self.restart(op)
            }
            Sort::Nothing => Ok(()),
        }
    }

    /// Makes sure that the present node has all changes.
    fn strict(&mut self) -> Result<(), String> {
        let (node, system) = (self.nodes.present(), &self.nodes.case.system);
        match self.wrong {
            Some(Wrong::EndAsReadIndex) => {
                self.nodes.log().set(Chances { lie: 900, ..CHANCES });
                let reached = wrong::end_as_read_index(&*self.nodes.plan.log.way(node), system);
                self.nodes.log().set(CHANCES);
                reached?;
            }
            // An earlier read has waited for its read index.
            Some(Wrong::ReadIndexReused) if self.nodes.random.bool() => {}
            _ => read_index(system)?,
        }
        self.shows_all();
        Ok(())
    }

    /// From now on the present node must show the last state.
    fn shows_all(&mut self) {
        self.shows[self.nodes.present()] = self.newest();
    }

    fn newest(&self) -> u64 {
        self.states.back().map_or(0, |(number, _)| *number)
    }

    /// A change is answered: from now on readers with its position see it.
    fn answered(&mut self) {
        let position = self.nodes.case.system.node().position();
        // Else nothing was to be done, on a node that lags.
        let has_it = position >= self.token;
        self.token = self.token.max(position);
        if self.states.len() == STATES {
            self.states.pop_front();
        }
        self.states.push_back((self.newest() + 1, self.nodes.case.model.clone()));
        if has_it {
            self.shows_all();
        }
    }

    /// Another directory has taken the place of a node, and may lag.
    pub(crate) fn replaced(&mut self, node: usize) {
        self.counts.lost += 1;
        self.counts.starts += 1;
        self.shows[node] = 0;
        self.marks[node] = self.mark();
    }

    /// One command, sometimes with a record that does not come, sometimes with a crash meanwhile.
    fn change(&mut self, op: &Op) -> Result<(), String> {
        let (node, random) = (self.nodes.present(), &mut self.nodes.random);
        // More often where one that is made late must be found.
        let often = if self.wrong == Some(Wrong::NoDeadline) { 30 } else { 150 };
        match random.u32(..often) {
            0..4 => self.nodes.log().doom(node, Fate::Refused),
            4..10 if self.nodes.is_hasty() => {
                let fate = pick(&mut self.nodes.random, &[Fate::Lost, Fate::Late]);
                self.nodes.log().doom(node, fate);
            }
            10..14 => return self.crash_during(op).map(drop),
            14..20 if self.nodes.is_hasty() => return self.outlive(op),
            _ => {}
        }
        self.make(op).map(drop)
    }

    /// Makes changes; false if they are refused because the log does not take them.
    fn make(&mut self, op: &Op) -> Result<bool, String> {
        let before: (Model, Hosts) = (self.nodes.case.model.clone(), self.nodes.case.hosts.clone());
        let failure = match self.nodes.case.apply(op) {
            Ok(()) => {
                self.answered();
                return Ok(true);
            }
            Err(failure) => failure,
        };
        let is_definite = failure.contains("nothing has changed");
        if is_definite && matches!(sort(op), Sort::Change) {
            self.counts.refused += 1;
            (self.nodes.case.model, self.nodes.case.hosts) = before;
            read_index(&self.nodes.case.system)?;
            return Ok(false);
        }
        if is_definite || failure.contains("it may still be made") {
            self.counts.undecided += 1;
            return Ok(false);
        }
        Err(failure)
    }

    /// A read that waits for nothing shows some earlier state, and none before the last that this node has shown.
    fn local(&mut self) -> Result<(), String> {
        let oldest = self.states.front().map_or(0, |(number, _)| *number);
        let (node, raw) = (self.nodes.present(), pick(&mut self.nodes.random, &USERS));
        let case = &self.nodes.case;
        if self.shows[node] < oldest {
            return Ok(());
        }
        let (host, feed) = (case.hosts.host(raw), &case.system.feed);
        let request = PageRequest { span: Span::ALL, limit: 100 };
        let failed = |e| format!("a local read fails: {e}");
        let user: UserId = feed.read().find(&host).map_err(failed)?;
        let is = timeline::page(feed.read(), user, &request).map_err(failed)?;
        let (known, include_own) = (case.hosts.user(raw), case.system.config.timeline.include_own);
        let shown = |model: &Model| {
            let whole = model.timeline(known, include_own);
            page(&whole, |entry: &Entry| entry.cursor, &request) == is
        };
        let least = self.shows[node];
        let found = self.states.iter().any(|(number, model)| *number >= least && shown(model));
        ensure!(found, "node {node} shows {raw} a timeline of no state from {least} to {}: {is:?}", self.newest());
        Ok(())
    }

    /// Makes a change, and reads all timelines at a node that cannot have it for longer than the slowest machine needs.
    fn read_elsewhere(&mut self, op: &Op) -> Result<(), String> {
        let (undecided, other) = (self.counts.undecided, (self.nodes.present() + 1) % NODES);
        self.nodes.log().blind(other, Duration::from_secs(1));
        self.change(op)?;
        if self.counts.undecided > undecided {
            return Ok(());
        }
        self.nodes.go_to(other);
        self.strict()?;
        USERS.into_iter().try_for_each(|raw| self.nodes.case.apply(&Op::Scroll(raw, 5)))
    }

    /// Answers a delete once it is in the log; true if it was one.
    fn answer_early(&mut self, op: &Op) -> Result<bool, String> {
        let Op::Delete(index) = op else { return Ok(false) };
        let Some(item) = self.nodes.case.nth(*index).filter(|item| !item.deleted) else { return Ok(false) };
        let (node, feed) = (self.nodes.present(), self.nodes.case.system.feed.clone());
        let (host, end) = (self.nodes.case.hosts.back(item.id), self.nodes.log().end());
        self.nodes.log().blind(node, Duration::from_millis(50));
        thread::spawn(move || feed.submit(DeleteItem { item: host, purge: false }));
        while self.nodes.log().end() == end {
            thread::sleep(Duration::from_micros(100));
        }
        self.nodes.case.model.live(item.id).expect("live").deleted = true;
        self.answered();
        Ok(true)
    }
}

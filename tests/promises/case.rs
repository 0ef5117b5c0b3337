//! Compares sequences with the model, step by step.

use std::cell::Cell;
use std::time::Duration;

use model::{Millis, PageRequest, Span};
use proptest::test_runner::{Config, RngSeed, TestCaseError, TestError, TestRunner};

use super::change::clock;
use super::faulty::Fault;
use super::hosts::Hosts;
use super::kept::KeptPages;
use super::mirror::Mirror;
use super::names::{Ids, TOPICS, USERS, rule};
use super::ops::{Op, Place, Sequence, sequences};
use super::settled::check_settled;
use super::shape::Kind;
use super::system::System;
use crate::plain::Model;

/// Number of tries of a sequence after a failure, because threads may hide a failure.
const TRIES: u32 = 4;

/// A fault that is built in on purpose, and that the sequences must find.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Wrong {
    /// Of the rows; the store is one in memory.
    InRows(Fault),
    /// The count of unread items has those from members of exclusive lists.
    UnreadForgetsLists,
    /// Comments are shown to everybody who sees their subject.
    CommentsWithoutSight,
}

/// A service and its model.
pub(crate) struct Case {
    pub(crate) system: System,
    pub(crate) model: Model,
    pub(crate) hosts: Hosts,
    /// Open streams.
    /// How far the time of changes may be behind the clock, milliseconds.
    pub(crate) behind: Millis,
    /// How far it may be ahead of the clock, milliseconds.
    pub(crate) ahead: Millis,
    /// What is wrong outside of the store.
    pub(crate) wrong: Option<Wrong>,
}

/// A run of sequences from one seed.
pub(crate) struct Batch {
    pub(crate) kind: Kind,
    pub(crate) seed: u64,
    /// Number of sequences.
    pub(crate) cases: u32,
    /// Most steps of one.
    pub(crate) steps: usize,
    /// Time to search for a smaller failure.
    pub(crate) patience: Duration,
}

impl Batch {
    /// Runs the sequences. Returns the shortest failing sequence found. `count` gets the number of steps of each
    /// sequence that passed.
    pub(crate) fn run(&self, count: impl Fn(usize)) -> Result<(), String> {
        let config = Config {
            cases: self.cases,
            rng_seed: RngSeed::Fixed(self.seed),
            failure_persistence: None,
            max_shrink_iters: 20_000,
            max_shrink_time: self.patience.as_millis() as u32,
            ..Config::default()
        };
        let tries = Cell::new(1);
        let outcome = TestRunner::new(config).run(&sequences(self.steps), |sequence| {
            for _ in 0..tries.get() {
                if let Err(failure) = Case::run(self.kind, &sequence, None) {
                    if tries.replace(TRIES) < TRIES {
                        // Repeated from here on, so that a failure does not pass by chance.
                        eprintln!("{:?}, seed {}: a sequence fails; looking for a smaller one", self.kind, self.seed);
                    }
                    return Err(TestCaseError::fail(failure));
                }
            }
            count(sequence.ops.len());
            Ok(())
        });
        match outcome {
            Ok(()) => Ok(()),
            Err(TestError::Fail(why, Sequence { config, ids, ops, .. })) => {
                let steps: Vec<_> = ops.iter().enumerate().map(|(n, op)| format!("  {n}: {op:?}\n")).collect();
                Err(format!("{why}\non {:?}, {ids:?}, with {config:?}\n{}", self.kind, steps.concat()))
            }
            Err(TestError::Abort(why)) => Err(why.to_string()),
        }
    }
}

impl Case {
    pub(crate) fn new(system: System, ids: Ids) -> Self {
        let (model, hosts) = (Model::default(), Hosts::new(ids));
        Self { system, model, hosts, behind: 0, ahead: 0, wrong: None }
    }

    /// The earliest time that a change from now on gets.
    pub(crate) fn earliest(&self) -> Millis {
        clock() - self.behind
    }

    /// The latest time that a change until now has got. Many changes of one millisecond have later times than the clock.
    pub(crate) fn latest(&self) -> Millis {
        clock() + self.ahead + 1000
    }

    /// Runs a sequence, with a fault or without.
    pub(crate) fn run(kind: Kind, sequence: &Sequence, wrong: Option<Wrong>) -> Result<(), String> {
        let config = sequence.config.clone();
        let system = match wrong {
            Some(Wrong::InRows(fault)) => System::with_fault(fault, config),
            _ => System::new(kind, config),
        };
        let mut case = Self { wrong, ..Self::new(system, sequence.ids) };
        let (mut mirror, mut kept) = (Mirror::default(), KeptPages::default());
        for (number, op) in sequence.ops.iter().enumerate() {
            let made = case.apply(op).and_then(|()| {
                // A crash goes on with a copy.
                mirror.read_on(&case.system.feed, 1 + number % 7, matches!(op, Op::Crash))?;
                mirror.compare(&case.model, case.system.feed.reaction_kinds())?;
                if case.wrong.is_some() {
                    // Each fault has a check of its own that finds it.
                    return Ok(());
                }
                let (reader, limit) = (case.hosts.host(USERS[number % USERS.len()]), 1 + number % 5);
                // Each third page has an end that is not the top.
                let after = (number % 3 == 0).then(|| case.place(Place::Of(number)));
                let before = (number % 3 == 1).then(|| case.place(Place::Of(number)));
                let request = PageRequest { span: Span { before, after }, limit };
                kept.compare(&case.system.feed, reader, request, case.may_stop())
            });
            made.map_err(|failure| format!("step {number}, {op:?}: {failure}"))?;
            if sequence.watched {
                let (reader, limit) = (USERS[number % USERS.len()], 1 + number % 5);
                case.scroll(reader, limit).map_err(|failure| format!("after step {number}, {op:?}: {failure}"))?;
            }
        }
        case.end().map_err(|failure| format!("after the last step: {failure}"))
    }

    pub(crate) fn apply(&mut self, op: &Op) -> Result<(), String> {
        match op {
            Op::Publish(posts) => self.publish(posts),
            Op::Import(posts) => self.import(posts),
            Op::Repeat(index, with_time) => self.repeat(*index, *with_time),
            Op::Edit(index, edit) => self.edit(*index, *edit),
            Op::Delete(index) => self.delete(*index),
            Op::Purge(index) => self.purge(*index),
            Op::DeleteNewest(number, most) => self.delete_newest(TOPICS[*number], *most),
            Op::Restore(index) => self.restore(*index),
            Op::TakeOff(index, source) => self.take_off(*index, *source),
            Op::Comment(index, post) => self.comment(*index, post),
            Op::Relate { user, follow, unfollow } => self.relate(*user, follow, unfollow, None),
            Op::Follow(user, target, since, number, approved) => {
                self.relate(*user, &[(*target, *since)], &[], Some((rule(*number), *approved)))
            }
            Op::Bar(user, target, restriction, raised) => self.bar(*user, *target, *restriction, *raised),
            Op::PutSettings(user, settings) => self.put_settings(*user, *settings),
            Op::Answer(user, from, approved) => self.answer(*user, *from, *approved),
            Op::ImportFollows(follows, number) => self.import_follows(follows, *number),
            Op::PutList(user, list, exclusive) => self.put_list(*user, list, *exclusive),
            Op::DeleteList(user, list) => self.delete_list(*user, list),
            Op::ChangeMembers(user, list, add, remove) => self.change_members(*user, list, add, remove, None),
            Op::PutMember(user, list, member, number) => {
                self.change_members(*user, list, &[*member], &[], Some(rule(*number)))
            }
            Op::MarkList(user, list, place) => self.mark(*user, Some(list), *place),
            Op::ReadList(user, list, ask) => self.read_list(*user, list, ask),
            Op::Suspend(user, suspended) => self.suspend(*user, *suspended),
            Op::Read(user, ask) => self.read(*user, ask),
            Op::Unread(user, kinds) => self.read_unread(*user, *kinds),
            Op::Mark(user, place) => self.mark(*user, None, *place),
            Op::Notices(user, ask, grouped) => self.read_notices(*user, ask, *grouped),
            Op::MarkNotices(user, place) => self.mark_notices(*user, *place),
            Op::React(index, wishes) => self.react(*index, wishes),
            Op::Reactors(index, kind, ask) => self.read_reactors(*index, *kind, ask),
            Op::ReactedBy(user, kind, ask) => self.read_reacted_by(*user, *kind, ask),
            Op::Scroll(user, limit) => self.scroll(*user, *limit),
            Op::Outbox(author, ask) => self.read_outbox(*author, ask),
            Op::Topic(number, ask) => self.read_topic(TOPICS[*number], ask),
            Op::ScrollTopic(number, limit) => self.scroll_topic(TOPICS[*number], *limit),
            Op::Comments(index, ask) => self.read_comments(*index, ask),
            Op::UserComments(author, ask) => self.read_user_comments(*author, ask),
            Op::Members(user, side, ask) => self.read_members(*user, *side, ask),
            Op::Listen(user) => self.listen(*user),
            Op::Relations(user) => self.read_relations(*user),
            Op::Verify(user, depth) => self.verify(*user, *depth),
            Op::Explain(user, index) => self.explain(*user, *index),
            Op::Start => {
                self.system.start();
                Ok(())
            }
            Op::Stop => {
                self.system.stop();
                Ok(())
            }
            Op::Drain(stay_on) => self.drain(*stay_on),
            Op::Sleep(millis) => {
                std::thread::sleep(std::time::Duration::from_millis(*millis));
                Ok(())
            }
            Op::Trim(user, beyond) => self.trim(*user, *beyond),
            Op::Floor(user, place) => self.raise_floor(*user, *place),
            Op::Archive(author, place, most) => self.archive(*author, *place, *most),
            Op::ArchiveTopic(number, place, most) => self.archive_topic(TOPICS[*number], *place, *most),
            Op::Evict(user, place) => self.evict(*user, *place),
            Op::Damage(user, way) => self.damage(*user, *way),
            Op::Compact => self.compact(),
            Op::Reopen => self.reopen(),
            Op::Allow(max_ahead) => {
                self.system.config.content.max_ahead = *max_ahead;
                self.reopen()
            }
            Op::Crash => {
                self.close();
                self.system.crash();
                self.hosts.look_again(self.system.store(), &self.model)
            }
        }
    }

    /// Ends all streams.
    fn close(&mut self) {}

    fn reopen(&mut self) -> Result<(), String> {
        self.close();
        self.system.reopen();
        self.hosts.look_again(self.system.store(), &self.model)
    }

    pub(crate) fn drain(&mut self, stay_on: bool) -> Result<(), String> {
        self.system.drain()?;
        let mut kept = self.hosts.everybody();
        kept.retain(|user| self.system.feed.keeps_inbox_of(*user));
        // Answers must tell what is wrong.
        if self.wrong.is_none() {
            check_settled(&self.system, &kept, self)?;
        }
        if !stay_on {
            self.system.stop();
        }
        Ok(())
    }

    /// Reads everything three times: at the end, after a restart, and with all jobs done.
    fn end(&mut self) -> Result<(), String> {
        self.read_all()?;
        self.hosts.check(self.system.store())?;
        self.reopen()?;
        self.hosts.check(self.system.store())?;
        self.read_all()?;
        self.drain(false)?;
        self.read_all()
    }
}

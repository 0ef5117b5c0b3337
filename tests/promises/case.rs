//! One sequence, step by step against the model.

use proptest::test_runner::{Config, RngSeed, TestCaseError, TestError, TestRunner};

use super::model::Model;
use super::ops::{Op, Sequence, sequences};
use super::seed::{cases, seed};
use super::settled::check_settled;
use super::shape::Kind;
use super::system::System;

/// A service and what it should answer.
pub(crate) struct Case {
    pub(crate) system: System,
    pub(crate) model: Model,
}

/// Runs random sequences, `times` as many as on RocksDB.
pub(crate) fn run_sequences(kind: Kind, times: u32) {
    let seed = seed();
    let config = Config {
        cases: cases() * times,
        rng_seed: RngSeed::Fixed(seed),
        failure_persistence: None,
        max_shrink_iters: 20_000,
        max_shrink_time: 120_000,
        ..Config::default()
    };
    let outcome =
        TestRunner::new(config).run(&sequences(), |sequence| Case::run(kind, &sequence).map_err(TestCaseError::fail));
    match outcome {
        Ok(()) => {}
        Err(TestError::Fail(why, Sequence { shape, ops })) => {
            let steps: Vec<_> = ops.iter().enumerate().map(|(number, op)| format!("  {number}: {op:?}\n")).collect();
            panic!("{why}\n{shape:?}\n{}TIDELINE_TEST_SEED={seed} makes the same sequences again", steps.concat());
        }
        Err(TestError::Abort(why)) => panic!("{why}"),
    }
}

impl Case {
    fn run(kind: Kind, sequence: &Sequence) -> Result<(), String> {
        let mut case = Self { system: System::new(kind, sequence.shape), model: Model::default() };
        for (number, op) in sequence.ops.iter().enumerate() {
            case.apply(op).map_err(|failure| format!("step {number}, {op:?}: {failure}"))?;
        }
        case.end().map_err(|failure| format!("after the last step: {failure}"))
    }

    fn apply(&mut self, op: &Op) -> Result<(), String> {
        match op {
            Op::Publish(posts) => self.publish(posts),
            Op::Import(posts) => self.import(posts),
            Op::Repeat(index, with_time) => self.repeat(*index, *with_time),
            Op::Edit(index, text, extra) => self.edit(*index, *text, *extra),
            Op::Delete(index) => self.delete(*index),
            Op::Relate { user, follow, unfollow } => self.relate(*user, follow, unfollow),
            Op::ImportFollows(follows) => self.import_follows(follows),
            Op::Read(user, ask) => self.read(*user, ask),
            Op::Scroll(user, limit) => self.scroll(*user, *limit),
            Op::Outbox(author, ask) => self.read_outbox(*author, ask),
            Op::Members(user, side, ask) => self.read_members(*user, *side, ask),
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
            Op::Evict(user, place) => self.evict(*user, *place),
            Op::Compact => self.compact(),
            Op::Reopen => {
                self.system.reopen();
                Ok(())
            }
            Op::Crash => {
                self.system.crash();
                Ok(())
            }
        }
    }

    fn drain(&mut self, stay_on: bool) -> Result<(), String> {
        self.system.drain()?;
        check_settled(&self.system, self)?;
        if !stay_on {
            self.system.stop();
        }
        Ok(())
    }

    /// The whole once more: as it is left, after a restart, and with all jobs done.
    fn end(&mut self) -> Result<(), String> {
        self.read_all()?;
        self.system.reopen();
        self.read_all()?;
        self.drain(false)?;
        self.read_all()
    }
}

//! Records of a writer that were sent, and the answers to their commands.

use std::collections::BTreeMap;
use std::sync::mpsc::SyncSender;

use crate::prelude::*;
use feed::Outcome;

/// Receives the outcome of one command. The receiver may be gone.
pub(super) type Tell = SyncSender<Result<Box<dyn Outcome>>>;

/// Records that were sent and whose commands are not answered.
#[derive(Default)]
pub(super) struct Flights {
    pub(super) by_number: BTreeMap<u64, Flight>,
    /// The number of the last own record that the log keeps.
    pub(super) kept: u64,
    /// The number of the last own record that is applied.
    pub(super) applied: u64,
}

pub(super) struct Flight {
    /// The time of the first attempt, by the clock of this node.
    pub(super) sent: Millis,
    /// Since when its callers wait.
    pub(super) since: Instant,
    pub(super) tells: Vec<Tell>,
    /// Once it is applied.
    pub(super) outcomes: Option<Vec<Result<Box<dyn Outcome>>>>,
}

impl Flights {
    /// The number of the last own record that is applied and kept.
    pub(super) fn served(&self) -> u64 {
        self.kept.min(self.applied)
    }

    /// Answers the commands whose fate is known. Returns for how long the last of these records has waited that was
    /// applied.
    pub(super) fn answer(&mut self) -> Option<Duration> {
        let (served, mut waited) = (self.served(), None);
        while let Some(first) = self.by_number.first_entry() {
            let (number, is_applied) = (*first.key(), first.get().outcomes.is_some());
            // A record that is not applied is lost once a later one is.
            let is_decided = if is_applied { number <= served } else { number < served };
            if !is_decided {
                break;
            }
            let Flight { tells, outcomes, since, .. } = first.remove();
            match outcomes {
                Some(outcomes) => {
                    waited = Some(since.elapsed());
                    tells.iter().zip(outcomes).for_each(|(tell, outcome)| told(tell, outcome));
                }
                None => tells.iter().for_each(|tell| told(tell, Err(Code::LogUnavailable.into()))),
            }
        }
        waited
    }
}

/// A caller that is gone needs no outcome.
pub(super) fn told(tell: &Tell, outcome: Result<Box<dyn Outcome>>) {
    let _ = tell.send(outcome);
}

//! Changes that are made together: each stands on those before it, all are written and flushed at once, and then come the
//! steps that others see.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::{Duration, Instant};

use parking_lot::ReentrantMutexGuard;

use crate::core::Core;
use crate::streaming::ChangeTime;
use crate::writer::command::{Command, Made};
use crate::writer::txn::Txn;
use model::error::{Error, Result};

/// 256 changes share a flush as well as more would, and none waits long for the others.
const MOST_CHANGES: usize = 256;
/// A group takes no further change after so many bytes of texts: its rows are in memory until they are written.
const MOST_BYTES: usize = 4 << 20;
/// A group takes no further change after so long: others wait for it.
const LONGEST: Duration = Duration::from_millis(5);

/// Changes that are not written yet. They are never written if this is dropped without its end.
#[derive(Debug)]
#[must_use = "its changes are written by its end"]
pub struct Group<'f> {
    feed: &'f Core,
    txn: Option<Txn<'f>>,
    began: Instant,
    changes: usize,
    bytes: usize,
    /// Whether it has a change that is the only one of its group.
    is_alone: bool,
    _still: ReentrantMutexGuard<'f, ()>,
}

impl<'f> Group<'f> {
    /// Begins a group, whose changes have a time. The feed is [`Core::for_changes`](crate::Core::for_changes).
    pub fn begin(feed: &'f Core, at: ChangeTime) -> Self {
        let still = feed.streaming.hold_changes();
        feed.streaming.sequencer().begin_group(at);
        let txn = Some(Txn::new(feed, at));
        let began = Instant::now();
        Self { feed, txn, began, changes: 0, bytes: 0, is_alone: false, _still: still }
    }

    /// Whether it takes this change, too. It takes any first one.
    pub fn takes(&self, change: &Command) -> bool {
        let is_full = self.changes >= MOST_CHANGES || self.bytes >= MOST_BYTES || self.began.elapsed() >= LONGEST;
        let is_alone = self.is_alone || self.txn.as_ref().is_some_and(|txn| change.is_alone(txn.at));
        self.changes == 0 || !(is_full || is_alone)
    }

    /// Makes a change. Nothing stays of one that fails.
    pub fn make(&mut self, change: Command) -> Made {
        let (feed, Some(txn)) = (self.feed, &mut self.txn) else { return Err(over()) };
        self.changes += 1;
        self.bytes += change.bytes();
        self.is_alone |= change.is_alone(txn.at);
        let before = txn.len();
        let make = || {
            let made = change.make(txn)?;
            txn.log_effects(feed.store.effects())?;
            Ok(made)
        };
        let made =
            catch_unwind(AssertUnwindSafe(make)).unwrap_or_else(|_| Err(Error::Panicked("in a change".to_owned())));
        or_abort(|| {
            feed.store.end_change(made.is_ok());
            if made.is_err() {
                txn.take_back(before);
            }
        });
        made
    }

    /// Writes the changes, and takes the steps that others see. If that fails, none is made.
    pub fn end(mut self) -> Result<()> {
        self.finish()
    }

    fn finish(&mut self) -> Result<()> {
        let Some(txn) = self.txn.take() else { return Err(over()) };
        or_abort(|| txn.commit())
    }
}

impl Drop for Group<'_> {
    fn drop(&mut self) {
        if self.txn.is_some() {
            self.feed.store.fail_group(over());
            // It is known to have failed.
            let _ = self.finish();
        }
    }
}

/// Ends the process after a panic.
fn or_abort<T>(work: impl FnOnce() -> T) -> T {
    catch_unwind(AssertUnwindSafe(work)).unwrap_or_else(|_| {
        tracing::error!(
            "the writer panicked: memory may differ from the disk, so the process ends; the next start goes by the disk"
        );
        std::process::abort()
    })
}

fn over() -> Error {
    Error::Panicked("in a group of changes".to_owned())
}

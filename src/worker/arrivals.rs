//! Writes the inboxes' changes in memory now and then, so that a crash repeats little and a quiet server is clean.
//! Under load, the fan-outs write them themselves, each time the memory is half full.

use crossbeam_channel::{Receiver, RecvTimeoutError};

use super::Context;

impl Context {
    pub(super) fn run_arrivals(&self, stopped: &Receiver<()>) {
        let pause = self.config.storage.arrivals_for.get();
        while stopped.recv_timeout(pause) == Err(RecvTimeoutError::Timeout) {
            match self.store.write_arrivals() {
                Ok(()) => {}
                Err(error) if error.is_unavailable() => tracing::debug!(%error,
                    "inboxes were not written; the next round repeats it"),
                Err(error) => {
                    self.tally.failure();
                    tracing::error!(%error, "inboxes were not written; the next round repeats it");
                }
            }
        }
    }
}

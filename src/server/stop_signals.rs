//! The signals that stop the server, and commands that must finish their work first.

use tokio::signal::unix::{Signal, SignalKind, signal};

use crate::prelude::*;

/// SIGTERM and SIGINT. Once caught, they do not end the process by themselves.
pub(crate) struct StopSignals {
    terminate: Signal,
    interrupt: Signal,
}

impl StopSignals {
    /// Needs an async runtime.
    pub(crate) fn catch() -> Result<Self> {
        let terminate = signal(SignalKind::terminate()).context("cannot wait for SIGTERM")?;
        Ok(Self { terminate, interrupt: signal(SignalKind::interrupt()).context("cannot wait for SIGINT")? })
    }

    /// Waits for either of them.
    pub(crate) async fn told(&mut self) {
        tokio::select! {
            _ = self.terminate.recv() => {}
            _ = self.interrupt.recv() => {}
        }
    }
}

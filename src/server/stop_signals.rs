//! The signals that stop the server.

use tokio::signal::unix::{Signal, SignalKind, signal};

use model::error::{Error, Result};

/// SIGTERM and SIGINT. Once caught, they do not end the process by themselves.
pub(super) struct StopSignals {
    terminate: Signal,
    interrupt: Signal,
}

impl StopSignals {
    pub(super) fn catch() -> Result<Self> {
        let catch = |kind, name| signal(kind).map_err(|e| Error::Setup(format!("cannot wait for {name}: {e}")));
        let terminate = catch(SignalKind::terminate(), "SIGTERM")?;
        Ok(Self { terminate, interrupt: catch(SignalKind::interrupt(), "SIGINT")? })
    }

    /// Waits for either of them.
    pub(super) async fn told(&mut self) {
        tokio::select! {
            _ = self.terminate.recv() => {}
            _ = self.interrupt.recv() => {}
        }
    }
}

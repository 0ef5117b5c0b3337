//! The signals that stop the server, and commands that must finish their work first.

use tokio::signal::unix::{Signal, SignalKind, signal};

use model::error::{Error, Result};

/// SIGTERM and SIGINT. Once caught, they do not end the process by themselves.
pub(crate) struct StopSignals {
    terminate: Signal,
    interrupt: Signal,
}

impl StopSignals {
    /// Needs an async runtime.
    pub(crate) fn catch() -> Result<Self> {
        let catch = |kind, name| signal(kind).map_err(|e| Error::Setup(format!("cannot wait for {name}: {e}")));
        let terminate = catch(SignalKind::terminate(), "SIGTERM")?;
        Ok(Self { terminate, interrupt: catch(SignalKind::interrupt(), "SIGINT")? })
    }

    /// Waits for either of them.
    pub(crate) async fn told(&mut self) {
        tokio::select! {
            _ = self.terminate.recv() => {}
            _ = self.interrupt.recv() => {}
        }
    }
}

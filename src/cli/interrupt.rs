//! SIGINT and SIGTERM for a command that must finish its work first.

use std::thread;

use crossbeam_channel::{Receiver, TryRecvError, bounded};
use tokio::runtime;
use tokio::signal::unix::{Signal, SignalKind, signal};

use crate::error::{Error, Result};

/// The exit code of a process ended by SIGINT, as shells define it.
const KILLED: i32 = 130;

/// A request to stop the command. A second request ends the program at once.
#[derive(Debug, Clone)]
pub(super) struct Interrupt(Receiver<()>);

impl Interrupt {
    /// Makes both signals request a stop.
    pub(super) fn catch() -> Result<Self> {
        let failed = |e| Error::Setup(format!("cannot wait for signals: {e}"));
        let runtime = runtime::Builder::new_current_thread().enable_io().build().map_err(failed)?;
        let listen = || Ok((signal(SignalKind::interrupt())?, signal(SignalKind::terminate())?));
        let guard = runtime.enter();
        let mut signals = listen().map_err(failed)?;
        drop(guard);
        let (asked, interrupt) = bounded::<()>(0);
        let wait = move || {
            runtime.block_on(either(&mut signals));
            drop(asked);
            runtime.block_on(either(&mut signals));
            super::leave(KILLED);
        };
        thread::Builder::new().name("signals".to_owned()).spawn(wait).map_err(failed)?;
        Ok(Self(interrupt))
    }

    /// The receiver, which loses its sender when a stop is requested.
    pub(super) fn asked(&self) -> &Receiver<()> {
        &self.0
    }

    /// Whether a stop is requested.
    pub(super) fn was_asked(&self) -> bool {
        self.0.try_recv() == Err(TryRecvError::Disconnected)
    }
}

async fn either((one, other): &mut (Signal, Signal)) {
    tokio::select! {
        _ = one.recv() => {}
        _ = other.recv() => {}
    }
}

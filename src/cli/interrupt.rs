//! SIGINT and SIGTERM for a command that has something to finish first.

use std::thread;

use crossbeam_channel::{Receiver, TryRecvError, bounded};
use tokio::runtime;
use tokio::signal::unix::{Signal, SignalKind, signal};

use crate::error::{Error, Result};

/// What a shell takes for "ended by SIGINT".
const KILLED: i32 = 130;

/// Tells whether the command was asked to stop. Asked twice, the program ends at once.
#[derive(Debug, Clone)]
pub(super) struct Interrupt(Receiver<()>);

impl Interrupt {
    /// From now on, both signals only ask.
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

    /// Gets a message, or rather loses its sender, once the command was asked to stop.
    pub(super) fn asked(&self) -> &Receiver<()> {
        &self.0
    }

    /// Whether the command was asked to stop.
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

//! Threads with names.

use std::thread::{Builder, JoinHandle};

use crate::error::{Error, Result};

/// Starts a thread. Fails if the system gives none.
pub fn start<T: Send + 'static>(name: &str, work: impl FnOnce() -> T + Send + 'static) -> Result<JoinHandle<T>> {
    let started = Builder::new().name(name.to_owned()).spawn(work);
    started.map_err(|e| Error::Setup(format!("cannot start a thread: {e}")))
}

//! Writes the engine's messages to the server's log, on a thread of its own.
//!
//! The engine logs while it holds the lock under which each read begins. If it wrote to a file there, a stalled device
//! would stop all reads.

use std::thread;

use crossbeam_channel::{TrySendError, bounded};
use rocksdb::{InfoLogger, LogLevel};

/// Most lines that wait; more are dropped.
const LINES: usize = 1024;

/// A logger for the engine. Its thread ends with it.
pub(crate) fn logger() -> Option<InfoLogger> {
    let (say, said) = bounded::<(bool, String)>(LINES);
    let writer = thread::Builder::new().name("engine-log".to_owned()).spawn(move || {
        for (is_error, line) in said {
            if is_error {
                tracing::warn!(target: "tideline::engine", "{line}");
            } else {
                tracing::debug!(target: "tideline::engine", "{line}");
            }
        }
    });
    if writer.is_err() {
        return None;
    }
    let level = if tracing::enabled!(target: "tideline::engine", tracing::Level::DEBUG) {
        LogLevel::Info
    } else {
        LogLevel::Error
    };
    Some(InfoLogger::new_callback_logger(level, move |level, line| {
        let is_error = matches!(level, LogLevel::Error | LogLevel::Fatal);
        match say.try_send((is_error, line.trim_end().to_owned())) {
            // The engine must not wait; after the end nobody receives.
            Ok(()) | Err(TrySendError::Full(_) | TrySendError::Disconnected(_)) => {}
        }
    }))
}

//! SIGINT and SIGTERM for a command that must finish its work first.

use std::io::{self, Cursor, Read};

use crossbeam_channel::{Receiver, TryRecvError, bounded, select};
use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::iterator::Signals;

use crate::prelude::*;

/// The exit code of a process ended by SIGINT, as shells define it.
const KILLED: i32 = 130;

/// Most bytes that [`Interrupt::reading`] reads at once.
const PIECE: usize = 256 << 10;

/// A request to stop the command. A second request ends the program at once.
#[derive(Debug, Clone)]
pub(crate) struct Interrupt(Receiver<()>);

impl Interrupt {
    /// Makes both signals request a stop.
    pub(crate) fn catch() -> Result<Self> {
        let mut signals = Signals::new([SIGTERM, SIGINT]).context("cannot wait for signals")?;
        let (asked, interrupt) = bounded::<()>(0);
        let wait = move || {
            signals.forever().next();
            drop(asked);
            signals.forever().next();
            crate::cli::leave(KILLED);
        };
        threads::start("signals", wait)?;
        Ok(Self(interrupt))
    }

    /// A request that nobody makes while the sender is there.
    #[cfg(test)]
    pub(crate) fn never() -> (crossbeam_channel::Sender<()>, Self) {
        let (asked, interrupt) = bounded(0);
        (asked, Self(interrupt))
    }

    /// The receiver, which loses its sender when a stop is requested.
    pub(crate) fn asked(&self) -> &Receiver<()> {
        &self.0
    }

    /// Whether a stop is requested.
    pub(crate) fn was_asked(&self) -> bool {
        self.0.try_recv() == Err(TryRecvError::Disconnected)
    }

    /// The result of work that may wait for another machine, on a thread of its own; `None` if a stop is requested
    /// first. The thread then ends with the process.
    pub(crate) fn unless_asked<T: Send + 'static>(
        &self,
        work: impl FnOnce() -> Result<T> + Send + 'static,
    ) -> Result<Option<T>> {
        let (done, result) = bounded(1);
        // Nobody listens after an interruption.
        threads::start("work", move || drop(done.send(work())))?;
        select! {
            recv(result) -> result => result.map_err(|_| Error::Setup("a thread panicked".to_owned()))?.map(Some),
            recv(self.0) -> _ => Ok(None),
        }
    }

    /// An input that ends with an error when a stop is requested, also while it waits for more.
    pub(crate) fn reading(&self, mut input: impl Read + Send + 'static) -> Result<Reading> {
        let (sender, pieces) = bounded(1);
        let read = move || {
            loop {
                let mut piece = vec![0; PIECE];
                let read = match input.read(&mut piece) {
                    Ok(0) => return,
                    Ok(count) => Ok(piece[..count].to_vec()),
                    Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                    Err(error) => Err(error),
                };
                let is_last = read.is_err();
                if sender.send(read).is_err() || is_last {
                    return;
                }
            }
        };
        threads::start("read", read)?;
        Ok(Reading { pieces, asked: self.0.clone(), piece: Cursor::default() })
    }
}

/// See [`Interrupt::reading`].
pub(crate) struct Reading {
    pieces: Receiver<io::Result<Vec<u8>>>,
    asked: Receiver<()>,
    piece: Cursor<Vec<u8>>,
}

impl Read for Reading {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.piece.read(buffer)?;
        if count > 0 || buffer.is_empty() {
            return Ok(count);
        }
        select! {
            // Not `Interrupted`, after which readers try again.
            recv(self.asked) -> _ => Err(io::Error::other("interrupted")),
            recv(self.pieces) -> piece => match piece {
                Ok(piece) => {
                    self.piece = Cursor::new(piece?);
                    self.piece.read(buffer)
                }
                Err(_) => Ok(0),
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_input_that_waits_ends_when_asked() {
        let (asked, interrupt) = bounded::<()>(0);
        let interrupt = Interrupt(interrupt);
        let text: Vec<u8> = (0..700_000_u32).map(|n| n as u8).collect();
        let mut read = Vec::new();
        interrupt.reading(Cursor::new(text.clone())).expect("starts").read_to_end(&mut read).expect("reads");
        assert!(read == text);
        assert_eq!(interrupt.unless_asked(|| Ok(7)).expect("works"), Some(7));

        let (writer, silent) = std::os::unix::net::UnixStream::pair().expect("a pair");
        let mut waiting = interrupt.reading(silent).expect("starts");
        let wait = || loop {
            std::thread::park();
        };
        drop(asked);
        assert_eq!(waiting.read(&mut [0]).expect_err("asked").to_string(), "interrupted");
        assert_eq!(interrupt.unless_asked(wait).expect("ends"), None::<()>);
        drop(writer);
    }
}

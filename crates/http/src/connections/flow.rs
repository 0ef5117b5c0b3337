//! The bytes that are read from a connection at a time, as its requests want them.

use std::cell::Cell;
use std::task::Waker;
use std::time::Duration;

use tokio::time::Instant;

use super::turns;

/// How long a connection without a request stays open.
pub(super) const KEEP_ALIVE: Duration = Duration::from_secs(75);
/// Most bytes of a body that are read before its reader has some of them.
const AHEAD: usize = 32 << 10;
/// Most bytes that chunks may add to a body: so many, and so many for each byte of content. Chunks of one byte add five.
const FRAMES: usize = 64 << 10;
const FRAMES_PER_BYTE: usize = 16;

/// The part of a request that a connection is read for.
#[derive(Debug, Clone, Copy)]
pub(super) enum Wanted {
    /// The head of a request, of which so many bytes are there.
    Head(usize),
    /// At most so many bytes of a body.
    Body(usize),
    /// The rest of a body that has no reader. The HTTP server drops it for [`LINGER`](super::incoming::LINGER), and closes.
    Rest,
    /// Nothing: a stream is sent until the client closes its end.
    Close,
}

impl Default for Wanted {
    fn default() -> Self {
        Self::Head(0)
    }
}

/// The bytes of a connection that may be read.
#[derive(Default)]
pub(crate) struct Flow {
    pub(super) wanted: Cell<Wanted>,
    /// The end of the time for a head. Before the first one it is that of the handshake.
    pub(super) until: Cell<Option<Instant>>,
    /// The task of the connection, if it found that nothing is wanted.
    pub(super) waiting: Cell<Option<Waker>>,
    /// Bytes of the body that were read, and bytes of content in it.
    pub(super) read: Cell<usize>,
    pub(super) content: Cell<usize>,
    /// Requests since the client had its answers, or since the last turn.
    pub(super) requests: Cell<u8>,
    /// Whether a reader has taken bytes since it asked for some.
    pub(super) may_ask: Cell<bool>,
    /// Whether a whole request has come.
    pub(super) is_used: Cell<bool>,
    /// Whether a head has taken memory of its own, which the HTTP server keeps as long as the connection.
    pub(crate) is_large: Cell<bool>,
    /// Whether the client has closed its end, as far as bytes were read.
    pub(crate) has_ended: Cell<bool>,
}

impl Flow {
    /// Waits for a turn before a request, if its client has sent many ahead.
    pub(crate) async fn turn(&self) {
        self.requests.set(self.requests.get() + 1);
        if self.requests.get() >= turns::REQUESTS {
            self.requests.set(0);
            // It ends otherwise only with the thread.
            let _ = turns::next().await;
        }
    }

    /// The head of a request is there. Nothing more is read until a reader of the body asks.
    pub(crate) fn begin(&self) {
        self.is_used.set(true);
        self.wanted.set(Wanted::Body(0));
        self.read.set(0);
        self.content.set(0);
        self.may_ask.set(true);
    }

    /// A reader has taken so many bytes of a body, and so more may come.
    pub(crate) fn took(&self, bytes: usize) {
        self.content.set(self.content.get() + bytes);
        self.may_ask.set(true);
    }

    /// A reader waits for the next bytes of a body. False if what came was mostly not content, but the frames of chunks.
    pub(crate) fn ask(&self) -> bool {
        if self.may_ask.replace(false) {
            self.want(Wanted::Body(AHEAD));
        }
        let most = FRAMES + FRAMES_PER_BYTE * self.content.get();
        self.read.get() <= most && !matches!(self.wanted.get(), Wanted::Body(0))
    }

    /// The answer is complete. If its body was not, the rest comes now.
    pub(crate) fn end(&self, is_rest: bool) {
        self.until.set(Some(Instant::now() + KEEP_ALIVE));
        self.want(if is_rest { Wanted::Rest } else { Wanted::Head(0) });
    }

    pub(super) fn want(&self, wanted: Wanted) {
        self.wanted.set(wanted);
        if let Some(task) = self.waiting.take() {
            task.wake();
        }
    }
}

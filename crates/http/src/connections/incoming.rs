//! The bytes that come on a connection. They are read only while something waits for them, and for a limited time.
//!
//! The HTTP server by itself limits the time of the first head only. It reads ahead whatever comes, and the rest of a body
//! in chunks for ever.

use std::io;
use std::pin::Pin;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::task::{Context, Poll};
use std::time::{Duration, SystemTime};

use actix_web::dev::Extensions;
use actix_web::http::StatusCode;
use actix_web::http::header::HttpDate;
use actix_web::rt::net::TcpStream;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::task::JoinHandle;
use tokio::time::{Instant, Sleep, sleep_until, timeout};
use tokio_rustls::TlsAcceptor;
use tokio_rustls::server::TlsStream;
use tokio_util::either::Either;

use super::accepted::Accepted;
use super::connection::Connection;
use super::flow::{Flow, KEEP_ALIVE, Wanted};
use super::pace::LOOK_EVERY;
use super::{offers, turns};
use crate::limits::{Limits, Places};

/// How long a refused client is still read, so that it receives the answer.
pub const LINGER: Duration = Duration::from_secs(5);
/// Most bytes that are read before the HTTP server looks at them. A head of this size needs no memory of its own.
const PIECE: usize = 8 << 10;
/// The HTTP server enlarges its buffer when less than this is free.
const SPARE: usize = 1 << 10;

/// Longest wait for a handshake, unless `server.request_timeout` is shorter.
const HANDSHAKE: Duration = Duration::from_secs(10);
/// Most bytes that are read from a TLS connection before they give some content. A client sends some KiB for a handshake;
/// the longest record has 16 KiB of content and little more. The TLS library by itself collects a message of a handshake of
/// up to 64 KiB before it looks at it.
const MOST_WITHOUT_CONTENT: usize = 24 << 10;

/// The stream of an accepted connection, for the HTTP server.
pub struct Incoming {
    /// TCP, or TLS over it.
    stream: Either<Accepted, Box<TlsStream<Accepted>>>,
    limits: Arc<Limits>,
    connection: Rc<Connection>,
    /// Wakes the task at the end of the time for a head, or before. It is never set further ahead than [`KEEP_ALIVE`]: the
    /// end of an answer sets this time to so much, and does not set the timer.
    timer: Pin<Box<Sleep>>,
    /// Bytes read since the HTTP server looked at them.
    unseen: usize,
    /// Bytes written in this turn; `turn` is the next one while the connection waits for it.
    written: usize,
    turn: Option<JoinHandle<()>>,
    /// Memory of a large head.
    memory: Places,
    /// Whether an earlier answer waits for the client.
    is_blocked: bool,
    /// Whether all answers are written.
    is_flushed: bool,
    /// Whether the client was refused, and is only read so that it receives the answer.
    is_refused: bool,
}

impl Incoming {
    /// The stream of a new connection, after its handshake if it has TLS. `None` if there is no place for it, or the handshake
    /// fails or takes too long. To be called on the thread that serves it.
    pub async fn accept(socket: TcpStream, limits: Arc<Limits>, tls: Option<TlsAcceptor>) -> Option<Self> {
        let mut socket = Accepted::admit(socket, &limits)?;
        let connection = Rc::clone(&socket.connection);
        let stream = match tls {
            None => Either::Left(socket),
            Some(tls) => {
                socket.left = MOST_WITHOUT_CONTENT;
                let handshake = timeout(HANDSHAKE.min(limits.timeout), tls.accept(socket));
                Either::Right(Box::new(handshake.await.ok()?.ok()?))
            }
        };
        let now = Instant::now();
        let until = now + limits.timeout;
        connection.flow.until.set(Some(until));
        Some(Self {
            memory: limits.heads.none(connection.holder()),
            stream,
            limits,
            connection,
            timer: Box::pin(sleep_until(until.min(now + KEEP_ALIVE))),
            unseen: 0,
            written: 0,
            turn: None,
            is_blocked: false,
            is_flushed: true,
            is_refused: false,
        })
    }

    /// Gives its requests access to the connection.
    pub fn share(&self, data: &mut Extensions) {
        data.insert(Rc::clone(&self.connection));
    }

    fn flow(&self) -> &Flow {
        &self.connection.flow
    }

    /// Reads content. Returns the number of bytes, which is 0 at the end.
    fn read(&mut self, context: &mut Context<'_>, bytes: &mut ReadBuf<'_>) -> Poll<io::Result<usize>> {
        let before = bytes.filled().len();
        let read = Pin::new(&mut self.stream).poll_read(context, bytes);
        let more = bytes.filled().len() - before;
        if let Either::Right(tls) = &mut self.stream {
            let left = &mut tls.get_mut().0.left;
            if more > 0 {
                *left = MOST_WITHOUT_CONTENT;
            } else if read.is_pending() && *left == 0 {
                return Poll::Ready(Err(io::Error::new(io::ErrorKind::InvalidData, "too much comes without content")));
            }
        }
        read.map_ok(|()| more)
    }

    /// Counts bytes that were read.
    fn count(&mut self, bytes: usize) {
        self.unseen += bytes;
        match self.flow().wanted.get() {
            Wanted::Head(before) => {
                if before == 0 {
                    self.flow().until.set(Some(Instant::now() + self.limits.timeout));
                }
                self.flow().wanted.set(Wanted::Head(before + bytes));
            }
            Wanted::Body(left) => {
                self.flow().read.set(self.flow().read.get() + bytes);
                self.flow().wanted.set(Wanted::Body(left.saturating_sub(bytes)));
            }
            Wanted::Rest | Wanted::Close => {}
        }
    }

    /// Takes memory for the buffer of an incomplete head, of which `head` bytes are there. Returns false if there is none.
    /// The buffer of the HTTP server doubles, and does not shrink.
    fn has_memory(&mut self, head: usize) -> bool {
        let more = (head + SPARE).next_power_of_two().saturating_sub(PIECE);
        if more <= self.memory.amount() {
            return true;
        }
        let is_there = self.memory.grow_to(more).is_ok();
        self.flow().is_large.set(self.flow().is_large.get() || is_there);
        is_there
    }

    /// Whether the time for a head is over. If it is not, the task is woken then.
    fn is_late(&mut self, context: &mut Context<'_>) -> bool {
        let Some(until) = self.flow().until.get() else { return false };
        // A timer that goes off too early stays: to set it for each request would cost more.
        if until < self.timer.deadline() {
            self.timer.as_mut().reset(until);
        }
        loop {
            // The timer alone does not tell: it is not looked at while a client sends faster than its bytes are read.
            let now = Instant::now();
            if now >= until {
                return true;
            }
            if self.timer.as_mut().poll(context).is_pending() {
                return false;
            }
            self.timer.as_mut().reset(until.min(now + KEEP_ALIVE));
        }
    }

    /// Whether the client takes an answer too slowly. If it does not, the task is woken to look again.
    fn is_too_slow(&mut self, context: &mut Context<'_>) -> bool {
        if self.connection.pace.borrow_mut().is_too_slow(self.limits.timeout) {
            return true;
        }
        let next = Instant::now() + LOOK_EVERY.min(self.limits.timeout);
        if self.timer.is_elapsed() || next < self.timer.deadline() {
            self.timer.as_mut().reset(next);
        }
        let _ = self.timer.as_mut().poll(context);
        false
    }

    /// Answers in place of the HTTP server, which waits for the rest of a head or cannot read it.
    fn refuse(&mut self, context: &mut Context<'_>, status: StatusCode) {
        if !self.is_blocked {
            let date = HttpDate::from(SystemTime::now());
            let retry = if status == StatusCode::SERVICE_UNAVAILABLE { "retry-after: 1\r\n" } else { "" };
            let answer =
                format!("HTTP/1.1 {status}\r\ncontent-length: 0\r\nconnection: close\r\n{retry}date: {date}\r\n\r\n");
            // The client may be gone, and what it does not take at once is lost.
            let _ = Pin::new(&mut self.stream).poll_write(context, answer.as_bytes());
            let _ = Pin::new(&mut self.stream).poll_shutdown(context);
        }
        self.is_refused = true;
        self.flow().until.set(Some(Instant::now() + LINGER));
    }

    /// Drops what comes until the client closes, or for [`LINGER`]. Then the HTTP server finds the end of the connection.
    fn drop_rest(&mut self, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        let mut waste = [0; PIECE];
        loop {
            let mut waste = ReadBuf::new(&mut waste);
            match self.read(context, &mut waste) {
                Poll::Ready(Ok(1..)) => {}
                Poll::Pending if !self.is_late(context) => return Poll::Pending,
                _ => return Poll::Ready(Ok(())),
            }
        }
    }
}

impl AsyncRead for Incoming {
    fn poll_read(self: Pin<&mut Self>, context: &mut Context<'_>, bytes: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        let this = self.get_mut();
        if this.is_refused {
            return this.drop_rest(context);
        }
        let wanted = this.flow().wanted.get();
        if matches!(wanted, Wanted::Close) {
            // An error ends the answer, too. After an end of the input the HTTP server would go on with the answer.
            let socket = match &this.stream {
                Either::Left(socket) => socket,
                Either::Right(tls) => tls.get_ref().0,
            };
            return socket.poll_closed(context).map(Err);
        }
        if matches!(wanted, Wanted::Body(0)) {
            this.unseen = 0;
            this.flow().waiting.set(Some(context.waker().clone()));
            return Poll::Pending;
        }
        if this.unseen >= PIECE && !matches!(wanted, Wanted::Rest) {
            this.unseen = 0;
            context.waker().wake_by_ref();
            return Poll::Pending;
        }
        if let Wanted::Head(there) = wanted
            && this.unseen == 0
            && !this.has_memory(there)
        {
            this.refuse(context, StatusCode::SERVICE_UNAVAILABLE);
            return this.drop_rest(context);
        }
        let before = bytes.filled().len();
        match this.read(context, bytes) {
            Poll::Ready(Ok(more)) => {
                this.flow().has_ended.set(more == 0);
                this.count(more);
                // The HTTP server has looked at all earlier heads, so these bytes begin a new one.
                if let (Wanted::Head(0), Some(head)) = (wanted, bytes.filled_mut().get_mut(before..)) {
                    offers::ignore(head);
                }
                Poll::Ready(Ok(()))
            }
            Poll::Pending => {
                this.unseen = 0;
                if this.turn.is_none() {
                    this.written = 0;
                }
                if matches!(wanted, Wanted::Head(0)) {
                    this.flow().requests.set(0);
                }
                match wanted {
                    Wanted::Body(_) => Poll::Pending,
                    _ if !this.is_late(context) => Poll::Pending,
                    Wanted::Head(1..) => {
                        this.limits.timed_out.fetch_add(1, Ordering::Relaxed);
                        this.refuse(context, StatusCode::REQUEST_TIMEOUT);
                        this.drop_rest(context)
                    }
                    // The end of the connection.
                    _ => Poll::Ready(Ok(())),
                }
            }
            Poll::Ready(Err(failed)) => Poll::Ready(Err(failed)),
        }
    }
}

impl AsyncWrite for Incoming {
    fn poll_write(self: Pin<&mut Self>, context: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        let this = self.get_mut();
        if matches!(this.flow().wanted.get(), Wanted::Head(1..)) && this.is_flushed {
            // The HTTP server refuses a head itself, and does not say that it ends the connection.
            let status = bytes.get(9..12).and_then(|status| StatusCode::from_bytes(status).ok());
            this.refuse(context, status.unwrap_or(StatusCode::BAD_REQUEST));
            return Poll::Ready(Ok(bytes.len()));
        }
        this.is_flushed = false;
        if this.written >= turns::BYTES {
            let turn = this.turn.get_or_insert_with(turns::next);
            if Pin::new(turn).poll(context).is_pending() {
                this.is_blocked = true;
                return Poll::Pending;
            }
            (this.turn, this.written) = (None, 0);
        }
        let part = bytes.get(..turns::BYTES - this.written).unwrap_or(bytes);
        let written = Pin::new(&mut this.stream).poll_write(context, part);
        if let Poll::Ready(Ok(more)) = written {
            this.written += more;
            this.connection.pace.borrow_mut().took(more);
        }
        this.is_blocked = written.is_pending();
        if this.is_blocked && this.is_too_slow(context) {
            return Poll::Ready(Err(io::ErrorKind::TimedOut.into()));
        }
        written
    }

    fn poll_flush(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        let this = self.get_mut();
        let flushed = Pin::new(&mut this.stream).poll_flush(context);
        this.is_flushed = matches!(flushed, Poll::Ready(Ok(())));
        // With TLS, what was written may still wait.
        if flushed.is_ready() {
            this.connection.pace.borrow_mut().took(0);
        } else if this.is_too_slow(context) {
            return Poll::Ready(Err(io::ErrorKind::TimedOut.into()));
        }
        flushed
    }

    fn poll_shutdown(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.get_mut().stream).poll_shutdown(context)
    }
}

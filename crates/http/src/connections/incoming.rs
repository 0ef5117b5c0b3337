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

use actix_web::http::StatusCode;
use actix_web::http::header::HttpDate;
use actix_web::rt::net::TcpStream;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::task::JoinHandle;
use tokio::time::{Instant, Sleep, sleep_until};

use super::accepted::{Accepted, Seat};
use super::flow::{Flow, KEEP_ALIVE, Wanted};
use super::{offers, turns};
use crate::limits::{Limits, Places};

/// How long a refused client is still read, so that it receives the answer.
pub const LINGER: Duration = Duration::from_secs(5);
/// Most bytes that are read before the HTTP server looks at them. A head of this size needs no memory of its own.
const PIECE: usize = 8 << 10;
/// The HTTP server enlarges its buffer when less than this is free.
const SPARE: usize = 1 << 10;

/// The transport of a connection: TCP, or TLS over it.
pub trait Transport: AsyncRead + AsyncWrite + Unpin + 'static {
    /// The connection of TCP.
    fn accepted(&self) -> &Accepted;
}

impl Transport for Accepted {
    fn accepted(&self) -> &Accepted {
        self
    }
}

/// The stream of an accepted connection, for the HTTP server.
pub struct Incoming<T> {
    stream: T,
    limits: Arc<Limits>,
    flow: Rc<Flow>,
    /// Goes off at the end of the time for a head, or before: the end of an answer, which nobody tells it, sets the time to
    /// [`KEEP_ALIVE`], so it is never set later than that.
    timer: Pin<Box<Sleep>>,
    /// Bytes read since the HTTP server looked at them.
    unseen: usize,
    /// Bytes written in this turn, and the next turn if it is waited for.
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

impl<T: Transport> Incoming<T> {
    /// The stream of a connection that was accepted now.
    pub fn new(stream: T, limits: &Arc<Limits>) -> Self {
        let now = Instant::now();
        let until = now + limits.timeout;
        let (flow, seat) = (Rc::new(Flow::new(until)), stream.accepted().seat());
        seat.serve(&flow);
        let memory = limits.heads.none(seat.holder());
        Self {
            stream,
            limits: Arc::clone(limits),
            flow,
            timer: Box::pin(sleep_until(until.min(now + KEEP_ALIVE))),
            unseen: 0,
            written: 0,
            turn: None,
            memory,
            is_blocked: false,
            is_flushed: true,
            is_refused: false,
        }
    }

    pub(crate) fn flow(&self) -> &Rc<Flow> {
        &self.flow
    }

    pub(crate) fn socket(&self) -> &TcpStream {
        self.stream.accepted().socket()
    }

    pub(crate) fn seat(&self) -> &Rc<Seat> {
        self.stream.accepted().seat()
    }

    /// Counts bytes that were read.
    fn count(&mut self, bytes: usize) {
        self.unseen += bytes;
        match self.flow.wanted.get() {
            Wanted::Head(before) => {
                if before == 0 {
                    self.flow.until.set(Instant::now() + self.limits.timeout);
                }
                self.flow.wanted.set(Wanted::Head(before + bytes));
            }
            Wanted::Body(left) => self.flow.wanted.set(Wanted::Body(left.saturating_sub(bytes))),
            Wanted::Rest => {}
        }
    }

    /// Takes memory for more than these bytes of a head, which the HTTP server has found incomplete. False if there is none.
    /// The buffer of the HTTP server doubles, and does not shrink.
    fn has_memory(&mut self, head: usize) -> bool {
        let more = (head + SPARE).next_power_of_two().saturating_sub(PIECE);
        if more <= self.memory.amount() {
            return true;
        }
        let is_there = self.memory.grow_to(more).is_ok();
        self.flow.is_large.set(self.flow.is_large.get() || is_there);
        is_there
    }

    /// Whether the time for a head is over. If it is not, the task is woken then.
    fn is_late(&mut self, context: &mut Context<'_>) -> bool {
        let until = self.flow.until.get();
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
        self.flow.until.set(Instant::now() + LINGER);
    }

    /// Drops what comes until the client closes, or for [`LINGER`]. Then the HTTP server finds the end of the connection.
    fn drop_rest(&mut self, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        let mut waste = [0; PIECE];
        loop {
            let mut waste = ReadBuf::new(&mut waste);
            match Pin::new(&mut self.stream).poll_read(context, &mut waste) {
                Poll::Ready(Ok(())) if !waste.filled().is_empty() => {}
                Poll::Pending if !self.is_late(context) => return Poll::Pending,
                _ => return Poll::Ready(Ok(())),
            }
        }
    }
}

impl<T: Transport> AsyncRead for Incoming<T> {
    fn poll_read(self: Pin<&mut Self>, context: &mut Context<'_>, bytes: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        let this = self.get_mut();
        if this.is_refused {
            return this.drop_rest(context);
        }
        let wanted = this.flow.wanted.get();
        if matches!(wanted, Wanted::Body(0)) {
            this.unseen = 0;
            this.flow.waiting.set(Some(context.waker().clone()));
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
        match Pin::new(&mut this.stream).poll_read(context, bytes) {
            Poll::Ready(Ok(())) => {
                this.count(bytes.filled().len() - before);
                // The HTTP server has looked at all earlier heads, so these bytes are of one.
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
                    this.flow.requests.set(0);
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
            failed => failed,
        }
    }
}

impl<T: Transport> AsyncWrite for Incoming<T> {
    fn poll_write(self: Pin<&mut Self>, context: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        let this = self.get_mut();
        if matches!(this.flow.wanted.get(), Wanted::Head(1..)) && this.is_flushed {
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
        }
        this.is_blocked = written.is_pending();
        written
    }

    fn poll_flush(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        let this = self.get_mut();
        let flushed = Pin::new(&mut this.stream).poll_flush(context);
        this.is_flushed = matches!(flushed, Poll::Ready(Ok(())));
        flushed
    }

    fn poll_shutdown(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.get_mut().stream).poll_shutdown(context)
    }
}

#[cfg(test)]
mod tests {
    use std::task::ready;

    use actix_web::rt::net::TcpStream;
    use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
    use tokio::net::TcpListener;
    use tokio::task::coop::poll_proceed;
    use tokio::time::timeout;

    use super::*;
    use crate::limits::Holder;
    use config::Server;

    /// A connection whose client always sends faster than its bytes are read.
    struct Endless(Accepted);

    impl Transport for Endless {
        fn accepted(&self) -> &Accepted {
            &self.0
        }
    }

    impl AsyncRead for Endless {
        fn poll_read(self: Pin<&mut Self>, context: &mut Context<'_>, bytes: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
            // As of a real connection, until the task has had its share of the thread.
            let may_go_on = ready!(poll_proceed(context));
            may_go_on.made_progress();
            bytes.initialize_unfilled();
            bytes.set_filled(bytes.capacity());
            Poll::Ready(Ok(()))
        }
    }

    impl AsyncWrite for Endless {
        fn poll_write(mut self: Pin<&mut Self>, context: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
            Pin::new(&mut self.0).poll_write(context, bytes)
        }

        fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
            Pin::new(&mut self.0).poll_flush(context)
        }

        fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
            Pin::new(&mut self.0).poll_shutdown(context)
        }
    }

    fn default_limits() -> Arc<Limits> {
        Arc::new(Limits::new(&Server::default(), 10))
    }

    async fn connected(limits: &Arc<Limits>) -> (TcpStream, Incoming<Accepted>) {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a socket");
        let client = TcpStream::connect(listener.local_addr().expect("an address")).await.expect("connects");
        let (stream, _) = listener.accept().await.expect("a client");
        (client, Incoming::new(Accepted::admit(stream, limits).expect("has a place"), limits))
    }

    #[actix_web::test]
    async fn a_refused_client_that_never_stops_sending_is_closed() {
        let limits = default_limits();
        let (_client, incoming) = connected(&limits).await;
        let mut refused = Incoming::new(Endless(incoming.stream), &limits);
        refused.is_refused = true;
        refused.flow.until.set(Instant::now());
        let end = timeout(Duration::from_secs(60), refused.read(&mut [0; 100])).await;
        assert_eq!(end.expect("is closed").expect("in order"), 0);
    }

    #[actix_web::test]
    async fn a_head_has_all_its_time_when_the_pause_before_it_was_long() {
        let limits = default_limits();
        let (mut client, mut incoming) = connected(&limits).await;
        let soon = Instant::now() + limits.timeout / 2;
        incoming.flow.until.set(soon);
        client.write_all(b"GET").await.expect("writes");
        incoming.read_exact(&mut [0; 3]).await.expect("reads");
        assert!(incoming.flow.until.get() > soon);
    }

    #[actix_web::test]
    async fn the_timer_never_goes_off_after_the_longest_pause() {
        let settings = Server { request_timeout: config::Duration::from_secs(300), ..Server::default() };
        let (mut client, mut incoming) = connected(&Arc::new(Limits::new(&settings, 10))).await;
        let is_early = |incoming: &Incoming<Accepted>| incoming.timer.deadline() <= Instant::now() + KEEP_ALIVE;
        assert!(is_early(&incoming));
        // It went off.
        incoming.timer.as_mut().reset(Instant::now() - Duration::from_secs(1));
        client.write_all(b"GET").await.expect("writes");
        assert!(timeout(Duration::from_millis(1), incoming.read_exact(&mut [0; 4])).await.is_err());
        assert!(is_early(&incoming));
    }

    #[actix_web::test]
    async fn a_large_answer_is_written_in_turns() {
        let (mut client, mut incoming) = connected(&default_limits()).await;
        let reads = tokio::spawn(async move {
            let mut all = Vec::new();
            client.read_to_end(&mut all).await.map(|_| all.len())
        });
        let all = vec![7; 3 * turns::BYTES];
        let (mut left, mut pauses) = (all.len(), 0);
        while left > 0 {
            let write = |context: &mut Context<'_>| match Pin::new(&mut incoming).poll_write(context, &all[..left]) {
                Poll::Pending => {
                    pauses += 1;
                    Poll::Pending
                }
                written => written,
            };
            let written = std::future::poll_fn(write).await.expect("writes");
            assert!((1..=turns::BYTES).contains(&written), "{written}");
            left -= written;
        }
        assert!(pauses >= 2, "{pauses} pauses");
        drop(incoming);
        assert_eq!(reads.await.expect("runs").expect("reads"), all.len());
    }

    #[actix_web::test]
    async fn large_heads_share_their_memory() {
        let limits = default_limits();
        let heads = &limits.heads;
        let (mut client, mut incoming) = connected(&limits).await;
        for (thousands, memory, is_large) in [(7, 0, false), (21, 24 << 10, true)] {
            client.write_all(&vec![b'x'; 1000 * thousands]).await.expect("writes");
            for _ in 0..thousands {
                incoming.read_exact(&mut [0; 1000]).await.expect("reads");
            }
            assert_eq!((heads.fill().used, incoming.flow().is_large.get()), (memory, is_large));
        }
        let most = heads.limit() / 16 * 15 - (60 << 10);
        let others = heads.take(Holder::Application, most).expect("free");
        let used = heads.fill().used;
        let (mut second, mut late) = connected(&limits).await;
        let mut read = Vec::new();
        let (answer, end) = tokio::join!(
            async {
                second.write_all(&[b'x'; 60_000]).await.expect("is read to its end");
                let mut answer = String::new();
                second.read_to_string(&mut answer).await.expect("an answer");
                drop(second);
                answer
            },
            late.read_to_end(&mut read)
        );
        assert!(answer.starts_with("HTTP/1.1 503 ") && answer.contains("\r\nretry-after: 1\r\n"), "{answer}");
        assert!(end.is_ok() && read.len() < 60_000, "{}", read.len());
        drop((late, others));
        assert_eq!((heads.fill().used + most as u64, heads.refused()), (used, 1));
        drop(incoming);
        assert_eq!(heads.fill().used, 0);
    }
}

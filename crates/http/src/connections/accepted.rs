//! Connections of TCP as the operating system has them.

use std::io;
use std::pin::{Pin, pin};
use std::rc::Rc;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use actix_web::rt::net::TcpStream;
use socket2::{SockRef, TcpKeepalive};
use tokio::io::{AsyncRead, AsyncWrite, Interest, ReadBuf};

use super::connection::Connection;
use crate::limits::Limits;

/// After so long without a sign of life, the operating system asks whether the client is still there, and closes the
/// connection if so many questions in a row have no answer.
const PROBE_AFTER: Duration = Duration::from_secs(60);
const PROBE_EVERY: Duration = Duration::from_secs(10);
const PROBES: u32 = 3;

/// A connection of TCP that has a place.
pub(super) struct Accepted {
    socket: TcpStream,
    pub(super) connection: Rc<Connection>,
    /// How many bytes may still be read: from then on a read waits for ever.
    pub(super) left: usize,
}

impl Accepted {
    /// Gives a new connection a place; `None` if there is none, and it is to be closed at once.
    pub(super) fn admit(socket: TcpStream, limits: &Limits) -> Option<Self> {
        if let Err(error) = prepare(limits.timeout, &socket) {
            tracing::debug!(%error, "an option could not be set for a connection");
        }
        let holder = limits.callers.client(socket.peer_addr().ok().map(|peer| peer.ip()));
        Some(Self { socket, connection: Connection::open(holder, limits)?, left: usize::MAX })
    }

    fn writable(&mut self) -> io::Result<Pin<&mut TcpStream>> {
        if self.connection.is_given_up() {
            Err(io::ErrorKind::BrokenPipe.into())
        } else {
            Ok(Pin::new(&mut self.socket))
        }
    }

    /// Waits until the client has closed its end. Bytes before the close, which nobody reads, do not hide it: with TLS there
    /// always are some.
    pub(super) fn poll_closed(&self, context: &mut Context<'_>) -> Poll<io::Error> {
        while ready!(self.socket.poll_read_ready(context)).is_ok() {
            let Poll::Ready(Ok(ready)) = pin!(self.socket.ready(Interest::READABLE)).poll(context) else { break };
            if ready.is_read_closed() {
                break;
            }
            // Only bytes: the next ones, or the close, are waited for.
            let read_on = || Err::<(), _>(io::ErrorKind::WouldBlock.into());
            let _ = self.socket.try_io(Interest::READABLE, read_on);
        }
        Poll::Ready(io::ErrorKind::ConnectionReset.into())
    }
}

impl Drop for Accepted {
    fn drop(&mut self) {
        self.connection.end();
    }
}

impl AsyncRead for Accepted {
    fn poll_read(self: Pin<&mut Self>, context: &mut Context<'_>, bytes: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        let this = self.get_mut();
        if this.connection.is_given_up() {
            return Poll::Ready(Ok(()));
        }
        let before = bytes.filled().len();
        let read = if this.left > 0 { Pin::new(&mut this.socket).poll_read(context, bytes) } else { Poll::Pending };
        this.left = this.left.saturating_sub(bytes.filled().len() - before);
        if read.is_pending() {
            this.connection.wait(context);
        }
        read
    }
}

impl AsyncWrite for Accepted {
    fn poll_write(self: Pin<&mut Self>, context: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        self.get_mut().writable()?.poll_write(context, bytes)
    }

    fn poll_write_vectored(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        parts: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        self.get_mut().writable()?.poll_write_vectored(context, parts)
    }

    fn is_write_vectored(&self) -> bool {
        self.socket.is_write_vectored()
    }

    fn poll_flush(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.get_mut().socket).poll_flush(context)
    }

    fn poll_shutdown(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.get_mut().socket).poll_shutdown(context)
    }
}

fn prepare(timeout: Duration, socket: &TcpStream) -> io::Result<()> {
    // The parts of an answer are sent at once. Otherwise the last one waits for the client to confirm the others, which
    // some clients do after 40 ms.
    socket.set_nodelay(true)?;
    let probes = TcpKeepalive::new().with_time(PROBE_AFTER).with_interval(PROBE_EVERY).with_retries(PROBES);
    SockRef::from(socket).set_tcp_keepalive(&probes)?;
    limit_writes(timeout, socket)
}

/// Lets the operating system drop a client that takes no bytes for the timeout of a request. The HTTP server itself
/// would wait for ever.
#[cfg(target_os = "linux")]
fn limit_writes(timeout: Duration, socket: &TcpStream) -> io::Result<()> {
    SockRef::from(socket).set_tcp_user_timeout(Some(timeout))
}

/// Other systems have no such timeout. Their keep-alive probes close a connection whose client is gone.
#[cfg(not(target_os = "linux"))]
fn limit_writes(_: Duration, _: &TcpStream) -> io::Result<()> {
    Ok(())
}

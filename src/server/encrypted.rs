//! A connection with TLS, of which no more is read ahead than a record needs.
//!
//! The TLS library by itself collects a message of a handshake of up to 64 KiB before it looks at it.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};

use actix_tls::accept::rustls_0_23::TlsStream;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

use http::{Accepted, Transport};

/// Most bytes that are read without any content of records. A client sends some KiB for a handshake; the longest record has
/// 16 KiB of content and little more.
const MOST: usize = 24 << 10;

/// The connection of TCP below TLS.
pub(super) fn below_tls(mut socket: Accepted) -> Accepted {
    *socket.left() = MOST;
    socket
}

/// The content of the records.
pub(super) struct Encrypted(pub(super) TlsStream<Accepted>);

impl AsyncRead for Encrypted {
    fn poll_read(mut self: Pin<&mut Self>, context: &mut Context<'_>, bytes: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        let before = bytes.filled().len();
        let read = Pin::new(&mut self.0).poll_read(context, bytes);
        let left = self.0.get_mut().0.left();
        if bytes.filled().len() > before {
            *left = MOST;
        } else if read.is_pending() && *left == 0 {
            return Poll::Ready(Err(io::Error::new(io::ErrorKind::InvalidData, "too much comes without content")));
        }
        read
    }
}

impl AsyncWrite for Encrypted {
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

impl Transport for Encrypted {
    fn accepted(&self) -> &Accepted {
        self.0.get_ref().0
    }
}

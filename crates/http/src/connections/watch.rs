//! Connections: they are closed if their client stops reading, and watched for the client's close.

use std::io;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

use actix_web::dev::Extensions;
use actix_web::rt::net::TcpStream;
use socket2::{SockRef, TcpKeepalive};
use tokio::io::Interest;

use super::incoming::{Incoming, Transport};
use crate::limits::Limits;

/// After so long without a sign of life, the operating system asks whether the client is still there, and closes the
/// connection if so many questions in a row have no answer.
const PROBE_AFTER: Duration = Duration::from_secs(60);
const PROBE_EVERY: Duration = Duration::from_secs(10);
const PROBES: u32 = 3;

/// Waits for a client to close its end of the connection.
pub(crate) struct Watch(TcpStream);

impl Watch {
    /// Watches the end of a client.
    pub(crate) fn new(end: TcpStream) -> Self {
        Self(end)
    }

    /// Ends when the client has closed its end. Bytes before the close, which nobody reads, do not hide it: with TLS there
    /// always are some.
    pub(crate) async fn closed(&self) {
        while let Ok(ready) = self.0.ready(Interest::READABLE).await
            && !ready.is_read_closed()
        {
            // Only bytes: the next ones, or the close, are waited for.
            let read_on = || Err::<(), _>(io::ErrorKind::WouldBlock.into());
            let _ = self.0.try_io(Interest::READABLE, read_on);
        }
    }
}

/// The handler of each connection before its first request.
pub fn greet<T: Transport>(limits: &Arc<Limits>) -> impl Fn(&Incoming<T>, &mut Extensions) + 'static + use<T> {
    let limits = Arc::clone(limits);
    move |connection, data| {
        let socket = connection.socket();
        if let Err(error) = prepare(limits.timeout, socket) {
            tracing::debug!(%error, "an option could not be set for a connection");
        }
        data.insert(Rc::clone(connection.seat()));
        data.insert(Rc::clone(connection.flow()));
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

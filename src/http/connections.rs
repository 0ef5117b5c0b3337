//! Connections: counted, closed when their client no longer takes what it asked for, and watched for its end.

use std::any::Any;
use std::cell::RefCell;
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::sync::Arc;
use std::task::{Context, Poll};

use actix_web::dev::Extensions;
use actix_web::rt::net::TcpStream;
use tokio::io::ReadBuf;

use super::api::Api;
use super::limits::Places;

/// A connection beyond the limit: its requests are turned away.
pub(super) struct Surplus;

/// What a connection holds until it is closed: also when all of an answer is written, its client may not have taken
/// it yet.
#[derive(Default)]
pub(super) struct HeldPlaces(RefCell<Option<Places>>);

impl HeldPlaces {
    pub(super) fn keep(&self, places: Places) {
        self.0.replace(Some(places));
    }
}

/// The client's end of a connection. The HTTP server does not look at it while it sends an answer, and a stream is one
/// that may never end.
pub(super) struct ClientEnd(RefCell<Option<OwnedFd>>);

impl ClientEnd {
    /// Watches it from now on; once a connection.
    pub(super) fn watch(&self) -> io::Result<Option<Watch>> {
        let watched = self.0.take().map(|file| TcpStream::from_std(file.into()));
        Ok(watched.transpose()?.map(Watch))
    }
}

/// Waits for a client to close its end of the connection.
pub(super) struct Watch(TcpStream);

impl Watch {
    /// Whether it has closed it. Where the client has sent something that nobody waits for, its end is not seen.
    pub(super) fn is_closed(&self, context: &mut Context<'_>) -> bool {
        let mut byte = [0];
        match self.0.poll_peek(context, &mut ReadBuf::new(&mut byte)) {
            Poll::Ready(Ok(sent)) => sent == 0,
            Poll::Ready(Err(_)) => true,
            Poll::Pending => false,
        }
    }
}

/// How many connections the server should accept for a limit of `connections`. Those beyond the limit
/// get a clear answer, and then are closed; beyond these, the next wait in the operating system's queue.
pub fn accepted(connections: usize) -> usize {
    connections.saturating_add((connections / 8).max(16))
}

/// What to do with each new connection. It counts until it is closed.
pub fn greet(api: &Arc<Api>) -> impl Fn(&dyn Any, &mut Extensions) + Send + Sync + 'static + use<> {
    let api = Arc::clone(api);
    move |connection, data| {
        if let Some(stream) = connection.downcast_ref::<TcpStream>() {
            limit_writes(&api, stream);
            // Without it, a client that goes is noticed when it takes no comment.
            let file = stream.as_fd().try_clone_to_owned().ok();
            data.insert(ClientEnd(RefCell::new(file)));
        }
        data.insert(HeldPlaces::default());
        match api.limits.connections.take(1) {
            Ok(place) => drop(data.insert(place)),
            Err(_) => drop(data.insert(Surplus)),
        }
    }
}

/// Lets the operating system drop a client that takes nothing for as long as a request may last. The
/// HTTP server itself would wait for it for ever.
#[cfg(target_os = "linux")]
fn limit_writes(api: &Api, stream: &TcpStream) {
    if let Err(error) = socket2::SockRef::from(stream).set_tcp_user_timeout(Some(api.timeout)) {
        tracing::debug!(%error, "a connection has no timeout for writes");
    }
}

/// Other systems have no such timeout; their keep-alive probes end a connection whose client is gone.
#[cfg(not(target_os = "linux"))]
fn limit_writes(_: &Api, _: &TcpStream) {}

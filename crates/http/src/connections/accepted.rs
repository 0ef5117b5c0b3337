//! Accepted connections. Each has a seat: a place among the connections, or one of the few beyond them. When there is none for
//! a new connection, the one that has been silent for longest is closed. The seats of a thread are known to it alone.

use std::cell::{Cell, OnceCell, RefCell};
use std::collections::BTreeMap;
use std::io;
use std::net::Shutdown;
use std::os::fd::{AsFd, OwnedFd};
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll, ready};

use actix_web::HttpRequest;
use actix_web::rt::net::{ActixStream, Ready, TcpStream};
use socket2::SockRef;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

use super::flow::Flow;
use crate::limits::{Holder, Limits, Places, Quota};

thread_local! {
    static SEATS: RefCell<BTreeMap<u64, Rc<Seat>>> = const { RefCell::new(BTreeMap::new()) };
    /// How many connections came before.
    static CAME: Cell<u64> = const { Cell::new(0) };
}

/// A connection of TCP with its seat.
pub struct Accepted {
    socket: TcpStream,
    seat: Rc<Seat>,
    left: usize,
}

/// The places that a connection holds until it is closed, and its end.
pub(crate) struct Seat {
    /// Seats are in the order in which the connections came.
    number: u64,
    holder: Cell<Holder>,
    /// The place among the connections, or that beyond them; `None` once it is given up.
    place: RefCell<Option<Places>>,
    is_surplus: Cell<bool>,
    /// The place of a stream. Its client might not have received an answer that is completely written.
    stream: RefCell<Option<Places>>,
    /// The client's end of the connection.
    end: RefCell<Option<OwnedFd>>,
    /// None during a handshake.
    flow: OnceCell<Rc<Flow>>,
}

impl Accepted {
    /// Gives a new connection a seat; `None` if there is none, and it is to be closed at once. To be called on the thread that
    /// serves it.
    pub fn admit(socket: TcpStream, limits: &Limits) -> Option<Self> {
        let holder = limits.client(socket.peer_addr().ok().map(|peer| peer.ip()));
        Self::seated(socket, holder, limits)
    }

    fn seated(socket: TcpStream, holder: Holder, limits: &Limits) -> Option<Self> {
        let (place, is_surplus) = match find_place(&limits.connections, holder, false) {
            Some(place) => (place, false),
            None => (find_place(&limits.surplus, holder, true)?, true),
        };
        let number = CAME.replace(CAME.get() + 1);
        let seat = Rc::new(Seat {
            number,
            holder: Cell::new(holder),
            place: RefCell::new(Some(place)),
            is_surplus: Cell::new(is_surplus),
            stream: RefCell::default(),
            end: RefCell::new(socket.as_fd().try_clone_to_owned().ok()),
            flow: OnceCell::new(),
        });
        SEATS.with_borrow_mut(|seats| seats.insert(number, Rc::clone(&seat)));
        Some(Self { socket, seat, left: usize::MAX })
    }

    /// The connection itself.
    pub fn socket(&self) -> &TcpStream {
        &self.socket
    }

    /// How many bytes may still be read: from then on a read waits for ever.
    pub fn left(&mut self) -> &mut usize {
        &mut self.left
    }

    pub(crate) fn seat(&self) -> &Rc<Seat> {
        &self.seat
    }
}

impl Drop for Accepted {
    fn drop(&mut self) {
        // It fails only when the thread ends.
        let _ = SEATS.try_with(|seats| seats.borrow_mut().remove(&self.seat.number));
    }
}

/// A place for a new connection, which a silent one may have to leave.
fn find_place(quota: &Quota, holder: Holder, is_surplus: bool) -> Option<Places> {
    let free = quota.take_quietly(holder, 1);
    if free.is_some() {
        return free;
    }
    let is_full = quota.is_full_for(holder);
    // Only places that this holder can have: those of its own share, or those of strangers.
    let can_have = |seat: &Seat| match seat.holder.get() {
        Holder::Caller(_) if is_full => true,
        other => other == holder,
    };
    SEATS.with_borrow(|seats| {
        let has_such = |seat: &Seat| seat.place.borrow().is_some() && seat.is_surplus.get() == is_surplus;
        let silent = seats.values().filter(|seat| can_have(seat) && has_such(seat));
        let silent = silent.filter_map(|seat| Some((seat.silence()?, seat.number, seat)));
        if let Some((.., seat)) = silent.min_by_key(|(silence, number, _)| (*silence, *number)) {
            seat.give_up();
        }
    });
    quota.take(holder, 1).ok()
}

/// Why a connection may be closed; the first ones go first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Silence {
    /// It has never sent a whole request.
    FromTheStart,
    /// Its requests are answered, and it is a stranger's.
    Idle,
}

impl Seat {
    /// For whom the connection takes places.
    pub(crate) fn holder(&self) -> Holder {
        self.holder.get()
    }

    /// A key was accepted on the connection. From now on it is one of the application, whoever comes from its address, and
    /// gives way to none.
    pub(crate) fn is_of_key(&self) {
        self.holder.set(Holder::Application);
        self.place.borrow_mut().iter_mut().for_each(Places::pass_to_application);
    }

    /// The connection is served from now on.
    pub(super) fn serve(&self, flow: &Rc<Flow>) {
        // A connection is served once.
        let _ = self.flow.set(Rc::clone(flow));
    }

    /// Whether it is beyond the limit. Its requests are refused.
    pub(crate) fn is_surplus(&self) -> bool {
        self.is_surplus.get() || self.place.borrow().is_none()
    }

    /// Takes a place among the connections for the sender of a request. False if there is none.
    pub(crate) fn rise(&self, limits: &Limits, holder: Holder) -> bool {
        let Ok(place) = limits.connections.take(holder, 1) else { return false };
        self.place.replace(Some(place));
        self.is_surplus.set(false);
        true
    }

    /// The seat of the connection of a request.
    pub(crate) fn of(request: &HttpRequest) -> Option<&Rc<Self>> {
        request.conn_data()
    }

    /// Keeps the place of a stream. Returns the client's end if it can be watched; once a connection.
    pub(crate) fn keep(&self, stream: Places) -> Option<TcpStream> {
        self.stream.replace(Some(stream));
        TcpStream::from_std(self.end.take()?.into()).ok()
    }

    fn silence(&self) -> Option<Silence> {
        match self.flow.get() {
            None => Some(Silence::FromTheStart),
            Some(flow) if !flow.is_waiting() => None,
            Some(flow) if !flow.is_used() => Some(Silence::FromTheStart),
            Some(_) => matches!(self.holder.get(), Holder::Caller(_)).then_some(Silence::Idle),
        }
    }

    /// Gives its places to others, and closes the connection: the server finds its end.
    fn give_up(&self) {
        drop(self.place.take());
        if let Some(end) = &*self.end.borrow() {
            // It may have ended already.
            let _ = SockRef::from(end).shutdown(Shutdown::Both);
        }
    }
}

impl AsyncRead for Accepted {
    fn poll_read(self: Pin<&mut Self>, context: &mut Context<'_>, bytes: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        let this = self.get_mut();
        if this.left == 0 {
            return Poll::Pending;
        }
        let before = bytes.filled().len();
        ready!(Pin::new(&mut this.socket).poll_read(context, bytes))?;
        this.left = this.left.saturating_sub(bytes.filled().len() - before);
        Poll::Ready(Ok(()))
    }
}

impl AsyncWrite for Accepted {
    fn poll_write(self: Pin<&mut Self>, context: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.get_mut().socket).poll_write(context, bytes)
    }

    fn poll_write_vectored(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        parts: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.get_mut().socket).poll_write_vectored(context, parts)
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

impl ActixStream for Accepted {
    fn poll_read_ready(&self, context: &mut Context<'_>) -> Poll<io::Result<Ready>> {
        ActixStream::poll_read_ready(&self.socket, context)
    }

    fn poll_write_ready(&self, context: &mut Context<'_>) -> Poll<io::Result<Ready>> {
        ActixStream::poll_write_ready(&self.socket, context)
    }
}

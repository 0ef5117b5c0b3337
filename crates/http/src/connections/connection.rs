//! The place of a connection: one among the connections, or one of the few beyond them, until it is closed. When there is
//! none for a new connection, the one that has been silent for longest is closed. The connections of a thread are known to
//! it alone.

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::rc::Rc;
use std::task::{Context, Waker};

use actix_web::HttpRequest;

use super::flow::{Flow, Wanted};
use super::pace::Pace;
use crate::limits::{Holder, Limits, Places, Quota};

thread_local! {
    static OPEN: RefCell<BTreeMap<u64, Rc<Connection>>> = const { RefCell::new(BTreeMap::new()) };
    /// How many connections came before.
    static CAME: Cell<u64> = const { Cell::new(0) };
}

/// The state that the stream of a connection and its requests share.
pub(crate) struct Connection {
    /// Connections are in the order in which they came.
    number: u64,
    holder: Cell<Holder>,
    /// The place among the connections, or that beyond them; `None` once it is given up.
    place: RefCell<Option<Places>>,
    is_surplus: Cell<bool>,
    /// The place of a stream. Its client might not have received an answer that is completely written.
    stream: RefCell<Option<Places>>,
    /// The task that waits for bytes.
    task: Cell<Option<Waker>>,
    pub(crate) flow: Flow,
    pub(super) pace: RefCell<Pace>,
}

impl Connection {
    /// A new connection; `None` if there is no place for it.
    pub(super) fn open(holder: Holder, limits: &Limits) -> Option<Rc<Self>> {
        let (place, is_surplus) = match find_place(&limits.connections, holder, false) {
            Some(place) => (place, false),
            None => (find_place(&limits.surplus, holder, true)?, true),
        };
        let number = CAME.replace(CAME.get() + 1);
        let connection = Rc::new(Self {
            number,
            holder: Cell::new(holder),
            place: RefCell::new(Some(place)),
            is_surplus: Cell::new(is_surplus),
            stream: RefCell::default(),
            task: Cell::default(),
            flow: Flow::default(),
            pace: RefCell::default(),
        });
        OPEN.with_borrow_mut(|open| open.insert(number, Rc::clone(&connection)));
        Some(connection)
    }

    /// It is closed.
    pub(super) fn end(&self) {
        // It fails only when the thread ends.
        let _ = OPEN.try_with(|open| open.borrow_mut().remove(&self.number));
    }

    /// The connection of a request.
    pub(crate) fn of(request: &HttpRequest) -> Option<&Rc<Self>> {
        request.conn_data()
    }

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

    /// Whether it is beyond the limit. Its requests are refused.
    pub(crate) fn is_surplus(&self) -> bool {
        self.is_surplus.get() || self.is_given_up()
    }

    /// Takes a place among the connections for the sender of a request. False if there is none.
    pub(crate) fn rise(&self, limits: &Limits, holder: Holder) -> bool {
        let Ok(place) = limits.connections.take(holder, 1) else { return false };
        self.place.replace(Some(place));
        self.is_surplus.set(false);
        true
    }

    /// Keeps the place of a stream. From now on only the client's close is looked for.
    pub(crate) fn begin_stream(&self, place: Places) {
        self.stream.replace(Some(place));
        self.flow.want(Wanted::Close);
    }

    /// The task of the context waits for bytes.
    pub(super) fn wait(&self, context: &Context<'_>) {
        let known = self.task.take().filter(|task| task.will_wake(context.waker()));
        self.task.set(Some(known.unwrap_or_else(|| context.waker().clone())));
    }

    /// Whether another connection has its place. Nothing is read or written any more.
    pub(super) fn is_given_up(&self) -> bool {
        self.place.borrow().is_none()
    }

    fn give_up(&self) {
        drop(self.place.take());
        if let Some(task) = self.task.take() {
            task.wake();
        }
    }

    /// Whether it may be closed for another one: the next request is waited for, and it has never sent a whole one, or is a
    /// stranger's.
    fn is_silent(&self) -> bool {
        let is_strangers = matches!(self.holder.get(), Holder::Caller(_));
        matches!(self.flow.wanted.get(), Wanted::Head(_)) && (is_strangers || !self.flow.is_used.get())
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
    let can_have = |connection: &Connection| match connection.holder.get() {
        Holder::Caller(_) if is_full => true,
        other => other == holder,
    };
    OPEN.with_borrow(|open| {
        let has_such = |one: &Connection| !one.is_given_up() && one.is_surplus.get() == is_surplus;
        let silent = open.values().filter(|one| can_have(one) && has_such(one) && one.is_silent());
        // Those that have never sent a whole request go first, the oldest before the others.
        if let Some(one) = silent.min_by_key(|one| one.flow.is_used.get()) {
            one.give_up();
        }
    });
    quota.take(holder, 1).ok()
}

//! Pages of time-ordered lists.

use serde::Serialize;
use utoipa::ToSchema;

use crate::{Id, Position, UserCursor, UserId};

/// The direction in which a list is walked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Order {
    /// From the newest to the oldest.
    NewestFirst,
    /// From the oldest to the newest.
    OldestFirst,
}

/// An open interval of places: strictly older than `before`, strictly newer than `after`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Span<I> {
    /// The upper bound, itself excluded; `None` for the very top.
    pub before: Option<Position<I>>,
    /// The lower bound, itself excluded; `None` for the very end.
    pub after: Option<Position<I>>,
}

impl<I: Copy + Ord> Span<I> {
    /// The whole list.
    pub const ALL: Self = Self { before: None, after: None };

    /// Whether a place lies inside.
    pub fn contains(&self, place: Position<I>) -> bool {
        self.before.is_none_or(|before| place < before) && self.after.is_none_or(|after| place > after)
    }

    /// Whether no place can lie inside.
    pub fn is_empty(&self) -> bool {
        matches!((self.before, self.after), (Some(before), Some(after)) if before <= after)
    }

    /// The part that is strictly newer than `floor`.
    pub fn newer_than(self, floor: Option<Position<I>>) -> Self {
        Self { after: self.after.max(floor), ..self }
    }

    /// The part that is strictly older than `top`.
    pub fn older_than(self, top: Position<I>) -> Self {
        Self { before: Some(self.before.map_or(top, |before| before.min(top))), ..self }
    }

    /// A scan of it in an order.
    pub fn scan(self, order: Order, limit: usize) -> Scan<I> {
        Scan { span: self, order, limit }
    }

    /// A scan of its newest places.
    pub fn newest(self, limit: usize) -> Scan<I> {
        self.scan(Order::NewestFirst, limit)
    }
}

impl<I: Id> Span<I> {
    /// All at or below a place.
    pub fn up_to(place: Position<I>) -> Self {
        Self { before: place.next_newer(), after: None }
    }
}

/// A read of a part of a list: the first `limit` entries within `span`, in `order`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Scan<I> {
    /// The part of the list.
    pub span: Span<I>,
    /// The order in which it is walked.
    pub order: Order,
    /// At most this many entries.
    pub limit: usize,
}

impl<I: Copy + Ord> Scan<I> {
    /// Whether it finds nothing in any list.
    pub fn is_empty(&self) -> bool {
        self.limit == 0 || self.span.is_empty()
    }

    /// The rest of the scan beyond a place, with another limit.
    pub fn beyond(self, place: Position<I>, limit: usize) -> Self {
        let mut span = self.span;
        match self.order {
            Order::NewestFirst => span.before = Some(place),
            Order::OldestFirst => span.after = Some(place),
        }
        Self { span, limit, ..self }
    }
}

/// A request for a page of a list.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PageRequest<I> {
    /// The part of the list.
    pub span: Span<I>,
    /// At most this many items, 1 or more.
    pub limit: usize,
}

impl<I: Copy + Ord> PageRequest<I> {
    /// `after` alone asks for the items *immediately* newer, so the walk starts there.
    pub fn order(&self) -> Order {
        match (self.span.before, self.span.after) {
            (None, Some(_)) => Order::OldestFirst,
            _ => Order::NewestFirst,
        }
    }
}

/// One page, newest first whatever the walk was.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Page<T, I> {
    /// The items, newest first.
    pub items: Vec<T>,
    /// To be passed as `before` for the older ones; `None` when there are none.
    pub next: Option<Position<I>>,
    /// To be passed as `after` for the newer ones, also those still to come: it is below items of content below which
    /// others may come. `None` when an empty page gives no place to start from.
    pub prev: Option<Position<I>>,
}

/// The first entries of a scan.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Scanned<T, I> {
    /// The entries, as many as asked for, or all.
    pub found: Vec<T>,
    /// A place up to which all entries were looked at, if the scan ended there although neither is so.
    pub stopped: Option<Position<I>>,
}

impl<T, I> From<Vec<T>> for Scanned<T, I> {
    fn from(found: Vec<T>) -> Self {
        Self { found, stopped: None }
    }
}

/// A page of users.
pub type UserPage = Page<UserCursor, UserId>;

impl<T, I: Id> Page<T, I> {
    /// Reads a page of a list, whose `scan` returns the entries of any part of it. Only a request for the oldest needs a
    /// second scan, which tells whether anything is older.
    ///
    /// A scan that stopped makes a short page, which goes on at the place where it stopped.
    ///
    /// An empty page has cursors made from its bounds. With `after` alone, `next` lies just above `after`, so the page
    /// of older items includes an item at `after`. With `before` alone, `prev` lies just below `before`, so the page of
    /// newer items includes an item at `before`.
    pub fn read<S: Into<Scanned<T, I>>, E>(
        request: &PageRequest<I>,
        place: impl Fn(&T) -> Position<I>,
        scan: impl Fn(Scan<I>) -> Result<S, E>,
    ) -> Result<Self, E> {
        let (Span { before, after }, order) = (request.span, request.order());
        // One more tells whether there are more.
        let Scanned { mut found, stopped } = scan(request.span.scan(order, request.limit + 1))?.into();
        let more = found.len() > request.limit;
        found.truncate(request.limit);
        if order == Order::OldestFirst {
            found.reverse();
        }
        let (first, last) = (found.first().map(&place), found.last().map(&place));
        let next = match order {
            Order::NewestFirst => last.filter(|_| more).or(stopped),
            Order::OldestFirst => match last.or(after.map(Position::just_above)) {
                Some(place) => {
                    let older = scan(Span::ALL.older_than(place).newest(1))?.into();
                    Some(place).filter(|_| !older.found.is_empty() || older.stopped.is_some())
                }
                None => None,
            },
        };
        let first = if order == Order::OldestFirst { stopped.or(first) } else { first };
        let below = before.map(Position::just_below);
        Ok(Self { items: found, next, prev: first.or(after).or(below) })
    }
}

/// The number of unread items; `capped` if there are more.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, ToSchema)]
pub struct Unread {
    /// Items above the marker, as far as they were counted.
    pub count: usize,
    /// Whether there are more.
    pub capped: bool,
}

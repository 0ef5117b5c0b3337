//! Trimming inboxes: raising their floors.
//!
//! Compactions notice inboxes that are clearly over the limit and name them here. The trim raises
//! the floor on disk; a later compaction drops what is below. No answer depends on when that is.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use crossbeam_channel::{Receiver, Sender, bounded, select};

use super::Context;
use crate::error::Result;
use crate::model::{Order, Span, UserId};
use crate::store::{Listeners, Tier};

/// Inboxes that may wait for a trim. One more is left out; the next compaction names it again.
const QUEUE: usize = 65_536;

/// Entries beyond the limit that an inbox may have before it is trimmed, so that there is not one
/// trim for each insert.
pub fn slack(inbox_limit: usize) -> usize {
    (inbox_limit / 4).max(16)
}

/// The queue of inboxes that want a trim.
#[derive(Debug, Clone)]
pub struct Candidates {
    sender: Sender<UserId>,
    receiver: Receiver<UserId>,
    left_out: Arc<AtomicU64>,
}

impl Default for Candidates {
    fn default() -> Self {
        let (sender, receiver) = bounded(QUEUE);
        Self { sender, receiver, left_out: Arc::default() }
    }
}

impl Candidates {
    /// Names an inbox. Never waits.
    pub fn name(&self, user: UserId) {
        if self.sender.try_send(user).is_err() {
            self.left_out.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// What a store needs in order to name inboxes here.
    pub fn listeners(&self) -> Listeners {
        let candidates = self.clone();
        Listeners { oversized_inbox: Arc::new(move |user| candidates.name(user)) }
    }
}

impl Context {
    pub(super) fn run_trim(&self, stopped: &Receiver<()>) {
        loop {
            let user = select! {
                recv(stopped) -> _ => return,
                recv(self.candidates.receiver) -> user => user,
            };
            let Ok(user) = user else { return };
            if let Err(error) = self.trim(user) {
                tracing::error!(%error, %user, "an inbox was not trimmed; the next compaction names it again");
            }
        }
    }

    /// Raises the floor to the first entry beyond the limit, if there are more than the slack of them.
    fn trim(&self, user: UserId) -> Result<()> {
        let (limit, slack) = (self.rules.inbox_limit, slack(self.rules.inbox_limit));
        let (mut rows, mut first_beyond) = (0, None);
        self.store.inbox(user, Span::ALL, Order::NewestFirst, Tier::Disk, &mut |entry| {
            rows += 1;
            if rows == limit + 1 {
                first_beyond = Some(entry.cursor);
            }
            if rows > limit + slack { std::ops::ControlFlow::Break(()) } else { std::ops::ControlFlow::Continue(()) }
        })?;
        match first_beyond {
            Some(floor) if rows > limit + slack => self.store.raise_floor(user, floor),
            _ => Ok(()),
        }
    }
}

//! Users online: with a heartbeat that has not run out, or an open stream.

use std::collections::{BTreeMap, BTreeSet};

use model::sync::{Mutex, MutexGuard};
use model::{Fill, Millis, UserId};

/// Most users with a heartbeat; some 100 MiB.
const CAPACITY: usize = 1_000_000;

/// How a user is online.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Online {
    /// When the heartbeat runs out, if there is one.
    pub until: Option<Millis>,
    /// Open streams.
    pub streams: usize,
}

impl Online {
    /// Whether the user is online at all.
    pub fn is_online(&self) -> bool {
        self.until.is_some() || self.streams > 0
    }
}

#[derive(Debug, Default)]
struct State {
    users: BTreeMap<UserId, Online>,
    /// All heartbeats by their end, so that each is removed when it ends.
    ends: BTreeSet<(Millis, UserId)>,
}

/// The users who are online. In memory only: after a restart nobody is, until the next heartbeat or stream.
#[derive(Debug)]
pub struct Presence {
    ttl: Millis,
    state: Mutex<State>,
}

impl Presence {
    pub(super) fn new(ttl: Millis) -> Self {
        Self { ttl, state: Mutex::default() }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock()
    }

    /// The state at an instant: without the heartbeats that ran out.
    fn at(&self, now: Millis) -> MutexGuard<'_, State> {
        let mut state = self.state();
        while let Some((_, user)) = state.ends.first().copied().filter(|(end, _)| *end <= now) {
            state.end(user);
        }
        state
    }

    /// How a user is online.
    pub fn of(&self, user: UserId, now: Millis) -> Online {
        self.at(now).users.get(&user).copied().unwrap_or_default()
    }

    /// Records a heartbeat; returns how the user is online then. `None` if there are too many heartbeats.
    pub fn beat(&self, user: UserId, now: Millis) -> Option<Online> {
        let mut state = self.at(now);
        state.end(user);
        if state.ends.len() >= CAPACITY {
            return None;
        }
        let end = now.saturating_add(self.ttl);
        state.ends.insert((end, user));
        let online = state.users.entry(user).or_default();
        online.until = Some(end);
        Some(*online)
    }

    /// Ends a user's heartbeat; returns how the user is online then.
    pub fn leave(&self, user: UserId, now: Millis) -> Online {
        let mut state = self.at(now);
        state.end(user);
        state.users.get(&user).copied().unwrap_or_default()
    }

    pub(super) fn connect(&self, user: UserId) {
        let mut state = self.state();
        state.users.entry(user).or_default().streams += 1;
    }

    pub(super) fn disconnect(&self, user: UserId) {
        let mut state = self.state();
        if let Some(online) = state.users.get_mut(&user) {
            online.streams = online.streams.saturating_sub(1);
            if !online.is_online() {
                state.users.remove(&user);
            }
        }
    }

    /// The first `limit` users online with ids of at least `from`, ascending.
    pub fn online_from(&self, from: UserId, limit: usize, now: Millis) -> Vec<UserId> {
        self.at(now).users.range(from..).take(limit).map(|(user, _)| *user).collect()
    }

    /// Heartbeats, and how many there may be.
    pub fn heartbeats(&self, now: Millis) -> Fill {
        Fill::of(self.at(now).ends.len(), CAPACITY)
    }

    /// Users online.
    pub fn users(&self, now: Millis) -> usize {
        self.at(now).users.len()
    }
}

impl State {
    fn end(&mut self, user: UserId) {
        if let Some(online) = self.users.get_mut(&user)
            && let Some(end) = online.until.take()
        {
            self.ends.remove(&(end, user));
            if !online.is_online() {
                self.users.remove(&user);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn user(raw: u64) -> UserId {
        UserId::new(raw).expect("in range")
    }

    #[test]
    fn there_are_only_so_many() {
        let presence = Presence::new(60);
        for raw in 1..=CAPACITY as u64 {
            assert!(presence.beat(user(raw), 100).is_some());
        }
        assert_eq!(presence.beat(user(CAPACITY as u64 + 1), 100), None);
        assert!(presence.beat(user(1), 100).is_some(), "who is among them may go on");
        assert!(presence.beat(user(CAPACITY as u64 + 1), 160).is_some(), "they ran out");
        assert_eq!(presence.heartbeats(160).used, 1);
    }
}

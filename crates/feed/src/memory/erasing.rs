//! The users who are being erased.

use std::collections::HashSet;
use std::sync::atomic::{AtomicUsize, Ordering};

use parking_lot::RwLock;

use crate::rows::tables::ERASURES;
use crate::rows::walk::go_on;
use kv::{Database, Tier};
use model::UserId;
use model::error::Result;

/// The users who are being erased.
#[derive(Default)]
pub(crate) struct Erasing {
    users: RwLock<HashSet<UserId>>,
    /// Their number: mostly none, and then no look-up takes the lock.
    count: AtomicUsize,
}

impl Erasing {
    /// Reads those of a directory.
    pub(crate) fn load(&self, database: &Database) -> Result<()> {
        database.now(Tier::Disk).each_row(&ERASURES, &[], |key, _| {
            self.set(ERASURES.key(key)?, true);
            go_on(true)
        })
    }

    pub(crate) fn set(&self, user: UserId, is_erasing: bool) {
        let mut users = self.users.write();
        if is_erasing {
            users.insert(user)
        } else {
            users.remove(&user)
        };
        self.count.store(users.len(), Ordering::SeqCst);
    }

    /// How many they are.
    pub(crate) fn count(&self) -> usize {
        self.count.load(Ordering::SeqCst)
    }

    pub(crate) fn any(&self) -> bool {
        self.count() > 0
    }

    pub(crate) fn has(&self, user: UserId) -> bool {
        self.any() && self.users.read().contains(&user)
    }
}

//! Pairs of a user and a key that jobs hold.

use std::collections::BTreeMap;

use foldhash::HashMap;

use model::UserId;
use model::sync::atomic::{AtomicU64, Ordering};
use model::sync::{RwLock, RwLockReadGuard};

/// The keys held of a user, each with the greatest value so far and the number of holds.
pub(super) type Keys<K, V> = BTreeMap<K, (V, usize)>;

/// Pairs of a user and a key, each with the number of its holds. Bounded by the backlog's capacity: each hold belongs to a job, or
/// to a change that has room for one.
#[derive(Debug)]
pub(super) struct Held<K, V> {
    by_user: RwLock<HashMap<UserId, Keys<K, V>>>,
    /// The number of pairs.
    len: AtomicU64,
}

impl<K, V> Default for Held<K, V> {
    fn default() -> Self {
        Self { by_user: RwLock::default(), len: AtomicU64::new(0) }
    }
}

impl<K: Ord, V: Ord + Copy> Held<K, V> {
    /// Holds a pair once more.
    pub(super) fn hold(&self, user: UserId, key: K, value: V) {
        let mut by_user = self.by_user.write();
        let (greatest, holds) = by_user.entry(user).or_default().entry(key).or_insert((value, 0));
        *greatest = value.max(*greatest);
        *holds += 1;
        if *holds == 1 {
            self.len.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// Ends one hold of a pair.
    pub(super) fn release(&self, user: UserId, key: &K) {
        let mut by_user = self.by_user.write();
        let Some(keys) = by_user.get_mut(&user) else { return };
        if let Some((_, holds)) = keys.get_mut(key) {
            *holds -= 1;
            if *holds == 0 {
                keys.remove(key);
                self.len.fetch_sub(1, Ordering::Relaxed);
            }
        }
        if keys.is_empty() {
            by_user.remove(&user);
        }
    }

    /// Ends all holds of the pairs that are not kept.
    pub(super) fn retain(&self, keeps: impl Fn(UserId, V) -> bool) {
        self.by_user.write().retain(|user, keys| {
            let before = keys.len();
            keys.retain(|_, (value, _)| keeps(*user, *value));
            self.len.fetch_sub((before - keys.len()) as u64, Ordering::Relaxed);
            !keys.is_empty()
        });
    }

    /// All pairs, which do not change while the result is there.
    pub(super) fn by_user(&self) -> RwLockReadGuard<'_, HashMap<UserId, Keys<K, V>>> {
        self.by_user.read()
    }

    pub(super) fn len(&self) -> u64 {
        self.len.load(Ordering::Relaxed)
    }
}

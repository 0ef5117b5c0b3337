//! One other member of a cluster: how many requests go to it at once, and its pause after a failure.

use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};

use tokio::sync::Semaphore;

/// Most requests to one member at once, each on a connection of its own.
const AT_ONCE: usize = 128;
/// A member that failed is not asked again for this time, milliseconds. So a dead one does not cost each read a timeout.
/// The time doubles with each failure after another, some times. Long in tests, which end it themselves.
const PAUSE: u64 = if cfg!(test) { 10_000 } else { 1000 };
const DOUBLED: u32 = 4;

/// One member.
#[derive(Debug)]
pub(super) struct Peer {
    name: String,
    pub(super) url: String,
    /// For requests under way.
    pub(super) places: Semaphore,
    /// Until when it is not asked, milliseconds of the clock of its callers.
    pub(super) paused: AtomicU64,
    /// Failures since its last answer, without those of requests that were under way at the first one.
    failures: AtomicU32,
    /// Whether the log has a line that it refuses requests.
    told_refusal: AtomicBool,
}

impl Peer {
    pub(super) fn new(name: String, url: String) -> Self {
        Self {
            name,
            url,
            places: Semaphore::new(AT_ONCE),
            paused: AtomicU64::new(0),
            failures: AtomicU32::new(0),
            told_refusal: AtomicBool::new(false),
        }
    }

    /// Whether it may be asked now: it has not failed just before.
    pub(super) fn is_asked(&self, now: u64) -> bool {
        self.paused.load(Ordering::Relaxed) <= now
    }

    /// Tells once that the member refuses what this node has admitted. A token may end on the way, so this alone is no
    /// failure.
    pub(super) fn refuses(&self, status: u16) {
        if [401, 403].contains(&status) && !self.told_refusal.swap(true, Ordering::Relaxed) {
            let member = self.name.as_str();
            tracing::warn!(
                member,
                status,
                "a member of the cluster refuses a request that this node has admitted; all nodes need the same keys"
            );
        }
    }

    /// Notes the end of a request, and the reason if it failed. The log gets a line for each change.
    pub(super) fn note(&self, failure: Option<&String>, now: u64) {
        let member = self.name.as_str();
        match failure {
            // Not for each of the requests that fail together.
            Some(cause) if self.is_asked(now) => {
                let before = self.failures.fetch_add(1, Ordering::Relaxed);
                self.paused.store(now.saturating_add(PAUSE << before.min(DOUBLED)), Ordering::Relaxed);
                if before == 0 {
                    tracing::warn!(member, cause, "a member of the cluster does not answer: this node answers for it");
                }
            }
            None if self.failures.swap(0, Ordering::Relaxed) > 0 => {
                tracing::info!(member, "a member of the cluster answers again")
            }
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_member_that_fails_is_left_alone_for_a_while() {
        let peer = Peer::new("b".to_owned(), "http://b".to_owned());
        assert!(peer.is_asked(0));
        peer.note(None, 5);
        assert!(peer.is_asked(5));
        peer.note(Some(&"refused".to_owned()), 10);
        // With the same cause.
        peer.note(Some(&"refused".to_owned()), 11);
        assert!(!peer.is_asked(10) && !peer.is_asked(9 + PAUSE) && peer.is_asked(10 + PAUSE));
        peer.note(Some(&"refused".to_owned()), 10 + PAUSE);
        assert!(!peer.is_asked(9 + 3 * PAUSE) && peer.is_asked(10 + 3 * PAUSE));
        let later = 1_000_000;
        (0..9).for_each(|round| peer.note(Some(&"refused".to_owned()), round * later));
        assert!(!peer.is_asked(8 * later + 15 * PAUSE) && peer.is_asked(8 * later + 16 * PAUSE));
        peer.note(None, 9 * later);
        peer.note(Some(&"refused".to_owned()), 9 * later);
        assert!(peer.is_asked(9 * later + PAUSE));
    }
}

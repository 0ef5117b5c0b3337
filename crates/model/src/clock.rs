//! The server's clock: the wall clock of the system without its jumps.
//!
//! The wall clock may jump: an administrator sets it, a virtual machine wakes up, a time server is wrong for a moment.
//! The time since boot does not. So this clock follows the wall clock as long as both advance alike. If they diverge it
//! advances by the time since boot, and follows the wall clock once that has kept its new course for a minute.

use std::sync::LazyLock;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use parking_lot::Mutex;
use rustix::time::{ClockId, clock_gettime};

use crate::Millis;

/// Milliseconds that the two may diverge between two looks before the wall clock counts as set.
const STEADY: u64 = 2000;
/// Milliseconds for which a wall clock that was set is not followed.
const DOUBT: Millis = 60_000;

static CLOCK: LazyLock<Mutex<Clock>> = LazyLock::new(|| Mutex::new(Clock::new(wall(), uptime())));

/// Now, in milliseconds since 1970. Must be called every few seconds at least, so that a wall clock that was set is
/// followed in time; the thread that serves streams does so.
pub fn now() -> Millis {
    // Read before the lock, which every read of a timeline takes. A late look does no harm.
    let (wall, uptime) = (wall(), uptime());
    let (time, followed) = CLOCK.lock().look(wall, uptime);
    if let Some((old, new)) = followed {
        tracing::warn!(old, new, "the system clock was set to another time a minute ago; the server now follows it");
    }
    time
}

/// The latest possible time: now, or the wall clock if that is later and not followed yet.
pub fn latest() -> Millis {
    now().max(wall())
}

/// The time since boot, in milliseconds, suspension included. Setting the wall clock does not change it.
pub fn uptime() -> Millis {
    let time = clock_gettime(ClockId::Boottime);
    let (seconds, nanos) = (u64::try_from(time.tv_sec), u64::try_from(time.tv_nsec));
    seconds.unwrap_or_default().saturating_mul(1000).saturating_add(nanos.unwrap_or_default() / 1_000_000)
}

/// The time of processors that all threads of this process have used.
pub fn processor_time() -> Duration {
    Duration::try_from(clock_gettime(ClockId::ProcessCPUTime)).unwrap_or_default()
}

/// The system's wall clock, milliseconds since 1970.
fn wall() -> Millis {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since.as_millis()).unwrap_or(u64::MAX)
}

#[derive(Debug)]
struct Clock {
    /// The wall clock when it was last followed.
    wall: Millis,
    /// The time since boot then.
    uptime: Millis,
    /// The time since boot from which on the wall clock differs.
    doubted: Option<Millis>,
}

impl Clock {
    fn new(wall: Millis, uptime: Millis) -> Self {
        Self { wall, uptime, doubted: None }
    }

    /// The time; and if the wall clock was set and is followed from now on, the times before and after that.
    fn look(&mut self, wall: Millis, uptime: Millis) -> (Millis, Option<(Millis, Millis)>) {
        let expected = self.wall.saturating_add(uptime.saturating_sub(self.uptime));
        let jumped = if wall.abs_diff(expected) <= STEADY {
            None
        } else if uptime.saturating_sub(*self.doubted.get_or_insert(uptime)) >= DOUBT {
            Some((expected, wall))
        } else {
            return (expected, None);
        };
        *self = Self::new(wall, uptime);
        (wall, jumped)
    }
}

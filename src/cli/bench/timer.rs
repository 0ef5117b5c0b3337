//! Waits to the microsecond, and the processor time of a thread.

use std::io;
use std::os::fd::OwnedFd;
use std::time::{Duration, Instant};

use rustix::time::{
    ClockId, Itimerspec, TimerfdClockId, TimerfdFlags, TimerfdTimerFlags, Timespec, clock_gettime, timerfd_create,
    timerfd_settime,
};
use tokio::net::unix::pipe::Receiver;

/// A timer of the system. The timers of the runtime are late by up to two milliseconds, which would be a part of each
/// latency. It is read as a pipe is: eight bytes come when it ends.
pub(super) struct Timer {
    settings: OwnedFd,
    end: Receiver,
}

impl Timer {
    pub(super) fn new() -> io::Result<Self> {
        let timer = timerfd_create(TimerfdClockId::Monotonic, TimerfdFlags::NONBLOCK | TimerfdFlags::CLOEXEC)?;
        let end = Receiver::from_owned_fd_unchecked(timer.try_clone()?)?;
        Ok(Self { settings: timer, end })
    }

    /// Waits until a time; not at all if it has passed.
    pub(super) async fn until(&self, at: Instant) -> io::Result<()> {
        let left = at.saturating_duration_since(Instant::now());
        // A value of nothing would stop the timer.
        if left.is_zero() {
            return Ok(());
        }
        let once = Itimerspec { it_interval: span(Duration::ZERO), it_value: span(left) };
        timerfd_settime(&self.settings, TimerfdTimerFlags::empty(), &once)?;
        loop {
            self.end.readable().await?;
            match self.end.try_read(&mut [0; 8]) {
                Err(e) if e.kind() == io::ErrorKind::WouldBlock => {}
                read => return read.map(drop),
            }
        }
    }
}

fn span(duration: Duration) -> Timespec {
    // Seconds of a run fit.
    Timespec { tv_sec: duration.as_secs() as i64, tv_nsec: duration.subsec_nanos().into() }
}

/// Processor time of this thread so far.
pub(super) fn worked() -> Duration {
    let Timespec { tv_sec, tv_nsec } = clock_gettime(ClockId::ThreadCPUTime);
    Duration::new(tv_sec.unsigned_abs(), tv_nsec.unsigned_abs() as u32)
}

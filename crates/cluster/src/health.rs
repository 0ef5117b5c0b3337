//! The health of a node: the findings of its threads, and the refusals that follow.

use std::sync::atomic::{AtomicBool, AtomicU64};

use tokio::sync::watch;

use crate::prelude::*;
use model::clock::uptime;

/// The state of a node as callers meet it: the worst that is true of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Health {
    /// It answers strict reads and makes changes.
    Serving,
    /// It does, but they take longer than they should: another node should take them.
    Slow,
    /// It applies the changes that were made while it was away.
    CatchingUp,
    /// The log has not answered for a while.
    CutOff,
    /// Its storage takes no changes.
    Blocked,
    /// It has stopped itself, for this reason.
    Stopped(String),
}

impl Health {
    /// Fails unless the node answers strict reads and makes changes.
    pub fn is_ready(&self) -> Result<()> {
        match self {
            Self::Serving | Self::Slow => Ok(()),
            Self::CatchingUp => {
                let detail = "this node applies the changes that were made while it was away";
                Err(Error::refused(Code::LogUnavailable, detail))
            }
            Self::CutOff => Err(Code::LogUnavailable.into()),
            Self::Blocked => Err(Code::StorageUnavailable.into()),
            Self::Stopped(why) => {
                Err(Error::refused(Code::LogUnavailable, format_args!("this node has stopped: {why}")))
            }
        }
    }

    /// Fails if it is of no use to wait for the node.
    pub(super) fn can_wait(&self) -> Result<()> {
        if *self == Self::CatchingUp { Ok(()) } else { self.is_ready() }
    }

    /// Fails if the node has stopped itself.
    pub(super) fn goes_on(&self) -> Result<()> {
        if let Self::Stopped(_) = self { self.is_ready() } else { Ok(()) }
    }
}

/// The findings of the threads of a node.
#[derive(Debug, Default)]
pub(super) struct Vitals {
    /// Whether the last append had no answer, and the last read.
    pub(super) appends: Outage,
    pub(super) reads: Outage,
    /// Whether a command cannot be applied at present, for lack of room on the device.
    pub(super) is_blocked: AtomicBool,
    /// Whether the last own record that was served, or the oldest one that is not yet, took too long.
    pub(super) is_slow: AtomicBool,
    /// The number of the last own record that is applied and kept; 0 before the first one, until which the node may lag
    /// far behind.
    pub(super) served: watch::Sender<u64>,
    /// Why the node has stopped itself.
    pub(super) fault: watch::Sender<Option<String>>,
}

impl Vitals {
    pub(super) fn has_served(&self) -> bool {
        *self.served.borrow() > 0
    }

    pub(super) fn health(&self) -> Health {
        match self.fault.borrow().clone() {
            Some(why) => Health::Stopped(why),
            None if self.is_blocked.load(Ordering::Relaxed) => Health::Blocked,
            None if self.appends.lasts() || self.reads.lasts() => Health::CutOff,
            None if !self.has_served() => Health::CatchingUp,
            None if self.is_slow.load(Ordering::Relaxed) => Health::Slow,
            None => Health::Serving,
        }
    }
}

/// How long callers wait for the log as if it answered. Brokers that lose their leader need about as long.
const GRACE: Millis = 6000;

/// The time since which the log has not answered, milliseconds since boot; 0 if it answers.
#[derive(Debug, Default)]
pub(super) struct Outage(AtomicU64);

impl Outage {
    /// Records that the log has not answered. Returns true if it had answered before.
    pub(super) fn note(&self) -> bool {
        self.0.compare_exchange(0, uptime().max(1), Ordering::Relaxed, Ordering::Relaxed).is_ok()
    }

    /// Records that the log has answered. Returns true if it had not before.
    pub(super) fn end(&self) -> bool {
        self.0.swap(0, Ordering::Relaxed) > 0
    }

    /// Whether the last answer is missing.
    pub(super) fn is_on(&self) -> bool {
        self.0.load(Ordering::Relaxed) > 0
    }

    /// Whether that lasts, so that callers should not wait.
    pub(super) fn lasts(&self) -> bool {
        let since = self.0.load(Ordering::Relaxed);
        since > 0 && uptime().saturating_sub(since) >= GRACE
    }
}

//! The names that nearly every file of a cluster uses.

pub(crate) use std::fmt;
pub(crate) use std::sync::Arc;
pub(crate) use std::sync::atomic::Ordering;
pub(crate) use std::thread;
pub(crate) use std::time::{Duration, Instant};

pub(crate) use parking_lot::Mutex;

pub(crate) use config::Cluster;
pub(crate) use feed::Feed;
pub(crate) use model::Millis;
pub(crate) use model::error::{Code, Error, Result};

//! Figures of the server itself, taken as its requests go by or when somebody asks.

pub(crate) mod disk;
pub(crate) mod firing;
pub(crate) mod history;
pub(crate) mod memory;
pub(crate) mod prometheus_text;
pub(crate) mod reading;
pub(crate) mod reloads;
pub(crate) mod requests;
pub(crate) mod sampler;
pub(crate) mod slow_log;
pub(crate) mod webhooks;

//! The server's clock.

use std::time::{SystemTime, UNIX_EPOCH};

use crate::model::Millis;

/// Now, by the system's clock.
pub fn now() -> Millis {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since.as_millis()).unwrap_or(u64::MAX)
}

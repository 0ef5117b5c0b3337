//! Times, durations and numbers, as commands read and show them.

use std::time::{Duration, UNIX_EPOCH};

use model::Millis;

/// A duration for which a command waits.
pub(crate) fn time_limit(text: &str) -> Result<Duration, String> {
    match humantime::parse_duration(text) {
        Ok(Duration::ZERO) => Err("expected more than nothing".to_owned()),
        Ok(duration) => Ok(duration),
        Err(e) => Err(e.to_string()),
    }
}

/// A time in words: `2026-11-22T14:30:00.123Z`.
pub(crate) fn time(at: Millis) -> String {
    humantime::format_rfc3339_millis(UNIX_EPOCH + Duration::from_millis(at)).to_string()
}

/// The number of lines, in words.
pub(crate) fn lines(count: u64) -> String {
    if count == 1 { "1 line".to_owned() } else { format!("{count} lines") }
}

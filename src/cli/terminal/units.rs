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

/// A number of lines, in words.
pub(crate) fn lines(count: u64) -> String {
    counted(count, "line", "lines")
}

/// A number of things, with their name.
pub(crate) fn counted(count: u64, one: &str, many: &str) -> String {
    format!("{count} {}", if count == 1 { one } else { many })
}

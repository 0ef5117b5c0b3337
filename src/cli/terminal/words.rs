//! Numbers of things, in words.

/// The number of lines.
pub(crate) fn lines(count: u64) -> String {
    if count == 1 { "1 line".to_owned() } else { format!("{count} lines") }
}

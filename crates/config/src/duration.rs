//! Durations in readable notation: `90d`, `5s`, `250ms`.

use std::fmt;

use super::text::as_text;

/// A duration in a setting.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Duration(std::time::Duration);

impl Duration {
    /// From seconds.
    #[inline]
    pub const fn from_secs(secs: u64) -> Self {
        Self(std::time::Duration::from_secs(secs))
    }

    /// From milliseconds.
    #[inline]
    pub const fn from_millis(millis: u64) -> Self {
        Self(std::time::Duration::from_millis(millis))
    }

    /// From days.
    #[inline]
    pub const fn from_days(days: u64) -> Self {
        Self::from_secs(days * 86_400)
    }

    /// As the standard type.
    #[inline]
    pub fn get(self) -> std::time::Duration {
        self.0
    }

    /// Whole milliseconds.
    #[inline]
    pub fn as_millis(self) -> u64 {
        u64::try_from(self.0.as_millis()).unwrap_or(u64::MAX)
    }

    fn read(text: &str) -> Result<Self, String> {
        let refusal = |_| format!("expected a duration such as 90d, 5s or 250ms, not \"{text}\"");
        humantime::parse_duration(text).map(Self).map_err(refusal)
    }
}

impl fmt::Display for Duration {
    /// In the largest unit that divides it.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let millis = self.as_millis();
        let units = [(86_400_000, "d"), (3_600_000, "h"), (60_000, "m"), (1000, "s"), (1, "ms")];
        match units.into_iter().find(|(size, _)| millis > 0 && millis.is_multiple_of(*size)) {
            Some((size, unit)) => write!(f, "{}{unit}", millis / size),
            None => f.write_str("0s"),
        }
    }
}

as_text! { Duration }

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prints_what_it_reads() {
        for text in ["90d", "5s", "250ms", "36h", "0s", "1500ms"] {
            let json = format!("\"{text}\"");
            let duration: Duration = serde_json::from_str(&json).expect(text);
            assert_eq!(duration.to_string(), text);
        }
        assert!(serde_json::from_str::<Duration>("\"5\"").is_err());
        assert!(serde_json::from_str::<Duration>("5").is_err());
    }
}

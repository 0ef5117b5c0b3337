//! Times from the application: none may lie far ahead of the clock.
//!
//! A future time is nearly always in another unit, and would stay at the top of lists for good. Data from before this
//! rule stays readable, and a repeat of the call that made it gets the same answer.

use std::fmt::Display;
use std::time::Duration;

use crate::core::Core;
use crate::streaming::ChangeTime;
use model::Millis;
use model::error::{Code, Error, Result};

/// Units that callers mistake for milliseconds, each with the number of such units in one millisecond.
const FINER: [(u64, &str); 2] = [(1_000, "microseconds"), (1_000_000, "nanoseconds")];
/// The beginning of 1990. A time between this and the clock is likely.
const LIKELY_FROM: Millis = 631_152_000_000;

/// The latest time that the application can give.
pub(crate) fn latest(feed: &Core, at: ChangeTime) -> Millis {
    at.latest().saturating_add(feed.config.content.max_ahead.as_millis())
}

/// `time_ahead` if a time lies further ahead of the clock than `content.max_ahead`. `name` names the time in the
/// error.
pub(crate) fn not_ahead(feed: &Core, name: impl Display, time: Millis, at: ChangeTime) -> Result<()> {
    let (clock, ahead) = (at.latest(), feed.config.content.max_ahead.as_millis());
    if time <= clock.saturating_add(ahead) {
        return Ok(());
    }
    let likely = |(factor, _): &&(u64, &str)| (LIKELY_FROM..=clock.saturating_add(ahead)).contains(&(time / factor));
    let looks = match FINER.iter().find(likely) {
        Some((_, unit)) => format!("; this value looks like {unit}"),
        None => String::new(),
    };
    let detail = format!(
        "{name}: {time} lies more than {} after the server's clock ({clock}). A time is whole milliseconds since \
         1970{looks}",
        humantime::format_duration(Duration::from_millis(ahead))
    );
    Err(Error::refused(Code::TimeAhead, detail))
}

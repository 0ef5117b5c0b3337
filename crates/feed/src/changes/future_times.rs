//! Times from the host: none may lie far ahead of the clock.
//!
//! A future time is nearly always in another unit, and would stay at the top of lists for good. Data from before this
//! rule stays readable, and a repeat of the call that made it gets the same answer.

use std::collections::HashMap;
use std::fmt::Display;
use std::time::Duration;

use crate::Feed;
use crate::streaming::ChangeTime;
use model::error::{Code, Error, Result};
use model::store::Tier;
use model::{Content, Millis, Publish, UserId};

/// Units that callers mistake for milliseconds, each with the number of such units in one millisecond.
const FINER: [(u64, &str); 2] = [(1_000, "microseconds"), (1_000_000, "nanoseconds")];

/// The beginning of 1990. A time between this and the clock is likely.
const LIKELY_FROM: Millis = 631_152_000_000;

/// Items with acceptable times; for each other item its index and its result.
type Sifted = (Vec<Publish>, Vec<(usize, Result<Content>)>);

impl Feed {
    /// The latest time that the host can give.
    pub(crate) fn latest(&self, at: ChangeTime) -> Millis {
        at.latest().saturating_add(self.config.content.max_ahead.as_millis())
    }

    /// `time_ahead` if a time lies further ahead of the clock than `content.max_ahead`. `name` names the time in the
    /// error.
    pub(crate) fn not_ahead(&self, name: impl Display, time: Millis, at: ChangeTime) -> Result<()> {
        let (clock, ahead) = (at.latest(), self.config.content.max_ahead.as_millis());
        if time <= clock.saturating_add(ahead) {
            return Ok(());
        }
        let likely =
            |(factor, _): &&(u64, &str)| (LIKELY_FROM..=clock.saturating_add(ahead)).contains(&(time / factor));
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

    /// Takes out the items with a time too far ahead. The result of such an item is the stored content if it repeats an
    /// earlier publish, else `time_ahead`. `name` names the time of the item at an index.
    pub(crate) fn sift_items(
        &self,
        items: Vec<Publish>,
        name: impl Fn(usize) -> String,
        at: ChangeTime,
    ) -> Result<Sifted> {
        let latest = self.latest(at);
        let may_be_ahead = |item: &Publish| item.time_given && item.content.published_at > latest;
        let suspects: Vec<_> = items.iter().filter(|item| may_be_ahead(item)).map(|item| item.content.id).collect();
        if suspects.is_empty() {
            return Ok((items, Vec::new()));
        }
        let there: HashMap<_, _> =
            self.read().live_contents(&suspects)?.into_iter().map(|content| (content.id, content)).collect();
        let (mut fine, mut ahead) = (Vec::with_capacity(items.len()), Vec::new());
        for (place, item) in items.into_iter().enumerate() {
            let time = item.content.published_at;
            let checked = if may_be_ahead(&item) { self.not_ahead(name(place), time, at) } else { Ok(()) };
            match (checked, there.get(&item.content.id)) {
                (Ok(()), _) => fine.push(item),
                (Err(_), Some(there)) if item.repeats(there) => ahead.push((place, Ok(Content::clone(there)))),
                (Err(refused), _) => ahead.push((place, Err(refused))),
            }
        }
        Ok((fine, ahead))
    }

    /// `time_ahead` for a follow with a time too far ahead, unless it is there with this time.
    pub(crate) fn follow_not_ahead(
        &self,
        user: UserId,
        target: UserId,
        since: Option<Millis>,
        at: ChangeTime,
    ) -> Result<()> {
        let Some(since) = since else { return Ok(()) };
        let Err(ahead) = self.not_ahead("since", since, at) else { return Ok(()) };
        let there = self.store.relations(user, &[target], Tier::Disk)?.pop();
        there.filter(|relation| relation.following_since == Some(since)).map(drop).ok_or(ahead)
    }
}

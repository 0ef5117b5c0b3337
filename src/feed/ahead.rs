//! Times that the host gives: none may lie far ahead of the clock.
//!
//! A time to come is nearly always one in another unit, and would stand above everything for good. What was taken before
//! this was a rule stays as it is and can be read; a repeat of the call that made it gets the same answer.

use std::collections::HashMap;
use std::fmt::Display;
use std::time::Duration;

use super::Feed;
use crate::clock::latest;
use crate::error::{Code, Error, Result};
use crate::model::{Content, Millis, Publish, Relation, UserId};
use crate::store::Tier;

/// Units that are taken for milliseconds: how many of them make one.
const FINER: [(u64, &str); 2] = [(1_000, "microseconds"), (1_000_000, "nanoseconds")];

/// The beginning of 1990: what lies between here and the clock is a likely time.
const LIKELY_FROM: Millis = 631_152_000_000;

/// Items whose times are fine; and of each other item its place, and what comes of it.
type Sifted = (Vec<Publish>, Vec<(usize, Result<Content>)>);

impl Feed {
    /// The latest time that the host can give now.
    pub(super) fn latest(&self) -> Millis {
        latest().saturating_add(self.config.content.max_ahead.as_millis())
    }

    /// `time_ahead` if a time lies further ahead of the clock than the rules allow; `name` is what the caller calls it.
    pub(super) fn not_ahead(&self, name: impl Display, at: Millis) -> Result<()> {
        let (clock, ahead) = (latest(), self.config.content.max_ahead.as_millis());
        if at <= clock.saturating_add(ahead) {
            return Ok(());
        }
        let likely = |(factor, _): &&(u64, &str)| (LIKELY_FROM..=clock.saturating_add(ahead)).contains(&(at / factor));
        let looks = match FINER.iter().find(likely) {
            Some((_, unit)) => format!("; it looks like {unit}"),
            None => String::new(),
        };
        let detail = format!(
            "{name}: {at} is more than {} ahead of the clock (now {clock}); times are milliseconds since 1970{looks}",
            humantime::format_duration(Duration::from_millis(ahead))
        );
        Err(Error::refused(Code::TimeAhead, detail))
    }

    /// Takes out the items with a time too far ahead: of each its place, and what is there if the item repeats an earlier
    /// publish, or `time_ahead`. `name` is what the caller calls the time of the item at a place.
    pub(super) fn sift_items(&self, items: Vec<Publish>, name: impl Fn(usize) -> String) -> Result<Sifted> {
        let latest = self.latest();
        let may_be_ahead = |item: &Publish| item.time_given && item.content.published_at > latest;
        let suspects: Vec<_> = items.iter().filter(|item| may_be_ahead(item)).map(|item| item.content.id).collect();
        if suspects.is_empty() {
            return Ok((items, Vec::new()));
        }
        let there: HashMap<_, _> =
            self.contents(&suspects, Tier::Disk)?.into_iter().map(|content| (content.id, content)).collect();
        let (mut fine, mut ahead) = (Vec::with_capacity(items.len()), Vec::new());
        for (place, item) in items.into_iter().enumerate() {
            let at = item.content.published_at;
            let checked = if may_be_ahead(&item) { self.not_ahead(name(place), at) } else { Ok(()) };
            match (checked, there.get(&item.content.id)) {
                (Ok(()), _) => fine.push(item),
                (Err(_), Some(there)) if item.repeats(there) => ahead.push((place, Ok(Content::clone(there)))),
                (Err(refused), _) => ahead.push((place, Err(refused))),
            }
        }
        Ok((fine, ahead))
    }

    /// The relation that a follow repeats whose time is too far ahead; `None` if the time is fine, `time_ahead` if the
    /// follow is new.
    pub(super) fn sift_follow(&self, user: UserId, target: UserId, since: Option<Millis>) -> Result<Option<Relation>> {
        let Some(since) = since else { return Ok(None) };
        let Err(ahead) = self.not_ahead("since", since) else { return Ok(None) };
        let there = self.store.relations(user, &[target], Tier::Disk)?.pop();
        there.filter(|relation| relation.following_since == Some(since)).map(Some).ok_or(ahead)
    }
}

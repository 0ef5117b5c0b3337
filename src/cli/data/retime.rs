//! `tideline retime`: lets the times of a data directory go on from the clock, after a clock was far ahead once.

use super::stopped_server::{each_user, on_directory};
use crate::prelude::*;
use feed::events;
use kv::Tier;
use model::{ContentId, Cursor, Order, Span};

/// Items of one user read at a time.
const AT_ONCE: usize = 1000;

pub(crate) fn run(config: &Config) -> Result<()> {
    let (reset, items) = on_directory(config, StartOptions::default(), |app| {
        Ok((events::reset_time(app.feed())?, items_ahead(app.feed().store())?))
    })?;
    print(|out| {
        match reset {
            Some(ahead) => {
                let ahead = humantime::format_duration(Duration::from_secs(ahead.div_ceil(1000)));
                writeln!(out, "the times were {ahead} ahead of the clock; they go on from the clock now")?;
            }
            None => writeln!(out, "the times are not far ahead of the clock; nothing has changed")?,
        }
        writeln!(out, "items of timelines with a time after the clock, which stay above all others until then: {items}")
    })
}

/// The items of all outboxes with times after the clock.
fn items_ahead(store: &Store) -> Result<u64> {
    let now = Cursor { at: now(), id: ContentId::MAX };
    let mut count = 0;
    each_user(store, |user| {
        let mut place = now;
        loop {
            let span = Span { before: None, after: Some(place) };
            let items =
                feed::items::tables::outboxes(store, &[user], span.scan(Order::OldestFirst, AT_ONCE), Tier::Disk)?;
            count += items.len() as u64;
            match items.last() {
                Some(last) if items.len() == AT_ONCE => place = last.cursor,
                _ => return Ok(()),
            }
        }
    })?;
    Ok(count)
}

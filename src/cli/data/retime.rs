//! `tideline retime`: lets the times of a data directory go on from the clock, after a clock was far ahead once.

use std::time::Duration;

use crate::cli::print;
use crate::server;
use crate::server::Told;
use config::Config;
use model::clock::now;
use model::error::Result;
use model::store::{Store, Tier};
use model::{ContentId, Cursor, Order, Span};
use store::Rocks;

/// Users, and items of one user, read at a time.
const AT_ONCE: usize = 1000;

pub(crate) fn run(config: &Config) -> Result<()> {
    Rocks::must_be_there(&config.storage.data_dir)?;
    let app = server::open_as_told(config, Told { refuse_migration: true, ..Told::default() })?;
    let reset = app.feed().reset_time();
    let items = reset.as_ref().map_or(Ok(0), |_| items_ahead(&**app.feed().store()));
    app.stop(config.server.shutdown_timeout.get())?;
    let (reset, items) = (reset?, items?);
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
fn items_ahead(store: &dyn Store) -> Result<u64> {
    let now = Cursor { at: now(), id: ContentId::MAX };
    let (mut count, mut after) = (0, None);
    loop {
        let users = store.users_after(after, AT_ONCE)?;
        let Some(last) = users.last() else { return Ok(count) };
        after = Some(*last);
        for user in &users {
            let mut place = now;
            loop {
                let span = Span { before: None, after: Some(place) };
                let items = store.outboxes(&[*user], span, Order::OldestFirst, AT_ONCE, Tier::Disk)?;
                count += items.len() as u64;
                match items.last() {
                    Some(last) if items.len() == AT_ONCE => place = last.cursor,
                    _ => break,
                }
            }
        }
    }
}

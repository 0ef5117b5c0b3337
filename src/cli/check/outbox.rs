//! The items of one author's own page, against their count.

use super::Findings;
use crate::error::Result;
use crate::model::{Order, Span, UserId};
use crate::store::{Store, Tier};

/// Entries read at a time.
const PAGE: usize = 4096;

/// Counts what is in an author's outbox.
pub(super) fn check(store: &Store, author: UserId, findings: &mut Findings) -> Result<()> {
    let (mut counted, mut span) = (0, Span::ALL);
    loop {
        let page = store.outboxes(&[author], span, Order::NewestFirst, PAGE, Tier::Disk)?;
        let Some(last) = page.last() else { break };
        span = span.older_than(last.cursor);
        counted += page.len() as u64;
    }
    let count = store.user_counts(author, Tier::Disk)?.content;
    if count != counted {
        findings.add(|| format!("user {author}: content count is {count}, there are {counted}"));
    }
    Ok(())
}

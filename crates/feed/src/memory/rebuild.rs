//! After a start that dropped the table of inboxes.

use crate::rows::tables::{ACTIVITY, FOLLOWING};
use crate::rows::walk::partitions_after;
use kv::{Database, Tier, WriteBatch};
use model::Activity;
use model::error::Result;
use model::failpoint::Write;

/// Users in one change.
const USERS: usize = 1000;

/// If this start dropped the table of inboxes, evicts all users who follow somebody. The inboxes of all others are rightly empty.
pub(crate) fn finish(database: &Database) -> Result<()> {
    let rebuild = database.disk().ok().and_then(|disk| disk.rebuild.as_ref()).filter(|rebuild| rebuild.is_due());
    let Some(rebuild) = rebuild else { return Ok(()) };
    tracing::warn!(
        "the table inboxes had a damaged file and was dropped; pages stay right, and the next read of each user rebuilds the inbox"
    );
    let (mut after, mut evicted) = (None, 0);
    loop {
        let users = partitions_after(database, &FOLLOWING, after, USERS)?;
        let Some(last) = users.last() else { break };
        after = Some(*last);
        let mut batch = WriteBatch::default();
        for user in users {
            let activity = ACTIVITY.get(database.now(Tier::Disk), user)?;
            if activity.unwrap_or_default().has_inbox() {
                ACTIVITY.put(&mut batch, user, &Activity::Evicted)?;
                evicted += 1;
            }
        }
        database.written().write(Some(Write::Evict), batch, false)?;
    }
    database.kv().sync()?;
    rebuild.end()?;
    tracing::info!(users = evicted, "all inboxes are dropped");
    Ok(())
}

//! Suspensions: no user sees anything of a suspended user.

use super::tables;
use crate::ids;
use crate::read::Read;
use crate::streaming::Kind;
use crate::writer::command::{Change, SetSuspension};
use crate::writer::txn::Txn;
use kv::Tier;
use model::error::Result;
use model::versions::Thing;
use model::{Millis, UserId};

/// Since when a user is suspended; `None` for all others.
pub fn suspended_since(read: Read<'_>, user: UserId) -> Result<Option<Millis>> {
    tables::suspended_since(&read.feed.store, user, read.tier)
}

impl Change for SetSuspension {
    type Outcome = Option<Millis>;

    fn import(self, txn: &mut Txn<'_>, since: Option<Millis>) -> Result<bool> {
        let now = txn.at.now();
        self.set(txn, since.unwrap_or(now))?;
        txn.imported("since", since)
    }

    fn apply(self, txn: &mut Txn<'_>) -> Result<Self::Outcome> {
        let since = txn.at.now();
        self.set(txn, since)
    }
}

impl SetSuspension {
    /// Makes the change. `since` is the time at which a suspension begins.
    pub(crate) fn set(self, txn: &mut Txn<'_>, since: Millis) -> Result<Option<Millis>> {
        let feed = txn.feed;
        let Self { user, suspended } = self;
        let user = if suspended { ids::user_for_change(feed, &user)? } else { feed.read().find(&user)? };
        if user == UserId::UNKNOWN {
            return Ok(None);
        }
        // Its items come through sources that nobody knows here.
        txn.concerns([Thing::Everything, Thing::Suspended]);
        let event = feed.streaming.sequencer().take(Kind::Suspension).of_user(user);
        let after = suspended.then_some(since);
        let is_changed = tables::set_suspension(&feed.store, user, after, event.clone())?;
        if is_changed {
            txn.log(event);
            // After the event: streams go on behind it. All of them: nobody knows through which sources the user's items came.
            txn.once_logged(|| feed.streaming.streams().reset_all());
        }
        if is_changed { Ok(after) } else { tables::suspended_since(&feed.store, user, Tier::Disk) }
    }
}

//! Suspensions: no user sees anything of a suspended user.

use super::command::{Change, SetSuspension};
use super::txn::Txn;
use crate::streaming::Kind;
use crate::{Feed, Read};
use model::error::Result;
use model::store::Tier;
use model::versions::Thing;
use model::{HostId, Millis, UserId};

impl Read<'_> {
    /// Since when a user is suspended; `None` for all others.
    pub fn suspended_since(&self, user: UserId) -> Result<Option<Millis>> {
        self.feed.store.suspended_since(user, self.tier)
    }
}

impl Feed {
    /// Suspends a user, or takes that back; returns since when the user is suspended then. From the answer on no list
    /// has an item of a suspended user, or the user among those who reacted; only [`Read::by_id`] shows the item, without a
    /// viewer. Follows and counts stay, and so do items that the user publishes meanwhile: all is shown again when the
    /// suspension is taken back. Every stream gets a reset. Only a suspension gives a number to a name.
    pub fn set_suspension(&self, user: HostId, suspended: bool) -> Result<Option<Millis>> {
        self.submit(SetSuspension { user, suspended })
    }
}

impl Change for SetSuspension {
    type Outcome = Option<Millis>;

    fn apply(self, txn: &mut Txn<'_>) -> Result<Self::Outcome> {
        let since = txn.at.now();
        self.set(txn, since)
    }
}

impl SetSuspension {
    /// Makes the change; who is suspended is so since that time.
    pub(super) fn set(self, txn: &mut Txn<'_>, since: Millis) -> Result<Option<Millis>> {
        let feed = txn.feed;
        let Self { user, suspended } = self;
        let user = if suspended { feed.user_for_change(&user)? } else { feed.read().find(&user)? };
        if user == UserId::UNKNOWN {
            return Ok(None);
        }
        // Its items come through sources that nobody knows here.
        txn.concerns([Thing::Everything, Thing::Suspended]);
        let event = feed.streaming.sequencer().take(Kind::Suspension).of_user(user);
        let after = suspended.then_some(since);
        let is_changed = feed.store.set_suspension(user, after, event.clone())?;
        if is_changed {
            txn.log(event);
            // After the event: streams go on behind it. All of them: nobody knows through which sources the user's items came.
            txn.once_logged(|| feed.streaming.streams().reset_all());
        }
        if is_changed { Ok(after) } else { feed.store.suspended_since(user, Tier::Disk) }
    }
}

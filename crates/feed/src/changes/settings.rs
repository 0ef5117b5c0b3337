//! Settings of users.

use super::command::{Change, PutSettings};
use super::txn::Txn;
use crate::{Feed, Read};
use model::error::Result;
use model::store::Tier;
use model::{HostId, UserId, UserSettings};

impl Read<'_> {
    /// A user's settings.
    pub fn settings(&self, user: UserId) -> Result<UserSettings> {
        self.feed.store.settings(user, self.tier)
    }
}

impl Feed {
    /// Replaces a user's settings. Requests to follow that wait stay, whatever the new settings are.
    pub fn put_settings(&self, user: HostId, settings: UserSettings) -> Result<()> {
        self.submit(PutSettings { user, settings }).map(drop)
    }
}

impl Change for PutSettings {
    type Outcome = bool;

    /// Returns whether the settings were others.
    fn apply(self, txn: &mut Txn<'_>) -> Result<bool> {
        let feed = txn.feed;
        let Self { user, settings } = self;
        if feed.store.settings(feed.read().find(&user)?, Tier::Disk)? == settings {
            return Ok(false);
        }
        feed.store.put_settings(feed.user_for_change(&user)?, settings)?;
        Ok(true)
    }
}

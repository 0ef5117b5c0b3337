//! Settings of users.

use super::tables;
use crate::ids;
use crate::read::Read;
use crate::writer::command::{Change, PutSettings};
use crate::writer::txn::Txn;
use kv::Tier;
use model::error::Result;
use model::{Millis, UserId, UserSettings};

/// A user's settings.
pub fn settings(read: Read<'_>, user: UserId) -> Result<UserSettings> {
    tables::settings(&read.feed.store, user, read.tier)
}

impl Change for PutSettings {
    type Outcome = bool;

    fn import(self, txn: &mut Txn<'_>, since: Option<Millis>) -> Result<bool> {
        self.apply(txn)?;
        txn.imported("since", since)
    }

    /// Returns whether the settings were others.
    fn apply(self, txn: &mut Txn<'_>) -> Result<bool> {
        let feed = txn.feed;
        let Self { user, settings } = self;
        if tables::settings(&feed.store, feed.read().find(&user)?, Tier::Disk)? == settings {
            return Ok(false);
        }
        tables::put_settings(&feed.store, ids::user_for_change(feed, &user)?, settings)?;
        Ok(true)
    }
}

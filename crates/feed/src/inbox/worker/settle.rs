//! Settling pairs and rebuilding inboxes.

use std::collections::HashSet;
use std::ops::ControlFlow;

use super::Context;
use super::evict::evict;
use crate::follows;
use crate::inbox::tables;
use kv::Tier;
use model::error::Result;
use model::{Cursor, Job, Millis, Order, Span, UserId};

impl Context {
    /// Makes a user's inbox agree with whether the user follows the source. Not needed if a newer job of the pair does
    /// so.
    pub(super) fn settle(&self, job: &Job, user: UserId, source: UserId) -> Result<()> {
        // An inbox that is not kept here claims nothing.
        if self.backlog.is_superseded(user, source, job.id) || !self.keeps_inbox_of(user) {
            return tables::drop_job(&self.store, job.id);
        }
        let changed = tables::settle(&self.store, job.id, user, source, self.config.timeline.inbox_limit)?;
        self.tally.settled.add(changed);
        Ok(())
    }

    /// Makes a returning user active, with the newest entries that the inbox may lack: those of authors with items that
    /// were pushed to active followers only; after an eviction, those of all followees.
    pub(super) fn rebuild(&self, job: &Job, user: UserId) -> Result<()> {
        let mut authors = follows::tables::followees(&self.store, user, Tier::Disk)?;
        if tables::activity(&self.store, user, Tier::Disk)?.has_inbox() {
            let floor = self.floor(user)?;
            // The store drops a damaged inbox, which has the highest floor.
            if let Some(floor) = floor.filter(|floor| *floor < Cursor::NEWEST) {
                // A merge may have raised it for this read only. Authors are left out by it, so it must stay.
                tables::raise_floor(&self.store, user, floor)?;
            }
            let mut authors_with_unpushed = Vec::new();
            for author in authors {
                if tables::unpushed(&self.store, author, Tier::Disk)?.to_active > floor {
                    authors_with_unpushed.push(author);
                }
            }
            authors = authors_with_unpushed;
        } else if let Some(stranger) = self.newest_stranger(user, &authors)? {
            tables::raise_floor(&self.store, user, stranger)?;
        }
        let limit = self.config.timeline.inbox_limit;
        let put = tables::rebuild(&self.store, job.id, user, &authors, limit)?;
        self.tally.settled.add(put);
        // The members have changed since the user returned. Fan-outs skip this user now.
        if !self.keeps_inbox_of(user) {
            evict(&self.store, user, Millis::MAX)?;
        }
        Ok(())
    }

    /// The newest entry of an inbox whose source the user does not follow. An inbox that was dropped may have entries
    /// above its floor, which arrived at that moment; and while another node of a cluster keeps the inbox, no
    /// unfollow removes them here.
    fn newest_stranger(&self, user: UserId, followees: &[UserId]) -> Result<Option<Cursor>> {
        let (followees, mut found) = (followees.iter().collect::<HashSet<_>>(), None);
        tables::inbox(&self.store, user, Span::ALL, Order::NewestFirst, Tier::Disk, &mut |entry| {
            if followees.contains(&entry.source) {
                return ControlFlow::Continue(());
            }
            found = Some(entry.cursor);
            ControlFlow::Break(())
        })?;
        Ok(found)
    }

    fn floor(&self, user: UserId) -> Result<Option<Cursor>> {
        tables::inbox(&self.store, user, Span::ALL, Order::NewestFirst, Tier::Disk, &mut |_| ControlFlow::Break(()))
    }
}

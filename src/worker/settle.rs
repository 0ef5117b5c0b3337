//! Settling pairs and rebuilding inboxes.

use std::ops::ControlFlow;

use super::Context;
use crate::error::Result;
use crate::model::{Cursor, Job, Order, Span, UserId};
use crate::store::Tier;

impl Context {
    /// Makes a user's inbox agree with whether the user follows the author. Not needed if a newer job of the pair does
    /// so.
    pub(super) fn settle(&self, job: &Job, user: UserId, author: UserId) -> Result<()> {
        if self.backlog.is_superseded(user, author, job.id) {
            return self.store.drop_job(job.id);
        }
        let changed = self.store.settle(job.id, user, author, self.config.timeline.inbox_limit)?;
        if changed >= super::slack(self.config.timeline.inbox_limit) {
            self.trim_soon(user);
        }
        Ok(())
    }

    /// Makes a returning user active. First the pairs whose items the inbox may lack become unsettled, so that no read
    /// misses them: authors with items that were pushed to active followers only; after an eviction, all authors with
    /// items above the floor.
    pub(super) fn rebuild(&self, job: &Job, user: UserId) -> Result<()> {
        let skipped_by_all = !self.store.activity(user, Tier::Disk)?.has_inbox();
        let floor = self.floor(user)?;
        let mut authors = Vec::new();
        for author in self.store.followees(user, Tier::Disk)? {
            let lacks = if skipped_by_all {
                let above = Span::ALL.newer_than(floor);
                !self.store.outboxes(&[author], above, Order::NewestFirst, 1, Tier::Disk)?.is_empty()
            } else {
                self.store.unpushed(author, Tier::Disk)?.to_active > floor
            };
            if lacks {
                authors.push(author);
            }
        }
        // A read under way may have seen the activity before the user was dormant, and compare it only now.
        self.backlog.advance_epoch(user);
        let mut room = self.backlog.reserve_forced(authors.len());
        let pairs: Vec<_> = authors.iter().map(|author| self.backlog.unsettle(user, *author)).collect();
        let jobs = self.store.rebuild(job.id, user, &authors)?;
        for (pair, job) in pairs.into_iter().zip(jobs) {
            pair.commit(&mut room, job);
        }
        Ok(())
    }

    fn floor(&self, user: UserId) -> Result<Option<Cursor>> {
        self.store.inbox(user, Span::ALL, Order::NewestFirst, Tier::Disk, &mut |_| ControlFlow::Break(()))
    }
}

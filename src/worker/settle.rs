//! Settling pairs and rebuilding inboxes.

use super::Context;
use crate::error::Result;
use crate::model::{Job, UserId};
use crate::store::Tier;

impl Context {
    /// Makes a user's inbox agree with whether the user follows the author; needless where a newer
    /// job of the pair will do so.
    pub(super) fn settle(&self, job: &Job, user: UserId, author: UserId) -> Result<()> {
        if self.backlog.is_superseded(user, author, job.id) {
            return self.store.drop_job(job.id);
        }
        let changed = self.store.settle(job.id, user, author, self.rules.inbox_limit)?;
        if changed >= super::slack(self.rules.inbox_limit) {
            self.trim_soon(user);
        }
        Ok(())
    }

    /// Lets a returning user become active: the pairs of whom the inbox lacks what was pushed to
    /// active followers only become unsettled first, so no read misses them in between.
    pub(super) fn rebuild(&self, job: &Job, user: UserId) -> Result<()> {
        let mut authors = Vec::new();
        for author in self.store.followees(user, Tier::Disk)? {
            if self.store.unpushed(author, Tier::Disk)?.to_active.is_some() {
                authors.push(author);
            }
        }
        let mut room = self.backlog.reserve_forced(authors.len());
        let pairs: Vec<_> = authors.iter().map(|author| self.backlog.unsettle(user, *author)).collect();
        let jobs = self.store.rebuild(job.id, user, &authors)?;
        for (pair, job) in pairs.into_iter().zip(jobs) {
            pair.commit(&mut room, job);
        }
        Ok(())
    }
}

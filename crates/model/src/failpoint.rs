//! Places between two durable steps, where a test stops the process or makes a write fail.
//!
//! Only a build with the feature `failpoints` has them; in any other the functions here are empty and cost nothing. The
//! environment sets the actions of places, in the syntax of the `fail` crate:
//! `FAILPOINTS='deliver.after=3*off->return(abort)'`. `docs/contribute/failpoints.md` lists places and actions.

use crate::words::words;

words! {
    /// A change that the store writes: one durable step. Each has a place before it, `publish.before`,
    /// and one after it, `publish.after`.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub enum Write {
        /// Items with their outbox rows and jobs.
        Publish => "publish",
        /// An item's new state.
        Edit => "edit",
        /// An item's deletion.
        Delete => "delete",
        /// An item taken back from its deletion, with its job.
        Restore => "restore",
        /// The end of a deleted item's content.
        Purge => "purge",
        /// Reactions to an item, put or taken away, with its counts.
        React => "react",
        /// Follows, unfollows and requests to follow, with their jobs.
        Relate => "relate",
        /// A mute, a hide or a block raised or lifted.
        Restriction => "restriction",
        /// Records of users: profiles, settings, a marker, a suspension, a list with its members.
        Record => "record",
        /// A user seen, with a rebuild job if it was dormant.
        Touch => "touch",
        /// A user that became dormant.
        Lapse => "lapse",
        /// A user met for the first time; its eviction counts from then.
        Meet => "meet",
        /// An inbox dropped: the floor at its newest entry, or a damaged row removed, and the user evicted.
        Evict => "evict",
        /// Outbox entries moved to the archive, with the outbox's floor.
        Archive => "archive",
        /// The reach of a fan-out.
        BeginFanOut => "begin_fan_out",
        /// Changes of inboxes by fan-outs and settled pairs.
        Deliver => "deliver",
        /// The progress and the ends of jobs whose changes of inboxes are written.
        EndJobs => "end_jobs",
        /// An active user with the settle jobs of its pairs.
        Rebuild => "rebuild",
        /// Items of a topic moved to the archive, with the floor of its list.
        ArchiveTopic => "archive_topic",
        /// The begin, a part or the end of the erasure of a user.
        Erase => "erase",
    }
}

words! {
    /// A place between durable steps that is not beside a write of the store.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub enum Failpoint {
        /// The data directory is claimed and has its format; the engine is not open.
        StartClaimed => "start.claimed",
        /// A part of the erasure of a user is removed.
        ErasedPart => "erasure.part",
        /// The engine has replayed its log; no job has been read.
        StartOpened => "start.opened",
        /// The backlog has the jobs that an earlier run left; no worker runs.
        StartRestored => "start.restored",
        /// The jobs of a publish are queued; it has not been answered.
        PublishQueued => "publish.queued",
        /// The jobs of follows and unfollows are queued; they have not been answered.
        RelateQueued => "relate.queued",
        /// The rebuild job of a returning reader is queued; the read has not begun.
        TouchQueued => "touch.queued",
        /// A worker has taken a job from its lane.
        JobTaken => "job.taken",
        /// A job is gone from disk; the backlog still has it.
        JobDone => "job.done",
        /// The backlog has removed a job; its lane continues.
        JobFinished => "job.finished",
        /// A backup is copied; it has no name yet.
        BackupCopied => "copy.made",
        /// A backup has its name; it is not verified.
        BackupTaken => "copy.taken",
        /// The links to a backup are opened for its verification; nothing is read.
        BackupOpened => "copy.opened",
        /// A backup is verified; its verdict is not written.
        BackupChecked => "copy.checked",
        /// The verdict of a backup is written; older backups are not removed.
        BackupJudged => "copy.judged",
        /// A backup that is to be removed has lost its name; its files are there.
        BackupGone => "copy.gone",
        /// A new copy of a standby is whole; the one before has left its place.
        StandbyMoved => "swap.moved",
        /// A new copy of a standby has its place; the directory still has the id of the log before.
        StandbySwapped => "swap.placed",
        /// A standby has its record as a directory of its own; it is still named a standby.
        StandbyPromoted => "promotion.recorded",
        /// A restore is whole and checked; the data before has its place.
        RestoreMade => "exchange.made",
        /// An entry of the data before has left its place.
        RestoreAside => "exchange.aside",
        /// The restored engine has its place; `FORMAT` has not.
        RestorePlaced => "exchange.placed",
        /// All of a restore has its place; its folder is there.
        RestoreWhole => "exchange.whole",
        /// The workers have stopped; the log has not been flushed.
        StopWorkers => "stop.workers",
        /// The log is flushed; the write buffers are not.
        StopSynced => "stop.synced",
        /// The write buffers are flushed; the engine is not closed.
        StopFlushed => "stop.flushed",
    }
}

/// The names of all places.
pub fn names() -> Vec<String> {
    let writes = Write::ALL.iter().flat_map(|write| [BEFORE, AFTER].map(|part| format!("{}{part}", write.name())));
    writes.chain(Failpoint::ALL.iter().map(|place| place.name().to_owned())).collect()
}

/// The places of a write, behind its name.
const BEFORE: &str = ".before";
const AFTER: &str = ".after";

/// Passes a place. Returns, unless the process is to end here.
#[inline]
pub fn pass(place: Failpoint) {
    armed::pass(place.name(), "");
}

/// Passes the place before a write. Fails, as the engine would, if the write is to fail.
#[inline]
pub fn begin(write: Write) -> Result<(), &'static str> {
    armed::fails(write.name(), BEFORE)
}

/// Passes the place after a write.
#[inline]
pub fn end(write: Write) {
    armed::pass(write.name(), AFTER);
}

#[cfg(feature = "failpoints")]
pub use armed::Armed;

#[cfg(feature = "failpoints")]
mod armed {
    use fail::{FailScenario, fail_point};

    /// The actions of the environment apply as long as this lives.
    pub struct Armed(#[allow(dead_code, reason = "ends the scenario when dropped")] FailScenario<'static>);

    impl Default for Armed {
        /// Reads `FAILPOINTS`.
        fn default() -> Self {
            Self(FailScenario::setup())
        }
    }

    /// `return(abort)` ends the process at once, as `kill -9` does: nothing is flushed or closed.
    fn obey(action: Option<&str>) {
        if action == Some("abort") {
            std::process::abort();
        }
    }

    pub(crate) fn pass(name: &str, part: &str) {
        fail_point!(&format!("{name}{part}"), |action| obey(action.as_deref()));
    }

    pub(crate) fn fails(name: &str, part: &str) -> Result<(), &'static str> {
        fail_point!(&format!("{name}{part}"), |action| {
            obey(action.as_deref());
            Err("a failpoint said so")
        });
        Ok(())
    }
}

/// The places of any other build.
#[cfg(not(feature = "failpoints"))]
mod armed {
    #[inline]
    pub(crate) fn pass(_: &str, _: &str) {}

    #[inline]
    pub(crate) fn fails(_: &str, _: &str) -> Result<(), &'static str> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_unique() {
        let mut names = names();
        let all = names.len();
        names.sort();
        names.dedup();
        assert_eq!(names.len(), all);
        assert_eq!(all, 2 * Write::ALL.len() + Failpoint::ALL.len());
    }
}

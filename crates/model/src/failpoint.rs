//! Places between two durable steps, where a test stops the process or makes a write fail.
//!
//! Only a build with the feature `failpoints` has them; in any other the functions here are empty and cost nothing. The
//! environment sets the actions of places, in the syntax of the `fail` crate:
//! `FAILPOINTS='deliver.after=3*off->return(abort)'`. `docs/contribute/failpoints.md` lists places and actions.

use crate::words::words;

words! {
    /// A change that the store writes: one durable step. Each has a place before it, `publish.before`, and one after it,
    /// `publish.after`. The two paragraphs of a comment are the states at these places.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub enum Write {
        /// Items, outbox rows and jobs are about to be written.
        ///
        /// They are durable; the backlog does not know the jobs.
        Publish => "publish",
        /// An item's new state is about to be written.
        ///
        /// It is durable; the request is not answered.
        Edit => "edit",
        /// A deletion is about to be written.
        ///
        /// It is durable; the filter of deleted ids lacks it.
        Delete => "delete",
        /// The deletion of an item is about to be taken back.
        ///
        /// It is durable; the backlog does not know the job.
        Restore => "restore",
        /// The rest of a deleted item is about to be removed.
        ///
        /// That is in the write-ahead log.
        Purge => "purge",
        /// Reactions to an item and a step of its counts, or their purge, are about to be written.
        ///
        /// They are in the write-ahead log (and durable, except in a purge); no request is answered.
        React => "react",
        /// Pairs are unsettled in memory; follows and jobs, or the answer to a request, are about to be written.
        ///
        /// They are durable; the backlog does not know the jobs.
        Relate => "relate",
        /// A restriction is about to be written or removed.
        ///
        /// That is durable; the reader's cached list of authors is still the old one.
        Restriction => "restriction",
        /// A record of users, such as a profile, or a list and its members, is about to be written.
        ///
        /// It is durable; the request is not answered.
        Record => "record",
        /// The activity of a reader is about to be written.
        ///
        /// That is in the write-ahead log; the backlog does not know the rebuild job.
        Touch => "touch",
        /// A fan-out is about to write that a follower is dormant.
        ///
        /// That is in the write-ahead log; the fan-out has not skipped the follower yet.
        Lapse => "lapse",
        /// A user is seen for the first time; this is about to be written.
        ///
        /// That is in the write-ahead log.
        Meet => "meet",
        /// The floor that drops an inbox, or the removal of a damaged one, is about to be written; the filter of
        /// evicted users has it.
        ///
        /// That is in the write-ahead log.
        Evict => "evict",
        /// Old outbox entries are about to be copied to the archive, with the floor that ends the outbox.
        ///
        /// That is in the write-ahead log.
        Archive => "archive",
        /// A reach short of all, with the author's `unpushed` row, is about to be written.
        ///
        /// That is in the write-ahead log; the copy of `unpushed` in memory, which readers use, does not have this row
        /// yet.
        BeginFanOut => "begin_fan_out",
        /// Changes of inboxes by fan-outs and settled pairs are about to be written; reads see them already.
        ///
        /// They are in the write-ahead log; their jobs are still in the table `jobs`.
        Deliver => "deliver",
        /// All these changes are written; the progress and the ends of their jobs are about to be.
        ///
        /// These are in the write-ahead log.
        EndJobs => "end_jobs",
        /// The active user, the change of the inbox and the job's end are about to be written.
        ///
        /// They are in the write-ahead log; the backlog has the job.
        Rebuild => "rebuild",
        /// Old items of a topic are about to be copied to the archive, with the floor that ends its list.
        ///
        /// That is in the write-ahead log.
        ArchiveTopic => "archive_topic",
        /// The begin, a part or the end of the erasure of a user is about to be written.
        ///
        /// It is durable; at the begin and the end the memory of who is being erased may be older.
        Erase => "erase",
    }
}

words! {
    /// A place between durable steps that is not beside a write of the store; the comment is the state at it.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub enum Failpoint {
        /// The directory is locked and has its format; the engine is not open.
        StartClaimed => "start.claimed",
        /// A part of an erasure is removed; the thread that erases makes a pause.
        ErasedPart => "erasure.part",
        /// The engine has replayed the write-ahead log; no job has been read.
        StartOpened => "start.opened",
        /// The backlog has the jobs of the earlier run; no worker runs.
        StartRestored => "start.restored",
        /// The jobs of a publish are in the backlog; the publish is not answered.
        PublishQueued => "publish.queued",
        /// The jobs of follows and unfollows are in the backlog; the request is not answered.
        RelateQueued => "relate.queued",
        /// The rebuild job of a returning reader is in the backlog; the read goes on.
        TouchQueued => "touch.queued",
        /// A worker has taken a job from its lane.
        JobTaken => "job.taken",
        /// A job is gone from disk; the backlog still has it.
        JobDone => "job.done",
        /// The backlog has removed the job; the lane goes on.
        JobFinished => "job.finished",
        /// The files of a backup are on the device; the folder has no name of a backup yet.
        BackupCopied => "copy.made",
        /// The folder has its name; the backup is not verified.
        BackupTaken => "copy.taken",
        /// The folder for the verification is made and opened; nothing is read.
        BackupOpened => "copy.opened",
        /// The backup is verified; the verdict is not written.
        BackupChecked => "copy.checked",
        /// The verdict is written; no older backup is removed.
        BackupJudged => "copy.judged",
        /// A backup that is to be removed has lost its name; its files are there.
        BackupGone => "copy.gone",
        /// A new copy of a standby is whole; the copy before has left its place.
        StandbyMoved => "swap.moved",
        /// A new copy of a standby has its place; the directory still names the log before.
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
        /// The workers have stopped; the write-ahead log is not flushed.
        StopWorkers => "stop.workers",
        /// The write-ahead log is flushed; the write buffers are not.
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

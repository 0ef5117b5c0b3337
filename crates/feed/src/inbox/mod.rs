//! Inboxes: the jobs that keep them, and the workers that do the jobs.

pub mod backlog;
pub mod tables;
pub mod worker;

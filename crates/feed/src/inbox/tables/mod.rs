//! The rows of inboxes, of activities, and of jobs.

pub(crate) mod activity;
pub(crate) mod damage;
pub(crate) mod deliveries;
pub(crate) mod jobs;
pub(crate) mod rows;
pub(crate) mod unpushed;

pub use self::{activity::*, damage::*, deliveries::*, jobs::*, rows::*, unpushed::*};

#[cfg(test)]
mod tests;

//! The rows of inboxes, of activities, and of jobs.

pub(crate) mod activity;
pub(crate) mod damage;
pub(crate) mod deliveries;
pub(crate) mod jobs;
pub(crate) mod rows;
pub(crate) mod unpushed;

pub use self::activity::{Idle, Touched, activity, evict, idle, keep_no_inbox, meet, not_evicted, split_active, touch};
pub use self::damage::{damage_inbox, drop_damaged_inboxes};
pub(crate) use self::deliveries::forget_author;
pub use self::deliveries::{Delivery, Then, begin_fan_out, deliver, rebuild, settle};
pub(crate) use self::jobs::put_job;
pub use self::jobs::{drop_job, jobs};
pub use self::rows::{inbox, raise_floor};
pub(crate) use self::unpushed::put_unpushed;
pub use self::unpushed::{authors_with_unpushed, may_have_unpushed, unpushed, unpushed_version};

#[cfg(test)]
mod tests;

//! Items and users as a viewer sees them.

pub(crate) mod contents;
pub(crate) mod live;
pub(crate) mod viewer;

pub(crate) use contents::add_reactions;
pub use contents::{
    by_id, contents, find_live, hydrate, ids_if_permitted, listed, summaries, viewed, with_counts, with_viewer,
};
pub(crate) use live::live_contents;
pub use viewer::{find_place, find_span, sees_user};
pub(crate) use viewer::{followers_only, kept_from, sees_members, unseen_users};

//! Changes: commands, and the rules of each.

pub(crate) mod barriers;
pub(crate) mod command;
pub(crate) mod comments;
pub(crate) mod content;
pub(crate) mod drafts;
pub(crate) mod entry_times;
pub(crate) mod erasures;
pub(crate) mod future_times;
pub(crate) mod group;
pub(crate) mod host_ids;
pub(crate) mod import_lines;
pub(crate) mod imports;
mod kinds;
pub(crate) mod line;
pub(crate) mod markers;
pub(crate) mod paths;
pub(crate) mod publishes;
pub(crate) mod reactions;
pub(crate) mod relations;
pub(crate) mod requests;
pub(crate) mod settings;
pub(crate) mod suspensions;
pub(crate) mod txn;
pub(crate) mod user_lists;
pub(crate) mod users;

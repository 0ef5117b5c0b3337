//! Bodies, queries, answers and problem documents.

pub(crate) mod answers;
pub(crate) mod body;
pub(crate) mod kept_pages;
pub(crate) mod problem;
pub(crate) mod query;
pub(crate) mod reply;
pub(crate) mod request_id;

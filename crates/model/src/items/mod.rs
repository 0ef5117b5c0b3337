//! Items: their content, events, reactions and counts.

pub(crate) mod content;
pub(crate) mod counts;
pub(crate) mod draft;
pub(crate) mod entry;
pub(crate) mod event;
pub(crate) mod item_view;
pub(crate) mod json;
pub(crate) mod kind;
pub(crate) mod publish;
pub(crate) mod reaction;
pub(crate) mod reaction_kinds;

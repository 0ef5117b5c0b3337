//! Items: their content, events, reactions and counts.

pub(crate) mod content;
pub(crate) mod counts;
pub(crate) mod entry;
pub(crate) mod event;
pub(crate) mod fields;
mod fingerprint;
pub(crate) mod item_view;
pub(crate) mod json;
pub(crate) mod kind;
pub(crate) mod logged;
pub(crate) mod new_content;
pub(crate) mod publish;
pub(crate) mod reaction;
pub(crate) mod reaction_kinds;

pub use self::{
    content::*, counts::*, entry::*, event::*, fields::*, item_view::*, json::*, kind::*, logged::*, new_content::*,
    publish::*, reaction::*, reaction_kinds::*,
};

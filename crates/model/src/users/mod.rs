//! Users and what they are to each other.

pub(crate) mod erasure;
pub(crate) mod list;
pub(crate) mod members;
pub mod nickname;
pub(crate) mod notice;
pub(crate) mod profile;
pub(crate) mod relation;
pub(crate) mod restriction;
pub(crate) mod rule;
pub(crate) mod settings;
pub(crate) mod side;
pub(crate) mod user;

pub use self::{
    erasure::*, list::*, members::*, notice::*, profile::*, relation::*, restriction::*, rule::*, settings::*, side::*,
    user::*,
};

//! Users: profiles, settings, suspensions, and the search of an operator.

pub(crate) mod profiles;
pub(crate) mod search;
pub(crate) mod settings;
pub(crate) mod suspensions;
pub mod tables;

pub use self::{profiles::*, search::*, settings::*, suspensions::*};

//! Users: profiles, settings, suspensions, and the search of an operator.

pub(crate) mod profiles;
pub(crate) mod search;
pub(crate) mod settings;
pub(crate) mod suspensions;
pub mod tables;

pub use profiles::{put_profile, user};
pub use search::{of_late, search};
pub use settings::settings;
pub use suspensions::suspended_since;

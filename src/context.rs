//! Errors of the system and of libraries, with what the program tried when they came.

use std::fmt::Display;

use model::error::{Error, Result};

/// A result whose error lacks what was tried.
pub(crate) trait Context<T> {
    /// The value, or an error that says what failed, and why.
    fn context(self, what: impl Display) -> Result<T>;
}

impl<T, E: Display> Context<T> for Result<T, E> {
    fn context(self, what: impl Display) -> Result<T> {
        self.map_err(|why| Error::Setup(format!("{what}: {why}")))
    }
}

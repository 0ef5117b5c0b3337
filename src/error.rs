//! One error type, by what the caller can do about it.

use std::fmt;

/// A result of this crate.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// What went wrong, by meaning. The HTTP layer maps each to one status.
#[derive(Debug, Clone, thiserror::Error)]
pub enum Error {
    /// The request itself is wrong; the same request will fail again.
    #[error("{detail}")]
    Invalid {
        /// A stable word for programs.
        code: &'static str,
        /// A sentence for people.
        detail: String,
    },
    /// A well-formed request breaks a rule of the service.
    #[error("{detail}")]
    Refused {
        /// A stable word for programs.
        code: &'static str,
        /// A sentence for people.
        detail: String,
    },
    /// What was named is not there.
    #[error("{detail}")]
    NotFound {
        /// A stable word for programs.
        code: &'static str,
        /// A sentence for people.
        detail: String,
    },
    /// The request contradicts what is there.
    #[error("{detail}")]
    Conflict {
        /// A stable word for programs.
        code: &'static str,
        /// A sentence for people.
        detail: String,
    },
    /// The caller has as much of something as one may have at once; later there may be room.
    #[error("{detail}")]
    TooMany {
        /// A stable word for programs.
        code: &'static str,
        /// A sentence for people.
        detail: String,
    },
    /// Not now: a queue is full, the server is stopping, or the disk does not take writes.
    #[error("{detail}")]
    Unavailable {
        /// A stable word for programs.
        code: &'static str,
        /// A sentence for people.
        detail: String,
    },
    /// The answer is not in memory, and the caller asked not to touch the disk.
    #[error("the answer is not in memory")]
    NotCached,
    /// Data on disk does not read back as what was written.
    #[error("corrupt data: {0}")]
    Corrupt(String),
    /// The storage engine failed.
    #[error("storage: {0}")]
    Storage(String),
    /// A part of the server panicked: a bug.
    #[error("panicked: {0}")]
    Panicked(String),
    /// Something about starting: a setting, a directory, an address.
    #[error("{0}")]
    Setup(String),
}

impl Error {
    /// An [`Error::Invalid`].
    pub fn invalid(code: &'static str, detail: impl fmt::Display) -> Self {
        Self::Invalid { code, detail: detail.to_string() }
    }

    /// An [`Error::Refused`].
    pub fn refused(code: &'static str, detail: impl fmt::Display) -> Self {
        Self::Refused { code, detail: detail.to_string() }
    }

    /// An [`Error::Conflict`].
    pub fn conflict(code: &'static str, detail: impl fmt::Display) -> Self {
        Self::Conflict { code, detail: detail.to_string() }
    }

    /// An [`Error::Unavailable`].
    pub fn unavailable(code: &'static str, detail: impl fmt::Display) -> Self {
        Self::Unavailable { code, detail: detail.to_string() }
    }

    /// An [`Error::NotFound`] for content.
    pub fn content_not_found(id: crate::model::ContentId) -> Self {
        Self::NotFound { code: "content_not_found", detail: format!("there is no content {id}") }
    }
}

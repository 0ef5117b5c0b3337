//! The checks of the fuzz targets, over the sources of the server: `make fuzz`.
//!
//! Each check takes any input and panics if the code under test breaks a rule. The code itself must never panic.

#![allow(dead_code, unreachable_pub, unused_imports, missing_docs)]

#[path = "../../crates/feed/src/rows"]
mod rows {
    mod inbox;
    mod keys;
    mod values;

    #[path = "../../../../fuzz/src/keys.rs"]
    mod check_keys;
    #[path = "../../../../fuzz/src/values.rs"]
    mod check_values;
    pub use check_keys::keys as check_keys;
    pub use check_values::values as check_values;
}

mod options {
    pub use feed::store::InboxRoom;
}

/// As far as the sources below take names from it.
mod prelude {
    pub use std::fmt::{self, Display};
    pub use std::io::{self, Read, Write};

    pub use serde::{Deserialize, Serialize};
    pub use serde_json::{Value, json};

    pub use model::error::{Code, Error, Result};
    pub use model::{ExternalId, Millis, UserId};

    pub use crate::cli::terminal::progress::Progress;
}

#[path = "../../src/cli"]
mod cli {
    /// Not under test.
    pub fn plain(text: &str) -> String {
        text.escape_default().to_string()
    }

    pub mod terminal {
        pub mod units {
            pub fn lines(count: u64) -> String {
                format!("{count} lines")
            }
        }

        /// Progress bars are not under test.
        pub mod progress {
            use std::io::{self, Write};

            pub struct Progress;

            impl Progress {
                pub fn write(&self, write: impl FnOnce(&mut dyn Write) -> io::Result<()>) {
                    let _ = write(&mut io::sink());
                }
            }
        }
    }

    pub mod data {
        pub mod tables;

        pub mod import {
            mod csv;
            mod fields;
            mod lines;
            mod records;
            mod refusal;
            mod rows;
            mod times;

            #[path = "../../../../fuzz/src/imports.rs"]
            mod check;
            pub use check::imports;
        }
    }
}

mod bodies;
mod cursors;

pub use bodies::bodies;
pub use cli::data::import::imports;
pub use cursors::cursors;
pub use rows::{check_keys as keys, check_values as values};

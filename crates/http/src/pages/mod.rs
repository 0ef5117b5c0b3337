//! Files for browsers.

mod console;
mod docs;
mod web_files;

use crate::endpoint::Endpoint;
use model::error::Result;

/// The endpoints of all files. `description` makes the OpenAPI document.
pub(crate) fn endpoints(description: fn(&str) -> Result<String>) -> Vec<Endpoint> {
    docs::endpoints(description).into_iter().chain(console::endpoints()).collect()
}

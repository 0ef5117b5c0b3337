//! Files for browsers.

pub(crate) mod console;
pub(crate) mod console_files;
pub(crate) mod docs;
pub(crate) mod web_files;

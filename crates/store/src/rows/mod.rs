//! The rows: tables, keys, values, access to them, and walks over lists.

pub(crate) mod access;
pub(crate) mod batch;
pub(crate) mod filter;
pub(crate) mod inbox;
pub(crate) mod keys;
pub(crate) mod staged;
pub(crate) mod tables;
pub(crate) mod values;
pub(crate) mod walk;

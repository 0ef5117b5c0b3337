//! Imports.

mod imports;

//! Imports.

mod import_lines;
mod imports;

//! `clock.c` as a library. Preloaded into a process, it shifts the time of day.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, id};
use std::sync::LazyLock;

/// The library, built once in this program; `None` without a C compiler.
pub(crate) static LIBRARY: LazyLock<Option<PathBuf>> = LazyLock::new(|| {
    let source = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/support/clock.c");
    let library = Path::new(env!("CARGO_TARGET_TMPDIR")).join("clock.so");
    // Replaced whole, because another test program may use it.
    let next = library.with_extension(id().to_string());
    let built = Command::new("cc").args(["-shared", "-fPIC", "-O2", "-o"]).arg(&next).arg(source).status();
    let is_there = built.is_ok_and(|status| status.success()) && fs::rename(next, &library).is_ok();
    is_there.then_some(library)
});

//! A clock that a test sets for its servers.

#[path = "../support/clock.rs"]
mod library;

use std::path::{Path, PathBuf};

use tempfile::TempDir;

use super::Server;

/// A clock that a test sets for its servers.
pub(crate) struct Clock {
    dir: TempDir,
}

impl Clock {
    pub(crate) fn new() -> Self {
        let clock = Self { dir: TempDir::new().unwrap() };
        clock.shift(0);
        clock
    }

    fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    /// Shifts the clock by so many seconds from now on. The file is replaced in one step, so it is never incomplete.
    pub(crate) fn shift(&self, seconds: i64) {
        std::fs::write(self.path("next"), seconds.to_string()).unwrap();
        std::fs::rename(self.path("next"), self.path("shift")).unwrap();
    }

    /// Starts a server that has this clock, and some settings.
    pub(crate) fn start(&self, data: TempDir, settings: &[(&str, &str)]) -> Server {
        let text = |path: &Path| path.to_str().unwrap().to_owned();
        let library = library::LIBRARY.as_ref().expect("a C compiler");
        let (library, shift) = (text(library), text(&self.path("shift")));
        Server::on(data, &[settings, &[("LD_PRELOAD", &library), ("CLOCK_SHIFT", &shift)]].concat())
    }
}

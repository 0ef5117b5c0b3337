//! A clock that a test sets for its servers.

use std::path::{Path, PathBuf};
use std::process::Command;

use tempfile::TempDir;

use super::Server;

/// Shifts the time of day by the seconds written in a file.
const SHIM: &str = include_str!("../support/clock.c");

/// A clock that a test sets for its servers.
pub(crate) struct Clock {
    dir: TempDir,
}

impl Clock {
    pub(crate) fn new() -> Self {
        let dir = TempDir::new().unwrap();
        let (source, shim) = (dir.path().join("shim.c"), dir.path().join("shim.so"));
        std::fs::write(&source, SHIM).unwrap();
        let built = Command::new("cc").args(["-shared", "-fPIC", "-O1", "-o"]).arg(&shim).arg(&source).status();
        assert!(built.expect("a C compiler").success());
        let clock = Self { dir };
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
        let (shim, shift) = (text(&self.path("shim.so")), text(&self.path("shift")));
        Server::on(data, &[settings, &[("LD_PRELOAD", &shim), ("CLOCK_SHIFT", &shift)]].concat())
    }
}

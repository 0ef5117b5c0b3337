//! The data directory: its lock and its format number.

use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};

use crate::error::{Error, Result};

/// The format that this code reads and writes.
const FORMAT: &str = "tideline format 2\n";
/// Longest content of a `FORMAT` file, of any format.
const LONGEST_FORMAT: usize = 64;

/// The file that is there while the directory is made.
const CREATING: &str = "CREATING";

/// A data directory that this process holds.
///
/// `FORMAT` names the format, `LOCK` is locked while a process has the directory, `db/` belongs to
/// the engine. The lock is the operating system's and so goes with the process, however it ends.
/// `CREATING` is there until the engine has made its files: only then may they be missing.
#[derive(Debug)]
pub(super) struct Directory {
    path: PathBuf,
    _lock: File,
}

impl Directory {
    /// Takes the directory for this process; makes it if it is not there.
    pub(super) fn claim(path: &Path) -> Result<Self> {
        let failed =
            |what: &str, error: io::Error| Error::Setup(format!("data directory {}: {what}: {error}", path.display()));
        fs::create_dir_all(path).map_err(|e| failed("cannot be made", e))?;
        let lock = OpenOptions::new()
            .create(true)
            .truncate(false)
            .write(true)
            .open(path.join("LOCK"))
            .map_err(|e| failed("cannot open LOCK", e))?;
        match lock.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => {
                return Err(Error::Setup(format!("data directory {} is in use by another process", path.display())));
            }
            Err(TryLockError::Error(error)) => return Err(failed("cannot lock LOCK", error)),
        }
        let directory = Self { path: path.to_owned(), _lock: lock };
        directory.check_format().map_err(|e| failed("cannot use FORMAT", e))??;
        Ok(directory)
    }

    /// Whether the engine may make its files, because this directory never had any. Fails if they
    /// were there and are not: a fresh database in their place would pass for an empty one.
    pub(super) fn is_fresh(&self) -> Result<bool> {
        let there = self.engine().join("CURRENT").exists();
        if !there && !self.path.join(CREATING).exists() {
            let dir = self.path.display();
            return Err(Error::Setup(format!(
                "data directory {dir}: db/CURRENT is missing: the data was there and is not; restore a backup, or \
                 remove the whole directory to start with nothing"
            )));
        }
        Ok(!there)
    }

    /// The engine has made its files.
    pub(super) fn created(&self) -> Result<()> {
        let failed = |e: io::Error| Error::Setup(format!("data directory {}: {CREATING}: {e}", self.path.display()));
        match fs::remove_file(self.path.join(CREATING)) {
            Err(e) if e.kind() == io::ErrorKind::NotFound => Ok(()),
            Err(e) => Err(failed(e)),
            Ok(()) => File::open(&self.path).and_then(|dir| dir.sync_all()).map_err(failed),
        }
    }

    /// Where the engine keeps its files.
    pub(super) fn engine(&self) -> PathBuf {
        self.path.join("db")
    }

    fn check_format(&self) -> io::Result<Result<()>> {
        let file = self.path.join("FORMAT");
        // No more than it takes to see that it is too long.
        let mut head = Vec::new();
        let read = File::open(&file).and_then(|file| file.take(LONGEST_FORMAT as u64 + 1).read_to_end(&mut head));
        match read {
            // An editor may have taken the line end away, or made another of it.
            Ok(_) if head.trim_ascii_end() == FORMAT.trim_end().as_bytes() => Ok(Ok(())),
            Ok(length) if length > LONGEST_FORMAT => Ok(Err(self.unknown("its FORMAT file is too long to be one"))),
            Ok(_) => Ok(Err(match std::str::from_utf8(&head) {
                Ok(format) => self.unknown(&format!("its FORMAT file says {:?}", format.trim_end())),
                Err(_) => self.unknown("its FORMAT file is no text"),
            })),
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                if self.engine().exists() {
                    return Ok(Err(self.unknown("it has data but no FORMAT file")));
                }
                self.write_format(&file).map(Ok)
            }
            Err(error) => Err(error),
        }
    }

    fn unknown(&self, why: &str) -> Error {
        Error::Setup(format!(
            "data directory {}: unknown format: {why}; this version reads {:?}",
            self.path.display(),
            FORMAT.trim_end()
        ))
    }

    /// Writes the file whole or not at all, and durably, before the engine makes anything.
    fn write_format(&self, file: &Path) -> io::Result<()> {
        File::create(self.path.join(CREATING))?.sync_all()?;
        let fresh = self.path.join("FORMAT.new");
        let mut writer = File::create(&fresh)?;
        writer.write_all(FORMAT.as_bytes())?;
        writer.sync_all()?;
        fs::rename(&fresh, file)?;
        File::open(&self.path)?.sync_all()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_process_at_a_time() {
        let dir = tempfile::tempdir().expect("temp dir");
        let held = Directory::claim(dir.path()).expect("first");
        let error = Directory::claim(dir.path()).expect_err("second").to_string();
        assert!(error.contains("another process"), "{error}");
        drop(held);
        Directory::claim(dir.path()).expect("after the first is gone");
    }

    #[test]
    fn a_database_that_was_there_is_not_made_anew() {
        let dir = tempfile::tempdir().expect("temp dir");
        let directory = Directory::claim(dir.path()).expect("claims");
        assert!(directory.is_fresh().expect("new"));
        // A start that ends before the engine has made its files is no loss.
        drop(directory);
        let directory = Directory::claim(dir.path()).expect("claims");
        assert!(directory.is_fresh().expect("still new"));
        fs::create_dir(directory.engine()).expect("mkdir");
        fs::write(directory.engine().join("CURRENT"), "").expect("write");
        directory.created().expect("created");
        directory.created().expect("a second time");
        assert!(!directory.is_fresh().expect("there"));
        fs::remove_file(directory.engine().join("CURRENT")).expect("remove");
        let error = directory.is_fresh().expect_err("was there").to_string();
        assert!(error.contains("db/CURRENT is missing"), "{error}");
    }

    #[test]
    fn unknown_formats_are_refused() {
        let dir = tempfile::tempdir().expect("temp dir");
        fs::write(dir.path().join("FORMAT"), "tideline format 99\n").expect("write");
        let error = Directory::claim(dir.path()).expect_err("unknown").to_string();
        assert!(error.contains("format 99"), "{error}");
        for (format, word) in [(vec![b'x'; 10 << 20], "too long"), (vec![0xFF], "no text"), (vec![], "says \"\"")] {
            fs::write(dir.path().join("FORMAT"), format).expect("write");
            let error = Directory::claim(dir.path()).expect_err(word).to_string();
            assert!(error.contains(word) && error.len() < 300, "{error}");
        }
        for good in ["tideline format 2", "tideline format 2\r\n"] {
            fs::write(dir.path().join("FORMAT"), good).expect("write");
            Directory::claim(dir.path()).expect(good);
        }
        fs::remove_file(dir.path().join("FORMAT")).expect("remove");
        fs::create_dir(dir.path().join("db")).expect("mkdir");
        let error = Directory::claim(dir.path()).expect_err("no format").to_string();
        assert!(error.contains("no FORMAT"), "{error}");
    }
}

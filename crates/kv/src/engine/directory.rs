//! The data directory: its lock and its format number.

mod lock;

use std::ffi::{OsStr, OsString};
use std::fs::{self, File, TryLockError};
use std::io::{self, Read};
use std::path::{Path, PathBuf};

pub(crate) use self::lock::hold;
use self::lock::{LOCK_WAIT, lock_within};
use super::open_advice;
use crate::options::ENGINE;
use model::error::{Error, Result};
use model::private_files;

/// The format that this code reads and writes.
pub(crate) const CURRENT: u32 = 7;
/// The first words of a `FORMAT` file. Then comes the number.
const WORDS: &str = "tideline format ";
/// Before the version that wrote the file, on a line of its own.
const RELEASE: &str = "release ";
/// Longest name of a file of the engine.
const LONGEST_NAME: usize = 96;
/// Most bytes of a `FORMAT` file.
const LONGEST_FORMAT: usize = 256;

/// The file that names the format.
pub(crate) const FORMAT_FILE: &str = "FORMAT";
/// The file of a directory that follows another server.
pub(crate) const STANDBY: &str = "STANDBY";
/// The file that is locked.
pub(super) const LOCK: &str = "LOCK";
/// The file that exists while the directory is made.
const CREATING: &str = "CREATING";
/// A new [`FORMAT_FILE`] before it has its name.
const FRESH_FORMAT: &str = "FORMAT.new";

/// Names that a directory without `FORMAT` may have: those of a start that ended before it wrote that file, the folder
/// of a new file system, and the files with which version control keeps an empty folder.
const NOTHING: [&str; 7] = [LOCK, CREATING, FRESH_FORMAT, "lost+found", ".gitkeep", ".gitignore", ".keep"];
/// Most names of foreign files in a message.
const NAMED: usize = 3;

/// A data directory that this process holds.
///
/// `FORMAT` names the format, `LOCK` is locked while a process has the directory, `db/` belongs to the engine. The
/// operating system holds the lock and releases it however the process ends. `CREATING` exists until the engine has
/// made its files: only then may they be missing.
#[derive(Debug)]
pub(crate) struct Directory {
    path: PathBuf,
    /// `None` for a backup, which no process locks.
    _lock: Option<File>,
}

/// The number of a format, and the version that wrote it; `None` if a text is that of no `FORMAT` file. An editor may have
/// removed or changed line ends.
fn format_in(text: &str) -> Option<(u32, Option<String>)> {
    let mut lines = text.lines().map(str::trim_end);
    let digits = lines.next()?.strip_prefix(WORDS)?;
    let number = digits.parse().ok().filter(|number: &u32| number.to_string() == digits)?;
    let release = |line: &str| Some(line.strip_prefix(RELEASE)?.escape_debug().to_string());
    let releases: Vec<_> = lines.filter(|line| !line.is_empty()).map(release).collect();
    // A later format may say more.
    let is_known = number > CURRENT || releases.iter().all(Option::is_some);
    is_known.then(|| (number, releases.into_iter().flatten().next()))
}

impl Directory {
    /// Takes the directory for this process; makes it if it is missing. A directory with other content is left as it
    /// is.
    pub(crate) fn claim(path: &Path) -> Result<Self> {
        let failed = |what: &str, error: io::Error| open_advice::failed(path, what, &error);
        private_files::make_dirs(path).map_err(|e| failed("cannot be created", e))?;
        if path.join(STANDBY).exists() {
            return Err(Error::Setup(format!(
                "data directory {} is a standby: it follows another server. To make it a directory of its own: tideline \
                 promote --data-dir {}",
                path.display(),
                open_advice::shell_word(path)
            )));
        }
        let others = others(path, |_| false).map_err(|e| failed("cannot be listed", e))?;
        if !others.is_empty() {
            return Err(Error::Setup(format!(
                "data directory {} is not empty and has no FORMAT file, so it is not a data directory of Tideline. It \
                 contains {}. Choose an empty directory with --data-dir, or restore a backup here: tideline restore \
                 --replace",
                path.display(),
                others.join(", ")
            )));
        }
        Self::of(path, Some(hold(path)?))
    }

    /// Takes a directory with data to read it: others may do so, too. Changes nothing in it.
    pub(crate) fn look(path: &Path) -> Result<Self> {
        let failed = |what: &str, error: io::Error| open_advice::failed(path, what, &error);
        if !path.join(FORMAT_FILE).exists() {
            let unfinished = "it has no FORMAT file, so it is no whole data directory";
            return Err(Error::Setup(format!("data directory {}: {unfinished}", path.display())));
        }
        let lock = match File::open(lock(path)) {
            Ok(lock) => Some(lock),
            Err(error) if error.kind() == io::ErrorKind::NotFound => None,
            Err(error) => return Err(failed("cannot open LOCK", error)),
        };
        match lock.as_ref().map_or(Ok(()), |lock| lock_within(lock, LOCK_WAIT, File::try_lock_shared)) {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => {
                return Err(Error::Setup(format!(
                    "data directory {} is in use by a running server. Stop it, or take a backup of it (tideline backup \
                     --url) and read that",
                    path.display()
                )));
            }
            Err(TryLockError::Error(error)) => return Err(failed("cannot lock LOCK", error)),
        }
        let directory = Self::of(path, lock)?;
        match directory.is_fresh()? {
            true => Err(Error::Setup(format!("data directory {}: it has no data yet", path.display()))),
            false => Ok(directory),
        }
    }

    fn of(path: &Path, lock: Option<File>) -> Result<Self> {
        let directory = Self { path: path.to_owned(), _lock: lock };
        if let Some(text) = directory.format().map_err(|e| open_advice::failed(path, "cannot use FORMAT", &e))? {
            directory.must_be_current(&text)?;
        }
        Ok(directory)
    }

    /// Whether the engine may make its files, because this directory never had any. Fails if they were there and are
    /// missing: a fresh database would pass for an empty one.
    pub(crate) fn is_fresh(&self) -> Result<bool> {
        let there = self.engine().join("CURRENT").exists();
        if !there && !self.path.join(CREATING).exists() {
            let dir = self.path.display();
            return Err(Error::Setup(format!(
                "data directory {dir}: db/CURRENT is missing, although the directory had data. Restore a backup \
                 (tideline restore --replace), or move the directory away, with the backups in it, to start without data"
            )));
        }
        Ok(!there)
    }

    /// Call after the engine has made its files.
    pub(crate) fn created(&self) -> Result<()> {
        let failed = |e: io::Error| Error::Setup(format!("data directory {}: {CREATING}: {e}", self.path.display()));
        private_files::remove_file(&self.path.join(CREATING)).map_err(failed)
    }

    /// The directory of the engine's files.
    pub(crate) fn engine(&self) -> PathBuf {
        self.path.join(ENGINE)
    }

    /// The content of the file `FORMAT`, one byte longer than the longest at most. Makes the file if it is missing.
    fn format(&self) -> io::Result<Option<Vec<u8>>> {
        let mut text = Vec::new();
        match File::open(self.path.join(FORMAT_FILE)) {
            Ok(file) => file.take(LONGEST_FORMAT as u64 + 1).read_to_end(&mut text).map(|_| Some(text)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                File::create(self.path.join(CREATING))?.sync_all()?;
                // Whenever FORMAT has its name, this file has its own, also after a power cut.
                private_files::flush_names(&self.path)?;
                write_format(&self.path).map(|()| None)
            }
            Err(error) => Err(error),
        }
    }

    fn must_be_current(&self, text: &[u8]) -> Result<()> {
        if text.len() > LONGEST_FORMAT {
            return Err(self.unknown("its FORMAT file is too long"));
        }
        let text = std::str::from_utf8(text).map_err(|_| self.unknown("its FORMAT file is not text"))?;
        match format_in(text) {
            Some((CURRENT, _)) => Ok(()),
            Some((number, release)) => {
                let which = if number > CURRENT { "a later version" } else { "an earlier version" };
                let release = release.map_or(which.to_owned(), |release| format!("version {release}"));
                Err(self.unknown(&format!("{release} wrote it in format {number}")))
            }
            None => Err(self.unknown(&format!("its FORMAT file says {:?}", text.trim_end()))),
        }
    }

    fn unknown(&self, why: &str) -> Error {
        Error::Setup(format!(
            "data directory {}: unknown format: {why}. This is version {}, whose format is {CURRENT}. \
             Use the version that wrote the directory, import what it exports into an empty directory, or choose another \
             directory with --data-dir",
            self.path.display(),
            env!("CARGO_PKG_VERSION")
        ))
    }
}

/// Writes the file `FORMAT` of a directory whole or not at all, and durably.
pub(crate) fn write_format(path: &Path) -> io::Result<()> {
    let text = format!("{WORDS}{CURRENT}\n{RELEASE}{}\n", env!("CARGO_PKG_VERSION"));
    private_files::replace_file(&path.join(FORMAT_FILE), text.as_bytes())
}

/// Whether a name may be that of a file of the engine, and of no place outside of its folder.
pub fn is_file_of_engine(name: &str) -> bool {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"._-".contains(&byte);
    (1..=LONGEST_NAME).contains(&name.len()) && !name.starts_with('.') && name.bytes().all(is_plain)
}

/// The file that is locked while a process has a directory.
pub(crate) fn lock(path: &Path) -> PathBuf {
    path.join(LOCK)
}

/// The names of some foreign files in a directory without a format, without those that may stay.
pub(crate) fn others(path: &Path, may_stay: fn(&OsStr) -> bool) -> io::Result<Vec<String>> {
    let mut names = Vec::new();
    for entry in fs::read_dir(path)? {
        names.push(entry?.file_name());
    }
    // Looked up after the list: another process may have made it just now, and all its files.
    if path.join(FORMAT_FILE).try_exists()? {
        return Ok(Vec::new());
    }
    let is_other = |name: &OsString| !may_stay(name) && !NOTHING.iter().any(|known| name == known);
    let mut others: Vec<_> = names.into_iter().filter(is_other).map(|name| format!("{}", name.display())).collect();
    others.sort();
    others.truncate(NAMED);
    Ok(others)
}

/// Fails with the reason unless there is a data directory, for commands that make none.
pub fn must_be_there(path: &Path) -> Result<()> {
    if path.is_file() {
        let hint =
            "is a file and no data directory. If it is an archive of a backup, unpack it with tideline restore first";
        return Err(Error::Setup(format!("{} {hint}", path.display())));
    }
    let has_format = path.join(FORMAT_FILE).try_exists();
    // Opening it gives a better error for data without a format.
    if has_format.map_err(|e| open_advice::failed(path, "cannot be read", &e))? || path.join(ENGINE).exists() {
        return Ok(());
    }
    let path_shown = path.display();
    Err(Error::Setup(match path.exists() {
        true => format!("{path_shown} is not a data directory of Tideline: it has no FORMAT file"),
        false => format!("there is no data directory at {path_shown}; choose another one with --data-dir"),
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_database_that_was_there_is_not_made_anew() {
        let dir = tempfile::tempdir().expect("temp dir");
        let directory = Directory::claim(dir.path()).expect("claims");
        assert!(directory.is_fresh().expect("new"));
        // A start that ends before the engine has made its files loses nothing.
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
        let with = |format: &[u8]| {
            fs::write(dir.path().join("FORMAT"), format).expect("write");
            Directory::claim(dir.path())
        };
        let current = format!("{WORDS}{CURRENT}");
        for (format, word) in [
            (&[b'x'; 10 << 20][..], "too long"),
            (&[0xFF], "not text"),
            (b"", "says \"\""),
            (b"tideline format x", "says \"tideline format x\""),
            (b"tideline format 99\n", "a later version wrote it in format 99"),
            (b"tideline format 99\nrelease 9.1.0\n", "version 9.1.0 wrote it in format 99"),
            (b"tideline format 003\n", "says \"tideline format 003\""),
            (format!("{current}\nmigrating\n").as_bytes(), "migrating"),
            (b"tideline format 9\nrelease \x1b[31m\n", "version \\u{1b}[31m wrote it"),
            (b"tideline format 2\n", "an earlier version wrote it in format 2"),
            (b"tideline format 6\nrelease 0.1.0\n", "version 0.1.0 wrote it in format 6"),
        ] {
            let error = with(format).expect_err(word).to_string();
            assert!(error.contains(word) && error.len() < 400, "{error}");
        }
        for rest in ["", "\r\nrelease 0.1.0\r\n"] {
            with(format!("{current}{rest}").as_bytes()).expect(rest);
        }
        fs::remove_file(dir.path().join("FORMAT")).expect("remove");
        fs::create_dir(dir.path().join("db")).expect("mkdir");
        let error = Directory::claim(dir.path()).expect_err("no format").to_string();
        assert!(error.contains("no FORMAT"), "{error}");
    }
}

//! Advice for an operator whose data directory does not open.

use std::fs;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use rocksdb::ErrorKind;

use crate::options::ENGINE;
use model::error::Error;

/// The advice for damaged or missing files.
const RESTORE: &str = ". Make a copy of the directory, then restore a backup.";

/// An error of the operating system with a data directory.
pub(crate) fn failed(dir: &Path, what: &str, error: &io::Error) -> Error {
    let advice = if error.kind() == io::ErrorKind::PermissionDenied { permission(dir) } else { String::new() };
    Error::Setup(format!("data directory {}: {what}: {error}{advice}", dir.display()))
}

/// Whether the engine cannot open because files are damaged or missing.
pub(crate) fn is_damage(error: &rocksdb::Error) -> bool {
    match error.kind() {
        ErrorKind::Corruption => true,
        ErrorKind::IOError => is_missing(error.as_ref()),
        _ => false,
    }
}

/// The cause of an error of the store that is due to damaged or missing files.
pub(crate) fn damage(error: &Error) -> Option<&str> {
    match error {
        Error::Corrupt(cause) => Some(cause),
        Error::Storage(cause) if is_missing(cause) => Some(cause),
        _ => None,
    }
}

/// Whether the engine says that a file is missing.
fn is_missing(said: &str) -> bool {
    said.contains("No such file")
}

/// The error for files that the engine cannot open.
pub(crate) fn cannot_open(dir: &Path, error: &rocksdb::Error) -> Error {
    let said = error.as_ref();
    let advice = match error.kind() {
        _ if is_damage(error) => RESTORE.to_owned(),
        ErrorKind::IOError if said.contains("Permission denied") => permission(dir),
        _ => String::new(),
    };
    let said = said.trim_end_matches(['.', ' ']);
    Error::Setup(format!("data directory {}: the storage engine cannot open db/: {said}{advice}", dir.display()))
}

/// The missing permission, and the command that gives it. The command never changes the directory above, as others may
/// use it.
fn permission(dir: &Path) -> String {
    let process = rustix::process::geteuid().as_raw();
    let who = format!(". This process runs as uid {process} and");
    let (shown, word) = (dir.display(), shell_word(dir));
    let above = || nearest(dir).display().to_string();
    match dir.metadata() {
        Err(error) if error.kind() == io::ErrorKind::NotFound => format!(
            "{who} may not write to {}. Make the directory as root: install -d -o {process} -m 700 {word}",
            above()
        ),
        Err(_) => format!("{who} may not enter {}. Choose another directory with --data-dir", above()),
        Ok(_) if owns_all(process, dir) => {
            format!(
                "{who} owns {shown}, but may not read and write all of it. Give the permission: chmod -R u+rwX {word}"
            )
        }
        Ok(found) => {
            let owner = found.uid();
            let belongs = if owner == process { String::new() } else { format!(", which belongs to uid {owner}") };
            let instead = match owner == 0 || owner == process {
                true => String::new(),
                false => format!(" Run the program as uid {owner}, or"),
            };
            let give = if instead.is_empty() { " Give" } else { " give" };
            format!(
                "{who} may not read and write all of {shown}{belongs}.{instead}{give} the data directory to it as root: \
                 chown -R {process} {word}"
            )
        }
    }
}

/// The nearest directory above that can be looked at.
fn nearest(dir: &Path) -> PathBuf {
    let named = |place: &Path| if place.as_os_str().is_empty() { PathBuf::from(".") } else { place.to_owned() };
    let above = dir.ancestors().skip(1).map(named).find(|place| place.metadata().is_ok());
    above.unwrap_or_else(|| PathBuf::from("/"))
}

/// Whether a user owns a directory and the files in it and in its `db`, as far as they can be looked at.
fn owns_all(user: u32, dir: &Path) -> bool {
    let inside = |dir: &Path| fs::read_dir(dir).into_iter().flatten().flatten().map(|entry| entry.path());
    let mut all = [dir.to_owned()].into_iter().chain(inside(dir)).chain(inside(&dir.join(ENGINE)));
    all.all(|place| place.symlink_metadata().map_or(true, |found| found.uid() == user))
}

/// A path, quoted for a shell.
pub(crate) fn shell_word(path: &Path) -> String {
    let text = path.display().to_string();
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "/._-+@:,=%".contains(c);
    if text.chars().all(is_plain) { text } else { format!("'{}'", text.replace('\'', r"'\''")) }
}

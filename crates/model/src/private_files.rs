//! Files and directories that only their owner reads: they hold the data of all users. Others stay as they are.

use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt};
use std::path::Path;

/// Makes a directory, and those above it, if they are missing.
pub fn make_dirs(path: &Path) -> io::Result<()> {
    DirBuilder::new().recursive(true).mode(0o700).create(path)
}

/// Makes a directory, which must not exist.
pub fn make_dir(path: &Path) -> io::Result<()> {
    DirBuilder::new().mode(0o700).create(path)
}

/// Makes a file, which must not exist, not even as a symbolic link.
pub fn make_file(path: &Path) -> io::Result<File> {
    OpenOptions::new().write(true).create_new(true).mode(0o600).open(path)
}

/// Writes a file whole or not at all, and durably. Meanwhile there is a file with the extension `new` beside it.
pub fn replace_file(path: &Path, content: &[u8]) -> io::Result<()> {
    let fresh = path.with_extension("new");
    let mut file = File::create(&fresh)?;
    file.write_all(content)?;
    file.sync_all()?;
    fs::rename(&fresh, path)?;
    path.parent().map_or(Ok(()), flush_names)
}

/// Removes a file, durably. One that is missing is removed.
pub fn remove_file(path: &Path) -> io::Result<()> {
    match fs::remove_file(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        removed => removed.and_then(|()| path.parent().map_or(Ok(()), flush_names)),
    }
}

/// Removes a directory with all that is in it. One that is missing is removed.
pub fn remove_dir(path: &Path) -> io::Result<()> {
    match fs::remove_dir_all(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        removed => removed,
    }
}

/// Makes the names of files in a directory durable.
pub fn flush_names(dir: &Path) -> io::Result<()> {
    File::open(dir)?.sync_all()
}

/// Makes every file and directory of this process private from now on. The storage engine opens its files without a mode.
pub fn from_now_on() {
    rustix::process::umask(rustix::fs::Mode::from_raw_mode(0o077));
}

/// Whether every user of the machine may enter a directory, and so read the files in it whose names are known and whose
/// modes allow it.
pub fn admits_all(dir: &Path) -> bool {
    dir.metadata().is_ok_and(|found| found.mode() & 0o001 != 0)
}

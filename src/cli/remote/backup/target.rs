//! The place of a copy of a backup, and the writing of it: whole, or nothing with its name.

use std::ffi::OsStr;
use std::fs::{self, OpenOptions, TryLockError};
use std::io::{self, Read, Write};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use rustix::fs::OFlags;
use rustix::process::geteuid;

use feed::backup::unpack;
use model::error::{Error, Result};
use model::private;
use store::room_for;

/// Level of compression.
const LEVEL: i32 = 3;

/// Where a copy goes.
pub(super) enum Target {
    Stdout,
    /// An archive.
    File(PathBuf),
    /// A directory that gets a folder with the name of the backup.
    Dir(PathBuf),
}

impl Target {
    /// Refuses a file that exists, before any work.
    pub(super) fn new(path: &Path) -> Result<Self> {
        if path == Path::new("-") {
            return Ok(Self::Stdout);
        }
        if path.is_dir() {
            return Ok(Self::Dir(path.to_owned()));
        }
        if path.exists() {
            return Err(Error::Setup(format!("{} exists already; it is not overwritten", path.display())));
        }
        if path.extension().is_some_and(|end| ["gz", "tgz", "bz2", "xz", "zip"].iter().any(|other| end == *other)) {
            return Err(Error::Setup(format!("{}: only .tar and .tar.zst can be written", path.display())));
        }
        let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
        if let Some(folder) = folder.filter(|folder| !folder.is_dir()) {
            return Err(Error::Setup(format!("there is no directory {}", folder.display())));
        }
        Ok(Self::File(path.to_owned()))
    }

    /// Writes the copy whole, or leaves nothing with its name.
    pub(super) fn write(&self, name: &str, mut input: impl Read, length: u64) -> Result<()> {
        let failed = |path: &Path, e: io::Error| Error::Setup(format!("cannot write {}: {e}", path.display()));
        match self {
            Self::Stdout => {
                let mut out = io::stdout().lock();
                io::copy(&mut input, &mut out).and_then(|_| out.flush()).map_err(|e| failed(Path::new("-"), e))
            }
            Self::File(path) => {
                let part = PathBuf::from(format!("{}.part", path.display()));
                clear(&part)?;
                let mut file = private::make_file(&part).map_err(|e| failed(&part, e))?;
                let mut write = || {
                    // Until the file is closed, another command that looks at it lets it be.
                    file.try_lock()?;
                    if path.extension() == Some(OsStr::new("zst")) {
                        let mut packed = zstd::Encoder::new(&mut file, LEVEL)?;
                        io::copy(&mut input, &mut packed)?;
                        packed.finish()?;
                    } else {
                        io::copy(&mut input, &mut file)?;
                    }
                    file.sync_all()?;
                    fs::rename(&part, path)
                };
                let written: io::Result<()> = write();
                written.map_err(|e| {
                    // Without its end it is of no use.
                    let _ = fs::remove_file(&part);
                    failed(path, e)
                })
            }
            Self::Dir(dir) => {
                let (part, path) = (dir.join(format!("{name}.part")), dir.join(name));
                room_for(dir, length, 0)?;
                private::make_dir(&part).map_err(|e| failed(&part, e))?;
                let unpacked = unpack(input, &part, |_| Ok(()), |_, _| ());
                let put = unpacked.and_then(|_| fs::rename(&part, &path).map_err(|e| failed(&path, e)));
                put.inspect_err(|_| {
                    let _ = fs::remove_dir_all(&part);
                })
            }
        }
    }
}

/// Removes the unfinished file of a command that was killed. Anything else with its name is refused: in a directory that
/// others may write to, they could have put it there.
fn clear(part: &Path) -> Result<()> {
    let refused = |why: &str| Error::Setup(format!("{} {why}", part.display()));
    let failed = |e: io::Error| refused(&format!("cannot be replaced: {e}"));
    let found = match fs::symlink_metadata(part) {
        Ok(found) => found,
        Err(e) if e.kind() == io::ErrorKind::NotFound => return Ok(()),
        Err(e) => return Err(failed(e)),
    };
    if !found.is_file() || found.uid() != geteuid().as_raw() {
        return Err(refused("is no unfinished copy of this user; remove it, or name another file with --to"));
    }
    let flags = (OFlags::NOFOLLOW | OFlags::NONBLOCK).bits().cast_signed();
    let file = OpenOptions::new().read(true).custom_flags(flags).open(part).map_err(failed)?;
    match file.try_lock() {
        Ok(()) => fs::remove_file(part).map_err(failed),
        Err(TryLockError::WouldBlock) => Err(refused("is being written by another command")),
        Err(TryLockError::Error(e)) => Err(failed(e)),
    }
}

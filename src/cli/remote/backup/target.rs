//! The place of a copy of a backup, and the writing of it: whole, or nothing with its name.

use crate::cli::terminal::part_file::{Packed, Part, unwritten};
use crate::prelude::*;
use feed::backup::unpack;
use kv::room_for;

/// Where a copy goes.
pub(super) enum Target {
    /// An archive, or the standard output.
    File(PathBuf),
    /// A directory that gets a folder with the name of the backup.
    Dir(PathBuf),
}

impl Target {
    /// Refuses a file that exists, before any work.
    pub(super) fn new(path: &Path) -> Result<Self> {
        if path == Path::new("-") {
            return Ok(Self::File(path.to_owned()));
        }
        if path.is_dir() {
            return Ok(Self::Dir(path.to_owned()));
        }
        if path.extension().is_some_and(|end| ["gz", "tgz", "bz2", "xz", "zip"].iter().any(|other| end == *other)) {
            return Err(Error::Setup(format!("{}: only .tar and .tar.zst can be written", path.display())));
        }
        Part::must_be_free(path)?;
        Ok(Self::File(path.to_owned()))
    }

    /// Writes the copy whole, or leaves nothing with its name.
    pub(super) fn write(&self, name: &str, mut input: impl Read, length: u64) -> Result<()> {
        let failed = |path: &Path, e: io::Error| unwritten(path, &e);
        match self {
            Self::File(path) => {
                let mut out = Packed::begin(path)?;
                let written = io::copy(&mut input, &mut out).and_then(|_| out.end());
                written.map_err(|e| failed(path, e))?.map_or(Ok(()), Part::finish)
            }
            Self::Dir(dir) => {
                let (part, path) = (dir.join(format!("{name}.part")), dir.join(name));
                room_for(dir, length, 0)?;
                private_files::make_dir(&part).map_err(|e| failed(&part, e))?;
                let unpacked = unpack(input, &part, |_| Ok(()), |_, _| ());
                let put = unpacked.and_then(|_| fs::rename(&part, &path).map_err(|e| failed(&path, e)));
                put.inspect_err(|_| {
                    let _ = fs::remove_dir_all(&part);
                })
            }
        }
    }
}

//! Files as one tar archive, made while it is read.

use std::collections::VecDeque;
use std::fmt;
use std::fs::{self, File};
use std::io::{self, Cursor, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use tar::Header;

use super::manifest::{MANIFEST, Manifest, VERDICT};
use kv::ENGINE;
use model::Millis;

/// The unit of the format, bytes.
const BLOCK: u64 = 512;
/// Blocks of zeros at the end.
const END: u64 = 2;

/// Files as the bytes of a tar archive. One file at a time is open.
pub struct Archive {
    /// Files with their names and sizes, in order.
    rest: VecDeque<(PathBuf, String, u64)>,
    /// The time of all files.
    at: Millis,
    /// The part in reading, and its bytes that are not read yet.
    part: Box<dyn Read + Send>,
    left: u64,
    /// Whether the part is the last.
    ends: bool,
    length: u64,
    /// Dropped at the end of the read.
    _held: Option<Arc<()>>,
}

impl fmt::Debug for Archive {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Archive").field("length", &self.length).finish_non_exhaustive()
    }
}

impl Archive {
    /// The archive of the backup in a directory: first the manifest. Fails with [`io::ErrorKind::InvalidData`] if there is none.
    pub fn of(dir: &Path) -> io::Result<Self> {
        let manifest = Manifest::of(dir)?;
        Ok(Self::new(files(dir)?, manifest.begun_at))
    }

    /// The archive of files with their names and sizes, in order; `at` is the time of all.
    pub(crate) fn new(files: Vec<(PathBuf, String, u64)>, at: Millis) -> Self {
        let length = files.iter().map(|(_, _, size)| BLOCK + size.next_multiple_of(BLOCK)).sum::<u64>() + END * BLOCK;
        Self { rest: files.into(), at, part: Box::new(io::empty()), left: 0, ends: false, length, _held: None }
    }

    /// Keeps a value until the archive is dropped.
    pub(super) fn holding(self, held: Arc<()>) -> Self {
        Self { _held: Some(held), ..self }
    }

    /// The bytes of the whole archive.
    pub fn length(&self) -> u64 {
        self.length
    }

    fn open_next(&mut self) -> io::Result<()> {
        let Some((path, name, size)) = self.rest.pop_front() else {
            self.ends = true;
            self.left = END * BLOCK;
            self.part = Box::new(io::repeat(0).take(self.left));
            return Ok(());
        };
        let mut header = Header::new_ustar();
        header.set_path(&name)?;
        header.set_size(size);
        header.set_mode(0o600);
        header.set_mtime(self.at / 1000);
        header.set_cksum();
        let padding = size.next_multiple_of(BLOCK) - size;
        let file = File::open(path)?.take(size).chain(io::repeat(0).take(padding));
        self.left = BLOCK + size + padding;
        // A file that has become shorter ends the part early, which `read` notices.
        self.part = Box::new(Cursor::new(header.as_bytes().to_vec()).chain(file));
        Ok(())
    }
}

impl Read for Archive {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        loop {
            let count = self.part.read(buffer)?;
            if count > 0 || buffer.is_empty() {
                self.left -= count as u64;
                return Ok(count);
            }
            if self.left > 0 {
                return Err(io::Error::new(io::ErrorKind::UnexpectedEof, "a file of the backup has become shorter"));
            }
            if self.ends {
                return Ok(0);
            }
            self.open_next()?;
        }
    }
}

/// The files of a backup with their names in the archive and their sizes: the manifest, then the others by name.
pub(super) fn files(dir: &Path) -> io::Result<Vec<(PathBuf, String, u64)>> {
    let mut files = Vec::new();
    for (folder, before) in [(dir.to_owned(), ""), (dir.join(ENGINE), "db/")] {
        for entry in fs::read_dir(folder)? {
            let entry = entry?;
            let metadata = entry.metadata()?;
            let name = entry.file_name().into_string().unwrap_or_default();
            if metadata.is_file() && (!before.is_empty() || name != VERDICT) {
                files.push((entry.path(), format!("{before}{name}"), metadata.len()));
            }
        }
    }
    files.sort_by(|(_, a, _), (_, b, _)| (a != MANIFEST, a).cmp(&(b != MANIFEST, b)));
    Ok(files)
}

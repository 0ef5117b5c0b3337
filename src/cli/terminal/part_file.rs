//! A file that gets its name when it is whole. Until then it has the ending `.part`.

use std::ffi::OsStr;
use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, BufWriter, Stdout, Write};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};

use flate2::Compression;
use flate2::write::GzEncoder;
use rustix::fs::OFlags;
use rustix::process::geteuid;

use crate::prelude::*;

/// Level of compression by Zstandard.
const LEVEL: i32 = 3;
/// Bytes that are written at once.
const BUFFER: usize = 256 << 10;

/// A file that is being written. Removed on drop, unless it got its name.
#[derive(Debug)]
pub(crate) struct Part {
    path: PathBuf,
    part: PathBuf,
    file: File,
}

impl Part {
    /// Refuses a name that exists already, or whose directory does not exist.
    pub(crate) fn must_be_free(path: &Path) -> Result<()> {
        if path.symlink_metadata().is_ok() {
            return Err(Error::Setup(format!("{} exists already; it is not overwritten", path.display())));
        }
        let folder = Self::folder(path);
        match folder.is_dir() {
            true => Ok(()),
            false => Err(Error::Setup(format!("there is no directory {}", folder.display()))),
        }
    }

    /// The directory of a file.
    pub(crate) fn folder(path: &Path) -> &Path {
        path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."))
    }

    /// The name of a file until it is whole.
    pub(crate) fn name_of(path: &Path) -> PathBuf {
        let mut name = path.as_os_str().to_owned();
        name.push(".part");
        name.into()
    }

    /// Begins the file, in the place of one that a killed command left.
    pub(crate) fn begin(path: &Path) -> Result<Self> {
        let part = Self::name_of(path);
        clear(&part)?;
        let file = private_files::make_file(&part).map_err(|e| unwritten(&part, &e))?;
        let part = Self { path: path.to_owned(), part, file };
        // Until the file is closed, another command that looks at it lets it be.
        part.file.try_lock().map_err(|e| unwritten(&part.part, &e.into()))?;
        Ok(part)
    }

    /// Makes the content durable, and gives the file its name.
    pub(crate) fn finish(self) -> Result<()> {
        Self::must_be_free(&self.path)?;
        let put = self.file.sync_all().and_then(|()| fs::rename(&self.part, &self.path));
        let put = put.and_then(|()| private_files::flush_names(Self::folder(&self.path)));
        put.map_err(|e| unwritten(&self.path, &e))
    }
}

impl Write for Part {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.file.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

impl Drop for Part {
    fn drop(&mut self) {
        // Without its end it is of no use. A finished one has another name by now.
        let _ = fs::remove_file(&self.part);
    }
}

/// An output: the standard output for the name `-`, or a file, which is compressed if the ending of its name says so.
pub(crate) enum Packed {
    Stdout(BufWriter<Stdout>),
    Plain(BufWriter<Part>),
    Gzip(GzEncoder<BufWriter<Part>>),
    Zstd(zstd::Encoder<'static, BufWriter<Part>>),
}

impl Packed {
    pub(crate) fn begin(path: &Path) -> Result<Self> {
        if path == Path::new("-") {
            return Ok(Self::Stdout(BufWriter::with_capacity(BUFFER, io::stdout())));
        }
        let part = BufWriter::with_capacity(BUFFER, Part::begin(path)?);
        Ok(match ending(path).as_deref() {
            Some("gz") => Self::Gzip(GzEncoder::new(part, Compression::default())),
            Some("zst") => Self::Zstd(zstd::Encoder::new(part, LEVEL).map_err(|e| unwritten(path, &e))?),
            _ => Self::Plain(part),
        })
    }

    /// Writes out what is still in memory. The file, if it is one, has no name yet.
    pub(crate) fn end(self) -> io::Result<Option<Part>> {
        let buffer = match self {
            Self::Stdout(mut out) => return out.flush().map(|()| None),
            Self::Plain(out) => out,
            Self::Gzip(out) => out.finish()?,
            Self::Zstd(out) => out.finish()?,
        };
        buffer.into_inner().map(Some).map_err(io::IntoInnerError::into_error)
    }

    fn writer(&mut self) -> &mut dyn Write {
        match self {
            Self::Stdout(out) => out,
            Self::Plain(out) => out,
            Self::Gzip(out) => out,
            Self::Zstd(out) => out,
        }
    }
}

impl Write for Packed {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.writer().write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.writer().flush()
    }
}

/// The ending of a name, in small letters.
pub(crate) fn ending(path: &Path) -> Option<String> {
    path.extension().and_then(OsStr::to_str).map(str::to_ascii_lowercase)
}

/// The error for a file that cannot be written.
pub(crate) fn unwritten(path: &Path, error: &io::Error) -> Error {
    Error::Setup(format!("cannot write {}: {error}", path.display()))
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
        return Err(refused("is no unfinished file of this user; remove it, or choose another name"));
    }
    let flags = (OFlags::NOFOLLOW | OFlags::NONBLOCK).bits().cast_signed();
    let file = OpenOptions::new().read(true).custom_flags(flags).open(part).map_err(failed)?;
    match file.try_lock() {
        Ok(()) => fs::remove_file(part).map_err(failed),
        Err(TryLockError::WouldBlock) => Err(refused("is being written by another command")),
        Err(TryLockError::Error(e)) => Err(failed(e)),
    }
}

//! The input: a file or the standard input, plain or compressed.

use std::fs::File;
use std::io::{self, Cursor, Read};
use std::sync::atomic::{AtomicU64, Ordering};

use flate2::read::MultiGzDecoder;

use crate::prelude::*;

/// An open input, not read yet.
pub(in crate::cli) struct Source {
    /// The name that the caller gave.
    pub(in crate::cli) name: String,
    /// Bytes on disk; `None` if unknown.
    pub(in crate::cli) length: Option<u64>,
    /// Bytes read so far.
    pub(in crate::cli) read: Arc<AtomicU64>,
    input: Box<dyn Read + Send>,
}

impl Source {
    /// Opens a file, or the standard input for `-`.
    pub(in crate::cli) fn open(path: &Path) -> Result<Self> {
        if path.as_os_str() == "-" {
            return Ok(Self::of(path, None, io::stdin()));
        }
        let open = || -> io::Result<Self> {
            let file = File::open(path)?;
            let meta = file.metadata()?;
            if meta.is_dir() {
                return Err(io::ErrorKind::IsADirectory.into());
            }
            Ok(Self::of(path, meta.is_file().then_some(meta.len()), file))
        };
        open().context(format_args!("cannot read {}", shown(path)))
    }

    /// An input with its length, if that is known.
    pub(in crate::cli) fn of(path: &Path, length: Option<u64>, input: impl Read + Send + 'static) -> Self {
        Self { name: shown(path), length, read: Arc::default(), input: Box::new(input) }
    }

    /// The bytes, unpacked if they begin like gzip or Zstandard. Consecutive members or frames are one stream. A
    /// truncated one is an error of kind `UnexpectedEof`.
    pub(in crate::cli) fn unpack(self) -> io::Result<Box<dyn Read + Send>> {
        let mut input = Counted { input: self.input, read: self.read };
        let mut head = Vec::with_capacity(4);
        input.by_ref().take(4).read_to_end(&mut head)?;
        let whole = Cursor::new(head.clone()).chain(input);
        Ok(match head[..] {
            [0x1F, 0x8B, ..] => Box::new(MultiGzDecoder::new(whole)),
            // The second is a skippable frame, which some packers write first.
            [0x28, 0xB5, 0x2F, 0xFD] | [0x50..=0x5F, 0x2A, 0x4D, 0x18] => Box::new(zstd::Decoder::new(whole)?),
            _ => Box::new(whole),
        })
    }
}

/// A path in messages.
pub(in crate::cli) fn shown(path: &Path) -> String {
    path.to_string_lossy().chars().map(|c| if c.is_control() { '?' } else { c }).collect()
}

/// Counts the bytes read.
struct Counted {
    input: Box<dyn Read + Send>,
    read: Arc<AtomicU64>,
}

impl Read for Counted {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        let read = self.input.read(out)?;
        self.read.fetch_add(read as u64, Ordering::Relaxed);
        Ok(read)
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;

    fn gzip(bytes: &[u8]) -> Vec<u8> {
        let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        encoder.write_all(bytes).expect("write");
        encoder.finish().expect("finish")
    }

    fn zstd(bytes: &[u8]) -> Vec<u8> {
        zstd::encode_all(bytes, 1).expect("encode")
    }

    fn unpack(bytes: &[u8]) -> (io::Result<usize>, Vec<u8>, u64) {
        let source = Source {
            name: "test".to_owned(),
            length: None,
            read: Arc::default(),
            input: Box::new(Cursor::new(bytes.to_vec())),
        };
        let read = Arc::clone(&source.read);
        let mut out = Vec::new();
        let result = source.unpack().and_then(|mut input| input.read_to_end(&mut out));
        (result, out, read.load(Ordering::Relaxed))
    }

    #[test]
    fn packed_and_plain_are_told_apart_and_parts_joined() {
        let skippable = [0x50, 0x2A, 0x4D, 0x18, 1, 0, 0, 0, 9];
        for packed in [
            b"abcdef".to_vec(),
            gzip(b"abcdef"),
            [gzip(b"abc"), gzip(b"def")].concat(),
            zstd(b"abcdef"),
            [zstd(b"abc"), zstd(b""), zstd(b"def")].concat(),
            [skippable.to_vec(), zstd(b"abcdef")].concat(),
        ] {
            let (result, out, read) = unpack(&packed);
            assert_eq!(result.expect("unpacks"), 6);
            assert_eq!((out.as_slice(), read), (&b"abcdef"[..], packed.len() as u64));
        }
        for short in [&b""[..], b"a", b"ab\n"] {
            assert_eq!(unpack(short).1, short);
        }
    }
}

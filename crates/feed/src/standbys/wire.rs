//! The words between a server and its standby.
//!
//! The stream of the log is a row of frames: the kind in one byte, the length in four, lowest first, then the content.

use std::io::{self, Read};

use serde::{Deserialize, Serialize};

use model::error::{Error, Result};
use model::store::LogFacts;
use store::Store;

/// Most bytes of a frame: a batch of changes is smaller.
const MOST: usize = 1 << 30;
const STATE: u8 = b'S';
const HEAD: u8 = b'H';
const BATCH: u8 = b'B';
const END: u8 = b'E';

/// What a standby compares with its own directory.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LogState {
    /// The id of the log, 16 hexadecimal digits.
    pub log: String,
    /// The format of the data directory.
    pub format: u32,
    /// The version of the server.
    pub release: String,
    /// The tables with their numbers in the log.
    pub tables: Vec<(String, u32)>,
    /// The number of the last row that is on the device.
    pub flushed: u64,
}

impl LogState {
    /// That of a store, now.
    pub fn of(store: &Store) -> Result<Self> {
        let LogFacts { id, format, tables, flushed } = store.log_facts()?;
        let release = env!("CARGO_PKG_VERSION").to_owned();
        Ok(Self { log: format!("{id:016x}"), format, release, tables, flushed })
    }

    /// The id as a number; `None` if it is none.
    pub fn id(&self) -> Option<u64> {
        u64::from_str_radix(&self.log, 16).ok().filter(|log| format!("{log:016x}") == self.log)
    }
}

/// A copy that a standby may read.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CopyPlan {
    /// Its name.
    pub id: String,
    /// The log from which it goes on.
    pub state: LogState,
    /// Its files.
    pub files: Vec<CopyFile>,
}

/// A file of a copy.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CopyFile {
    /// Its name.
    pub name: String,
    /// Its length.
    pub bytes: u64,
}

/// How much there is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Head {
    /// The number of the last row that is on the device of the server.
    pub flushed: u64,
    /// About how many bytes of log come behind this place.
    pub bytes: u64,
}

/// Why the stream of the log ends.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct End {
    /// The code of the problem.
    pub code: String,
    /// The reason for people.
    pub detail: String,
}

/// A part of the stream of the log.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Frame {
    /// The first one: a [`LogState`] as JSON.
    State(Vec<u8>),
    /// A [`Head`] as JSON, at least every few seconds.
    Head(Vec<u8>),
    /// A batch of rows with its checksum.
    Batch(Vec<u8>),
    /// The last one, if the server ends the stream: an [`End`] as JSON.
    End(Vec<u8>),
}

impl Frame {
    /// The last frame of a stream that cannot go on.
    pub fn end(end: &End) -> Result<Vec<u8>> {
        let mut frame = Vec::new();
        Self::End(serde_json::to_vec(end).unwrap_or_default()).write(&mut frame)?;
        Ok(frame)
    }

    pub(super) fn state(state: &LogState) -> Self {
        Self::State(serde_json::to_vec(state).unwrap_or_default())
    }

    pub(super) fn head(head: &Head) -> Self {
        Self::Head(serde_json::to_vec(head).unwrap_or_default())
    }

    pub(super) fn write(&self, to: &mut Vec<u8>) -> Result<()> {
        let (kind, content) = match self {
            Self::State(content) => (STATE, content),
            Self::Head(content) => (HEAD, content),
            Self::Batch(content) => (BATCH, content),
            Self::End(content) => (END, content),
        };
        let length = u32::try_from(content.len()).map_err(|_| Error::Storage("a batch of 4 GiB".to_owned()))?;
        to.push(kind);
        to.extend_from_slice(&length.to_le_bytes());
        to.extend_from_slice(content);
        Ok(())
    }

    /// The next frame of a stream; `None` at its end.
    pub fn read(from: &mut impl Read) -> io::Result<Option<Self>> {
        let mut kind = [0];
        loop {
            match from.read(&mut kind) {
                Ok(0) => return Ok(None),
                Ok(_) => break,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        let mut length = [0; 4];
        from.read_exact(&mut length)?;
        let length = u32::from_le_bytes(length) as usize;
        let wrong = || io::Error::new(io::ErrorKind::InvalidData, "this is no stream of a log");
        if length > MOST {
            return Err(wrong());
        }
        let mut content = Vec::new();
        // Grows with what comes, whatever the length says.
        if from.by_ref().take(length as u64).read_to_end(&mut content)? < length {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        match kind[0] {
            STATE => Ok(Some(Self::State(content))),
            HEAD => Ok(Some(Self::Head(content))),
            BATCH => Ok(Some(Self::Batch(content))),
            END => Ok(Some(Self::End(content))),
            _ => Err(wrong()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frames_are_read_as_they_are_written() {
        let frames =
            [Frame::head(&Head { flushed: 7, bytes: 9 }), Frame::Batch(vec![1; 70_000]), Frame::Batch(Vec::new())];
        let end = End { code: "log_gone".to_owned(), detail: "the log is gone".to_owned() };
        let mut stream = Vec::new();
        frames.iter().for_each(|frame| frame.write(&mut stream).expect("writes"));
        let mut rest = &stream[..];
        for frame in &frames {
            assert_eq!(Frame::read(&mut rest).expect("reads").as_ref(), Some(frame));
        }
        assert_eq!(Frame::read(&mut rest).expect("ends"), None);
        let last = Frame::read(&mut &*Frame::end(&end).expect("writes")).expect("reads");
        assert_eq!(last, Some(Frame::End(serde_json::to_vec(&end).expect("JSON"))));
        assert!(Frame::read(&mut &stream[..stream.len() - 3]).is_ok());
        assert!(Frame::read(&mut &stream[..20]).is_err() && Frame::read(&mut &b"Xabcd"[..]).is_err());
    }
}

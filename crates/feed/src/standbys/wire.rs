//! The words between a server and its standby.
//!
//! The stream of the log is a row of frames: the kind in one byte, the length in four, lowest first, then the content.

use std::borrow::Cow;
use std::io::{self, BufRead, Read};

use serde::{Deserialize, Serialize};

use model::error::{Error, Result};
use model::store::LogFacts;

/// Most bytes of a frame: a batch of changes is smaller.
const MOST: usize = 1 << 30;
const WORD: u8 = b'W';
const BATCH: u8 = b'B';

/// A copy that a standby may read.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CopyPlan {
    /// Its name.
    pub id: String,
    /// The log from which it goes on.
    pub state: LogFacts,
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

/// A message of a server beside the rows. JSON in the stream.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Word {
    /// The first one.
    State(LogFacts),
    /// At least every few seconds.
    Head(Head),
    /// The last one, if the server ends the stream.
    End(End),
}

/// A part of the stream of the log.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Frame {
    /// A word of the server.
    Word(Word),
    /// A batch of rows with its checksum.
    Batch(Vec<u8>),
}

impl Frame {
    /// The last frame of a stream that cannot go on.
    pub fn end(end: &End) -> Result<Vec<u8>> {
        let mut frame = Vec::new();
        Self::Word(Word::End(end.clone())).write(&mut frame)?;
        Ok(frame)
    }

    /// Writes the frame behind others.
    pub(super) fn write(&self, to: &mut Vec<u8>) -> Result<()> {
        let (kind, content) = match self {
            Self::Word(word) => (WORD, Cow::Owned(serde_json::to_vec(word).unwrap_or_default())),
            Self::Batch(content) => (BATCH, Cow::Borrowed(&content[..])),
        };
        let length = u32::try_from(content.len()).map_err(|_| Error::Storage("a batch of 4 GiB".to_owned()))?;
        to.push(kind);
        to.extend_from_slice(&length.to_le_bytes());
        to.extend_from_slice(&content);
        Ok(())
    }

    /// The next frame of a stream; `None` at its end.
    pub fn read(from: &mut impl BufRead) -> io::Result<Option<Self>> {
        let is_over = loop {
            match from.fill_buf() {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                next => break next?.is_empty(),
            }
        };
        if is_over {
            return Ok(None);
        }
        let mut head = [0; 5];
        from.read_exact(&mut head)?;
        let [kind, length @ ..] = head;
        let length = u32::from_le_bytes(length) as usize;
        if length > MOST {
            return Err(io::Error::new(io::ErrorKind::InvalidData, "this is no stream of a log"));
        }
        let mut content = Vec::new();
        // Grows with what comes, whatever the length says.
        if from.by_ref().take(length as u64).read_to_end(&mut content)? < length {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        Ok(Some(if kind == BATCH { Self::Batch(content) } else { Self::Word(serde_json::from_slice(&content)?) }))
    }
}

//! The words between a server and its standby.
//!
//! The stream of the log is a row of frames: each is a line of JSON, behind which a batch has its bytes.

use std::io::{self, BufRead, Read};

use serde::{Deserialize, Serialize};

use kv::LogFacts;
use model::error::{Error, Result};

/// Most bytes of a batch: one of changes is smaller.
const MOST: usize = 1 << 30;
/// Most bytes of a line: the names of all tables are shorter.
const LONGEST_LINE: u64 = 1 << 20;

/// The name of the first file in the archive of a copy: its [`CopyPlan`].
pub const PLAN: &str = "PLAN";

/// The part of a copy that a standby has already: table files, which never change.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CopyRequest {
    /// The log from which that copy goes on.
    pub log: Option<u64>,
    /// Its files. They are not sent again if the log is the same still.
    pub files: Vec<CopyFile>,
}

/// A copy for a standby.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CopyPlan {
    /// The log from which it goes on.
    pub state: LogFacts,
    /// All its files, also those that are not sent.
    pub files: Vec<CopyFile>,
}

/// A file of a copy.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
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

/// The reason that the stream of the log ends.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct End {
    /// The code of the problem.
    pub code: String,
    /// The reason for people.
    pub detail: String,
}

/// A part of the stream of the log.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Frame {
    /// The first one.
    State(LogFacts),
    /// At least every few seconds.
    Head(Head),
    /// A batch of rows with its checksum, of so many bytes, which come behind the line.
    Batch(usize),
    /// The last one, if the server ends the stream.
    End(End),
}

impl Frame {
    /// Writes the frame behind others, with the bytes of a batch.
    pub fn write(&self, batch: &[u8], to: &mut Vec<u8>) -> Result<()> {
        serde_json::to_writer(&mut *to, self).map_err(|e| Error::Storage(format!("a frame of the log: {e}")))?;
        to.push(b'\n');
        to.extend_from_slice(batch);
        Ok(())
    }

    /// The next frame of a stream, with the bytes of a batch; `None` at its end.
    pub fn read(from: &mut impl BufRead) -> io::Result<Option<(Self, Vec<u8>)>> {
        let mut line = Vec::new();
        if from.by_ref().take(LONGEST_LINE).read_until(b'\n', &mut line)? == 0 {
            return Ok(None);
        }
        let (frame, mut batch) = (serde_json::from_slice(&line)?, Vec::new());
        if let Self::Batch(length) = frame {
            // Grows with what comes, whatever the length says.
            if length > MOST || from.by_ref().take(length as u64).read_to_end(&mut batch)? < length {
                return Err(io::ErrorKind::UnexpectedEof.into());
            }
        }
        Ok(Some((frame, batch)))
    }
}

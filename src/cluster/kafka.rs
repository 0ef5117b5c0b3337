//! The command log as a topic of an engine that speaks the Kafka protocol. No other module knows the client library.
//!
//! The topic has one partition, so that it has one order. A record counts as appended once all replicas in sync have it
//! (`acks=all`), and the topic asks for at least two of them: `topic.rs` has the settings that this takes.

mod append;
mod connection;
mod read;
mod rules;
#[cfg(test)]
mod tests;
mod topic;
mod watch;

use std::fmt;
use std::ops::Range;
use std::sync::OnceLock;
use std::time::Duration;

pub(crate) use self::connection::{ClientCert, Connection, Mechanism, Sasl, Tls};
use self::topic::check_topic;
pub(crate) use self::topic::create_topic;
use self::{append::Appender, read::Reader};
use super::log::{Log, NotAppended, NotRead, Record};
use crate::error::Result;

/// The largest record, bytes.
const MAX_RECORD: usize = 32 << 20;
/// The largest message: a record and its frame.
const MAX_MESSAGE: usize = MAX_RECORD + (64 << 10);
/// Bytes of a record that does not come at once over a slow connection.
const LARGE: usize = 1 << 20;
/// The time that the largest record takes over 1 MB/s.
const FOR_LARGE: Duration = Duration::from_secs(34);
/// The only partition of the topic.
const PARTITION: i32 = 0;

/// A topic as the command log. It has some threads of the client library: two, and two for each broker; once there was a
/// large record, three, and three for each broker.
pub(crate) struct Kafka {
    connection: Connection,
    /// Whether one broker is enough.
    single: bool,
    appender: Appender,
    /// For large records, which take longer than a leader that answers may be silent.
    patient: OnceLock<Appender>,
    reader: Reader,
}

impl Kafka {
    /// Makes the clients, and waits for no broker. Fails if a setting or a file of the connection is wrong.
    pub(crate) fn open(connection: Connection, single: bool) -> Result<Self> {
        let (appender, reader) = (Appender::new(&connection, Duration::ZERO)?, Reader::new(&connection)?);
        Ok(Self { connection, single, appender, patient: OnceLock::new(), reader })
    }

    fn patient(&self) -> Result<&Appender> {
        if let Some(appender) = self.patient.get() {
            return Ok(appender);
        }
        let appender = Appender::new(&self.connection, FOR_LARGE)?;
        Ok(self.patient.get_or_init(|| appender))
    }
}

impl fmt::Debug for Kafka {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Kafka").field("topic", &self.connection.topic).finish_non_exhaustive()
    }
}

impl Log for Kafka {
    fn append(&self, bytes: &[u8], timeout: Duration) -> Result<u64, NotAppended> {
        if bytes.len() < LARGE {
            return self.appender.append(bytes, timeout);
        }
        let patient = self.patient().map_err(|error| NotAppended::Refused(error.to_string()))?;
        patient.append(bytes, timeout)
    }

    fn read(&self, from: u64, timeout: Duration) -> Result<Vec<Record>, NotRead> {
        self.reader.read(from, timeout)
    }

    fn bounds(&self, timeout: Duration) -> Result<Range<u64>, NotRead> {
        self.reader.bounds(timeout)
    }

    fn dangers(&self) -> Result<Vec<String>> {
        check_topic(&self.connection, self.single)
    }
}

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
use std::sync::mpsc::{Sender, channel};
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use parking_lot::Mutex;

use self::topic::check_topic;
pub use self::topic::make_topic;
use self::{append::Appender, read::Reader};
use super::log::{Log, NotAppended, NotRead, Record};
use super::log_settings::{self, look};
use config::Cluster;
use model::error::Result;
use model::threads;

/// The largest record, bytes.
const MAX_RECORD: usize = 32 << 20;
/// The largest message: a record and its frame.
const MAX_MESSAGE: usize = MAX_RECORD + (64 << 10);
/// Bytes of a record that does not come at once over a slow connection.
const LARGE: usize = 1 << 20;
/// The time that the largest record takes over 1 MB/s.
const FOR_LARGE: Duration = Duration::from_secs(34);
/// A silent log is asked for a sign of life this often, and has so long to give one.
const SILENCE: Duration = Duration::from_secs(3);
const SIGN: Duration = Duration::from_secs(2);
/// Records that are known to be there and do not come within this time are asked for by the patient reader.
const STUCK: Duration = Duration::from_secs(5);
/// The only partition of the topic.
const PARTITION: i32 = 0;

/// The command log of the settings. Fails if its topic cannot hold the promise that nothing acknowledged is lost, or
/// does not exist, and warns of lesser dangers, now and as long as the log is in use.
pub fn connect(cluster: &Cluster) -> Result<Arc<dyn Log>> {
    let mut kafka = Kafka::open(cluster.clone())?;
    for danger in check_topic(cluster)? {
        tracing::warn!(topic = cluster.topic, "{danger}");
    }
    let (looks, end) = channel();
    kafka._looks = Some(looks);
    let cluster = cluster.clone();
    // Nobody waits for its end: brokers may take long to answer.
    threads::start("log settings", move || {
        look(|| check_topic(&cluster), log_settings::EVERY, &end, log_settings::tell)
    })?;
    Ok(Arc::new(kafka))
}

/// A topic as the command log. It has some threads of the client library: two, and two for each broker; once there was a
/// large record, four, and four for each broker.
pub(crate) struct Kafka {
    cluster: Cluster,
    quick: Clients,
    /// For a large record over a slow connection, which takes longer than a leader that answers may be silent.
    patient: OnceLock<Clients>,
    progress: Mutex<Progress>,
    /// Its end is that of the thread that looks at the settings of the topic.
    _looks: Option<Sender<()>>,
}

/// The two sides of the log, which let the leader be silent for the same time.
struct Clients {
    appender: Appender,
    /// The patient one also asks whether the log is there while a large record keeps the connection of the other one busy.
    reader: Reader,
}

impl Clients {
    /// `longer` is the time that a record may take to the leader or from it, beyond the usual.
    fn new(cluster: &Cluster, longer: Duration) -> Result<Self> {
        Ok(Self { appender: Appender::new(cluster, longer)?, reader: Reader::new(cluster, longer)? })
    }
}

/// The progress of reading.
#[derive(Debug, Default)]
struct Progress {
    /// The last sign of life of the log.
    heard: Option<Instant>,
    /// Since when it is known that the log has the next record, which does not come.
    behind: Option<Instant>,
    /// Whether the patient reader asks for that record.
    is_slow: bool,
}

impl Kafka {
    /// Makes the clients, and waits for no broker. Fails if a setting or a file of the connection is wrong.
    pub(crate) fn open(cluster: Cluster) -> Result<Self> {
        let quick = Clients::new(&cluster, Duration::ZERO)?;
        Ok(Self { cluster, quick, patient: OnceLock::new(), progress: Mutex::default(), _looks: None })
    }

    fn patient(&self) -> Result<&Clients> {
        if let Some(there) = self.patient.get() {
            return Ok(there);
        }
        let new = Clients::new(&self.cluster, FOR_LARGE)?;
        Ok(self.patient.get_or_init(|| new))
    }

    fn patient_reader(&self) -> Result<&Reader, NotRead> {
        let patient = self.patient().map_err(|error| NotRead::Unreachable(error.to_string()))?;
        Ok(&patient.reader)
    }

    /// Fails if a log that has been silent for a while does not answer. Decides who reads on.
    fn live(&self, progress: &mut Progress, from: u64) -> Result<(), NotRead> {
        if progress.heard.is_some_and(|heard| heard.elapsed() < SILENCE) {
            return Ok(());
        }
        // Of the two, one may be busy with a record.
        let end = self.quick.reader.bounds(SIGN).or_else(|_| self.patient_reader()?.bounds(SIGN))?.end;
        progress.heard = Some(Instant::now());
        if end <= from {
            progress.behind = None;
            return Ok(());
        }
        let now = Instant::now();
        let since = *progress.behind.get_or_insert(now);
        if since.elapsed() < if progress.is_slow { STUCK + FOR_LARGE } else { STUCK } {
            return Ok(());
        }
        progress.behind = Some(now);
        if progress.is_slow {
            self.patient_reader()?.rest();
        } else {
            tracing::warn!(from, end, "the command log has records that do not come; they are asked for anew");
            self.quick.reader.rest();
            progress.is_slow = true;
        }
        Ok(())
    }
}

impl fmt::Debug for Kafka {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Kafka").field("topic", &self.cluster.topic).finish_non_exhaustive()
    }
}

impl Log for Kafka {
    fn append(&self, bytes: &[u8], timeout: Duration) -> Result<u64, NotAppended> {
        let clients = match bytes.len() < LARGE {
            true => &self.quick,
            false => self.patient().map_err(|error| NotAppended::Refused(error.to_string()))?,
        };
        clients.appender.append(bytes, timeout)
    }

    fn read(&self, from: u64, timeout: Duration) -> Result<Vec<Record>, NotRead> {
        let mut progress = self.progress.lock();
        let reader = if progress.is_slow { self.patient_reader()? } else { &self.quick.reader };
        let records = reader.read(from, timeout)?;
        if records.is_empty() {
            self.live(&mut progress, from)?;
            return Ok(records);
        }
        if progress.is_slow {
            reader.rest();
        }
        *progress = Progress { heard: Some(Instant::now()), ..Progress::default() };
        Ok(records)
    }

    fn bounds(&self, timeout: Duration) -> Result<Range<u64>, NotRead> {
        self.quick.reader.bounds(timeout)
    }
}

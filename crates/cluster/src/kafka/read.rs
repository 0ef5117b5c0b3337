//! Reads of the log from a place on, without a consumer group.

use std::ops::Range;

use rdkafka::consumer::{BaseConsumer, Consumer};
use rdkafka::error::{KafkaError, RDKafkaErrorCode as Code};
use rdkafka::message::{BorrowedMessage, Message, Timestamp};
use rdkafka::topic_partition_list::{Offset, TopicPartitionList};

use super::connection::client;
use super::topic::keeps_all_but_the_oldest;
use super::watch::Watch;
use super::{MAX_MESSAGE, PARTITION};
use crate::log::{NotRead, Record};
use crate::prelude::*;

/// Records of one read.
const RECORDS: usize = 500;
/// Bytes of records after which a read takes no further one.
const BYTES: usize = 8 << 20;
/// The cause of a fault of the log came within this time before it.
const BEFORE: Duration = Duration::from_secs(3);
/// After an error that lasts.
const PAUSE: Duration = Duration::from_millis(200);
/// Longest wait for the bounds that an error names.
const SIGN: Duration = Duration::from_secs(2);
/// Most offsets in a row that have no message. Each transaction of another program leaves one.
const EMPTY: u64 = 1000;
/// For so long it is known that the log loses only its oldest records.
const KNOWN: Duration = Duration::from_secs(60);

/// The reader's side of the log.
pub(super) struct Reader {
    consumer: BaseConsumer<Watch>,
    cluster: Cluster,
    place: Mutex<ConsumerPosition>,
}

/// Where the consumer is.
#[derive(Debug, Default)]
struct ConsumerPosition {
    /// The offset of the next record, unless the consumer is to be placed anew. It is placed anew as rarely as possible:
    /// only while it is in place it knows the epoch of the last record, by which it finds out that the log was cut.
    next: Option<u64>,
    /// Why there is nothing at `next`, and will not be.
    gone: Option<String>,
    /// When the log was last known to lose only its oldest records.
    known: Option<Instant>,
}

impl ConsumerPosition {
    /// Whether no record can be missing between others.
    fn loses_nothing(&mut self, cluster: &Cluster) -> Result<bool, NotRead> {
        if self.known.is_some_and(|known| known.elapsed() < KNOWN) {
            return Ok(true);
        }
        let keeps = keeps_all_but_the_oldest(cluster).map_err(|error| {
            // The message comes once more.
            self.next = None;
            NotRead::Unreachable(error.to_string())
        })?;
        self.known = keeps.then(Instant::now);
        Ok(keeps)
    }
}

impl Reader {
    /// `longer` is the time that a record may take from the leader.
    pub(super) fn new(cluster: &Cluster, longer: Duration) -> Result<Self> {
        // As the library asks: the largest message, and 512 bytes for the rest of an answer.
        let [most, answer] = [4096, 8192].map(|rest| (MAX_MESSAGE + rest).to_string());
        let socket = (6000 + longer.as_millis()).to_string();
        let settings = [
            // The library asks for a name, although a reader that assigns itself is in no group.
            ("group.id", "tideline"),
            ("enable.auto.commit", "false"),
            ("enable.auto.offset.store", "false"),
            // A place that the log does not have must end in an error, never in a jump to another place.
            ("auto.offset.reset", "error"),
            // There are no transactions on the topic, and with "committed" one that somebody left open would stop all
            // readers. A record is visible once all replicas in sync have it, in either mode.
            ("isolation.level", "read_uncommitted"),
            ("check.crcs", "true"),
            // Prefetch, bounded. One record may be larger.
            ("queued.max.messages.kbytes", "16384"),
            ("queued.min.messages", "10000"),
            ("fetch.message.max.bytes", "4194304"),
            ("fetch.max.bytes", &most),
            ("receive.message.max.bytes", &answer),
            // The queue is full often while a node catches up; the default of a second would be all of its time.
            ("fetch.queue.backoff.ms", "10"),
            ("fetch.error.backoff.ms", "100"),
            ("retry.backoff.ms", "100"),
            // A leader that hangs is given up after this time.
            ("socket.timeout.ms", &socket),
        ];
        let consumer = client(cluster, &settings, Watch::new("reader"))?;
        Ok(Self { consumer, cluster: cluster.clone(), place: Mutex::default() })
    }

    /// [`crate::log::Log::read`]. An offset without a message is that of a mark that a transaction has left: for
    /// all nodes it is an entry without bytes, if the log loses only its oldest records, so that none can be missing there.
    pub(super) fn read(&self, from: u64, timeout: Duration) -> Result<Vec<Record>, NotRead> {
        let deadline = Instant::now() + timeout;
        let mut place = self.place.lock();
        if place.next != Some(from) {
            self.assign(from)?;
            *place = ConsumerPosition { next: Some(from), gone: None, ..*place };
        }
        let (mut records, mut next, mut size) = (Vec::new(), from, 0);
        while place.gone.is_none() && records.len() < RECORDS && size < BYTES {
            let wait =
                if records.is_empty() { deadline.saturating_duration_since(Instant::now()) } else { Duration::ZERO };
            match self.consumer.poll(wait) {
                Some(Ok(message)) => match record(&message, next) {
                    Ok(record) if record.offset > next && !place.loses_nothing(&self.cluster)? => {
                        place.gone = Some(hole(next, record.offset));
                    }
                    Ok(record) => {
                        let empty = |offset| Record { offset, time: record.time, bytes: Vec::new() };
                        records.extend((next..record.offset).map(empty));
                        size += record.bytes.len();
                        next = record.offset + 1;
                        records.push(record);
                    }
                    Err(gone) => place.gone = Some(gone),
                },
                Some(Err(error)) if is_reset(&error) => place.gone = Some(self.reset(next)),
                Some(Err(error)) if is_passing(&error) => {}
                Some(Err(error)) if records.is_empty() => {
                    // So that a caller that reads again at once does not spin.
                    thread::sleep(deadline.saturating_duration_since(Instant::now()).min(PAUSE));
                    return Err(NotRead::Unreachable(told(&error)));
                }
                None if records.is_empty() && Instant::now() < deadline => {}
                Some(Err(_)) | None => break,
            }
        }
        if !records.is_empty() {
            // Records before a fault are good.
            place.next = Some(next);
            self.consumer.client().context().answered();
        } else if let Some(gone) = &place.gone {
            return Err(NotRead::Gone(gone.clone()));
        }
        Ok(records)
    }

    /// Asks for no more records, so that another client has the whole connection. The next read places it anew.
    pub(super) fn rest(&self) {
        // An error: there is nothing to give up.
        let _ = self.consumer.unassign();
        *self.place.lock() = ConsumerPosition::default();
    }

    /// [`crate::log::Log::bounds`].
    pub(super) fn bounds(&self, timeout: Duration) -> Result<Range<u64>, NotRead> {
        let asked = Instant::now();
        let (first, end) =
            self.consumer.fetch_watermarks(&self.cluster.topic, PARTITION, timeout).map_err(|error| {
                NotRead::Unreachable(format!("{}{}", told(&error), self.consumer.client().context().since(asked)))
            })?;
        match (u64::try_from(first), u64::try_from(end)) {
            (Ok(first), Ok(end)) if first <= end => {
                self.consumer.client().context().answered();
                Ok(first..end)
            }
            _ => Err(NotRead::Unreachable(format!("the log told {first} and {end} as its bounds"))),
        }
    }

    fn assign(&self, from: u64) -> Result<(), NotRead> {
        let wrong = |error: KafkaError| NotRead::Unreachable(format!("the log cannot be read from {from} on: {error}"));
        let offset = i64::try_from(from).map_err(|_| NotRead::Gone(format!("{from} is no offset of a log")))?;
        let mut list = TopicPartitionList::new();
        list.add_partition_offset(&self.cluster.topic, PARTITION, Offset::Offset(offset)).map_err(wrong)?;
        self.consumer.assign(&list).map_err(wrong)
    }

    /// Why the library says that the log does not have a place. There is no second question: a leader that does not yet
    /// know that it is deposed may answer so to a client that knows of no other one; but whoever asks until the place is
    /// there goes on in a log that was cut and grew again.
    fn reset(&self, next: u64) -> String {
        let reason = self.consumer.client().context().since(Instant::now() - BEFORE);
        match self.bounds(SIGN) {
            Ok(Range { start, end }) if next < start => {
                format!("the log begins at {start} and ends before {end}: it has no record {next} any more")
            }
            // It may end later by now, with other records than before.
            Ok(Range { start, end }) => {
                format!("the log begins at {start} and ends before {end}, and had no place {next}: it was cut{reason}")
            }
            Err(_) => format!("the log has no place {next}{reason}"),
        }
    }
}

/// Whether the library has stopped because the log does not have the place.
fn is_reset(error: &KafkaError) -> bool {
    matches!(error.rdkafka_error_code(), Some(Code::AutoOffsetReset | Code::OffsetOutOfRange | Code::LogTruncation))
}

/// An error for people.
fn told(error: &KafkaError) -> String {
    match error.rdkafka_error_code() {
        Some(Code::OperationTimedOut | Code::BrokerTransportFailure | Code::AllBrokersDown | Code::DestroyBroker) => {
            "no leader of the log answers".into()
        }
        Some(code) => format!("the log cannot be read: {code}"),
        None => format!("the log cannot be read: {error}"),
    }
}

/// Whether the library goes on by itself. Whether the log answers at all is asked at the end of a read.
fn is_passing(error: &KafkaError) -> bool {
    matches!(
        error.rdkafka_error_code(),
        Some(
            Code::BrokerTransportFailure
                | Code::AllBrokersDown
                | Code::Resolve
                | Code::DestroyBroker
                | Code::OperationTimedOut
                // Of the group, which is not used.
                | Code::GroupAuthorizationFailed
                | Code::CoordinatorNotAvailable
                | Code::CoordinatorLoadInProgress
                | Code::NotCoordinator
        )
    )
}

/// Why a place has no record, if this offset came instead.
fn hole(next: u64, offset: impl std::fmt::Display) -> String {
    format!("the log has a hole: {offset} came in place of {next}")
}

/// The record of a message that has to be at a place, or soon behind it, or why there is none.
fn record(message: &BorrowedMessage<'_>, next: u64) -> Result<Record, String> {
    let offset = message.offset();
    let place = u64::try_from(offset).ok().filter(|place| (next..=next.saturating_add(EMPTY)).contains(place));
    let place = place.ok_or_else(|| hole(next, offset))?;
    match message.timestamp() {
        Timestamp::LogAppendTime(time) if time >= 0 => Ok(Record {
            offset: place,
            time: time.unsigned_abs(),
            bytes: message.payload().unwrap_or_default().to_vec(),
        }),
        other => Err(format!(
            "record {offset} has {other:?}, not a time of the log: the topic needs message.timestamp.type=LogAppendTime"
        )),
    }
}

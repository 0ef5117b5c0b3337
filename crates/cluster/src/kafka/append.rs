//! Appends of records: one message in flight, of which the fate is known or said to be unknown.

use std::sync::mpsc::Receiver;

use rdkafka::error::{KafkaError, RDKafkaErrorCode as Code};
use rdkafka::producer::{BaseRecord, Producer, PurgeConfig, ThreadedProducer};

use super::connection::client;
use super::watch::{Report, Watch};
use super::{MAX_RECORD, PARTITION};
use crate::log::NotAppended;
use crate::prelude::*;

/// Between attempts of one append.
const PAUSE: Duration = Duration::from_millis(100);
/// `retry.backoff.ms`, of which the library takes 80 to 120 %.
const BACKOFF: Duration = Duration::from_millis(250);
/// An answer within this time belongs to the first transmission of a message: the library has sent no other one yet.
const FIRST: Duration = Duration::from_millis(150);

/// The writer's side of the log.
pub(super) struct Appender {
    producer: ThreadedProducer<Watch>,
    topic: String,
    /// Held by one append at a time.
    attempts: Mutex<Attempts>,
}

/// All attempts until now.
#[derive(Debug)]
struct Attempts {
    /// The number of the last one.
    last: usize,
    /// The bytes of the last append, if its fate is unknown, and the number of its first attempt.
    open: Option<(usize, Vec<u8>)>,
    /// The reports of the library, each with the number of its attempt.
    reports: Receiver<(usize, Report)>,
}

/// The result of an attempt.
type Outcome = Result<u64, Failure>;

/// An attempt without an offset.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Failure {
    why: String,
    /// Whether it may be in the log in spite of this.
    perhaps: bool,
    /// Whether a further attempt may have an offset.
    passes: bool,
}

impl Attempts {
    /// The report on the last attempt, or an acknowledgement of one since `first`, all of the same bytes: however late, it
    /// is one of the record. `None` if none comes in time.
    fn report(&self, first: usize, deadline: Instant) -> Option<Report> {
        loop {
            let (number, report) =
                self.reports.recv_timeout(deadline.saturating_duration_since(Instant::now())).ok()?;
            if number == self.last || number >= first && report.is_ok() {
                return Some(report);
            }
        }
    }
}

impl Appender {
    /// `longer` is the time that a record may take to the leader, and from there to its followers.
    pub(super) fn new(cluster: &Cluster, longer: Duration) -> Result<Self> {
        let [request, socket] = [5000, 6000].map(|millis| (millis + longer.as_millis()).to_string());
        let backoff = BACKOFF.as_millis().to_string();
        let settings = [
            ("acks", "all"),
            ("linger.ms", "0"),
            // The writer sends a record again after an unknown outcome, and the nodes drop what they have applied. So
            // the idempotence of the library would save nothing; and it would add a request before the first message, a
            // new epoch after each message that was given up, and errors after which a producer is of no use.
            ("enable.idempotence", "false"),
            // An uncertain outcome ends the attempt, so that `Appender::append` knows of it. In spite of this the
            // library sends again after "not the leader", which a leader also answers that is deposed while it waits
            // for its followers: see `FIRST`.
            ("retries", "0"),
            ("retry.backoff.ms", &backoff),
            // The deadline of an append is its own.
            ("message.timeout.ms", "0"),
            // A leader that hangs is given up after this time, a follower that hangs delays no answer for longer.
            ("request.timeout.ms", &request),
            ("socket.timeout.ms", &socket),
            // A record is JSON with texts. A batch of one message that does not shrink is sent as it is.
            ("compression.type", "lz4"),
            ("queue.buffering.max.messages", "16"),
            ("queue.buffering.max.kbytes", "131072"),
        ];
        let (watch, reports) = Watch::with_reports("writer");
        let producer = client(cluster, &settings, watch)?;
        let attempts = Mutex::new(Attempts { last: 0, open: None, reports });
        Ok(Self { producer, topic: cluster.topic.clone(), attempts })
    }

    /// [`crate::log::Log::append`].
    pub(super) fn append(&self, bytes: &[u8], timeout: Duration) -> Result<u64, NotAppended> {
        if bytes.len() > MAX_RECORD {
            return Err(NotAppended::Refused(format!("the record is larger than {MAX_RECORD} bytes")));
        }
        let mut attempts = self.attempts.lock();
        let open = attempts.open.take().filter(|(_, open)| *open == bytes);
        let first = open.as_ref().map_or(attempts.last + 1, |(first, _)| *first);
        let deadline = Instant::now() + timeout;
        let mut perhaps = open.is_some();
        loop {
            let failure = match self.attempt(&mut attempts, first, bytes, deadline) {
                Ok(offset) => {
                    self.producer.client().context().answered();
                    return Ok(offset);
                }
                Err(failure) => failure,
            };
            tracing::debug!(perhaps = failure.perhaps, "an append to the command log failed: {}", failure.why);
            perhaps |= failure.perhaps;
            if !failure.passes || Instant::now() + PAUSE >= deadline {
                if perhaps {
                    attempts.open = Some(open.unwrap_or_else(|| (first, bytes.to_vec())));
                }
                let kind = if perhaps { NotAppended::Unknown } else { NotAppended::Refused };
                return Err(kind(failure.why));
            }
            thread::sleep(PAUSE);
        }
    }

    fn send(&self, number: usize, bytes: &[u8]) -> Result<(), Failure> {
        let message = BaseRecord::<(), [u8], usize>::with_opaque_to(&self.topic, number);
        let sent = self.producer.send(message.partition(PARTITION).payload(bytes));
        // It did not come into the queue.
        sent.map_err(|(error, _)| Failure { perhaps: false, ..judge(&error, Duration::ZERO) })
    }

    /// Sends the record, unless an attempt before has been acknowledged.
    fn attempt(&self, attempts: &mut Attempts, first: usize, bytes: &[u8], deadline: Instant) -> Outcome {
        let (watch, sent) = (self.producer.client().context().as_ref(), Instant::now());
        let known = attempts.reports.try_iter().find(|(number, report)| *number >= first && report.is_ok());
        attempts.last += 1;
        if known.is_none() {
            self.send(attempts.last, bytes)?;
        }
        match known.map(|(_, report)| report).or_else(|| attempts.report(first, deadline)) {
            Some(Ok(offset)) => u64::try_from(offset).map_err(|_| Failure {
                why: "the log acknowledged a record without its offset".into(),
                perhaps: true,
                passes: false,
            }),
            Some(Err((error, at))) => {
                let failure = judge(&error, at - sent);
                Err(Failure { why: failure.why + &watch.since(sent), ..failure })
            }
            None => {
                // A message that waits for a leader is given up. One that was sent stays: by its timeout the library
                // finds out that the leader hangs.
                self.producer.purge(PurgeConfig::default().queue().non_blocking());
                let cause = watch.since(sent);
                Err(Failure {
                    why: format!("the log did not acknowledge the record in time{cause}"),
                    perhaps: true,
                    passes: false,
                })
            }
        }
    }
}

/// The meaning of an error for a message that was sent so long before it.
fn judge(error: &KafkaError, after: Duration) -> Failure {
    let code = error.rdkafka_error_code();
    let why = code.map_or_else(|| error.to_string(), |code| format!("the log took no record: {code}"));
    // The leader checks these before it appends.
    let (is_refusal, passes) = match code {
        Some(
            Code::MessageSizeTooLarge
            | Code::InvalidMessageSize
            | Code::MessageBatchTooLarge
            | Code::InvalidRecord
            | Code::InvalidTimestamp
            | Code::PolicyViolation
            | Code::InvalidRequiredAcks
            | Code::TopicAuthorizationFailed
            | Code::ClusterAuthorizationFailed,
        ) => (true, false),
        Some(
            Code::NotEnoughReplicas
            | Code::UnknownTopic
            | Code::UnknownPartition
            | Code::UnknownTopicOrPartition
            | Code::QueueFull,
        ) => (true, true),
        _ => (false, true),
    };
    Failure { why, perhaps: !is_refusal || after >= FIRST, passes }
}

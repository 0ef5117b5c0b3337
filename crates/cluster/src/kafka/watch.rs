//! The messages of the client library about its connections, for the server log.

use std::collections::HashMap;
use std::mem;
use std::sync::mpsc::{Receiver, Sender, channel};

use rdkafka::client::ClientContext;
use rdkafka::config::RDKafkaLogLevel;
use rdkafka::consumer::ConsumerContext;
use rdkafka::error::{KafkaError, RDKafkaErrorCode};
use rdkafka::message::{DeliveryResult, Message};
use rdkafka::producer::ProducerContext;

use crate::prelude::*;

/// The library tries again each second, and tells it each time. One warning of a fault of a broker within this time.
const QUIET: Duration = Duration::from_secs(300);
/// A client without a fault for this long is well again.
const WELL: Duration = Duration::from_secs(10);
/// Kinds of faults that are remembered.
const KINDS: usize = 64;

/// Passes the lines of the library to the server log, and keeps the last fault.
#[derive(Debug)]
pub(super) struct Watch {
    /// The part of the log that the client serves.
    client: &'static str,
    faults: Mutex<Faults>,
    /// The channel for delivery reports; `None` unless the client appends.
    reports: Option<Sender<(usize, Report)>>,
}

/// The offset of a message, or why it has none, and when that was known.
pub(super) type Report = Result<i64, (KafkaError, Instant)>;

#[derive(Debug, Default)]
struct Faults {
    /// When each kind was told last.
    told: HashMap<String, Instant>,
    last: Option<(Instant, String)>,
}

impl Watch {
    pub(super) fn new(client: &'static str) -> Self {
        Self { client, faults: Mutex::default(), reports: None }
    }

    /// The watch of a client that appends, and the delivery reports on its messages, each with the number of its attempt.
    pub(super) fn with_reports(client: &'static str) -> (Self, Receiver<(usize, Report)>) {
        let (taken, reports) = channel();
        (Self { reports: Some(taken), ..Self::new(client) }, reports)
    }

    /// The last fault since a moment, in brackets after a space; empty if there was none.
    pub(super) fn since(&self, moment: Instant) -> String {
        let faults = self.faults.lock();
        faults.last.as_ref().filter(|(at, _)| *at >= moment).map_or(String::new(), |(_, fault)| format!(" ({fault})"))
    }

    /// To be called after an answer. Tells it if there were faults and are none any more.
    pub(super) fn answered(&self) {
        let mut faults = self.faults.lock();
        let is_well = faults.last.as_ref().is_some_and(|(at, _)| at.elapsed() >= WELL);
        if is_well && !mem::take(&mut *faults).told.is_empty() {
            tracing::info!(client = self.client, "the command log: its brokers answer again");
        }
    }

    /// Notes a fault. Returns whether it is to be told as a warning now.
    fn is_news(&self, kind: String, reason: &str) -> bool {
        let (mut faults, now) = (self.faults.lock(), Instant::now());
        faults.last = Some((now, reason.to_owned()));
        if faults.told.len() >= KINDS {
            faults.told.clear();
        }
        let is_known = faults.told.get(&kind).is_some_and(|before| now - *before < QUIET);
        if !is_known {
            faults.told.insert(kind, now);
        }
        !is_known
    }
}

impl ClientContext for Watch {
    /// Connections that fail come as errors too, so that most lines are for the search of faults only.
    fn log(&self, level: RDKafkaLogLevel, fac: &str, text: &str) {
        let client = self.client;
        match level {
            RDKafkaLogLevel::Emerg | RDKafkaLogLevel::Alert | RDKafkaLogLevel::Critical => {
                tracing::error!(client, fac, "the client of the command log: {text}");
            }
            _ => tracing::debug!(client, fac, "the client of the command log: {text}"),
        }
    }

    fn error(&self, error: KafkaError, reason: &str) {
        let client = self.client;
        let code = error.rdkafka_error_code();
        // A fault of a broker begins with it: "127.0.0.1:9092/1: Connect to … failed: Connection refused".
        let broker = reason.trim_start_matches("GroupCoordinator: ").split(['/', ' ']).next().unwrap_or_default();
        // Beside the first one each broker has a fault of its own, with the cause. The group is not used.
        let is_idle =
            matches!(code, Some(RDKafkaErrorCode::AllBrokersDown | RDKafkaErrorCode::GroupAuthorizationFailed));
        if !is_idle && self.is_news(format!("{code:?} {}", broker.trim_end_matches(':')), reason) {
            tracing::warn!(client, "the command log: {reason}; repetitions are at level debug for 5 minutes");
        } else {
            tracing::debug!(client, "the command log: {reason}");
        }
    }
}

impl ConsumerContext for Watch {}

impl ProducerContext for Watch {
    type DeliveryOpaque = usize;

    fn delivery(&self, result: &DeliveryResult<'_>, number: usize) {
        let report = match result {
            Ok(message) => Ok(message.offset()),
            Err((error, _)) => Err((error.clone(), Instant::now())),
        };
        // An error: the appender is gone.
        let _ = self.reports.as_ref().map(|reports| reports.send((number, report)));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fault_is_news_once_and_the_last_one_is_kept() {
        let watch = Watch::new("reader");
        assert!(watch.is_news("a".into(), "") && watch.is_news("b".into(), "") && !watch.is_news("a".into(), ""));
        (0..KINDS).for_each(|kind| assert!(watch.is_news(kind.to_string(), "")));
        assert!(watch.faults.lock().told.len() <= KINDS);

        let before = Instant::now();
        assert_eq!(watch.since(before), "");
        watch.error(KafkaError::Global(RDKafkaErrorCode::BrokerTransportFailure), "b:1/1: refused");
        watch.error(KafkaError::Global(RDKafkaErrorCode::AllBrokersDown), "3/3 brokers are down");
        assert_eq!(watch.since(before), " (b:1/1: refused)");
        assert_eq!(watch.since(Instant::now()), "");
    }
}

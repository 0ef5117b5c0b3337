//! The log against the brokers in memory that the client library has for tests. They do not know `LogAppendTime`, so
//! that records are read in tests with real brokers only.

use std::path::PathBuf;
use std::thread;

use rdkafka::mocking::MockCluster;
use rdkafka::producer::DefaultProducerContext;
use rdkafka::types::{RDKafkaApiKey as Api, RDKafkaRespErr as Answer};

use super::*;

const TOPIC: &str = "log";
const LONG: Duration = Duration::from_secs(60);
const SHORT: Duration = Duration::from_millis(500);
/// A delay of answers that is over only when a test ends it.
const HELD: Duration = Duration::from_secs(60);
/// Tries of what a busy machine may spoil: one success is enough.
const TRIES: usize = 5;

type Brokers = MockCluster<'static, DefaultProducerContext>;

fn brokers() -> (Brokers, Kafka) {
    let cluster = MockCluster::new(3).unwrap();
    cluster.create_topic(TOPIC, 1, 3).unwrap();
    let brokers = vec![cluster.bootstrap_servers()];
    let kafka = Kafka::open(Cluster { brokers, topic: TOPIC.into(), ..Cluster::default() }).unwrap();
    (cluster, kafka)
}

/// Appends a record, and lets the brokers give all answers that they hold once it had time to be sent.
fn append_and_release(cluster: &Brokers, kafka: &Kafka, bytes: &[u8]) -> Result<u64, NotAppended> {
    thread::scope(|scope| {
        let append = scope.spawn(|| kafka.append(bytes, LONG));
        thread::sleep(SHORT);
        cluster.broker_round_trip_time(-1, Duration::ZERO).unwrap();
        append.join().unwrap()
    })
}

#[test]
fn appends_have_rising_offsets_within_the_bounds() {
    let (_cluster, kafka) = brokers();
    let offsets: Vec<_> = (0..3).map(|_| kafka.append(b"record", LONG)).collect();
    assert_eq!(offsets, [Ok(0), Ok(1), Ok(2)]);
    assert_eq!(kafka.bounds(LONG), Ok(0..3));
    // The sign of life of a busy machine may come too late.
    let read = (0..TRIES).map(|_| kafka.read(3, SHORT)).find(|read| !matches!(read, Err(NotRead::Unreachable(_))));
    assert_eq!(read, Some(Ok(Vec::new())));
}

#[test]
fn a_record_that_is_too_large_is_refused_at_once() {
    let (_cluster, kafka) = brokers();
    assert_eq!(kafka.append(&vec![b'x'; MAX_RECORD], LONG), Ok(0));
    assert!(matches!(kafka.append(&vec![b'x'; MAX_RECORD + 1], LONG), Err(NotAppended::Refused(_))));
}

#[test]
fn a_passing_error_is_tried_again_within_the_append() {
    let (cluster, kafka) = brokers();
    for error in [
        Answer::RD_KAFKA_RESP_ERR_NOT_ENOUGH_REPLICAS,
        Answer::RD_KAFKA_RESP_ERR_NOT_ENOUGH_REPLICAS_AFTER_APPEND,
        Answer::RD_KAFKA_RESP_ERR_NOT_LEADER_FOR_PARTITION,
        Answer::RD_KAFKA_RESP_ERR_REQUEST_TIMED_OUT,
        // The connection breaks.
        Answer::RD_KAFKA_RESP_ERR__TRANSPORT,
    ] {
        cluster.request_errors(Api::Produce, &[error, error]);
        assert!(kafka.append(b"record", LONG).is_ok(), "{error:?}");
    }
}

#[test]
fn an_append_with_one_uncertain_attempt_is_uncertain_whatever_follows() {
    let (cluster, kafka) = brokers();
    assert_eq!(kafka.append(b"first", LONG), Ok(0));
    cluster.request_errors(
        Api::Produce,
        &[
            Answer::RD_KAFKA_RESP_ERR_NOT_ENOUGH_REPLICAS_AFTER_APPEND,
            Answer::RD_KAFKA_RESP_ERR_TOPIC_AUTHORIZATION_FAILED,
        ],
    );
    let outcome = kafka.append(b"record", LONG);
    assert!(matches!(&outcome, Err(NotAppended::Unknown(why)) if why.contains("authorization")), "{outcome:?}");
}

#[test]
fn the_answer_to_a_record_that_was_given_up_is_not_taken_for_that_of_the_next_one() {
    let proves = (0..TRIES).any(|_| {
        let (cluster, kafka) = brokers();
        assert_eq!(kafka.append(b"first", LONG), Ok(0));
        cluster.broker_round_trip_time(-1, HELD).unwrap();
        assert!(matches!(kafka.append(b"late", SHORT), Err(NotAppended::Unknown(_))));
        let next = append_and_release(&cluster, &kafka, b"next").unwrap();
        // With the answer to the one before, it would not be the last record.
        assert_eq!(kafka.bounds(LONG), Ok(0..next + 1));
        // A try in which the late one was given up before it was sent has nothing to show.
        next > 1
    });
    assert!(proves, "the late record was never sent, or the next one not");
}

#[test]
fn a_late_answer_counts_for_a_record_that_is_sent_again() {
    let proves = (0..TRIES).any(|_| {
        let (cluster, kafka) = brokers();
        assert_eq!(kafka.append(b"first", LONG), Ok(0));
        cluster.broker_round_trip_time(-1, HELD).unwrap();
        for _ in 0..2 {
            let outcome = kafka.append(b"late", SHORT);
            assert!(matches!(outcome, Err(NotAppended::Unknown(_))), "{outcome:?}");
        }
        let outcome = append_and_release(&cluster, &kafka, b"late");
        // It was sent more than once, unless the machine was too busy.
        outcome == Ok(1) && kafka.bounds(LONG).unwrap().end > 2
    });
    assert!(proves, "the answer to the first attempt does not count during a later one");
}

#[test]
fn without_brokers_nothing_is_certain_and_all_goes_on_when_they_are_back() {
    let (cluster, kafka) = brokers();
    assert_eq!(kafka.append(b"first", LONG), Ok(0));
    cluster.broker_down(-1).unwrap();
    assert!(matches!(kafka.append(b"lost", SHORT), Err(NotAppended::Unknown(_))));
    assert!(matches!(kafka.read(1, SHORT), Err(NotRead::Unreachable(_))));
    assert!(matches!(kafka.bounds(SHORT), Err(NotRead::Unreachable(_))));
    cluster.broker_up(-1).unwrap();
    // Messages that waited for a connection were taken out of the queue.
    assert_eq!(kafka.append(b"second", LONG), Ok(1));
    assert_eq!(kafka.bounds(LONG), Ok(0..2));
}

#[test]
fn a_place_after_the_end_is_gone() {
    let tells_bounds = (0..TRIES).any(|_| {
        let (_cluster, kafka) = brokers();
        assert_eq!(kafka.append(b"first", LONG), Ok(0));
        let gone = kafka.read(5, LONG);
        assert!(matches!(gone, Err(NotRead::Gone(_))), "{gone:?}");
        // It stays gone, for the log could grow up to there with other records.
        for _ in 0..6 {
            kafka.append(b"other", LONG).unwrap();
        }
        assert!(matches!(kafka.read(5, LONG), Err(NotRead::Gone(_))));
        assert!(matches!(kafka.read(u64::MAX, LONG), Err(NotRead::Gone(_))));
        // Without the bounds if a busy machine tells them too late.
        matches!(gone, Err(NotRead::Gone(why)) if why.contains("begins at 0 and ends before 1"))
    });
    assert!(tells_bounds);
}

#[test]
fn a_record_without_a_time_of_the_log_is_not_read() {
    let (_cluster, kafka) = brokers();
    assert_eq!(kafka.append(b"first", LONG), Ok(0));
    let gone = kafka.read(0, LONG);
    assert!(matches!(&gone, Err(NotRead::Gone(why)) if why.contains("message.timestamp.type")), "{gone:?}");
}

#[test]
fn a_missing_file_fails_the_start() {
    let (brokers, tls_ca) = (vec!["127.0.0.1:1".into()], PathBuf::from("/nowhere/ca.pem"));
    let error = Kafka::open(Cluster { brokers, tls: true, tls_ca, ..Cluster::default() }).unwrap_err().to_string();
    assert!(error.starts_with("/nowhere/ca.pem: "), "{error}");
}

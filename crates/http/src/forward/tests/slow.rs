//! A node that sees the records of its log late.

use std::ops::Range;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Instant;

use super::*;
use cluster::{Log, LogMembership, Node, NotAppended, NotRead, Record};

const TIME_LIMIT: Duration = Duration::from_secs(60);

/// A log in memory that keeps its records back for a while.
#[derive(Debug, Default)]
struct Slow {
    records: Mutex<Vec<Record>>,
    holds: AtomicBool,
}

impl Log for Slow {
    fn append(&self, bytes: &[u8], _: Duration) -> Result<u64, NotAppended> {
        let mut records = self.records.lock();
        let offset = records.len() as u64;
        records.push(Record { offset, time: 1000 + offset, bytes: bytes.to_vec() });
        Ok(offset)
    }

    fn read(&self, from: u64, timeout: Duration) -> Result<Vec<Record>, NotRead> {
        let began = Instant::now();
        while began.elapsed() < timeout {
            let records = self.records.lock();
            let new = records.get(from as usize..).unwrap_or_default();
            if !new.is_empty() && !self.holds.load(Ordering::SeqCst) {
                return Ok(new.to_vec());
            }
            drop(records);
            thread::sleep(Duration::from_millis(1));
        }
        Ok(Vec::new())
    }

    fn bounds(&self, _: Duration) -> Result<Range<u64>, NotRead> {
        Ok(0..self.records.lock().len() as u64)
    }
}

/// The node `a`, with its log, once it has caught up.
async fn node_on_a_log(other: &str) -> (Arc<Api>, Arc<Slow>) {
    let (log, config) = (Arc::new(Slow::default()), settings(other, LONGEST));
    let api = api_of(&config, |feed| {
        LogMembership::found(&*log, None, config.agreed()).expect("begins");
        let origin = LogMembership::join(&*log, feed.store()).expect("joins");
        Some(Arc::new(Node::start(Arc::clone(&log) as Arc<_>, feed, &origin, &config, true).expect("starts")))
    });
    until(async || readiness(&api).await == 200).await;
    (api, log)
}

async fn readiness(api: &Arc<Api>) -> u16 {
    status_and_body(api, TestRequest::with_uri("/readyz")).await.0
}

async fn until(holds: impl AsyncFn() -> bool) {
    let began = Instant::now();
    while !holds().await {
        assert!(began.elapsed() < TIME_LIMIT, "it does not come to be");
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

#[actix_web::test]
async fn a_slow_node_is_not_ready_and_passes_strict_reads_on_while_another_one_is_ready() {
    let other = Owner::with("200 OK", "content-type: application/json\r\n", "{\"of\":\"b\"}").await;
    let (api, log) = node_on_a_log(&other.url).await;
    let read = async |query: &str| {
        status_and_body(&api, TestRequest::with_uri(&format!("/v1/users/1/following?{query}"))).await.1
    };
    let is_own = |body: String| body.contains("\"items\":[]");
    assert!(is_own(read("consistency=strict").await) && other.asked() == 0);
    log.holds.store(true, Ordering::SeqCst);
    assert_eq!(read("consistency=strict").await, "{\"of\":\"b\"}", "after a second");
    assert!(other.last().starts_with("get /base/v1/users/1/following?consistency=strict http/1.1\r\n"));
    assert_eq!(read("").await, "{\"of\":\"b\"}", "at once");
    assert_eq!(readiness(&api).await, 503);
    assert!(other.last().starts_with("get /base/readyz http/1.1\r\n") && other.last().contains("tideline-forwarded: "));
    assert!(is_own(read("consistency=local").await), "it waits for nothing");
    let asked = other.asked();
    let passed_on = TestRequest::with_uri("/v1/users/1/following")
        .insert_header(("tideline-forwarded", api.peers.as_ref().expect("a cluster").log.as_str()));
    assert_eq!(status_and_body(&api, passed_on).await.0, 503, "it leaves what others have passed on");
    assert_eq!(other.asked(), asked);
    log.holds.store(false, Ordering::SeqCst);
    until(async || readiness(&api).await == 200).await;
    assert!(is_own(read("consistency=strict").await));
}

#[actix_web::test]
async fn a_slow_node_stays_ready_while_all_are_slow() {
    let other = Owner::with("503 Later", "tideline-forwarded: left\r\n", "").await;
    let (api, log) = node_on_a_log(&other.url).await;
    log.holds.store(true, Ordering::SeqCst);
    let node = api.node.clone().expect("a node");
    node.compare().expect("sends a record");
    until(async || node.is_slow()).await;
    assert_eq!(readiness(&api).await, 200);
    assert!(other.last().starts_with("get /base/readyz http/1.1\r\n"));
    let asked = TestRequest::with_uri("/readyz").insert_header(("tideline-forwarded", "the-log"));
    assert_eq!(status_and_body(&api, asked).await.0, 503, "to another node it tells its own word");
}

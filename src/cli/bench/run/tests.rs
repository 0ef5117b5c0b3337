use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::thread;

use super::*;
use crate::cli::remote::calls::Access;
use crate::cli::terminal::progress::Unit;

/// A server of one connection that answers each request at once, but stalls once for a time.
fn server(status: &'static str, stall_at: Duration, stall: Duration) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").expect("binds");
    let url = format!("http://{}", listener.local_addr().expect("bound"));
    thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            thread::spawn(move || answer(stream, status, stall_at, stall));
        }
    });
    url
}

fn answer(mut stream: TcpStream, status: &str, stall_at: Duration, stall: Duration) {
    let (begin, mut has_stalled, mut bytes) = (Instant::now(), false, [0; 4096]);
    while let Ok(count @ 1..) = stream.read(&mut bytes) {
        if bytes[..count].starts_with(b"GET /metrics ") {
            return;
        }
        assert!(bytes[..count].starts_with(b"GET /v1/users/9"));
        if !has_stalled && begin.elapsed() >= stall_at {
            has_stalled = true;
            thread::sleep(stall);
        }
        let answer = format!("HTTP/1.1 {status}\r\ncontent-length: 2\r\n\r\n{{}}");
        if stream.write_all(answer.as_bytes()).is_err() {
            return;
        }
    }
}

/// Reads at an even distance.
fn reads(every: Duration) -> impl Iterator<Item = Step> + Send + use<> {
    (0_u32..).map(move |n| Step::new(every * n, Kind::Read, n))
}

fn measure(url: &str, steps: impl Iterator<Item = Step> + Send + 'static, plan: Plan, time_limit: Duration) -> Ran {
    let client = Arc::new(Access::default().client("--url", url, time_limit).expect("an address"));
    let mut target = Target { client, requests: Requests::new(0, false), own: None };
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    let (_alive, interrupt) = Interrupt::never();
    let progress = Progress::new("run", None, Unit::Count("s"));
    let ran = runtime.block_on(run(&mut target, steps, plan, &interrupt, &progress)).expect("runs");
    assert!(ran.at_begin.is_some(), "the begin was not noted");
    ran
}

const SECOND: Duration = Duration::from_secs(1);
/// For tests in which no answer may count as missing, however busy the machine is.
const PATIENT: Duration = Duration::from_secs(20);

#[test]
fn a_stall_of_the_server_is_in_the_latency_of_all_who_would_have_asked_meanwhile() {
    let url = server("200 OK", Duration::from_millis(300), Duration::from_millis(500));
    // Some seconds are left after the stall, so that a busy machine can send what waited meanwhile.
    let plan = Plan { warm_up: Duration::from_millis(100), length: 5 * SECOND, connections: 1 };
    let ran = measure(&url, reads(Duration::from_millis(5)), plan, PATIENT);
    assert_eq!(
        (ran.counts.due, ran.counts.record.answers() + ran.counts.unsent, ran.counts.record.failures()),
        (1000, 1000, 0)
    );
    // One of the 1000 reads was sent into the stall; 80 others became due before the last 100 ms of it.
    let latencies = ran.counts.record.latencies(Kind::Read);
    let slow = latencies.count_between(100_000, u64::MAX);
    assert!(slow >= 75, "{slow} slow reads: a latency counts from the moment when its operation is sent");
    assert!(latencies.max() >= 480_000, "{}", latencies.max());
    assert!(ran.counts.longest_wait >= Duration::from_millis(400), "{:?}", ran.counts.longest_wait);
}

#[test]
fn a_server_that_falls_behind_is_told_by_what_was_never_sent() {
    // 20 ms for each answer, on two connections: at most 100 a second. Long enough for a busy machine to answer some.
    let url = server_with_delay(Duration::from_millis(20));
    let plan = Plan { warm_up: Duration::ZERO, length: 5 * SECOND, connections: 2 };
    let ran = measure(&url, reads(Duration::from_millis(2)), plan, PATIENT);
    assert_eq!(ran.counts.due, 2500);
    assert!((1..=500).contains(&ran.counts.in_time), "{}", ran.counts.in_time);
    assert_eq!(ran.counts.unsent + ran.counts.record.answers(), 2500, "some operations are in no count");
    assert!(ran.counts.unsent >= 1998, "{}", ran.counts.unsent);
    assert!(ran.counts.longest_wait > Duration::from_millis(500), "{:?}", ran.counts.longest_wait);
}

fn server_with_delay(delay: Duration) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").expect("binds");
    let url = format!("http://{}", listener.local_addr().expect("bound"));
    thread::spawn(move || {
        for mut stream in listener.incoming().flatten() {
            thread::spawn(move || {
                let mut bytes = [0; 4096];
                while let Ok(1..) = stream.read(&mut bytes) {
                    thread::sleep(delay);
                    let _ = stream.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n");
                }
            });
        }
    });
    url
}

#[test]
fn errors_are_counted_by_their_status_and_have_no_latency() {
    let url = server("503 Service Unavailable", SECOND, Duration::ZERO);
    let plan = Plan { warm_up: Duration::ZERO, length: SECOND / 5, connections: 4 };
    let ran = measure(&url, reads(Duration::from_millis(10)), plan, PATIENT);
    assert_eq!((ran.counts.record.answers(), ran.counts.in_time), (0, 0));
    assert_eq!(ran.counts.record.errors().collect::<Vec<_>>(), [(Kind::Read, "503", 20 - ran.counts.unsent)]);

    let silent = server("200 OK", Duration::ZERO, 60 * SECOND);
    let ran = measure(&silent, reads(SECOND / 20), plan, SECOND);
    assert_eq!(ran.counts.record.errors().collect::<Vec<_>>(), [(Kind::Read, "timeout", 4 - ran.counts.unsent)]);

    let ran = measure("http://127.0.0.1:1", reads(SECOND / 20), plan, PATIENT);
    assert_eq!(ran.counts.record.errors().collect::<Vec<_>>(), [(Kind::Read, "connection", 4 - ran.counts.unsent)]);
}

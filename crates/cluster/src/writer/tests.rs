use std::ops::Range;
use std::sync::atomic::AtomicBool;
use std::thread::{self, JoinHandle};

use super::super::checkpoint::Mark;
use super::super::log::{NotAppended, NotRead, Record};
use super::super::record::Envelope;
use super::appending::{ATTEMPT, attempt};
use super::*;
use feed::{DeleteItem, PutProfiles, answered_at};
use model::{ExternalId, Profile};

/// A timeout that no test reaches, however busy the machine is.
const NEVER: Duration = Duration::from_secs(60);
/// How far the clock of the log is ahead, milliseconds.
const AHEAD: i64 = 500_000;

/// A log that takes everything; the first append perhaps only once [`Script::opens`] is set.
#[derive(Debug, Default)]
struct Script {
    waits_first: AtomicBool,
    opens: AtomicBool,
    /// All that was sent, and how long each might take.
    sent: Mutex<Vec<Envelope>>,
    waits: Mutex<Vec<Duration>>,
}

impl Log for Script {
    fn append(&self, bytes: &[u8], timeout: Duration) -> Result<u64, NotAppended> {
        self.waits.lock().push(timeout);
        let mut sent = self.sent.lock();
        sent.push(Envelope::read(bytes).expect("a record"));
        let offset = sent.len() as u64;
        drop(sent);
        if self.waits_first.swap(false, Ordering::SeqCst) {
            wait_until(|| self.opens.load(Ordering::SeqCst));
        }
        Ok(offset)
    }

    fn read(&self, _: u64, _: Duration) -> Result<Vec<Record>, NotRead> {
        Ok(Vec::new())
    }

    fn bounds(&self, _: Duration) -> Result<Range<u64>, NotRead> {
        Ok(0..0)
    }
}

/// A writer that runs on a log with a script.
struct Running {
    log: Arc<Script>,
    writer: Arc<Writer>,
    thread: Option<JoinHandle<()>>,
}

impl Running {
    /// One that gives up nothing.
    fn new(waits_first: bool) -> Self {
        Self::with_timeout(NEVER, waits_first)
    }

    fn with_timeout(timeout: Duration, waits_first: bool) -> Self {
        let log = Arc::new(Script { waits_first: waits_first.into(), ..Script::default() });
        let shared = Shared::new(Mark { last: 3, hash: Token(4), ..Mark::first(Token(7)) });
        shared.clock_drift.note(1, AHEAD as u64, None, 0);
        let name = Some(serde_json::from_value("a".into()).expect("a name"));
        let writer = Arc::new(Writer::new(Arc::clone(&log) as Arc<_>, Arc::new(shared), name, 9, timeout));
        let runs = Arc::clone(&writer);
        Self { log, writer, thread: Some(thread::spawn(move || runs.run())) }
    }

    fn propose(&self) -> JoinHandle<Result<Box<dyn Outcome>>> {
        let writer = Arc::clone(&self.writer);
        thread::spawn(move || propose(&writer))
    }

    /// The numbers of all that was sent.
    fn numbers(&self) -> Vec<u64> {
        self.log.sent.lock().iter().map(|record| record.number).collect()
    }

    fn wait_for(&self, records: usize) {
        wait_until(|| self.log.sent.lock().len() >= records);
    }

    /// Applies a record with one command.
    fn apply(&self, number: u64) {
        self.writer.applied(number, vec![done()]);
    }

    fn is_served(&self, number: u64) -> bool {
        *self.writer.shared.vitals.served.borrow() >= number
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.writer.close();
        self.log.opens.store(true, Ordering::SeqCst);
        if let Some(thread) = self.thread.take() {
            thread.join().expect("no panic");
        }
    }
}

/// Proposes a command.
fn propose(writer: &Writer) -> Result<Box<dyn Outcome>> {
    writer.propose(vec![DeleteItem { item: ExternalId::Number(1), purge: false }.into()]).remove(0)
}

/// The outcome of a command.
fn done() -> Result<Box<dyn Outcome>> {
    Ok(Box::new(()))
}

#[track_caller]
fn wait_until(holds: impl Fn() -> bool) {
    let began = Instant::now();
    while !holds() {
        assert!(began.elapsed() < Duration::from_secs(60), "it does not come to be");
        thread::sleep(Duration::from_millis(1));
    }
}

#[track_caller]
fn refusal(proposal: JoinHandle<Result<Box<dyn Outcome>>>) -> (Code, String) {
    let error = proposal.join().expect("no panic").expect_err("refused");
    (error.code().expect("a code"), error.to_string())
}

fn is_done(proposal: JoinHandle<Result<Box<dyn Outcome>>>) -> bool {
    proposal.join().expect("no panic").is_ok()
}

#[test]
fn a_command_that_is_not_sent_in_time_is_refused_for_certain() {
    // So long that all three wait at the same time, also on a busy machine.
    const TIMEOUT: Duration = Duration::from_secs(5);
    let running = Running::with_timeout(TIMEOUT, true);
    let under_way = running.propose();
    running.wait_for(1);
    let waits = [running.propose(), running.propose()];
    wait_until(|| running.writer.waiting() == 3);
    for waits in waits {
        let (code, detail) = refusal(waits);
        assert_eq!(code, Code::LogUnavailable, "{detail}");
        assert!(detail.contains("nothing has changed"), "{detail}");
    }
    assert_eq!(running.writer.state.lock().queue.bytes, 0);
    running.apply(1);
    running.log.opens.store(true, Ordering::SeqCst);
    let fate = under_way.join().expect("no panic").map_err(|error| error.code());
    assert!(matches!(fate, Ok(_) | Err(Some(Code::OutcomeUnknown))), "it was sent");
    let later = running.writer.ask().expect("open");
    running.wait_for(2);
    let sent = running.log.sent.lock();
    assert!(sent[1..].iter().all(|record| record.commands.is_empty()), "{later}: none of them is sent later");
}

/// Its request may have waited for a thread before.
#[test]
fn a_command_has_no_later_deadline_than_its_request() {
    let running = Running::new(true);
    let propose = |time_limit: Duration| {
        let (writer, due) = (Arc::clone(&running.writer), Instant::now() + time_limit);
        thread::spawn(move || answered_at(Some(due), || propose(&writer)))
    };
    assert_eq!(refusal(propose(Duration::ZERO)).0, Code::LogUnavailable);
    let first = propose(NEVER);
    running.wait_for(1);
    let others = [propose(2 * NEVER), propose(NEVER / 2), propose(NEVER)];
    wait_until(|| running.writer.waiting() == 4);
    running.log.opens.store(true, Ordering::SeqCst);
    running.wait_for(2);
    running.apply(1);
    running.writer.applied(2, (0..3).map(|_| done()).collect());
    assert!(is_done(first) && others.into_iter().all(is_done));
    let sent = running.log.sent.lock();
    let left = |record: &Envelope| record.until.expect("a deadline") - record.sent - AHEAD as u64;
    let millis = |time: Duration| time.as_millis() as u64;
    assert!(left(&sent[0]) <= millis(NEVER) && left(&sent[1]) <= millis(NEVER / 2), "that of the first answer");
}

#[test]
fn a_record_that_cannot_be_written_refuses_its_changes_and_another_follows() {
    let running = Running::new(true);
    let under_way = running.propose();
    running.wait_for(1);
    // No command makes such a record, so the one under way stands for it.
    running.writer.refuse(1, &Error::Corrupt("no record".to_owned()));
    let error = under_way.join().expect("no panic").expect_err("refused");
    assert!(matches!(&error, Error::Corrupt(why) if why == "no record"), "{error}");
    assert_eq!(running.writer.waiting(), 0);
    running.log.opens.store(true, Ordering::SeqCst);
    running.wait_for(2);
    assert_eq!(running.numbers(), [1, 2]);
    let proposal = running.propose();
    running.wait_for(3);
    running.apply(3);
    assert!(is_done(proposal));
}

#[test]
fn a_writer_is_slow_until_a_record_is_served_in_time() {
    let running = Running::new(false);
    let first = running.propose();
    running.wait_for(1);
    running.apply(1);
    assert!(is_done(first) && running.writer.oldest_wait() == Duration::ZERO);
    let proposal = running.propose();
    running.wait_for(2);
    wait_until(|| running.writer.is_slow());
    assert!(running.writer.oldest_wait() >= SLOW);
    running.apply(2);
    assert!(is_done(proposal));
    wait_until(|| running.is_served(2));
    // Nobody asks anything of a slow node. It asks itself.
    wait_until(|| {
        let is_slow = running.writer.is_slow();
        if let Some(last) = running.numbers().last() {
            running.writer.applied(*last, Vec::new());
        }
        !is_slow
    });
    assert!(running.numbers().len() > 2);
}

#[test]
fn a_large_record_has_more_time() {
    assert_eq!(attempt(0), ATTEMPT);
    assert_eq!(attempt(16_000_000), ATTEMPT + Duration::from_secs(16));
    let running = Running::with_timeout(Duration::from_secs(10), false);
    running.writer.ask().expect("open");
    running.wait_for(1);
    let text = serde_json::value::to_raw_value(&"x".repeat(12_000_000)).expect("writes");
    let (tell, _outcome) = sync_channel(1);
    {
        running.writer.state.lock().queue.push(text, tell, [Instant::now() + NEVER; 2]);
        running.writer.filled.notify_one();
    }
    running.wait_for(2);
    let waits = running.log.waits.lock();
    assert!(waits[0] < Duration::from_secs(3), "a small one is sent again soon: {waits:?}");
    assert_eq!(waits[1], Duration::from_secs(10), "never longer than cluster.timeout");
}

#[test]
fn more_than_may_wait_is_refused() {
    let running = Running::new(true);
    drop(running.propose());
    running.wait_for(1);
    running.writer.state.lock().queue.bytes = MOST_WAITING_BYTES;
    let (code, _) = refusal(running.propose());
    assert_eq!(code, Code::Overloaded);
    running.writer.state.lock().queue.bytes = 0;
}

#[test]
fn a_writer_that_closes_refuses_what_waits() {
    let running = Running::new(true);
    let under_way = running.propose();
    running.wait_for(1);
    let waits = running.propose();
    wait_until(|| running.writer.waiting() == 2);
    running.writer.close();
    assert_eq!(refusal(waits).0, Code::Stopping);
    assert_eq!(refusal(running.propose()).0, Code::Stopping);
    assert!(running.writer.ask().is_err());
    running.log.opens.store(true, Ordering::SeqCst);
    assert_eq!(refusal(under_way).0, Code::OutcomeUnknown, "it may be in the log");
}

#[test]
fn of_commands_proposed_together_none_is_sent_after_one_that_is_refused() {
    let running = Running::new(false);
    // Its record would be too large.
    let large = PutProfiles {
        profiles: vec![(
            ExternalId::Number(1),
            Profile { nickname: Some("n".repeat(MOST_BYTES)), ..Profile::default() },
        )],
    };
    let outcomes =
        running.writer.propose(vec![large.into(), DeleteItem { item: ExternalId::Number(1), purge: false }.into()]);
    let codes: Vec<_> = outcomes.into_iter().map(|outcome| outcome.map(drop).map_err(|error| error.code())).collect();
    assert_eq!(codes, [Err(Some(Code::BodyTooLarge)), Err(Some(Code::BodyTooLarge))]);
    assert_eq!(running.writer.waiting(), 0);
}

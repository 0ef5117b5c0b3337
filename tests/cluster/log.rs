//! A command log in memory, shared by nodes, with faults at random.

use std::ops::Range;
use std::sync::Arc;
use std::time::{Duration, Instant};

use cluster::{Log, NotAppended, NotRead, Record};
use fastrand::Rng;
use model::Millis;
use model::clock::now;
use parking_lot::{Condvar, Mutex};

/// How far it may jump ahead: a year.
const YEAR: Millis = 365 * 86_400_000;
/// Longest time until a lost record comes.
const LATE: u64 = 150;
/// A connection takes so long to be there again.
const HELD: Duration = Duration::from_millis(5);

/// A log for all nodes.
#[derive(Debug)]
pub(crate) struct TestLog {
    state: Mutex<State>,
    grown: Condvar,
}

/// The way of one node to the log.
#[derive(Debug)]
pub(crate) struct Way {
    log: Arc<TestLog>,
    node: usize,
}

/// Chances of faults, in a thousand.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Chances {
    /// An append without an answer: made, made later, or never made.
    pub(crate) unknown: u32,
    /// A refused append of commands.
    pub(crate) refused: u32,
    /// An append that is made twice.
    pub(crate) twice: u32,
    /// An append or a read that takes some milliseconds.
    pub(crate) delay: u32,
    /// A read that fails, or has a part of the records.
    pub(crate) read: u32,
    /// A record with an earlier time than the one before.
    pub(crate) back: u32,
    /// A record with a time far ahead.
    pub(crate) ahead: u32,
    /// An end of the log that was its end before.
    pub(crate) lie: u32,
}

/// The fate of the next record with commands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Fate {
    /// It is refused.
    Refused,
    /// It never comes, however often it is sent.
    Lost,
    /// It comes when the writer has given it up.
    Late,
}

/// A part of each record on which a rule depends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Part {
    /// The clock of the writer: as if it were right whatever the log says.
    Sent,
    /// The end of the wait of the callers.
    Until,
    /// The run of the node.
    Node,
}

/// The record without a part. Commands, which are other people's text, come behind all of these.
fn without(part: Part, bytes: &[u8]) -> Vec<u8> {
    let text = std::str::from_utf8(bytes).expect("a record");
    let (begin, end, instead) = match part {
        Part::Sent => ("\"sent\":", ",", "\"sent\":9000000000000,"),
        Part::Until => ("\"until\":", ",", ""),
        Part::Node => ("\"node\":", "},", ""),
    };
    let Some((before, rest)) = text.split_once(begin) else { return bytes.to_vec() };
    let (_, after) = rest.split_once(end).expect("the end of the part");
    [before, instead, after].concat().into_bytes()
}

#[derive(Debug)]
struct State {
    random: Rng,
    chances: Chances,
    /// How far a time may jump back, milliseconds.
    back: Millis,
    records: Vec<Record>,
    /// Offset of the first record.
    start: u64,
    /// Records to come.
    late: Vec<(Instant, Vec<u8>)>,
    ways: Vec<Doings>,
    /// Whether a second copy of a record counts as a record of its own.
    forgets: bool,
    /// The part that records lack.
    strips: Option<Part>,
}

/// What happens to one node.
#[derive(Debug, Default, Clone)]
struct Doings {
    fate: Option<Fate>,
    /// The record that has this fate.
    doomed: Option<Vec<u8>>,
    /// Until when the log does not answer.
    away: Option<Instant>,
    /// Whether the log gets, when it answers again, what was sent meanwhile: it lay in a socket.
    holds: bool,
    held: Vec<Vec<u8>>,
    /// Until when reads have no new records.
    blind: Option<Instant>,
    /// Whether the log was cut behind a record that this node has read.
    cut: bool,
}

impl TestLog {
    /// A log whose times may jump back by so many milliseconds.
    pub(crate) fn new(seed: u64, ways: usize, back: Millis) -> Arc<Self> {
        let state = State {
            random: Rng::with_seed(seed),
            chances: Chances::default(),
            back,
            records: Vec::new(),
            start: 0,
            late: Vec::new(),
            ways: vec![Doings::default(); ways],
            forgets: false,
            strips: None,
        };
        Arc::new(Self { state: Mutex::new(state), grown: Condvar::new() })
    }

    pub(crate) fn way(self: &Arc<Self>, node: usize) -> Arc<dyn Log> {
        Arc::new(Way { log: Arc::clone(self), node })
    }

    pub(crate) fn set(&self, chances: Chances) {
        self.state.lock().chances = chances;
    }

    /// From now on records lack a part that a rule needs.
    pub(crate) fn strip(&self, part: Part) {
        self.state.lock().strips = Some(part);
    }

    /// Duplicates of records count as records of their own.
    pub(crate) fn forget_sessions(&self) {
        self.state.lock().forgets = true;
    }

    /// The next record with commands of a node has this fate.
    pub(crate) fn doom(&self, node: usize, fate: Fate) {
        self.state.lock().ways[node].fate = Some(fate);
    }

    /// The log does not answer a node for this time. It may get then what was sent meanwhile.
    pub(crate) fn send_away(&self, node: usize, time: Duration, holds: bool) {
        let doings = &mut self.state.lock().ways[node];
        (doings.away, doings.holds) = (Some(Instant::now() + time), holds);
    }

    /// The log answers a node again, and first gets what lay in the socket.
    pub(crate) fn bring_back(&self, node: usize) {
        self.state.lock().ways[node].away = Some(Instant::now() + HELD);
        self.grown.notify_all();
    }

    /// The times of records are right from now on. Returns the chances until now.
    pub(crate) fn without_jumps(&self) -> Chances {
        let mut state = self.state.lock();
        let before = state.chances;
        (state.chances.ahead, state.chances.back) = (0, 0);
        before
    }

    /// A node sees no new records for this time.
    pub(crate) fn blind(&self, node: usize, time: Duration) {
        self.state.lock().ways[node].blind = Some(Instant::now() + time);
        self.grown.notify_all();
    }

    /// Ends all faults. Records to come are there at once.
    pub(crate) fn calm(&self) {
        let mut state = self.state.lock();
        state.chances = Chances::default();
        state.come(true);
        for doings in &mut state.ways {
            *doings = Doings { cut: doings.cut, ..Doings::default() };
        }
        self.grown.notify_all();
    }

    /// The offset after the last record.
    pub(crate) fn end(&self) -> u64 {
        self.state.lock().end()
    }

    /// All records.
    pub(crate) fn records(&self) -> Vec<Record> {
        self.state.lock().records.clone()
    }

    /// Appends bytes as they are.
    pub(crate) fn put(&self, bytes: Vec<u8>) {
        self.state.lock().append(bytes);
        self.grown.notify_all();
    }

    /// Another log takes the place of this one, and nobody is told.
    pub(crate) fn make_anew(&self, records: Vec<Record>) {
        self.state.lock().records = records;
        self.grown.notify_all();
    }

    /// Cuts off the records from an offset on. The next read of a node that has read one of them tells it so, if the
    /// log `tells`.
    pub(crate) fn cut(&self, end: u64, readers: &[usize], tells: bool) {
        let mut state = self.state.lock();
        let keep = (end - state.start) as usize;
        state.records.truncate(keep);
        readers.iter().for_each(|node| state.ways[*node].cut = tells);
    }

    /// From now on a node is told of the log as it is.
    pub(crate) fn heal(&self, node: usize) {
        self.state.lock().ways[node].cut = false;
    }
}

impl State {
    fn end(&self) -> u64 {
        self.start + self.records.len() as u64
    }

    fn chance(&mut self, thousandths: u32) -> bool {
        self.random.u32(..1000) < thousandths
    }

    fn append(&mut self, bytes: Vec<u8>) -> u64 {
        let back = if self.chance(self.chances.back) { self.random.u64(..self.back) } else { 0 };
        let ahead = if self.chance(self.chances.ahead) { YEAR } else { 0 };
        let offset = self.end();
        let bytes = self.strips.map_or_else(|| bytes.clone(), |part| without(part, &bytes));
        self.records.push(Record { offset, time: now() - back + ahead, bytes });
        offset
    }

    /// A second copy of a record.
    fn append_again(&mut self, bytes: Vec<u8>) {
        let bytes = if self.forgets { self.renamed(&bytes) } else { bytes };
        self.append(bytes);
    }

    /// The record, as one of a session of its own.
    fn renamed(&mut self, bytes: &[u8]) -> Vec<u8> {
        let mut record: serde_json::Value = serde_json::from_slice(bytes).expect("a record");
        record["session"] = format!("{:016x}", self.random.u64(..)).into();
        serde_json::to_vec(&record).expect("writes")
    }

    /// Appends late records whose time has come.
    fn come(&mut self, all: bool) {
        let now = Instant::now();
        for node in 0..self.ways.len() {
            if all || self.ways[node].away.is_some_and(|until| until <= now) {
                self.ways[node].away = None;
                for bytes in std::mem::take(&mut self.ways[node].held) {
                    self.append_again(bytes);
                }
            }
        }
        let (due, rest): (Vec<_>, Vec<_>) = self.late.drain(..).partition(|(at, _)| all || *at <= now);
        self.late = rest;
        for (_, bytes) in due {
            self.append_again(bytes);
        }
    }

    fn is_away(&self, node: usize) -> bool {
        self.ways[node].away.is_some_and(|until| until > Instant::now())
    }

    fn some_millis(&mut self, most: u64) -> Duration {
        Duration::from_micros(self.random.u64(..1000 * most))
    }
}

impl Log for Way {
    fn append(&self, bytes: &[u8], timeout: Duration) -> Result<u64, NotAppended> {
        let lost = |why: &str| Err(NotAppended::Unknown(why.to_owned()));
        let mut state = self.log.state.lock();
        state.come(false);
        if state.is_away(self.node) {
            let doings = &mut state.ways[self.node];
            if doings.holds && doings.held.last().is_none_or(|last| last != bytes) {
                doings.held.push(bytes.to_vec());
            }
            drop(state);
            std::thread::sleep(timeout.min(Duration::from_millis(20)));
            return lost("away");
        }
        let has_commands = !bytes.ends_with(br#""commands":[]}"#);
        let doings = &mut state.ways[self.node];
        if has_commands && let Some(fate) = doings.fate {
            let doomed = doings.doomed.get_or_insert_with(|| bytes.to_vec());
            if doomed == bytes {
                if fate == Fate::Refused {
                    (doings.fate, doings.doomed) = (None, None);
                    return Err(NotAppended::Refused("it is told to".to_owned()));
                }
                return lost("doomed");
            }
        }
        if let Some(doomed) = doings.doomed.take() {
            // The writer has given it up.
            if doings.fate.take() == Some(Fate::Late) {
                let due = Instant::now() + state.some_millis(LATE);
                state.late.push((due, doomed));
            }
        }
        let (chances, bytes) = (state.chances, bytes.to_vec());
        let pause = if state.chance(chances.delay) { state.some_millis(3) } else { Duration::ZERO };
        if state.chance(chances.unknown) {
            match state.random.u32(..3) {
                0 => _ = state.append(bytes),
                1 => {
                    let due = Instant::now() + state.some_millis(LATE);
                    state.late.push((due, bytes));
                }
                _ => {}
            }
            drop(state);
            self.log.grown.notify_all();
            std::thread::sleep(pause);
            return lost("no answer");
        }
        if has_commands && state.chance(chances.refused) {
            return Err(NotAppended::Refused("as it comes".to_owned()));
        }
        let offset = state.append(bytes.clone());
        if state.chance(chances.twice) {
            if state.random.bool() {
                state.append_again(bytes);
            } else {
                let due = Instant::now() + state.some_millis(LATE);
                state.late.push((due, bytes));
            }
        }
        drop(state);
        self.log.grown.notify_all();
        // Readers see it before its answer comes.
        std::thread::sleep(pause);
        Ok(offset)
    }

    fn read(&self, from: u64, timeout: Duration) -> Result<Vec<Record>, NotRead> {
        let until = Instant::now() + timeout;
        let mut state = self.log.state.lock();
        let chances = state.chances;
        let fails = state.chance(chances.read);
        // A place after the end is one that this node has not heard was cut.
        if state.ways[self.node].cut || from < state.start {
            return Err(NotRead::Gone(format!("it begins at {} and ends at {}", state.start, state.end())));
        }
        if state.chance(chances.delay) {
            let pause = state.some_millis(4);
            parking_lot::MutexGuard::unlocked(&mut state, || std::thread::sleep(pause));
        }
        if fails && state.random.bool() || state.is_away(self.node) {
            drop(state);
            std::thread::sleep(Duration::from_millis(1));
            return Err(NotRead::Unreachable("away".to_owned()));
        }
        loop {
            state.come(false);
            let now = Instant::now();
            let blind = state.ways[self.node].blind.filter(|until| *until > now);
            if blind.is_none() && from < state.end() {
                let first = (from - state.start) as usize;
                let most = if fails { 1 } else { 100 };
                return Ok(state.records[first..].iter().take(most).cloned().collect());
            }
            let wake = [blind, state.late.iter().map(|(due, _)| *due).min()].into_iter().flatten().min();
            if now >= until {
                return Ok(Vec::new());
            }
            self.log.grown.wait_until(&mut state, wake.map_or(until, |wake| wake.min(until)));
            if state.ways[self.node].cut {
                return Err(NotRead::Gone("it was cut".to_owned()));
            }
        }
    }

    fn bounds(&self, _: Duration) -> Result<Range<u64>, NotRead> {
        let mut state = self.log.state.lock();
        if state.is_away(self.node) {
            return Err(NotRead::Unreachable("away".to_owned()));
        }
        let (chances, start, end) = (state.chances, state.start, state.end());
        let lies = state.chance(chances.lie) && end > start + 1;
        let end = if lies { state.random.u64(end.saturating_sub(10).max(start + 1)..end) } else { end };
        Ok(start..end)
    }
}

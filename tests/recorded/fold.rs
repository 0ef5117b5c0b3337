//! The log as a plain fold: one command after another at the time of its record, without a node. What all followers must
//! come to.

use std::any::Any;
use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;
use std::time::Duration;

use cluster::{FIRST_LEVEL, Record};
use config::{Agreed, Config};
use feed::backlog::Backlog;
use feed::streaming::{ChangeTime, SequenceState, Streaming};
use feed::worker::{Candidates, Workers};
use feed::{Command, Feed};
use model::error::Error;
use model::store::TableDigest;
use model::{Millis, Reacted};
use serde::Deserialize;
use serde_json::value::RawValue;

use super::parts::{CROWD, WIDER, digests};
use super::tape::Tape;
use crate::promises::replay::made;
use crate::promises::shape::small;
use store::kv::Kv;
use store::{Options, Store, in_memory};

/// Mistakes of a reader of the log that its digests must show.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Mistake {
    /// The command with this number is left out.
    LeavesOut(u64),
    /// The clock in place of the times of the log.
    OwnClock,
    /// Records that come twice are made twice.
    MakesTwice,
    /// Records that come after their deadline are made.
    MakesLate,
}

/// How far the log may be ahead of the clock of a writer, milliseconds.
const AHEAD: Millis = 60_000;

/// The commands of each kind that came: accepted, and refused.
pub(crate) type Kinds = BTreeMap<String, (u64, u64)>;

/// The state after the records so far.
pub(crate) struct Fold {
    pub(crate) feed: Arc<Feed>,
    engine: Arc<dyn Kv>,
    config: Config,
    workers: Option<Workers>,
    candidates: Candidates,
    /// The last number of each session.
    sessions: HashMap<String, u64>,
    time: Millis,
    level: u32,
    final_before: Millis,
    mistake: Option<Mistake>,
    done: u64,
    pub(crate) kinds: Kinds,
    /// The digests at each place where the log asks for them, by the id of the comparison.
    pub(crate) compared: BTreeMap<u64, Vec<TableDigest>>,
}

#[derive(Deserialize)]
struct Parts {
    level: u32,
    session: String,
    number: u64,
    sent: Millis,
    until: Option<Millis>,
    agreed: Option<Agreed>,
    compare: Option<String>,
    commands: Vec<Box<RawValue>>,
}

impl Fold {
    /// The state after the first record.
    pub(crate) fn new(agreed: Agreed, time: Millis) -> Self {
        let (candidates, mut config) = (Candidates::default(), small());
        config.fanout.queue = WIDER;
        config.adopt(&agreed);
        let engine = in_memory(&Options::new(""));
        let feed = feed(&engine, &config, SequenceState::new(time), time, 0);
        let mut fold = Self {
            feed,
            engine,
            config,
            workers: None,
            candidates,
            sessions: HashMap::new(),
            time,
            level: FIRST_LEVEL,
            final_before: 0,
            mistake: None,
            done: 0,
            kinds: Kinds::new(),
            compared: BTreeMap::new(),
        };
        fold.work();
        fold
    }

    /// A reader of the first records of a log that makes a mistake, or none.
    pub(crate) fn of(tape: &Tape, records: u64, mistake: Option<Mistake>) -> Self {
        #[derive(Deserialize)]
        struct First {
            genesis: Genesis,
        }
        #[derive(Deserialize)]
        struct Genesis {
            agreed: Agreed,
        }
        let first = tape.get(0);
        let First { genesis } = serde_json::from_slice(&first.bytes).expect("a record");
        let mut fold = Self::new(genesis.agreed, first.time);
        fold.mistake = mistake;
        (1..records.min(tape.end())).for_each(|offset| fold.read(&tape.get(offset)));
        fold
    }

    fn work(&mut self) {
        let (store, backlog) = (Arc::clone(self.feed.store()), Arc::clone(self.feed.backlog()));
        let streaming = Arc::clone(self.feed.streaming());
        let workers = Workers::start(store, backlog, streaming, &self.config, self.candidates.clone());
        self.workers = Some(workers.expect("workers start"));
    }

    /// Commands so far.
    pub(crate) fn commands(&self) -> u64 {
        self.done
    }

    /// Waits until few jobs are left.
    pub(crate) fn rest(&self) {
        while self.feed.backlog().len() > CROWD {
            std::thread::sleep(Duration::from_millis(5));
        }
    }

    /// The digests at this place.
    pub(crate) fn digests(&self) -> Vec<TableDigest> {
        digests(&self.feed, self.time)
    }

    /// Applies a record.
    pub(crate) fn read(&mut self, record: &Record) {
        let parts: Parts = serde_json::from_slice(&record.bytes).expect("a record");
        self.time = self.time.max(record.time.min(parts.sent + AHEAD));
        self.level = self.level.max(parts.level);
        let last = self.sessions.entry(parts.session).or_insert(0);
        if *last < parts.number || self.mistake == Some(Mistake::MakesTwice) {
            *last = parts.number;
            let is_late = parts.until.is_some_and(|until| record.time > until);
            if !is_late || self.mistake == Some(Mistake::MakesLate) {
                parts.commands.iter().for_each(|command| self.make(command));
            }
            parts.agreed.into_iter().for_each(|agreed| self.take_over(&agreed));
            self.feed.streaming().set_log_time(self.time);
            if let Some(id) = parts.compare {
                let id = u64::from_str_radix(&id, 16).expect("a number");
                self.compared.insert(id, self.digests());
            }
        }
        self.feed.streaming().set_log_time(self.time);
    }

    fn make(&mut self, text: &RawValue) {
        self.done += 1;
        if self.mistake == Some(Mistake::LeavesOut(self.done)) {
            return;
        }
        let at = if self.mistake == Some(Mistake::OwnClock) {
            ChangeTime::Clock
        } else {
            ChangeTime::Log { time: self.time, level: self.level }
        };
        let kind = text.get().split('"').nth(1).expect("a kind");
        let command: Command = serde_json::from_str(text.get()).expect("a command");
        let accepted = match made(&self.feed, command, at) {
            Ok(outcome) => {
                let outcome: Box<dyn Any> = outcome;
                is_any_ok::<Reacted>(&*outcome).or(is_any_ok::<bool>(&*outcome)).unwrap_or(true)
            }
            Err(error) => {
                assert!(is_refusal(&error), "{error}: {text}");
                false
            }
        };
        let counts = self.kinds.entry(kind.to_owned()).or_default();
        counts.0 += u64::from(accepted);
        counts.1 += u64::from(!accepted);
    }

    /// Goes on with other settings, as after a new start.
    fn take_over(&mut self, agreed: &Agreed) {
        self.final_before = self.config.agreed().final_before(self.time, self.final_before);
        self.config.adopt(agreed);
        self.stop();
        let course = self.feed.streaming().sequencer().course();
        // The store is opened anew: its counts in memory go by the kinds of reactions in the settings.
        self.feed.store().write_arrivals().expect("writes");
        self.feed = feed(&self.engine, &self.config, course, self.time, self.final_before);
        self.work();
    }

    fn stop(&mut self) {
        if let Some(workers) = self.workers.take() {
            workers.stop();
        }
    }
}

impl Drop for Fold {
    fn drop(&mut self) {
        self.stop();
    }
}

/// Whether one of several results is good; `None` for an outcome of another type.
fn is_any_ok<T: 'static>(outcome: &dyn Any) -> Option<bool> {
    let results = outcome.downcast_ref::<Vec<Result<T, Error>>>()?;
    Some(results.is_empty() || results.iter().any(Result::is_ok))
}

/// Whether all followers refuse the same command.
fn is_refusal(error: &Error) -> bool {
    error.code().is_some_and(|code| code.status() < 500)
}

fn feed(engine: &Arc<dyn Kv>, config: &Config, course: SequenceState, time: Millis, final_before: Millis) -> Arc<Feed> {
    let store = Arc::new(Store::on(Arc::clone(engine), &Options::new("")).expect("opens"));
    let (backlog, streaming) = (Arc::new(Backlog::new(config.fanout.queue)), Arc::new(Streaming::new(60_000)));
    backlog.restore(store.jobs().expect("jobs"));
    // Before the feed opens, which ends notices by this time. Without one it takes the clock's, years after the log's.
    streaming.set_log_time(time.max(1));
    let feed = Arc::new(Feed::new(store, backlog, streaming, config).expect("a feed"));
    feed.streaming().sequencer().take_course(&course);
    feed.streaming().set_final_before(final_before);
    feed
}

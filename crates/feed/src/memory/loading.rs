//! The filters and mirrors of tables, which a thread fills after the start: however many rows there are, a start does not
//! wait for them.
//!
//! Until the walk over a table has passed a key, the key *may* be there, and whoever asks looks at the table. A change
//! meanwhile adds its keys itself, as at any other time. So every answer is right at every moment. Nothing of this is on
//! disk: whatever ends the server does no harm.

use std::sync::Arc;
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender, TryRecvError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use super::activities::{MOST_RECIPIENTS, PartialPushRecipients};
use super::key_filter::KeyFilter;
use super::unpushed::UnpushedRows;
use crate::memory::key_filter::FilterUsage;
use crate::rows::tables::{ACTIVITY, DELETED, SETTINGS, SUSPENDED, TAKEN_OFF, Table, UNPUSHED};
use crate::rows::{keys, values};
use kv::{Kv, Scope, Tier};
use model::error::{Error, Result};
use model::priority::{self, Pace};
use model::stripes::Striped;
use model::{Activity, UserId};
use parking_lot::Mutex;

/// How long a start waits for the thread: the first answers of a small directory then need no look at the tables.
const WAIT: Duration = Duration::from_millis(200);
/// Some milliseconds.
const FEW: u64 = 10_000;
/// How often it tells its progress.
const TELL_EVERY: Duration = Duration::from_secs(5);
/// The pause between walks that look for users who get partial pushes and did not fit into memory.
const LOOK_EVERY: Duration = Duration::from_secs(3600);
/// Rows between two looks whether to stop.
const ROWS: u64 = 256;

/// The thread, while the engine is open.
#[derive(Debug)]
pub(crate) struct Loader {
    /// Its end stops all walks.
    stop: Option<Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

/// Filters and copies of whole tables, in memory.
pub(crate) struct Loaded {
    /// Ids with a row in `deleted`.
    pub(crate) deleted: KeyFilter,
    /// Users who are or were suspended.
    pub(crate) suspended: KeyFilter,
    /// Users with settings.
    pub(crate) with_settings: KeyFilter,
    /// Items that were taken off a path.
    pub(crate) taken_off: KeyFilter,
    /// Users who are or were evicted.
    pub(crate) evicted: KeyFilter,
    /// The rows of `unpushed`.
    pub(crate) unpushed: UnpushedRows,
    /// Users who get partial pushes.
    pub(crate) partial_push_recipients: PartialPushRecipients,
    /// For changes of an activity, one after the other. Reads take no lock.
    pub(crate) activity_locks: Striped<Mutex<()>>,
}

/// The filters and mirrors to fill, and how far the thread is.
struct Loading {
    kv: Arc<dyn Kv>,
    loaded: Arc<Loaded>,
    stopped: Receiver<()>,
    began: Instant,
    told: Instant,
    rows: u64,
}

impl Loaded {
    /// Nothing is loaded yet.
    pub(crate) fn new(kv: &dyn Kv) -> Result<Self> {
        let filter = |table| Ok::<_, Error>(KeyFilter::to_load(kv.size(table)?.rows));
        Ok(Self {
            deleted: filter(DELETED)?,
            suspended: filter(SUSPENDED)?,
            with_settings: filter(SETTINGS)?,
            taken_off: filter(TAKEN_OFF)?,
            evicted: filter(ACTIVITY)?,
            unpushed: UnpushedRows::default(),
            partial_push_recipients: PartialPushRecipients::new(MOST_RECIPIENTS),
            activity_locks: Striped::default(),
        })
    }

    /// The filters in figures.
    pub(crate) fn filters(&self) -> Vec<FilterUsage> {
        vec![
            self.deleted.usage("deleted"),
            self.evicted.usage("evicted"),
            self.suspended.usage("suspended"),
            self.taken_off.usage("taken_off"),
            self.with_settings.usage("settings"),
        ]
    }
}

impl Loader {
    /// Starts the thread, and waits for it a moment. Loads few rows itself: a thread may come late on a busy machine.
    pub(crate) fn start(kv: &Arc<dyn Kv>, loaded: &Arc<Loaded>) -> Result<Self> {
        let (stop, stopped) = mpsc::channel();
        let (tell, told) = mpsc::channel();
        let mut loading = Loading::of(kv, loaded, stopped);
        let tables = [UNPUSHED, SUSPENDED, TAKEN_OFF, SETTINGS, ACTIVITY, DELETED].into_iter();
        let sizes = tables.map(|table| Ok(kv.size(table)?.rows)).collect::<Result<Vec<_>>>()?;
        let are_few = sizes.into_iter().sum::<u64>() <= FEW;
        if are_few {
            loading.run();
        }
        let thread = std::thread::Builder::new().name("load".to_owned()).spawn(move || {
            priority::lower(priority::JOBS);
            if !are_few {
                loading.run();
            }
            // The start may not have waited.
            let _ = tell.send(());
            loading.go_on();
        });
        let thread = thread.map_err(|e| Error::Setup(format!("cannot start a thread: {e}")))?;
        if !are_few {
            let _ = told.recv_timeout(WAIT);
        }
        Ok(Self { stop: Some(stop), thread: Some(thread) })
    }

    /// Ends the thread, which releases the engine.
    pub(crate) fn stop(&mut self) {
        drop(self.stop.take());
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

impl Loading {
    fn of(kv: &Arc<dyn Kv>, loaded: &Arc<Loaded>, stopped: Receiver<()>) -> Self {
        Self {
            kv: Arc::clone(kv),
            loaded: Arc::clone(loaded),
            stopped,
            began: Instant::now(),
            told: Instant::now(),
            rows: 0,
        }
    }

    /// Fills all, first what costs pages most while it is missing, and last what may take longest.
    fn run(&mut self) {
        let loaded = Arc::clone(&self.loaded);
        let rows = [
            self.load(UNPUSHED, Self::load_unpushed),
            self.load(SUSPENDED, |loading| loading.load_filter(SUSPENDED, &loaded.suspended)),
            self.load(TAKEN_OFF, |loading| loading.load_filter(TAKEN_OFF, &loaded.taken_off)),
            self.load(SETTINGS, |loading| loading.load_filter(SETTINGS, &loaded.with_settings)),
            self.load(ACTIVITY, Self::load_activities),
            self.load(DELETED, |loading| loading.load_filter(DELETED, &loaded.deleted)),
        ];
        let took = self.began.elapsed();
        if took > WAIT && rows.iter().all(Option::is_some) {
            tracing::info!(
                rows = rows.into_iter().flatten().sum::<u64>(),
                seconds = took.as_secs_f64(),
                "the filters over tables are loaded"
            );
        }
    }

    /// From time to time brings those users in for whom there is room by then.
    fn go_on(&mut self) {
        while self.stopped.recv_timeout(LOOK_EVERY) == Err(RecvTimeoutError::Timeout) {
            if self.loaded.partial_push_recipients.leaves_out() {
                self.load(ACTIVITY, Self::load_activities);
            }
        }
    }

    /// Returns how many rows there were. `None` if it ended before: then whoever asks goes on looking at the table.
    fn load(&mut self, table: Table, walk: impl FnOnce(&mut Self) -> Result<bool>) -> Option<u64> {
        self.rows = 0;
        match walk(self) {
            Ok(ended) => ended.then_some(self.rows),
            Err(error) => {
                tracing::warn!(%table, %error, "a table could not be loaded into memory; reads look it up row by row");
                None
            }
        }
    }

    fn load_filter(&mut self, table: Table, filter: &KeyFilter) -> Result<bool> {
        let ended = self.each_row(table, |key, _| {
            filter.add(key);
            filter.passed(key);
            Ok(())
        })?;
        if ended {
            filter.loaded();
        }
        Ok(ended)
    }

    fn load_unpushed(&mut self) -> Result<bool> {
        let loaded = Arc::clone(&self.loaded);
        let unpushed = &loaded.unpushed;
        unpushed.rows.begin_walk();
        let ended = self.each_row(UNPUSHED, |key, row| {
            unpushed.rows.load(user(UNPUSHED, key)?, values::read_unpushed(row)?);
            unpushed.rows.passed(key);
            Ok(())
        })?;
        if ended {
            unpushed.rows.end_walk();
        }
        Ok(ended)
    }

    /// A filter with all evicted users, which [`not_evicted`](crate::inbox::tables::not_evicted) asks first, and all
    /// users who get partial pushes.
    fn load_activities(&mut self) -> Result<bool> {
        let loaded = Arc::clone(&self.loaded);
        let (evicted, recipients) = (&loaded.evicted, &loaded.partial_push_recipients);
        recipients.begin_walk();
        // Users come in before their rows are written: the walk must see the rows of those who came in before it.
        loaded.activity_locks.all().for_each(|lock| drop(lock.lock()));
        let is_first = !evicted.is_loaded();
        let ended = self.each_row(ACTIVITY, |key, row| {
            let (user, activity) = (user(ACTIVITY, key)?, values::read_activity(row)?);
            if let Some(seen) = activity.seen() {
                recipients.load(user, seen);
            }
            if is_first {
                if activity == Activity::Evicted {
                    evicted.add(key);
                }
                evicted.passed(key);
                recipients.passed(key);
            }
            Ok(())
        })?;
        if ended {
            evicted.loaded();
            recipients.end_walk();
        }
        Ok(ended)
    }

    /// Visits the rows of a table as they are when this begins, ascending, each with the first number of its key. Returns
    /// whether it came to the end, and was not stopped.
    fn each_row(&mut self, table: Table, mut visit: impl FnMut(u64, &[u8]) -> Result<()>) -> Result<bool> {
        let kv = Arc::clone(&self.kv);
        let mut rows = kv.now().walk(table, Tier::Disk, Scope::Once)?;
        rows.seek(true, None);
        let mut pace = Pace::default();
        while let Some((key, value)) = rows.item() {
            visit(keys::number(key).ok_or_else(|| Error::Corrupt(format!("a key in {table}")))?, value)?;
            rows.step(true);
            self.rows += 1;
            if self.rows.is_multiple_of(ROWS) {
                if self.stopped.try_recv() != Err(TryRecvError::Empty) {
                    return Ok(false);
                }
                pace.step();
                if self.told.elapsed() >= TELL_EVERY {
                    self.told = Instant::now();
                    tracing::info!(%table, rows = self.rows, "a table is being loaded into memory");
                }
            }
        }
        rows.status()?;
        Ok(true)
    }
}

fn user(table: Table, key: u64) -> Result<UserId> {
    UserId::new(key).map_err(|_| Error::Corrupt(format!("a key in {table}")))
}

#[cfg(test)]
mod tests;

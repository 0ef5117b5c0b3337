//! The filters and mirrors of tables, which a thread fills after the start: however many rows there are, a start does not
//! wait for them.
//!
//! Until the walk over a table ends, each key *may* be there, and whoever asks looks at the table. A change
//! meanwhile adds its keys itself, as at any other time. So every answer is right at every moment. Nothing of this is on
//! disk: whatever ends the server does no harm.

use std::sync::Arc;
use std::time::{Duration, Instant};

use crossbeam_channel::{Receiver, TryRecvError, bounded, never};
use parking_lot::{Mutex, MutexGuard};

use super::activities::{MOST_RECIPIENTS, PartialPushRecipients};
use super::key_filter::KeyFilter;
use super::user_rows::Mirror;
use crate::memory::key_filter::FilterUsage;
use crate::rows::keys;
use crate::rows::table::{AnyTable, Kept};
use crate::rows::tables::ALL;
use crate::rows::values::Value;
use kv::{Kv, Scope, Tier};
use model::error::{Error, Result};
use model::priority::Pace;
use model::stripes::Striped;
use model::threads::Threads;
use model::{Activity, Unpushed, UserId};

/// How long a start waits for the thread: the first answers of a small directory then need no look at the tables.
const WAIT: Duration = Duration::from_millis(200);
/// Some milliseconds.
const FEW: u64 = 10_000;
/// How often it tells its progress.
const TELL_EVERY: Duration = Duration::from_secs(5);
/// Rows between two looks whether to stop.
const ROWS: u64 = 256;

/// Most authors with unpushed items that are kept in memory, at about 100 bytes each. An author is one of them only after having
/// more than `push_threshold` followers, or after a lack of room for jobs on a node of a cluster.
const MOST_UNPUSHED: usize = 1_000_000;

/// Filters and copies of whole tables, in memory.
pub(crate) struct Loaded {
    /// By the places of the tables; empty for those without a filter.
    filters: Vec<KeyFilter>,
    /// The rows of `unpushed`. A read looks up several authors at once, so there is one shard.
    pub(crate) unpushed: Mirror<Unpushed, 1>,
    /// For rows of `unpushed` that are read before they are written.
    pub(crate) unpushed_turns: Striped<Mutex<()>>,
    /// Users who get partial pushes.
    pub(crate) partial_push_recipients: PartialPushRecipients,
    /// For changes of an activity, one after the other. Reads take no lock.
    activities: Striped<Mutex<()>>,
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
        let filter = |table: &AnyTable| match filter_name(table) {
            Some(_) => Ok(KeyFilter::to_load(kv.size(table)?.rows)),
            None => Ok(KeyFilter::default()),
        };
        Ok(Self {
            filters: ALL.iter().map(filter).collect::<Result<_>>()?,
            unpushed: Mirror::new(MOST_UNPUSHED),
            unpushed_turns: Striped::default(),
            partial_push_recipients: PartialPushRecipients::new(MOST_RECIPIENTS),
            activities: Striped::default(),
        })
    }

    /// Lets the activity of a user be changed by one thread at a time, until the result is dropped.
    pub(crate) fn change_activity(&self, user: UserId) -> MutexGuard<'_, ()> {
        self.activities.of(user.get()).lock()
    }

    /// The filter of a table of [`Kept::Filter`], or that of the users who are or were evicted.
    pub(crate) fn filter(&self, table: AnyTable) -> &KeyFilter {
        &self.filters[table.place]
    }

    /// The filters in figures.
    pub(crate) fn filters(&self) -> Vec<FilterUsage> {
        ALL.iter().filter_map(|table| Some(self.filter(table).usage(filter_name(table)?))).collect()
    }
}

/// The name of the filter of a table, if it has one.
fn filter_name(table: AnyTable) -> Option<&'static str> {
    match table.kept {
        Some(Kept::Filter) => Some(table.name),
        Some(Kept::Activities) => Some("evicted"),
        _ => None,
    }
}

/// The tables of which something is to be filled, with about how many rows each has. Last what takes longest.
fn tables(kv: &dyn Kv) -> Result<Vec<(u64, AnyTable)>> {
    let is_loaded = |table: &&AnyTable| filter_name(table).is_some() || table.kept == Some(Kept::Unpushed);
    let sized = ALL.iter().filter(is_loaded).map(|table| Ok((kv.size(table)?.rows, *table)));
    let mut tables = sized.collect::<Result<Vec<_>>>()?;
    tables.sort_by_key(|(rows, _)| *rows);
    Ok(tables)
}

/// Fills all, by a thread that ends when the result is dropped, for which it waits a moment. Loads few rows at once: a thread
/// may come late on a busy machine.
pub(crate) fn load(kv: &Arc<dyn Kv>, loaded: &Arc<Loaded>) -> Result<Threads> {
    let mut threads = Threads::default();
    let tables = tables(&**kv)?;
    if tables.iter().map(|(rows, _)| rows).sum::<u64>() <= FEW {
        Loading::of(kv, loaded, never()).run(&tables);
        return Ok(threads);
    }
    let (kv, loaded) = (Arc::clone(kv), Arc::clone(loaded));
    let (at_work, ended) = bounded::<()>(0);
    threads.start_jobs("load", move |stopped| {
        Loading::of(&kv, &loaded, stopped.clone()).run(&tables);
        drop(at_work);
    })?;
    let _ = ended.recv_timeout(WAIT);
    Ok(threads)
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

    /// Fills what is kept of these tables.
    fn run(&mut self, tables: &[(u64, AnyTable)]) {
        let rows: Vec<_> = tables.iter().map(|(_, table)| self.load_table(table)).collect();
        let took = self.began.elapsed();
        if took > WAIT && rows.iter().all(Option::is_some) {
            tracing::info!(
                rows = rows.into_iter().flatten().sum::<u64>(),
                seconds = took.as_secs_f64(),
                "the filters over tables are loaded"
            );
        }
    }

    /// Adds the rows of a table by `add`. Returns how many there were; `None` if it ended before: then whoever asks goes on looking
    /// at the table.
    fn load(&mut self, table: AnyTable, add: impl FnMut(u64, &[u8]) -> Result<()>) -> Option<u64> {
        self.rows = 0;
        match self.each_row(table, add) {
            Ok(is_whole) => is_whole.then_some(self.rows),
            Err(error) => {
                tracing::warn!(%table, %error, "a table could not be loaded into memory; reads look it up row by row");
                None
            }
        }
    }

    fn load_table(&mut self, table: AnyTable) -> Option<u64> {
        let loaded = Arc::clone(&self.loaded);
        let filter = loaded.filter(table);
        match table.kept {
            Some(Kept::Activities) => {
                let recipients = &loaded.partial_push_recipients;
                self.load(table, |key, row| {
                    let (user, activity) = (user(table, key)?, Activity::read(&[], row)?);
                    if let Some(seen) = activity.seen() {
                        recipients.load(user, seen);
                    }
                    if activity == Activity::Evicted {
                        filter.add(key);
                    }
                    Ok(())
                })
                .inspect(|_| {
                    recipients.loaded();
                    filter.loaded();
                })
            }
            Some(Kept::Unpushed) => {
                let unpushed = &loaded.unpushed;
                self.load(table, |key, row| {
                    unpushed.load(user(table, key)?, Unpushed::read(&[], row)?);
                    Ok(())
                })
                .inspect(|_| unpushed.loaded())
            }
            _ => self
                .load(table, |key, _| {
                    filter.add(key);
                    Ok(())
                })
                .inspect(|_| filter.loaded()),
        }
    }

    /// Visits the rows of a table as they are when this begins, ascending, each with the first number of its key. Returns
    /// whether it came to the end, and was not stopped.
    fn each_row(&mut self, table: AnyTable, mut visit: impl FnMut(u64, &[u8]) -> Result<()>) -> Result<bool> {
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

fn user(table: AnyTable, key: u64) -> Result<UserId> {
    UserId::new(key).map_err(|_| Error::Corrupt(format!("a key in {table}")))
}

#[cfg(test)]
mod tests;

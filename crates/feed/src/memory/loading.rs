//! The filters and mirrors of tables, which a thread fills after the start: however many rows there are, a start does not
//! wait for them.
//!
//! Until the walk over a table has passed a key, the key *may* be there, and whoever asks looks at the table. A change
//! meanwhile adds its keys itself, as at any other time. So every answer is right at every moment. Nothing of this is on
//! disk: whatever ends the server does no harm.

use std::sync::Arc;
use std::time::{Duration, Instant};

use crossbeam_channel::{Receiver, TryRecvError, bounded, never};
use parking_lot::{Mutex, MutexGuard};

use super::activities::{MOST_RECIPIENTS, PartialPushRecipients};
use super::key_filter::{Filled, KeyFilter};
use super::unpushed::UnpushedRows;
use crate::memory::key_filter::FilterUsage;
use crate::rows::keys;
use crate::rows::table::AnyTable;
use crate::rows::tables::{ACTIVITY, DELETED, SETTINGS, SUSPENDED, TAKEN_OFF, UNPUSHED};
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
        let filter = |table: AnyTable| Ok::<_, Error>(KeyFilter::to_load(kv.size(table)?.rows));
        Ok(Self {
            deleted: filter(DELETED.spec)?,
            suspended: filter(SUSPENDED.spec)?,
            with_settings: filter(SETTINGS.spec)?,
            taken_off: filter(TAKEN_OFF.spec)?,
            evicted: filter(ACTIVITY.spec)?,
            unpushed: UnpushedRows::default(),
            partial_push_recipients: PartialPushRecipients::new(MOST_RECIPIENTS),
            activities: Striped::default(),
        })
    }

    /// Lets the activity of a user be changed by one thread at a time, until the result is dropped.
    pub(crate) fn change_activity(&self, user: UserId) -> MutexGuard<'_, ()> {
        self.activities.of(user.get()).lock()
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

/// Fills all, by a thread that ends when the result is dropped, for which it waits a moment. Loads few rows at once: a thread
/// may come late on a busy machine.
pub(crate) fn load(kv: &Arc<dyn Kv>, loaded: &Arc<Loaded>) -> Result<Threads> {
    let mut threads = Threads::default();
    let tables =
        [UNPUSHED.spec, SUSPENDED.spec, TAKEN_OFF.spec, SETTINGS.spec, ACTIVITY.spec, DELETED.spec].into_iter();
    let sizes = tables.map(|table| Ok(kv.size(table)?.rows)).collect::<Result<Vec<_>>>()?;
    if sizes.into_iter().sum::<u64>() <= FEW {
        Loading::of(kv, loaded, never()).run();
        return Ok(threads);
    }
    let (kv, loaded) = (Arc::clone(kv), Arc::clone(loaded));
    let (at_work, ended) = bounded::<()>(0);
    threads.start_jobs("load", move |stopped| {
        Loading::of(&kv, &loaded, stopped.clone()).run();
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

    /// Fills all, first what costs pages most while it is missing, and last what may take longest.
    fn run(&mut self) {
        let loaded = Arc::clone(&self.loaded);
        // A filter of the evicted users is what [`not_evicted`](crate::inbox::tables::not_evicted) asks first.
        let (unpushed, recipients, evicted) = (&loaded.unpushed.rows, &loaded.partial_push_recipients, &loaded.evicted);
        let rows = [
            self.load(&UNPUSHED, &[unpushed], |key, row| {
                unpushed.load(user(&UNPUSHED, key)?, Unpushed::read(&[], row)?);
                Ok(())
            }),
            self.load_filter(&SUSPENDED, &loaded.suspended),
            self.load_filter(&TAKEN_OFF, &loaded.taken_off),
            self.load_filter(&SETTINGS, &loaded.with_settings),
            self.load(&ACTIVITY, &[recipients, evicted], |key, row| {
                let (user, activity) = (user(&ACTIVITY, key)?, Activity::read(&[], row)?);
                if let Some(seen) = activity.seen() {
                    recipients.load(user, seen);
                }
                if activity == Activity::Evicted {
                    evicted.add(key);
                }
                Ok(())
            }),
            self.load_filter(&DELETED, &loaded.deleted),
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

    /// Fills these with the rows of a table, each of which `add` adds. Returns how many rows there were; `None` if it ended
    /// before: then whoever asks goes on looking at the table.
    fn load(
        &mut self,
        table: AnyTable,
        filled: &[&dyn Filled],
        mut add: impl FnMut(u64, &[u8]) -> Result<()>,
    ) -> Option<u64> {
        self.rows = 0;
        let ended = self.each_row(table, |key, row| {
            add(key, row)?;
            filled.iter().for_each(|filled| filled.passed(key));
            Ok(())
        });
        match ended {
            Ok(true) => {
                filled.iter().for_each(|filled| filled.loaded());
                Some(self.rows)
            }
            Ok(false) => None,
            Err(error) => {
                tracing::warn!(%table, %error, "a table could not be loaded into memory; reads look it up row by row");
                None
            }
        }
    }

    fn load_filter(&mut self, table: AnyTable, filter: &KeyFilter) -> Option<u64> {
        self.load(table, &[filter], |key, _| {
            filter.add(key);
            Ok(())
        })
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

//! Quotas: bounded places that many callers share, so that no caller takes those of all others.
//!
//! A quota has three parts. One is for operators only, one for them and the application, and the rest is for all. Of the rest,
//! one caller takes at most a quarter. Places are counted without a lock. Callers are counted by hashes with a random seed:
//! two of them may share a quarter, but nobody can choose with whom.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use tokio::sync::Mutex;

use model::Fill;
use model::error::{Code, Error, Result};

/// The parts of a quota: for operators, and for the application. One place, if a quota has as many as parts.
const OF_OPERATORS: usize = 16;
const OF_APPLICATION: usize = 8;
/// The part of the rest that one caller takes at most.
const OF_CALLER: usize = 4;
/// How many callers are counted apart.
const SLOTS: usize = 1024;
/// Lines of those that wait: one for operators, one for the application, and some for callers. The first of each line waits
/// for places, the others behind it. So a caller whose share is used up holds up few others.
const LINES: usize = 18;
/// How often the first of a line looks for free places. Places are given back all the time, and nobody is told of it.
const LOOK_EVERY: Duration = Duration::from_millis(2);
/// Places are wanted for so long after a refusal, milliseconds.
const SHORT_FOR: u64 = 2000;

/// For whom places are taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Holder {
    /// Operators: their calls, metrics, backups and standbys.
    Operator,
    /// The application: its keys; without keys everyone.
    Application,
    /// The user of a token, or a stranger: a hash.
    Caller(u64),
}

/// A fixed number of places. A clone has the same places.
#[derive(Debug, Clone)]
pub(crate) struct Quota(Arc<Shared>);

#[derive(Debug)]
struct Shared {
    /// Of everyone; of everyone but operators; of callers.
    levels: [Level; 3],
    /// Most places of one caller.
    share: usize,
    callers: Box<[AtomicUsize]>,
    refused: AtomicU64,
    began: Instant,
    lines: [Mutex<()>; LINES],
}

/// Places, of which so many may be in use.
#[derive(Debug)]
struct Level {
    bound: usize,
    used: AtomicUsize,
    /// When a request was refused last because of this level, milliseconds since the beginning; 0 if never.
    refused_at: AtomicU64,
}

impl Level {
    fn of(bound: usize) -> Self {
        Self { bound, used: AtomicUsize::new(0), refused_at: AtomicU64::new(0) }
    }

    fn take(&self, n: usize) -> bool {
        take(&self.used, |used| used + n <= self.bound, n)
    }

    fn has_free(&self, n: usize) -> bool {
        self.bound.saturating_sub(self.used.load(Ordering::Relaxed)) >= n.min(self.bound)
    }
}

fn take(used: &AtomicUsize, may: impl Fn(usize) -> bool, n: usize) -> bool {
    let more = |used| may(used).then_some(used + n);
    used.fetch_update(Ordering::Relaxed, Ordering::Relaxed, more).is_ok()
}

impl Quota {
    /// A quota of `limit`.
    pub(crate) fn new(limit: usize) -> Self {
        Self::in_parts([limit / OF_OPERATORS, limit / OF_APPLICATION], limit)
    }

    /// A quota with these places for operators only, and for the application and them only.
    pub(crate) fn in_parts([operators, application]: [usize; 2], limit: usize) -> Self {
        let rest = limit - operators - application;
        Self(Arc::new(Shared {
            levels: [limit, limit - operators, rest].map(Level::of),
            share: (rest / OF_CALLER).max(1),
            callers: (0..SLOTS).map(|_| AtomicUsize::new(0)).collect(),
            refused: AtomicU64::new(0),
            began: Instant::now(),
            lines: Default::default(),
        }))
    }

    /// The same quota, of which one caller takes at most `most`.
    pub(crate) fn with_share(mut self, most: usize) -> Self {
        // Nobody else has it yet.
        if let Some(shared) = Arc::get_mut(&mut self.0) {
            shared.share = shared.share.min(most);
        }
        self
    }

    /// Takes `n`, or refuses the request. More than the holder can ever have counts as all that.
    pub(crate) fn take(&self, holder: Holder, n: usize) -> Result<Places> {
        self.take_quietly(holder, n).ok_or_else(|| self.refuse(holder, n))
    }

    /// Takes places, and refuses if fewer than `left` would stay free for the holder.
    pub(crate) fn take_and_leave(&self, holder: Holder, n: usize, left: usize) -> Result<Places> {
        let is_there = self.0.has_free(holder, n.saturating_add(left));
        is_there
            .then(|| self.take_quietly(holder, n))
            .flatten()
            .ok_or_else(|| self.refuse(holder, n.saturating_add(left)))
    }

    /// No places yet, for [`Places::grow_to`].
    pub(crate) fn none(&self, holder: Holder) -> Places {
        Places { quota: self.clone(), holder, held: 0 }
    }

    /// Takes `n`, or nothing, and counts no refusal.
    pub(crate) fn take_quietly(&self, holder: Holder, n: usize) -> Option<Places> {
        let mut places = self.none(holder);
        places.grow_quietly(n).then_some(places)
    }

    /// Waits for `n`. Callers are served about in the order of arrival.
    pub(crate) async fn wait_for(&self, holder: Holder, n: usize) -> Places {
        let shared = &self.0;
        let line = match holder {
            Holder::Operator => 0,
            Holder::Application => 1,
            Holder::Caller(hash) => 2 + (hash >> 32) as usize % (LINES - 2),
        };
        let _first = shared.lines[line].lock().await;
        loop {
            if let Some(places) = self.take_quietly(holder, n) {
                return places;
            }
            tokio::time::sleep(LOOK_EVERY).await;
        }
    }

    fn refuse(&self, holder: Holder, n: usize) -> Error {
        let shared = &self.0;
        shared.refused.fetch_add(1, Ordering::Relaxed);
        // None is, if it is the share of a caller that is used up: that takes nothing from others.
        for level in shared.levels_of(holder).iter().filter(|level| !level.has_free(n)) {
            level.refused_at.store(shared.now(), Ordering::Relaxed);
        }
        Code::Overloaded.into()
    }

    /// Whether others have all that a holder could take.
    pub(crate) fn is_full_for(&self, holder: Holder) -> bool {
        !self.0.has_free(holder, 1)
    }

    /// The limit.
    pub(crate) fn limit(&self) -> usize {
        self.0.levels[0].bound
    }

    /// The amount taken, and the limit.
    pub(crate) fn fill(&self) -> Fill {
        Fill::of(self.0.levels[0].used.load(Ordering::Relaxed), self.limit())
    }

    /// Number of refusals.
    pub(crate) fn refused(&self) -> u64 {
        self.0.refused.load(Ordering::Relaxed)
    }
}

impl Shared {
    fn levels_of(&self, holder: Holder) -> &[Level] {
        match holder {
            Holder::Operator => &self.levels[..1],
            Holder::Application => &self.levels[..2],
            Holder::Caller(_) => &self.levels,
        }
    }

    fn slot_of(&self, holder: Holder) -> Option<&AtomicUsize> {
        let Holder::Caller(hash) = holder else { return None };
        self.callers.get(hash as usize % SLOTS)
    }

    /// Milliseconds since the beginning; never 0.
    fn now(&self) -> u64 {
        1 + self.began.elapsed().as_millis() as u64
    }

    /// Whether so many are free, whatever the share of the holder is.
    fn has_free(&self, holder: Holder, n: usize) -> bool {
        self.levels_of(holder).iter().all(|level| level.has_free(n))
    }

    /// Takes some for a holder that has `own` in the same places.
    fn take(&self, holder: Holder, n: usize, own: usize) -> bool {
        // So it takes and gives back nothing, unless another one takes some just now.
        if !self.has_free(holder, n) {
            return false;
        }
        // More than a share passes alone.
        let may = |used: usize| used + n <= self.share || used <= own;
        if self.slot_of(holder).is_some_and(|used| !take(used, may, n)) {
            return false;
        }
        let levels = self.levels_of(holder);
        let Some(full) = levels.iter().position(|level| !level.take(n)) else { return true };
        self.free(&levels[..full], self.slot_of(holder), n);
        false
    }

    fn free(&self, levels: &[Level], slot: Option<&AtomicUsize>, n: usize) {
        for used in levels.iter().map(|level| &level.used).chain(slot) {
            used.fetch_sub(n, Ordering::Relaxed);
        }
    }
}

/// Some places of a [`Quota`], given back when dropped.
#[derive(Debug)]
#[must_use = "the places are given back when this is dropped"]
pub(crate) struct Places {
    quota: Quota,
    holder: Holder,
    held: usize,
}

impl Places {
    /// How many they are.
    pub(crate) fn amount(&self) -> usize {
        self.held
    }

    /// Takes more, up to `n` in all, or refuses the request. More than the holder can ever have counts as all that.
    pub(crate) fn grow_to(&mut self, n: usize) -> Result<()> {
        if self.grow_quietly(n) { Ok(()) } else { Err(self.quota.refuse(self.holder, n.saturating_sub(self.amount()))) }
    }

    fn grow_quietly(&mut self, n: usize) -> bool {
        let shared = &self.quota.0;
        let most = shared.levels_of(self.holder).last().map_or(0, |level| level.bound);
        let more = n.min(most).saturating_sub(self.held);
        let is_there = more == 0 || shared.take(self.holder, more, self.held);
        self.held += if is_there { more } else { 0 };
        is_there
    }

    /// None of the same quota, for the same holder.
    pub(crate) fn none(&self) -> Self {
        self.quota.none(self.holder)
    }

    /// Makes those of a caller the application's: they leave the share of the caller.
    pub(crate) fn pass_to_application(&mut self) {
        let shared = &self.quota.0;
        if let Holder::Caller(_) = self.holder {
            shared.free(&shared.levels[2..], shared.slot_of(self.holder), self.held);
            self.holder = Holder::Application;
        }
    }

    /// Gives all back but `n`.
    pub(crate) fn shrink_to(&mut self, n: usize) {
        let shared = &self.quota.0;
        let less = self.held.saturating_sub(n);
        self.held -= less;
        if less > 0 {
            shared.free(shared.levels_of(self.holder), shared.slot_of(self.holder), less);
        }
    }

    /// Whether others were refused such places a moment ago. Then they are given up if they are held without progress.
    pub(crate) fn are_wanted(&self) -> bool {
        let (shared, now) = (&self.quota.0, self.quota.0.now());
        let is_recent = |refused_at: u64| refused_at > 0 && now.saturating_sub(refused_at) < SHORT_FOR;
        shared.levels_of(self.holder).iter().any(|level| is_recent(level.refused_at.load(Ordering::Relaxed)))
    }
}

impl Drop for Places {
    fn drop(&mut self) {
        self.shrink_to(0);
    }
}

#[cfg(test)]
mod tests;

//! A follower in this process: a node that applies the recorded log, with restarts and crashes, up to its end.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::sync::Arc;
use std::time::{Duration, Instant};

use cluster::{Compared, Comparison};
use fastrand::Rng;
use feed::Feed;
use feed::worker::Candidates;
use model::ContentId;
use model::store::{TableDigest, Tier};
use tempfile::TempDir;

use super::parts::{CROWD, Findings, Parts, Share, config, digests, open};
use super::tape::{Tape, Way};
use super::upkeep;
use crate::promises::crash::{copy_live, cut_log, newest_log, whole_writes};
use crate::promises::names::Ids;
use crate::promises::replay::seen;
use crate::promises::shape::Kind;
use crate::promises::system::temp_dir;
use store::kv::Kv;
use store::{Options, Store, in_memory};

/// Longest time without any progress.
const PATIENCE: Duration = Duration::from_secs(120);
/// Items whose counts are compared.
const LOOKED_AT: u64 = 3000;
/// Longest time for the jobs that are left.
const JOBS: Duration = Duration::from_secs(600);

/// Counts of the life of a follower.
#[derive(Debug, Default, Clone, Copy)]
pub(crate) struct Counts {
    pub(crate) starts: u64,
    /// Starts on the directory as it was at some instant.
    pub(crate) crashes: u64,
    /// Starts on such a directory without the newest writes.
    pub(crate) cuts: u64,
    /// Steps of upkeep and reads.
    pub(crate) steps: u64,
    /// Digests at places of the log that were equal to those of the fold.
    pub(crate) compared: u64,
}

/// A follower of a tape.
pub(crate) struct Follower {
    pub(crate) name: String,
    ids: Ids,
    kind: Kind,
    share: Share,
    tape: Arc<Tape>,
    random: Rng,
    dir: Option<TempDir>,
    /// The engine in memory.
    engine: Option<Arc<dyn Kv>>,
    parts: Option<Parts>,
    way: Arc<Way>,
    pub(crate) counts: Counts,
}

/// The end of a stage.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Ending {
    Stop,
    Crash,
    /// A crash that loses the newest writes.
    Cut,
}

impl Follower {
    pub(crate) fn new(name: &str, ids: Ids, kind: Kind, share: Share, tape: &Arc<Tape>, seed: u64) -> Self {
        let mut random = Rng::with_seed(seed);
        let dir = (kind == Kind::Rocks).then(temp_dir);
        let way = Way::new(tape, random.u64(..), 1);
        let (name, tape) = (name.to_owned(), Arc::clone(tape));
        Self { name, ids, kind, share, tape, random, dir, engine: None, parts: None, way, counts: Counts::default() }
    }

    /// Goes on with a directory that has applied all records.
    pub(crate) fn over(name: &str, ids: Ids, dir: TempDir, share: Share, tape: &Arc<Tape>, seed: u64) -> Self {
        let mut follower = Self::new(name, ids, Kind::Rocks, share, tape, seed);
        follower.dir = Some(dir);
        follower.way.reveal(tape.end());
        follower
    }

    /// Applies the whole log in about so many stages, each with settings of its own.
    pub(crate) fn follow(&mut self, stages: u64, compared: &BTreeMap<u64, Vec<TableDigest>>) -> Result<(), String> {
        let end = self.tape.end();
        let (mut shown, mut pace) = (1, Duration::from_micros(100));
        while shown < end {
            let stage = self.random.u64(1..=2 * end.div_ceil(stages)).min(end - shown);
            shown += stage;
            self.start();
            let began = Instant::now();
            self.way.reveal(shown);
            let ending = match self.random.u32(..6) {
                _ if self.kind == Kind::Memory => Ending::Stop,
                0 | 1 => Ending::Stop,
                2 | 3 => Ending::Crash,
                _ => Ending::Cut,
            };
            // At any instant of the stage, which takes about as long as the last one.
            let after = pace.mul_f64(self.random.f64()) * u32::try_from(stage).unwrap_or(u32::MAX);
            let after = (ending != Ending::Stop).then_some(after);
            self.stage(shown, after, compared)?;
            if after.is_none() && stage > 50 {
                pace = began.elapsed() / u32::try_from(stage).unwrap_or(u32::MAX);
            }
            self.end(ending);
        }
        self.start();
        self.stage(end, None, compared)
    }

    fn parts(&self) -> &Parts {
        self.parts.as_ref().expect("a running follower")
    }

    fn start(&mut self) {
        self.counts.starts += 1;
        self.way.rest(false);
        let (config, candidates) = (config(&self.name, self.share, &mut self.random), Candidates::default());
        let store = match &self.dir {
            Some(dir) => open(dir.path(), &config, &candidates),
            None => {
                let options = Options::new("");
                let engine = self.engine.get_or_insert_with(|| in_memory(&options));
                Arc::new(Store::on(Arc::clone(engine), &options).expect("opens"))
            }
        };
        let works = self.random.u32(..5) > 0;
        self.parts = Some(Parts::start(store, config, candidates, &self.way, works));
    }

    /// Waits for a position, or for a time, while readers read and upkeep is done. Settings of all nodes are taken over.
    fn stage(
        &mut self,
        position: u64,
        most: Option<Duration>,
        compared: &BTreeMap<u64, Vec<TableDigest>>,
    ) -> Result<(), String> {
        let until = most.map(|most| Instant::now() + most);
        let mut progress = (0, Instant::now());
        let mut seen = BTreeSet::new();
        loop {
            let parts = self.parts();
            let at = parts.node.position();
            if at > progress.0 {
                progress = (at, Instant::now());
            }
            ensure!(progress.1.elapsed() < PATIENCE, "{}: no progress, {:?}", self.name, parts.node.status());
            if let Some(fault) = parts.fault() {
                ensure!(Parts::takes_over(&fault), "{} has stopped: {fault}", self.name);
                drop(self.parts.take().expect("a running follower").stop());
                self.start();
                continue;
            }
            for (id, should_be) in compared {
                if !seen.contains(id)
                    && let Some(Comparison { position, state: Compared::Done(digests) }) = parts.node.comparison(*id)
                {
                    same(should_be, &digests, &format!("{} at position {position}", self.name))?;
                    seen.insert(*id);
                }
            }
            self.way.rest(parts.workers.is_some() && parts.feed.backlog().len() > CROWD);
            if at >= position || until.is_some_and(|until| Instant::now() >= until) {
                break;
            }
            let mut random = self.random.fork();
            for _ in 0..random.u32(..6) {
                upkeep::step(&self.parts().feed, self.ids, u32::from(self.kind == Kind::Rocks), &mut random)?;
                self.counts.steps += 1;
            }
            std::thread::sleep(Duration::from_millis(random.u64(1..6)));
        }
        self.way.rest(false);
        self.counts.compared += seen.len() as u64;
        Ok(())
    }

    /// Ends a stage.
    fn end(&mut self, ending: Ending) {
        let copy = match (&self.dir, ending) {
            (Some(dir), Ending::Crash | Ending::Cut) => copy_live(dir.path()),
            _ => None,
        };
        let store = self.parts.take().expect("a running follower").stop();
        if let Some(copy) = copy {
            self.counts.crashes += 1;
            if ending == Ending::Cut {
                self.counts.cuts += 1;
                cut(&copy, &mut self.random);
            }
            drop(store);
            self.dir = Some(copy);
        }
    }

    /// The digests and all that readers see, at the end of the log: at once, and after all jobs.
    pub(crate) fn shows(&mut self) -> Result<ItemView, String> {
        if self.parts.is_none() {
            self.start();
        }
        let end = self.tape.end();
        self.stage(end, None, &BTreeMap::new())?;
        let parts = self.parts.as_mut().expect("a running follower");
        let time = parts.node.status().time;
        let (digests_before, pages_before) = (digests(&parts.feed, time), pages(&parts.feed, self.ids));
        parts.work();
        ensure!(parts.feed.backlog().wait_until_empty(JOBS), "{}: jobs are not done in time", self.name);
        let shown = ItemView { digests: digests(&parts.feed, time), pages: pages(&parts.feed, self.ids) };
        same(&shown.digests, &digests_before, &format!("{} before its jobs", self.name))?;
        same_pages(&shown.pages, &pages_before, &format!("{} before its jobs", self.name))?;
        let mut findings = Findings::default();
        parts.feed.store().audit(&mut findings).map_err(|e| format!("an audit fails: {e}"))?;
        ensure_eq!(findings.0, Vec::<String>::new(), "the audit of {}", self.name);
        Ok(shown)
    }
}

/// Cuts the write-ahead log of a directory at the end of any write.
fn cut(dir: &TempDir, random: &mut Rng) {
    let ends = whole_writes(&fs::read(newest_log(dir.path())).expect("reads"));
    if !ends.is_empty() {
        let late = ends.len().saturating_sub(3000);
        cut_log(dir.path(), ends[random.usize(late..ends.len())]);
    }
}

/// All that a follower shows at the end of the log.
pub(crate) struct ItemView {
    pub(crate) digests: Vec<TableDigest>,
    pub(crate) pages: Vec<String>,
}

/// All that readers see: also the counts of live items. The counts of others may be purged.
pub(crate) fn pages(feed: &Feed, ids: Ids) -> Vec<String> {
    let items: Vec<ContentId> = (1..LOOKED_AT).map(|raw| feed.read().find(&ids.host(raw)).expect("finds")).collect();
    let contents = feed.store().contents(&items, Tier::Disk).expect("reads");
    let live: Vec<_> = contents.into_iter().flatten().map(|item| item.id).collect();
    let counts = feed.store().item_counts(&live, Tier::Disk).expect("reads");
    let others = [3, 100].into_iter().flat_map(|limit| seen(feed, ids, limit));
    let others = others.filter(|line| !line.starts_with("counts "));
    others.chain([format!("live {live:?} {counts:?}")]).collect()
}

/// Compares digests.
pub(crate) fn same(should_be: &[TableDigest], is: &[TableDigest], which: &str) -> Result<(), String> {
    ensure_eq!(is.len(), should_be.len(), "tables of {which}");
    let differing: Vec<_> = is.iter().zip(should_be).filter(|(is, should_be)| is != should_be).collect();
    ensure!(differing.is_empty(), "the digests of {which} differ from those of the fold: {differing:?}");
    Ok(())
}

/// Compares what readers see.
pub(crate) fn same_pages(should_be: &[String], is: &[String], which: &str) -> Result<(), String> {
    ensure_eq!(is.len(), should_be.len(), "answers of {which}");
    for (is, should_be) in is.iter().zip(should_be) {
        ensure_eq!(is, should_be, "an answer of {which}");
    }
    Ok(())
}

//! One service in one execution, and the actions of its threads.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex};

use shuttle::sync::atomic::{AtomicUsize, Ordering};

use crate::actors::Actor;
use crate::promises::history::{Clock, History};
use crate::worker::Worker;
use config::{Config, Duration};
use double::{Double, Fault};
use feed::Feed;
use feed::backlog::Backlog;
use feed::streaming::Streaming;
use model::clock;
use model::store::Store;
use model::{ContentId, Cursor, Millis, UserId};

/// Steps in a wrong order, with which a test shows that it would find them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Wrong {
    Nothing,
    InStore(Fault),
    FinishBeforeDeliver,
    FinishBeforeSettle,
    UnsettleAfterWrite,
    RebuildWithoutEntries,
}

/// The settings of a scenario.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Settings {
    pub(crate) push_threshold: u64,
    pub(crate) active_for: Millis,
    pub(crate) inbox_limit: usize,
    pub(crate) workers: usize,
}

pub(crate) struct World {
    pub(crate) store: Arc<dyn Store>,
    pub(crate) backlog: Arc<Backlog>,
    pub(crate) feed: Feed,
    pub(crate) ticks: Clock,
    pub(crate) wrong: Wrong,
    /// The comments made.
    pub(crate) made: Mutex<BTreeSet<ContentId>>,
    /// For each poller, the cursor for its next poll and the comments found.
    pub(crate) polled: Mutex<Vec<(Option<Cursor>, Vec<ContentId>)>>,
    worker: Worker,
    running: AtomicUsize,
}

/// The actions of a thread.
pub(crate) type Act = fn(&mut Actor<'_>);

const FOLLOW_LIMIT: usize = 100;
/// Longer than any scenario.
const LONG: Millis = 1 << 40;

impl World {
    fn new(settings: Settings, wrong: Wrong) -> Self {
        clock::reset();
        let store: Arc<dyn Store> = Arc::new(match wrong {
            Wrong::InStore(fault) => Double::with(fault),
            _ => Double::new(),
        });
        let backlog = Arc::new(Backlog::new(1000));
        let mut config = Config::default();
        config.timeline.active_for = Duration::from_millis(settings.active_for);
        config.timeline.evict_after = Duration::from_millis(0);
        config.timeline.inbox_limit = settings.inbox_limit;
        config.fanout.chunk = 1;
        config.fanout.push_threshold = settings.push_threshold;
        config.fanout.pull_threshold = 100;
        config.graph.follow_limit = FOLLOW_LIMIT;
        config.content.max_ahead = Duration::from_millis(LONG);
        let streaming = Arc::new(Streaming::new(LONG));
        // The readers are online: they get an item for more than one follower first.
        for reader in Self::readers() {
            streaming.presence().beat(reader, 0);
        }
        let feed =
            Feed::new(Arc::clone(&store), Arc::clone(&backlog), Arc::clone(&streaming), &config).expect("events");
        let worker = Worker::new(Arc::clone(&store), Arc::clone(&backlog), streaming, config, wrong);
        Self {
            store,
            backlog,
            feed,
            ticks: Clock::default(),
            wrong,
            made: Mutex::default(),
            polled: Mutex::default(),
            worker,
            running: AtomicUsize::new(0),
        }
    }

    /// Does `before` alone and completely, then `acts` at the same time, then reads everything. Returns all calls.
    pub(crate) fn play(settings: Settings, wrong: Wrong, before: Act, acts: &[Act]) -> (Arc<Self>, History) {
        let world = Arc::new(Self::new(settings, wrong));
        let mut all = Actor::act(&world, before);
        world.drain();
        world.running.store(acts.len(), Ordering::SeqCst);
        let workers: Vec<_> = (0..settings.workers)
            .map(|_| {
                let world = Arc::clone(&world);
                shuttle::thread::spawn(move || world.worker.run(|| world.running.load(Ordering::SeqCst) == 0))
            })
            .collect();
        let actors: Vec<_> = acts
            .iter()
            .map(|act| {
                let (world, act) = (Arc::clone(&world), *act);
                shuttle::thread::spawn(move || {
                    let history = Actor::act(&world, act);
                    world.running.fetch_sub(1, Ordering::SeqCst);
                    history
                })
            })
            .collect();
        for actor in actors {
            merge(&mut all, actor.join().expect("no panic"));
        }
        merge(&mut all, Actor::act(&world, |actor| actor.scroll_all()));
        for worker in workers {
            worker.join().expect("no panic");
        }
        merge(&mut all, Actor::act(&world, |actor| actor.scroll_all()));
        world.drain();
        (world, all)
    }

    /// Does all jobs.
    pub(crate) fn drain(&self) {
        self.worker.run(|| true);
    }

    /// The readers of all scenarios.
    pub(crate) fn readers() -> [UserId; 2] {
        [1, 2].map(|raw| UserId::new(raw).expect("an id"))
    }
}

/// Adds later calls. A pair that was changed before and after keeps both changes.
fn merge(all: &mut History, later: History) {
    all.lives.extend(later.lives);
    all.reads.extend(later.reads);
    for (all, later) in [
        (&mut all.pairs, later.pairs),
        (&mut all.blocks, later.blocks),
        (&mut all.apart, later.apart),
        (&mut all.rules, later.rules),
        (&mut all.suspensions, later.suspensions),
    ] {
        for (pair, changes) in later {
            all.entry(pair).or_default().extend(changes);
        }
    }
}

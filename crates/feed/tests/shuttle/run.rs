//! Many schedules of one scenario.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use shuttle::scheduler::{PctScheduler, RandomScheduler};
use shuttle::{Config, FailurePersistence, Runner};

use crate::actors::poll;
use crate::promises::history::{History, Seen};
use crate::promises::seed::{scaled, seed};
use crate::world::{Act, Settings, World, Wrong};
use model::store::Tier;
use model::{Entry, Order, Span};

/// Schedules of a scenario, of each of the two kinds.
const SCHEDULES: (u32, u32) = (500, 2000);
/// Switches in a schedule of the second kind.
const DEPTH: usize = 3;
/// The author of comments, in scenarios with comments.
const COMMENTER: u64 = 11;
/// Bytes of stack for a thread.
const STACK: usize = 1 << 18;

/// The actions of a scenario, and the expected timelines.
#[derive(Clone)]
pub(crate) struct Scenario {
    pub(crate) settings: Settings,
    /// Done first, alone and completely.
    pub(crate) before: Act,
    /// Done at the same time.
    pub(crate) acts: &'static [Act],
    /// The allowed whole timelines; empty if only the changes decide.
    pub(crate) instants: &'static [&'static [u64]],
}

impl Scenario {
    fn play(&self, wrong: Wrong) -> Result<(), String> {
        let (world, all) = World::play(self.settings, wrong, self.before, self.acts);
        for read in &all.reads {
            all.check(read, false).map_err(|wrong| all.tell(read, &wrong))?;
        }
        self.check_instants(&all)?;
        check_polls(&world)?;
        check_inboxes(&world)
    }

    fn check_instants(&self, all: &History) -> Result<(), String> {
        let ids = |entries: &[Entry]| entries.iter().map(|entry| entry.cursor.id.get()).collect::<Vec<_>>();
        for read in &all.reads {
            if let Seen::Timeline(_, page) = &read.seen {
                let is = ids(&page.items);
                let right = self.instants.is_empty() || self.instants.iter().any(|instant| is == *instant);
                ensure!(right, "{is:?} is of no instant: {read:?}");
            }
        }
        Ok(())
    }

    /// No schedule may fail.
    pub(crate) fn holds(&self) {
        let scenario = self.clone();
        let play = move || {
            if let Err(failure) = scenario.play(Wrong::Nothing) {
                panic!("{failure}");
            }
        };
        random(FailurePersistence::Print, play.clone());
        careful(FailurePersistence::Print, play);
    }

    /// With this error some schedule must fail.
    pub(crate) fn fails(&self, wrong: Wrong) {
        let (scenario, found) = (self.clone(), Arc::new(AtomicBool::new(false)));
        let finds = Arc::clone(&found);
        let play = move || {
            if scenario.play(wrong).is_err() {
                finds.store(true, Ordering::SeqCst);
            }
        };
        careful(FailurePersistence::None, play.clone());
        if !found.load(Ordering::SeqCst) {
            random(FailurePersistence::None, play);
        }
        assert!(found.load(Ordering::SeqCst), "{wrong:?} is not found out");
    }
}

/// Any thread may run next at any point.
pub(crate) fn random(failure_persistence: FailurePersistence, play: impl Fn() + Send + Sync + 'static) {
    let scheduler = RandomScheduler::new_from_seed(seed(), scaled(SCHEDULES.0) as usize);
    Runner::new(scheduler, config(failure_persistence)).run(play);
}

/// Each thread runs until it waits, except for a few switches. Finds errors that need a long pause.
pub(crate) fn careful(failure_persistence: FailurePersistence, play: impl Fn() + Send + Sync + 'static) {
    let scheduler = PctScheduler::new_from_seed(seed(), DEPTH, scaled(SCHEDULES.1) as usize);
    Runner::new(scheduler, config(failure_persistence)).run(play);
}

fn config(failure_persistence: FailurePersistence) -> Config {
    let mut config = Config::new();
    config.stack_size = STACK;
    config.failure_persistence = failure_persistence;
    config.silence_warnings = true;
    config
}

/// Each poller must have found every comment with the server's time once.
fn check_polls(world: &World) -> Result<(), String> {
    let made: Vec<_> = world.made.lock().expect("no panic").iter().copied().collect();
    for (after, found) in world.polled.lock().expect("no panic").iter_mut() {
        poll(world, COMMENTER, after, found);
        found.retain(|comment| made.contains(comment));
        found.sort_unstable();
        ensure_eq!(*found, made, "comments found by asking for newer ones");
    }
    Ok(())
}

/// Finds errors that only a later answer would show. Once no job is left, nothing may be pending or unsettled, and
/// no inbox may have rows of authors who are not followed.
fn check_inboxes(world: &World) -> Result<(), String> {
    for reader in World::readers() {
        ensure_eq!(world.backlog.unsettled(reader), Vec::new(), "unsettled pairs of {reader}");
        let followees = world.store.followees(reader, Tier::Disk).map_err(|e| e.to_string())?;
        let pending = world.backlog.pending(&followees, Span::ALL.newest(usize::MAX), usize::MAX);
        ensure_eq!(pending, Some(Vec::new()), "pending for {reader}");
        let mut stale = Vec::new();
        let mut visit = |entry: Entry| {
            stale.extend((!followees.contains(&entry.source)).then_some(entry));
            std::ops::ControlFlow::Continue(())
        };
        world.store.inbox(reader, Span::ALL, Order::NewestFirst, Tier::Disk, &mut visit).map_err(|e| e.to_string())?;
        ensure_eq!(stale, Vec::new(), "rows of {reader} of sources that are not followed");
    }
    Ok(())
}

//! One thread makes all changes of a server without a command log, in groups: each change stands on those before it, all of a
//! group are written and flushed at once, and then come the steps that others see, and the answers.

use std::fmt;
use std::iter::Peekable;
use std::ops::RangeInclusive;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use crossbeam_channel::{Receiver, RecvTimeoutError, Sender, bounded};

use crate::core::Core;
use crate::deadline::answer_due;
use crate::streaming::ChangeTime;
use crate::writer::command::{Command, Made};
use crate::writer::group::Group;
use model::error::{Code, Error, Result};
use model::metrics::Page;
use model::sync::atomic::{AtomicU64, Ordering};
use model::{Fill, figures, priority, threads};

/// Most changes that wait. The HTTP side lets fewer wait.
const MOST_WAITING: usize = 4096;
/// Most changes of one call that wait at a time, so that others come between the lines of an import.
const MOST_OF_ONE: usize = 64;
/// Most changes that are taken at a time, and brought into the order of their ids.
const MOST_TAKEN: usize = 256;
/// How long a publish waits while the times given are too far ahead of the clock, and how often it is tried.
const MOST_WAIT: Duration = Duration::from_secs(1);
const TRY_EVERY: Duration = Duration::from_millis(1);

type Reply = Box<dyn FnOnce(Made) + Send>;

/// A change that waits.
struct Waiter {
    /// In a box: it is large, and moves often.
    command: Box<Command>,
    reply: Reply,
    /// See [`answer_due`].
    due: Option<Instant>,
    /// Since when its times are too far ahead of the clock.
    crowded_since: Option<Instant>,
}

/// The way to the thread, if there is one, and its figures. The thread ends with it.
#[derive(Default)]
pub(crate) struct Writer {
    queue: Option<Sender<Waiter>>,
    thread: Option<JoinHandle<()>>,
    counts: Arc<Counts>,
}

#[derive(Debug, Default)]
struct Counts {
    waiting: AtomicU64,
    changes: AtomicU64,
    groups: AtomicU64,
    refused: AtomicU64,
}

impl fmt::Debug for Writer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Writer").field("counts", &self.counts).finish_non_exhaustive()
    }
}

impl Writer {
    /// Starts the thread, which makes changes of this core: its store groups them.
    pub(crate) fn start(feed: Core) -> Result<Self> {
        let (queue, works) = bounded(MOST_WAITING);
        let counts = Arc::<Counts>::default();
        let of_writer = Arc::clone(&counts);
        let run = move || {
            priority::lower(priority::CALLS);
            Groups { feed: &feed, counts: &of_writer, works, crowded: Vec::new(), tried: Instant::now() }.run();
        };
        Ok(Self { queue: Some(queue), thread: Some(threads::start("writer", run)?), counts })
    }

    /// How many changes were refused because too many waited.
    pub(crate) fn refused(&self) -> u64 {
        self.counts.refused.load(Ordering::Relaxed)
    }

    /// Writes the figures to a page.
    pub(crate) fn write_figures(&self, page: &mut Page) {
        let Counts { waiting, changes, groups, .. } = &*self.counts;
        figures! { page =>
            /// Changes that wait to be made.
            tideline_changes_waiting = Fill { used: waiting.load(Ordering::Relaxed), limit: MOST_WAITING as u64 };
            /// Changes answered, also those without an effect; not those of a command log.
            tideline_changes_total = changes;
            /// Groups of changes. A group is one write, or none if it has no new row.
            tideline_change_groups_total = groups;
        }
    }

    fn queue(&self) -> Result<&Sender<Waiter>> {
        self.queue.as_ref().ok_or_else(|| Code::Stopping.into())
    }

    /// Hands over a change; `reply` gets the result. Does not block; `overloaded` if too many wait.
    pub(crate) fn ask(&self, command: Command, reply: Reply) -> Result<()> {
        let waiter = Waiter { command: Box::new(command), reply, due: answer_due(), crowded_since: None };
        let queue = self.queue()?;
        self.counts.waiting.fetch_add(1, Ordering::Relaxed);
        queue.try_send(waiter).map_err(|_| {
            self.counts.waiting.fetch_sub(1, Ordering::Relaxed);
            self.counts.refused.fetch_add(1, Ordering::Relaxed);
            Error::refused(Code::Overloaded, "too many changes are waiting. Send the request again later")
        })
    }

    /// Hands over changes in their order, some at a time, and waits for the results.
    pub(crate) fn make(&self, commands: Vec<Command>) -> Result<Vec<Made>> {
        let (tell, results) = bounded(commands.len());
        let (queue, number) = (self.queue()?, commands.len());
        let mut made = Vec::with_capacity(number);
        for (place, command) in commands.into_iter().enumerate() {
            if place >= made.len() + MOST_OF_ONE {
                made.extend(results.recv());
            }
            let tell = tell.clone();
            // The caller waits for it.
            let reply: Reply = Box::new(move |made| _ = tell.send((place, made)));
            self.counts.waiting.fetch_add(1, Ordering::Relaxed);
            let waiter = Waiter { command: Box::new(command), reply, due: answer_due(), crowded_since: None };
            queue.send(waiter).map_err(|_| Error::from(Code::Stopping))?;
        }
        drop(tell);
        made.extend(results.into_iter().take(number - made.len()));
        made.sort_unstable_by_key(|(place, _)| *place);
        if made.len() < number {
            return Err(Error::Panicked("in the thread that makes changes".to_owned()));
        }
        Ok(made.into_iter().map(|(_, made)| made).collect())
    }
}

impl Drop for Writer {
    /// Ends the thread once it has made the changes that wait.
    fn drop(&mut self) {
        drop(self.queue.take());
        // The last answer may be the last to hold the service.
        let thread = self.thread.take().filter(|thread| thread.thread().id() != std::thread::current().id());
        if let Some(thread) = thread {
            let _ = thread.join();
        }
    }
}

/// The loop of the thread.
struct Groups<'f> {
    feed: &'f Core,
    counts: &'f Counts,
    works: Receiver<Waiter>,
    /// Publishes whose times are too far ahead of the clock.
    crowded: Vec<Waiter>,
    /// When they were tried.
    tried: Instant,
}

impl Groups<'_> {
    fn run(mut self) {
        loop {
            let first = match self.crowded.is_empty() {
                true => self.works.recv().map_err(|_| RecvTimeoutError::Disconnected),
                false => self.works.recv_timeout(TRY_EVERY),
            };
            let mut group = match first {
                Ok(first) => vec![first],
                Err(RecvTimeoutError::Disconnected) if self.crowded.is_empty() => return,
                Err(RecvTimeoutError::Disconnected) => {
                    std::thread::sleep(TRY_EVERY);
                    Vec::new()
                }
                Err(RecvTimeoutError::Timeout) => Vec::new(),
            };
            group.extend(self.works.try_iter().take(MOST_TAKEN));
            if self.tried.elapsed() >= TRY_EVERY {
                self.tried = Instant::now();
                group.append(&mut self.crowded);
            }
            let mut waiters = in_order_of_ids(group).peekable();
            while waiters.peek().is_some() {
                self.make_group(&mut waiters);
            }
        }
    }

    /// Makes changes for some milliseconds, and writes them.
    fn make_group(&mut self, waiters: &mut Peekable<impl Iterator<Item = Waiter>>) {
        let (feed, mut answers, mut taken) = (self.feed, Vec::new(), 0);
        let mut group = Group::begin(feed, ChangeTime::Clock);
        let began = Instant::now();
        let is_late = |waiter: &Waiter| waiter.due.is_some_and(|due| due <= began);
        while let Some(mut waiter) = waiters.next_if(|waiter| group.takes(&waiter.command)) {
            if is_late(&waiter) {
                // The caller may have made other changes since.
                answers.push((waiter.reply, Vec::new(), Err(Code::Timeout.into())));
            } else if waiter.crowded_since.is_none_or(|since| since.elapsed() < MOST_WAIT)
                && waiter.command.untimed_ids().is_some_and(|ids| feed.streaming.sequencer().is_crowded(*ids.start()))
            {
                waiter.crowded_since = waiter.crowded_since.or(Some(began));
                self.crowded.push(waiter);
                continue;
            } else {
                let (Waiter { mut command, reply, .. }, mut joined) = (waiter, Vec::new());
                while let Some(next) = waiters.next_if(|next| !is_late(next) && command.is_joined_by(&next.command)) {
                    taken += 1;
                    joined.push((command.join(*next.command), next.reply));
                }
                answers.push((reply, joined, group.make(*command)));
            }
            taken += 1;
        }
        let (written, counts) = (group.end(), self.counts);
        counts.groups.fetch_add(1, Ordering::Relaxed);
        counts.changes.fetch_add(taken, Ordering::Relaxed);
        counts.waiting.fetch_sub(taken, Ordering::Relaxed);
        // After a panic the caller gets an error.
        let tell = |reply: Reply, made| _ = catch_unwind(AssertUnwindSafe(|| reply(made)));
        for (reply, joined, made) in answers {
            // A refusal may stand on a change that is not made.
            let made = written.clone().and(made);
            if joined.is_empty() {
                tell(reply, made);
                continue;
            }
            let (results, joined): (Vec<_>, Vec<_>) = joined.into_iter().unzip();
            let reply = [reply].into_iter().chain(joined);
            reply.zip(Command::parted(made, &results)).for_each(|(reply, made)| tell(reply, made));
        }
    }
}

/// Brings publishes without times into the order of their ids: times of rising ids need not rise. They came at the same time, so
/// the order among them is free.
fn in_order_of_ids(waiters: Vec<Waiter>) -> impl Iterator<Item = Waiter> {
    let mut places: Vec<_> = waiters.into_iter().map(Some).collect();
    let is_untimed = |waiter: &mut Waiter| waiter.command.untimed_ids().is_some();
    let mut untimed: Vec<_> = places.iter_mut().filter_map(|waiter| waiter.take_if(is_untimed)).collect();
    untimed.sort_by_key(|waiter| waiter.command.untimed_ids().map(RangeInclusive::into_inner));
    let mut untimed = untimed.into_iter();
    places.into_iter().filter_map(move |waiter| waiter.or_else(|| untimed.next()))
}

//! Queues of changes: one for the reactions to each item, and one for publishes. Changes of a queue wait while earlier ones are
//! written; then the same thread writes them together. So an item has one step of its counts at a time, and publishes share
//! a write, however many clients there are. Different queues do not wait for each other.

use std::collections::{HashMap, VecDeque};
use std::fmt;
use std::hash::Hash;
use std::sync::Arc;
use std::time::Instant;

use crate::Feed;
use crate::patience::{answer_due, answered_at};
use model::Fill;
use model::error::{Code, Error, Result};
use model::sync::Mutex;
use model::sync::atomic::{AtomicU64, Ordering};

/// Called once with the result of a change, on the thread that wrote it or gave up. Must not block.
pub type OnDone<R> = Box<dyn FnOnce(Result<R>) + Send>;

/// The bounds of some queues.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Bounds<C> {
    /// The word for the changes, in errors.
    pub(crate) what: &'static str,
    /// Most changes of one queue that wait.
    pub(crate) in_queue: usize,
    /// Most changes of all queues together that wait or are being written.
    pub(crate) in_all: usize,
    /// Most changes in one write, and most bytes, unless one alone has more.
    pub(crate) in_write: usize,
    pub(crate) bytes_in_write: usize,
    /// The bytes of a change.
    pub(crate) bytes: fn(&C) -> usize,
}

impl<C> Bounds<C> {
    /// How many of the waiting changes go into one write.
    fn of_next_write<R>(&self, waiting: &VecDeque<Member<C, R>>) -> usize {
        let mut bytes = 0;
        let fits = |member: &&Member<C, R>| {
            bytes += (self.bytes)(&member.change);
            bytes <= self.bytes_in_write
        };
        waiting.iter().take(self.in_write).take_while(fits).count().max(1)
    }
}

/// Queues in figures.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct QueueUsage {
    /// Changes that wait or are being written.
    pub waiting: Fill,
    /// Changes that were answered, also those that changed nothing.
    pub changes: u64,
    /// Groups of changes. Each is one write, or none if nothing in it was new.
    pub writes: u64,
    /// Changes that were refused because too many waited.
    pub refused: u64,
}

/// Queues with keys `K` of changes `C`, each with a result `R`.
pub(crate) struct Queues<K, C, R> {
    state: Mutex<State<K, C, R>>,
    bounds: Bounds<C>,
    changes: AtomicU64,
    writes: AtomicU64,
    refused: AtomicU64,
}

struct State<K, C, R> {
    /// Waiting changes of each queue. A queue exists as long as its head.
    queues: HashMap<K, VecDeque<Member<C, R>>>,
    /// Changes without a result, of all queues.
    members: usize,
}

struct Member<C, R> {
    change: C,
    told: OnDone<R>,
    /// See [`answer_due`].
    due: Option<Instant>,
}

impl<K, C, R> fmt::Debug for Queues<K, C, R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Queues").field("usage", &self.usage()).finish_non_exhaustive()
    }
}

impl<K, C, R> Queues<K, C, R> {
    pub(crate) fn new(bounds: Bounds<C>) -> Self {
        Self {
            state: Mutex::new(State { queues: HashMap::new(), members: 0 }),
            bounds,
            changes: AtomicU64::new(0),
            writes: AtomicU64::new(0),
            refused: AtomicU64::new(0),
        }
    }

    pub(crate) fn usage(&self) -> QueueUsage {
        QueueUsage {
            waiting: Fill::of(self.state.lock().members, self.bounds.in_all),
            changes: self.changes.load(Ordering::Relaxed),
            writes: self.writes.load(Ordering::Relaxed),
            refused: self.refused.load(Ordering::Relaxed),
        }
    }
}

impl<K: Hash + Eq + Clone, C, R> Queues<K, C, R> {
    /// Puts a change into a queue. If the queue is new, returns its head, which must lead or be dropped. `overloaded` if
    /// too many wait; then `told` is not called.
    pub(crate) fn join(self: &Arc<Self>, key: K, change: C, told: OnDone<R>) -> Result<Option<Head<K, C, R>>> {
        let mut state = self.state.lock();
        let in_queue = state.queues.get(&key).map_or(0, VecDeque::len);
        if in_queue >= self.bounds.in_queue || state.members >= self.bounds.in_all {
            drop(state);
            self.refused.fetch_add(1, Ordering::Relaxed);
            let detail = format_args!("too many {} are waiting. Send the request again later", self.bounds.what);
            return Err(Error::refused(Code::Overloaded, detail));
        }
        state.members += 1;
        let is_led = state.queues.contains_key(&key);
        state.queues.entry(key.clone()).or_default().push_back(Member { change, told, due: answer_due() });
        drop(state);
        let head = || Head { queues: Arc::clone(self), key, writing: Vec::new(), ended: false };
        Ok((!is_led).then(head))
    }
}

/// The duty to write the changes of a queue, for [`Feed::lead`]. If it is dropped instead, or the write panics, each of them gets
/// an error, and the next change begins a new queue.
pub struct Lead(Box<dyn FnOnce(&Feed) + Send>);

impl fmt::Debug for Lead {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Lead").finish_non_exhaustive()
    }
}

impl Lead {
    /// The duty to do this, by a [`Head`].
    pub(crate) fn new(lead: impl FnOnce(&Feed) + Send + 'static) -> Self {
        Self(Box::new(lead))
    }
}

impl Feed {
    /// Writes the waiting changes of one queue, and those that come meanwhile.
    pub fn lead(&self, Lead(lead): Lead) {
        lead(self);
    }
}

/// The first in a queue, who writes for all.
pub(crate) struct Head<K: Hash + Eq + Clone, C, R> {
    queues: Arc<Queues<K, C, R>>,
    key: K,
    /// Callbacks of the write under way.
    writing: Vec<OnDone<R>>,
    ended: bool,
}

impl<K: Hash + Eq + Clone, C, R> Head<K, C, R> {
    /// Writes the changes of the queue until it is empty. An error of a write goes to all changes in it.
    pub(crate) fn lead(mut self, write: impl Fn(&K, Vec<C>) -> Result<Vec<Result<R>>>) {
        while let Some((changes, due)) = self.next() {
            let number = changes.len();
            let written = answered_at(due, || write(&self.key, changes));
            self.queues.writes.fetch_add(1, Ordering::Relaxed);
            self.queues.changes.fetch_add(number as u64, Ordering::Relaxed);
            match written {
                Ok(results) => self.tell(results),
                Err(error) => self.tell(std::iter::repeat_n(error, number).map(Err)),
            }
        }
    }

    /// The next changes to write, and the first time at which one of their callers has an answer. `None` if none is left;
    /// then the queue is removed.
    fn next(&mut self) -> Option<(Vec<C>, Option<Instant>)> {
        loop {
            let mut state = self.queues.state.lock();
            let queue = state.queues.get_mut(&self.key).filter(|queue| !queue.is_empty());
            let Some(queue) = queue else {
                state.queues.remove(&self.key);
                self.ended = true;
                return None;
            };
            let (members, now) = (queue.drain(..self.queues.bounds.of_next_write(queue)), Instant::now());
            let is_over = |member: &Member<C, R>| member.due.is_some_and(|due| due <= now);
            let (over, members): (Vec<_>, Vec<_>) = members.partition(is_over);
            state.members -= over.len();
            drop(state);
            // They may have made other changes since.
            over.into_iter().for_each(|member| (member.told)(Err(Code::Timeout.into())));
            if !members.is_empty() {
                let due = members.iter().filter_map(|member| member.due).min();
                let (changes, told) = members.into_iter().map(|member| (member.change, member.told)).unzip();
                self.writing = told;
                return Some((changes, due));
            }
        }
    }

    fn tell(&mut self, results: impl IntoIterator<Item = Result<R>>) {
        let members = std::mem::take(&mut self.writing);
        self.queues.state.lock().members -= members.len();
        for (told, result) in members.into_iter().zip(results) {
            told(result);
        }
    }
}

impl<K: Hash + Eq + Clone, C, R> Drop for Head<K, C, R> {
    fn drop(&mut self) {
        if self.ended {
            return;
        }
        let mut state = self.queues.state.lock();
        let waiting = state.queues.remove(&self.key).unwrap_or_default();
        state.members -= waiting.len() + self.writing.len();
        drop(state);
        // The result of the write is unknown. The waiting changes were not part of it.
        for told in self.writing.drain(..) {
            told(Err(Error::Panicked(format!("in a write of {}", self.queues.bounds.what))));
        }
        for member in waiting {
            let what = self.queues.bounds.what;
            let detail = format_args!("no thread was free for the {what} that wait. Send the request again later");
            (member.told)(Err(Error::refused(Code::Overloaded, detail)));
        }
    }
}

#[cfg(test)]
mod tests {
    use std::panic::{AssertUnwindSafe, catch_unwind};
    use std::sync::mpsc::{Receiver, channel};

    use super::*;

    /// Changes are numbers, and so are their results.
    type Numbers = Queues<char, u64, u64>;
    /// The head of a queue that is new, and the receiver of the answer.
    type Joined = (Option<Head<char, u64, u64>>, Receiver<Result<u64>>);

    fn queues(in_queue: usize, in_all: usize, in_write: usize) -> Arc<Numbers> {
        let bytes = |change: &u64| *change as usize;
        Arc::new(Queues::new(Bounds { what: "numbers", in_queue, in_all, in_write, bytes_in_write: 100, bytes }))
    }

    fn join(queues: &Arc<Numbers>, key: char, change: u64) -> Joined {
        let (tell, told) = channel();
        let head = queues.join(key, change, Box::new(move |result| tell.send(result).expect("heard")));
        (head.expect("has room"), told)
    }

    /// The result of each change is itself.
    fn echo(_: &char, changes: Vec<u64>) -> Result<Vec<Result<u64>>> {
        Ok(changes.into_iter().map(Ok).collect())
    }

    fn result(told: &Receiver<Result<u64>>) -> u64 {
        told.try_recv().expect("told").expect("written")
    }

    #[test]
    fn changes_during_a_write_are_written_together() {
        let queues = queues(10, 10, 3);
        let (lead, first) = join(&queues, 'a', 1);
        let others: Vec<_> = (2..=5).map(|raw| join(&queues, 'a', raw)).collect();
        assert!(others.iter().all(|(lead, _)| lead.is_none()));
        let (other_lead, of_other) = join(&queues, 'b', 9);
        let sizes = std::cell::RefCell::new(Vec::new());
        lead.expect("the first").lead(|key, changes| {
            sizes.borrow_mut().push(changes.len());
            echo(key, changes)
        });
        assert_eq!(*sizes.borrow(), [3, 2]);
        assert_eq!(result(&first), 1);
        let told: Vec<_> = others.iter().map(|(_, told)| result(told)).collect();
        assert_eq!(told, [2, 3, 4, 5]);
        assert!(of_other.try_recv().is_err(), "another queue is its own");
        other_lead.expect("leads").lead(echo);
        assert_eq!(result(&of_other), 9);
        let usage = queues.usage();
        assert_eq!((usage.waiting.used, usage.changes, usage.writes), (0, 6, 3));
        assert!(queues.state.lock().queues.is_empty());
    }

    #[test]
    fn a_write_has_a_bound_of_bytes_but_never_nothing() {
        let queues = queues(10, 10, 9);
        let mut joined: Vec<_> = [50, 40, 20, 900, 100, 1].map(|change| join(&queues, 'a', change)).into();
        let head = joined[0].0.take().expect("the first");
        let sizes = std::cell::RefCell::new(Vec::new());
        head.lead(|key, changes| {
            sizes.borrow_mut().push(changes.clone());
            echo(key, changes)
        });
        assert_eq!(*sizes.borrow(), [vec![50, 40], vec![20], vec![900], vec![100], vec![1]]);
    }

    #[test]
    fn an_error_reaches_every_member() {
        let queues = queues(9, 9, 9);
        let (lead, first) = join(&queues, 'a', 1);
        let (_, second) = join(&queues, 'a', 2);
        lead.expect("leads").lead(|_, _| Err(Error::content_not_found()));
        for told in [first, second] {
            assert!(matches!(told.try_recv(), Ok(Err(Error::Refused { code: Code::ContentNotFound, .. }))));
        }
    }

    #[test]
    fn a_change_whose_caller_has_an_answer_is_not_written() {
        let queues = queues(9, 9, 9);
        let now = Instant::now();
        let later = now + std::time::Duration::from_secs(600);
        let (lead, first) = join(&queues, 'a', 1);
        let [over, second] = [now, later].map(|due| answered_at(Some(due), || join(&queues, 'a', 2)).1);
        lead.expect("leads").lead(|key, changes| {
            assert_eq!((changes.len(), answer_due()), (2, Some(later)));
            echo(key, changes)
        });
        assert!(matches!(over.try_recv(), Ok(Err(error)) if error.code() == Some(Code::Timeout)));
        assert_eq!((result(&first), result(&second), queues.usage().waiting.used), (1, 2, 0));
        let (lead, over) = answered_at(Some(now), || join(&queues, 'a', 3));
        lead.expect("leads").lead(|_, _| panic!("nothing is left to write"));
        assert!(matches!(over.try_recv(), Ok(Err(_))));
    }

    #[test]
    fn a_leader_that_is_gone_strands_nobody() {
        let queues = queues(10, 10, 1);
        let (lead, first) = join(&queues, 'a', 1);
        let (_, second) = join(&queues, 'a', 2);
        let lead = lead.expect("leads");
        catch_unwind(AssertUnwindSafe(|| lead.lead(|_, _| panic!("on purpose")))).expect_err("panics");
        assert!(matches!(first.try_recv(), Ok(Err(Error::Panicked(_)))));
        assert!(matches!(second.try_recv(), Ok(Err(Error::Refused { code: Code::Overloaded, .. }))));
        // A lead that never began refuses those who wait, too.
        let (lead, third) = join(&queues, 'a', 3);
        drop(lead.expect("leads anew"));
        assert!(matches!(third.try_recv(), Ok(Err(Error::Refused { code: Code::Overloaded, .. }))));
        let (lead, fourth) = join(&queues, 'a', 4);
        lead.expect("leads anew").lead(echo);
        assert_eq!(result(&fourth), 4);
        assert_eq!(queues.usage().waiting.used, 0);
    }

    #[test]
    fn changes_beyond_the_queue_are_refused_and_counted() {
        let queues = queues(2, 3, 10);
        let refused = |key| {
            let told = Box::new(|_| panic!("told though refused"));
            matches!(queues.join(key, 7, told), Err(Error::Refused { code: Code::Overloaded, .. }))
        };
        let (lead, _first) = join(&queues, 'a', 1);
        let (_, _second) = join(&queues, 'a', 2);
        assert!(refused('a'), "the queue is full");
        let (other, _third) = join(&queues, 'b', 3);
        assert!(refused('b'), "all queues together are full");
        assert_eq!(queues.usage().refused, 2);
        lead.expect("leads").lead(echo);
        other.expect("leads").lead(echo);
        assert_eq!(queues.usage().waiting, Fill::of(0, 3));
        let (lead, told) = join(&queues, 'a', 8);
        lead.expect("leads").lead(echo);
        assert_eq!(result(&told), 8);
    }
}

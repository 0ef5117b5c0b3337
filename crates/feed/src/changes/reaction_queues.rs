//! Queues of reactions, one for each item. Changes of an item wait while an earlier one is written; then the same
//! thread writes them together. So an item has one write and one step of its counts at a time, however many users react
//! to it. Different items do not wait for each other.

use std::collections::{HashMap, VecDeque};
use std::fmt;
use std::sync::Arc;
use std::time::Instant;

use crate::Wish;
use crate::patience::{answer_due, answered_at};
use model::error::{Code, Error, Result};
use model::sync::Mutex;
use model::sync::atomic::{AtomicU64, Ordering};
use model::{Fill, HostId, Reacted};

/// Most changes of one item that wait or are being written.
const MOST_IN_QUEUE: usize = 4096;
/// Most changes of all items together.
const MOST: usize = 16_384;
/// Most changes in one write.
const MOST_IN_WRITE: usize = 1024;

/// Called once with the result of a change, on the thread that wrote it or gave up. Must not block.
pub type OnDone = Box<dyn FnOnce(Result<Reacted>) + Send>;

/// The queues in figures.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ReactionUsage {
    /// Changes that wait or are being written.
    pub waiting: Fill,
    /// Changes that were answered, also those that changed nothing.
    pub changes: u64,
    /// Groups of changes. Each is one write, or none if nothing in it was new.
    pub writes: u64,
    /// Changes that were refused because too many waited.
    pub refused: u64,
}

/// All queues.
pub(crate) struct ReactionQueues {
    state: Mutex<State>,
    most_in_queue: usize,
    most: usize,
    most_in_write: usize,
    changes: AtomicU64,
    writes: AtomicU64,
    refused: AtomicU64,
}

#[derive(Default)]
struct State {
    /// Waiting changes of each item. A queue exists as long as its [`Lead`].
    queues: HashMap<HostId, VecDeque<Member>>,
    /// Changes without a result, of all queues.
    members: usize,
}

struct Member {
    wish: Wish,
    told: OnDone,
    /// See [`answer_due`].
    due: Option<Instant>,
}

impl Default for ReactionQueues {
    fn default() -> Self {
        Self::new(MOST_IN_QUEUE, MOST, MOST_IN_WRITE)
    }
}

impl fmt::Debug for ReactionQueues {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ReactionQueues").field("usage", &self.usage()).finish_non_exhaustive()
    }
}

impl ReactionQueues {
    fn new(most_in_queue: usize, most: usize, most_in_write: usize) -> Self {
        Self {
            state: Mutex::default(),
            most_in_queue,
            most,
            most_in_write,
            changes: AtomicU64::new(0),
            writes: AtomicU64::new(0),
            refused: AtomicU64::new(0),
        }
    }

    /// Puts a change into its item's queue. If the queue is new, returns its lead, which must be taken or dropped.
    /// `overloaded` if too many wait; then `told` is not called.
    pub(crate) fn join(self: &Arc<Self>, item: HostId, wish: Wish, told: OnDone) -> Result<Option<Lead>> {
        let mut state = self.state.lock();
        let in_queue = state.queues.get(&item).map_or(0, VecDeque::len);
        if in_queue >= self.most_in_queue || state.members >= self.most {
            drop(state);
            self.refused.fetch_add(1, Ordering::Relaxed);
            return Err(Error::refused(
                Code::Overloaded,
                "too many reactions are waiting. Send the request again later",
            ));
        }
        state.members += 1;
        let is_led = state.queues.contains_key(&item);
        state.queues.entry(item.clone()).or_default().push_back(Member { wish, told, due: answer_due() });
        drop(state);
        let lead = || Lead { queues: Arc::clone(self), item, writing: Vec::new(), ended: false };
        Ok((!is_led).then(lead))
    }

    pub(crate) fn usage(&self) -> ReactionUsage {
        ReactionUsage {
            waiting: Fill::of(self.state.lock().members, self.most),
            changes: self.changes.load(Ordering::Relaxed),
            writes: self.writes.load(Ordering::Relaxed),
            refused: self.refused.load(Ordering::Relaxed),
        }
    }
}

/// The duty to write the changes of a queue. If it is dropped instead, or the write panics, each of them gets an error,
/// and the next change begins a new queue.
pub struct Lead {
    queues: Arc<ReactionQueues>,
    item: HostId,
    /// Callbacks of the write under way.
    writing: Vec<OnDone>,
    ended: bool,
}

impl fmt::Debug for Lead {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Lead").field("item", &self.item).finish_non_exhaustive()
    }
}

impl Lead {
    /// Writes the changes of the queue until it is empty. An error of a write goes to all changes in it.
    pub(crate) fn take(mut self, write: impl Fn(&HostId, Vec<Wish>) -> Result<Vec<Result<Reacted>>>) {
        while let Some((wishes, due)) = self.next() {
            let number = wishes.len();
            let written = answered_at(due, || write(&self.item, wishes));
            self.queues.writes.fetch_add(1, Ordering::Relaxed);
            self.queues.changes.fetch_add(number as u64, Ordering::Relaxed);
            match written {
                Ok(reacted) => self.tell(reacted),
                Err(error) => self.tell(std::iter::repeat_n(Err(error), number)),
            }
        }
    }

    /// The next changes to write, and the first time at which one of their callers has an answer. `None` if none is left;
    /// then the queue is removed.
    fn next(&mut self) -> Option<(Vec<Wish>, Option<Instant>)> {
        loop {
            let mut state = self.queues.state.lock();
            let queue = state.queues.get_mut(&self.item).filter(|queue| !queue.is_empty());
            let Some(queue) = queue else {
                state.queues.remove(&self.item);
                self.ended = true;
                return None;
            };
            let (members, now) = (queue.drain(..queue.len().min(self.queues.most_in_write)), Instant::now());
            let is_over = |member: &Member| member.due.is_some_and(|due| due <= now);
            let (over, members): (Vec<_>, Vec<_>) = members.partition(is_over);
            state.members -= over.len();
            drop(state);
            // They may have made other changes since.
            over.into_iter().for_each(|member| (member.told)(Err(Code::Timeout.into())));
            if !members.is_empty() {
                let due = members.iter().filter_map(|member| member.due).min();
                let (wishes, told) = members.into_iter().map(|member| (member.wish, member.told)).unzip();
                self.writing = told;
                return Some((wishes, due));
            }
        }
    }

    fn tell(&mut self, results: impl IntoIterator<Item = Result<Reacted>>) {
        let members = std::mem::take(&mut self.writing);
        self.queues.state.lock().members -= members.len();
        for (told, result) in members.into_iter().zip(results) {
            told(result);
        }
    }
}

impl Drop for Lead {
    fn drop(&mut self) {
        if self.ended {
            return;
        }
        let mut state = self.queues.state.lock();
        let waiting = state.queues.remove(&self.item).unwrap_or_default();
        state.members -= waiting.len() + self.writing.len();
        drop(state);
        // The result of the write is unknown. The waiting changes were not part of it.
        for told in self.writing.drain(..) {
            told(Err(Error::Panicked("in a write of reactions".to_owned())));
        }
        for member in waiting {
            (member.told)(Err(Error::refused(
                Code::Overloaded,
                "no thread was free to write this reaction. Send the request again later",
            )));
        }
    }
}

#[cfg(test)]
mod tests {
    use std::panic::{AssertUnwindSafe, catch_unwind};
    use std::sync::mpsc::{Receiver, channel};

    use super::*;
    use crate::Visibility;
    use model::ItemCounts;

    const ITEM: HostId = HostId::Number(1);
    const OTHER: HostId = HostId::Number(2);

    fn wish(raw: u64) -> Wish {
        let (user, kind) = (HostId::Number(raw), "like".to_owned());
        Wish { user, kind, active: true, since: Some(raw), sight: Visibility::Application }
    }

    /// Joins. Returns the lead, if the queue is new, and the receiver of the answer.
    fn join(queues: &Arc<ReactionQueues>, item: HostId, raw: u64) -> (Option<Lead>, Receiver<Result<Reacted>>) {
        let (tell, told) = channel();
        let lead = queues.join(item, wish(raw), Box::new(move |result| tell.send(result).expect("heard")));
        (lead.expect("has room"), told)
    }

    /// Answers each wish with its own time.
    fn echo(_: &HostId, wishes: Vec<Wish>) -> Result<Vec<Result<Reacted>>> {
        let reacted = |wish: Wish| Ok(Reacted { since: wish.since, changed: true, counts: ItemCounts::default() });
        Ok(wishes.into_iter().map(reacted).collect())
    }

    fn since(told: &Receiver<Result<Reacted>>) -> Option<u64> {
        told.try_recv().expect("told").expect("written").since
    }

    #[test]
    fn reactions_during_a_write_are_written_together() {
        let queues = Arc::new(ReactionQueues::new(10, 10, 3));
        let (lead, first) = join(&queues, ITEM, 1);
        let others: Vec<_> = (2..=5).map(|raw| join(&queues, ITEM, raw)).collect();
        assert!(others.iter().all(|(lead, _)| lead.is_none()));
        let (other_lead, other_item) = join(&queues, OTHER, 9);
        let sizes = std::cell::RefCell::new(Vec::new());
        lead.expect("the first").take(|item, wishes| {
            sizes.borrow_mut().push(wishes.len());
            echo(item, wishes)
        });
        assert_eq!(*sizes.borrow(), [3, 2]);
        assert_eq!(since(&first), Some(1));
        let told: Vec<_> = others.iter().filter_map(|(_, told)| since(told)).collect();
        assert_eq!(told, [2, 3, 4, 5]);
        assert!(other_item.try_recv().is_err(), "another item's queue is its own");
        other_lead.expect("leads").take(echo);
        assert_eq!(since(&other_item), Some(9));
        let usage = queues.usage();
        assert_eq!((usage.waiting.used, usage.changes, usage.writes), (0, 6, 3));
        assert!(queues.state.lock().queues.is_empty());
    }

    #[test]
    fn an_error_reaches_every_member() {
        let queues = Arc::new(ReactionQueues::default());
        let (lead, first) = join(&queues, ITEM, 1);
        let (_, second) = join(&queues, ITEM, 2);
        lead.expect("leads").take(|_, _| Err(Error::content_not_found()));
        for told in [first, second] {
            assert!(matches!(told.try_recv(), Ok(Err(Error::Refused { code: Code::ContentNotFound, .. }))));
        }
    }

    #[test]
    fn a_change_whose_caller_has_an_answer_is_not_written() {
        let queues = Arc::new(ReactionQueues::default());
        let now = Instant::now();
        let later = now + std::time::Duration::from_secs(600);
        let (lead, first) = join(&queues, ITEM, 1);
        let [over, second] = [now, later].map(|due| answered_at(Some(due), || join(&queues, ITEM, 2)).1);
        lead.expect("leads").take(|item, wishes| {
            assert_eq!((wishes.len(), answer_due()), (2, Some(later)));
            echo(item, wishes)
        });
        assert!(matches!(over.try_recv(), Ok(Err(error)) if error.code() == Some(Code::Timeout)));
        assert_eq!((since(&first), since(&second), queues.usage().waiting.used), (Some(1), Some(2), 0));
        let (lead, over) = answered_at(Some(now), || join(&queues, ITEM, 3));
        lead.expect("leads").take(|_, _| panic!("nothing is left to write"));
        assert!(matches!(over.try_recv(), Ok(Err(_))));
    }

    #[test]
    fn a_leader_that_is_gone_strands_nobody() {
        let queues = Arc::new(ReactionQueues::new(10, 10, 1));
        let (lead, first) = join(&queues, ITEM, 1);
        let (_, second) = join(&queues, ITEM, 2);
        let lead = lead.expect("leads");
        catch_unwind(AssertUnwindSafe(|| lead.take(|_, _| panic!("on purpose")))).expect_err("panics");
        assert!(matches!(first.try_recv(), Ok(Err(Error::Panicked(_)))));
        assert!(matches!(second.try_recv(), Ok(Err(Error::Refused { code: Code::Overloaded, .. }))));
        // A lead that never began refuses those who wait, too.
        let (lead, third) = join(&queues, ITEM, 3);
        drop(lead.expect("leads anew"));
        assert!(matches!(third.try_recv(), Ok(Err(Error::Refused { code: Code::Overloaded, .. }))));
        let (lead, fourth) = join(&queues, ITEM, 4);
        lead.expect("leads anew").take(echo);
        assert_eq!(since(&fourth), Some(4));
        assert_eq!(queues.usage().waiting.used, 0);
    }

    #[test]
    fn reactions_beyond_the_queue_are_refused_and_counted() {
        let queues = Arc::new(ReactionQueues::new(2, 3, 10));
        let refused = |item| {
            let told = Box::new(|_| panic!("told though refused"));
            matches!(queues.join(item, wish(7), told), Err(Error::Refused { code: Code::Overloaded, .. }))
        };
        let (lead, _first) = join(&queues, ITEM, 1);
        let (_, _second) = join(&queues, ITEM, 2);
        assert!(refused(ITEM), "the queue is full");
        let (other, _third) = join(&queues, OTHER, 3);
        assert!(refused(OTHER), "all queues together are full");
        assert_eq!(queues.usage().refused, 2);
        lead.expect("leads").take(echo);
        other.expect("leads").take(echo);
        assert_eq!(queues.usage().waiting, Fill::of(0, 3));
        let (lead, told) = join(&queues, ITEM, 8);
        lead.expect("leads").take(echo);
        assert_eq!(since(&told), Some(8));
    }
}

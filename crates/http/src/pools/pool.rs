//! Threads for work that may block. They start on demand, and end after some seconds without work.
//!
//! Neither to give work nor to take it needs a lock. The givers are the event loops, and the threads have less priority than
//! they: with a lock, an event loop would wait for a thread that the system has put aside while it holds the lock. An event
//! loop would even be put aside itself with the lock, because a thread often runs as soon as it is woken. In the queues one
//! waits for another only for some instructions, and nobody is woken meanwhile.

use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering, fence};
use std::thread::{self, Thread};
use std::time::{Duration, Instant};

use crossbeam_queue::SegQueue;

use model::priority;

/// How long a thread stays without work.
const LINGER: Duration = Duration::from_secs(10);

pub(super) type Work = Box<dyn FnOnce() + Send>;

/// A bounded number of threads, and the work that waits for one.
#[derive(Debug)]
pub(super) struct Pool(Arc<Shared>);

#[derive(Debug)]
struct Shared {
    name: &'static str,
    most: usize,
    threads: AtomicUsize,
    work: SegQueue<Work>,
    /// The pauses that may still be on, and some that are over.
    pauses: SegQueue<Arc<Pause>>,
}

/// A thread's wait for work.
#[derive(Debug)]
struct Pause {
    thread: Thread,
    is_over: AtomicBool,
}

impl Pause {
    /// Ends it; false if it is over already. A giver that ends it must wake the thread.
    fn end(&self) -> bool {
        !self.is_over.swap(true, Ordering::AcqRel)
    }
}

impl Pool {
    /// A pool of at most so many threads with this name, and with the priority of calls.
    pub(super) fn new(name: &'static str, most: usize) -> Self {
        let shared =
            Shared { name, most, threads: AtomicUsize::new(0), work: SegQueue::new(), pauses: SegQueue::new() };
        Self(Arc::new(shared))
    }

    /// Does work in its turn. Fails, and drops all work that waits, if there is no thread and the system gives none.
    pub(super) fn give(&self, work: Work) -> io::Result<()> {
        let shared = &self.0;
        shared.work.push(work);
        // Either the work is seen by a thread that begins a pause, or its pause is seen here.
        fence(Ordering::SeqCst);
        if shared.wake_one() || !shared.has_place() {
            return Ok(());
        }
        let of_thread = Arc::clone(shared);
        let started = thread::Builder::new().name(shared.name.to_owned()).spawn(move || of_thread.work());
        match started {
            Ok(_) => Ok(()),
            // The others will do the work. If they have yet to start and fail too, the last one drops it.
            Err(_) if shared.threads.fetch_sub(1, Ordering::AcqRel) > 1 => Ok(()),
            Err(error) => {
                while shared.work.pop().is_some() {}
                Err(error)
            }
        }
    }
}

impl Shared {
    fn wake_one(&self) -> bool {
        while let Some(pause) = self.pauses.pop() {
            if pause.end() {
                pause.thread.unpark();
                return true;
            }
        }
        false
    }

    /// Takes a place for one more thread; false if there are as many as may be.
    fn has_place(&self) -> bool {
        let one_more = |threads| (threads < self.most).then_some(threads + 1);
        self.threads.fetch_update(Ordering::AcqRel, Ordering::Acquire, one_more).is_ok()
    }

    /// Works until there is no work for long.
    fn work(&self) {
        priority::lower(priority::CALLS);
        loop {
            while let Some(work) = self.work.pop() {
                // A panic drops the sender of the result, which tells the waiting caller.
                let _ = catch_unwind(AssertUnwindSafe(work));
            }
            if self.pause() {
                continue;
            }
            self.threads.fetch_sub(1, Ordering::AcqRel);
            fence(Ordering::SeqCst);
            // A giver that found no place because of this thread has left its work.
            if self.work.is_empty() || !self.has_place() {
                return;
            }
        }
    }

    /// Waits for work. False if there was none for long.
    fn pause(&self) -> bool {
        let pause = Arc::new(Pause { thread: thread::current(), is_over: AtomicBool::new(false) });
        self.pauses.push(Arc::clone(&pause));
        fence(Ordering::SeqCst);
        if !self.work.is_empty() {
            pause.end();
            return true;
        }
        let until = Instant::now() + LINGER;
        loop {
            let left = until.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return !pause.end();
            }
            thread::park_timeout(left);
            if pause.is_over.load(Ordering::Acquire) {
                return true;
            }
        }
    }
}

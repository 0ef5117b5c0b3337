//! Results of changes on their way to the requests of one thread. Together they wake it once, because each time costs a call of
//! the system.

use std::sync::Arc;

use parking_lot::Mutex;
use tokio::sync::Notify;

/// Hands a result to its request.
type Tell = Box<dyn FnOnce() + Send>;

/// The results that wait.
#[derive(Default)]
pub(crate) struct Answers {
    waiting: Mutex<Vec<Tell>>,
    news: Notify,
}

impl Answers {
    /// Those of this thread, which tells them until it ends.
    pub(crate) fn of_this_thread() -> Arc<Self> {
        let answers = Arc::new(Self::default());
        actix_web::rt::spawn(Arc::clone(&answers).tell());
        answers
    }

    /// Lets the thread tell a result soon.
    pub(crate) fn give(&self, tell: impl FnOnce() + Send + 'static) {
        let mut waiting = self.waiting.lock();
        waiting.push(Box::new(tell));
        // The thread takes all at once.
        if waiting.len() == 1 {
            drop(waiting);
            self.news.notify_one();
        }
    }

    async fn tell(self: Arc<Self>) {
        loop {
            self.news.notified().await;
            let waiting = std::mem::take(&mut *self.waiting.lock());
            waiting.into_iter().for_each(|tell| tell());
        }
    }
}

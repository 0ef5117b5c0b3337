//! Turns: long work of a connection is done in parts, and between two parts the thread looks at its other connections.
//!
//! The HTTP server itself would answer all that a client has sent ahead, take a body as fast as it comes, or write megabytes
//! of an answer, before its thread turns to another connection. Turns go one after another: however many connections have
//! long work, a short request waits for one part of one of them.

use std::sync::Arc;

use actix_web::rt;
use tokio::sync::Semaphore;
use tokio::task::{JoinHandle, yield_now};

/// Most bytes of a body or of an answer in a turn.
pub(crate) const BYTES: usize = 64 << 10;
/// Most requests in a turn that a connection sends ahead of their answers.
pub(crate) const REQUESTS: u8 = 8;

thread_local! {
    static ONE: Arc<Semaphore> = Arc::new(Semaphore::new(1));
}

/// Ends with the next turn, after those for which others wait on this thread already. A task of its own waits: a connection may
/// not look at its work again, and must not hold up others.
pub(crate) fn next() -> JoinHandle<()> {
    rt::spawn(async {
        // It is never closed.
        let _place = ONE.with(Arc::clone).acquire_owned().await;
        // The thread looks at its sockets first, and runs the tasks that are ready.
        yield_now().await;
    })
}

//! Tideline: its data made through the library, then its feed in this process or its server in another.

use feed::{ImportFollows, ImportItems, timeline};
use model::{NamedRule, NewContent, PageRequest, Span};
use std::net::SocketAddr;
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};
use tempfile::TempDir;

use crate::client::Client;
use crate::opened::{Ids, Opened, PAGE};
use crate::report::progress;
use crate::server::Server;
use crate::trace::{INBOX_LIMIT, Post, Trace, batches};

/// Posts that are published before they are delivered, when the data is made.
const PART: u64 = 20_000;
/// Posts in a batch over HTTP.
pub const BATCH: usize = 1000;
/// Connections that publish batches.
const PUBLISHERS: usize = 2;

/// The settings of the server that differ from the defaults.
pub fn settings() -> [(&'static str, String); 2] {
    [("TIDELINE__TIMELINE__INBOX_LIMIT", INBOX_LIMIT.to_string()), ("TIDELINE__LOG__LEVEL", "warn".into())]
}

/// Stores follows.
pub fn follow(opened: &Opened, follows: impl Iterator<Item = (u64, u64)>) {
    let ids = opened.ids;
    let follow = |(user, author)| ImportFollows::one(ids.user(user), ids.user(author), Some(1), NamedRule::All).into();
    let mut follows = follows.map(follow).peekable();
    while follows.peek().is_some() {
        let part: Vec<_> = follows.by_ref().take(100_000).collect();
        let refused = opened.feed.import(part).expect("follows").into_iter().filter(Result::is_err).count();
        assert_eq!(refused, 0, "follows were refused");
        opened.work();
    }
}

/// Publishes posts, and leaves their jobs to the workers. Returns the time that it took.
pub fn store(opened: &Opened, posts: impl Iterator<Item = Post>) -> Duration {
    let new_item = |post: Post| serde_json::from_str::<NewContent>(&post.new_item(opened.ids)).expect("a new_item");
    import(opened, posts.map(new_item).collect())
}

fn import(opened: &Opened, new_items: Vec<NewContent>) -> Duration {
    let begun = Instant::now();
    for part in new_items.chunks(BATCH) {
        let stored = opened
            .feed
            .import(part.iter().cloned().map(|new_item| ImportItems::one(new_item, None).into()).collect())
            .expect("publishes");
        assert!(stored.iter().all(Result::is_ok), "items were refused");
    }
    begun.elapsed()
}

/// Publishes and delivers items.
pub fn deliver(opened: &Opened, new_items: Vec<NewContent>) {
    import(opened, new_items);
    opened.work();
    settle(opened);
}

/// Publishes and delivers posts.
pub fn publish(opened: &Opened, posts: impl Iterator<Item = Post>, all: u64) {
    let (mut posts, mut done) = (posts.peekable(), 0);
    while posts.peek().is_some() {
        let part: Vec<_> = posts.by_ref().take(PART as usize).collect();
        done += part.len() as u64;
        store(opened, part.into_iter());
        opened.work();
        if all > 5 * PART {
            progress(&format!("made {done} of {all} posts"));
        }
    }
    settle(opened);
}

/// The data of a trace, with numbers as ids.
pub fn fill(dir: &Path, trace: &Trace, posts: u64) -> Opened {
    fill_with(dir, trace, posts, Ids::Numbers)
}

/// The data of a trace, with ids of a kind.
pub fn fill_with(dir: &Path, trace: &Trace, posts: u64, ids: Ids) -> Opened {
    let opened = Opened::new(dir, ids);
    follow(&opened, trace.follows());
    publish(&opened, trace.posts(1, posts), posts);
    opened
}

/// Lets users read their newest page, which makes them active and their pages warm.
pub fn read(opened: &Opened, users: impl Iterator<Item = u64>) {
    let request = PageRequest { span: Span::ALL, limit: PAGE };
    for (done, user) in users.enumerate() {
        let reader = opened.feed.read().find(&opened.ids.user(user)).expect("a user");
        timeline::page(opened.feed.read(), reader, &request).expect("reads");
        // Reads leave jobs, which have a bound.
        if done % 10_000 == 9_999 {
            opened.work();
        }
    }
    opened.work();
    settle(opened);
}

/// Writes all inboxes, and waits until no compaction runs or is due.
pub fn settle(opened: &Opened) {
    opened.feed.store().write_arrivals().expect("writes");
    loop {
        let engine = opened.feed.store().usage().expect("figures").work;
        if engine.compaction_debt + engine.compactions + engine.flushes == 0 {
            return;
        }
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// A running server.
pub struct Tideline {
    server: Server,
    pub address: SocketAddr,
}

impl Tideline {
    /// Serves a directory. `more` are settings as environment variables.
    pub fn start(data: TempDir, more: &[(&str, &str)]) -> Self {
        let settings = settings();
        let mut all: Vec<_> = settings.iter().map(|(name, value)| (*name, value.as_str())).collect();
        all.extend_from_slice(more);
        let server = Server::on(data, &all);
        Self { address: server.address, server }
    }

    pub fn client(&self) -> Client {
        Client::new(self.address)
    }

    pub fn pid(&self) -> u32 {
        self.server.pid()
    }

    /// Ends it in order, and keeps its data.
    pub fn stop(self) -> TempDir {
        let (status, data) = self.server.stop("TERM");
        assert!(status.success(), "the server ended with {status}");
        data
    }

    /// Publishes batches. Returns the time until all posts are in all inboxes, and then the time until these are on
    /// disk and no compaction is due.
    pub fn deliver(&self, posts: impl Iterator<Item = Post>) -> (Duration, Duration) {
        let batches = batches(posts, BATCH);
        let begun = Instant::now();
        self.push(&batches);
        let delivered = begun.elapsed();
        self.settle();
        (delivered, begun.elapsed())
    }

    /// Publishes batches, and waits until all posts are in all inboxes.
    pub fn push(&self, batches: &[String]) {
        let next = AtomicUsize::new(0);
        std::thread::scope(|scope| {
            for _ in 0..PUBLISHERS {
                scope.spawn(|| {
                    let mut client = self.client();
                    while let Some(body) = batches.get(next.fetch_add(1, Ordering::Relaxed)) {
                        client.publish("/v1/content/batch", body);
                    }
                });
            }
        });
        self.wait(&["tideline_pending_items"]);
    }

    /// Waits until no job is left, all inboxes are on disk, and no compaction runs or is due.
    pub fn settle(&self) {
        self.wait(&[
            "tideline_pending_items",
            "tideline_arrivals_bytes",
            "tideline_storage_compactions_running",
            "tideline_storage_flushes_running",
            "tideline_storage_compaction_pending_bytes",
        ]);
    }

    /// Waits until figures are zero.
    pub fn wait(&self, names: &[&str]) {
        let mut client = self.client();
        while figures(&client.get("/metrics"), names).iter().any(|figure| *figure > 0.0) {
            // The figures cost the server a little.
            std::thread::sleep(Duration::from_millis(25));
        }
    }

    /// One figure of `/metrics`.
    pub fn figure(&self, name: &str) -> f64 {
        figures(&self.client().get("/metrics"), &[name])[0]
    }
}

/// Figures of `/metrics` by their names.
pub fn figures(page: &str, names: &[&str]) -> Vec<f64> {
    let figure = |name: &&str| {
        let line = page.lines().find_map(|line| line.strip_prefix(*name)?.strip_prefix(' '));
        line.and_then(|figure| figure.trim().parse().ok()).unwrap_or_else(|| panic!("no {name}"))
    };
    names.iter().map(figure).collect()
}

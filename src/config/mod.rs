//! Every setting, typed, with its default.
//!
//! Sources, each overriding the one before: the defaults here, the config file, environment
//! variables such as `TIDELINE__TIMELINE__INBOX_LIMIT=300`, the command line.

mod address;
mod duration;
mod environment;
mod limits;
mod load;
mod web;

use std::net::SocketAddr;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};

pub use address::address;
pub use duration::Duration;
pub use web::{Authority, Host, HostName, Origin, PageOrigin};

/// All settings.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Config {
    /// The HTTP server.
    pub server: Server,
    /// The data directory and the storage engine.
    pub storage: Storage,
    /// Home timelines and inboxes.
    pub timeline: Timeline,
    /// Fan-out on write.
    pub fanout: Fanout,
    /// Content: how long deleted items are kept, and how far times may lie ahead.
    pub content: Content,
    /// The follow graph.
    pub graph: Graph,
    /// Topics.
    pub topics: Topics,
    /// Who is online, and streams.
    pub presence: Presence,
    /// Who may call.
    pub auth: Auth,
    /// Logging.
    pub log: Log,
}

/// `[server]`
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Server {
    /// Address and port; port 0 takes a free one.
    #[serde(deserialize_with = "address::deserialize")]
    pub listen: SocketAddr,
    /// Names of this server besides `localhost`. A request for another name is answered 421; one for an IP address
    /// never is.
    pub allowed_hosts: Vec<HostName>,
    /// Origins besides this server's own whose pages may send changes. From others they are answered 403.
    pub allowed_origins: Vec<Origin>,
    /// HTTP worker threads, each an event loop; 0 for four a core, and no fewer than eight.
    pub workers: usize,
    /// Most connections at once. A request on one more is answered 503.
    pub max_connections: usize,
    /// Most streams that one user may have open at once. One more is answered 429.
    pub max_streams_per_user: usize,
    /// Largest body of one change, bytes. A batch may have 256 times as much in all.
    pub body_limit: usize,
    /// A request that takes longer is answered 503; 408 if its body was still coming.
    pub request_timeout: Duration,
    /// How long a stop waits for open requests and running jobs.
    pub shutdown_timeout: Duration,
}

impl Default for Server {
    fn default() -> Self {
        Self {
            listen: SocketAddr::from(([127, 0, 0, 1], 8080)),
            allowed_hosts: Vec::new(),
            allowed_origins: Vec::new(),
            workers: 0,
            max_connections: 4096,
            max_streams_per_user: 32,
            body_limit: 65_536,
            request_timeout: Duration::from_secs(30),
            shutdown_timeout: Duration::from_secs(10),
        }
    }
}

/// When a change counts as on disk.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Durability {
    /// Flushed to the device before the answer; survives a power cut.
    Sync,
    /// Handed to the operating system before the answer; survives `kill -9`, not a power cut.
    Os,
}

impl Durability {
    /// As it is written in the settings.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Sync => "sync",
            Self::Os => "os",
        }
    }
}

/// `[storage]`
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Storage {
    /// Where everything is kept.
    pub data_dir: PathBuf,
    /// When a change is acknowledged.
    pub durability: Durability,
    /// Changes are refused while the file system has less free than this, MiB; 0 for never.
    pub min_free_mb: usize,
    /// Memory for blocks read from disk, MiB.
    pub block_cache_mb: usize,
    /// Memory for rows not yet written to table files, MiB, over all tables; the log may have half of it.
    pub write_buffer_mb: usize,
    /// Files kept open at once.
    pub max_open_files: i32,
}

impl Default for Storage {
    fn default() -> Self {
        Self {
            data_dir: PathBuf::from("data"),
            durability: Durability::Sync,
            min_free_mb: 512,
            block_cache_mb: 512,
            write_buffer_mb: 64,
            max_open_files: 4096,
        }
    }
}

/// `[timeline]`
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Timeline {
    /// Newest entries kept in an inbox; older ones are pulled when read.
    pub inbox_limit: usize,
    /// Newest entries of an author kept in the outbox, 0 for all; older ones are kept in the archive.
    pub outbox_limit: usize,
    /// Whether a timeline has the viewer's own content too.
    pub include_own: bool,
    /// How long after a read a user still gets the pushes of large authors.
    pub active_for: Duration,
    /// How long after the last read an inbox is dropped, until the user returns; 0 for never.
    pub evict_after: Duration,
}

impl Default for Timeline {
    fn default() -> Self {
        Self {
            inbox_limit: 1000,
            outbox_limit: 0,
            include_own: false,
            active_for: Duration::from_days(30),
            evict_after: Duration::from_days(90),
        }
    }
}

/// `[fanout]`
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Fanout {
    /// Worker threads; 0 for one a core.
    pub workers: usize,
    /// Followers a sub-task.
    pub chunk: usize,
    /// Authors with at most this many followers are pushed to all of them.
    pub push_threshold: u64,
    /// Authors above `push_threshold` with at most this many followers are pushed to active ones;
    /// above it, to nobody.
    pub pull_threshold: u64,
    /// Jobs that may wait; a change that would add one more is answered 503.
    pub queue: usize,
}

impl Default for Fanout {
    fn default() -> Self {
        Self { workers: 0, chunk: 1000, push_threshold: 10_000, pull_threshold: 1_000_000, queue: 100_000 }
    }
}

/// `[content]`
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Content {
    /// How long after its deletion an item can be restored; then it is purged. 0 for not at all.
    pub deleted_retention: Duration,
    /// How far ahead of the clock a time may lie that the host gives.
    pub max_ahead: Duration,
}

impl Default for Content {
    fn default() -> Self {
        Self { deleted_retention: Duration::from_days(30), max_ahead: Duration::from_secs(600) }
    }
}

/// `[graph]`
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Graph {
    /// Most users that one user can follow.
    pub follow_limit: usize,
}

impl Default for Graph {
    fn default() -> Self {
        Self { follow_limit: 1000 }
    }
}

/// `[topics]`
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Topics {
    /// Newest items that the list of a topic shows.
    pub limit: usize,
}

impl Default for Topics {
    fn default() -> Self {
        Self { limit: 1000 }
    }
}

/// `[presence]`
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Presence {
    /// How long a heartbeat keeps a user online.
    pub ttl: Duration,
    /// After how much silence a stream gets a comment.
    pub heartbeat: Duration,
}

impl Default for Presence {
    fn default() -> Self {
        Self { ttl: Duration::from_secs(60), heartbeat: Duration::from_secs(15) }
    }
}

/// `[auth]`
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Auth {
    /// Serve other addresses than loopback although anybody who reaches them may do anything.
    pub insecure: bool,
}

/// How log lines look.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum LogFormat {
    /// For people.
    Text,
    /// One JSON object a line.
    Json,
}

/// `[log]`
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Log {
    /// How lines look.
    pub format: LogFormat,
    /// `error`, `warn`, `info`, `debug`, `trace`, or a filter such as `tideline=debug,warn`.
    pub level: String,
}

impl Default for Log {
    fn default() -> Self {
        Self { format: LogFormat::Text, level: "info".to_owned() }
    }
}

//! The table of all settings, and what follows from some of their values.

use std::net::SocketAddr;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use super::address;
use super::auth::{KeyHash, PublicKey, Secret};
use super::cluster::{Consistency, Member, NodeName, Password, Refusal, Sasl};
use super::declare::settings;
use super::duration::Duration;
use super::network::Network;
use super::web::{AvatarOrigin, HostName, Origin};
use model::Members;

/// Longer durations are typing mistakes; a hundred years.
const LONGEST: Duration = Duration::from_days(36_500);
const NONE: Duration = Duration::from_secs(0);
const HOUR: Duration = Duration::from_secs(3600);

settings! {
    /// The HTTP server.
    server: Server {
        /// Address and port; port 0 selects a free port.
        #[serde(deserialize_with = "address::deserialize")]
        listen: SocketAddr = SocketAddr::from(([127, 0, 0, 1], 8080));
        /// File of the certificate and the chain to its authority, PEM. With it the server speaks TLS only; empty for
        /// plain HTTP.
        tls_cert: PathBuf = PathBuf::new();
        /// File of the private key of this certificate, PEM.
        tls_key: PathBuf = PathBuf::new();
        /// Names of this server besides `localhost`. Requests for other names are answered 421, but requests for an IP
        /// address never are.
        allowed_hosts: Vec<HostName> = Vec::new();
        /// Origins, besides this server's own, whose pages may send changes. Changes from further origins are answered
        /// 403.
        allowed_origins: Vec<Origin> = Vec::new();
        /// Proxies whose `X-Forwarded-For` names the address of a client.
        trusted_proxies: Vec<Network> = Vec::new();
        /// Whether `/` is the console. Otherwise it leads to the description of the API.
        console: bool = true;
        /// Origins of https whose pictures the console shows as avatars, besides `data:` images.
        avatar_origins: Vec<AvatarOrigin> = Vec::new();
        /// HTTP worker threads, each an event loop; 0 for four a core, at least eight.
        workers: usize = 0, 0..=512;
        /// Most connections at once. A request on one more is answered 503.
        max_connections: usize = 4096, 1..=1_000_000;
        /// Most streams that one user may have open at once. One more is answered 429.
        max_streams_per_user: usize = 32, 1..=1_000_000;
        /// Largest body of one change, bytes. A batch may have 256 times as much, a line of an import at most 1 MiB.
        body_limit: usize = 65_536, 256..=1 << 20;
        /// Longer requests are answered 503, or 408 if the body was incomplete.
        request_timeout: Duration = Duration::from_secs(30), Duration::from_millis(100)..=HOUR;
        /// Longest wait of a stop for open requests and running jobs.
        shutdown_timeout: Duration = Duration::from_secs(10), Duration::from_millis(100)..=HOUR;
    }

    /// The data directory and the storage engine.
    storage: Storage {
        /// The directory of all data.
        data_dir: PathBuf = PathBuf::from("data");
        /// The moment at which a change is acknowledged.
        durability: Durability = Durability::Sync;
        /// Least free space of the file system, MiB; changes are refused below it. 0 for no limit.
        min_free_mb: usize = 512;
        /// Memory for blocks read from disk, MiB.
        block_cache_mb: usize = 512, 1..=1 << 20;
        /// Memory for rows not yet written to table files, MiB, over all tables; the log may have half of it. Below the
        /// minimum, nearly every write would flush a table. Above the maximum, memory would be unused: each table
        /// flushes its own buffer when that is full.
        write_buffer_mb: usize = 64, 8..=256;
        /// Memory for changes of inboxes that are not written yet, MiB. They are written when half of it is full.
        arrivals_mb: usize = 256, 1..=4096;
        /// Longest time for which changes of inboxes are only in memory. Longer, and one write has more changes of an
        /// inbox, but a start after a kill repeats more fan-outs.
        arrivals_for: Duration = Duration::from_secs(5), Duration::from_millis(10)..=HOUR;
        /// Most open files of tables. Below the minimum, table files would be opened and closed all the time; -1 would
        /// be no limit.
        max_open_files: i32 = 4096, 64..=1_000_000;
    }

    /// Backups.
    backup: Backup {
        /// The directory of backups, for this server alone; empty for `backups` in the data directory.
        dir: PathBuf = PathBuf::new();
        /// Newest verified backups to keep; older backups are removed after a newer one is verified.
        keep: usize = 7, 1..=1000;
    }

    /// Home timelines and inboxes.
    timeline: Timeline {
        /// Newest entries kept in an inbox; older ones are pulled when read.
        inbox_limit: usize = 1000, 1..=1_000_000;
        /// Newest entries kept in an author's outbox, 0 for all; older ones are kept in the archive.
        outbox_limit: usize = 0, 0..=1_000_000;
        /// Whether a timeline includes the viewer's own content.
        include_own: bool = false;
        /// Time after a read during which a user gets the pushes of large authors.
        active_for: Duration = Duration::from_days(30), NONE..=LONGEST;
        /// Time after the last read until an inbox is dropped; it is rebuilt when the user returns. 0 for never.
        evict_after: Duration = Duration::from_days(90), NONE..=LONGEST;
    }

    /// Fan-out on write.
    fanout: Fanout {
        /// Worker threads; 0 for one a core.
        workers: usize = 0, 0..=1024;
        /// Followers in a chunk of a fan-out. A worker holds a whole chunk in memory.
        chunk: usize = 1000, 1..=100_000;
        /// Items of authors with at most this many followers are pushed to all of them.
        push_threshold: u64 = 10_000, 0..=i64::MAX as u64;
        /// Items of authors above `push_threshold` with at most this many followers are pushed to active followers;
        /// above it, to nobody.
        pull_threshold: u64 = 1_000_000, 0..=i64::MAX as u64;
        /// Most waiting jobs; a change that would add one more is answered 503.
        queue: usize = 100_000, 1..=10_000_000;
    }

    /// Content: retention of deleted items, and times in the future.
    content: Content {
        /// Time during which a deleted item can be restored; then it is purged. 0 for not at all.
        deleted_retention: Duration = Duration::from_days(30), NONE..=LONGEST;
        /// Most that a time given by the host may be ahead of the clock. Below the minimum, a host whose clock is
        /// slightly ahead could publish nothing.
        max_ahead: Duration = Duration::from_secs(600), Duration::from_secs(1)..=LONGEST;
    }

    /// Ids of users and items.
    ids: Ids {
        /// The ids that requests and imports may have.
        accept: AcceptedIds = AcceptedIds::Any;
    }

    /// The follow graph.
    graph: Graph {
        /// Most users that one user can follow.
        follow_limit: usize = 1000, 1..=1_000_000;
    }

    /// Topics.
    topics: Topics {
        /// Newest items in the list of a topic. A page may read as many rows, on a thread that must not wait long.
        limit: usize = 1000, 1..=10_000;
    }

    /// Presence of users, and streams.
    presence: Presence {
        /// Time for which a heartbeat keeps a user online.
        ttl: Duration = Duration::from_secs(60), Duration::from_secs(1)..=Duration::from_days(1);
        /// A silent stream gets a comment after this time.
        heartbeat: Duration = Duration::from_secs(15), Duration::from_millis(100)..=HOUR;
    }

    /// Requests a second of one sender, with the requests that it may send at once. A rate of 0 is no limit.
    rate_limits: RateLimits {
        /// Of one address, or of one network of 64 bits of IPv6, whatever the credentials are.
        per_address: u32 = 0, 0..=1_000_000;
        /// At once, of one address.
        per_address_burst: u32 = 100, 1..=1_000_000;
        /// With one key.
        per_key: u32 = 0, 0..=1_000_000;
        /// At once, with one key.
        per_key_burst: u32 = 100, 1..=1_000_000;
        /// With the tokens of one user.
        per_user: u32 = 0, 0..=1_000_000;
        /// At once, with the tokens of one user.
        per_user_burst: u32 = 100, 1..=1_000_000;
    }

    /// Access.
    auth: Auth {
        /// Serve other addresses than loopback without keys, although every client that reaches them has full access.
        insecure: bool = false;
        /// Keys for all calls.
        keys: Vec<KeyHash> = Vec::new();
        /// A file with further keys for all calls; empty for none.
        keys_file: PathBuf = PathBuf::new();
        /// Keys for calls that change nothing.
        read_keys: Vec<KeyHash> = Vec::new();
        /// A file with further keys for calls that change nothing; empty for none.
        read_keys_file: PathBuf = PathBuf::new();
        /// Keys for the metrics.
        metrics_keys: Vec<KeyHash> = Vec::new();
        /// A file with further keys for the metrics; empty for none.
        metrics_keys_file: PathBuf = PathBuf::new();
        /// Secrets of user tokens that are signed with HS256.
        jwt_secrets: Vec<Secret> = Vec::new();
        /// A file with further secrets; empty for none.
        jwt_secrets_file: PathBuf = PathBuf::new();
        /// Public keys of user tokens that are signed with EdDSA.
        jwt_public_keys: Vec<PublicKey> = Vec::new();
        /// A file with further public keys; empty for none.
        jwt_public_keys_file: PathBuf = PathBuf::new();
        /// Most that the clock of the issuer of tokens may differ from this server's.
        leeway: Duration = Duration::from_secs(30), NONE..=Duration::from_secs(600);
        /// Whether user tokens may follow, mute, hide and react. Otherwise they only read, open streams, and move the
        /// marker and the presence of their user.
        users_act: bool = true;
    }

    /// A cluster: several nodes that apply one command log.
    cluster: Cluster {
        /// Brokers of the command log, each `host:port`; empty for a server without a cluster.
        brokers: Vec<String> = Vec::new();
        /// The topic of the command log.
        topic: String = "tideline".to_owned();
        /// The name of this node among the members.
        node: NodeName = NodeName::default();
        /// All nodes, this one included, each `name=url`.
        members: Vec<Member> = Vec::new();
        /// Nodes that keep the inbox of each user. The same on all nodes.
        inbox_copies: usize = 1, 1..=16;
        /// How much a read waits for, unless it says so itself.
        consistency: Consistency = Consistency::Strict;
        /// Longest wait for the command log to take a change, and for a read to know that it has all changes.
        timeout: Duration = Duration::from_secs(10), Duration::from_millis(100)..=HOUR;
        /// Commands of the log that cannot be applied, and that all nodes refuse. The same on all nodes.
        refuse: Vec<Refusal> = Vec::new();
        /// Whether the brokers are reached over TLS.
        tls: bool = false;
        /// File of the authorities that sign the brokers' certificates, PEM; empty for those of the system.
        tls_ca: PathBuf = PathBuf::new();
        /// File of the certificate by which the brokers know this node, PEM; empty for none.
        tls_cert: PathBuf = PathBuf::new();
        /// File of its private key, PEM.
        tls_key: PathBuf = PathBuf::new();
        /// How this node proves its identity to the brokers.
        sasl: Sasl = Sasl::Off;
        /// The user of SASL.
        sasl_user: String = String::new();
        /// The password of SASL.
        sasl_password: Password = Password::default();
        /// Replicas of the topic that `tideline cluster init` makes. One is for trials: only with it a topic with one
        /// replica is accepted.
        replication: usize = 3, 1..=16;
        /// Replicas of this topic that must have a change before it is answered.
        min_in_sync: usize = 2, 1..=16;
        /// Whether each of them writes a change to its disk before it is answered.
        flush: bool = true;
        /// How long this topic keeps a change. A node that was away for longer must start from a backup.
        retention: Duration = Duration::from_days(7), Duration::from_days(1)..=LONGEST;
    }

    /// Logging.
    log: Log {
        /// Format of log lines.
        format: LogFormat = LogFormat::Text;
        /// `error`, `warn`, `info`, `debug`, `trace`, or a filter such as `tideline=debug,warn`.
        level: String = "info".to_owned();
        /// A request that takes this time or longer gets a line in the log. 0 for never.
        slow_request: Duration = Duration::from_secs(1), NONE..=HOUR;
    }
}

impl Server {
    /// The scheme of the server's URLs.
    pub fn scheme(&self) -> &'static str {
        if self.tls_cert.as_os_str().is_empty() { "http" } else { "https" }
    }
}

impl Cluster {
    /// Whether this server is a node of a cluster.
    pub fn is_on(&self) -> bool {
        !self.brokers.is_empty()
    }

    /// The members, seen from this node; `None` without a cluster.
    pub fn members(&self) -> Option<Members> {
        let names = self.members.iter().map(|member| member.name.as_str());
        if self.is_on() { Members::new(names, self.node.as_str(), self.inbox_copies) } else { None }
    }
}

impl Timeline {
    /// Time after a read during which the user's inbox stays complete.
    pub fn whole_for(&self) -> Duration {
        if self.evict_after == NONE { self.active_for } else { self.active_for.min(self.evict_after) }
    }
}

impl Fanout {
    /// Number of worker threads.
    pub fn threads(&self) -> usize {
        if self.workers > 0 { self.workers } else { cores() }
    }
}

/// Number of cores.
pub fn cores() -> usize {
    std::thread::available_parallelism().map_or(1, std::num::NonZero::get)
}

/// The moment at which a change counts as on disk.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Durability {
    /// Flushed to the device before the answer; survives a power cut.
    Sync,
    /// Handed to the operating system before the answer; survives `kill -9`, not a power cut.
    Os,
}

impl Durability {
    /// The name in the settings.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Sync => "sync",
            Self::Os => "os",
        }
    }
}

/// The ids that requests and imports may have.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum AcceptedIds {
    /// Numbers and names: any text of 1 to 128 bytes without control characters.
    Any,
    /// Whole numbers from 1 to 2^63-1. Names that are stored already are still shown.
    Numbers,
}

/// Format of log lines.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum LogFormat {
    /// For people.
    Text,
    /// One JSON object a line.
    Json,
}

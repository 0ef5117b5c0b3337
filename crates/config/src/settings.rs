//! The table of all settings.

use std::net::SocketAddr;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use super::address;
use super::auth::{Key, PublicKey, Secret};
use super::choices::{AcceptedIds, Act, Consistency, Durability, LogFormat, Sasl, UsersRead};
use super::cluster::{Member, NodeName, Password, Refusal};
use super::declare::settings;
use super::duration::Duration;
use super::network::Network;
use super::web::{AvatarOrigin, HostName, Origin};
use model::ReactionKinds;

/// Longer durations are typing mistakes; a hundred years.
const LONGEST: Duration = Duration::from_days(36_500);
const NONE: Duration = Duration::from_secs(0);
const HOUR: Duration = Duration::from_secs(3600);

settings! {
    /// The HTTP server.
    server: Server {
        /// IP address (or localhost) and port to listen on; port 0 takes a free port. `0.0.0.0:8080` is all IPv4
        /// addresses, `[::]:8080` is all addresses. A port alone, such as ":8080", is refused, because it is ambiguous.
        /// (--listen)
        #[serde(deserialize_with = "address::deserialize")]
        listen: SocketAddr = SocketAddr::from(([127, 0, 0, 1], 8080));
        /// File of the certificate and the chain to its authority, PEM. With it the server speaks TLS only, HTTP/1.1,
        /// and reads this file and that of the key again when they have changed; without it, plain HTTP. See
        /// docs/use/access.md.
        tls_cert: PathBuf = PathBuf::new();
        /// File of the private key of this certificate, PEM.
        tls_key: PathBuf = PathBuf::new();
        /// Names of a server without keys besides localhost. A request for another name is answered 421; with keys, every
        /// name is answered. IP addresses need no entry. In the environment, commas separate the names. See docs/use/access.md.
        allowed_hosts: Vec<HostName> = Vec::new();
        /// Origins of web pages, such as `https://app.example.org`, that may send changes and read answers (CORS),
        /// besides the server's own origin. A change from another origin is answered 403. See docs/use/access.md.
        allowed_origins: Vec<Origin> = Vec::new();
        /// Addresses or networks of proxies, such as "10.0.0.0/8", whose X-Forwarded-For names the address of a client.
        /// Their connections are not bounded as those of one address are (docs/operate/limits.md).
        trusted_proxies: Vec<Network> = Vec::new();
        /// Whether the console is served at /. Without it, / leads to /docs. See docs/use/console.md.
        console: bool = true;
        /// Origins of https, such as `https://cdn.example.org`, whose pictures the console shows as avatars, besides
        /// data: images. Their servers learn who reads.
        avatar_origins: Vec<AvatarOrigin> = Vec::new();
        /// HTTP threads, each with an event loop; 0 is three for each core, and at least six: answers stay quick while
        /// other clients ask for large ones. One for each core serves about a quarter more small pages a second (two
        /// cores, 16 connections), but then a small answer waits longer for large ones.
        workers: usize = 0, 0..=512;
        /// Most connections at once. A request on a further connection is answered 503. Streams may take seven eighths
        /// of them, the clients of one address about a fifth (docs/operate/limits.md).
        max_connections: usize = 4096, 1..=1_000_000;
        /// Most open streams of one user. A further stream is answered 429. If a client disappears without closing its
        /// connection, its stream counts for `presence.heartbeat` and `server.request_timeout` (45 s), so leave some
        /// room.
        max_streams_per_user: usize = 32, 1..=1_000_000;
        /// Largest body of one change, in bytes. The body of a batch may have 256 times as much, a line of an import that
        /// is an item four times as much.
        body_limit: usize = 65_536, 256..=1 << 20;
        /// A longer request is answered 503, or 408 if its body did not arrive.
        request_timeout: Duration = Duration::from_secs(30), Duration::from_millis(100)..=HOUR;
        /// How long the server goes on after SIGTERM or SIGINT, while /readyz answers 503 so that a balancer sends requests
        /// elsewhere. A second signal ends the wait. The stop follows, with its own `shutdown_timeout`.
        drain: Duration = NONE, NONE..=HOUR;
        /// How long a stop waits for open requests and running jobs.
        shutdown_timeout: Duration = Duration::from_secs(10), Duration::from_millis(100)..=HOUR;
    }

    /// The data directory and the storage engine.
    storage: Storage {
        /// The directory with everything that the server keeps. (--data-dir)
        data_dir: PathBuf = PathBuf::from("data");
        /// When a change is answered. "sync": after it is flushed to the device, so that it survives a power cut. "os":
        /// after the operating system has it, so that it survives kill -9. With "os" the write-ahead log is flushed
        /// twice a second: a power cut loses the newest changes, about one second of them, but never an older change
        /// while a newer one is kept. On a node of a cluster it has no effect: the command log is what survives.
        durability: Durability = Durability::Sync;
        /// Changes are answered 503 while the file system of the data directory has less free room than this, in MiB.
        /// This room is for write buffers and compactions. A small file system has a lower limit
        /// (docs/operate/disk.md). With 0 the server goes on until the device refuses.
        min_free_mb: usize = 512;
        /// Memory for caches of the data on disk, in MiB: half of it for blocks of table files, half for lists of
        /// followees, inboxes, items, pages and others, each with its share. docs/operate/capacity.md says how
        /// much to take.
        cache_mb: usize = 1024, 8..=1 << 20;
        /// Memory for rows that are not yet in table files, in MiB, over all tables. The write-ahead log may grow to
        /// half of it: a larger value means fewer and larger table files, and a longer start after a kill. Below the
        /// minimum, nearly every write would flush a table. Above the maximum, memory would be unused: each table
        /// flushes its own buffer when that is full.
        write_buffer_mb: usize = 64, 8..=256;
        /// Memory for changes of inboxes that are not written yet, in MiB. They are written when half of it is full, or
        /// at the latest after `arrivals_for`. The more there are, the fewer writes an inbox needs, and the more
        /// fan-outs a start after a kill repeats.
        arrivals_mb: usize = 256, 1..=4096;
        /// The longest time for which changes of inboxes are only in memory. A server without jobs writes them within
        /// some 2s, and any server after 32,768 jobs.
        arrivals_for: Duration = Duration::from_secs(5), Duration::from_millis(10)..=HOUR;
        /// Files of tables kept open at once. With few, table files would be opened and closed all the time.
        max_open_files: i32 = 4096, 64..=1_000_000;
    }

    /// Backups.
    backup: Backup {
        /// The directory of backups, which no other server may use; "" is "backups" in the data directory. In the same
        /// file system as the data directory a backup shares the table files with it; in another one it is a full copy.
        dir: PathBuf = PathBuf::new();
        /// Newest verified backups to keep. Older ones are removed after a newer one is verified.
        keep: usize = 7, 1..=1000;
    }

    /// Standbys: see docs/operate/standby.md.
    standby: Standby {
        /// Most of the write-ahead log, in MiB, that a server keeps for standbys that follow it, besides what it needs
        /// itself; 0 is none. It costs nothing before a standby has called, and is given up while the device has less than
        /// twice `storage.min_free_mb` free. A standby that was away for more log than that makes a new copy.
        keep_mb: usize = 4096, 0..=1 << 24;
        /// How long log is kept for a standby that does not call.
        keep_for: Duration = Duration::from_days(1), Duration::from_secs(1)..=LONGEST;
        /// Longest time that a standby may be behind and still be ready to take over by its /standbyz.
        ready_within: Duration = Duration::from_secs(10), Duration::from_millis(100)..=LONGEST;
    }

    /// Home timelines and inboxes.
    timeline: Timeline {
        /// Newest entries that an inbox keeps. Older entries are read from the outboxes of the authors, so no timeline
        /// ends here. A lower limit frees room only when the table is compacted.
        inbox_limit: usize = 1000, 1..=1_000_000;
        /// Newest entries of an author that stay in the outbox table; 0 is all. Older entries move to a more compact
        /// archive when the outbox is compacted. No page changes.
        outbox_limit: usize = 0, 0..=1_000_000;
        /// Whether a timeline shows the items of its own user too. This changes pages.
        include_own: bool = false => include_own;
        /// How long after reading a timeline its user is active. Only inboxes of active users get the items of authors
        /// with more than `fanout.push_threshold` followers.
        active_for: Duration = Duration::from_days(30), NONE..=LONGEST;
        /// How long after the last read of a timeline its inbox is dropped; "0s" is never. The inbox then costs nothing
        /// until the user returns. No timeline changes.
        evict_after: Duration = Duration::from_days(90), NONE..=LONGEST;
        /// Entries of a list that one request looks at, roughly, before its page ends with fewer than asked for, or none:
        /// behind items that are deleted or not shown, or of other kinds than asked for, and behind users of whom a viewer
        /// sees nothing. `next` leads on. The count of unread items ends there, too.
        look_at: usize = 4096, 16..=1_000_000;
    }

    /// Fan-out on write.
    fanout: Fanout {
        /// Threads that do jobs; 0 is one for each core.
        workers: usize = 0, 0..=1024;
        /// Followers in one step of a fan-out. A worker holds all of them in memory.
        chunk: usize = 1000, 1..=100_000;
        /// Items of authors with at most this many followers are copied into the inboxes of all of them.
        push_threshold: u64 = 10_000, 0..=i64::MAX as u64;
        /// Items of authors with more followers than `push_threshold`, up to this many, are copied into the inboxes of
        /// active followers; above it, into none.
        pull_threshold: u64 = 1_000_000, 0..=i64::MAX as u64;
        /// Jobs that may wait, each of them some hundred bytes of memory; a change that would add one more is answered
        /// 503.
        queue: usize = 100_000, 1..=10_000_000;
    }

    /// Content: retention of deleted items, and times in the future.
    content: Content {
        /// How long after a delete an item can be restored. After that it is purged when its table is compacted, or by
        /// `tideline compact`. "0s" purges in the delete itself.
        deleted_retention: Duration = Duration::from_days(30), NONE..=LONGEST => deleted_retention;
        /// How far a time in a request (published_at, since, a marker) may lie after the server's clock. A later time
        /// is refused, because it is nearly always in another unit, such as microseconds. Below the minimum, an
        /// application whose clock is slightly ahead could publish nothing.
        max_ahead: Duration = Duration::from_secs(600), Duration::from_secs(1)..=LONGEST => max_ahead;
    }

    /// Ids of users and items.
    ids: Ids {
        /// The ids that requests and imports may have: "any" text, or only whole "numbers".
        accept: AcceptedIds = AcceptedIds::Any => accept;
        /// The number of this server in the ids that it makes for items without one. Servers with different numbers never
        /// make the same id: give a second server, or a standby that you promote beside a server that goes on, another one.
        server: u16 = 0, 0..=1023 => server;
    }

    /// The follow graph.
    graph: Graph {
        /// Most users that one user can follow.
        follow_limit: usize = 1000, 1..=1_000_000 => follow_limit;
    }

    /// Topics.
    topics: Topics {
        /// Newest items that the list of a topic shows. Older items stay in a more compact archive. The list shows them
        /// when newer items are deleted, or when the limit is raised. This changes pages. A page may read as many rows.
        limit: usize = 1000, 1..=10_000 => topic_limit;
    }

    /// Reactions.
    reactions: Reactions {
        /// The names of the kinds of reactions that calls take and answers show, in this order: one name or more, at most
        /// 32, each of at most 32 bytes without control characters and "/", such as "👏". Reactions of a kind that is
        /// taken out stay on disk and come back with its name. In the environment, commas separate the names. At most
        /// 250 names are ever used in a data directory.
        kinds: ReactionKinds = ReactionKinds::default() => reaction_kinds;
    }

    /// The feed of changes (`GET /v1/changes`).
    changes: Changes {
        /// How long a change stays in the feed, at least; "0s" is no feed. A reader that comes back later begins anew.
        keep: Duration = Duration::from_days(7), NONE..=LONGEST;
        /// Most changes in the feed, however young they are; each takes some 50 bytes on disk.
        limit: u64 = 100_000_000, 1_000_000..=1_u64 << 40;
    }

    /// Notices of users (`GET /v1/users/{uid}/notices`).
    notices: Notices {
        /// How long a notice stays in the list; "0s" is no notices at all. Compactions remove older ones.
        keep: Duration = Duration::from_days(90), NONE..=LONGEST => notices_keep;
    }

    /// Presence of users, and streams.
    presence: Presence {
        /// How long a heartbeat (`PUT /v1/users/{uid}/presence`) keeps a user online.
        ttl: Duration = Duration::from_secs(60), Duration::from_secs(1)..=Duration::from_days(1);
        /// After how much silence an open stream gets a comment line, so that no proxy takes the connection for dead.
        heartbeat: Duration = Duration::from_secs(15), Duration::from_millis(100)..=HOUR;
    }

    /// Requests a second of one sender; a rate of 0 is no limit. The burst is how many may come at once. A request
    /// above a limit is answered 429. /healthz and /readyz have no limit. See docs/use/access.md.
    rate_limits: RateLimits {
        /// Of one address, or of one network of 64 bits of IPv6, with or without good credentials.
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
        /// Listen on other addresses than loopback without keys, although everybody who reaches them can read and
        /// change everything. (--insecure)
        insecure: bool = false;
        /// Keys for all calls. An entry is the hash of a key, "sha256:…", or the key itself, of at least 32 characters; then
        /// perhaps a space and the key's name. `tideline key new` makes a key and its hash. With any key of this section,
        /// all calls need one. See docs/use/access.md.
        keys: Vec<Key> = Vec::new();
        /// A file with further keys, one on each line. This file and those below are read again when they change.
        keys_file: PathBuf = PathBuf::new();
        /// Keys for calls that change nothing (`tideline key new --read`).
        read_keys: Vec<Key> = Vec::new();
        /// A file with further keys for calls that change nothing.
        read_keys_file: PathBuf = PathBuf::new();
        /// Keys for GET /metrics only (`tideline key new --metrics`).
        metrics_keys: Vec<Key> = Vec::new();
        /// A file with further keys for the metrics.
        metrics_keys_file: PathBuf = PathBuf::new();
        /// Secrets of user tokens that are signed with HS256, of at least 32 bytes each. Several at once allow a
        /// rotation. For one secret, jwt_secret = "…" takes the place of the list.
        jwt_secrets: Vec<Secret> = Vec::new();
        /// A file with further secrets, one on each line.
        jwt_secrets_file: PathBuf = PathBuf::new();
        /// Ed25519 public keys of user tokens that are signed with EdDSA: PEM, or base64url of the 32 bytes. For one
        /// key, jwt_public_key = "…" takes the place of the list.
        jwt_public_keys: Vec<PublicKey> = Vec::new();
        /// A file with further public keys.
        jwt_public_keys_file: PathBuf = PathBuf::new();
        /// How far the clock of the issuer of tokens may differ from this server's.
        leeway: Duration = Duration::from_secs(30), NONE..=Duration::from_secs(600);
        /// The changes that user tokens may make for their user; docs/use/access.md has the calls of each. Keys alone make
        /// the others: the application decides about each follow if "follow" is left out. In the environment, commas
        /// separate the words.
        users_act: Vec<Act> = Act::usual();
        /// The reads of user tokens: "own" for the pages, lists and relations of their user; "visible" also for all items,
        /// own pages, comments, topics, reactions, profiles and lists of followers that the user may see. See
        /// docs/use/access.md.
        users_read: UsersRead = UsersRead::Own;
    }

    /// A cluster: several nodes that apply one command log, a topic of Apache Kafka. See docs/operate/cluster.md.
    /// Without brokers this section does nothing. With them, the command log has the values of the settings that all nodes
    /// share (docs/operate/cluster.md#settings-that-all-nodes-share), and each node uses those.
    cluster: Cluster {
        /// Brokers of the command log, each "host:port". In the environment, commas separate them.
        brokers: Vec<String> = Vec::new();
        /// The topic of the command log. `tideline cluster init` makes it.
        topic: String = "tideline".to_owned();
        /// The name of this node among the members, of letters, digits, dots, hyphens and underscores. It decides whose
        /// inboxes the node keeps. A name is for one running node.
        node: NodeName = NodeName::default();
        /// All nodes, this one included, at most 64, each "name=url" with the URL at which the others reach it, such as
        /// `a=http://10.0.0.1:8080`. The same list on all nodes.
        members: Vec<Member> = Vec::new();
        /// Nodes that keep the inbox of each user. With more than one, reads of a user stay fast while a node is away.
        /// The same on all nodes.
        inbox_copies: usize = 1, 1..=16;
        /// How much a read waits for, unless it says so itself.
        consistency: Consistency = Consistency::Strict;
        /// The longest wait for the command log to take a change, and for a read to know that it has all changes.
        timeout: Duration = Duration::from_secs(10), Duration::from_millis(100)..=HOUR;
        /// Commands of the log that cannot be applied, and that all nodes refuse, each "OFFSET.COMMAND:HASH" as in the
        /// message of the nodes that have stopped. The same on all nodes:
        /// docs/operate/cluster.md#a-record-that-cannot-be-applied.
        refuse: Vec<Refusal> = Vec::new();
        /// Whether the brokers are reached over TLS.
        tls: bool = false;
        /// File of the authorities that sign the certificates of the brokers, PEM; "" is those of the system. Not for
        /// members.
        tls_ca: PathBuf = PathBuf::new();
        /// File of the certificate by which the brokers know this node, PEM; "" is none.
        tls_cert: PathBuf = PathBuf::new();
        /// File of its private key, PEM.
        tls_key: PathBuf = PathBuf::new();
        /// How this node proves its identity to the brokers.
        sasl: Sasl = Sasl::Off;
        /// The user of SASL.
        sasl_user: String = String::new();
        /// The password of SASL. No output shows it.
        sasl_password: Password = Password::default();
        /// Replicas of the topic that `tideline cluster init` makes. With 1, for trials, a lost broker loses changes;
        /// nodes accept a topic with one replica only if this setting is 1. Later changes:
        /// docs/operate/cluster.md#the-topic.
        replication: usize = 3, 1..=16;
        /// Replicas of this topic that must have a change before it is answered; at most `replication`. For `tideline
        /// cluster init` only.
        min_in_sync: usize = 2, 1..=16;
        /// Whether each of them writes a change to its disk before it is answered. Without this, a power cut of all
        /// brokers can lose changes that were answered. For `tideline cluster init` only.
        flush: bool = true;
        /// How long the topic that `tideline cluster init` makes keeps a change; for that command only. A node that was
        /// away for longer must start from a backup.
        retention: Duration = Duration::from_days(7), Duration::from_days(1)..=LONGEST;
    }

    /// Logging.
    log: Log {
        /// "text" for people, "json" for one object on each line.
        format: LogFormat = LogFormat::Text;
        /// `error`, `warn`, `info`, `debug` or `trace`, or a filter such as "tideline=debug,warn".
        level: String = "info".to_owned();
        /// A request that takes this time or longer gets a line in the log; "0s" is never. At most ten lines a second.
        slow_request: Duration = Duration::from_secs(1), NONE..=HOUR;
    }
}

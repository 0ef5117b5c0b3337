//! PostgreSQL as people build feeds on it: an inbox table with a covering index, and the pull query without one.

use std::fmt::Write as _;
use std::fs::File;
use std::io::{BufWriter, Write as _};
use std::os::unix::fs::{PermissionsExt, chown};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use tokio_postgres::{Client, NoTls};

use crate::process::{Process, free_port, output, wait_for};
use crate::trace::{INBOX_LIMIT, Post, Trace};

/// The settings that differ from those of PostgreSQL.
pub const SETTINGS: &[&str] = &[
    "shared_buffers=1GB",
    "effective_cache_size=4GB",
    "max_wal_size=4GB",
    "wal_level=minimal",
    "max_wal_senders=0",
    "synchronous_commit=off",
    "random_page_cost=1.1",
    "jit=off",
];

/// Connections that deliver.
pub const WRITERS: u64 = 2;
/// A follower is trimmed with every so many-th post that it gets, about.
pub const TRIMMED_EVERY: u64 = 32;

const TABLES: &str = "
    CREATE TABLE content (content_id bigint NOT NULL, author_id bigint NOT NULL, published_at bigint NOT NULL, body text NOT NULL);
    CREATE TABLE follows (user_id bigint NOT NULL, target_id bigint NOT NULL);
    CREATE TABLE inbox (user_id bigint NOT NULL, published_at bigint NOT NULL, content_id bigint NOT NULL, author_id bigint NOT NULL);";
const INDEXES: &str = "
    ALTER TABLE content ADD PRIMARY KEY (content_id);
    CREATE INDEX content_of_author ON content (author_id, published_at DESC, content_id DESC);
    ALTER TABLE follows ADD PRIMARY KEY (user_id, target_id);
    CREATE UNIQUE INDEX inbox_page ON inbox (user_id, published_at DESC, content_id DESC) INCLUDE (author_id);";
const DELIVER: &str = "
    WITH item AS (INSERT INTO content VALUES ($1, $2, $3, $4))
    INSERT INTO inbox (user_id, published_at, content_id, author_id)
    SELECT follower, $3, $1, $2 FROM unnest($5::bigint[]) AS follower";
/// The newest items of the inbox.
pub const IDS: &str = "
    SELECT content_id, author_id, published_at FROM inbox WHERE user_id = $1
    ORDER BY published_at DESC, content_id DESC LIMIT 20";
/// Those with their contents.
pub const FULL: &str = "
    SELECT i.content_id, i.author_id, i.published_at, c.body
    FROM (SELECT * FROM inbox WHERE user_id = $1 ORDER BY published_at DESC, content_id DESC LIMIT 20) i
    JOIN content c USING (content_id) ORDER BY i.published_at DESC, i.content_id DESC";
/// The newest items of the followees, without an inbox.
pub const PULLED_IDS: &str = "
    SELECT c.content_id, c.author_id, c.published_at
    FROM follows f CROSS JOIN LATERAL (
      SELECT content_id, author_id, published_at FROM content WHERE author_id = f.target_id
      ORDER BY published_at DESC, content_id DESC LIMIT 20) c
    WHERE f.user_id = $1 ORDER BY c.published_at DESC, c.content_id DESC LIMIT 20";
/// Those with their contents.
pub const PULLED_FULL: &str = "
    SELECT c.content_id, c.author_id, c.published_at, c.body
    FROM follows f CROSS JOIN LATERAL (
      SELECT * FROM content WHERE author_id = f.target_id ORDER BY published_at DESC, content_id DESC LIMIT 20) c
    WHERE f.user_id = $1 ORDER BY c.published_at DESC, c.content_id DESC LIMIT 20";

fn trim() -> String {
    format!(
        "DELETE FROM inbox i USING unnest($1::bigint[]) AS u (id), LATERAL (
           SELECT published_at, content_id FROM inbox WHERE user_id = u.id
           ORDER BY published_at DESC, content_id DESC OFFSET {INBOX_LIMIT} LIMIT 1) AS last
         WHERE i.user_id = u.id AND (i.published_at, i.content_id) <= (last.published_at, last.content_id)"
    )
}

/// The directory of `initdb` and `postgres`, also where Debian hides it.
pub fn programs() -> Option<PathBuf> {
    let versions = std::fs::read_dir("/usr/lib/postgresql").into_iter().flatten().flatten();
    let mut found: Vec<_> = versions.map(|version| version.path().join("bin")).collect();
    found.retain(|bin| bin.join("initdb").exists());
    let number = |bin: &PathBuf| bin.parent()?.file_name()?.to_str()?.parse::<u32>().ok();
    found.sort_by_key(number);
    let on_path = std::env::var_os("PATH")?;
    found.pop().or_else(|| std::env::split_paths(&on_path).find(|bin| bin.join("initdb").exists()))
}

/// A running server.
pub struct Postgres {
    process: Process,
    pub port: u16,
    dir: PathBuf,
}

impl Drop for Postgres {
    fn drop(&mut self) {
        // A signal that lets it end its own processes.
        self.process.end("INT");
    }
}

impl Postgres {
    /// PostgreSQL does not run as root: it then runs as the user `postgres`, who can reach `dir`.
    pub fn start(dir: &Path) -> Self {
        let bin = programs().expect("PostgreSQL is installed");
        std::fs::create_dir_all(dir).expect("a directory");
        std::fs::set_permissions(dir, PermissionsExt::from_mode(0o755)).expect("a mode");
        let id = |args: &[&str]| output("id", args).parse::<u32>().ok();
        let is_root = id(&["-u"]) == Some(0);
        let other = is_root.then(|| {
            let numbers = id(&["-u", "postgres"]).zip(id(&["-g", "postgres"]));
            numbers.expect("root needs the user postgres, who comes with Debian's package")
        });
        let run = |program: &str| {
            let mut command = Command::new(bin.join(program));
            command.current_dir(dir);
            if let Some((user, group)) = other {
                command.uid(user).gid(group);
            }
            command
        };
        if let Some((user, group)) = other {
            chown(dir, Some(user), Some(group)).expect("a new owner");
        }
        let data = dir.join("data");
        let mut make = run("initdb");
        make.args(["--auth=trust", "--username=bench", "--encoding=UTF8", "--locale=C"]).arg(&data);
        let made = make.output().expect("initdb runs");
        assert!(made.status.success(), "initdb: {}", String::from_utf8_lossy(&made.stderr));
        let port = free_port();
        let mut command = run("postgres");
        command.arg("-D").arg(&data).args(["-p", &port.to_string(), "-c", "listen_addresses=127.0.0.1"]);
        command.args(["-c", "unix_socket_directories="]);
        for setting in SETTINGS {
            command.args(["-c", setting]);
        }
        let server = Self { process: Process::start(&mut command), port, dir: dir.into() };
        let ready = bin.join("pg_isready");
        wait_for("postgres", Duration::from_secs(60), || {
            let port = port.to_string();
            let asked = Command::new(&ready).args(["-q", "-h", "127.0.0.1", "-p", &port]).status();
            asked.is_ok_and(|status| status.success())
        });
        server
    }

    /// The address of the server for a client.
    pub fn address(port: u16) -> String {
        format!("host=127.0.0.1 port={port} user=bench dbname=postgres")
    }

    /// Runs statements on a connection of their own.
    pub fn run(&self, statements: &str) {
        block_on(async {
            let client = connect(self.port).await;
            client.batch_execute(statements).await.expect("statements");
        });
    }

    /// Makes the tables and fills them by COPY.
    pub fn fill(&self, trace: &Trace, posts: impl Iterator<Item = Post> + Clone) {
        self.run(TABLES);
        self.copy("follows", |out| {
            for (user, author) in trace.follows() {
                writeln!(out, "{user}\t{author}")?;
            }
            Ok(())
        });
        self.copy("content", |out| {
            for post in posts.clone() {
                writeln!(out, "{}\t{}\t{}\t{}", post.id, post.author, post.at(), post.shown())?;
            }
            Ok(())
        });
        self.copy("inbox", |out| {
            for post in posts.clone() {
                for follower in trace.followers(post.author) {
                    writeln!(out, "{follower}\t{}\t{}\t{}", post.at(), post.id, post.author)?;
                }
            }
            Ok(())
        });
        self.run(INDEXES);
        let users: Vec<_> = (trace.authors + 1..=trace.authors + trace.users).collect();
        for part in users.chunks(1000) {
            let ids = part.iter().fold(String::new(), |mut ids, id| {
                write!(ids, "{}{id}", if ids.is_empty() { "" } else { "," }).expect("strings take all");
                ids
            });
            self.run(&trim().replace("$1", &format!("'{{{ids}}}'")));
        }
        for statement in ["VACUUM ANALYZE", "CHECKPOINT"] {
            self.run(statement);
        }
    }

    fn copy(&self, table: &str, write: impl FnOnce(&mut BufWriter<File>) -> std::io::Result<()>) {
        let path = self.dir.join(table);
        let mut file = BufWriter::with_capacity(1 << 20, File::create(&path).expect("a file"));
        write(&mut file).and_then(|()| file.flush()).expect("rows are written");
        self.run(&format!("COPY {table} FROM '{}'", path.display()));
        std::fs::remove_file(path).expect("removes");
    }

    /// Delivers posts to the followers of their authors, one statement a post, and trims. Returns the time.
    pub fn deliver(&self, trace: &Trace, posts: impl Iterator<Item = Post> + Clone + Send) -> Duration {
        let begun = Instant::now();
        std::thread::scope(|scope| {
            for writer in 0..WRITERS {
                let posts = posts.clone().filter(move |post| post.id % WRITERS == writer);
                scope.spawn(move || block_on(deliver_all(self.port, trace, posts)));
            }
        });
        begun.elapsed()
    }

    /// Bytes of the inbox and its index.
    pub fn inbox_bytes(&self) -> u64 {
        block_on(async {
            let row = connect(self.port).await.query_one("SELECT pg_total_relation_size('inbox')", &[]).await;
            row.expect("a size").get::<_, i64>(0).unsigned_abs()
        })
    }
}

async fn deliver_all(port: u16, trace: &Trace, posts: impl Iterator<Item = Post>) {
    let client = connect(port).await;
    let deliver = client.prepare(DELIVER).await.expect("a statement");
    let trim = client.prepare(&trim()).await.expect("a statement");
    let signed = |number: u64| i64::try_from(number).expect("in range");
    for post in posts {
        let followers: Vec<_> = trace.followers(post.author).iter().map(|user| signed(*user)).collect();
        let (id, author, at) = (signed(post.id), signed(post.author), signed(post.at()));
        client.execute(&deliver, &[&id, &author, &at, &post.shown(), &followers]).await.expect("delivers");
        // Every follower in its turn, so that each trim removes many rows.
        let turn = post.id / trace.authors;
        let due: Vec<_> =
            followers.into_iter().filter(|user| (user.unsigned_abs() + turn).is_multiple_of(TRIMMED_EVERY)).collect();
        // Two trims of the same rows can end in a deadlock; the other one has then trimmed.
        let _ = client.execute(&trim, &[&due]).await;
    }
}

/// A connection, served by the runtime of the caller.
pub async fn connect(port: u16) -> Client {
    let (client, connection) = tokio_postgres::connect(&Postgres::address(port), NoTls).await.expect("connects");
    // Its errors reach the requests.
    tokio::spawn(connection);
    client
}

fn block_on<T>(work: impl Future<Output = T>) -> T {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    runtime.block_on(work)
}

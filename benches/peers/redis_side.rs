//! Redis as people build feeds on it: a sorted set for each inbox, and the items as texts.

use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use crate::process::{Process, free_port, output, wait_for};
use crate::trace::{INBOX_LIMIT, Post, Trace};

/// The settings that differ from those of Redis.
pub const SETTINGS: &str = "`appendonly yes`, `appendfsync everysec`, `save ''`";

/// When an inbox is cut to its limit.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Trim {
    Never,
    /// With each entry.
    Always,
    /// With every so many-th entry.
    Every(u64),
}

/// A running server.
pub struct Redis {
    _process: Process,
    pub port: u16,
    /// Commands on their way to the server.
    commands: PathBuf,
}

impl Redis {
    pub fn start(dir: &Path) -> Self {
        std::fs::create_dir_all(dir).expect("a directory");
        let port = free_port();
        let mut command = Command::new("redis-server");
        command.args(["--bind", "127.0.0.1", "--port", &port.to_string(), "--dir"]).arg(dir);
        command.args(["--appendonly", "yes", "--appendfsync", "everysec", "--save", "", "--daemonize", "no"]);
        let mut process = Process::start(&mut command);
        let port_text = port.to_string();
        wait_for("redis-server", Duration::from_secs(30), || {
            assert!(!process.ended(), "redis-server ended at once");
            output("redis-cli", &["-p", &port_text, "ping"]) == "PONG"
        });
        Self { _process: process, port, commands: dir.join("commands") }
    }

    /// Delivers posts to the followers of their authors, through `redis-cli --pipe`. Returns the time of that, without
    /// the time to write down the commands.
    pub fn deliver(&self, trace: &Trace, posts: impl Iterator<Item = Post>, trim: Trim) -> Duration {
        self.write_down(trace, posts, trim).expect("commands are written");
        let commands = File::open(&self.commands).expect("commands");
        let begun = Instant::now();
        let mut command = Command::new("redis-cli");
        command.args(["-p", &self.port.to_string(), "--pipe"]).stdin(commands).stderr(Stdio::inherit());
        let output = command.output().expect("redis-cli runs");
        let taken = begun.elapsed();
        let said = String::from_utf8_lossy(&output.stdout);
        assert!(said.contains("errors: 0,"), "redis-cli: {said}");
        std::fs::remove_file(&self.commands).expect("removes");
        taken
    }

    fn write_down(&self, trace: &Trace, posts: impl Iterator<Item = Post>, trim: Trim) -> std::io::Result<()> {
        let mut out = BufWriter::with_capacity(1 << 20, File::create(&self.commands)?);
        let last = (-1 - i64::try_from(INBOX_LIMIT).expect("small")).to_string();
        let mut added = 0;
        for post in posts {
            let (member, at) = (member(post), post.at().to_string());
            command(&mut out, &["SET", &content_key(post.id), &post.shown()])?;
            for follower in trace.followers(post.author) {
                let inbox = inbox_key(*follower);
                command(&mut out, &["ZADD", &inbox, &at, &member])?;
                added += 1;
                let trims = match trim {
                    Trim::Never => false,
                    Trim::Always => true,
                    Trim::Every(entries) => added % entries == 0,
                };
                if trims {
                    command(&mut out, &["ZREMRANGEBYRANK", &inbox, "0", &last])?;
                }
            }
        }
        out.flush()
    }

    /// Memory that the data takes, bytes.
    pub fn memory(&self) -> u64 {
        let info = output("redis-cli", &["-p", &self.port.to_string(), "info", "memory"]);
        let line = info.lines().find_map(|line| line.trim().strip_prefix("used_memory:")?.parse().ok());
        line.unwrap_or_default()
    }
}

/// One command, as Redis reads it.
fn command(out: &mut impl Write, parts: &[&str]) -> std::io::Result<()> {
    write!(out, "*{}\r\n", parts.len())?;
    for part in parts {
        write!(out, "${}\r\n{part}\r\n", part.len())?;
    }
    Ok(())
}

/// Item and author: with zeros in front, so that entries of the same time stand in the order of their ids.
fn member(post: Post) -> String {
    format!("{:019}:{}", post.id, post.author)
}

pub fn inbox_key(user: u64) -> String {
    format!("inbox:{user}")
}

pub fn content_key(id: u64) -> String {
    format!("content:{id}")
}

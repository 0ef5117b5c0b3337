//! Running the built program, and looking at the directory that it leaves.

use std::fmt::Write as _;
use std::io::Write as _;
use std::ops::ControlFlow;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use feed::store::{Options, Store};
use kv::Tier;
use model::{Order, ReactionKind, Side, Span};
use tempfile::TempDir;

use crate::plain::user;

/// The tables of an export, in the order in which an import takes them.
pub(crate) fn tables() -> Vec<String> {
    let help = Command::new(env!("CARGO_BIN_EXE_tideline")).args(["export", "--help"]).output().expect("runs").stdout;
    let help = String::from_utf8(help).expect("UTF-8");
    let options = help.lines().filter(|line| line.contains("<FILE>") && line.contains("  The file for "));
    options.filter_map(|line| Some(line.trim().strip_prefix("--")?.split_once(' ')?.0.to_owned())).collect()
}

/// The result of a run.
#[derive(Debug)]
pub(crate) struct Ran {
    pub(crate) code: Option<i32>,
    pub(crate) out: String,
    pub(crate) err: String,
}

impl Ran {
    /// The run succeeded.
    #[track_caller]
    pub(crate) fn ok(self) -> Self {
        assert_eq!(self.code, Some(0), "{self:?}");
        self
    }

    /// The run failed as it should: exit code 1, and stderr has `words`.
    #[track_caller]
    pub(crate) fn failed(self, words: &str) -> Self {
        assert_eq!(self.code, Some(1), "{self:?}");
        assert!(self.err.contains(words), "no {words:?} in {self:?}");
        self
    }
}

/// A directory for one test: input files, and the data directory `data` in it.
pub(crate) struct Place {
    dir: TempDir,
    env: Vec<(&'static str, String)>,
}

impl Place {
    pub(crate) fn new() -> Self {
        Self { dir: tempfile::tempdir().expect("temp dir"), env: Vec::new() }
    }

    /// Sets a variable of the environment for all runs.
    pub(crate) fn with_env(mut self, name: &'static str, value: impl ToString) -> Self {
        self.env.push((name, value.to_string()));
        self
    }

    pub(crate) fn dir(&self) -> &std::path::Path {
        self.dir.path()
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    pub(crate) fn data(&self) -> PathBuf {
        self.path("data")
    }

    pub(crate) fn file(&self, name: &str, bytes: impl AsRef<[u8]>) {
        std::fs::write(self.path(name), bytes).expect(name);
    }

    /// The program with `args`, in this directory and with no other environment.
    pub(crate) fn command(&self, args: &[&str]) -> Command {
        let mut command = crate::server::program();
        command.args(args).current_dir(self.dir.path());
        command.envs(self.env.iter().map(|(name, value)| (name, value)));
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        command
    }

    pub(crate) fn run(&self, args: &[&str]) -> Ran {
        ended(self.command(args).spawn().expect("starts"))
    }

    /// Runs `tideline health`, again if the answer is late: the command waits for three seconds, which are few on a busy
    /// machine.
    pub(crate) fn health(&self, args: &[&str]) -> Ran {
        let began = Instant::now();
        loop {
            let ran = self.run(args);
            if !ran.err.contains("the server has said nothing for") || began.elapsed() > Duration::from_secs(60) {
                return ran;
            }
        }
    }

    /// Runs with `input` on stdin.
    pub(crate) fn run_with(&self, args: &[&str], input: &[u8]) -> Ran {
        let mut child = self.command(args).stdin(Stdio::piped()).spawn().expect("starts");
        let mut stdin = child.stdin.take().expect("piped");
        let input = input.to_vec();
        let writer = std::thread::spawn(move || {
            // The program may end before it has read everything.
            let _ = stdin.write_all(&input);
        });
        let ran = ended(child);
        writer.join().expect("writes");
        ran
    }

    /// The store that the runs left.
    pub(crate) fn rocks(&self) -> Store {
        Store::open(&Options::new(self.data())).expect("opens")
    }

    /// All readable data of the store, as text.
    pub(crate) fn dump(&self) -> String {
        dump(&self.rocks())
    }
}

fn ended(child: Child) -> Ran {
    let output = child.wait_with_output().expect("ends");
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).expect("output is text");
    Ran { code: output.status.code(), out: text(output.stdout), err: text(output.stderr) }
}

/// Profiles and reactions of users up to this id are read.
const DUMPED_USERS: u64 = 300;

/// All readable data of a store, as text.
pub(crate) fn dump(store: &Store) -> String {
    let mut text = String::new();
    let users = feed::users::tables::users_after(store, None, 100_000).expect("users");
    for &user in &users {
        writeln!(text, "user {user}").expect("text");
        for side in Side::all() {
            let members = feed::follows::tables::members(store, user, side, Span::ALL.newest(10_000), Tier::Disk)
                .expect("members");
            writeln!(text, "  {side:?} {members:?}").expect("text");
        }
        let (settings, marker) = (
            feed::users::tables::settings(store, user, Tier::Disk),
            feed::users::tables::marker(store, user, Tier::Disk),
        );
        writeln!(text, "  {:?} {:?}", settings.expect("settings"), marker.expect("a marker")).expect("text");
        writeln!(
            text,
            "  suspended {:?}",
            feed::users::tables::suspended_since(store, user, Tier::Disk).expect("reads")
        )
        .expect("text");
        for list in feed::lists::tables::lists(store, user, Tier::Disk).expect("lists") {
            let members = feed::lists::tables::list_members(store, list.id, Span::ALL.newest(10_000), Tier::Disk)
                .expect("members");
            let marker = feed::lists::tables::list_marker(store, list.id, Tier::Disk).expect("a marker");
            writeln!(text, "  {list:?} {members:?} {marker:?}").expect("text");
        }
        let mut inbox = Vec::new();
        let floor = feed::inbox::tables::inbox(store, user, Span::ALL, Order::NewestFirst, Tier::Disk, &mut |entry| {
            inbox.push(entry);
            ControlFlow::Continue(())
        });
        writeln!(text, "  inbox above {:?}: {inbox:?}", floor.expect("inbox")).expect("text");
    }
    let entries =
        feed::items::tables::outboxes(store, &users, Span::ALL.newest(1_000_000), Tier::Disk).expect("outboxes");
    for entry in entries {
        let id = entry.cursor.id;
        let found = feed::items::tables::contents(store, &[id], Tier::Disk).expect("contents");
        writeln!(text, "{found:?} {:?}", feed::items::tables::item_counts(store, &[id], Tier::Disk).expect("counts"))
            .expect("text");
        for kind in [ReactionKind::LIKE, ReactionKind::FAVORITE] {
            let reactors = feed::reactions::tables::reactors(store, id, kind, Span::ALL.newest(10_000), Tier::Disk);
            writeln!(text, "  {kind:?} {:?}", reactors.expect("reactors")).expect("text");
        }
    }
    // Users with only a profile or reactions are not in the list above.
    for user in (1..=DUMPED_USERS).map(user) {
        let profile = feed::users::tables::profiles(store, &[user], Tier::Disk).expect("profiles");
        let reacted = [ReactionKind::LIKE, ReactionKind::FAVORITE].map(|kind| {
            feed::reactions::tables::reacted_by(store, user, kind, Span::ALL.newest(10_000), Tier::Disk)
                .expect("reactions")
        });
        if profile != [None] || reacted.iter().any(|list| !list.is_empty()) {
            writeln!(text, "user {user} {profile:?} reacted to {reacted:?}").expect("text");
        }
    }
    text
}

/// Packs with gzip.
pub(crate) fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    encoder.write_all(bytes).expect("writes");
    encoder.finish().expect("finishes")
}

/// Reads a file of the repository.
pub(crate) fn repository_file(name: &str) -> String {
    std::fs::read_to_string(name).expect(name)
}

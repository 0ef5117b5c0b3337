//! A follower of many lives: each is a process of its own that ends at a failpoint, or that is killed, and the next one
//! goes on from its directory.

#[path = "../support/clock.rs"]
mod clock;

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};

use fastrand::Rng;
use model::failpoint::{Write, names};
use tempfile::TempDir;

use super::child::{ORDERS, Orders};
use super::tape::Tape;
use crate::promises::names::Ids;
use crate::promises::seed::pick;
use crate::promises::system::temp_dir;

/// SIGABRT and SIGKILL.
const ABORTED: i32 = 6;
const KILLED: i32 = 9;
/// Hours by which clocks are off.
const SHIFTS: [i64; 7] = [0, 3, -3, 26, -26, 1000, 60_000];
/// Hours after which a user who was not seen is away.
const AWAY: i64 = 1000;
/// Lives that apply the whole log if nothing ends them.
const LIVES: u64 = if cfg!(feature = "failpoints") { 200 } else { 12 };
/// Times that a follower begins the log.
const TIMES: u32 = 12;
/// The longest time until a life is killed.
const LONGEST: Duration = Duration::from_secs(20);
/// Milliseconds that a life lasts when it has applied its part.
const LASTS: u64 = 400;

/// An end of a life.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum End {
    /// The process ends itself at this place.
    Abort(String),
    /// Two writes fail at this place, and the process goes on.
    Refused(String),
    /// The process is killed at any instant.
    Kill,
}

impl End {
    fn is_at(&self, groups: &[&str]) -> bool {
        match self {
            Self::Abort(place) | Self::Refused(place) => groups.iter().any(|group| place.starts_with(group)),
            Self::Kill => false,
        }
    }

    /// Whether its place is passed once in a life.
    fn is_once(&self) -> bool {
        self.is_at(&["start.", "stop."])
    }

    /// Whether its place is passed by commands, and not by the work that they leave to others.
    fn is_of_commands(&self) -> bool {
        const WRITES: [Write; 9] = [
            Write::Publish,
            Write::Edit,
            Write::Delete,
            Write::Restore,
            Write::React,
            Write::Relate,
            Write::Barrier,
            Write::Record,
            Write::Erase,
        ];
        *self == Self::Kill || WRITES.iter().any(|write| self.is_at(&[&format!("{}.", write.name())]))
    }

    /// Whether its place is passed only when a user is found to be away.
    fn needs_the_away(&self) -> bool {
        self.is_at(&["lapse."])
    }

    /// Whether its place is mostly passed after a compaction has noticed something.
    fn needs_compactions(&self) -> bool {
        self.is_at(&["archive.", "archive_topic.", "purge."])
    }
}

/// Ends by their kinds: how often each came, and how often it did not.
pub(crate) type Ends = BTreeMap<End, (u64, u64)>;

/// A follower of many lives.
pub(crate) struct Lives {
    tape: Arc<Tape>,
    ids: Ids,
    pub(crate) dir: TempDir,
    random: Rng,
    pub(crate) position: u64,
    pub(crate) ends: Ends,
    /// Passings before an end, at most.
    passings: BTreeMap<End, u64>,
    log: PathBuf,
    /// About how long a life lasts that nothing ends.
    longest: Duration,
    /// The hours by which the clock was furthest ahead.
    ahead: i64,
}

/// The ends that a follower must come to.
fn ends() -> Vec<End> {
    if !cfg!(feature = "failpoints") {
        return vec![End::Kill];
    }
    let places: Vec<_> = names().into_iter().filter(|name| !is_elsewhere(name)).collect();
    let refused = places.iter().filter(|name| name.ends_with(".before")).cloned().map(End::Refused);
    let refused: Vec<_> = refused.collect();
    places.into_iter().map(End::Abort).chain(refused).chain([End::Kill]).collect()
}

/// Whether a node that applies a log does not pass a failpoint: it is of a backup, of a restore, of a standby, of
/// the thread that erases, or of the server around the node.
fn is_elsewhere(name: &str) -> bool {
    const SERVER: [&str; 4] = ["start.opened", "start.restored", "stop.workers", "stop.synced"];
    SERVER.contains(&name)
        || ["copy.", "exchange.", "swap.", "promotion.", "erasure."].into_iter().any(|group| name.starts_with(group))
}

impl Lives {
    pub(crate) fn new(ids: Ids, tape: &Arc<Tape>, seed: u64) -> Self {
        let dir = temp_dir();
        fs::create_dir(dir.path().join("data")).expect("a directory");
        let log = dir.path().join("stderr");
        let (random, ends) = (Rng::with_seed(seed), ends().into_iter().map(|end| (end, (0, 0))).collect());
        let passings = BTreeMap::new();
        Self {
            tape: Arc::clone(tape),
            ids,
            dir,
            random,
            position: 1,
            ends,
            passings,
            log,
            longest: Duration::from_millis(200),
            ahead: SHIFTS.into_iter().max().unwrap_or_default(),
        }
    }

    /// The directory of the data.
    pub(crate) fn data(&self) -> PathBuf {
        self.dir.path().join("data")
    }

    /// Whether the clocks of its processes differ.
    pub(crate) fn has_clocks(&self) -> bool {
        clock::LIBRARY.is_some()
    }

    /// Lives until the log is whole and each end has come. Whether work that follows from commands has an end's place to
    /// pass depends on the machine, so a follower that lacks ends begins the log again, in an empty directory.
    pub(crate) fn follow(&mut self) -> Result<(), String> {
        for again in 0..TIMES {
            if again > 0 {
                fs::remove_dir_all(self.data())
                    .and_then(|()| fs::create_dir(self.data()))
                    .map_err(|e| e.to_string())?;
                self.position = 1;
            }
            while self.position < self.tape.end() {
                // Each end comes once before it comes again.
                let mut round = self.missing();
                if round.is_empty() {
                    round = self.ends.keys().cloned().collect();
                }
                self.random.shuffle(&mut round);
                for end in round {
                    if self.position >= self.tape.end() {
                        break;
                    }
                    self.live(&end)?;
                }
            }
            if self.missing().is_empty() {
                return Ok(());
            }
        }
        Err(format!("ends that a follower did not come to: {:?}", self.missing()))
    }

    /// The ends that have not come.
    fn missing(&self) -> Vec<End> {
        self.ends.iter().filter(|(_, (came, _))| *came == 0).map(|(end, _)| end.clone()).collect()
    }

    fn live(&mut self, end: &End) -> Result<(), String> {
        let most = self.passings.get(end).copied().unwrap_or_default();
        let skipped = self.random.u64(..=most);
        let points = match end {
            End::Abort(place) => format!("{place}={skipped}*off->return(abort)"),
            End::Refused(place) => format!("{place}={skipped}*off->2*return(error)->off"),
            End::Kill => String::new(),
        };
        let status = self.run(end, &points)?;
        let came = match end {
            End::Abort(_) => status.signal() == Some(ABORTED),
            End::Refused(_) => self.stderr().contains("the storage accepts no writes"),
            End::Kill => status.signal() == Some(KILLED),
        };
        let is_expected = status.success() || (came && !matches!(end, End::Refused(_)));
        ensure!(is_expected, "{end:?}, {points}, from {}: {status}\n{}", self.position, self.stderr());
        let counts = self.ends.entry(end.clone()).or_default();
        if came {
            counts.0 += 1;
        } else {
            counts.1 += 1;
        }
        let most = if came { (8 * most).clamp(8, 20_000) } else { most / 8 };
        self.passings.insert(end.clone(), if end.is_once() { 0 } else { most });
        Ok(())
    }

    /// One life.
    fn run(&mut self, end: &End, points: &str) -> Result<ExitStatus, String> {
        let (came, missed) = self.ends.get(end).copied().unwrap_or_default();
        let missed = if came > 0 { 0 } else { missed };
        let orders = Orders {
            tape: self.tape.path.clone(),
            dir: self.data(),
            seed: self.random.u64(..),
            // More and more for an end that does not come.
            records: (1 + self.tape.end() / LIVES) * (1 + missed.min(8)),
            // An end that does not come within seconds needs other records, not more time.
            lasts: if end.is_of_commands() { 0 } else { LASTS << missed.min(3) },
            compactions: if end.needs_compactions() { 50 } else { 0 },
            has_names: self.ids != Ids::Numbers,
        };
        let mut command = Command::new(std::env::current_exe().expect("this program"));
        command.env(ORDERS, serde_json::to_string(&orders).expect("writes")).env("FAILPOINTS", points);
        if let Some(library) = &*clock::LIBRARY {
            let shift = self.dir.path().join("shift");
            let hours = if end.needs_the_away() {
                self.ahead += AWAY;
                self.ahead
            } else {
                pick(&mut self.random, &SHIFTS)
            };
            fs::write(&shift, (3600 * hours).to_string()).expect("writes");
            command.env("LD_PRELOAD", library).env("CLOCK_SHIFT", shift);
        }
        let told = self.dir.path().join("stdout");
        command.stdin(Stdio::null()).stdout(create(&told)).stderr(create(&self.log));
        let mut child = command.spawn().map_err(|e| format!("no process: {e}"))?;
        let began = Instant::now();
        if *end == End::Kill {
            std::thread::sleep(self.longest.mul_f64(self.random.f64()));
            // It may have ended.
            drop(child.kill());
        }
        let status = child.wait().map_err(|e| e.to_string())?;
        if *end == End::Kill && status.success() {
            self.longest = began.elapsed();
        }
        let (told, before) = (fs::read_to_string(told).expect("reads"), self.position);
        if let Some(position) = told.lines().filter_map(|line| line.parse().ok()).max() {
            self.position = self.position.max(position);
        }
        if *end == End::Kill && self.position == before {
            // A busy machine may need longer than this to start a process.
            self.longest = (self.longest * 2).min(LONGEST);
        }
        Ok(status)
    }

    fn stderr(&self) -> String {
        fs::read_to_string(&self.log).unwrap_or_default()
    }
}

fn create(path: &Path) -> File {
    File::create(path).expect("a file")
}

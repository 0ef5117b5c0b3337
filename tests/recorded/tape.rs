//! A recorded log in a file: written once, then read by any number of followers and processes.

use std::fs::{File, OpenOptions};
use std::ops::Range;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use cluster::{Log, NotAppended, NotRead, Record};
use fastrand::Rng;
use model::Millis;
use parking_lot::{Mutex, RwLock};

/// Bytes of the time and of the length before each record.
const HEAD: usize = 12;
/// Most records of one read.
const MOST: usize = 400;

/// The file, and the places of the records in it.
#[derive(Debug)]
pub(crate) struct Tape {
    pub(crate) path: PathBuf,
    file: File,
    places: RwLock<Vec<(u64, usize, Millis)>>,
}

impl Tape {
    pub(crate) fn new(path: &Path) -> Arc<Self> {
        let file = OpenOptions::new().create_new(true).read(true).write(true).open(path).expect("a new file");
        Arc::new(Self { path: path.to_owned(), file, places: RwLock::default() })
    }

    pub(crate) fn open(path: &Path) -> Arc<Self> {
        let file = File::open(path).expect("the log opens");
        let end = file.metadata().expect("a file").len();
        let (mut places, mut at) = (Vec::new(), 0);
        while at < end {
            let mut head = [0; HEAD];
            file.read_exact_at(&mut head, at).expect("reads");
            let (time, len) = split(head);
            places.push((at + HEAD as u64, len, time));
            at += (HEAD + len) as u64;
        }
        Arc::new(Self { path: path.to_owned(), file, places: RwLock::new(places) })
    }

    /// Appends a record.
    pub(crate) fn put(&self, time: Millis, bytes: &[u8]) -> u64 {
        let mut places = self.places.write();
        let at = places.last().map_or(0, |(at, len, _)| at + *len as u64);
        let head = [&time.to_be_bytes()[..], &(bytes.len() as u32).to_be_bytes()].concat();
        self.file.write_all_at(&[&head, bytes].concat(), at).expect("writes");
        places.push((at + HEAD as u64, bytes.len(), time));
        places.len() as u64 - 1
    }

    pub(crate) fn get(&self, offset: u64) -> Record {
        let (at, len, time) = self.places.read()[offset as usize];
        let mut bytes = vec![0; len];
        self.file.read_exact_at(&mut bytes, at).expect("reads");
        Record { offset, time, bytes }
    }

    pub(crate) fn end(&self) -> u64 {
        self.places.read().len() as u64
    }

    pub(crate) fn bytes(&self) -> u64 {
        self.places.read().last().map_or(0, |(at, len, _)| at + *len as u64)
    }
}

fn split(head: [u8; HEAD]) -> (Millis, usize) {
    let (time, len) = head.split_at(8);
    let len = u32::from_be_bytes(len.try_into().expect("four bytes"));
    (Millis::from_be_bytes(time.try_into().expect("eight bytes")), len as usize)
}

/// The way of one follower to the log. It takes no records but the first one.
#[derive(Debug)]
pub(crate) struct Way {
    tape: Arc<Tape>,
    random: Mutex<Rng>,
    /// Records from here on are not there yet.
    end: AtomicU64,
    /// Records up to here were read.
    read: AtomicU64,
    /// Whether records come one by one.
    trickles: AtomicBool,
    /// Whether no records come for a while.
    rests: AtomicBool,
}

impl Way {
    pub(crate) fn new(tape: &Arc<Tape>, seed: u64, end: u64) -> Arc<Self> {
        Arc::new(Self::over(tape, seed, end, false))
    }

    /// A way that shows its end later, see [`Way::hide`].
    pub(crate) fn of_a_part(tape: &Arc<Tape>, seed: u64) -> Arc<Self> {
        Arc::new(Self::over(tape, seed, u64::MAX, true))
    }

    fn over(tape: &Arc<Tape>, seed: u64, end: u64, trickles: bool) -> Self {
        Self {
            tape: Arc::clone(tape),
            random: Mutex::new(Rng::with_seed(seed)),
            end: AtomicU64::new(end),
            read: AtomicU64::new(0),
            trickles: AtomicBool::new(trickles),
            rests: AtomicBool::new(false),
        }
    }

    /// From now on records up to here are there.
    pub(crate) fn reveal(&self, end: u64) {
        self.end.fetch_max(end, Ordering::SeqCst);
    }

    /// From now on only records up to here are there, and those that were read. Until then they come one by one.
    pub(crate) fn hide(&self, end: u64) {
        self.trickles.store(false, Ordering::SeqCst);
        self.end.fetch_min(end.max(self.read.load(Ordering::SeqCst)), Ordering::SeqCst);
    }
}

impl Way {
    /// Whether no records come from now on.
    pub(crate) fn rest(&self, rests: bool) {
        self.rests.store(rests, Ordering::SeqCst);
    }
}

impl Log for Way {
    fn append(&self, bytes: &[u8], _: Duration) -> Result<u64, NotAppended> {
        if self.tape.end() > 0 {
            return Err(NotAppended::Refused("this log is recorded".to_owned()));
        }
        Ok(self.tape.put(super::commands::BEGIN, bytes))
    }

    /// Some of the records, or none although there are some; now and then there is no answer.
    fn read(&self, from: u64, timeout: Duration) -> Result<Vec<Record>, NotRead> {
        let end = self.end.load(Ordering::SeqCst).min(self.tape.end());
        if from > end {
            return Err(NotRead::Gone(format!("it ends at {end}")));
        }
        if from == end || self.rests.load(Ordering::SeqCst) {
            std::thread::sleep(timeout.min(Duration::from_millis(2)));
            return Ok(Vec::new());
        }
        let trickles = self.trickles.load(Ordering::SeqCst);
        let most = if trickles {
            std::thread::sleep(Duration::from_millis(1));
            1
        } else {
            let mut random = self.random.lock();
            match random.u32(..2000) {
                0 => return Err(NotRead::Unreachable("as it comes".to_owned())),
                1..300 => 1,
                300..1000 => random.usize(1..20),
                _ => MOST,
            }
        };
        self.read.fetch_max(end.min(from + most as u64), Ordering::SeqCst);
        Ok((from..end).take(most).map(|offset| self.tape.get(offset)).collect())
    }

    fn bounds(&self, _: Duration) -> Result<Range<u64>, NotRead> {
        Ok(0..self.end.load(Ordering::SeqCst).min(self.tape.end()))
    }
}

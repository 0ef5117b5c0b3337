//! Copies for standbys, in a folder of the data directory. Each ends by itself when it is not read, and when the device has
//! little room: changes of the tables since the copy take room as long as it is there.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Weak};
use std::time::{Duration, Instant};

use parking_lot::Mutex;

use super::Standbys;
use super::wire::{CopyFile, CopyPlan};
use crate::store::Store;
use kv::is_file_of_engine;
use model::error::{Code, Error, Result};
use model::private;

/// The folder.
const FOLDER: &str = "standbys";
/// The folder of the engine's files in a copy.
const ENGINE: &str = "db";
/// A copy that is not read for so long ends.
const LIVES: Duration = Duration::from_secs(600);
/// Most copies at once.
const MOST: usize = 2;

#[derive(Debug)]
pub(super) struct Copies {
    folder: PathBuf,
    present: Mutex<BTreeMap<String, Copy>>,
}

#[derive(Debug)]
struct Copy {
    read_at: Instant,
    /// Held by each read of a file.
    reads: Weak<()>,
}

/// A file of a copy, open. The copy does not end before.
#[derive(Debug)]
pub struct CopiedFile {
    /// The file.
    pub file: File,
    /// Its length, bytes.
    pub bytes: u64,
    _held: Arc<()>,
}

impl Standbys {
    /// Makes a copy of the store for a standby, which lives while it is read.
    pub fn take_copy(&self, store: &Store) -> Result<CopyPlan> {
        self.note_call(store);
        let Copies { folder, present } = &self.copies;
        let mut present = present.lock();
        end_old(folder, &mut present, true);
        if present.len() >= MOST {
            return Err(Error::refused(
                Code::BackupBusy,
                "other standbys are taking copies. Send the request again later",
            ));
        }
        private::make_dirs(folder).map_err(|e| failed(folder, &e))?;
        let id = format!("{:016x}", fastrand::u64(..));
        let place = folder.join(&id);
        let taken = store.copy_to(&place).and_then(|_| {
            let files = fs::read_dir(place.join(ENGINE)).and_then(|entries| entries.map(listed).collect());
            let files = files.map_err(|e| failed(&place, &e))?;
            Ok(CopyPlan { id: id.clone(), state: store.disk()?.log_facts()?, files })
        });
        if taken.is_ok() {
            present.insert(id, Copy { read_at: Instant::now(), reads: Weak::new() });
        } else {
            // The next start removes it otherwise.
            let _ = fs::remove_dir_all(place);
        }
        taken
    }

    /// A file of a copy.
    pub fn copied_file(&self, id: &str, name: &str) -> Result<CopiedFile> {
        let place = self.copies.folder.join(id).join(ENGINE).join(name);
        let mut present = self.copies.present.lock();
        let copy = present.get_mut(id).ok_or(Error::from(Code::CopyNotFound))?;
        let file = is_file_of_engine(name).then(|| File::open(&place).ok()).flatten();
        let file = file.ok_or(Error::from(Code::CopyNotFound))?;
        let bytes = file.metadata().map_err(|e| failed(&place, &e))?.len();
        let held = copy.reads.upgrade().unwrap_or_default();
        (copy.reads, copy.read_at) = (Arc::downgrade(&held), Instant::now());
        Ok(CopiedFile { file, bytes, _held: held })
    }

    /// Ends a copy.
    pub fn end_copy(&self, id: &str) -> Result<()> {
        end(&self.copies.folder, &mut self.copies.present.lock(), id)
    }
}

impl Copies {
    pub(super) fn new(data: &Path) -> Self {
        Self { folder: data.join(FOLDER), present: Mutex::default() }
    }

    /// Removes the copies of an earlier run.
    pub(super) fn tidy(&self) -> Result<()> {
        match fs::remove_dir_all(&self.folder) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(failed(&self.folder, &error)),
            _ => Ok(()),
        }
    }

    /// Ends copies that nobody has read for long; all of them if there is no room for them.
    pub(super) fn end_old(&self, has_room: bool) {
        end_old(&self.folder, &mut self.present.lock(), has_room);
    }
}

fn end_old(folder: &Path, present: &mut BTreeMap<String, Copy>, has_room: bool) {
    let now = Instant::now();
    for copy in present.values_mut().filter(|copy| copy.reads.strong_count() > 0) {
        copy.read_at = now;
    }
    let is_over = |(id, copy): (&String, &Copy)| (!has_room || copy.read_at.elapsed() > LIVES).then(|| id.clone());
    for id in present.iter().filter_map(is_over).collect::<Vec<_>>() {
        match has_room {
            true => tracing::warn!(copy = id, "a standby has not read its copy for long; the copy is removed"),
            false => tracing::warn!(copy = id, "the device has little room: the copy of a standby is removed"),
        }
        if let Err(error) = end(folder, present, &id) {
            tracing::error!(%error, "a copy for a standby could not be removed");
        }
    }
}

fn end(folder: &Path, present: &mut BTreeMap<String, Copy>, id: &str) -> Result<()> {
    present.remove(id).ok_or(Error::from(Code::CopyNotFound))?;
    let place = folder.join(id);
    fs::remove_dir_all(&place).map_err(|e| failed(&place, &e))
}

fn failed(path: &Path, error: &io::Error) -> Error {
    Error::Storage(format!("{}: {error}", path.display()))
}

fn listed(entry: io::Result<fs::DirEntry>) -> io::Result<CopyFile> {
    let entry = entry?;
    Ok(CopyFile { name: entry.file_name().to_string_lossy().into_owned(), bytes: entry.metadata()?.len() })
}

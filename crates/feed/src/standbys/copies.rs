//! Copies for standbys, in a folder of the data directory. Each ends by itself when it is not read, and when the device has
//! little room: changes of the tables since the copy take room as long as it is there.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Weak};
use std::time::{Duration, Instant};

use super::wire::{CopyFile, CopyPlan, LogState};
use model::error::{Code, Error, Result};
use model::private;
use store::Store;

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
    present: BTreeMap<String, Copy>,
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

impl Copies {
    pub(super) fn new(data: &Path) -> Self {
        Self { folder: data.join(FOLDER), present: BTreeMap::new() }
    }

    fn failed(&self, error: &io::Error) -> Error {
        Error::Storage(format!("{}: {error}", self.folder.display()))
    }

    /// Removes the copies of an earlier run.
    pub(super) fn tidy(&self) -> Result<()> {
        match fs::remove_dir_all(&self.folder) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(self.failed(&error)),
            _ => Ok(()),
        }
    }

    pub(super) fn take(&mut self, store: &Store) -> Result<CopyPlan> {
        self.end_old(true);
        if self.present.len() >= MOST {
            return Err(Error::refused(
                Code::BackupBusy,
                "other standbys are taking copies. Send the request again later",
            ));
        }
        private::make_dirs(&self.folder).map_err(|e| self.failed(&e))?;
        let id = format!("{:016x}", fastrand::u64(..));
        let place = self.folder.join(&id);
        let taken = store.copy_to(&place).and_then(|_| {
            let files = fs::read_dir(place.join(ENGINE)).and_then(|entries| entries.map(listed).collect());
            let files = files.map_err(|e| self.failed(&e))?;
            Ok(CopyPlan { id: id.clone(), state: LogState::of(store)?, files })
        });
        match taken {
            Ok(plan) => {
                self.present.insert(id, Copy { read_at: Instant::now(), reads: Weak::new() });
                Ok(plan)
            }
            Err(error) => {
                // The next start removes it otherwise.
                let _ = fs::remove_dir_all(place);
                Err(error)
            }
        }
    }

    pub(super) fn file(&mut self, id: &str, name: &str) -> Result<CopiedFile> {
        let place = self.folder.join(id).join(ENGINE).join(name);
        let copy = self.present.get_mut(id).ok_or(Error::from(Code::CopyNotFound))?;
        // A name of one part, which a folder has.
        if Path::new(name).file_name().is_none_or(|part| part != name) {
            return Err(Code::CopyNotFound.into());
        }
        let file = File::open(&place).map_err(|_| Error::from(Code::CopyNotFound))?;
        let bytes = file.metadata().map_err(|e| Error::Storage(format!("{}: {e}", place.display())))?.len();
        let held = copy.reads.upgrade().unwrap_or_default();
        (copy.reads, copy.read_at) = (Arc::downgrade(&held), Instant::now());
        Ok(CopiedFile { file, bytes, _held: held })
    }

    pub(super) fn end(&mut self, id: &str) -> Result<()> {
        self.present.remove(id).ok_or(Error::from(Code::CopyNotFound))?;
        fs::remove_dir_all(self.folder.join(id)).map_err(|e| self.failed(&e))
    }

    /// Ends copies that nobody has read for long; all of them if there is no room for them.
    pub(super) fn end_old(&mut self, has_room: bool) {
        let now = Instant::now();
        for copy in self.present.values_mut().filter(|copy| copy.reads.strong_count() > 0) {
            copy.read_at = now;
        }
        let is_over = |(id, copy): (&String, &Copy)| (!has_room || copy.read_at.elapsed() > LIVES).then(|| id.clone());
        for id in self.present.iter().filter_map(is_over).collect::<Vec<_>>() {
            match has_room {
                true => tracing::warn!(copy = id, "a standby has not read its copy for long; the copy is removed"),
                false => tracing::warn!(copy = id, "the device has little room: the copy of a standby is removed"),
            }
            if let Err(error) = self.end(&id) {
                tracing::error!(%error, "a copy for a standby could not be removed");
            }
        }
    }
}

fn listed(entry: io::Result<fs::DirEntry>) -> io::Result<CopyFile> {
    let entry = entry?;
    Ok(CopyFile { name: entry.file_name().to_string_lossy().into_owned(), bytes: entry.metadata()?.len() })
}

//! Copies for standbys: folders of the data directory, each sent as one archive. A copy ends with its archive, when it is not
//! read for long, and when the device has little room: changes of the tables since the copy take room as long as it is there.

use std::collections::{BTreeMap, HashSet};
use std::fs;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use parking_lot::{Mutex, MutexGuard};

use super::Standbys;
use super::wire::{CopyFile, CopyPlan, CopyRequest, PLAN};
use crate::backup::Archive;
use crate::store::Store;
use kv::ENGINE;
use model::clock::now;
use model::error::{Code, Error, Result};
use model::{private_files, threads};

/// The folder.
const FOLDER: &str = "standbys";
/// A copy that is not read for so long ends.
const LIVES: Duration = Duration::from_secs(600);
/// Most copies at once.
const MOST: usize = 2;

#[derive(Debug)]
pub(super) struct Copies {
    folder: PathBuf,
    /// Their folders, and when each was last read; `None` while it is made or removed.
    present: Mutex<BTreeMap<PathBuf, Option<Instant>>>,
}

/// A copy as the bytes of an archive: its [`CopyPlan`] and the files that the standby lacks. The copy is removed once all is
/// read, or with this.
#[derive(Debug)]
pub struct StandbyCopy {
    archive: Archive,
    place: Place,
}

impl StandbyCopy {
    /// The bytes of the whole archive.
    pub fn length(&self) -> u64 {
        self.archive.length()
    }
}

impl Read for StandbyCopy {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.archive.read(buffer)?;
        if read == 0 && !buffer.is_empty() {
            // Before its last bytes go out: the standby may ask for the next copy at once.
            self.place.copies.remove(&self.place.path);
            return Ok(0);
        }
        match self.place.copies.present().get_mut(&self.place.path) {
            Some(Some(read_at)) => *read_at = Instant::now(),
            _ => return Err(io::Error::other("the copy of a standby was removed before it was read")),
        }
        Ok(read)
    }
}

/// The folder of a copy, until this is dropped.
#[derive(Debug)]
struct Place {
    copies: Arc<Copies>,
    path: PathBuf,
}

impl Drop for Place {
    fn drop(&mut self) {
        let (copies, path) = (Arc::clone(&self.copies), std::mem::take(&mut self.path));
        // The caller may be a thread that must not block.
        if let Err(error) = threads::start("copy-end", move || copies.remove(&path)) {
            tracing::error!(%error, "a copy for a standby could not be removed");
        }
    }
}

impl Standbys {
    /// Makes a copy of the store for a standby.
    pub fn take_copy(&self, store: &Store, request: &CopyRequest) -> Result<StandbyCopy> {
        self.note_call(store);
        if !self.keep_log(store) {
            return Err(Error::refused(Code::NoRoom, "a copy for a standby needs twice storage.min_free_mb free"));
        }
        let place = Place::new(&self.copies)?;
        store.copy_to(&place.path)?;
        let state = store.disk()?.log_facts()?;
        let archive = || {
            let files = fs::read_dir(place.path.join(ENGINE))?.map(listed).collect::<io::Result<Vec<_>>>()?;
            let present: HashSet<_> = request.files.iter().filter(|_| request.log == Some(state.id)).collect();
            let lacking = files.iter().filter(|file| !present.contains(file));
            let lacking = lacking.map(|file| (format!("{ENGINE}/{}", file.name), file.bytes)).collect::<Vec<_>>();
            let plan = serde_json::to_vec(&CopyPlan { state, files })?;
            private_files::replace_file(&place.path.join(PLAN), &plan)?;
            let sent = [(PLAN.to_owned(), plan.len() as u64)].into_iter().chain(lacking);
            Ok(Archive::new(sent.map(|(name, bytes)| (place.path.join(&name), name, bytes)).collect(), now()))
        };
        let archive = archive().map_err(|e: io::Error| failed(&place.path, &e))?;
        self.copies.present().insert(place.path.clone(), Some(Instant::now()));
        Ok(StandbyCopy { archive, place })
    }
}

impl Place {
    fn new(copies: &Arc<Copies>) -> Result<Self> {
        private_files::make_dirs(&copies.folder).map_err(|e| failed(&copies.folder, &e))?;
        let mut present = copies.present();
        if present.len() >= MOST {
            let detail = "other standbys are taking copies. Send the request again later";
            return Err(Error::refused(Code::BackupBusy, detail));
        }
        let path = copies.folder.join(format!("{:016x}", fastrand::u64(..)));
        present.insert(path.clone(), None);
        Ok(Self { copies: Arc::clone(copies), path })
    }
}

impl Copies {
    pub(super) fn new(data: &Path) -> Self {
        Self { folder: data.join(FOLDER), present: Mutex::default() }
    }

    fn present(&self) -> MutexGuard<'_, BTreeMap<PathBuf, Option<Instant>>> {
        self.present.lock()
    }

    /// Removes the copies of an earlier run.
    pub(super) fn tidy(&self) -> Result<()> {
        private_files::remove_dir(&self.folder).map_err(|e| failed(&self.folder, &e))
    }

    /// Removes the copies that are not read for long; all of them if the device has no room for them.
    pub(super) fn end_old(&self, has_room: bool) {
        let is_over = |read_at: &mut Instant| !has_room || read_at.elapsed() > LIVES;
        let mut present = self.present();
        let over = present.iter_mut().filter_map(|(path, read_at)| read_at.take_if(is_over).map(|_| path.clone()));
        let over: Vec<_> = over.collect();
        drop(present);
        for path in over {
            let copy = path.display();
            match has_room {
                true => tracing::warn!(%copy, "a standby has not read its copy for long; the copy is removed"),
                false => tracing::warn!(%copy, "the device has little room: the copy of a standby is removed"),
            }
            self.remove(&path);
        }
    }

    /// Removes a copy. What cannot be removed is left for the next start.
    fn remove(&self, path: &Path) {
        if let Err(error) = private_files::remove_dir(path) {
            tracing::error!(%error, "a copy for a standby could not be removed");
        }
        self.present().remove(path);
    }
}

fn failed(path: &Path, error: &io::Error) -> Error {
    Error::Storage(format!("{}: {error}", path.display()))
}

fn listed(entry: io::Result<fs::DirEntry>) -> io::Result<CopyFile> {
    let entry = entry?;
    Ok(CopyFile { name: entry.file_name().to_string_lossy().into_owned(), bytes: entry.metadata()?.len() })
}

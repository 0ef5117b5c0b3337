//! Copies for standbys: folders of the data directory, each sent as one archive. A copy ends with its archive, and when the
//! device has little room: changes of the tables since the copy take room as long as it is there.

use std::collections::HashSet;
use std::fs;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use super::Standbys;
use super::wire::{CopyFile, CopyPlan, CopyRequest, PLAN};
use crate::backup::Archive;
use crate::store::Store;
use model::clock::now;
use model::error::{Code, Error, Result};
use model::{private, threads};

/// The folder.
const FOLDER: &str = "standbys";
/// The folder of the engine's files in a copy.
const ENGINE: &str = "db";
/// Most copies at once.
const MOST: usize = 2;

#[derive(Debug)]
pub(super) struct Copies {
    folder: PathBuf,
    present: AtomicUsize,
    /// Whether the device has room for them.
    has_room: AtomicBool,
}

/// A copy as the bytes of an archive: its [`CopyPlan`] and the files that the standby lacks. The copy is removed with it.
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
        match self.place.copies.has_room.load(Ordering::Relaxed) {
            true => self.archive.read(buffer),
            false => Err(io::Error::other("the device has little room, so the copy of a standby ends")),
        }
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
        self.copies.present.fetch_sub(1, Ordering::Relaxed);
        let path = std::mem::take(&mut self.path);
        // The caller may be a thread that must not block. What is left is removed by the next start.
        let removed = threads::start("copy-end", move || {
            if let Err(error) = fs::remove_dir_all(&path).or_else(unless_missing) {
                tracing::error!(%error, "a copy for a standby could not be removed");
            }
        });
        if let Err(error) = removed {
            tracing::error!(%error, "a copy for a standby could not be removed");
        }
    }
}

impl Standbys {
    /// Makes a copy of the store for a standby.
    pub fn take_copy(&self, store: &Store, request: &CopyRequest) -> Result<StandbyCopy> {
        self.note_call(store);
        let place = Place::new(&self.copies)?;
        store.copy_to(&place.path)?;
        let state = store.disk()?.log_facts()?;
        let archive = || {
            let files = fs::read_dir(place.path.join(ENGINE))?.map(listed).collect::<io::Result<Vec<_>>>()?;
            let present: HashSet<_> = request.files.iter().filter(|_| request.log == Some(state.id)).collect();
            let lacking = files.iter().filter(|file| !present.contains(file));
            let lacking = lacking.map(|file| (format!("{ENGINE}/{}", file.name), file.bytes)).collect::<Vec<_>>();
            let plan = serde_json::to_vec(&CopyPlan { state, files })?;
            private::replace_file(&place.path.join(PLAN), &plan)?;
            let sent = [(PLAN.to_owned(), plan.len() as u64)].into_iter().chain(lacking);
            Ok(Archive::new(sent.map(|(name, bytes)| (place.path.join(&name), name, bytes)).collect(), now()))
        };
        let archive = archive().map_err(|e: io::Error| failed(&place.path, &e))?;
        Ok(StandbyCopy { archive, place })
    }
}

impl Place {
    fn new(copies: &Arc<Copies>) -> Result<Self> {
        if copies.present.fetch_add(1, Ordering::Relaxed) >= MOST {
            copies.present.fetch_sub(1, Ordering::Relaxed);
            let detail = "other standbys are taking copies. Send the request again later";
            return Err(Error::refused(Code::BackupBusy, detail));
        }
        let path = copies.folder.join(format!("{:016x}", fastrand::u64(..)));
        let place = Self { copies: Arc::clone(copies), path };
        private::make_dirs(&copies.folder).map_err(|e| failed(&copies.folder, &e))?;
        Ok(place)
    }
}

impl Copies {
    pub(super) fn new(data: &Path) -> Self {
        Self { folder: data.join(FOLDER), present: AtomicUsize::new(0), has_room: AtomicBool::new(true) }
    }

    /// Removes the copies of an earlier run.
    pub(super) fn tidy(&self) -> Result<()> {
        fs::remove_dir_all(&self.folder).or_else(unless_missing).map_err(|e| failed(&self.folder, &e))
    }

    /// Ends all copies if the device has no room for them.
    pub(super) fn end_unless(&self, has_room: bool) {
        self.has_room.store(has_room, Ordering::Relaxed);
    }
}

fn unless_missing(error: io::Error) -> io::Result<()> {
    if error.kind() == io::ErrorKind::NotFound { Ok(()) } else { Err(error) }
}

fn failed(path: &Path, error: &io::Error) -> Error {
    Error::Storage(format!("{}: {error}", path.display()))
}

fn listed(entry: io::Result<fs::DirEntry>) -> io::Result<CopyFile> {
    let entry = entry?;
    Ok(CopyFile { name: entry.file_name().to_string_lossy().into_owned(), bytes: entry.metadata()?.len() })
}

//! A new copy of the server, file by file. What is whole on the device is not read again after an interruption.

use std::fs::{self, File};
use std::io::{self, Read, Write};

use super::origin::Origin;
use crate::cli::terminal::progress::{Progress, Unit};
use feed::standbys::{CopyFile, CopyPlan, Head};
use kv::{Schema, Standby, StandbyDirectory, is_file_of_engine};
use model::error::{Code, Error, Result};

/// Bytes written at once.
const PIECE: usize = 256 << 10;
/// The extension of a file that is not whole.
const PART: &str = "part";

/// Copies all files, and returns the id of the log from which the copy goes on. Tells the server's last row once it is known.
/// Ends early with an error if it `stops`.
pub(super) fn make(
    directory: &StandbyDirectory,
    origin: &Origin,
    (min_free, schema): (u64, &dyn Schema),
    tell: &dyn Fn(Head),
    stops: &dyn Fn() -> bool,
) -> Result<u64> {
    let plan = match directory.unfinished().and_then(|plan| serde_json::from_slice(&plan).ok()) {
        Some(plan) => {
            tracing::info!("the copy goes on");
            plan
        }
        None => begun(directory, origin, min_free, schema)?,
    };
    let CopyPlan { id, state, files } = &plan;
    let all: u64 = files.iter().map(|file| file.bytes).sum();
    tell(Head { flushed: state.flushed, bytes: all });
    let progress = Progress::new("copy", Some(all), Unit::Bytes);
    let mut done = 0;
    for file in files {
        let copied = one(directory, origin, id, file, &mut |bytes| {
            progress.at(done + bytes, &file.name);
            if stops() { Err(Code::Stopping.into()) } else { Ok(()) }
        });
        if copied.as_ref().is_err_and(|error| error.code() == Some(Code::CopyNotFound)) {
            // It has ended meanwhile.
            directory.drop_copy()?;
        }
        copied?;
        done += file.bytes;
    }
    tracing::info!(bytes = all, files = files.len(), "the copy is whole");
    origin.end_copy(id);
    Ok(state.id)
}

fn begun(directory: &StandbyDirectory, origin: &Origin, min_free: u64, schema: &dyn Schema) -> Result<CopyPlan> {
    let plan = origin.take_copy()?;
    Standby::can_follow(&plan.state, schema)?;
    if !plan.files.iter().all(|file| is_file_of_engine(&file.name)) {
        return Err(unreadable("the name of a file"));
    }
    let bytes: u64 = plan.files.iter().map(|file| file.bytes).sum();
    let text = serde_json::to_vec(&plan).map_err(|e| unreadable(&e.to_string()))?;
    tracing::info!(bytes, files = plan.files.len(), "a copy begins");
    let begun = directory.begin_copy(&text, bytes, min_free);
    if begun.is_err() {
        origin.end_copy(&plan.id);
    }
    begun.map(|()| plan)
}

fn unreadable(what: &str) -> Error {
    Error::Setup(format!("the server sent a copy that cannot be read: {what}"))
}

/// Copies one file, unless it is whole. `at` gets the bytes so far.
fn one(
    directory: &StandbyDirectory,
    origin: &Origin,
    copy: &str,
    file: &CopyFile,
    at: &mut dyn FnMut(u64) -> Result<()>,
) -> Result<()> {
    let target = directory.copied_file(&file.name);
    if target.metadata().is_ok_and(|found| found.len() == file.bytes) {
        return at(file.bytes);
    }
    let failed = |e: io::Error| Error::Setup(format!("{}: {e}", target.display()));
    let part = directory.copied_file(&format!("{}.{PART}", file.name));
    let mut out = File::create(&part).map_err(failed)?;
    let mut input = origin.read_file(copy, &file.name)?;
    let (mut piece, mut written) = (vec![0; PIECE], 0);
    loop {
        at(written)?;
        let count = input.read(&mut piece).map_err(|e| Error::Setup(format!("the file {}: {e}", file.name)))?;
        written += count as u64;
        if count == 0 || written > file.bytes {
            break;
        }
        out.write_all(&piece[..count]).map_err(failed)?;
    }
    if written != file.bytes {
        return Err(Error::Setup(format!("the file {} ends early, or late", file.name)));
    }
    out.sync_all().and_then(|()| fs::rename(&part, &target)).map_err(failed)
}

//! A new copy of the server, file by file. What is whole on the device is not read again after an interruption.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Write};
use std::path::{Component, Path};

use super::origin::Origin;
use crate::cli::terminal::progress::{Progress, Unit};
use feed::standbys::{CopyFile, CopyPlan, Head};
use model::error::{Code, Error, Result};
use store::{Copying, Standby, StandbyDirectory};

/// Bytes written at once.
const PIECE: usize = 256 << 10;
/// How often the connection may break while one file is read.
const ATTEMPTS: u32 = 5;
/// The extension of a file that is not whole.
const PART: &str = "part";

/// Copies all files, and returns the id of the log from which the copy goes on. Tells the server's last row once it is known.
/// Ends early with an error if it `stops`.
pub(super) fn make(
    directory: &StandbyDirectory,
    origin: &Origin,
    min_free: u64,
    tell: &dyn Fn(Head),
    stops: &dyn Fn() -> bool,
) -> Result<(Copying, u64)> {
    let (copying, plan) = match resumed(directory) {
        Some(resumed) => resumed,
        None => begun(directory, origin, min_free)?,
    };
    let CopyPlan { id, state, files } = &plan;
    let log = state.id().ok_or_else(|| unreadable("the id of its log"))?;
    let all: u64 = files.iter().map(|file| file.bytes).sum();
    tell(Head { flushed: state.flushed, bytes: all });
    let progress = Progress::new("copy", Some(all), Unit::Bytes);
    let mut done = 0;
    for file in files {
        let copied = one(&copying, origin, id, file, &mut |bytes| {
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
    Ok((copying, log))
}

fn resumed(directory: &StandbyDirectory) -> Option<(Copying, CopyPlan)> {
    let (copying, plan) = directory.unfinished()?;
    let plan = serde_json::from_slice(&plan).ok()?;
    tracing::info!("the copy goes on");
    Some((copying, plan))
}

fn begun(directory: &StandbyDirectory, origin: &Origin, min_free: u64) -> Result<(Copying, CopyPlan)> {
    let plan = origin.take_copy()?;
    Standby::can_follow(plan.state.format, &plan.state.release, &plan.state.tables)?;
    if !plan.files.iter().all(|file| is_name(&file.name)) {
        return Err(unreadable("the name of a file"));
    }
    let bytes: u64 = plan.files.iter().map(|file| file.bytes).sum();
    let text = serde_json::to_vec(&plan).map_err(|e| unreadable(&e.to_string()))?;
    tracing::info!(bytes, files = plan.files.len(), "a copy begins");
    let begun = directory.begin_copy(&text, bytes, min_free);
    if begun.is_err() {
        origin.end_copy(&plan.id);
    }
    Ok((begun?, plan))
}

fn unreadable(what: &str) -> Error {
    Error::Setup(format!("the server sent a copy that cannot be read: {what}"))
}

/// Whether a name is that of a file in a folder.
fn is_name(name: &str) -> bool {
    let mut parts = Path::new(name).components();
    matches!((parts.next(), parts.next()), (Some(Component::Normal(part)), None) if part == name)
        && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte))
}

/// Copies one file, unless it is whole. `at` gets the bytes so far.
fn one(
    copying: &Copying,
    origin: &Origin,
    copy: &str,
    file: &CopyFile,
    at: &mut dyn FnMut(u64) -> Result<()>,
) -> Result<()> {
    let target = copying.file(&file.name);
    if target.metadata().is_ok_and(|found| found.len() == file.bytes) {
        return at(file.bytes);
    }
    let failed = |e: io::Error| Error::Setup(format!("{}: {e}", target.display()));
    let mut part = target.clone().into_os_string();
    part.push(format!(".{PART}"));
    // From its front after a start: after a power cut the end of an earlier part may be empty.
    let mut written = 0;
    let out = OpenOptions::new().create(true).write(true).truncate(true).open(&part).map_err(failed)?;
    for attempt in 1.. {
        if written == file.bytes {
            break;
        }
        let read = origin
            .read_file(copy, &file.name, written)
            .and_then(|mut input| pour(&mut input, &out, file.bytes, &mut written, at));
        match read {
            Ok(()) => {}
            Err(error) if error.code().is_some() || attempt >= ATTEMPTS => return Err(error),
            Err(error) => tracing::warn!(file = file.name, %error, "a file is read on after a break"),
        }
    }
    out.sync_all().and_then(|()| fs::rename(&part, &target)).map_err(failed)
}

fn pour(
    input: &mut impl Read,
    mut out: &File,
    bytes: u64,
    written: &mut u64,
    at: &mut dyn FnMut(u64) -> Result<()>,
) -> Result<()> {
    let failed = |e: io::Error| Error::Setup(e.to_string());
    let mut piece = vec![0; PIECE];
    while *written < bytes {
        at(*written)?;
        let count = input.read(&mut piece).map_err(failed)?;
        if count == 0 || *written + count as u64 > bytes {
            return Err(Error::Setup("the file ends early, or late".to_owned()));
        }
        out.write_all(&piece[..count]).map_err(failed)?;
        *written += count as u64;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_stay_in_their_folder() {
        for good in ["000012.sst", "MANIFEST-000004", "CURRENT", "OPTIONS-000007"] {
            assert!(is_name(good), "{good}");
        }
        for bad in ["", ".", "..", "a/b", "/etc/passwd", "../x", "a b", "a?b", "a%2Fb"] {
            assert!(!is_name(bad), "{bad}");
        }
    }
}

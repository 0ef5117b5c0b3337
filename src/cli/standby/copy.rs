//! A new copy of the server, as one archive. Table files that are whole on the device are not sent again after an interruption:
//! they never change, and the server makes another copy with most of them.

use std::collections::HashSet;

use super::origin::Origin;
use crate::prelude::*;
use feed::backup::unpack_files;
use feed::standbys::{CopyFile, CopyPlan, CopyRequest, Head, PLAN};
use kv::{Schema, Standby, StandbyDirectory};

/// The extension of table files.
const TABLES: &str = "sst";
/// Most files of an unfinished copy that are kept: a request names them.
const MOST_KEPT: usize = 10_000;
/// Most bytes of a plan.
const LONGEST_PLAN: u64 = 64 << 20;

/// Copies all files, and returns the id of the log from which the copy goes on. Tells the server's last row once it is known.
/// Ends early with an error if it `stops`.
pub(super) fn make(
    directory: &StandbyDirectory,
    origin: &Origin,
    (min_free, schema): (u64, &dyn Schema),
    tell: &dyn Fn(Head),
    stops: &dyn Fn() -> bool,
) -> Result<u64> {
    let mut kept = kept(directory)?;
    let archive = match origin.take_copy(&kept) {
        // The server takes no request that names so many files, so all come again.
        Err(error) if error.code() == Some(Code::BodyTooLarge) => {
            directory.drop_copy()?;
            kept = CopyRequest::default();
            origin.take_copy(&kept)?
        }
        taken => taken?,
    };
    let begin = |text: &[u8]| {
        let plan: CopyPlan = serde_json::from_slice(text).context("the server sent a copy that cannot be read")?;
        Standby::can_follow(&plan.state, schema)?;
        let all: HashSet<_> = plan.files.iter().collect();
        let is_same = kept.log == Some(plan.state.id);
        let (present, gone): (Vec<_>, Vec<_>) = kept.files.iter().partition(|file| is_same && all.contains(file));
        gone.into_iter().try_for_each(|file| remove(directory, &file.name))?;
        let files = (plan.files.len() - present.len()) as u64;
        let of_all: u64 = plan.files.iter().map(|file| file.bytes).sum();
        let bytes = of_all - present.iter().map(|file| file.bytes).sum::<u64>();
        directory.begin_copy(text, bytes, min_free)?;
        tracing::info!(files, bytes, kept = present.len(), "a copy begins");
        tell(Head { flushed: plan.state.flushed, bytes });
        Ok(((files, bytes), (plan.state.id, Progress::new("copy", Some(bytes), Unit::Bytes))))
    };
    let wrote = |(_, progress): &(u64, Progress), bytes| {
        progress.at(bytes, "");
        if stops() { Err(Code::Stopping.into()) } else { Ok(()) }
    };
    let unpacked = unpack_files(archive, &directory.copying(), (PLAN, LONGEST_PLAN), begin, wrote);
    let (log, _) = unpacked.map_err(|error| match error {
        Error::Setup(why) => Error::Setup(format!("the copy of the server: {why}")),
        error => error,
    })?;
    tracing::info!("the copy is whole");
    Ok(log)
}

/// The table files that an unfinished copy has. Others of its files are removed.
fn kept(directory: &StandbyDirectory) -> Result<CopyRequest> {
    let plan: Option<CopyPlan> = directory.unfinished().and_then(|plan| serde_json::from_slice(&plan).ok());
    let Some(plan) = plan else {
        directory.drop_copy()?;
        return Ok(CopyRequest::default());
    };
    let copying = directory.copying();
    let mut files = Vec::new();
    for entry in fs::read_dir(copying.join("db")).context(copying.display())? {
        let entry = entry.context(copying.display())?;
        let name = entry.file_name().to_string_lossy().into_owned();
        match name.ends_with(&format!(".{TABLES}")) && files.len() < MOST_KEPT {
            true => files.push(CopyFile { name, bytes: entry.metadata().context(copying.display())?.len() }),
            false => remove(directory, &name)?,
        }
    }
    Ok(CopyRequest { log: Some(plan.state.id), files })
}

/// Removes a file of the unfinished copy.
fn remove(directory: &StandbyDirectory, name: &str) -> Result<()> {
    let path = directory.copying().join("db").join(name);
    fs::remove_file(&path).context(path.display())
}

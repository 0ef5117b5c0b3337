//! The way back: the files of an archive in an empty directory.

use std::fs::{self, OpenOptions};
use std::io::{self, Read, Write};
use std::path::Path;

use tar::EntryType;

use super::manifest::{LONGEST, MANIFEST, Manifest};
use kv::is_file_of_engine;
use model::error::{Error, Result};
use model::private;

/// Bytes copied at once.
const PIECE: usize = 256 << 10;
/// Most bytes after the end of an archive: tools fill the last record with zeros.
const MOST_FILLING: u64 = 1 << 20;

/// Writes the files of an archive into `into`, an empty directory, and flushes them. `begin` sees the manifest first and
/// may refuse; `wrote` learns of the bytes written so far. Accepts only plain files with the names of a backup, once
/// each, and all that the manifest counts: an archive that ends early is refused, and one with more than zeros behind
/// its end. The input is read to its end, so that a packed one is compared with its checksum.
pub fn unpack(
    input: impl Read,
    into: &Path,
    begin: impl FnOnce(&Manifest) -> Result<()>,
    mut wrote: impl FnMut(&Manifest, u64),
) -> Result<Manifest> {
    let mut archive = tar::Archive::new(input);
    let mut entries = entries(&mut archive)?;
    let (text, manifest) = first(&mut entries)?;
    begin(&manifest)?;
    let failed = |e: io::Error| Error::Setup(format!("{}: {e}", into.display()));
    fs::create_dir(into.join("db")).map_err(failed)?;
    private::replace_file(&into.join(MANIFEST), &text).map_err(failed)?;
    let (mut files, mut bytes) = (0, 0);
    for entry in entries {
        let mut entry = entry.map_err(unreadable)?;
        let name = plain_name(&entry)?;
        files += 1;
        if files > manifest.files || entry.size() > manifest.bytes - bytes {
            return Err(bad("it has more than its file BACKUP says"));
        }
        // A second file of this name fails.
        let target = OpenOptions::new().write(true).create_new(true).open(into.join(&name));
        let mut target = target.map_err(|e| Error::Setup(format!("{}: {name}: {e}", into.display())))?;
        let mut piece = vec![0; PIECE];
        loop {
            let count = entry.read(&mut piece).map_err(unreadable)?;
            if count == 0 {
                break;
            }
            target.write_all(&piece[..count]).map_err(failed)?;
            bytes += count as u64;
            wrote(&manifest, bytes);
        }
        target.sync_all().map_err(failed)?;
    }
    if (files, bytes) != (manifest.files, manifest.bytes) {
        return Err(bad(&format!(
            "it ends early: it has {files} of {} files and {bytes} of {} bytes",
            manifest.files, manifest.bytes
        )));
    }
    must_end(archive.into_inner())?;
    for dir in [into.join("db"), into.to_owned()] {
        private::flush_names(&dir).map_err(failed)?;
    }
    Ok(manifest)
}

/// The facts of the backup in an archive, of which only the beginning is read.
pub fn manifest_of(input: impl Read) -> Result<Manifest> {
    first(&mut entries(&mut tar::Archive::new(input))?).map(|(_, manifest)| manifest)
}

fn entries<R: Read>(archive: &mut tar::Archive<R>) -> Result<tar::Entries<'_, R>> {
    // Raw: the other way, the reader takes long names and other attributes of any size into memory.
    Ok(archive.entries().map_err(unreadable)?.raw(true))
}

/// The first file of an archive: its text and the facts in it.
fn first(entries: &mut tar::Entries<'_, impl Read>) -> Result<(Vec<u8>, Manifest)> {
    let first = entries.next().ok_or_else(|| bad("it is empty"))?.map_err(unreadable)?;
    if first.path_bytes().as_ref() != MANIFEST.as_bytes() || first.header().entry_type() != EntryType::Regular {
        return Err(bad("its first file is not BACKUP, so it is no backup"));
    }
    if first.size() > LONGEST {
        return Err(bad("its file BACKUP is too long"));
    }
    let mut text = Vec::new();
    first.take(LONGEST).read_to_end(&mut text).map_err(unreadable)?;
    let manifest: Manifest = serde_json::from_slice(&text).map_err(|e| bad(&format!("its file BACKUP: {e}")))?;
    manifest.check().map_err(|why| bad(&format!("its file BACKUP: {why}")))?;
    Ok((text, manifest))
}

/// Fails unless nothing but zeros follows the archive.
fn must_end(rest: impl Read) -> Result<()> {
    let mut filling = Vec::new();
    rest.take(MOST_FILLING).read_to_end(&mut filling).map_err(unreadable)?;
    let is_end = (filling.len() as u64) < MOST_FILLING && filling.iter().all(|byte| *byte == 0);
    if is_end { Ok(()) } else { Err(bad("something follows its end")) }
}

/// The name of an entry: `FORMAT`, or a file directly in `db`.
fn plain_name(entry: &tar::Entry<'_, impl Read>) -> Result<String> {
    let name = String::from_utf8_lossy(&entry.path_bytes()).into_owned();
    let refused = |why: &str| bad(&format!("the entry {name:?} {why}"));
    if entry.header().entry_type() != EntryType::Regular {
        return Err(refused("is not a plain file"));
    }
    let is_known = name == "FORMAT" || name.strip_prefix("db/").is_some_and(is_file_of_engine);
    if is_known { Ok(name) } else { Err(refused("is not a file of a backup")) }
}

fn bad(why: &str) -> Error {
    Error::Setup(format!("the archive cannot be restored: {why}"))
}

/// The texts of the reader are for programmers, and may have bytes of the file.
fn unreadable(error: io::Error) -> Error {
    match error.kind() {
        io::ErrorKind::UnexpectedEof => bad("it ends early"),
        _ if error.raw_os_error().is_some() => bad(&error.to_string()),
        _ => bad("it is no archive of a backup, or it is damaged"),
    }
}

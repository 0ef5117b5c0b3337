//! The way back: the files of an archive in an empty directory.

use std::fs::{self, OpenOptions};
use std::io::{self, Read, Write};
use std::path::Path;

use tar::EntryType;

use super::manifest::{LONGEST, MANIFEST, Manifest};
use kv::{ENGINE, is_file_of_engine};
use model::error::{Error, Result};
use model::private_files;

/// Bytes copied at once.
const PIECE: usize = 256 << 10;
/// Most bytes after the end of an archive: tools fill the last record with zeros.
const MOST_FILLING: u64 = 1 << 20;

/// The way of a file that is not whole: behind its name.
const PART: &str = ".part";

/// Writes the files of a backup's archive into `into`, an empty directory, and flushes them. `begin` sees the manifest first and
/// may refuse; `wrote` learns of the bytes written so far. The input is read to its end, so that a packed one is compared with
/// its checksum. What it refuses is told at [`unpack_files`].
pub fn unpack(
    input: impl Read,
    into: &Path,
    begin: impl FnOnce(&Manifest) -> Result<()>,
    mut wrote: impl FnMut(&Manifest, u64),
) -> Result<Manifest> {
    let begin = |text: &[u8]| {
        let manifest = manifest_in(text)?;
        begin(&manifest)?;
        let made =
            fs::create_dir(into.join(ENGINE)).and_then(|()| private_files::replace_file(&into.join(MANIFEST), text));
        made.map_err(|e| Error::Setup(format!("{}: {e}", into.display())))?;
        Ok(((manifest.files, manifest.bytes), manifest))
    };
    let wrote = |manifest: &Manifest, bytes| {
        wrote(manifest, bytes);
        Ok(())
    };
    unpack_files(input, into, (MANIFEST, LONGEST), begin, wrote)
}

/// Writes the files of an archive into `into`, each whole or not at all, and flushes them. The first file has the name `head`
/// and at most so many bytes; `begin` gets its text, and tells how many files follow, with how many bytes; `wrote` learns of the
/// bytes written so far. Both may refuse. Accepts only plain files with the names of a backup, none of which is there, and as
/// many as follow: an archive that ends early is refused, and one with more than zeros behind its end.
pub fn unpack_files<H>(
    input: impl Read,
    into: &Path,
    head: (&str, u64),
    begin: impl FnOnce(&[u8]) -> Result<((u64, u64), H)>,
    mut wrote: impl FnMut(&H, u64) -> Result<()>,
) -> Result<H> {
    let mut archive = tar::Archive::new(input);
    let mut entries = entries(&mut archive)?;
    let ((all_files, all_bytes), begun) = begin(&first(&mut entries, head)?)?;
    let failed = |e: io::Error| Error::Setup(format!("{}: {e}", into.display()));
    let (mut files, mut bytes) = (0, 0);
    for entry in entries {
        let mut entry = entry.map_err(unreadable)?;
        let name = plain_name(&entry)?;
        files += 1;
        if files > all_files || entry.size() > all_bytes - bytes {
            return Err(bad(&format!("it has more than its file {} says", head.0)));
        }
        let (target, part) = (into.join(&name), into.join(format!("{name}{PART}")));
        if target.exists() {
            return Err(bad(&format!("it has the file {name:?} twice")));
        }
        let mut out = OpenOptions::new().write(true).create_new(true).open(&part).map_err(failed)?;
        let mut piece = vec![0; PIECE];
        loop {
            let count = entry.read(&mut piece).map_err(unreadable)?;
            if count == 0 {
                break;
            }
            out.write_all(&piece[..count]).map_err(failed)?;
            bytes += count as u64;
            wrote(&begun, bytes)?;
        }
        out.sync_all().and_then(|()| fs::rename(&part, &target)).map_err(failed)?;
    }
    if (files, bytes) != (all_files, all_bytes) {
        return Err(bad(&format!(
            "it ends early: it has {files} of {all_files} files and {bytes} of {all_bytes} bytes"
        )));
    }
    must_end(archive.into_inner())?;
    for dir in [into.join(ENGINE), into.to_owned()] {
        private_files::flush_names(&dir).map_err(failed)?;
    }
    Ok(begun)
}

/// The facts of the backup in an archive, of which only the beginning is read.
pub fn manifest_of(input: impl Read) -> Result<Manifest> {
    manifest_in(&first(&mut entries(&mut tar::Archive::new(input))?, (MANIFEST, LONGEST))?)
}

fn manifest_in(text: &[u8]) -> Result<Manifest> {
    let wrong = |why: &str| bad(&format!("its file {MANIFEST}: {why}"));
    let manifest: Manifest = serde_json::from_slice(text).map_err(|e| wrong(&e.to_string()))?;
    manifest.check().map_err(wrong)?;
    Ok(manifest)
}

fn entries<R: Read>(archive: &mut tar::Archive<R>) -> Result<tar::Entries<'_, R>> {
    // Raw: the other way, the reader takes long names and other attributes of any size into memory.
    Ok(archive.entries().map_err(unreadable)?.raw(true))
}

/// The text of the first file of an archive.
fn first(entries: &mut tar::Entries<'_, impl Read>, (name, longest): (&str, u64)) -> Result<Vec<u8>> {
    let first = entries.next().ok_or_else(|| bad("it is empty"))?.map_err(unreadable)?;
    if first.path_bytes().as_ref() != name.as_bytes() || first.header().entry_type() != EntryType::Regular {
        return Err(bad(&format!("its first file is not {name}")));
    }
    if first.size() > longest {
        return Err(bad(&format!("its file {name} is too long")));
    }
    let mut text = Vec::new();
    first.take(longest).read_to_end(&mut text).map_err(unreadable)?;
    Ok(text)
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
    if is_known { Ok(name) } else { Err(refused("is not a file of a data directory")) }
}

fn bad(why: &str) -> Error {
    Error::Setup(format!("the archive cannot be unpacked: {why}"))
}

/// The texts of the reader are for programmers, and may have bytes of the file.
fn unreadable(error: io::Error) -> Error {
    match error.kind() {
        io::ErrorKind::UnexpectedEof => bad("it ends early"),
        kind if error.raw_os_error().is_some() || kind == io::ErrorKind::TimedOut => bad(&error.to_string()),
        _ => bad("it is no archive of Tideline, or it is damaged"),
    }
}

//! Puts restored data in the place of that which a directory has. It moves inside the directory, so that neither a mount
//! point nor a link in its place matters, and the backups in it stay where they are.

use rustix::fs::{AtFlags, CWD, StatxAttributes, StatxFlags, statx};

use crate::prelude::*;
use feed::backup::Manifest;
use kv::{ENGINE, StandbyDirectory};
use model::failpoint::{self, Failpoint};

/// The folder of a restore that is under way.
pub(super) const RESTORING: &str = "RESTORING";
/// Its name from the time when all in it is whole and checked, until all has its place.
const RESTORED: &str = "RESTORED";
/// The file in it that names the folder for the data before.
const ASIDE: &str = "ASIDE";
/// The first part of the name of this folder.
const OLD: &str = "old-";
const FORMAT: &str = "FORMAT";
/// That the directory was that of a standby: `tideline standby` serves it.
const PROMOTED: &str = "PROMOTED";
/// All entries of a data directory, but its lock and its backups. `FORMAT` is the first to leave its place and the last
/// to get it: without this file no command takes the directory for a whole one.
const ENTRIES: [&str; 11] = [
    FORMAT,
    ENGINE,
    "RUN",
    "RESERVE",
    "REBUILD",
    "STANDBY",
    PROMOTED,
    "STANDBY_SEEN",
    "COPYING",
    "standbys",
    "CREATING",
];

/// Makes an empty folder for a restore, in the place of what an earlier one has left. Fails if something cannot leave its
/// place later.
pub(super) fn begin(data: &Path) -> io::Result<PathBuf> {
    for entry in ENTRIES {
        let path = data.join(entry);
        let refusal = if is_mount_point(&path) {
            "a mount point, so nothing can be put in its place: unmount it"
        } else if path.is_symlink() {
            // The restored data would be on this device, and a relative link would lead nowhere.
            "a symbolic link, and the restored data would not be where it leads: move what it leads to into its place"
        } else {
            continue;
        };
        return Err(io::Error::other(format!("{entry} is {refusal}, or choose another --data-dir")));
    }
    let work = data.join(RESTORING);
    clear(data)?;
    private_files::make_dir(&work)?;
    Ok(work)
}

/// Before Linux 5.8 no path is one.
fn is_mount_point(path: &Path) -> bool {
    statx(CWD, path, AtFlags::SYMLINK_NOFOLLOW, StatxFlags::empty())
        .is_ok_and(|found| found.stx_attributes.contains(StatxAttributes::MOUNT_ROOT))
}

/// Removes what a restore has written outside of its place.
pub(super) fn clear(data: &Path) -> io::Result<()> {
    [RESTORING, RESTORED].into_iter().try_for_each(|name| private_files::remove_dir(&data.join(name)))
}

/// The backup of a restore that was interrupted after the data before had begun to leave its place: only [`finish`] helps,
/// also if the manifest cannot be read.
pub(super) fn begun(data: &Path) -> Option<io::Result<Manifest>> {
    let is_begun = !data.join(FORMAT).exists() && data.join(RESTORED).join(FORMAT).exists();
    is_begun.then(|| Manifest::of(&data.join(RESTORED)))
}

/// Puts what is whole in the folder of the restore into its place. The data before goes into a folder with `at` in its
/// name, which is returned if there was any. A standby that was promoted stays one.
pub(super) fn exchange(data: &Path, at: &str) -> io::Result<Option<PathBuf>> {
    let restored = data.join(RESTORED);
    if StandbyDirectory::was_promoted(data) {
        private_files::replace_file(&data.join(RESTORING).join(PROMOTED), &fs::read(data.join(PROMOTED))?)?;
    }
    private_files::replace_file(&data.join(RESTORING).join(ASIDE), format!("{OLD}{at}").as_bytes())?;
    fs::rename(data.join(RESTORING), &restored)?;
    private_files::flush_names(data)?;
    failpoint::pass(Failpoint::RestoreMade);
    finish(data)
}

/// The steps of [`exchange`] that remain, each of which can be repeated after a crash.
pub(super) fn finish(data: &Path) -> io::Result<Option<PathBuf>> {
    let restored = data.join(RESTORED);
    let old = data.join(fs::read_to_string(restored.join(ASIDE))?);
    // Later the entries are those of the restore.
    if restored.join(ENGINE).exists() {
        for entry in ENTRIES.into_iter().filter(|entry| data.join(entry).symlink_metadata().is_ok()) {
            if !old.exists() {
                private_files::make_dir(&old)?;
            }
            fs::rename(data.join(entry), old.join(entry))?;
            private_files::flush_names(&old)?;
            private_files::flush_names(data)?;
            failpoint::pass(Failpoint::RestoreAside);
        }
        fs::rename(restored.join(ENGINE), data.join(ENGINE))?;
        private_files::flush_names(data)?;
    }
    failpoint::pass(Failpoint::RestorePlaced);
    if restored.join(PROMOTED).exists() {
        fs::rename(restored.join(PROMOTED), data.join(PROMOTED))?;
    }
    fs::rename(restored.join(FORMAT), data.join(FORMAT))?;
    private_files::flush_names(data)?;
    failpoint::pass(Failpoint::RestoreWhole);
    clear(data)?;
    Ok(old.exists().then_some(old))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn the_page_of_the_directory_names_every_entry() {
        let page = include_str!("../../../../docs/schema.md");
        let table = page.lines().skip_while(|line| *line != "| name | content |").skip(2);
        let first = table.take_while(|line| line.starts_with('|')).filter_map(|line| line.split(" | ").next());
        let named: BTreeSet<_> = first
            .flat_map(|names| names.split('`').skip(1).step_by(2))
            .map(|name| name.trim_end_matches('/'))
            .collect();
        let stay = ["backups", "LOCK", RESTORING, RESTORED, "old-…"];
        // In the line above the table.
        let table: BTreeSet<_> = ENTRIES.into_iter().filter(|name| *name != "CREATING").chain(stay).collect();
        assert_eq!(named, table);
    }
}

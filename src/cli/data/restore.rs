//! `tideline restore`: makes a data directory of a backup.

mod replace;

use std::fs::File;
use std::sync::atomic::{AtomicU64, Ordering};

use indicatif::HumanBytes;

use super::check;
use super::erased;
use super::import::source::Source;
use crate::cli::terminal::units;
use crate::prelude::*;
use feed::backup::{Archive, Manifest, manifest_of, unpack};
use kv::{FORMAT, room_for};

/// Names that an empty directory may have: those of a restore that was interrupted, of the folder of a new file system,
/// and of the files with which version control keeps an empty folder.
const NOTHING: [&str; 6] = [replace::RESTORING, "LOCK", "lost+found", ".gitkeep", ".gitignore", ".keep"];

/// Bytes that the engine takes in advance when the check opens the directory.
const OPENED: u64 = 24 << 20;

/// The source of the restore.
#[derive(Debug, Args)]
pub(crate) struct RestoreArgs {
    /// The backup: its directory, its archive (.tar, .tar.zst or .tar.gz), or - for an archive on the standard input
    #[arg(long, value_name = "PATH")]
    from: PathBuf,

    /// Restore in the place of the data that the directory has: this goes into a folder in it, and users who were erased
    /// in it are erased again
    #[arg(long)]
    replace: bool,

    /// Another directory with the data before: users who were erased there are erased again
    #[arg(long, value_name = "DIR", conflicts_with = "replace")]
    erased_in: Option<PathBuf>,
}

/// Restores into the data directory of the settings, which must be empty or missing unless its data is to be replaced.
pub(crate) fn run(config: &Config, args: &RestoreArgs) -> Result<i32> {
    let data = &config.storage.data_dir;
    if let Some(before) = args.erased_in.as_ref().filter(|before| !before.is_dir()) {
        // A wrong path would bring back users who were erased.
        return Err(Error::Setup(format!("--erased-in {}: there is no such directory", before.display())));
    }
    let interrupt = Interrupt::catch()?;
    private_files::make_dirs(data).context(data.display())?;
    let lock =
        File::options().create(true).truncate(false).write(true).open(data.join("LOCK")).context(data.display())?;
    lock.try_lock().map_err(|_| Error::Setup(format!("{} is in use by another process", data.display())))?;
    if let Some(earlier) = replace::begun(data) {
        let old = replace::finish(data).context(data.display())?;
        let name = earlier.as_ref().map_or("unknown", |earlier| &earlier.name);
        tell(data, format_args!("an earlier restore of the backup {name} is finished"), old)?;
        let earlier = earlier.map_err(|e| {
            Error::Setup(format!(
                "its backup is unknown, because its file BACKUP cannot be read: {e}. To restore the backup of --from, run the \
                 command again with --replace"
            ))
        })?;
        return must_be(&earlier, args, &interrupt);
    }
    if !args.replace {
        must_be_empty(data)?;
    }
    let work = replace::begin(data).context(data.display())?;
    let restored = restore(config, args, &work, &interrupt);
    if !matches!(restored, Ok((_, SUCCESS))) {
        replace::clear(data).context(data.display())?;
    }
    let (manifest, code) = restored.map_err(|error| match error {
        _ if interrupt.was_asked() => interrupted(),
        Error::Corrupt(what) => Error::Setup(format!("the backup is damaged: {what}; nothing was restored")),
        error => error,
    })?;
    if code != SUCCESS {
        return Err(Error::Setup("the backup is damaged, see the lines above; nothing was restored".to_owned()));
    }
    let at = units::time(now()).replace([':', '.'], "");
    let old = replace::exchange(data, &at).context(data.display())?;
    tell(data, format_args!("the data is from {}", units::time(manifest.begun_at)), old)?;
    Ok(code)
}

/// Tells that the data has its place, and the place of the data before.
fn tell(data: &Path, what: impl Display, old: Option<PathBuf>) -> Result<()> {
    print_line(format_args!("restored {}; {what}", data.display()))?;
    old.map_or(Ok(()), |old| print_line(format_args!("the data before is in {}", old.display())))
}

/// Fails if the backup to restore is not the one that is restored already.
fn must_be(restored: &Manifest, args: &RestoreArgs, interrupt: &Interrupt) -> Result<i32> {
    let asked = manifest_of(interrupt.reading(open(args, interrupt)?.0)?)?;
    if asked == *restored {
        return Ok(SUCCESS);
    }
    Err(Error::Setup(format!(
        "the backup of --from is another, {}, and is not restored. To put it in the place of {}, run the command again with \
         --replace",
        asked.name, restored.name
    )))
}

/// Fails if a directory has data.
fn must_be_empty(data: &Path) -> Result<()> {
    for entry in fs::read_dir(data).context(data.display())? {
        let name = entry.context(data.display())?.file_name();
        if !NOTHING.iter().any(|known| name == *known) {
            return Err(Error::Setup(format!(
                "{} is not empty: it has {}. Choose an empty directory with --data-dir, or --replace to put the restored \
                 data in the place of this",
                data.display(),
                name.display()
            )));
        }
    }
    Ok(())
}

/// The bytes of the archive of the backup, how many there are packed, and how many of these are read.
type Input = (Box<dyn Read + Send>, Option<u64>, Arc<AtomicU64>);

fn open(args: &RestoreArgs, interrupt: &Interrupt) -> Result<Input> {
    let from = &args.from;
    let source = match from.is_dir() {
        true => {
            let archive = Archive::of(from).context(from.display())?;
            Source::of(from, Some(archive.length()), archive)
        }
        false => Source::open(from)?,
    };
    let (name, length, read) = (source.name.clone(), source.length, source.read.clone());
    let unpack = move || source.unpack().context(format_args!("cannot read {name}"));
    let bytes = interrupt.unless_asked(unpack)?.ok_or_else(interrupted)?;
    Ok((bytes, length, read))
}

/// Unpacks and checks in the directory `work`; the exit code of the check.
fn restore(config: &Config, args: &RestoreArgs, work: &Path, interrupt: &Interrupt) -> Result<(Manifest, i32)> {
    let (bytes, length, read) = open(args, interrupt)?;
    let min_free = (config.storage.min_free_mb as u64).saturating_mul(1 << 20);
    let progress = Progress::new("restore", length, Unit::Bytes);
    let manifest = unpack(
        interrupt.reading(bytes)?,
        work,
        |manifest| {
            must_be_readable(manifest)?;
            room_for(work, manifest.bytes.saturating_add(OPENED), min_free)
        },
        |manifest, _| progress.at(read.load(Ordering::Relaxed), &manifest.name),
    )?;
    drop(progress);
    let Manifest { name, files, bytes, .. } = &manifest;
    print_line(format_args!("unpacked {name}: {files} files, {}", HumanBytes(*bytes)))?;
    let data = &config.storage.data_dir;
    let replaced = (args.replace && data.join("db").exists()).then_some(data.as_path());
    let before = args.erased_in.as_deref().or(replaced);
    let mut config = config.clone();
    config.storage.data_dir = work.to_owned();
    // The room for a start is reserved by the first start in the final place.
    let start_options = StartOptions { reserve_nothing: true, whole_log: true, ..StartOptions::default() };
    kv::must_be_readable(&config.storage.data_dir).map_err(|error| Error::Corrupt(error.to_string()))?;
    let code = check::run(&config, start_options, &|| interrupt.was_asked())?;
    if code == SUCCESS {
        match before {
            Some(before) => erased::begin_again(&config, before, &manifest)?,
            None => erased::are_unknown(&manifest)?,
        }
    }
    Ok((manifest, if code == SUCCESS { SUCCESS } else { FAILURE }))
}

/// Fails if a backup has another format.
fn must_be_readable(manifest: &Manifest) -> Result<()> {
    let Manifest { format, release, .. } = manifest;
    if *format == FORMAT {
        return Ok(());
    }
    Err(Error::Setup(format!(
        "version {release} took the backup, in format {format}. This is version {}, whose format is {FORMAT}. \
         Use version {release}",
        env!("CARGO_PKG_VERSION")
    )))
}

fn interrupted() -> Error {
    Error::Setup("the restore was interrupted; nothing was restored".to_owned())
}

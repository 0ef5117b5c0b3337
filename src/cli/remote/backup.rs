//! `tideline backup`: takes, lists and copies backups, of a running server or of a directory that nobody serves.

mod remote;
mod target;

use indicatif::HumanBytes;

use self::target::Target;
use super::calls::Access;
use crate::cli::terminal::units::{self, time_limit};
use crate::prelude::*;
use feed::backup::{Backup, Backups, Manifest, State};
use feed::store::Options;

/// The interval of looks at a verification.
const LOOK_EVERY: Duration = Duration::from_millis(200);

/// The options of the command.
#[derive(Debug, Args)]
#[command(group(Access::only_with("url")))]
pub(crate) struct BackupArgs {
    /// The address of a running server, such as http://127.0.0.1:8080; without it, the data directory is opened, which
    /// nobody may serve (--list and --copy open only the backups)
    #[arg(long, value_name = "URL")]
    url: Option<String>,
    #[command(flatten)]
    access: Access,
    /// Give up if the server says nothing for so long
    #[arg(long, value_name = "DURATION", default_value = "60s", value_parser = time_limit, requires = "url")]
    timeout: Duration,
    /// Copy the backup: to an archive (compressed if its name ends in .zst), to - for the standard output, or to a
    /// folder of an existing directory
    #[arg(long, value_name = "PATH")]
    to: Option<PathBuf>,
    /// List the backups instead of taking one, also those of a damaged data directory
    #[arg(long, conflicts_with = "to")]
    list: bool,
    /// Copy the backup with this name in the list instead of taking one, also from a damaged data directory
    #[arg(long, value_name = "NAME", requires = "to")]
    copy: Option<String>,
}

/// Where backups are.
trait BackupSource: Send + Sync {
    fn take(&self) -> Result<Backup>;
    fn list(&self) -> Result<Vec<Backup>>;
    /// The archive of a backup, with its length.
    fn read(&self, name: &str) -> Result<(Box<dyn Read + Send>, u64)>;
    /// Notes the end of a copy, for figures and alerts.
    fn note_copy(&self, name: &str, failure: Option<&str>) -> Result<()>;
}

/// Lists the backups; or takes one and waits for its verification, or chooses one, and copies it. Fails if it is not
/// good.
pub(crate) fn run(config: &Config, args: &BackupArgs) -> Result<i32> {
    let place: Arc<dyn BackupSource> = match &args.url {
        Some(url) => Arc::new(args.access.server("--url", url, args.timeout)?),
        None => Arc::new(Local::new(config)),
    };
    if args.list {
        let backups = place.list()?;
        return print(|out| backups.iter().try_for_each(|backup| writeln!(out, "{}", line(backup)))).map(|()| SUCCESS);
    }
    let target = args.to.as_deref().map(Target::new).transpose()?;
    let interrupt = Interrupt::catch()?;
    let (asked, wanted) = (Arc::clone(&place), args.copy.clone());
    let chosen = interrupt.unless_asked(move || match &wanted {
        Some(name) => find(&*asked, name),
        None => take(&*asked),
    })?;
    let interrupted = || Error::Setup("interrupted while the backup was taken, see the list of backups".to_owned());
    let backup = chosen.ok_or_else(interrupted)?;
    say(line(&backup));
    backup.findings.iter().for_each(say);
    if backup.state == State::Failed {
        target.iter().for_each(|_| say("the backup is not good, so it is not copied"));
        return Ok(FAILURE);
    }
    if let Some(target) = target {
        let name = &backup.manifest.name;
        let copied = copy(&place, &interrupt, name, &target);
        let failure = copied.as_ref().err().map(Error::to_string);
        if let Err(error) = place.note_copy(name, failure.as_deref()) {
            say(format_args!("the end of the copy could not be noted for the alerts: {error}"));
        }
        copied?;
    }
    Ok(SUCCESS)
}

/// Copies a backup.
fn copy(place: &Arc<dyn BackupSource>, interrupt: &Interrupt, name: &str, target: &Target) -> Result<()> {
    let (asked, wanted) = (Arc::clone(place), name.to_owned());
    let interrupted = || Error::Setup(format!("interrupted before the backup {name} was copied; the backup stays"));
    let (archive, length) = interrupt.unless_asked(move || asked.read(&wanted))?.ok_or_else(interrupted)?;
    let progress = Progress::new(name, Some(length), Unit::Bytes);
    let shown = ProgressReader { input: interrupt.reading(archive)?, read: 0, progress: &progress };
    target.write(name, shown, length)
}

/// A new backup that is verified.
fn take(place: &dyn BackupSource) -> Result<Backup> {
    let taken = place.take()?;
    say(line(&taken));
    let (name, progress) = (&taken.manifest.name, Progress::new("verify", None, Unit::Count("looks")));
    for look in 0.. {
        let backup = find(place, name)?;
        if matches!(backup.state, State::Verified | State::Failed) {
            return Ok(backup);
        }
        progress.at(look, name);
        std::thread::sleep(LOOK_EVERY);
    }
    Ok(taken)
}

/// The backup with a name.
fn find(place: &dyn BackupSource, name: &str) -> Result<Backup> {
    let found = place.list()?.into_iter().find(|backup| backup.manifest.name == name);
    found.ok_or_else(|| Error::Setup(format!("there is no backup {name:?}; tideline backup --list shows all")))
}

/// A backup in one line.
fn line(backup: &Backup) -> String {
    let Manifest { name, begun_at, bytes, release, .. } = &backup.manifest;
    let (from, state) = (units::time(*begun_at), backup.state.as_str());
    format!("{name}  from {from}  {}  version {release}  {state}", HumanBytes(*bytes))
}

/// The backups of a data directory. The storage engine is open while one is taken and verified; the others are read without
/// it, because it may be damaged.
struct Local {
    options: Options,
    backups: Arc<Backups>,
}

impl Local {
    fn new(config: &Config) -> Self {
        let options = server::options(config).with(|engine| engine.keep_room = false);
        Self { options, backups: Arc::new(Backups::new(config)) }
    }
}

impl BackupSource for Local {
    fn take(&self) -> Result<Backup> {
        kv::must_be_there(&self.options.engine.dir)?;
        let store = Arc::new(Store::open(&self.options)?);
        self.backups.resume()?;
        self.backups.take(&store)
    }

    fn list(&self) -> Result<Vec<Backup>> {
        let listed = self.backups.list()?;
        // Elsewhere they are there without the data directory.
        if listed.is_empty() {
            kv::must_be_there(&self.options.engine.dir)?;
        }
        Ok(listed)
    }

    fn read(&self, name: &str) -> Result<(Box<dyn Read + Send>, u64)> {
        let archive = self.backups.read(name)?;
        let length = archive.length();
        Ok((Box::new(archive), length))
    }

    fn note_copy(&self, name: &str, failure: Option<&str>) -> Result<()> {
        self.backups.note_copy(name, failure)
    }
}

impl Drop for Local {
    fn drop(&mut self) {
        self.backups.stop();
        while !self.backups.rest(LOOK_EVERY) {}
    }
}

/// Shows how much is read.
struct ProgressReader<'a, R> {
    input: R,
    read: u64,
    progress: &'a Progress,
}

impl<R: Read> Read for ProgressReader<'_, R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.input.read(buffer)?;
        self.read += count as u64;
        self.progress.at(self.read, "");
        Ok(count)
    }
}

//! `tideline demo`: a fictional community for trials.

mod files;
mod graph;
mod live_activity;
mod people;
mod posts;
mod prepare;
mod texts;
mod writer;

use std::fs::{File, TryLockError};
use std::net::SocketAddr;

use clap::ValueEnum;
use xxhash_rust::xxh3::xxh3_128_with_seed;

use crate::cli::data::import;
use crate::cli::data::import::ImportArgs;
use crate::cli::terminal::logging;
use crate::prelude::*;
use config::AcceptedIds;

/// The file that says which community a directory has.
const MADE: &str = "community.json";
/// The file that a directory has until its community is complete.
const UNFINISHED: &str = "unfinished";
/// Its text.
const OURS: &str = "tideline demo makes a community here\n";
/// The file that a running demo holds.
const LOCK: &str = "LOCK";

/// What to make.
#[derive(Debug, Args)]
pub(super) struct DemoArgs {
    /// The directory of the community; made at the first start
    #[arg(long, value_name = "DIR", default_value = "tideline-demo", conflicts_with = "out")]
    dir: PathBuf,
    /// Write the files of the community into DIR, for an import, and do not serve it
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// Address and port to listen on; overrides server.listen
    #[arg(long, value_name = "ADDR", value_parser = config::address, conflicts_with = "out")]
    listen: Option<SocketAddr>,
    #[command(flatten)]
    community: Community,
}

/// Kind of the ids.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Ids {
    /// Numbers from 1
    Numbers,
    /// UUIDs of version 4
    Uuids,
}

/// All that decides what a community is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Args, Serialize, Deserialize)]
struct Community {
    /// Number of users
    #[arg(long, value_name = "N", default_value_t = 2000, value_parser = clap::value_parser!(u32).range(1..=10_000_000))]
    users: u32,
    /// Number of posts, comments and reposts
    #[arg(long, value_name = "N", default_value_t = 20_000, value_parser = clap::value_parser!(u32).range(0..=100_000_000))]
    posts: u32,
    /// Ids of users and posts
    #[arg(long, value_enum, value_name = "KIND", default_value_t = Ids::Numbers)]
    ids: Ids,
    /// Seed of the random numbers: the same seed, sizes, --ids and --until give the same files
    #[arg(long, value_name = "N", default_value_t = 1)]
    seed: u64,
    /// Time of the newest post, in milliseconds since 1970, not after the clock [default: now]
    #[arg(long, value_name = "MS", default_value_t = now(), hide_default_value = true, value_parser = clap::value_parser!(u64).range(posts::YEAR..))]
    until: Millis,
}

impl Community {
    fn user(&self, index: usize) -> ExternalId {
        self.id("user", index + 1)
    }

    /// The id of the group: that after the users.
    fn group(&self) -> ExternalId {
        self.user(self.users as usize)
    }

    fn post(&self, index: usize) -> ExternalId {
        self.id("post", index + 1)
    }

    /// Refuses times after the clock.
    fn checked(&self) -> Result<&Self> {
        let (until, clock) = (self.until, now());
        if until <= clock {
            return Ok(self);
        }
        Err(Error::Setup(format!("--until {until} lies after the clock ({clock}); an import would refuse such times")))
    }

    /// The id number `number` of its kind. It does not depend on the ids before it.
    fn id(&self, kind: &str, number: usize) -> ExternalId {
        if self.ids == Ids::Numbers {
            return ExternalId::Number(number as u64);
        }
        let random = xxh3_128_with_seed(format!("{kind} {number}").as_bytes(), self.seed);
        let (version, variant) = (76, 62);
        let uuid = random & !(0b1111 << version | 0b11 << variant) | 4 << version | 0b10 << variant;
        let hex = format!("{uuid:032x}");
        ExternalId::Name([&hex[..8], &hex[8..12], &hex[12..16], &hex[16..20], &hex[20..]].join("-").into())
    }
}

pub(super) fn run(args: &DemoArgs) -> Result<()> {
    let Some(out) = &args.out else { return serve(args) };
    let (follows, reactions) = files::write(out, args.community.checked()?)?;
    let Community { users, posts, .. } = args.community;
    let out = out.display();
    print_line(format_args!(
        "{users} users with {follows} follows, {posts} posts, comments and reposts, and {reactions} likes and favorites in {out}"
    ))
}

/// Serves the community of a directory, which is made first if there is none.
fn serve(args: &DemoArgs) -> Result<()> {
    let mut config = Config::load(None)?;
    config.storage.data_dir = args.dir.join("db");
    config.server.listen = args.listen.unwrap_or(config.server.listen);
    config.validate()?;
    private_files::from_now_on();
    logging::init(&config.log)?;
    server::can_listen(&config)?;
    if args.community.ids == Ids::Uuids && config.ids.accept == AcceptedIds::Numbers {
        return Err(Error::Setup("--ids uuids needs ids.accept = \"any\"".to_owned()));
    }
    let _lock = lock(&args.dir)?;
    let (community, is_new) = match made(&args.dir)? {
        Some(there) => {
            if there != (Community { until: there.until, ..args.community }) {
                let (dir, Community { users, posts, .. }) = (args.dir.display(), there);
                say(format_args!(
                    "{dir} has a community already, of {users} users with {posts} posts. For another, choose another --dir"
                ));
            }
            (there, false)
        }
        None => (make(&args.dir, *args.community.checked()?, &config)?, true),
    };
    server::run(&config, StartOptions { changes: true, ..StartOptions::default() }, None, |feed, address| {
        if is_new {
            prepare::prepare(feed, &community)?;
        }
        live_activity::start(feed, community)?;
        greet(&community, address);
        Ok(())
    })
}

/// Claims the directory, which is made if it is missing, until the result is dropped.
fn lock(dir: &Path) -> Result<File> {
    let unusable = format_args!("cannot use {}", dir.display());
    private_files::make_dirs(dir).context(unusable)?;
    let lock = File::options().create(true).truncate(false).write(true).open(dir.join(LOCK)).context(unusable)?;
    match lock.try_lock() {
        Ok(()) => Ok(lock),
        Err(TryLockError::WouldBlock) => Err(Error::Setup(format!(
            "{} is in use by another tideline demo. Choose another with --dir",
            dir.display()
        ))),
        Err(TryLockError::Error(error)) => Err(error).context(unusable),
    }
}

/// The community that a directory has, if it is complete.
fn made(dir: &Path) -> Result<Option<Community>> {
    let path = dir.join(MADE);
    let unreadable = format_args!("cannot read {}", path.display());
    match fs::read(&path) {
        Err(e) if e.kind() == io::ErrorKind::NotFound => Ok(None),
        text => serde_json::from_slice(&text.context(unreadable)?).map(Some).context(unreadable),
    }
}

/// Makes a community and imports it. The remains of an interrupted run are removed first: posts made at another time
/// would contradict them.
fn make(dir: &Path, community: Community, config: &Config) -> Result<Community> {
    let failed = format_args!("cannot make a community in {}", dir.display());
    let files = files::names(dir);
    let unfinished = dir.join(UNFINISHED);
    // By its text, because other programs may have a file of this name.
    if fs::read_to_string(&unfinished).is_ok_and(|text| text == OURS) {
        files.iter().try_for_each(|path| private_files::remove_file(path)).context(failed)?;
        private_files::remove_dir(&config.storage.data_dir).context(failed)?;
    } else if fs::read_dir(dir).context(failed)?.flatten().any(|entry| entry.file_name() != LOCK) {
        return Err(Error::Setup(format!(
            "{} has other files, and no community of tideline demo. Choose another directory with --dir",
            dir.display()
        )));
    }
    fs::write(&unfinished, OURS).context(failed)?;
    say(format_args!(
        "making a community of {} users with {} posts in {}",
        community.users,
        community.posts,
        dir.display()
    ));
    files::write(dir, &community)?;
    import::run(config, &ImportArgs::of(files))?;
    let text = serde_json::to_vec(&community).map_err(|e| Error::Setup(e.to_string()))?;
    private_files::replace_file(&dir.join(MADE), &text).and_then(|()| fs::remove_file(&unfinished)).context(failed)?;
    Ok(community)
}

/// Prints the first things to try.
fn greet(community: &Community, url: &str) {
    let [reader, other] =
        [people::READER, people::GAZETTE.min(community.users as usize - 1)].map(|user| community.user(user));
    say(format_args!(
        "\nTry, in another terminal (user {reader} follows many, user {other} has the most followers):\n  \
         curl -s '{url}/v1/users/{reader}/timeline?limit=3'\n  \
         curl -sN '{url}/v1/users/{reader}/stream'\n  \
         curl -s '{url}/v1/content' -H 'content-type: application/json' -d '{{\"author_id\": \"{other}\", \"text\": \"Hello\"}}'\n  \
         curl -s '{url}/v1/admin/stats'\nCtrl-C stops the server; README.md has the next steps.\n"
    ));
}

#[cfg(test)]
mod tests {
    use super::*;

    fn args(out: &Path, ids: Ids, seed: u64) -> DemoArgs {
        DemoArgs {
            dir: PathBuf::new(),
            out: Some(out.to_owned()),
            listen: None,
            community: Community { users: 300, posts: 500, ids, seed, until: 1_700_000_000_000 },
        }
    }

    const NAMES: [&str; 4] = ["follows.csv", "content.ndjson", "reactions.csv", "profiles.ndjson"];

    /// All files.
    fn made(ids: Ids, seed: u64) -> [String; 4] {
        let dir = tempfile::tempdir().expect("temp dir");
        run(&args(dir.path(), ids, seed)).expect("runs");
        NAMES.map(|name| fs::read_to_string(dir.path().join(name)).expect(name))
    }

    #[test]
    fn uuids_are_of_version_4_and_stand_for_the_same_numbers_everywhere() {
        let (numbers, mut uuids) = (made(Ids::Numbers, 1), made(Ids::Uuids, 1));
        let naming = args(Path::new(""), Ids::Uuids, 1).community;
        let shape = regex::Regex::new("^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$");
        let shape = shape.expect("a pattern");
        let mut seen = std::collections::HashSet::new();
        for index in 0..500 {
            for id in [naming.user(index), naming.post(index)].map(|id| id.to_string()) {
                assert!(shape.is_match(&id), "{id}");
                uuids.iter_mut().for_each(|file| *file = file.replace(&id, &(index + 1).to_string()));
                assert!(seen.insert(id), "twice");
            }
        }
        assert_eq!(uuids, numbers);
    }
}

//! `tideline demo`: a fictional community for trials.

mod graph;
mod posts;

use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};
use fastrand::Rng;
use xxhash_rust::xxh3::xxh3_128_with_seed;

use super::print;
use crate::clock::now;
use crate::error::{Error, Result};
use crate::model::Millis;

/// What to make.
#[derive(Debug, Args)]
pub(super) struct DemoArgs {
    /// Write follows.csv and content.csv into DIR
    #[arg(long, value_name = "DIR")]
    out: PathBuf,
    /// Number of users
    #[arg(long, value_name = "N", default_value_t = 2000, value_parser = clap::value_parser!(u32).range(1..=10_000_000))]
    users: u32,
    /// Number of posts
    #[arg(long, value_name = "N", default_value_t = 20_000, value_parser = clap::value_parser!(u32).range(0..=100_000_000))]
    posts: u32,
    /// Ids of users and posts
    #[arg(long, value_enum, value_name = "KIND", default_value_t = Ids::Numbers)]
    ids: Ids,
    /// Seed of the random numbers: the same seed, sizes, --ids and --until give the same files
    #[arg(long, value_name = "N", default_value_t = 1)]
    seed: u64,
    /// Time of the newest post, in milliseconds since 1970, not after the clock [default: now]
    #[arg(long, value_name = "MS", value_parser = clap::value_parser!(u64).range(posts::YEAR..))]
    until: Option<Millis>,
}

/// Kind of the ids.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Ids {
    /// Numbers from 1
    Numbers,
    /// UUIDs of version 4
    Uuids,
}

/// Makes ids.
#[derive(Debug, Clone, Copy)]
struct Naming {
    ids: Ids,
    seed: u64,
}

impl Naming {
    fn user(self, index: usize) -> String {
        self.id("user", index + 1)
    }

    fn post(self, index: usize) -> String {
        self.id("post", index + 1)
    }

    /// The id number `number` of its kind. It does not depend on the ids before it.
    fn id(self, kind: &str, number: usize) -> String {
        if self.ids == Ids::Numbers {
            return number.to_string();
        }
        let random = xxh3_128_with_seed(format!("{kind} {number}").as_bytes(), self.seed);
        let (version, variant) = (76, 62);
        let uuid = random & !(0b1111 << version | 0b11 << variant) | 4 << version | 0b10 << variant;
        let hex = format!("{uuid:032x}");
        [&hex[..8], &hex[8..12], &hex[12..16], &hex[16..20], &hex[20..]].join("-")
    }
}

pub(super) fn run(args: &DemoArgs) -> Result<()> {
    let edges = make(args)?;
    let DemoArgs { users, posts, .. } = args;
    print(|out| writeln!(out, "{edges} follows of {users} users and {posts} posts in {}", args.out.display()))
}

/// Makes both files, and returns the number of follows.
fn make(args: &DemoArgs) -> Result<usize> {
    let failed = |path: &Path, e: io::Error| Error::Setup(format!("cannot write {}: {e}", path.display()));
    fs::create_dir_all(&args.out).map_err(|e| failed(&args.out, e))?;
    let clock = now();
    let until = args.until.unwrap_or(clock);
    if until > clock {
        return Err(Error::Setup(format!(
            "--until {until} lies after the clock ({clock}); an import would refuse such times"
        )));
    }
    let (follows, content) = (args.out.join("follows.csv"), args.out.join("content.csv"));
    for path in [&follows, &content] {
        if path.symlink_metadata().is_ok() {
            let path = path.display();
            return Err(Error::Setup(format!("{path} exists already. Choose another directory with --out")));
        }
    }
    let mut random = Rng::with_seed(args.seed);
    let graph = graph::make(args.users, &mut random);
    let naming = Naming { ids: args.ids, seed: args.seed };
    let edges = write_follows(&follows, &graph, naming, until, &mut random).map_err(|e| failed(&follows, e))?;
    write_content(&content, posts::make(&graph, args.posts, until, &mut random), naming)
        .map_err(|e| failed(&content, e))?;
    Ok(edges)
}

fn write_follows(
    path: &Path,
    graph: &[Vec<u32>],
    naming: Naming,
    until: Millis,
    random: &mut Rng,
) -> io::Result<usize> {
    let mut out = BufWriter::new(File::create_new(path)?);
    writeln!(out, "user_id,target_id,since")?;
    let mut edges = 0;
    for (user, targets) in graph.iter().enumerate() {
        let follower = naming.user(user);
        for target in targets {
            let since = until - posts::WINDOW - random.u64(..posts::YEAR - posts::WINDOW);
            writeln!(out, "{follower},{},{since}", naming.user(*target as usize))?;
        }
        edges += targets.len();
    }
    out.flush()?;
    Ok(edges)
}

fn write_content(path: &Path, posts: Vec<posts::Post>, naming: Naming) -> io::Result<()> {
    let mut out = csv::Writer::from_writer(File::create_new(path)?);
    out.write_record(["content_id", "author_id", "published_at", "text"])?;
    for (index, post) in posts.into_iter().enumerate() {
        let (id, author) = (naming.post(index), naming.user(post.author as usize));
        out.write_record([&id, &author, &post.at.to_string(), &post.text])?;
    }
    out.flush()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn args(out: &Path, ids: Ids, seed: u64) -> DemoArgs {
        DemoArgs { out: out.to_owned(), users: 300, posts: 500, ids, seed, until: Some(1_700_000_000_000) }
    }

    /// Both files.
    fn made(ids: Ids, seed: u64) -> [String; 2] {
        let dir = tempfile::tempdir().expect("temp dir");
        make(&args(dir.path(), ids, seed)).expect("runs");
        ["follows.csv", "content.csv"].map(|name| fs::read_to_string(dir.path().join(name)).expect(name))
    }

    #[test]
    fn the_seed_decides_every_byte() {
        for ids in [Ids::Numbers, Ids::Uuids] {
            let (first, again, other) = (made(ids, 1), made(ids, 1), made(ids, 2));
            assert_eq!(first, again);
            assert_ne!(first[0], other[0]);
            assert_ne!(first[1], other[1]);
        }
    }

    #[test]
    fn uuids_are_of_version_4_and_stand_for_the_same_numbers_everywhere() {
        let (numbers, mut uuids) = (made(Ids::Numbers, 1), made(Ids::Uuids, 1));
        let naming = Naming { ids: Ids::Uuids, seed: 1 };
        let shape = regex::Regex::new("^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$");
        let shape = shape.expect("a pattern");
        let mut seen = std::collections::HashSet::new();
        for index in 0..500 {
            for (id, number) in [
                (naming.user(index), format!("user {}", index + 1)),
                (naming.post(index), format!("post {}", index + 1)),
            ] {
                assert!(shape.is_match(&id), "{id}");
                uuids.iter_mut().for_each(|file| *file = file.replace(&id, &number));
                assert!(seen.insert(id), "twice");
            }
        }
        let plain = uuids.map(|file| file.replace("user ", "").replace("post ", ""));
        assert_eq!(plain, numbers);
    }

    #[test]
    fn files_that_are_there_stay_as_they_are() {
        for name in ["follows.csv", "content.csv"] {
            let dir = tempfile::tempdir().expect("temp dir");
            let mine = dir.path().join(name);
            fs::write(&mine, "mine").expect("writes");
            let error = make(&args(dir.path(), Ids::Numbers, 1)).expect_err(name).to_string();
            assert_eq!(error, format!("{} exists already. Choose another directory with --out", mine.display()));
            assert_eq!(fs::read_to_string(&mine).expect("reads"), "mine");
            assert_eq!(fs::read_dir(dir.path()).expect("listed").count(), 1);
        }
    }
}

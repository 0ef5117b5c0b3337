//! `tideline demo`: a fictional community for trials.

mod graph;
mod posts;

use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use clap::Args;
use fastrand::Rng;

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
    /// Seed of the random numbers: the same seed, sizes and --until give the same files
    #[arg(long, value_name = "N", default_value_t = 1)]
    seed: u64,
    /// Time of the newest post, in milliseconds since 1970, not after the clock [default: now]
    #[arg(long, value_name = "MS", value_parser = clap::value_parser!(u64).range(posts::YEAR..))]
    until: Option<Millis>,
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
    let edges = write_follows(&follows, &graph, until, &mut random).map_err(|e| failed(&follows, e))?;
    write_content(&content, posts::make(&graph, args.posts, until, &mut random)).map_err(|e| failed(&content, e))?;
    Ok(edges)
}

fn write_follows(path: &Path, graph: &[Vec<u32>], until: Millis, random: &mut Rng) -> io::Result<usize> {
    let mut out = BufWriter::new(File::create_new(path)?);
    writeln!(out, "user_id,target_id,since")?;
    let mut edges = 0;
    for (user, targets) in graph.iter().enumerate() {
        for target in targets {
            let since = until - posts::WINDOW - random.u64(..posts::YEAR - posts::WINDOW);
            writeln!(out, "{},{},{since}", user + 1, target + 1)?;
        }
        edges += targets.len();
    }
    out.flush()?;
    Ok(edges)
}

fn write_content(path: &Path, posts: Vec<posts::Post>) -> io::Result<()> {
    let mut out = csv::Writer::from_writer(File::create_new(path)?);
    out.write_record(["content_id", "author_id", "published_at", "text"])?;
    for (index, post) in posts.into_iter().enumerate() {
        let (id, author) = (index + 1, post.author + 1);
        out.write_record([&id.to_string(), &author.to_string(), &post.at.to_string(), &post.text])?;
    }
    out.flush()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn args(out: &Path, seed: u64) -> DemoArgs {
        DemoArgs { out: out.to_owned(), users: 300, posts: 500, seed, until: Some(1_700_000_000_000) }
    }

    #[test]
    fn the_seed_decides_every_byte() {
        let made = |seed| {
            let dir = tempfile::tempdir().expect("temp dir");
            make(&args(dir.path(), seed)).expect("runs");
            let read = |name| fs::read(dir.path().join(name)).expect(name);
            (read("follows.csv"), read("content.csv"))
        };
        let (first, again, other) = (made(1), made(1), made(2));
        assert_eq!(first, again);
        assert_ne!(first.0, other.0);
        assert_ne!(first.1, other.1);
    }

    #[test]
    fn files_that_are_there_stay_as_they_are() {
        for name in ["follows.csv", "content.csv"] {
            let dir = tempfile::tempdir().expect("temp dir");
            let mine = dir.path().join(name);
            fs::write(&mine, "mine").expect("writes");
            let error = make(&args(dir.path(), 1)).expect_err(name).to_string();
            assert_eq!(error, format!("{} exists already. Choose another directory with --out", mine.display()));
            assert_eq!(fs::read_to_string(&mine).expect("reads"), "mine");
            assert_eq!(fs::read_dir(dir.path()).expect("listed").count(), 1);
        }
    }
}

//! The community as files for `tideline import`.

use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use fastrand::Rng;
use serde_json::json;

use super::posts::{Kind, Post, WINDOW, YEAR};
use super::{Community, graph, people, posts, reactions};
use crate::trace::Graph;
use model::error::{Error, Result};

/// The files of follows, content, reactions and profiles.
#[derive(Debug)]
pub(super) struct Files(pub(super) [PathBuf; 4]);

impl Files {
    pub(super) fn in_dir(dir: &Path) -> Self {
        Self(["follows.csv", "content.ndjson", "reactions.csv", "profiles.ndjson"].map(|name| dir.join(name)))
    }

    /// Writes the files, none of which may exist. Returns the number of follows and of reactions.
    pub(super) fn write(&self, community: &Community) -> Result<(usize, usize)> {
        if let Some(path) = self.0.iter().find(|path| path.symlink_metadata().is_ok()) {
            let path = path.display();
            return Err(Error::Setup(format!("{path} exists already. Choose another directory with --out")));
        }
        let [follows, content, reactions, profiles] = &self.0;
        let mut random = Rng::with_seed(community.seed);
        let graph = graph::make(community.users, &mut random);
        let edges = to(follows, |out| write_follows(out, &graph, community, &mut random))?;
        let posts = posts::make(&graph, community.posts, community.until, community.seed, &mut random);
        to(content, |out| write_content(out, &posts, community))?;
        let likes = to(reactions, |out| write_reactions(out, &graph, &posts, community, &mut random))?;
        to(profiles, |out| write_profiles(out, community))?;
        Ok((edges, likes))
    }
}

/// Writes a new file.
fn to<T>(path: &Path, write: impl FnOnce(&mut BufWriter<File>) -> io::Result<T>) -> Result<T> {
    let written = || {
        path.parent().map_or(Ok(()), fs::create_dir_all)?;
        let mut out = BufWriter::new(File::create_new(path)?);
        let result = write(&mut out)?;
        out.flush()?;
        Ok(result)
    };
    written().map_err(|e: io::Error| Error::Setup(format!("cannot write {}: {e}", path.display())))
}

fn write_follows(out: &mut impl Write, graph: &Graph, community: &Community, random: &mut Rng) -> io::Result<usize> {
    writeln!(out, "user_id,target_id,since")?;
    for &(user, target) in graph.follows() {
        let since = community.until - WINDOW - random.u64(..YEAR - WINDOW);
        writeln!(out, "{},{},{since}", community.user(user as usize), community.user(target as usize))?;
    }
    Ok(graph.follows().len())
}

fn write_content(out: &mut impl Write, posts: &[Post], community: &Community) -> io::Result<()> {
    for (index, post) in posts.iter().enumerate() {
        let answered = match post.kind {
            Kind::Post => None,
            Kind::Comment(of) | Kind::Repost(of) => Some(community.post(of)),
        };
        let mut line = post.body(&community.user(post.author as usize), answered);
        (line["content_id"], line["published_at"]) = (json!(community.post(index)), json!(post.at));
        writeln!(out, "{line}")?;
    }
    Ok(())
}

fn write_reactions(
    out: &mut impl Write,
    graph: &Graph,
    posts: &[Post],
    community: &Community,
    random: &mut Rng,
) -> io::Result<usize> {
    writeln!(out, "content_id,user_id,kind,since")?;
    let mut count = 0;
    reactions::make(graph, posts, community.until, random, |liked| {
        count += 1;
        let kind = if liked.favorite { "favorite" } else { "like" };
        writeln!(out, "{},{},{kind},{}", community.post(liked.post), community.user(liked.user as usize), liked.at)
    })?;
    Ok(count)
}

fn write_profiles(out: &mut impl Write, community: &Community) -> io::Result<()> {
    (0..community.users as usize)
        .try_for_each(|user| writeln!(out, "{}", people::profile(community.seed, user, &community.user(user))))
}

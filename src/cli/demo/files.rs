//! The community as files for `tideline import`.

use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use fastrand::Rng;
use serde::Serialize;

use super::posts::{Kind, Post, WINDOW, YEAR};
use super::{Community, graph, people, posts, reactions};
use model::error::{Error, Result};

/// The files in a directory.
#[derive(Debug)]
pub(super) struct Files {
    pub(super) follows: PathBuf,
    pub(super) content: PathBuf,
    pub(super) reactions: PathBuf,
    pub(super) profiles: PathBuf,
}

impl Files {
    pub(super) fn in_dir(dir: &Path) -> Self {
        let [follows, content, reactions, profiles] =
            ["follows.csv", "content.ndjson", "reactions.csv", "profiles.ndjson"].map(|name| dir.join(name));
        Self { follows, content, reactions, profiles }
    }

    /// All of them.
    pub(super) fn all(&self) -> [&PathBuf; 4] {
        [&self.follows, &self.content, &self.reactions, &self.profiles]
    }

    /// Writes the files, none of which may exist. Returns the number of follows and of reactions.
    pub(super) fn write(&self, community: &Community) -> Result<(usize, usize)> {
        if let Some(path) = self.all().into_iter().find(|path| path.symlink_metadata().is_ok()) {
            let path = path.display();
            return Err(Error::Setup(format!("{path} exists already. Choose another directory with --out")));
        }
        let mut random = Rng::with_seed(community.seed);
        let graph = graph::make(community.users, &mut random);
        let follows = to(&self.follows, |out| write_follows(out, &graph, community, &mut random))?;
        let posts = posts::make(&graph, community.posts, community.until, community.seed, &mut random);
        to(&self.content, |out| write_content(out, &posts, community))?;
        let likes = to(&self.reactions, |out| write_reactions(out, &graph, &posts, community, &mut random))?;
        to(&self.profiles, |out| write_profiles(out, community))?;
        Ok((follows, likes))
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

fn write_follows(
    out: &mut impl Write,
    graph: &[Vec<u32>],
    community: &Community,
    random: &mut Rng,
) -> io::Result<usize> {
    writeln!(out, "user_id,target_id,since")?;
    for (user, targets) in graph.iter().enumerate() {
        let follower = community.user(user);
        for target in targets {
            let since = community.until - WINDOW - random.u64(..YEAR - WINDOW);
            writeln!(out, "{follower},{},{since}", community.user(*target as usize))?;
        }
    }
    Ok(graph.iter().map(Vec::len).sum())
}

/// A line of content, with the field names of the API.
#[derive(Serialize)]
struct Line {
    content_id: String,
    author_id: String,
    published_at: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    kind: Option<&'static str>,
    #[serde(skip_serializing_if = "str::is_empty")]
    text: String,
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    topics: &'static [&'static str],
    #[serde(skip_serializing_if = "Option::is_none")]
    media: Option<[Picture; 1]>,
    #[serde(skip_serializing_if = "Option::is_none")]
    ref_id: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    broadcast: Option<bool>,
}

#[derive(Serialize)]
struct Picture {
    r#type: &'static str,
    url: String,
}

fn write_content(out: &mut impl Write, posts: &[Post], community: &Community) -> io::Result<()> {
    for (index, post) in posts.iter().enumerate() {
        let (kind, subject) = match post.kind {
            Kind::Post => (None, None),
            Kind::Comment(of) => (Some("comment"), Some(of)),
            Kind::Repost(of) => (Some("repost"), Some(of)),
        };
        let line = Line {
            content_id: community.post(index),
            author_id: community.user(post.author as usize),
            published_at: post.at,
            kind,
            text: post.text.clone(),
            topics: post.topics(),
            media: post.picture.map(|number| [Picture { r#type: "image", url: people::landscape(number) }]),
            ref_id: subject.map(|of| community.post(of)),
            // Comments are below their post, not in timelines.
            broadcast: matches!(post.kind, Kind::Comment(_)).then_some(false),
        };
        json_line(out, &line)?;
    }
    Ok(())
}

fn write_reactions(
    out: &mut impl Write,
    graph: &[Vec<u32>],
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
        .try_for_each(|user| json_line(out, &people::profile(community.seed, user, community.user(user))))
}

fn json_line(out: &mut impl Write, line: &impl Serialize) -> io::Result<()> {
    serde_json::to_writer(&mut *out, line)?;
    writeln!(out)
}

//! The community as files for `tideline import`.

use std::fs::{self, File};
use std::io::{self, BufWriter, Write};

use fastrand::Rng;

use super::posts::{WINDOW, YEAR};
use super::writer::Writer;
use super::{Community, graph, people, posts};
use crate::cli::graph::Graph;
use crate::cli::terminal::part_file::unwritten;
use crate::prelude::*;

/// The files of follows, content, reactions and profiles.
pub(super) fn names(dir: &Path) -> [PathBuf; 4] {
    ["follows.csv", "content.ndjson", "reactions.csv", "profiles.ndjson"].map(|name| dir.join(name))
}

/// Writes the files into a directory, none of which may exist. Returns the number of follows and of reactions.
pub(super) fn write(dir: &Path, community: &Community) -> Result<(usize, usize)> {
    let files = names(dir);
    if let Some(path) = files.iter().find(|path| path.symlink_metadata().is_ok()) {
        let path = path.display();
        return Err(Error::Setup(format!("{path} exists already. Choose another directory with --out")));
    }
    let [follows, content, reactions, profiles] = &files;
    let mut random = Rng::with_seed(community.seed);
    let graph = graph::make(community.users, &mut random);
    to(follows, |out| write_follows(out, &graph, community, &mut random))?;
    let writer = &mut Writer::new(*community, random);
    let likes = to(content, |content| {
        to(reactions, |reactions| posts::write(content, reactions, &graph, writer)).map_err(io::Error::other)
    })?;
    to(profiles, |out| write_profiles(out, community))?;
    Ok((graph.follows().len(), likes))
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
    written().map_err(|e: io::Error| unwritten(path, &e))
}

fn write_follows(out: &mut impl Write, graph: &Graph, community: &Community, random: &mut Rng) -> io::Result<()> {
    writeln!(out, "user_id,target_id,since")?;
    graph.follows().iter().try_for_each(|(user, target)| {
        let since = community.until - WINDOW - random.u64(..YEAR - WINDOW);
        writeln!(out, "{},{},{since}", community.user(*user as usize), community.user(*target as usize))
    })
}

fn write_profiles(out: &mut impl Write, community: &Community) -> io::Result<()> {
    (0..community.users as usize)
        .try_for_each(|user| writeln!(out, "{}", people::profile(community.seed, user, &community.user(user))))
}

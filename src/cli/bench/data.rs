//! The graph and the posts of files.

use std::collections::HashMap;

use super::load::Post;
use crate::cli::data::import::reader::each_line;
use crate::cli::data::lines::Table;
use crate::cli::graph::Graph;
use crate::prelude::*;
use feed::Command;

/// Most users, which are numbered in memory while the files are read.
const MOST_USERS: usize = 50_000_000;
/// Most posts of all files.
const MOST_POSTS: usize = 100_000_000;
/// A longer text is cut, so that no post is longer than a server takes by default.
const LONGEST: usize = 10_000;

/// Numbers for ids in the order of their appearance.
#[derive(Default)]
struct Numbers(HashMap<ExternalId, u32>);

impl Numbers {
    fn of(&mut self, id: ExternalId) -> Result<u32> {
        let next = self.0.len();
        if next >= MOST_USERS && !self.0.contains_key(&id) {
            return Err(too_many("users", MOST_USERS));
        }
        Ok(*self.0.entry(id).or_insert(next as u32))
    }
}

fn too_many(what: &str, most: usize) -> Error {
    Error::Setup(format!("the files have more than {most} {what}"))
}

/// Reads files of follows, and files of content, as an import would. Posts keep the order of the files; those that are
/// for no timeline are left out.
pub(super) fn read(graphs: &[PathBuf], posts: &[PathBuf], interrupt: &Interrupt) -> Result<(Graph, Vec<Post>)> {
    let (mut numbers, mut follows, mut listed) = (Numbers::default(), Vec::new(), Vec::new());
    for path in graphs {
        each_line(Table::Follows, path, interrupt, |line| {
            let Command::ImportFollows(line) = line else { return Ok(()) };
            if follows.len() >= Graph::MOST_FOLLOWS {
                return Err(too_many("follows", Graph::MOST_FOLLOWS));
            }
            let user = numbers.of(line.user)?;
            for (target, _) in line.follows {
                follows.push((user, numbers.of(target)?));
            }
            Ok(())
        })?;
    }
    for path in posts {
        each_line(Table::Content, path, interrupt, |line| {
            let Command::ImportItems(line) = line else { return Ok(()) };
            if listed.len() >= MOST_POSTS {
                return Err(too_many("posts", MOST_POSTS));
            }
            for new_item in line.new_items.into_iter().filter(|new_item| new_item.broadcast) {
                let length = new_item.text.map_or(0, |text| text.chars().count());
                let length = if length == 0 { Post::LENGTH } else { length.min(LONGEST) as u16 };
                listed.push(Post { author: numbers.of(new_item.author_id)?, length });
            }
            Ok(())
        })?;
    }
    if follows.is_empty() {
        return Err(Error::Setup("the files of --graph have no follows".to_owned()));
    }
    if !posts.is_empty() && listed.is_empty() {
        return Err(Error::Setup("the files of --posts have no posts for timelines".to_owned()));
    }
    let graph = Graph::new(numbers.0.len() as u32, follows);
    Ok((graph, listed))
}

//! What the files of a community lack: restrictions, a group, a list, requests to follow and a suspended user.

use super::Community;
use crate::prelude::*;
use feed::Command;

/// The changes, a line each, as commands. In place of an id stands the number of a user behind `@`, or the group, whose id
/// comes after those of all users.
const CHANGES: &str = include_str!("prepare.ndjson");
/// More users than the changes name.
const NAMED: u32 = 20;

/// Makes the changes, in order, up to the first one that names a user whom a small community does not have.
pub(super) fn prepare(feed: &Feed, community: &Community) -> Result<()> {
    let users = (0..community.users.min(NAMED)).map(|user| (user.to_string(), user as usize));
    let group = ("group".to_owned(), community.users as usize);
    let ids =
        users.chain([group]).map(|(name, user)| (format!("\"@{name}\""), json!(community.user(user)).to_string()));
    let ids: Vec<_> = ids.collect();
    let with_ids = |line: &str| ids.iter().fold(line.to_owned(), |line, (mark, id)| line.replace(mark, id));
    let lines = CHANGES.lines().map(with_ids).take_while(|line| !line.contains("\"@"));
    let changes = lines.map(|line| serde_json::from_str::<Command>(&line)).collect::<Result<_, _>>();
    let made = feed.import(changes.context("the changes of the demo")?)?;
    made.into_iter().try_for_each(|made| made.map(drop))
}

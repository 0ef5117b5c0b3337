//! `tideline check`: compares what is stored with what it should be, user by user.

mod barriers;
mod graph;
mod inbox;
mod outbox;

use super::progress::{Progress, Unit};
use super::{FAILURE, SUCCESS, drain, needs_data, print};
use crate::config::Config;
use crate::error::Result;
use crate::model::UserId;
use crate::server;
use crate::store::Store;

/// Users read at a time.
const USERS: usize = 1000;

/// Checks everything. Failure if anything disagrees.
pub(super) fn run(config: &Config) -> Result<i32> {
    needs_data(&config.storage.data_dir)?;
    let app = server::open(config)?;
    let mut findings = Findings::default();
    drain(app.feed());
    let walked = walk(app.feed().store(), &mut findings);
    let stopped = app.stop(config.server.shutdown_timeout.get());
    print(|out| findings.lines.iter().try_for_each(|line| writeln!(out, "{line}")))?;
    let users = walked?;
    stopped?;
    print(|out| writeln!(out, "{users} users checked, {} disagreements", findings.total))?;
    Ok(if findings.total == 0 { SUCCESS } else { FAILURE })
}

/// What disagrees.
#[derive(Debug, Default)]
struct Findings {
    /// The first of them, a line each.
    lines: Vec<String>,
    /// How many there are in all.
    total: u64,
}

impl Findings {
    const MOST_LINES: usize = 1000;

    fn add(&mut self, line: impl FnOnce() -> String) {
        self.total += 1;
        if self.lines.len() < Self::MOST_LINES {
            self.lines.push(line());
        }
    }
}

/// Checks all users and returns how many there are.
fn walk(store: &Store, findings: &mut Findings) -> Result<u64> {
    let mut total = 0;
    each_page(store, |users| {
        total += users.len() as u64;
        Ok(())
    })?;
    let progress = Progress::new("users", Some(total), Unit::Count("users"));
    let mut done = 0;
    each_page(store, |users| {
        for &user in users {
            let followees = graph::check(store, user, findings)?;
            inbox::check(store, user, &followees, findings)?;
            outbox::check(store, user, findings)?;
            barriers::check(store, user, findings)?;
            done += 1;
            progress.at(done, format_args!("{} disagreements", findings.total));
        }
        Ok(())
    })?;
    Ok(done)
}

fn each_page(store: &Store, mut visit: impl FnMut(&[UserId]) -> Result<()>) -> Result<()> {
    let mut after = None;
    loop {
        let users = store.users_after(after, USERS)?;
        let Some(last) = users.last() else { return Ok(()) };
        after = Some(*last);
        visit(&users)?;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn findings_are_counted_beyond_those_that_are_kept() {
        let mut findings = Findings::default();
        for n in 0..1500 {
            findings.add(|| n.to_string());
        }
        assert_eq!((findings.total, findings.lines.len()), (1500, 1000));
        assert_eq!(findings.lines[999], "999");
    }
}

//! `tideline check`: compares stored data with the expected data, inboxes user by user, the rest table by table.

mod inbox;

use std::collections::HashMap;

use super::drain::drain;
use super::stopped_server::each_user;
use crate::prelude::*;
use feed::check::Watch;
use kv::Tier;

/// Checks everything. Fails if anything differs, or if `stop` says so.
pub(crate) fn run(config: &Config, start_options: StartOptions, stop: &dyn Fn() -> bool) -> Result<i32> {
    kv::must_be_there(&config.storage.data_dir)?;
    let app = server::open(config, start_options)?;
    if !drain(&app, stop)? {
        return Err(interrupted());
    }
    let store = app.rest(config.server.shutdown_timeout.get())?;
    let mut findings = Findings::default();
    let checked = walk(&store, &mut findings, stop).and_then(|users| {
        let tables = store.usage()?.tables.into_iter().map(|stats| (stats.table, stats.rows)).collect();
        feed::check::audit(&store, &mut Tables { findings: &mut findings, stop, tables, progress: None })?;
        Ok(users)
    });
    print(|out| findings.lines.iter().try_for_each(|line| writeln!(out, "{line}")))?;
    let users = checked?;
    store.sync()?;
    print_line(format_args!("{users} users checked, {} disagreements", findings.total))?;
    Ok(if findings.total == 0 { SUCCESS } else { FAILURE })
}

/// Differences found.
#[derive(Debug, Default)]
struct Findings {
    /// The first differences, a line each.
    lines: Vec<String>,
    /// Total number.
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

fn interrupted() -> Error {
    Error::Setup("the check was interrupted".to_owned())
}

/// Shows the progress in each table.
struct Tables<'a> {
    findings: &'a mut Findings,
    stop: &'a dyn Fn() -> bool,
    /// Approximate number of rows of each table.
    tables: HashMap<&'static str, u64>,
    progress: Option<(&'static str, Progress)>,
}

impl Watch for Tables<'_> {
    fn finds(&mut self, line: String) {
        self.findings.add(|| line);
    }

    fn looked_at(&mut self, table: &'static str, rows: u64) -> Result<()> {
        if (self.stop)() {
            return Err(interrupted());
        }
        let begun = self.progress.take().filter(|(name, _)| *name == table);
        let begin = || (table, Progress::new(table, self.tables.get(table).copied(), Unit::Count("rows")));
        let (_, progress) = self.progress.insert(begun.unwrap_or_else(begin));
        progress.at(rows, format_args!("{} disagreements", self.findings.total));
        Ok(())
    }
}

/// Checks the inboxes of all users, and returns the number of users.
fn walk(store: &Store, findings: &mut Findings, stop: &dyn Fn() -> bool) -> Result<u64> {
    let mut total = 0;
    each_user(store, |_| {
        total += 1;
        Ok(())
    })?;
    let progress = Progress::new("users", Some(total), Unit::Count("users"));
    let mut done = 0;
    each_user(store, |user| {
        if stop() {
            return Err(interrupted());
        }
        let followees = feed::follows::tables::followees(store, user, Tier::Disk);
        match followees.and_then(|followees| inbox::check(store, user, &followees, findings)) {
            // An unreadable row does not end the check.
            Err(Error::Corrupt(what)) => {
                findings.add(|| format!("user {}: a row cannot be read: {what}", feed::ids::tables::shown(store, user)))
            }
            checked => checked?,
        }
        done += 1;
        progress.at(done, format_args!("{} disagreements", findings.total));
        Ok(())
    })?;
    Ok(done)
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

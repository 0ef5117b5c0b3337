//! `tideline check --against`: compares nodes of a cluster by the digests of their tables at one position of the command
//! log.

use std::collections::BTreeSet;

use hyper::Method;

use super::calls::{Access, Server};
use crate::cli::data::stopped_server::on_directory;
use crate::cli::terminal::table::{self, Column};
use crate::cli::terminal::units::time_limit;
use crate::prelude::*;
use cluster::Node;

const PATH: &str = "/v1/admin/cluster/digests";
/// The interval of looks at a comparison.
const LOOK_EVERY: Duration = Duration::from_millis(200);
/// Longest wait for one answer.
const ANSWER: Duration = Duration::from_secs(30);
/// The name of the own directory in the result.
const OWN: &str = "this directory";

/// The options of the command.
#[derive(Debug, Args)]
#[command(group(Access::only_with("against")))]
pub(crate) struct CheckArgs {
    /// Compare the tables of nodes of a cluster instead: those of the running nodes at the URLs. With one URL, that node is
    /// compared with the data directory, which joins the cluster of the settings for that time. Repeatable
    #[arg(long, value_name = "URL")]
    pub(crate) against: Vec<String>,
    #[command(flatten)]
    access: Access,
    /// Give up if a node has no digests after so long
    #[arg(long, value_name = "DURATION", default_value = "1h", value_parser = time_limit, requires = "against")]
    timeout: Duration,
}

/// The part of a node in a comparison, as the node tells it.
#[derive(Debug, Deserialize)]
#[serde(tag = "state", rename_all = "lowercase")]
enum Stage {
    Running,
    Failed { cause: String },
    Done(Digests),
}

/// The digests of one node.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
struct Digests {
    position: u64,
    tables: Vec<TableReport>,
}

#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
struct TableReport {
    table: String,
    rows: u64,
    digest: String,
}

impl Digests {
    fn of(&self, table: &str) -> Option<&TableReport> {
        self.tables.iter().find(|of| of.table == table)
    }
}

/// A node to compare.
enum Compares<'a> {
    /// The own directory.
    Own(&'a Node),
    Running(Server),
}

/// Compares. Fails if any table differs.
pub(crate) fn run(config: &Config, args: &CheckArgs) -> Result<i32> {
    let with_own = args.against.len() == 1;
    if with_own && !config.cluster.is_on() {
        return Err(Error::Setup(
            "one node is compared with nothing: name further ones with --against, or give the settings of a stopped node \
             with [cluster] and its directory"
                .to_owned(),
        ));
    }
    let named: BTreeSet<_> = args.against.iter().map(|url| url.trim_end_matches('/')).collect();
    if named.len() < args.against.len() {
        return Err(Error::Setup("--against: a URL is given twice, and a node is always equal to itself".to_owned()));
    }
    let server = |url: &String| args.access.server("--against", url, ANSWER);
    let servers = args.against.iter().map(server).collect::<Result<Vec<_>>>()?;
    if !with_own {
        return compare(None, servers, args.timeout);
    }
    // The directory may be a backup of a node that runs.
    let start_options = StartOptions { changes: true, unnamed: true, ..StartOptions::default() };
    on_directory(config, start_options, |app| compare(app.node().map(|node| &**node), servers, args.timeout))
}

fn compare(own: Option<&Node>, servers: Vec<Server>, timeout: Duration) -> Result<i32> {
    let until = Instant::now() + timeout;
    let Some(first) = servers.first() else { return Ok(SUCCESS) };
    let id: String = first.field(Method::POST, PATH, "id")?;
    let mut found: Vec<(String, Digests)> = Vec::new();
    for node in own.map(Compares::Own).into_iter().chain(servers.into_iter().map(Compares::Running)) {
        let position = found.first().map(|(_, digests)| digests.position);
        let digests = node.digests(&id, position, until)?;
        say(format_args!("{}: digests at position {}", node.name(), digests.position));
        if position.is_some_and(|position| position != digests.position) {
            return Err(Error::Setup(
                "the nodes took their digests at different positions: their logs differ".to_owned(),
            ));
        }
        found.push((node.name().to_owned(), digests));
    }
    found.sort_by(|(a, _), (b, _)| a.cmp(b));
    let differing = differing(&found);
    print(|out| report(out, &found, &differing))?;
    Ok(if differing.is_empty() { SUCCESS } else { FAILURE })
}

/// The tables that are not equal at all nodes.
fn differing(found: &[(String, Digests)]) -> Vec<&str> {
    let names: BTreeSet<&str> =
        found.iter().flat_map(|(_, digests)| &digests.tables).map(|of| of.table.as_str()).collect();
    let is_equal = |name: &str| found.windows(2).all(|two| two[0].1.of(name) == two[1].1.of(name));
    names.into_iter().filter(|name| !is_equal(name)).collect()
}

/// Writes a line for each node and differing table, then the result.
fn report(out: &mut dyn Write, found: &[(String, Digests)], differing: &[&str]) -> io::Result<()> {
    if !differing.is_empty() {
        let row = |table: &str, name: &str, digests: &Digests| match digests.of(table) {
            Some(of) => [table.to_owned(), name.to_owned(), of.rows.to_string(), of.digest.clone()],
            None => [table, name, "-", "no such table"].map(str::to_owned),
        };
        let rows = differing.iter().flat_map(|table| found.iter().map(|(name, digests)| row(table, name, digests)));
        let columns =
            [Column::Text("table", 19), Column::Text("node", 0), Column::Figure("rows", 11), Column::Text("digest", 0)];
        table::write(out, columns, rows)?;
    }
    let tables = found.iter().map(|(_, digests)| digests.tables.len()).max().unwrap_or_default();
    let position = found.first().map(|(_, digests)| digests.position).unwrap_or_default();
    match differing.len() {
        0 => writeln!(out, "{} nodes at position {position}: all {tables} tables are equal", found.len()),
        n => writeln!(out, "{} nodes at position {position}: {n} of {tables} tables differ", found.len()),
    }
}

impl Compares<'_> {
    fn name(&self) -> &str {
        match self {
            Self::Own(_) => OWN,
            Self::Running(server) => server.url(),
        }
    }

    /// Waits for the digests of the node. All nodes take them at one position of one log, if it is known.
    fn digests(&self, id: &str, position: Option<u64>, until: Instant) -> Result<Digests> {
        loop {
            match self.told(id)? {
                Some(Stage::Done(digests)) => return Ok(digests),
                Some(Stage::Failed { cause }) => return Err(failed(self.name(), &cause)),
                Some(Stage::Running) => {}
                None => {
                    if position.map_or(Ok(false), |position| self.has_passed(position))? && self.told(id)?.is_none() {
                        return Err(failed(
                            self.name(),
                            "it has passed the position of the others. It may have started again since, or follow \
                             another command log",
                        ));
                    }
                }
            }
            if Instant::now() >= until {
                return Err(Error::Setup(format!(
                    "no digests in time from {}. Is each a node of one cluster, and does it reach the command log? \
                     --timeout sets another limit",
                    self.name()
                )));
            }
            std::thread::sleep(LOOK_EVERY);
        }
    }

    /// Whether the node has applied a record after a position. It then knows the comparison that was asked for there, if it
    /// ever does.
    fn has_passed(&self, position: u64) -> Result<bool> {
        // This process knows its own comparisons until it ends.
        let Self::Running(server) = self else { return Ok(false) };
        Ok(server.field::<u64>(Method::GET, "/v1/admin/cluster", "position")? > position)
    }

    /// `None` if the node does not know the comparison.
    fn told(&self, id: &str) -> Result<Option<Stage>> {
        let node = match self {
            Self::Running(server) => match server.get(&format!("{PATH}/{id}")) {
                Err(fault) if fault.code() == "comparison_not_found" => return Ok(None),
                told => return Ok(Some(told?)),
            },
            Self::Own(node) => node,
        };
        let number = u64::from_str_radix(id, 16).map_err(|_| Error::Setup("a comparison without id".to_owned()))?;
        let told = node.comparison(number).map(|told| serde_json::from_value(http::comparison_body(id, told)));
        told.transpose().context("a comparison that cannot be read")
    }
}

fn failed(name: &str, why: &str) -> Error {
    Error::Setup(format!("{name} has no digests: {why}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn node(name: &str, tables: &[(&str, u64)]) -> (String, Digests) {
        let of = |(table, rows): &(&str, u64)| TableReport {
            table: (*table).to_owned(),
            rows: *rows,
            digest: format!("d{rows}"),
        };
        (name.to_owned(), Digests { position: 7, tables: tables.iter().map(of).collect() })
    }

    fn reported(found: &[(String, Digests)]) -> String {
        let mut out = Vec::new();
        report(&mut out, found, &differing(found)).expect("writes");
        String::from_utf8(out).expect("text")
    }

    #[test]
    fn tables_that_differ_are_shown_for_each_node() {
        let equal = [node("a", &[("x", 1), ("y", 2)]), node("b", &[("x", 1), ("y", 2)])];
        assert_eq!(reported(&equal), "2 nodes at position 7: all 2 tables are equal\n");
        let other = [node("a", &[("x", 1), ("y", 2)]), node("b", &[("x", 1), ("y", 3)]), node("c", &[("x", 1)])];
        assert_eq!(differing(&other), ["y"]);
        let expected = "\
table                node         rows  digest
y                    a               2  d2
y                    b               3  d3
y                    c               -  no such table
3 nodes at position 7: 1 of 2 tables differ
";
        assert_eq!(reported(&other), expected);
    }
}

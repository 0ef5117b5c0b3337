//! `tideline check --against`: compares nodes of a cluster by the digests of their tables at one position of the command
//! log.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{self, Write};
use std::path::PathBuf;
use std::time::{Duration, Instant};

use clap::Args;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use ureq::http::Response;
use ureq::{Agent, Body, RequestBuilder};

use crate::cli::remote::backup::patience;
use crate::cli::remote::calls;
use crate::cli::remote::tls::Trust;
use crate::cli::{FAILURE, SUCCESS, plain, print, say};
use crate::server;
use crate::server::Told;
use cluster::{Compared, Node};
use config::Config;
use model::error::{Error, Result};
use store::Rocks;

const PATH: &str = "/v1/admin/cluster/digests";
/// The interval of looks at a comparison.
const LOOK_EVERY: Duration = Duration::from_millis(200);
/// Longest wait for one answer.
const ANSWER: Duration = Duration::from_secs(30);
/// The name of the own directory in the result.
const OWN: &str = "this directory";

/// The options of the command.
#[derive(Debug, Args)]
pub(crate) struct CheckArgs {
    /// Compare the tables of nodes of a cluster instead: those of the running nodes at the URLs. With one URL, that node is
    /// compared with the data directory, which joins the cluster of the settings for that time. Repeatable
    #[arg(long, value_name = "URL")]
    pub(super) against: Vec<String>,
    /// Read the key of the nodes from FILE [default: the variable TIDELINE_KEY]
    #[arg(long, value_name = "FILE", requires = "against")]
    key_file: Option<PathBuf>,
    /// Trust the certificates in FILE (PEM), and those that they vouch for [default: the authorities of the system]
    #[arg(long, value_name = "FILE", requires = "against")]
    ca_file: Option<PathBuf>,
    /// Give up if a node has no digests after so long
    #[arg(long, value_name = "DURATION", default_value = "1h", value_parser = patience, requires = "against")]
    timeout: Duration,
}

/// The digests of one node.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Digests {
    position: u64,
    /// The number of rows, and the digest, by table.
    tables: BTreeMap<String, (u64, String)>,
}

/// The state of a comparison at a node that knows it.
enum Answered {
    Running,
    Done(Digests),
}

/// A node to compare.
enum Compares<'a> {
    /// The own directory.
    Own(&'a Node),
    Running(Box<Server>),
}

/// Compares. Fails if any table differs.
pub(super) fn run(config: &Config, args: &CheckArgs) -> Result<i32> {
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
    let servers = args.against.iter().map(|url| Server::new(url, args)).collect::<Result<Vec<_>>>()?;
    if !with_own {
        return compare(None, servers, args.timeout);
    }
    Rocks::must_be_there(&config.storage.data_dir)?;
    // The directory may be a backup of a node that runs.
    let told = Told { refuse_migration: true, changes: true, unnamed: true, ..Told::default() };
    let app = server::open_as_told(config, told)?;
    let compared = compare(app.node().map(|node| &**node), servers, args.timeout);
    app.stop(config.server.shutdown_timeout.get())?;
    compared
}

fn compare(own: Option<&Node>, servers: Vec<Server>, timeout: Duration) -> Result<i32> {
    let began = Instant::now();
    let Some(first) = servers.first() else { return Ok(SUCCESS) };
    let id = first.begin()?;
    let own = own.into_iter().map(Compares::Own);
    let mut waiting: Vec<_> =
        own.chain(servers.into_iter().map(|server| Compares::Running(Box::new(server)))).collect();
    let mut found = Vec::new();
    loop {
        let mut still = Vec::new();
        for node in waiting {
            match node.digests(&id)? {
                Some(Answered::Done(digests)) => {
                    say(format_args!("{}: digests at position {}", node.name(), digests.position));
                    found.push((node.name().to_owned(), digests));
                }
                Some(Answered::Running) => still.push(node),
                None => {
                    // All nodes take their digests at this position of one log.
                    let position = found.first().map(|(_, Digests { position, .. })| *position);
                    if position.map_or(Ok(false), |position| node.has_passed(position))? && node.digests(&id)?.is_none()
                    {
                        return Err(failed(
                            node.name(),
                            "it has passed the position of the others. It may have started again since, or follow \
                             another command log",
                        ));
                    }
                    still.push(node);
                }
            }
        }
        if still.is_empty() {
            break;
        }
        if began.elapsed() >= timeout {
            let names: Vec<_> = still.iter().map(Compares::name).collect();
            return Err(Error::Setup(format!(
                "no digests in time from {}. Is each a node of one cluster, and does it reach the command log? \
                 --timeout sets another limit",
                names.join(", ")
            )));
        }
        waiting = still;
        std::thread::sleep(LOOK_EVERY);
    }
    found.sort_by(|(a, _), (b, _)| a.cmp(b));
    let positions: BTreeSet<_> = found.iter().map(|(_, digests)| digests.position).collect();
    if positions.len() > 1 {
        return Err(Error::Setup("the nodes took their digests at different positions: their logs differ".to_owned()));
    }
    print(|out| report(out, &found))?;
    Ok(if differing(&found).is_empty() { SUCCESS } else { FAILURE })
}

/// The tables that are not equal at all nodes.
fn differing(found: &[(String, Digests)]) -> Vec<&str> {
    let names = found.iter().flat_map(|(_, digests)| digests.tables.keys());
    let names: BTreeSet<_> = names.collect();
    let is_equal = |name: &str| {
        let mut of_nodes = found.iter().map(|(_, digests)| digests.tables.get(name));
        let first = of_nodes.next();
        of_nodes.all(|other| Some(other) == first)
    };
    names.into_iter().map(String::as_str).filter(|name| !is_equal(name)).collect()
}

/// Writes a line for each node and differing table, then the result.
fn report(out: &mut dyn Write, found: &[(String, Digests)]) -> io::Result<()> {
    let differing = differing(found);
    let nodes = found.iter().map(|(name, _)| name.len()).max().unwrap_or_default().max("node".len());
    if !differing.is_empty() {
        writeln!(out, "{:<20} {:<nodes$} {:>12}  digest", "table", "node", "rows")?;
    }
    for table in &differing {
        for (name, digests) in found {
            match digests.tables.get(*table) {
                Some((rows, digest)) => writeln!(out, "{table:<20} {name:<nodes$} {rows:>12}  {digest}")?,
                None => writeln!(out, "{table:<20} {name:<nodes$} {:>12}  no such table", "-")?,
            }
        }
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
            Self::Running(server) => &server.url,
        }
    }

    /// Whether the node has applied a record after a position. It then knows the comparison that was asked for there, if it
    /// ever does.
    fn has_passed(&self, position: u64) -> Result<bool> {
        match self {
            Self::Running(server) => Ok(server.position()? > position),
            // This process knows its own comparisons until it ends.
            Self::Own(_) => Ok(false),
        }
    }

    /// The digests; `None` if the node does not know the comparison.
    fn digests(&self, id: &str) -> Result<Option<Answered>> {
        match self {
            Self::Running(server) => server.digests(id),
            Self::Own(node) => {
                let number =
                    u64::from_str_radix(id, 16).map_err(|_| Error::Setup("a comparison without id".to_owned()))?;
                let Some(comparison) = node.comparison(number) else { return Ok(None) };
                match comparison.state {
                    Compared::Running => Ok(Some(Answered::Running)),
                    Compared::Failed(why) => Err(failed(OWN, &why)),
                    Compared::Done(tables) => {
                        let of =
                            tables.iter().map(|of| (of.table.to_owned(), (of.rows, format!("{:032x}", of.digest))));
                        let digests = Digests { position: comparison.position, tables: of.collect() };
                        Ok(Some(Answered::Done(digests)))
                    }
                }
            }
        }
    }
}

fn failed(name: &str, why: &str) -> Error {
    Error::Setup(format!("{name} has no digests: {}", plain(why)))
}

/// A running node.
struct Server {
    agent: Agent,
    url: String,
    key: Option<String>,
}

#[derive(Deserialize)]
struct Begun {
    id: String,
}

#[derive(Deserialize)]
struct NodePosition {
    position: u64,
}

#[derive(Deserialize)]
struct NodeReport {
    position: u64,
    state: String,
    #[serde(default)]
    cause: String,
    tables: Vec<TableReport>,
}

#[derive(Deserialize)]
struct TableReport {
    table: String,
    rows: u64,
    digest: String,
}

#[derive(Deserialize)]
struct Problem {
    code: String,
    detail: String,
}

impl Server {
    fn new(url: &str, args: &CheckArgs) -> Result<Self> {
        let url = calls::address("--against", url)?;
        let key = calls::key(args.key_file.as_deref())?;
        let trust = args.ca_file.as_deref().map_or(Trust::System, Trust::File);
        let agent = calls::agent(&url, trust, calls::settings().timeout_global(Some(ANSWER)))?;
        Ok(Self { agent, url, key })
    }

    fn asking<B>(&self, request: RequestBuilder<B>) -> RequestBuilder<B> {
        calls::with_key(request, self.key.as_deref())
    }

    /// Asks for a comparison, and returns its id.
    fn begin(&self) -> Result<String> {
        let request = self.asking(self.agent.post(format!("{}{PATH}", self.url)));
        let answer = self.read::<Begun>(request.send_empty())?;
        let Begun { id } = answer.map_err(|problem| self.refused(&problem))?;
        let is_id = id.len() == 16 && id.bytes().all(|b| b.is_ascii_hexdigit());
        if is_id { Ok(id) } else { Err(failed(&self.url, "its answer has no id")) }
    }

    /// The place of the node in the log.
    fn position(&self) -> Result<u64> {
        let request = self.asking(self.agent.get(format!("{}/v1/admin/cluster", self.url)));
        let answer = self.read::<NodePosition>(request.call())?;
        answer.map(|NodePosition { position }| position).map_err(|problem| self.refused(&problem))
    }

    /// The digests of a comparison; `None` if the node does not know it.
    fn digests(&self, id: &str) -> Result<Option<Answered>> {
        let request = self.asking(self.agent.get(format!("{}{PATH}/{id}", self.url)));
        let NodeReport { position, state, cause, tables } = match self.read::<NodeReport>(request.call())? {
            Ok(shown) => shown,
            Err(problem) if problem.code == "comparison_not_found" => return Ok(None),
            Err(problem) => return Err(self.refused(&problem)),
        };
        match &*state {
            "running" => Ok(Some(Answered::Running)),
            "done" => {
                let of = tables.into_iter().map(|of| (plain(&of.table), (of.rows, plain(&of.digest))));
                Ok(Some(Answered::Done(Digests { position, tables: of.collect() })))
            }
            _ => Err(failed(&self.url, &cause)),
        }
    }

    /// A good answer, or the problem in it.
    fn read<T: DeserializeOwned>(
        &self,
        answer: Result<Response<Body>, ureq::Error>,
    ) -> Result<std::result::Result<T, Problem>> {
        let unreached = |e| Error::Setup(format!("cannot reach {}: {}", self.url, calls::unreached(&self.url, &e)));
        let mut answer = answer.map_err(unreached)?;
        let is_good = answer.status().is_success();
        let text = answer.body_mut().read_to_string().map_err(unreached)?;
        let unknown = |_| Error::Setup(format!("{} answered {}: no node answers there", self.url, answer.status()));
        match is_good {
            true => serde_json::from_str(&text).map(Ok).map_err(unknown),
            false => serde_json::from_str(&text).map(Err).map_err(unknown),
        }
    }

    fn refused(&self, Problem { code, detail }: &Problem) -> Error {
        Error::Setup(format!("{} answered {}", self.url, plain(&format!("{code}: {detail}"))))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn node(name: &str, tables: &[(&str, u64)]) -> (String, Digests) {
        let tables = tables.iter().map(|(table, rows)| ((*table).to_owned(), (*rows, format!("d{rows}"))));
        (name.to_owned(), Digests { position: 7, tables: tables.collect() })
    }

    fn reported(found: &[(String, Digests)]) -> String {
        let mut out = Vec::new();
        report(&mut out, found).expect("writes");
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

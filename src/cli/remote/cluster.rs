//! `tideline cluster`: begins a cluster, shows its nodes, changes what they share, and takes a directory out of it.

use clap::Subcommand;

use super::calls::{Access, Cause};
use crate::cli::data::stopped_server::on_directory;
use crate::cli::terminal::table::{self, Column};
use crate::cli::{Nothing, With};
use crate::prelude::*;
use cluster::{Founded, LEVEL, LogMembership};
use config::Member;

/// Longest wait for the answer of one node.
const TIMEOUT: Duration = Duration::from_secs(5);

#[derive(Debug, Subcommand)]
pub(crate) enum ClusterCommand {
    /// Make the topic of the command log and begin it, with the data of the directory if it has any; name the directory
    /// of the server, which must be stopped
    Init(With<Nothing>),
    /// Show all members: their place in the command log and their lag; exit code 1 if one is not ready. The key of the
    /// nodes is in the variable TIDELINE_KEY
    Status(With<StatusArgs>),
    /// Let all nodes take over those of these settings that config.toml says they share; the nodes stop for that, and must
    /// be started again. The key of the nodes is in the variable TIDELINE_KEY
    Agree(With<Asking>),
    /// After an upgrade of all nodes: allow the kinds of changes that are new in this version. The key of the nodes is
    /// in the variable TIDELINE_KEY
    Upgrade(With<Asking>),
    /// Begin another command log with the data of a node, in a new cluster.topic; all other nodes then start from a backup
    /// of it. Name the directory of the server, which must be stopped
    Recover(With<RecoverArgs>),
    /// Take a data directory out of its cluster, so that its server serves alone; the server must be stopped
    Leave(With<Nothing>),
}

#[derive(Debug, Args)]
pub(crate) struct RecoverArgs {
    /// Only tell how far the directory has applied its command log; needs no brokers
    #[arg(long)]
    check: bool,
}

#[derive(Debug, Args)]
pub(crate) struct StatusArgs {
    /// Print as JSON
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    asking: Asking,
}

/// How the members are asked.
#[derive(Debug, Args)]
pub(crate) struct Asking {
    /// Trust the certificates in FILE (PEM), and those that they vouch for [default: the authorities of the system]
    #[arg(long, value_name = "FILE")]
    ca_file: Option<PathBuf>,
}

pub(crate) fn run(command: ClusterCommand) -> Result<i32> {
    match command {
        ClusterCommand::Init(with) => with.run(|config, _| init(config)),
        ClusterCommand::Status(with) => return with.run(status),
        ClusterCommand::Agree(with) => with.run(agree),
        ClusterCommand::Upgrade(with) => with.run(upgrade),
        ClusterCommand::Recover(with) => with.run(recover),
        ClusterCommand::Leave(with) => with.run(|config, _| leave(config)),
    }
    .map(|()| SUCCESS)
}

fn must_be_set(config: &Config) -> Result<()> {
    if config.cluster.is_on() {
        return Ok(());
    }
    Err(Error::Setup("cluster.brokers: this command needs the settings of a cluster".to_owned()))
}

fn init(config: &Config) -> Result<()> {
    must_be_set(config)?;
    // An empty directory, or none, has no part in the beginning.
    let (made, founded) = match kv::must_be_there(&config.storage.data_dir) {
        Err(_) => begin(config, None)?,
        Ok(()) => on_feed(config, |feed| begin(config, Some(feed)))?,
    };
    let (topic, log) = (&config.cluster.topic, &founded.log);
    print(|out| {
        if made {
            writeln!(out, "the topic \"{topic}\" is made")?;
        }
        match (founded.is_new, founded.has_base) {
            (false, _) => writeln!(out, "the command log {log} has begun already; nothing has changed"),
            (true, false) => writeln!(out, "the command log {log} has begun; nodes start with empty directories"),
            (true, true) => writeln!(
                out,
                "the command log {log} has begun with the data of this directory; all other nodes start from a backup \
                 of it"
            ),
        }
    })
}

/// Makes the topic unless it is there, and begins the log in it. Tells whether the topic is new.
fn begin(config: &Config, feed: Option<&Feed>) -> Result<(bool, Founded)> {
    // Before a topic is made for it.
    feed.map_or(Ok(()), |feed| LogMembership::must_be_none(feed.store()))?;
    let made = cluster::make_topic(&config.cluster)?;
    let log = cluster::connect(&config.cluster)?;
    Ok((made, LogMembership::found(&*log, feed, config.agreed())?))
}

/// All members, which must answer.
fn all(config: &Config, asking: &Asking) -> Result<Vec<NodeReport>> {
    let refused = |member: &Member, why: String| Error::Setup(format!("{}: {why}", member.name));
    // The first one that does not answer ends it.
    let nodes: Vec<_> =
        asking.all(config)?.map(|(member, told)| told.map_err(|why| refused(member, why))).collect::<Result<_>>()?;
    match strangers(&nodes) {
        Some(why) => Err(Error::Setup(why)),
        None => Ok(nodes),
    }
}

/// The complaint about nodes that follow different logs, if there are any.
fn strangers<'a>(nodes: impl IntoIterator<Item = &'a NodeReport>) -> Option<String> {
    let mut nodes = nodes.into_iter();
    let NodeReport { node: first, log, .. } = nodes.next()?;
    let NodeReport { node, log: other, .. } = nodes.find(|node| node.log != *log)?;
    Some(format!(
        "{first} follows the command log {log}, and {node} the log {other}: they are nodes of different clusters"
    ))
}

fn agree(config: &Config, asking: &Asking) -> Result<()> {
    let nodes = all(config, asking)?;
    let Some(NodeReport { log, level, .. }) = nodes.first() else { return Ok(()) };
    let topic = cluster::connect(&config.cluster)?;
    let offset = LogMembership::announce(&*topic, log, *level, Some(config.agreed()))?;
    print_line(format_args!(
        "the settings are in the command log, at offset {offset}; nodes that had others stop, and take them over at \
             their next start"
    ))
}

fn upgrade(config: &Config, asking: &Asking) -> Result<()> {
    let nodes = all(config, asking)?;
    let Some(NodeReport { log, level, .. }) = nodes.first() else { return Ok(()) };
    if *level >= LEVEL {
        return print_line(format_args!("level {level} is in force already; nothing has changed"));
    }
    let behind = config.cluster.members.iter().zip(&nodes).find(|(_, node)| node.newest_level < LEVEL);
    if let Some((member, node)) = behind {
        return Err(Error::Setup(format!(
            "{} reads only level {} of the command log: update all nodes first",
            member.name, node.newest_level
        )));
    }
    let topic = cluster::connect(&config.cluster)?;
    let offset = LogMembership::announce(&*topic, log, LEVEL, None)?;
    print_line(format_args!("level {LEVEL} is in force from offset {offset} of the command log on"))
}

/// The result of `work` on the feed of a stopped server.
fn on_feed<T>(config: &Config, work: impl FnOnce(&Feed) -> Result<T>) -> Result<T> {
    on_directory(config, StartOptions::default(), |app| work(app.feed()))
}

fn recover(config: &Config, args: &RecoverArgs) -> Result<()> {
    if args.check {
        let (log, position) = on_feed(config, |feed| LogMembership::place(feed.store()))?;
        return print_line(format_args!("this directory has the position {position} of the command log {log}"));
    }
    must_be_set(config)?;
    cluster::make_topic(&config.cluster)?;
    let log = cluster::connect(&config.cluster)?;
    let founded = on_feed(config, |feed| LogMembership::recover(&*log, feed))?;
    let (topic, log) = (&config.cluster.topic, &founded.log);
    print_line(format_args!(
        "the command log {log} has begun in the topic \"{topic}\" with the data of this directory; all other nodes \
             start from a backup of it"
    ))
}

fn leave(config: &Config) -> Result<()> {
    let is_node = on_feed(config, |feed| {
        let store = &**feed.store();
        let is_node = LogMembership::of(store)?.is_some();
        if is_node { LogMembership::leave(store).map(|()| true) } else { Ok(false) }
    })?;
    print(|out| match is_node {
        true => writeln!(out, "this directory is no node any more; remove [cluster] from its settings"),
        false => writeln!(out, "this directory is not that of a node; nothing has changed"),
    })
}

/// The part of a node's description of itself that is shown.
#[derive(Debug, Deserialize, Serialize)]
struct NodeReport {
    node: String,
    log: String,
    position: u64,
    lag: Option<u64>,
    reachable: bool,
    ready: bool,
    slow: bool,
    caught_up: bool,
    waiting: u64,
    level: u32,
    newest_level: u32,
    incarnation: Option<u64>,
}

/// The state of a node without a problem.
const READY: &str = "ready";

impl NodeReport {
    /// The state of the node in words.
    fn state(&self) -> &'static str {
        match self {
            // Without a lag, the log did not tell its end just now.
            Self { reachable: false, .. } | Self { lag: None, .. } => "cannot reach the command log",
            Self { caught_up: false, .. } => "catches up",
            Self { ready: false, .. } => "takes no changes",
            Self { slow: true, .. } => "is slow",
            _ => READY,
        }
    }
}

/// A member, and its answer or the reason why there is none.
type Asked<'m> = (&'m Member, Result<NodeReport, String>);

fn status(config: &Config, args: &StatusArgs) -> Result<i32> {
    let asked: Vec<_> = args.asking.all(config)?.collect();
    print(|out| if args.json { json(out, &asked) } else { table(out, &asked) })?;
    let mut nodes = asked.iter().filter_map(|(_, told)| told.as_ref().ok());
    let problems = asked.iter().filter_map(|(member, told)| Some(format!("{}: {}", member.name, told.as_ref().err()?)));
    let problems: Vec<_> = problems.chain(strangers(nodes.clone())).collect();
    problems.iter().for_each(say);
    let is_well = problems.is_empty() && nodes.all(|node| node.state() == READY);
    Ok(if is_well { SUCCESS } else { FAILURE })
}

impl Asking {
    fn all<'m>(&self, config: &'m Config) -> Result<impl Iterator<Item = Asked<'m>>> {
        must_be_set(config)?;
        Ok(config.cluster.members.iter().map(|member| (member, self.ask(member))))
    }

    fn ask(&self, member: &Member) -> Result<NodeReport, String> {
        let access = Access { key_file: None, ca_file: self.ca_file.clone() };
        let server = access.server("cluster.members", &member.url, TIMEOUT).map_err(|e| e.to_string())?;
        let told = server.get::<NodeReport>("/v1/admin/cluster");
        let shown = told.map_err(|fault| match fault.cause {
            Cause::Unreached(why) => why,
            Cause::Refused(status, problem) => format!("{status} {}", problem.detail),
            Cause::Unreadable(_) => "it is not a node of this cluster".to_owned(),
        })?;
        if shown.node != member.name.as_str() {
            return Err(format!("{} is the address of the node {}", member.url, shown.node));
        }
        Ok(shown)
    }
}

fn table(out: &mut dyn Write, asked: &[Asked<'_>]) -> io::Result<()> {
    use Column::{Figure, Text};
    let known = |number: Option<u64>| number.map_or_else(|| "?".to_owned(), |number| number.to_string());
    let rows = asked.iter().map(|(member, asked)| {
        let name = member.name.to_string();
        let Ok(node) = asked else { return [&name, "-", "-", "-", "-", "does not answer"].map(str::to_owned) };
        let NodeReport { incarnation, position, lag, waiting, .. } = node;
        let [position, waiting] = [position, waiting].map(u64::to_string);
        [name, known(*incarnation), position, known(*lag), waiting, node.state().to_owned()]
    });
    let columns = [
        Text("node", 0),
        Figure("since", 12),
        Figure("position", 12),
        Figure("lag", 8),
        Figure("waiting", 8),
        Text("state", 0),
    ];
    table::write(out, columns, rows)
}

fn json(out: &mut dyn Write, asked: &[Asked<'_>]) -> io::Result<()> {
    let item = |(member, asked): &Asked<'_>| {
        let (node, problem) = (asked.as_ref().ok(), asked.as_ref().err());
        serde_json::json!({"name": member.name, "url": member.url, "node": node, "problem": problem})
    };
    let items: Vec<_> = asked.iter().map(item).collect();
    writeln!(out, "{}", serde_json::json!({ "items": items }))
}

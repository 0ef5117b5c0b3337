//! The commands of the `tideline` program.

mod bench;
mod data;
mod demo;
mod graph;
mod remote;
mod standby;
pub(crate) mod terminal;

use std::fmt::Display;
use std::io::{self, Write};
use std::net::SocketAddr;
use std::path::PathBuf;

use clap::{Args, CommandFactory, Parser, Subcommand};

use self::terminal::logging;
use crate::server;
use crate::server::StartOptions;
use config::Config;
use http::description;
use model::error::{Error, Result};
use model::private_files;

/// A self-hosted timeline-feed server: exact home timelines, one binary, one data directory. It serves alone, or as a
/// node of a cluster.
#[derive(Debug, Parser)]
#[command(name = "tideline", version, max_term_width = 100)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

/// The arguments of every command on a data directory, and the arguments of the command itself.
#[derive(Debug, Args)]
struct With<T: Args> {
    /// Read the settings from FILE [default: no file]
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,
    /// The directory of all data; overrides storage.data_dir
    #[arg(long, value_name = "DIR")]
    data_dir: Option<PathBuf>,
    #[command(flatten)]
    own: T,
}

/// No arguments of its own.
#[derive(Debug, Args)]
struct Nothing {}

#[derive(Debug, Subcommand)]
enum Command {
    /// Run the server
    Serve(With<ServeArgs>),
    /// Import the data of an application from files
    Import(With<data::import::ImportArgs>),
    /// Write the files that an import reads, from the data directory of a stopped server or from a backup
    Export(With<data::export::ExportArgs>),
    /// Take a backup of a running server or of a data directory, and verify it
    Backup(With<remote::backup::BackupArgs>),
    /// Make a data directory of a backup, and check it
    Restore(With<data::restore::RestoreArgs>),
    /// Follow a running server with a copy of its data, ready to take over
    Standby(With<standby::StandbyArgs>),
    /// Make a standby a server of its own, which takes over
    Promote(With<standby::promote::PromoteArgs>),
    /// Print the settings in force
    Config(With<Nothing>),
    /// Print the size of each table and the number of waiting jobs
    Stats(With<data::stats::StatsArgs>),
    /// Check that all inboxes, tables and counts agree, or that nodes of a cluster do
    Check(With<remote::compare::CheckArgs>),
    /// Rewrite all tables: trim inboxes, purge old deletions, remove rows below floors; then print the sizes
    Compact(With<Nothing>),
    /// Let the times of a data directory go on from the clock, after a clock that was far ahead has dated changes; the
    /// server must be stopped
    Retime(With<Nothing>),
    /// Make a key for clients, or the hash of a key
    #[command(subcommand)]
    Key(terminal::key::KeyCommand),
    /// Begin a cluster, show its nodes, change what they share, or take a directory out of it
    #[command(subcommand)]
    Cluster(remote::cluster::ClusterCommand),
    /// Print the OpenAPI 3.1 document of the API
    Openapi(OpenapiArgs),
    /// Serve a fictional community for trials, or write its files
    Demo(demo::DemoArgs),
    /// Ask a running server whether it takes requests: exit code 0 if it does, 1 otherwise
    Health(remote::health::HealthArgs),
    /// Measure how many operations a server keeps up with, and how long they take
    Bench(bench::BenchArgs),
    /// Print the completions of a shell
    Completions(terminal::generate::CompletionsArgs),
    /// Print the manual page of the program, or write the pages of all commands
    Man(terminal::generate::ManArgs),
}

#[derive(Debug, Args)]
struct ServeArgs {
    /// Address and port to listen on; overrides server.listen
    #[arg(long, value_name = "ADDR", value_parser = config::address)]
    listen: Option<SocketAddr>,
    /// Allow a listen address other than loopback without keys: every client that reaches it can read and change all data
    #[arg(long)]
    insecure: bool,
    /// Start with a damaged write-ahead log; the acknowledged changes after the damage are lost
    #[arg(long)]
    accept_log_loss: bool,
}

#[derive(Debug, Args)]
struct OpenapiArgs {
    /// The address at which clients reach the server; generated clients have it as their default
    #[arg(long, value_name = "URL", default_value = "http://127.0.0.1:8080")]
    url: String,
}

/// Exit codes.
pub(crate) const SUCCESS: i32 = 0;
pub(crate) const FAILURE: i32 = 1;

/// Runs the program. Exit code 0 for success, 1 for failure, 2 for wrong usage.
pub fn main() -> ! {
    let code = {
        #[cfg(feature = "failpoints")]
        let _armed = model::failpoint::Armed::default();
        run(Cli::parse()).unwrap_or_else(|error| {
            let is_damage = matches!(error, Error::Corrupt(_));
            let advice = if is_damage { ". Make a copy of the directory, then restore a backup." } else { "" };
            say(format_args!("tideline: {}{advice}", one_line(&error.to_string())));
            FAILURE
        })
    };
    leave(code)
}

/// Ends the process without destroying the engine's global state: a request that did not end in time may still use it,
/// and all data is on disk.
fn leave(code: i32) -> ! {
    // A failure cannot be reported any more.
    let _ = io::stdout().flush();
    signal_hook::low_level::exit(code)
}

fn run(cli: Cli) -> Result<i32> {
    match cli.command {
        Command::Demo(args) => demo::run(&args),
        Command::Health(args) => remote::health::run(&args),
        Command::Bench(args) => bench::run(&args),
        Command::Completions(args) => terminal::generate::completions(Cli::command(), &args),
        Command::Man(args) => terminal::generate::man(Cli::command(), &args),
        Command::Key(command) => terminal::key::run(&command),
        Command::Openapi(args) => {
            remote::calls::address("--url", &args.url).and_then(|url| description(&url)).and_then(print_line)
        }
        Command::Config(with) => {
            let (config, Nothing {}) = with.settings()?;
            let text = config.to_toml()?;
            print(|out| out.write_all(text.as_bytes()))
        }
        Command::Serve(with) => {
            let file = with.config.clone();
            with.run(|config, args| {
                let mut config = config.clone();
                config.server.listen = args.listen.unwrap_or(config.server.listen);
                config.auth.insecure |= args.insecure;
                let start_options = StartOptions {
                    accept_log_loss: args.accept_log_loss,
                    changes: true,
                    has_standbys: true,
                    ..StartOptions::default()
                };
                server::run(&config, start_options, file, |_, _| Ok(()))
            })
        }
        Command::Import(with) => with.run(data::import::run),
        Command::Export(with) => with.run(data::export::run),
        Command::Stats(with) => with.run(data::stats::run),
        Command::Backup(with) => return with.run(remote::backup::run),
        Command::Restore(with) => return with.run(data::restore::run),
        Command::Standby(with) => {
            let file = with.config.clone();
            with.run(|config, args| standby::run(config, args, file))
        }
        Command::Promote(with) => with.run(standby::promote::run),
        Command::Cluster(command) => return remote::cluster::run(command),
        Command::Check(with) => {
            return with.run(|config, args| match args.against.is_empty() {
                true => data::check::run(config, StartOptions::default(), &|| false),
                false => remote::compare::run(config, args),
            });
        }
        Command::Compact(with) => with.run(|config, Nothing {}| data::compact::run(config)),
        Command::Retime(with) => with.run(|config, Nothing {}| data::retime::run(config)),
    }
    .map(|()| SUCCESS)
}

impl<T: Args> With<T> {
    /// The settings in force, and the arguments of the command.
    fn settings(self) -> Result<(Config, T)> {
        let mut config = Config::load(self.config.as_deref())?;
        if let Some(dir) = self.data_dir {
            config.storage.data_dir = dir;
            config.validate()?;
        }
        logging::check(&config.log)?;
        Ok((config, self.own))
    }

    /// Runs a command that may make files of the data directory, with a log.
    fn run<R>(self, command: impl FnOnce(&Config, &T) -> Result<R>) -> Result<R> {
        let (config, own) = self.settings()?;
        private_files::from_now_on();
        logging::init(&config.log)?;
        command(&config, &own)
    }
}

/// A message as one line, without excerpts from a file.
fn one_line(message: &str) -> String {
    let is_excerpt = |line: &&str| line.trim_start_matches(|c: char| c.is_ascii_digit()).trim_start().starts_with('|');
    let lines: Vec<_> = message.lines().map(str::trim).filter(|line| !line.is_empty() && !is_excerpt(line)).collect();
    lines.join(": ")
}

/// A text, perhaps of another machine, for a terminal: control characters are escaped.
fn plain(text: &str) -> String {
    text.chars().map(|c| if c.is_control() { c.escape_default().to_string() } else { c.to_string() }).collect()
}

/// Writes to stdout. A closed pipe is not an error.
pub(crate) fn print(write: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> Result<()> {
    let mut out = io::BufWriter::new(io::stdout().lock());
    match write(&mut out).and_then(|()| out.flush()) {
        Err(e) if e.kind() != io::ErrorKind::BrokenPipe => Err(Error::Setup(format!("cannot write to stdout: {e}"))),
        _ => Ok(()),
    }
}

/// Writes one line to stdout.
pub(crate) fn print_line(line: impl Display) -> Result<()> {
    print(|out| writeln!(out, "{line}"))
}

/// Writes lines to stderr. A failure cannot be reported.
pub(crate) fn say(lines: impl Display) {
    lines.to_string().split('\n').for_each(|line| drop(writeln!(io::stderr(), "{}", plain(line))));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_become_one_line() {
        assert_eq!(one_line("cannot read x: 5 | 6"), "cannot read x: 5 | 6");
        assert_eq!(
            one_line("error at line 12\n   |\n12 | x = [\n   |     ^\nunclosed array\n"),
            "error at line 12: unclosed array"
        );
    }

    #[test]
    fn texts_of_other_machines_command_no_terminal() {
        assert_eq!(plain("a\u{1b}]0;x\u{7}\n\u{9b}é"), "a\\u{1b}]0;x\\u{7}\\n\\u{9b}é");
    }

    #[test]
    fn the_command_line_is_well_formed() {
        Cli::command().debug_assert();
    }
}

//! The commands of the `tideline` program.

mod check;
mod compact;
mod demo;
mod import;
mod logging;
mod progress;
mod stats;

use std::fmt::Display;
use std::io::{self, Write};
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

use clap::{Args, Parser, Subcommand};

use self::progress::{Progress, Unit};
use crate::config::Config;
use crate::error::{Error, Result};
use crate::feed::Feed;
use crate::server;

/// A self-hosted timeline-feed server.
#[derive(Debug, Parser)]
#[command(name = "tideline", version, about, max_term_width = 100)]
struct Cli {
    #[command(flatten)]
    global: Global,
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Args)]
struct Global {
    /// Read settings from FILE; without it no file is read
    #[arg(long, global = true, value_name = "FILE")]
    config: Option<PathBuf>,
    /// Keep everything in DIR; overrides storage.data_dir
    #[arg(long, global = true, value_name = "DIR")]
    data_dir: Option<PathBuf>,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Run the server
    Serve(ServeArgs),
    /// Take follows and content from files
    Import(import::ImportArgs),
    /// Print the effective settings
    Config,
    /// Print how much is stored
    Stats(stats::StatsArgs),
    /// Compare every inbox and the follow graph with what they should be
    Check,
    /// Rewrite all tables: trim inboxes, drop what is deleted or below a floor, and say what is left
    Compact,
    /// Write a made-up follow graph and posts, for import
    Demo(demo::DemoArgs),
}

#[derive(Debug, Args)]
struct ServeArgs {
    /// Address and port to listen on; overrides server.listen
    #[arg(long, value_name = "ADDR")]
    listen: Option<SocketAddr>,
    /// Serve other addresses than loopback although anybody who reaches them may do anything
    #[arg(long)]
    insecure: bool,
}

/// Runs the program. Exit code 0 for success, 1 for failure, 2 for wrong usage.
pub fn main() -> ExitCode {
    match run(Cli::parse()) {
        Ok(code) => code,
        Err(error) => {
            say(format_args!("tideline: {}", one_line(&error.to_string())));
            ExitCode::FAILURE
        }
    }
}

fn run(cli: Cli) -> Result<ExitCode> {
    if let Command::Demo(args) = cli.command {
        return demo::run(&args).map(|()| ExitCode::SUCCESS);
    }
    let mut config = Config::load(cli.global.config.as_deref())?;
    if let Some(dir) = cli.global.data_dir {
        config.storage.data_dir = dir;
        config.validate()?;
    }
    logging::check(&config.log)?;
    if let Command::Config = cli.command {
        let text = config.to_toml()?;
        return print(|out| out.write_all(text.as_bytes())).map(|()| ExitCode::SUCCESS);
    }
    logging::init(&config.log)?;
    match cli.command {
        Command::Serve(args) => {
            config.server.listen = args.listen.unwrap_or(config.server.listen);
            config.auth.insecure |= args.insecure;
            server::run(config)?;
        }
        Command::Import(args) => import::run(config, &args)?,
        Command::Stats(args) => stats::run(&config, &args)?,
        Command::Check => return check::run(&config),
        Command::Compact => compact::run(&config)?,
        Command::Config | Command::Demo(_) => {}
    }
    Ok(ExitCode::SUCCESS)
}

/// Waits until no job is left, and shows how many are.
fn drain(feed: &Feed) {
    const LOOK_EVERY: Duration = Duration::from_millis(50);
    let total = feed.backlog().len() as u64;
    let progress = Progress::new("jobs", Some(total), Unit::Count("jobs"));
    loop {
        if feed.backlog().wait_until_empty(LOOK_EVERY) {
            return;
        }
        let done = total.saturating_sub(feed.backlog().len() as u64);
        progress.at(done, format_args!("{}/s", progress.rate(done)));
    }
}

/// Refuses a directory that holds no data, instead of making one.
fn needs_data(dir: &Path) -> Result<()> {
    if dir.join("FORMAT").exists() || dir.join("db").exists() {
        return Ok(());
    }
    Err(Error::Setup(format!("there is no data directory at {}", dir.display())))
}

/// A message as one line, without the excerpts from a file that some carry below one another.
fn one_line(message: &str) -> String {
    let is_excerpt = |line: &&str| line.trim_start_matches(|c: char| c.is_ascii_digit()).trim_start().starts_with('|');
    let lines: Vec<_> = message.lines().map(str::trim).filter(|line| !line.is_empty() && !is_excerpt(line)).collect();
    lines.join(": ")
}

/// Writes to stdout. That the reader has had enough is no error.
fn print(write: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> Result<()> {
    let mut out = io::BufWriter::new(io::stdout().lock());
    match write(&mut out).and_then(|()| out.flush()) {
        Err(e) if e.kind() != io::ErrorKind::BrokenPipe => Err(Error::Setup(format!("cannot write to stdout: {e}"))),
        _ => Ok(()),
    }
}

/// Writes one line to stderr; when that is gone, nobody can be told.
fn say(line: impl Display) {
    let _ = writeln!(io::stderr(), "{line}");
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
    fn the_command_line_is_well_formed() {
        <Cli as clap::CommandFactory>::command().debug_assert();
    }
}

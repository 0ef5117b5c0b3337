//! `tideline migrate`: takes a data directory of an earlier version to the present format.

use clap::Args;

use crate::cli::print_line;
use crate::server;
use config::Config;
use model::error::{Error, Result};
use store::{FORMAT, Rocks};

/// Whether to migrate.
#[derive(Debug, Args)]
pub(crate) struct MigrateArgs {
    /// Print the steps, the rows to read and the free space that they need; change nothing
    #[arg(long)]
    check: bool,
}

pub(crate) fn run(config: &Config, args: &MigrateArgs) -> Result<()> {
    Rocks::must_be_there(&config.storage.data_dir)?;
    let options = server::options(config);
    let Some(plan) = Rocks::migration(&options)? else {
        return print_line(format_args!("the directory has format {FORMAT}; nothing to do"));
    };
    if args.check {
        print_line(&plan)?;
        let short = || Error::Setup("there is not enough free space for the migration".to_owned());
        return if plan.has_room() { Ok(()) } else { Err(short()) };
    }
    drop(Rocks::open(&options)?);
    print_line(format_args!("the directory has format {FORMAT} now"))
}

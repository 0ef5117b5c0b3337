//! `tideline promote`: makes a standby a server of its own.

use hyper::Method;

use super::origin::is_ready;
use crate::cli::remote::calls::Access;
use crate::prelude::*;
use kv::StandbyDirectory;

/// A connection, and the answer, may take so long: the standby waits for the last row of its server.
const TIME_LIMIT: Duration = Duration::from_secs(120);
/// How long the new server may take to begin to serve.
const START: Duration = Duration::from_secs(300);
const LOOK_EVERY: Duration = Duration::from_millis(100);

/// The options of the command.
#[derive(Debug, Args)]
#[command(group(Access::only_with("url")))]
pub(crate) struct PromoteArgs {
    /// The address of a running standby, which then serves; without it, the data directory of a stopped standby is promoted
    #[arg(long, value_name = "URL")]
    url: Option<String>,
    /// First let the server hand over: it stops taking changes, and the standby takes over when it has all of them, so that
    /// nothing is lost
    #[arg(long, requires = "url")]
    switch: bool,
    /// Take over also while the server still answers: it and the standby then go different ways
    #[arg(long, requires = "url", conflicts_with = "switch")]
    force: bool,
    /// Take over also if the standby is known to lack changes of its server: these are lost
    #[arg(long, conflicts_with = "switch")]
    accept_loss: bool,
    #[command(flatten)]
    access: Access,
}

/// Promotes a standby, and waits until it serves.
pub(crate) fn run(config: &Config, args: &PromoteArgs) -> Result<()> {
    let Some(url) = &args.url else {
        let data = &config.storage.data_dir;
        let directory = StandbyDirectory::claim(data, None)?;
        let origin = directory.origin()?;
        let data = data.display();
        if origin.log.is_some() && origin.whole_at.is_none() && !args.accept_loss {
            return Err(Error::Setup(format!(
                "the standby {data} is known to lack changes: it has not had all changes since its copy, or has fallen \
                 behind. --accept-loss takes over without them"
            )));
        }
        directory.promote(false)?;
        return print_line(format_args!("{data} is a data directory of its own now: tideline serve --data-dir {data}"));
    };
    let server = args.access.server("--url", url, TIME_LIMIT)?;
    let PromoteArgs { switch, force, accept_loss, .. } = args;
    let path = format!("/v1/admin/promote?switch={switch}&force={force}&accept_loss={accept_loss}");
    let row: u64 = server.field(Method::POST, &path, "row").map_err(|fault| match fault.code() {
        "route_not_found" => Error::Setup(format!("{url} is no standby: it serves")),
        _ => fault.into(),
    })?;
    say(format_args!("the standby takes over at row {row}"));
    threads::try_for(
        START,
        LOOK_EVERY,
        |_| true,
        || match is_ready(&server)? {
            true => Ok(()),
            false => Err(Error::Setup(format!("{url} does not serve yet; its log has the reason"))),
        },
    )?;
    let lost = if args.switch { "nothing is lost" } else { "changes that it had not received are lost" };
    print_line(format_args!("{url} serves from row {row} on; {lost}"))
}

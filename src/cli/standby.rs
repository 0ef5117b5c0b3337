//! `tideline standby`: follows another server, and takes its place when told to.

mod copy;
mod follow;
mod origin;
pub(crate) mod promote;
mod state;

use std::net::SocketAddr;

use actix_web::rt;
use tokio::sync::mpsc;

use self::follow::Follower;
use self::origin::Origin;
use super::remote::calls::{Access, address};
use crate::prelude::*;
use crate::server::Beginning;
use config::Auth;
use http::{Promotion, StandbyApi};
use kv::StandbyDirectory;
use model::is_topic;

/// Where Linux has the name of the machine.
const HOST: &str = "/proc/sys/kernel/hostname";

/// The options of the command.
#[derive(Debug, Args)]
pub(crate) struct StandbyArgs {
    /// The address of the server to follow, such as http://10.0.0.1:8080
    #[arg(long, value_name = "URL")]
    from: String,
    #[command(flatten)]
    access: Access,
    /// The name by which that server knows this standby [default: the name of the machine]
    #[arg(long, value_name = "NAME")]
    name: Option<String>,
    /// The address of this standby, for the other way round after a switch [default: by server.listen]
    #[arg(long, value_name = "URL")]
    own_url: Option<String>,
    /// Address and port to listen on; overrides server.listen
    #[arg(long, value_name = "ADDR", value_parser = config::address)]
    listen: Option<SocketAddr>,
    /// Allow a listen address other than loopback without keys: every client that reaches it can promote the standby, and
    /// read and change all data from then on
    #[arg(long)]
    insecure: bool,
}

/// Follows until told to stop, or to take over; then it serves. A directory that was promoted before is served at once.
pub(crate) fn run(config: &Config, args: &StandbyArgs, file: Option<PathBuf>) -> Result<()> {
    let mut config = config.clone();
    config.server.listen = args.listen.unwrap_or(config.server.listen);
    config.auth.insecure |= args.insecure;
    let serve = |config: &Config| {
        let start_options = StartOptions { changes: true, has_standbys: true, ..StartOptions::default() };
        server::run(config, start_options, file.clone(), |_, _| Ok(()))
    };
    let data = &config.storage.data_dir;
    if StandbyDirectory::was_promoted(data) {
        tracing::warn!(data_dir = %data.display(), "this standby was promoted before: it serves");
        return serve(&config);
    }
    if config.cluster.is_on() {
        return Err(Error::Setup("a node of a cluster needs no standby; take out the section [cluster]".to_owned()));
    }
    let Beginning { system, mut stop, gate, reloads } = Beginning::new(&config, file.clone())?;
    let url = address("--from", &args.from)?;
    let name = name(args.name.as_deref())?;
    let own_url = match &args.own_url {
        Some(url) => address("--own-url", url)?,
        None => format!("{}://{}", config.server.scheme(), config.server.listen),
    };
    let origin = Origin::new(&url, &args.access, name, own_url)?;
    let directory = StandbyDirectory::claim(data, Some(&url))?;
    tracing::info!(from = url, data_dir = %data.display(), version = env!("CARGO_PKG_VERSION"), "standby started");
    let follower = Follower::start(directory, &server::options(&config), origin)?;

    let (promote, promotions) = mpsc::channel(1);
    let state = follower.state();
    let status = Box::new(move || state.status());
    let api = Arc::new(StandbyApi::new(&config, gate, Arc::clone(&reloads), status, promote));
    let served = system.block_on(async {
        server::serve_standby(&config, &api, &reloads, &mut stop, promotion(Arc::clone(&follower), promotions)).await
    });
    drop((api, stop, system));
    follower.close();
    match served? {
        None => {
            tracing::info!("stopped");
            Ok(())
        }
        Some(goes_on) => {
            follower.promote(goes_on)?;
            tracing::warn!(from = url, goes_on, "the standby takes over");
            config.auth = present_keys(&config, file.as_deref());
            serve(&config)
        }
    }
}

/// Waits for a promotion that can be made. Returns whether the standby has all of its server.
async fn promotion(follower: Arc<Follower>, mut promotions: mpsc::Receiver<Promotion>) -> bool {
    while let Some(Promotion { switch, force, accept_loss, done }) = promotions.recv().await {
        let worker = Arc::clone(&follower);
        let work = move || {
            let made = if switch { worker.switch() } else { worker.last_row(force, accept_loss) };
            made.inspect(|_| worker.close())
        };
        let made = rt::task::spawn_blocking(work).await;
        let made = made.unwrap_or_else(|_| Err(Error::Panicked("the promotion".to_owned())));
        let made = made.map_err(|error| Error::refused(Code::Standby, error)).inspect_err(|error| {
            tracing::error!(%error, "the standby does not take over");
        });
        let is_made = made.is_ok();
        // The caller may be gone.
        let _ = done.send(made);
        if is_made {
            return switch;
        }
    }
    std::future::pending().await
}

/// The settings of keys, which SIGHUP may have read again since the start.
fn present_keys(config: &Config, file: Option<&Path>) -> Auth {
    match Config::load(file) {
        Ok(read) => Auth { insecure: config.auth.insecure, ..read.auth },
        Err(error) => {
            tracing::warn!(%error, "the keys of the start are used on");
            config.auth.clone()
        }
    }
}

fn name(given: Option<&str>) -> Result<String> {
    let name = match given {
        Some(name) => name.to_owned(),
        None => std::fs::read_to_string(HOST).ok().map_or("standby".to_owned(), |name| name.trim().to_owned()),
    };
    if is_topic(&name) {
        Ok(name)
    } else {
        Err(Error::Setup(format!("--name: expected 1 to 64 characters, not {name:?}")))
    }
}

//! Starts the parts of the server, and stops them in order.

mod app;
mod files;
mod listener;
mod rotation;
mod standby;
mod stop_signals;
mod tls;

use std::net::SocketAddr;
use std::pin::pin;

use actix_web::rt::{self, SystemRunner};
use actix_web::web::ServiceConfig;
use tokio::sync::oneshot;

use crate::prelude::*;
use http::{Api, Authenticator, Dispatcher, Reloads, Webhooks};
use kv::FORMAT;

pub use self::app::{App, StartOptions, open, options};
pub(crate) use self::standby::serve as serve_standby;
pub(crate) use self::stop_signals::StopSignals;

/// How often a stop checks that only streams are open, and how many times in a row that must be so.
const LAST_LOOK: Duration = Duration::from_millis(100);
const LAST_LOOKS: u32 = 10;

/// Serves until SIGTERM or SIGINT; SIGHUP makes it read the keys of the configuration file again. Then stops in order: no
/// more requests, no more jobs, store closed. Prints one line to stdout: where it listens. Once it listens, it calls
/// `ready` with the service and its address, such as `http://127.0.0.1:8080`.
pub fn run(
    config: &Config,
    start_options: StartOptions,
    file: Option<PathBuf>,
    ready: impl FnOnce(&Arc<Feed>, &str) -> Result<()>,
) -> Result<()> {
    let Beginning { system, mut stop, gate, reloads } = Beginning::new(config, file.clone())?;
    rotation::warn_of_exposed(&config.auth, file.as_deref());
    let Some(app) = system.block_on(open_unless_stopped(config, start_options, &mut stop))? else { return Ok(()) };
    let served = system.block_on(serve(config, &app, (gate, reloads), &mut stop, ready));
    let left = served.as_ref().copied().unwrap_or(config.server.shutdown_timeout.get());
    let stopped = app.stop(left);
    served.and(stopped)?;
    tracing::info!("stopped");
    Ok(())
}

/// A server before it opens its data: the system of its event loops, the signals that stop it, and its keys, which are read
/// again when their files change and at SIGHUP.
pub(crate) struct Beginning {
    pub(crate) system: SystemRunner,
    pub(crate) stop: StopSignals,
    pub(crate) gate: Arc<Authenticator>,
    pub(crate) reloads: Arc<Reloads>,
}

impl Beginning {
    /// Refuses an address that all may reach, unless there are keys or the settings allow it.
    pub(crate) fn new(config: &Config, file: Option<PathBuf>) -> Result<Self> {
        let gate = Arc::new(Authenticator::new(&config.auth)?);
        refuse_open_address(config, !gate.is_open())?;
        let (system, reloads) = (rt::System::new(), Arc::<Reloads>::default());
        let stop = system.block_on(async {
            rotation::start(&config.auth, file, Arc::clone(&gate), Arc::clone(&reloads))?;
            StopSignals::catch()
        })?;
        Ok(Self { system, stop, gate, reloads })
    }
}

/// Opens on a separate thread, because the engine may replay its log for long. If told to stop meanwhile, it closes
/// again and returns `None`. The engine cannot be hurried, so after the timeout the process ends as in a crash.
async fn open_unless_stopped(
    config: &Config,
    start_options: StartOptions,
    stop: &mut StopSignals,
) -> Result<Option<App>> {
    let (done, opened) = oneshot::channel();
    let owned = config.clone();
    // Nobody waits any more if it took too long.
    threads::start("open", move || drop(done.send(open(&owned, start_options))))?;
    let ended = |_| Error::Setup("the data directory could not be opened; the server log has the cause".to_owned());
    let mut opened = pin!(opened);
    tokio::select! {
        biased;
        app = &mut opened => return app.map_err(ended)?.map(Some),
        () = stop.told() => {}
    }
    tracing::info!("received a stop signal while the data directory was being opened");
    let timeout = config.server.shutdown_timeout.get();
    let began = Instant::now();
    match rt::time::timeout(timeout, opened).await {
        Ok(app) => app.map_err(ended)??.stop(timeout.saturating_sub(began.elapsed()))?,
        Err(_) => tracing::warn!(
            "the data directory did not open within server.shutdown_timeout; the next start opens it again"
        ),
    }
    Ok(None)
}

/// Fails if a server with these settings could not listen now, before long work that a server follows.
pub fn can_listen(config: &Config) -> Result<()> {
    refuse_open_address(config, !Authenticator::new(&config.auth)?.is_open())?;
    let listen = config.server.listen;
    std::net::TcpListener::bind(listen).map(drop).map_err(|e| listener::cannot_listen(listen, &e))
}

/// Without keys, any client that reaches the server may do anything: only this machine should reach it.
fn refuse_open_address(config: &Config, has_keys: bool) -> Result<()> {
    let listen = config.server.listen;
    if listen.ip().to_canonical().is_loopback() || has_keys {
        return Ok(());
    }
    if config.auth.insecure {
        tracing::warn!(%listen, "there are no keys: every client that reaches this address can read and change all data");
        return Ok(());
    }
    Err(Error::Setup(format!(
        "refusing to listen on {listen}: there are no keys, so every client that reaches this address could read and \
         change all data. Set auth.keys (\"tideline key new\" makes a key), listen on a loopback address such as \
         127.0.0.1, or allow this with --insecure"
    )))
}

/// Serves HTTP until told to stop; returns the rest of the shutdown timeout.
async fn serve(
    config: &Config,
    app: &App,
    (gate, reloads): (Arc<Authenticator>, Arc<Reloads>),
    stop: &mut StopSignals,
    ready: impl FnOnce(&Arc<Feed>, &str) -> Result<()>,
) -> Result<Duration> {
    let stop_within = config.server.shutdown_timeout.get();
    let connections = config.server.max_connections.min(app.connections);
    let (feed, copies) = (Arc::clone(&app.feed), (Arc::clone(&app.backups), Arc::clone(&app.standbys)));
    let (figures, node) = (app.figures().clone(), app.node.clone());
    let api = Arc::new(Api::new(feed, copies, figures, connections, gate, Arc::clone(&reloads), node));
    let dispatcher = Dispatcher::start(&api)?;
    let webhooks = Webhooks::start(&api)?;
    // A directory of backups that cannot be read must not keep the server from serving.
    if let Err(error) = app.backups.resume() {
        tracing::error!(%error, "the backups cannot be used");
    }
    app.standbys.resume(app.feed.store())?;

    let served = Arc::clone(&api);
    let routes = move |config: &mut ServiceConfig| http::configure(&served, config);
    let (server, address) = listener::listen(config, api.limits(), routes, connections, &reloads)?;
    // Not before: a start that fails would wait for what holds the service.
    let history = rt::spawn(http::keep_history(Arc::clone(&api)).await);
    let handle = server.handle();
    let mut running = rt::spawn(server);
    say_started(config, address);
    api.warn_of_little_memory();
    ready(&app.feed, &format!("{}://{address}", config.server.scheme()))?;

    let early = tokio::select! {
        ended = &mut running => {
            let why = ended.map_or_else(|e| e.to_string(), |end| format!("{end:?}"));
            return Err(Error::Setup(format!("the HTTP server ended unexpectedly: {why}")));
        }
        why = async { Some(app.node.as_ref()?.failed().await) }, if app.node.is_some() => why,
        () = stop.told() => None,
    };
    let drain = config.server.drain.get();
    if early.is_none() && !drain.is_zero() {
        api.set_draining();
        tracing::info!(seconds = drain.as_secs_f64(), "draining: /readyz is 503, requests are served");
        // A second signal ends the wait.
        let _ = rt::time::timeout(drain, stop.told()).await;
    }
    tracing::info!("stopping");
    api.set_stopping();
    let began = Instant::now();
    webhooks.stop().await;
    history.abort();
    // The workers get the time that open requests leave, which is never zero.
    let ended = tokio::select! {
        () = handle.stop(true) => true,
        () = only_streams_left(&api) => false,
        () = rt::time::sleep(stop_within / 4 * 3) => {
            tracing::warn!(
                "some requests did not end within three quarters of server.shutdown_timeout; their connections are \
                 closed");
            false
        }
    };
    if !ended {
        running.abort();
        // Only the drop in here releases the connections, and the store.
        let _ = rt::time::timeout(stop_within / 8, running).await;
    }
    drop(dispatcher);
    match early {
        None => Ok(stop_within.saturating_sub(began.elapsed())),
        Some(why) => Err(Error::Setup(format!("this node of the cluster has stopped: {why}"))),
    }
}

/// Waits until only streams are open, and their clients have had time to receive pending data. Streams then end by
/// themselves, except those whose clients do not read.
async fn only_streams_left(api: &Api) {
    let mut looks = 0;
    while looks < LAST_LOOKS {
        rt::time::sleep(LAST_LOOK).await;
        looks = if api.has_requests() { 0 } else { looks + 1 };
    }
}

/// The first line of the log: version and settings.
fn say_started(config: &Config, listen: SocketAddr) {
    let dir = &config.storage.data_dir;
    // The absolute path, even if a relative one is set.
    let data_dir = std::path::absolute(dir).unwrap_or_else(|_| dir.clone());
    tracing::info!(
        version = env!("CARGO_PKG_VERSION"),
        %listen,
        data_dir = %data_dir.display(),
        format = FORMAT,
        durability = config.storage.durability.as_str(),
        "started"
    );
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_loopback_addresses_are_open_to_all() {
        let mut config = Config::default();
        for (listen, open) in [
            ("127.0.0.1:80", true),
            ("127.1.2.3:80", true),
            ("[::1]:80", true),
            ("[::ffff:127.0.0.1]:80", true),
            ("0.0.0.0:80", false),
            ("[::]:80", false),
            ("10.0.0.1:80", false),
            ("[::ffff:10.0.0.1]:80", false),
        ] {
            config.server.listen = listen.parse().expect(listen);
            config.auth.insecure = false;
            assert_eq!(refuse_open_address(&config, false).is_ok(), open, "{listen}");
            assert!(refuse_open_address(&config, true).is_ok(), "{listen}");
            config.auth.insecure = true;
            assert!(refuse_open_address(&config, false).is_ok(), "{listen}");
        }
    }
}

//! The HTTP server on its address, with or without TLS.

use std::net::SocketAddr;

use actix_http::{HttpService, KeepAlive};
use actix_service::{ServiceFactoryExt as _, map_config};
use actix_web::App;
use actix_web::dev::{AppConfig, Server, fn_service};
use actix_web::web::ServiceConfig;
use tokio::net::{TcpSocket, TcpStream};
use tokio::time::sleep;
use tokio_rustls::TlsAcceptor;

use super::tls;
use crate::prelude::*;
use config::cores;
use http::{Incoming, LINGER, Limits, Reloads};

/// Connections that wait in the operating system until the server accepts them.
const BACKLOG: u32 = 1024;
/// Bytes of an answer that may wait in a connection's buffer before more is asked for.
const WRITE_BUFFER: usize = 16 << 10;
/// Blocking threads of each event loop: the figures of `/metrics` use them, and look-ups of names of other nodes.
/// Requests have pools of their own.
const SAMPLERS: usize = 4;
/// Event loops for each core, of two cores or more. A request waits for all work of its loop. With more loops than
/// cores the system gives each its share of a core, so a loop with little work answers soon whatever the others do.
/// The price: a loop finds fewer requests at a time. On two cores with one, two, three and four loops for each: the 99th
/// percentile of a small answer in `tests/memory_attack.py` is 4 to 6 ms, 4 to 6.5, 3 to 6, and 3 to 5.5; `wrk` with two
/// threads and 16 connections gets 102, 88, 80 and 71 thousand small pages a second (medians of four rounds). One and two do
/// not always keep the bound of that test.
const EVENT_LOOPS: usize = 3;
/// Most event loops that the HTTP server can have.
const MOST_LOOPS: usize = 512;
/// Connections that a thread may have above its share.
const UNEVEN: usize = 16;
/// The part of the time for a stop, one of so many, in which connections without a request stay open. A request that comes
/// meanwhile is answered, and its answer ends the connection: a client whose request meets the end of a connection does not
/// know what became of it.
const PART_TO_END: u32 = 40;

/// Listens, and serves from then on. `routes` adds all routes to an application. Prints one line to stdout: where it listens.
/// Returns the server and its address. `reloads` gets the end of the certificate.
pub(super) fn listen(
    config: &Config,
    limits: &Arc<Limits>,
    routes: impl Fn(&mut ServiceConfig) + Clone + Send + 'static,
    connections: usize,
    reloads: &Arc<Reloads>,
) -> Result<(Server, SocketAddr)> {
    let tls = tls::configure(&config.server, reloads)?;
    let bound = bind(config, limits, routes, connections, tls);
    let (server, address) = bound.map_err(|e| cannot_listen(config.server.listen, &e))?;
    let mut stdout = io::stdout().lock();
    let announced = writeln!(stdout, "listening on {}://{address}", config.server.scheme());
    announced.and_then(|()| stdout.flush()).context("cannot write to stdout")?;
    Ok((server, address))
}

/// The error if the server cannot listen on an address.
pub(super) fn cannot_listen(on: SocketAddr, error: &io::Error) -> Error {
    let advice = match error.kind() {
        io::ErrorKind::AddrInUse | io::ErrorKind::PermissionDenied => ". Choose another port with --listen",
        _ => "",
    };
    Error::Setup(format!("cannot listen on {on}: {error}{advice}"))
}

fn bind(
    config: &Config,
    limits: &Arc<Limits>,
    routes: impl Fn(&mut ServiceConfig) + Clone + Send + 'static,
    connections: usize,
    tls: Option<TlsAcceptor>,
) -> io::Result<(Server, SocketAddr)> {
    let stop_within = config.server.shutdown_timeout.get();
    let threads =
        if config.server.workers > 0 { config.server.workers } else { (EVENT_LOOPS * cores().max(2)).min(MOST_LOOPS) };
    // Places are given as connections come, so these are a bound for the system's sake. The threads do not share alike.
    let accepted = http::accepted(connections).div_ceil(threads) + UNEVEN;
    let builder = Server::build()
        .workers(threads)
        .max_concurrent_connections(accepted)
        .worker_max_blocking_threads(SAMPLERS)
        .shutdown_timeout(stop_within.as_secs().max(1))
        .disable_signals();
    let signal = builder.graceful_shutdown_signal();
    let stopping = move || {
        let signal = signal.clone();
        async move {
            signal.notified().await;
            sleep(stop_within / PART_TO_END).await;
        }
    };

    let on = config.server.listen;
    let socket = if on.is_ipv4() { TcpSocket::new_v4()? } else { TcpSocket::new_v6()? };
    socket.set_reuseaddr(true)?;
    socket.bind(on)?;
    let listener = socket.listen(BACKLOG)?.into_std()?;
    let address = listener.local_addr()?;

    let limits = Arc::clone(limits);
    let builder = builder.listen("http", listener, move || {
        let (limits, tls) = (Arc::clone(&limits), tls.clone());
        let app = App::new().configure(routes.clone());
        let requests = HttpService::build()
            .graceful_shutdown_signal(stopping.clone())
            // The connection itself counts the time without a request, and the time of a head.
            .keep_alive(KeepAlive::Os)
            .client_request_timeout(Duration::ZERO)
            .client_disconnect_timeout(LINGER)
            .h1_write_buffer_size(WRITE_BUFFER)
            .on_connect_ext(Incoming::share)
            .h1(map_config(app, |()| AppConfig::default()))
            .map_err(drop);
        let accept = move |socket: TcpStream| {
            let (limits, tls) = (Arc::clone(&limits), tls.clone());
            async move {
                let peer = socket.peer_addr().ok();
                Ok((Incoming::accept(socket, limits, tls).await.ok_or(())?, peer))
            }
        };
        fn_service(accept).and_then(requests)
    });
    Ok((builder?.run(), address))
}

//! Compares `view=ids` pages over HTTP with a bare actix-web server that answers with the same bytes, and names with
//! numbers: both pages, and publishes.
//!
//! `cargo bench --bench http` serves all on loopback: Tideline with numbers and Tideline with names from processes of
//! their own, the bare server from this one. It loads them in turn with `wrk` (Debian package `wrk`), and compares the
//! medians. Without `wrk` it says so and measures nothing.

#![allow(clippy::expect_used, missing_docs)]

mod common;
#[path = "../tests/server/mod.rs"]
mod server;

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::mpsc;
use std::time::Instant;

use actix_web::{App, HttpResponse, HttpServer, web};

use common::{AUTHORS, Ids, PAGE, POSTS, READERS, median};
use server::Server;

const ROUNDS: usize = 5;
const SECONDS: u32 = 4;
const CONNECTIONS: u32 = 16;

fn main() {
    if Command::new("wrk").arg("-v").output().is_err() {
        println!("http: skipped, because it needs wrk (apt-get install wrk)");
        return;
    }
    let scripts = tempfile::tempdir().expect("temp dir");
    let numbers = Side::start(Ids::Numbers, scripts.path());
    let names = Side::start(Ids::Names, scripts.path());
    let first = format!("{}/v1/users/{}/timeline?limit={PAGE}&view=ids", numbers.url, AUTHORS + 1);
    let mut answer = ureq::get(&first).call().expect("a page");
    let link = answer.headers().get("link").and_then(|value| value.to_str().ok()).unwrap_or_default().to_owned();
    let body = answer.body_mut().read_to_string().expect("text");
    println!(
        "http: view=ids, limit {PAGE}, {} bytes of JSON, {CONNECTIONS} connections, {SECONDS} s a turn",
        body.len()
    );
    let bare = bare(link, body);
    let [ours, named, bare] =
        in_turn([&|_| load(&numbers.url, &numbers.ids_view), &|_| load(&names.url, &names.ids_view), &|_| {
            load(&bare, &numbers.ids_view)
        }]);
    println!("  tideline   {ours:>8.0} pages/s");
    println!("  bare actix {bare:>8.0} answers/s");
    println!("  ratio      {:>8.2} (at least 0.4 wanted)", ours / bare);
    println!("  names      {named:>8.0} pages/s, ratio to numbers {:.2} (at least 0.8 wanted)", named / ours);
    let [ours, named] = in_turn([&|_| load(&numbers.url, &numbers.full_view), &|_| load(&names.url, &names.full_view)]);
    println!("http: full pages, limit {PAGE}");
    println!("  numbers    {ours:>8.0} pages/s");
    println!("  names      {named:>8.0} pages/s, ratio to numbers {:.2} (at least 0.9 wanted)", named / ours);
    let [ours, named] = in_turn([&|round| numbers.publish(round), &|round| names.publish(round)]);
    println!("http: publishes until all are delivered, storage.durability = \"os\"");
    println!("  numbers    {ours:>8.0} posts/s");
    println!("  names      {named:>8.0} posts/s, ratio to numbers {:.2} (at least 0.8 wanted)", named / ours);
    for side in [numbers, names] {
        side.server.end("KILL");
    }
}

/// The medians of loads that take turns.
fn in_turn<const N: usize>(loads: [&dyn Fn(usize) -> f64; N]) -> [f64; N] {
    let mut rates = [const { Vec::new() }; N];
    for round in 0..=ROUNDS {
        for (load, rates) in loads.iter().zip(&mut rates) {
            let rate = load(round);
            // The first round warms all sides up.
            if round > 0 {
                rates.push(rate);
            }
        }
    }
    rates.map(median)
}

/// Tideline with one kind of ids, and the requests to it.
struct Side {
    ids: Ids,
    server: Server,
    url: String,
    ids_view: PathBuf,
    full_view: PathBuf,
    publishes: PathBuf,
}

impl Side {
    fn start(ids: Ids, scripts: &Path) -> Self {
        let data = tempfile::tempdir().expect("temp dir");
        drop(common::readers(data.path(), ids));
        let server = Server::on(data, &[("TIDELINE__LOG__LEVEL", "warn"), ("TIDELINE__STORAGE__DURABILITY", "os")]);
        let url = format!("http://{}", server.address);
        let file = |name: &str| scripts.join(format!("{ids:?}-{name}.lua"));
        let side =
            Self { ids, server, url, ids_view: file("ids"), full_view: file("full"), publishes: file("publishes") };
        std::fs::write(&side.ids_view, side.pages("&view=ids")).expect("writes");
        std::fs::write(&side.full_view, side.pages("")).expect("writes");
        side
    }

    /// Asks for the pages of random readers.
    fn pages(&self, view: &str) -> String {
        format!(
            "local readers = {{{}}}
             request = function()
               return wrk.format('GET', '/v1/users/' .. readers[math.random(#readers)] .. '/timeline?limit={PAGE}{view}')
             end",
            self.users(AUTHORS + 1..=AUTHORS + READERS)
        )
    }

    /// Publishes new items of random authors, and waits until they are delivered. Returns the items per second, with
    /// the time of that wait: else a server that delivers at once would seem to publish slower than one that lags.
    fn publish(&self, round: usize) -> f64 {
        let id = match self.ids {
            Ids::Numbers => "string.format('%d', n)",
            // The first digits of two successive ids differ, as those of UUIDs do.
            Ids::Names => "string.format('%08x-0000-4000-8000-%012x', n * 40503 % 2147483647, n)",
        };
        let script = format!(
            "local authors, n = {{{}}}, {}
             request = function()
               n = n + 1
               local body = string.format('{{\"content_id\":\"%s\",\"author_id\":\"%s\",\"published_at\":%d}}',
                 {id}, authors[math.random(#authors)], 1700000000000 + n)
               return wrk.format('POST', '/v1/content', {{['content-type'] = 'application/json'}}, body)
             end",
            self.users(1..=AUTHORS),
            POSTS as usize + round * 10_000_000
        );
        std::fs::write(&self.publishes, script).expect("writes");
        let begun = Instant::now();
        let rate = load(&self.url, &self.publishes);
        self.server.settle();
        rate * f64::from(SECONDS) / begun.elapsed().as_secs_f64()
    }

    /// A list in Lua.
    fn users(&self, numbers: impl Iterator<Item = u64>) -> String {
        numbers.map(|number| format!("'{}'", self.ids.user(number))).collect::<Vec<_>>().join(",")
    }
}

/// Serves one constant answer on every path, with as many threads as the server.
fn bare(link: String, body: String) -> String {
    let (tell, told) = mpsc::channel();
    std::thread::spawn(move || {
        let answer = web::Data::new((link, web::Bytes::from(body)));
        actix_web::rt::System::new().block_on(async move {
            let handler = |answer: web::Data<(String, web::Bytes)>| async move {
                HttpResponse::Ok()
                    .insert_header(("link", answer.0.as_str()))
                    .content_type("application/json")
                    .body(answer.1.clone())
            };
            let app = move || App::new().app_data(answer.clone()).default_service(web::to(handler));
            let server = HttpServer::new(app).bind("127.0.0.1:0").expect("binds");
            tell.send(server.addrs()[0]).expect("told");
            server.run().await.expect("serves");
        });
    });
    format!("http://{}", told.recv().expect("an address"))
}

/// Requests per second.
fn load(url: &str, script: &Path) -> f64 {
    let output = Command::new("wrk")
        .args(["-t1", &format!("-c{CONNECTIONS}"), &format!("-d{SECONDS}"), "-s"])
        .arg(script)
        .arg(url)
        .output()
        .expect("wrk runs");
    let report = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(!report.contains("Non-2xx"), "errors: {report}");
    let rate = report.lines().find_map(|line| line.strip_prefix("Requests/sec:"));
    rate.and_then(|rate| rate.trim().parse().ok()).expect("a rate")
}

//! Compares `view=ids` pages over HTTP with a bare actix-web server that answers with the same bytes.
//!
//! `cargo bench --bench http` serves both on loopback: Tideline from its own process, the bare server from this one.
//! It loads them in turn with `wrk` (Debian package `wrk`), and compares the medians. Without `wrk` it says so and
//! measures nothing.

#![allow(clippy::expect_used, missing_docs)]

mod common;
#[path = "../tests/server/mod.rs"]
mod server;

use std::process::Command;
use std::sync::mpsc;

use actix_web::{App, HttpResponse, HttpServer, web};

use common::{AUTHORS, PAGE, READERS, median};

const ROUNDS: usize = 5;
const SECONDS: u32 = 4;
const CONNECTIONS: u32 = 16;

fn main() {
    if Command::new("wrk").arg("-v").output().is_err() {
        println!("http: skipped, because it needs wrk (apt-get install wrk)");
        return;
    }
    let dir = tempfile::tempdir().expect("temp dir");
    let data = tempfile::tempdir().expect("temp dir");
    drop(common::readers(data.path()));
    let server = server::Server::on(data, &[("TIDELINE__LOG__LEVEL", "warn")]);
    let ours = format!("http://{}", server.address);
    let first = format!("{ours}/v1/users/{}/timeline?limit={PAGE}&view=ids", AUTHORS + 1);
    let mut answer = ureq::get(&first).call().expect("a page");
    let link = answer.headers().get("link").and_then(|value| value.to_str().ok()).unwrap_or_default().to_owned();
    let body = answer.body_mut().read_to_string().expect("text");
    println!(
        "http: view=ids, limit {PAGE}, {} bytes of JSON, {CONNECTIONS} connections, {SECONDS} s a turn",
        body.len()
    );
    let bare = bare(link, body);
    let script = dir.path().join("users.lua");
    std::fs::write(&script, lua()).expect("writes");
    let (mut our_rates, mut bare_rates) = (Vec::new(), Vec::new());
    for round in 0..=ROUNDS {
        let (a, b) = (load(&ours, &script), load(&bare, &script));
        // The first round warms both sides up.
        if round > 0 {
            our_rates.push(a);
            bare_rates.push(b);
        }
    }
    server.end("KILL");
    let (ours, bare) = (median(our_rates), median(bare_rates));
    println!("  tideline   {ours:>8.0} pages/s");
    println!("  bare actix {bare:>8.0} answers/s");
    println!("  ratio      {:>8.2} (at least 0.4 wanted)", ours / bare);
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

/// Asks for the pages of random readers.
fn lua() -> String {
    format!(
        "request = function()\n  local id = {} + math.random(0, {})\n  return wrk.format('GET', '/v1/users/' .. id .. '/timeline?limit={PAGE}&view=ids')\nend\n",
        AUTHORS + 1,
        READERS - 1
    )
}

/// Requests per second.
fn load(url: &str, script: &std::path::Path) -> f64 {
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

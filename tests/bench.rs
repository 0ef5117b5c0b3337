//! `tideline bench`: each mix against the real server, compared with the figures of that server.

use std::process::Command;

use crate::command::{Place, Ran};
use crate::server::{Server, wait_until};
use serde_json::Value;

/// Users, mean followees and posts of the graphs here.
const GRAPH: [&str; 6] = ["--users", "300", "--follows", "5", "--history", "400"];
/// Some measured seconds without a part before them.
const SECONDS: [&str; 4] = ["--seconds", "3", "--warm-up", "0"];

fn bench(place: &Place, args: &[&str]) -> Ran {
    place.run(&[&["bench"], args].concat())
}

fn json(place: &Place, name: &str) -> Value {
    serde_json::from_slice(&std::fs::read(place.path(name)).unwrap()).unwrap()
}

/// The answers of a kind.
fn answers(report: &Value, kind: &str) -> u64 {
    let operations = report["operations"].as_array().unwrap();
    operations.iter().find(|of| of["kind"] == kind).map_or(0, |of| of["answers"].as_u64().unwrap())
}

/// Requests that the server answered 2xx; 0 if the page of metrics has no such line.
fn answered(server: &Server, method: &str, route: &str) -> u64 {
    let name = format!("tideline_http_requests_total{{route=\"{route}\",method=\"{method}\",status=\"2xx\"}} ");
    let page = server.call("GET", "/metrics", "");
    page.text().lines().find_map(|line| line.strip_prefix(&name)?.parse().ok()).unwrap_or(0)
}

#[test]
fn each_mix_agrees_with_the_figures_of_the_server() {
    let place = Place::new();
    for (mix, kinds) in [
        // Those of which there are many, also on a slow machine.
        ("read-heavy", &["read"][..]),
        ("pequod", &["read", "follow"]),
        ("write-burst", &["publish", "read"]),
        ("big-author", &["publish", "read"]),
    ] {
        // A busy machine may take long for an answer: neither side gives one up.
        let server = Server::with(&[("TIDELINE__SERVER__REQUEST_TIMEOUT", "1h")]);
        let url = format!("http://{}", server.address);
        let args = [
            &["--url", &url, "--mix", mix, "--rate", "300", "--timeout", "1h", "--json", "r.json", "--svg", "r.svg"],
            &GRAPH[..],
            &SECONDS,
        ];
        let ran = bench(&place, &args.concat()).ok();
        assert!(ran.err.contains("warning: this writes "), "{mix}: {}", ran.err);
        let report = json(&place, "r.json");
        let of = |kind| answers(&report, kind);
        for kind in kinds {
            assert!(of(kind) > 0, "{mix} {kind}: {}", ran.out);
            assert!(ran.out.lines().any(|line| line.starts_with(kind)), "{mix} {kind}: {}", ran.out);
        }
        assert_eq!(report["errors"], Value::Array(Vec::new()), "{mix}");
        let published = of("publish") + of("publish-big");
        assert_eq!(server.figure("tideline_published_items_total") as u64, 400 + published, "{mix}");
        assert_eq!(answered(&server, "POST", "/v1/content"), published, "{mix}");
        assert_eq!(answered(&server, "GET", "/v1/users/{uid}/timeline"), of("read") + of("log-in"), "{mix}");
        assert_eq!(answered(&server, "PUT", "/v1/users/{uid}/presence"), of("log-in") + of("log-out"), "{mix}");
        assert_eq!(answered(&server, "PUT", "/v1/users/{uid}/following/{target}"), of("follow"), "{mix}");
        // The report has a part of the server's figures: those from its first look at them to the one at the end.
        let (told, all) = (&report["answered_by_server"], answered(&server, "GET", "/v1/users/{uid}/timeline"));
        let reads = told["GET /v1/users/{uid}/timeline"].as_u64().unwrap_or(0);
        assert!(reads <= all, "{mix}: {reads} of {all}");
        let delivered = report["deliveries"]["count"].as_u64().unwrap();
        assert!(delivered <= server.figure("tideline_deliveries_total") as u64, "{mix}");
        assert_eq!(report["deliveries"]["jobs_left"], 0, "{mix}");
        let lags = ["lag_p50_ms", "lag_p99_ms"].map(|name| report["deliveries"][name].as_f64());
        assert!(lags.into_iter().flatten().all(|lag| lag > 0.0), "{mix}: {lags:?}");
        for of in report["operations"].as_array().unwrap() {
            let at = ["p50_ms", "p90_ms", "p99_ms", "p99_9_ms", "max_ms"].map(|name| of[name].as_f64().unwrap());
            assert!(at[0] > 0.0 && at.windows(2).all(|two| two[0] <= two[1]), "{mix}: {of}");
        }
        let in_time = report["rate_reached"].as_f64().unwrap() * report["seconds"].as_f64().unwrap();
        let all = report["operations"].as_array().unwrap().iter().map(|of| of["answers"].as_u64().unwrap());
        assert!((0.0..=all.sum::<u64>() as f64 + 0.5).contains(&in_time), "{mix}: {in_time}");
        let svg = std::fs::read_to_string(place.path("r.svg")).unwrap();
        assert!(svg.starts_with("<svg") && kinds.iter().all(|kind| svg.contains(kind)), "{mix}");
    }
}

#[test]
fn one_command_starts_a_server_measures_it_and_leaves_nothing() {
    let place = Place::new();
    place.file("g.csv", "user_id,target_id\nann,bob\nzoe,bob\nbob,ann\n7,bob\n");
    place.file("p.csv", "content_id,author_id,published_at,text\n1,bob,1700000000000,hello\n2,ann,1700000000001,\n");
    std::fs::create_dir(place.path("within")).unwrap();
    let args = ["--graph", "g.csv", "--posts", "p.csv", "--mix", "write-burst", "--rate", "200", "--dir", "within"];
    let args = [&args[..], &["--durability", "os", "--history", "3", "--json", "r.json"], &SECONDS].concat();
    let ran = bench(&place, &args).ok();
    assert!(ran.out.contains("write-burst, on a server of its own, durability os"), "{}", ran.out);
    assert!(ran.out.contains("4 users, 4 follows, at most 3 followers; 3 posts before"), "{}", ran.out);
    assert_eq!(std::fs::read_dir(place.path("within")).unwrap().count(), 0, "the data is still there");
    let report = json(&place, "r.json");
    // bob has three followers and ann one, and they publish in turn. Some were published before the first figures.
    let (publishes, deliveries) = (answers(&report, "publish"), report["deliveries"]["count"].as_u64().unwrap());
    let published = report["published_by_server"].as_u64().unwrap();
    assert!(publishes > 0 && published <= publishes, "{published} of {publishes}");
    assert!(deliveries <= 2 * publishes + 3, "{deliveries} deliveries of {publishes}");
    assert!(report["server_busy"].as_f64().unwrap() > 0.0 && report["server_memory_bytes"].as_u64().unwrap() > 1 << 20);
}

#[test]
fn without_a_rate_the_largest_one_is_searched_for() {
    // The server refuses what is above its own limit.
    let place = Place::new()
        .with_env("TIDELINE__RATE_LIMITS__PER_ADDRESS", 20)
        .with_env("TIDELINE__RATE_LIMITS__PER_ADDRESS_BURST", 20);
    let args =
        [&["--mix", "read-heavy", "--step-seconds", "1", "--within", "5s", "--json", "r.json"], &GRAPH[..], &SECONDS];
    let ran = bench(&place, &args.concat()).ok();
    let report = json(&place, "r.json");
    let largest = report["largest_rate"].as_f64().unwrap();
    // The burst lets a short step have half as much again.
    assert!((1.0..=60.0).contains(&largest), "{}", ran.out);
    assert!((report["rate_asked"].as_f64().unwrap() - largest / 2.0).abs() < 1e-6, "{}", ran.out);
    let search = report["search"].as_array().unwrap();
    assert!(
        search.iter().any(|tried| tried["failed"].as_str().is_some_and(|why| why.contains("most of them read 429"))),
        "{search:?}"
    );
    assert!(ran.out.contains("largest "), "{}", ran.out);
}

#[test]
fn an_interrupted_run_prints_its_table() {
    let (place, server) = (Place::new(), Server::start());
    let url = format!("http://{}", server.address);
    let args = [&["bench", "--url", &url, "--rate", "100", "--seconds", "3600", "--warm-up", "0"], &GRAPH[..]].concat();
    let child = place.command(&args).spawn().unwrap();
    wait_until("nothing is read", || answered(&server, "GET", "/v1/users/{uid}/timeline") > 50);
    assert!(Command::new("kill").args(["-s", "INT", &child.id().to_string()]).status().unwrap().success());
    let output = child.wait_with_output().unwrap();
    let out = String::from_utf8_lossy(&output.stdout);
    assert_eq!(output.status.code(), Some(0), "{out}");
    assert!(out.contains(", then interrupted") && out.lines().any(|line| line.starts_with("read ")), "{out}");
    // The operations after the interruption were not due.
    assert!(!out.contains("operations came faster"), "{out}");
}

#[test]
fn wrong_usage_and_missing_servers_are_told() {
    let place = Place::new();
    for (args, words) in [
        (&["--users", "1"][..], "2..=10000000"),
        (&["--posts", "p"], "--graph"),
        (&["--graph", "g", "--users", "5"], "cannot be used with"),
        (&["--rate", "0"], "expected 0.1 to 10000000"),
        (&["--rate", "5", "--within", "1s"], "cannot be used with"),
        (&["--mix", "all"], "read-heavy, pequod, write-burst, big-author"),
        (&["--url", "http://x", "--durability", "os"], "cannot be used with"),
    ] {
        let ran = bench(&place, args);
        assert_eq!(ran.code, Some(2), "{ran:?}");
        assert!(ran.err.contains(words), "no {words:?} in {ran:?}");
    }
    bench(&place, &["--graph", "missing"]).failed("cannot read missing: ");
    bench(&place, &["--json", "no/such/file"]).failed("cannot write no/such/file: ");
    bench(&place, &["--dir", "no/such/dir"]).failed("cannot use no/such/dir/tideline-bench-");
    bench(&place, &["--url", "ftp://x"]).failed("--url: expected http:// or https://");
    bench(&place, &["--url", "http://127.0.0.1:1", "--rate", "5"]).failed("cannot reach http://127.0.0.1:1: ");
    place.file("g.csv", "1,2\n3\n");
    bench(&place, &["--graph", "g.csv"]).failed("g.csv:2: missing_field: target_id is missing");
    assert_eq!(std::fs::read_dir(place.path("")).unwrap().count(), 1, "a refused run leaves files");
    let server = Server::with(&[("TIDELINE__AUTH__KEYS", "a-key-that-is-long-enough-0123456789")]);
    let url = format!("http://{}", server.address);
    bench(&place, &["--url", &url, "--rate", "5"]).failed("answered 401");
}

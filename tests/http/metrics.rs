//! The figures: well-formed, true, and the same as in the documentation.

use std::collections::{BTreeMap, BTreeSet};

use crate::server::Server;

/// The families of a page, with their types and samples. Panics if the page is not in the text format.
fn families(page: &str) -> BTreeMap<String, (String, Vec<(String, f64)>)> {
    let mut families: BTreeMap<String, (String, Vec<(String, f64)>)> = BTreeMap::new();
    let mut present = (String::new(), String::new());
    for line in page.lines() {
        if let Some(rest) = line.strip_prefix("# HELP ") {
            let (name, help) = rest.split_once(' ').unwrap();
            assert!(help.ends_with('.') || name == "tideline_storage_sample_age_seconds", "{line}");
            present.0 = name.to_owned();
        } else if let Some(rest) = line.strip_prefix("# TYPE ") {
            let (name, kind) = rest.split_once(' ').unwrap();
            assert_eq!(name, present.0, "type without help");
            assert!(["counter", "gauge", "histogram"].contains(&kind), "{line}");
            assert_eq!(kind == "counter", name.ends_with("_total"), "{line}");
            let known = families.insert(name.to_owned(), (kind.to_owned(), Vec::new()));
            assert!(known.is_none(), "{name} comes twice");
            present.1 = kind.to_owned();
        } else {
            let (series, value) = line.rsplit_once(' ').unwrap();
            let name = series.split('{').next().unwrap();
            let (family, kind) = &present;
            let suffixes: &[&str] = if kind == "histogram" { &["_sum", "_count", "_bucket"] } else { &[""] };
            assert!(suffixes.iter().any(|suffix| *name == format!("{family}{suffix}")), "{line} in {family}");
            families.get_mut(family).unwrap().1.push((series.to_owned(), value.parse().unwrap()));
        }
    }
    for (name, (_, samples)) in &families {
        let distinct: BTreeSet<_> = samples.iter().map(|(series, _)| series).collect();
        assert!(!samples.is_empty() && distinct.len() == samples.len(), "{name}: {samples:?}");
    }
    families
}

#[test]
fn the_page_is_prometheus_text() {
    let server = Server::start();
    let reply = server.call("GET", "/metrics", "");
    assert_eq!((reply.status, reply.header("content-type")), (200, Some("text/plain; version=0.0.4; charset=utf-8")));
    let families = families(reply.text());
    for (name, kind) in [
        ("tideline_jobs", "gauge"),
        ("tideline_overloaded_total", "counter"),
        ("tideline_http_request_duration_seconds", "histogram"),
        ("tideline_table_rows", "gauge"),
    ] {
        assert_eq!(families[name].0, kind, "{name}");
    }
    // Each bounded figure has a figure of its bound, which is higher.
    let limits: Vec<_> = families.keys().filter(|name| name.contains("_limit")).collect();
    assert!(limits.len() >= 12, "{limits:?}");
    for limit in limits {
        let now = &families[&limit.replace("_limit", "")].1;
        for ((series, now), (_, limit)) in now.iter().zip(&families[limit].1) {
            assert!(now < limit, "{series} is {now} of {limit}");
        }
    }
    server.call("GET", "/metrics?x=1", "").problem("a query", 400, "invalid_parameter");
    assert_eq!(server.call("HEAD", "/metrics", "").status, 200);
}

#[test]
fn what_happens_is_counted() {
    let server = Server::start();
    server.follow(1, 9, 10);
    server.follow(2, 9, 10);
    server.publish(5, 9, 50);
    server.settle();
    server.get("/v1/users/1/timeline");
    server.call("GET", "/v1/users/%00/timeline", "");
    server.call("GET", "/v1/users/1/nothing?secret=1", "");
    server.call("OPTIONS", "/v1/users/1/timeline", "");
    server.settle();
    for (name, value) in [
        (r#"tideline_jobs_done_total{kind="fan_out"}"#, 1.0),
        (r#"tideline_jobs_done_total{kind="settle"}"#, 2.0),
        (r#"tideline_jobs_done_total{kind="rebuild"}"#, 1.0),
        ("tideline_deliveries_total", 2.0),
        ("tideline_fan_out_chunks_total", 1.0),
        ("tideline_job_failures_total", 0.0),
        (r#"tideline_table_rows{table="content"}"#, 1.0),
        (r#"tideline_cache_entries{cache="followees"}"#, 1.0),
        (r#"tideline_http_requests_total{route="/v1/users/{uid}/timeline",method="GET",status="2xx"}"#, 1.0),
        (r#"tideline_http_requests_total{route="/v1/users/{uid}/timeline",method="GET",status="4xx"}"#, 1.0),
        (r#"tideline_http_requests_total{route="/v1/users/{uid}/following/{target}",method="PUT",status="2xx"}"#, 2.0),
        (r#"tideline_http_requests_total{route="other",method="other",status="4xx"}"#, 2.0),
        (r#"tideline_http_request_duration_seconds_count{route="/v1/content",method="POST"}"#, 1.0),
    ] {
        assert!((server.figure(name) - value).abs() < 0.5, "{name} is {}, not {value}", server.figure(name));
    }
    assert!(server.figure("process_resident_memory_bytes") > 1e6);
    let page = server.call("GET", "/metrics", "");
    assert!(!page.text().contains("secret") && !page.text().contains("OPTIONS") && !page.text().contains("nothing"));
}

#[test]
fn the_documentation_names_every_bound_and_nothing_else() {
    let page = Server::start().call("GET", "/metrics", "");
    let families = families(page.text());
    let mut documented = BTreeSet::new();
    for file in ["docs/limits.md", "docs/operations.md"] {
        let text = std::fs::read_to_string(std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join(file)).unwrap();
        let words = text.split(|c: char| !c.is_ascii_alphanumeric() && c != '_').map(str::to_owned);
        documented.extend(words.filter(|word| word.starts_with("tideline_") && word.len() > "tideline_".len()));
    }
    for name in &documented {
        let family = name.strip_suffix("_bucket").unwrap_or(name);
        assert!(families.contains_key(family), "{name} is documented but not there");
    }
    for name in families.keys().filter(|name| name.contains("_limit")) {
        let size = name.replace("_limit", "");
        assert!(documented.contains(&size), "the bound of {size} is not documented");
    }
}

//! The figures: well-formed, true, and the same as in the documentation.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use crate::server::Server;

/// The sources of the figures that only nodes of a cluster have, only servers with webhooks, with standbys or with TLS, and
/// standbys. Other tests have their values.
const OF_SOME: [&str; 4] = [
    include_str!("../../crates/http/src/admin/metrics.rs"),
    include_str!("../../crates/http/src/standby.rs"),
    include_str!("../../crates/http/src/figures/reloads.rs"),
    include_str!("../../crates/http/src/admin/metrics/cluster.rs"),
];

/// The kind of a family that only some servers have. `None` for other ones.
fn kind_of_some(family: &str) -> Option<&'static str> {
    let (_, value) = OF_SOME.iter().find_map(|source| source.split_once(&format!(" {family} = ")))?;
    Some(if value.starts_with("read_index_waits;") { "histogram" } else { "one" })
}

/// The families of a page, with their types and samples. Panics if the page is not in the text format.
fn families(page: &str) -> BTreeMap<String, (String, Vec<(String, f64)>)> {
    let mut families: BTreeMap<String, (String, Vec<(String, f64)>)> = BTreeMap::new();
    let mut present = (String::new(), String::new());
    for line in page.lines() {
        if let Some(rest) = line.strip_prefix("# HELP ") {
            let (name, help) = rest.split_once(' ').unwrap();
            assert!(help.ends_with('.'), "{line}");
            present.0 = name.to_owned();
        } else if let Some(rest) = line.strip_prefix("# TYPE ") {
            let (name, kind) = rest.split_once(' ').unwrap();
            assert_eq!(name, present.0, "type without help");
            assert!(["counter", "gauge", "histogram"].contains(&kind), "{line}");
            assert_eq!(kind == "counter", name.ends_with("_total"), "{line}");
            let known = families.insert(name.to_owned(), (kind.to_owned(), Vec::new()));
            assert!(known.is_none(), "{name} comes twice");
            check_name(name);
            present.1 = kind.to_owned();
        } else {
            let (series, value) = line.rsplit_once(' ').unwrap();
            let name = series.split('{').next().unwrap();
            let (family, kind) = &present;
            let suffixes: &[&str] = if kind == "histogram" { &["_sum", "_count", "_bucket"] } else { &[""] };
            assert!(suffixes.iter().any(|suffix| *name == format!("{family}{suffix}")), "{line} in {family}");
            let labels = series[name.len()..].trim_matches(['{', '}']);
            assert!(labels.is_empty() || labels.split(',').all(is_label), "{line}");
            families.get_mut(family).unwrap().1.push((series.to_owned(), value.parse().unwrap()));
        }
    }
    for (name, (_, samples)) in &families {
        let distinct: BTreeSet<_> = samples.iter().map(|(series, _)| series).collect();
        assert!(!samples.is_empty() && distinct.len() == samples.len(), "{name}: {samples:?}");
    }
    for (name, (_, samples)) in families.iter().filter(|(_, (kind, _))| kind == "histogram") {
        check_histogram(name, samples);
    }
    families
}

/// The rules of Prometheus for names: base units, in the plural, at the end, and no type in the name.
fn check_name(name: &str) {
    assert!(name.starts_with("tideline_") || name.starts_with("process_"), "{name}");
    assert!(name.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'_'), "{name}");
    let words: Vec<_> = name.trim_end_matches("_total").split('_').collect();
    for wrong in ["ms", "millis", "milliseconds", "micros", "minutes", "kb", "mb", "mib", "percent", "gauge", "counter"]
    {
        assert!(!words.contains(&wrong), "{name}: not a base unit");
    }
    for unit in ["seconds", "bytes"] {
        let is_last = words.last() == Some(&unit) || name.ends_with("_bytes_per_second");
        assert!(!words.contains(&unit) || is_last, "{name}: the unit comes last");
    }
    assert!(!name.ends_with("_count") && !name.ends_with("_sum") && !name.ends_with("_bucket"), "{name}");
}

/// Whether a figure is the bound of another.
fn is_limit(name: &str) -> bool {
    name.ends_with("_limit") || name.contains("_limit_")
}

/// `name="value"`; no value of a label has a comma.
fn is_label(pair: &str) -> bool {
    let Some((name, value)) = pair.split_once('=') else { return false };
    let quoted = value.len() >= 2 && value.starts_with('"') && value.ends_with('"');
    quoted && name.bytes().all(|b| b.is_ascii_lowercase())
}

/// The buckets of each series rise to the bucket of everything, which has the count.
fn check_histogram(name: &str, samples: &[(String, f64)]) {
    let value = |series: &str| samples.iter().find(|(found, _)| found == series).map(|(_, value)| *value);
    let mut buckets = BTreeMap::<String, Vec<(f64, f64)>>::new();
    for (series, value) in samples {
        let Some(labels) = series.strip_prefix(&format!("{name}_bucket{{le=\"")) else { continue };
        let (bound, others) = labels.split_once('"').unwrap();
        let bound = if bound == "+Inf" { f64::INFINITY } else { bound.parse().unwrap() };
        let others = others.strip_prefix(',').map(|others| format!("{{{others}")).unwrap_or_default();
        buckets.entry(others).or_default().push((bound, *value));
    }
    assert!(!buckets.is_empty(), "{name}");
    for (labels, buckets) in buckets {
        assert!(buckets.is_sorted_by(|a, b| a.0 < b.0 && a.1 <= b.1), "{name}{labels}: {buckets:?}");
        let (bound, all) = buckets.last().copied().unwrap();
        assert_eq!((bound, Some(all)), (f64::INFINITY, value(&format!("{name}_count{labels}"))), "{name}{labels}");
        assert!(value(&format!("{name}_sum{labels}")).is_some(), "{name}{labels}");
    }
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
    let limits: Vec<_> = families.keys().filter(|name| is_limit(name)).collect();
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
fn requests_and_changes_are_counted() {
    let server = Server::start();
    server.follow(1, 9, 10);
    server.follow(2, 9, 10);
    server.publish(5, 9, 50);
    // A repeat.
    server
        .call("POST", "/v1/content", r#"{"content_id":5,"author_id":9,"published_at":50,"text":"item 5"}"#)
        .expect(200);
    server
        .call("POST", "/v1/content/batch", r#"{"items":[{"author_id":8},{"author_id":8,"broadcast":false}]}"#)
        .expect(201);
    server.call("POST", "/v1/content/5/comments", r#"{"author_id":1,"text":"a"}"#).expect(201);
    server.settle();
    server.get("/v1/users/1/timeline");
    server.settle();
    server.get("/v1/users/1/timeline");
    server.call("GET", "/v1/users/%00/timeline", "");
    server.call("GET", "/v1/users/1/nothing?hush=1", "");
    server.call("OPTIONS", "/v1/users/1/timeline", "");
    server.settle();
    for (name, value) in [
        ("tideline_published_items_total", 4.0),
        (r#"tideline_jobs_done_total{kind="fan_out"}"#, 2.0),
        (r#"tideline_jobs_done_total{kind="settle"}"#, 2.0),
        (r#"tideline_jobs_done_total{kind="rebuild"}"#, 1.0),
        ("tideline_deliveries_total", 2.0),
        ("tideline_fan_out_chunks_total", 2.0),
        ("tideline_job_failures_total", 0.0),
        (r#"tideline_table_rows{table="content"}"#, 4.0),
        (r#"tideline_cache_entries{cache="followees"}"#, 1.0),
        ("tideline_delivery_lag_seconds_count", 2.0),
        ("tideline_job_oldest_age_seconds", 0.0),
        ("tideline_timeline_read_pulls_count", 1.0),
        (r#"tideline_cache_hits_total{cache="pages"}"#, 1.0),
        ("tideline_storage_stops_total", 0.0),
        (r#"tideline_http_requests_total{route="/v1/users/{uid}/timeline",method="GET",status="2xx"}"#, 2.0),
        (r#"tideline_http_requests_total{route="/v1/users/{uid}/timeline",method="GET",status="4xx"}"#, 1.0),
        (r#"tideline_http_requests_total{route="/v1/users/{uid}/following/{target}",method="PUT",status="2xx"}"#, 2.0),
        (r#"tideline_http_requests_total{route="other",method="other",status="4xx"}"#, 2.0),
        (r#"tideline_http_request_duration_seconds_count{route="/v1/content",method="POST"}"#, 2.0),
    ] {
        assert!((server.figure(name) - value).abs() < 0.5, "{name} is {}, not {value}", server.figure(name));
    }
    assert!(server.figure("process_resident_memory_bytes") > 1e6);
    assert!(server.figure("process_cpu_seconds_total") > 0.0);
    assert!(server.figure("tideline_delivery_lag_seconds_sum") > 0.0);
    assert!(server.figure(r#"tideline_cache_hits_total{cache="contents"}"#) >= 1.0);
    let page = server.call("GET", "/metrics", "");
    assert!(!page.text().contains("hush") && !page.text().contains("OPTIONS") && !page.text().contains("nothing"));
}

#[test]
fn each_cache_has_its_share_of_the_memory() {
    let server = Server::with(&[("TIDELINE__STORAGE__CACHE_MB", "128")]);
    // The figures of the store come with a sample.
    server.settle();
    let page = server.call("GET", "/metrics", "");
    let (_, limits) = families(page.text()).remove("tideline_cache_limit_bytes").unwrap();
    let limits: BTreeMap<_, _> = limits.into_iter().collect();
    let shares = [
        ("blocks", 64),
        ("followees", 12),
        ("inboxes", 12),
        ("contents", 8),
        ("pages", 8),
        ("activities", 4),
        ("outbox_parts", 4),
        ("numbers", 4),
        ("names", 4),
        ("summaries", 2),
        ("item_counts", 2),
        ("reactions", 2),
        ("topic_names", 1),
        ("topic_ends", 1),
        // Of no data on disk, so beside the shares.
        ("tokens", 8),
    ];
    let series = |name| format!(r#"tideline_cache_limit_bytes{{cache="{name}"}}"#);
    assert_eq!(limits, shares.map(|(name, mebibytes)| (series(name), f64::from(mebibytes << 20))).into());
}

#[test]
fn the_documentation_names_every_bound_and_nothing_else() {
    let page = Server::start().call("GET", "/metrics", "");
    let families = families(page.text());
    let mut documented = BTreeSet::new();
    for file in ["docs/operate/limits.md", "docs/operate/alerts.md", "docs/operate/faults.md"] {
        let text = std::fs::read_to_string(file).unwrap();
        let words = text.split(|c: char| !c.is_ascii_alphanumeric() && c != '_').map(str::to_owned);
        // Not the names of packages, such as tideline_0.1.0_amd64.deb.
        let is_name =
            |word: &String| word.strip_prefix("tideline_").is_some_and(|rest| rest.starts_with(char::is_alphabetic));
        documented.extend(words.filter(is_name));
    }
    for name in &documented {
        let family = name.strip_suffix("_bucket").unwrap_or(name);
        // Those of nodes are on the pages of nodes only, and those of standbys are there once one has called.
        let is_elsewhere = kind_of_some(family).is_some() || family.starts_with("tideline_standby_");
        let is_there = families.contains_key(family) || is_elsewhere;
        assert!(is_there, "{name} is documented but not there");
    }
    for name in families.keys().filter(|name| is_limit(name)) {
        let size = name.replace("_limit", "");
        assert!(documented.contains(&size), "the bound of {size} is not documented");
    }
}

#[test]
fn the_dashboard_shows_figures_that_exist() {
    let page = Server::start().call("GET", "/metrics", "");
    let families = families(page.text());
    let text = std::fs::read_to_string("docs/operate/grafana.json").unwrap();
    let dashboard: Value = serde_json::from_str(&text).unwrap();
    let panels = dashboard["panels"].as_array().unwrap();
    let ids: BTreeSet<_> = panels.iter().map(|panel| panel["id"].as_u64().unwrap()).collect();
    assert_eq!(ids.len(), panels.len(), "the ids of panels are unique");
    let mut shown = BTreeSet::new();
    for panel in panels.iter().filter(|panel| panel["type"] != "row") {
        let targets = panel["targets"].as_array().unwrap();
        let refs: BTreeSet<_> = targets.iter().map(|target| target["refId"].as_str().unwrap()).collect();
        assert!(!refs.is_empty() && refs.len() == targets.len(), "{panel}");
        for target in targets {
            let words = target["expr"].as_str().unwrap().split(|c: char| !c.is_ascii_alphanumeric() && c != '_');
            let named: Vec<_> =
                words.filter(|word| word.starts_with("tideline_") || word.starts_with("process_")).collect();
            assert!(!named.is_empty(), "{target}");
            for name in named {
                let of_histogram = ["_bucket", "_sum", "_count"].iter().find_map(|end| name.strip_suffix(end));
                let family = of_histogram.unwrap_or(name);
                let kind = families.get(family).map(|(kind, _)| kind.as_str()).or_else(|| kind_of_some(family));
                assert_eq!(kind.is_some_and(|kind| kind == "histogram"), of_histogram.is_some(), "{name} in {target}");
                assert!(kind.is_some(), "{name} is not a figure: {target}");
                shown.insert(family.to_owned());
            }
        }
    }
    for part in ["http_requests", "request_duration", "delivery_lag", "jobs", "table_bytes", "compaction", "streams"]
        .into_iter()
        .chain(["cluster_position", "cluster_lag", "cluster_read_index_wait", "cluster_applied", "cluster_reachable"])
    {
        assert!(shown.iter().any(|name| name.contains(part)), "the dashboard shows no {part}");
    }
}

//! The modules that each part of the source may name (docs/architecture.md), and the places of foreign crates.

use std::fs;
use std::path::Path;

use regex::Regex;

/// A module of the root, and the paths of ours that it may name outside of unit tests.
const LAYERS: [(&str, &str); 22] = [
    ("model", ""),
    ("clock", "model"),
    ("sync", ""),
    ("failpoint", ""),
    ("priority", ""),
    ("private", ""),
    ("error", "model"),
    ("stripes", "sync"),
    ("cache", "stripes model error"),
    ("config", "model error"),
    ("store", "cache stripes failpoint priority private model error"),
    ("backlog", "stripes sync model error"),
    ("streaming", "sync clock model"),
    ("backup", "store clock config failpoint private model error"),
    ("feed", "backlog streaming store cache stripes config sync clock failpoint model error"),
    ("worker", "backlog streaming store config sync clock failpoint priority model error"),
    ("cluster", "feed streaming store config failpoint model error"),
    (
        "http",
        "backup cluster feed streaming cache store::Tier store::TableStats store::Usage store::EngineUsage store::TableDigest worker::Figures clock priority model error config",
    ),
    ("server", "http cluster worker backup feed backlog streaming store clock config failpoint error model"),
    ("trace", ""),
    (
        "cli",
        "trace server cluster http::description worker backup feed backlog store clock config failpoint private error model",
    ),
    ("main", "cli"),
];

/// A crate by the beginning of its name, and the only places that may name it.
const CRATES: [(&str, &str); 18] = [
    ("actix", "http/ server.rs server/"),
    ("rustls", "server/tls.rs http/connections.rs http/peers.rs cli/tls.rs"),
    ("jsonwebtoken", "config/auth.rs http/auth/"),
    ("rocksdb", "store/rocks/"),
    ("bincode", "store/rocks/values"),
    ("quick_cache", "cache.rs"),
    ("rdkafka", "cluster/kafka"),
    ("russe", "http/events.rs"),
    ("prometheus_client", "http/metrics http/requests.rs"),
    ("utoipa", "http/"),
    ("socket2", "http/connections.rs"),
    ("hdrhistogram", "cli/bench/record.rs"),
    ("http_body_util", "http/peers.rs http/forward.rs cli/bench/client.rs"),
    (
        "hyper",
        "http/peers.rs http/forward.rs config/cluster.rs cli/bench/client.rs cli/bench/requests.rs cli/bench/prepare.rs",
    ),
    ("plotters", "cli/bench/plot.rs"),
    ("rustix", "cli/backup/target.rs cli/bench/timer.rs clock.rs priority.rs private.rs server/files.rs store/rocks/"),
    ("signal_hook", "cli/mod.rs"),
    ("tokio_rustls", "cli/tls.rs"),
];

const MOST_LINES: usize = 450;

fn regex(pattern: &str) -> Regex {
    Regex::new(pattern).unwrap()
}

/// The rules that a source breaks; `path` counts from `src`.
fn broken(path: &str, source: &str) -> Vec<String> {
    let comments_and_strings = regex(r#"(?m)//.*$|'"'|"(\\.|[^"\\])*""#);
    let text = comments_and_strings.replace_all(source, "");
    let misplaced = CRATES.iter().filter(|(name, places)| {
        let is_placed = places.split(' ').any(|place| path.starts_with(place));
        !is_placed && regex(&format!(r"\b{name}\w*\s*(::|;| as )")).is_match(&text)
    });
    let mut broken: Vec<_> = misplaced.map(|(name, places)| format!("{path}: {name} is only for {places}")).collect();
    broken.extend(
        (source.lines().count() > MOST_LINES)
            .then(|| format!("{path}: more than {MOST_LINES} lines; move a part into a file of its own")),
    );
    if path == "lib.rs" || path.ends_with("/tests.rs") {
        return broken;
    }
    let module = path.trim_end_matches(".rs").trim_end_matches("/mod");
    let top = module.split('/').next().unwrap();
    let (_, allowed) = LAYERS.iter().find(|(layer, _)| *layer == top).unwrap_or(&("", "nothing: no layer"));
    let text = regex(r"(?ms)^#\[cfg\(test\)\]\n(pub\(super\) )?mod tests \{.*?^\}").replace_all(&text, "");
    // This many `super` lead out of the module of the root.
    let climbs = regex(&format!(r"\b(super::){{{},}}", module.split('/').count()));
    let text = climbs.replace_all(&text, "crate::");
    for found in regex(r"\b(?:crate|tideline)::([\w:]*)(?:\{([^}]*)\})?").captures_iter(&text) {
        let group = found.get(2).map_or("", |group| group.as_str().trim().trim_end_matches(','));
        for name in group.split(',').map(|part| format!("{}{}::", &found[1], part.trim())) {
            let is_below = |allowed: &str| name.starts_with(&format!("{allowed}::"));
            if !is_below(top) && !allowed.split(' ').any(is_below) {
                broken.push(format!("{path}: names {name}, and may name {allowed}"));
            }
        }
    }
    broken
}

#[test]
fn sources_keep_to_their_layers_and_length() {
    let src = Path::new("src");
    let (mut paths, mut complaints) = (vec![src.to_owned()], Vec::new());
    while let Some(path) = paths.pop() {
        if path.is_dir() {
            paths.extend(fs::read_dir(path).unwrap().map(|found| found.unwrap().path()));
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            let name = path.strip_prefix(src).unwrap().to_str().unwrap();
            complaints.extend(broken(name, &fs::read_to_string(&path).unwrap()));
        }
    }
    assert!(complaints.is_empty(), "\n{}\n", complaints.join("\n"));
}

#[test]
fn a_broken_rule_is_found_and_a_kept_one_is_not() {
    for (path, text) in [
        ("model/id.rs", "//! Doc.\nfn f() -> crate::store::Store {}"),
        ("store/rocks/walk.rs", "use super::super::super::feed::Feed;"),
        ("feed/mod.rs", "use super::worker::Pool;"),
        ("worker/mod.rs", "use crate::{\n    feed::Feed,\n};"),
        ("http/api.rs", "use crate::store::{\n    Usage,\n    Batch,\n};"),
        ("http/api.rs", "use crate::store;"),
        ("cli/run.rs", "use crate::http::serve;"),
        ("main.rs", "fn main() { tideline::server::run() }"),
        ("feed/read.rs", "#[cfg(test)]\nmod tests {\n    use crate::http::A;\n}\nuse crate::http::B;"),
        ("extra/mod.rs", "use crate::model::Id;"),
        ("feed/mod.rs", "use actix_web::web;"),
        ("cache.rs", "use rocksdb as engine;"),
        ("model/mod.rs", &"\n".repeat(MOST_LINES + 1)),
    ] {
        assert_eq!(broken(path, text).len(), 1, "{path}: {text}");
    }
    for (path, text) in [
        ("store/rocks/mod.rs", "use crate::{error::Result, model::Job};\nuse super::types::Tier;"),
        ("http/api.rs", "use crate::store::Tier;\nuse crate::feed::*;\nuse actix_web::web;"),
        ("model/job.rs", "/// [`Store`](crate::store::Store)\nconst A: &str = \"// crate::feed\"; // rocksdb::DB"),
        ("feed/read.rs", "#[cfg(test)]\nmod tests {\n    use crate::http::B;\n}"),
        ("main.rs", "fn main() { tideline::cli::main() }"),
    ] {
        assert_eq!(broken(path, text), Vec::<String>::new());
    }
}

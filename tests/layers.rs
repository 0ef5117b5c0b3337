//! Which part of the source may use which: the table of the architecture, checked by reading the
//! paths in `src`.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod layers {
    pub(crate) mod scan;
}

use std::fs;
use std::path::{Path, PathBuf};

use layers::scan::{Mention, mentions};

/// A top-level module and what of ours it may use. A longer path allows only what is below it.
///
/// Unit tests are free of it: they put together what they need.
const LAYERS: [(&str, &[&str]); 15] = [
    ("model", &[]),
    ("clock", &["model"]),
    ("sync", &[]),
    ("failpoint", &[]),
    ("error", &["model"]),
    ("cache", &["model"]),
    ("config", &["error"]),
    ("store", &["cache", "failpoint", "model", "error"]),
    ("backlog", &["sync", "model", "error"]),
    ("live", &["sync", "clock", "model"]),
    ("feed", &["backlog", "live", "store", "cache", "sync", "clock", "failpoint", "model", "error"]),
    ("worker", &["backlog", "live", "store", "sync", "clock", "failpoint", "model", "error"]),
    (
        "http",
        &[
            "feed",
            "live",
            "store::Tier",
            "store::TableStats",
            "store::Usage",
            "worker::Figures",
            "clock",
            "model",
            "error",
            "config",
        ],
    ),
    (
        "server",
        &["http", "worker", "feed", "backlog", "live", "store", "clock", "config", "failpoint", "error", "model"],
    ),
    (
        "cli",
        &[
            "server",
            "http::description",
            "worker",
            "feed",
            "backlog",
            "store",
            "clock",
            "config",
            "failpoint",
            "error",
            "model",
        ],
    ),
];

/// A crate by the beginning of its name, and the only places that may name it.
const FOREIGN: [(&str, &[&str]); 11] = [
    ("actix", &["src/http/", "src/server.rs", "src/server/"]),
    ("rocksdb", &["src/store/rocks/"]),
    ("bincode", &["src/store/rocks/values.rs"]),
    ("quick_cache", &["src/cache.rs"]),
    ("russe", &["src/http/events.rs"]),
    ("prometheus_client", &["src/http/metrics"]),
    ("utoipa", &["src/http/"]),
    ("zip", &["src/http/docs.rs"]),
    ("socket2", &["src/http/connections.rs"]),
    (
        "rustix",
        &[
            "src/clock.rs",
            "src/http/pools.rs",
            "src/server/files.rs",
            "src/store/rocks/advice.rs",
            "src/store/rocks/directory.rs",
            "src/store/rocks/health.rs",
            "src/store/rocks/reserve.rs",
        ],
    ),
    ("signal_hook", &["src/cli/mod.rs"]),
];

const MOST_LINES: usize = 450;

/// A source file: its path from the root of the project with `/` between, and its text.
struct Source {
    path: String,
    text: String,
}

impl Source {
    /// The module that the file is, from the crate's root.
    fn module(&self) -> Vec<&str> {
        let inner = self.path.trim_start_matches("src/").trim_end_matches(".rs");
        let mut module: Vec<_> = inner.split('/').collect();
        if matches!(module.last(), Some(&("mod" | "lib" | "main"))) {
            module.pop();
        }
        module
    }

    fn mentions(&self) -> Vec<Mention> {
        mentions(&self.text, &self.module())
    }

    /// What it names of ours outside of unit tests.
    fn ours(&self) -> impl Iterator<Item = Mention> {
        let in_tests = self.path.ends_with("/tests.rs");
        self.mentions().into_iter().filter(move |mention| mention.is_ours && !mention.in_tests && !in_tests)
    }
}

fn sources() -> Vec<Source> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut folders = vec![root.join("src")];
    let mut sources = Vec::new();
    while let Some(folder) = folders.pop() {
        for found in fs::read_dir(&folder).expect("src can be listed") {
            let path: PathBuf = found.expect("src can be listed").path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|extension| extension == "rs") {
                let text = fs::read_to_string(&path).expect("source is text");
                let path = path.strip_prefix(root).expect("below the root");
                let parts: Vec<_> = path.iter().map(|part| part.to_str().expect("plain names")).collect();
                sources.push(Source { path: parts.join("/"), text });
            }
        }
    }
    sources.sort_by(|a, b| a.path.cmp(&b.path));
    assert!(sources.len() > LAYERS.len(), "found only {} files", sources.len());
    sources
}

/// What breaks the table in one file.
fn broken_layers(source: &Source) -> Vec<String> {
    let module = source.module();
    let Some(top) = module.first() else {
        // `lib.rs` only names the modules, and `main.rs` only starts the command line.
        let wrong = source.ours().filter(|mention| mention.path[0] != "cli");
        return wrong.map(|mention| complaint(source, &mention, "only cli")).collect();
    };
    let Some((_, allowed)) = LAYERS.iter().find(|(layer, _)| layer == top) else {
        return vec![format!("{}: {top} is not in the table of layers", source.path)];
    };
    let is_allowed = |path: &[String]| {
        path[0] == *top
            || allowed.iter().any(|allowed| {
                let mut parts = path.iter();
                allowed.split("::").all(|part| parts.next().is_some_and(|found| found == part))
            })
    };
    let wrong = source.ours().filter(|mention| !is_allowed(&mention.path));
    let hint = if allowed.is_empty() { "nothing of ours".to_owned() } else { allowed.join(", ") };
    wrong.map(|mention| complaint(source, &mention, &hint)).collect()
}

/// What names a foreign crate in one file that must not.
fn misplaced_crates(source: &Source) -> Vec<String> {
    let place_of = |mention: &Mention| {
        let found = FOREIGN.iter().find(|(name, _)| mention.path[0].starts_with(name));
        found.filter(|_| !mention.is_ours).map(|(_, places)| *places)
    };
    let wrong = |mention: Mention| {
        let places = place_of(&mention)?;
        let allowed = places.iter().any(|place| source.path.starts_with(place));
        let name = &mention.path[0];
        let line = mention.line;
        (!allowed).then(|| format!("{}:{line}: {name} is only for {}", source.path, places.join(", ")))
    };
    source.mentions().into_iter().filter_map(wrong).collect()
}

fn complaint(source: &Source, mention: &Mention, allowed: &str) -> String {
    format!("{}:{}: uses crate::{}; may use {allowed}", source.path, mention.line, mention.path.join("::"))
}

fn assert_none(complaints: Vec<String>) {
    assert!(complaints.is_empty(), "\n{}\n", complaints.join("\n"));
}

#[test]
fn every_module_uses_only_the_layers_below_it() {
    assert_none(sources().iter().flat_map(broken_layers).collect());
}

#[test]
fn foreign_crates_stay_in_their_places() {
    let sources = sources();
    assert_none(sources.iter().flat_map(misplaced_crates).collect());
    // A rule about a crate that nobody names would guard nothing.
    for (name, _) in FOREIGN {
        let is_named = |source: &Source| {
            source.mentions().iter().any(|mention| !mention.is_ours && mention.path[0].starts_with(name))
        };
        assert!(sources.iter().any(is_named), "{name} is named nowhere");
    }
}

#[test]
fn no_file_is_too_long() {
    let too_long = |source: &Source| {
        let lines = source.text.lines().count();
        (lines > MOST_LINES).then(|| format!("{}: {lines} lines; at most {MOST_LINES}", source.path))
    };
    assert_none(sources().iter().filter_map(too_long).collect());
}

#[test]
fn every_layer_is_there() {
    let sources = sources();
    for (layer, _) in LAYERS {
        assert!(sources.iter().any(|source| source.module().first() == Some(&layer)), "{layer} is not in src");
    }
}

fn source(path: &str, text: &str) -> Source {
    Source { path: path.to_owned(), text: text.to_owned() }
}

#[test]
fn a_forbidden_layer_is_named_with_its_line() {
    for (path, text, line) in [
        ("src/model/id.rs", "use crate::error::Error;", 1),
        ("src/model/id.rs", "//! Doc.\n\nfn f() -> crate::store::Tier {}", 3),
        ("src/store/rocks/walk.rs", "use super::super::super::feed::Feed;", 1),
        ("src/store/types.rs", "use super::super::{model::Job, feed::Feed};", 1),
        (
            "src/worker/mod.rs",
            "use std::fmt;\nuse crate::{\n    model::Job,\n    feed::{\n        Feed,\n    },\n};",
            5,
        ),
        ("src/http/api.rs", "use crate::store::{Tier, Batch};", 1),
        ("src/http/api.rs", "use crate::store;", 1),
        ("src/http/api.rs", "use crate::store::{self, Tier};", 1),
        ("src/http/api.rs", "use crate::store::*;", 1),
        ("src/cli/run.rs", "use crate::http::serve;", 1),
        ("src/main.rs", "fn main() {\n    tideline::server::run()\n}", 2),
        ("src/feed/mod.rs", "mod tests {\n    use super::super::worker::Pool;\n}", 2),
        ("src/feed/mod.rs", "mod tests {\n    mod deep {\n    use super::super::super::worker::Pool;\n}}", 3),
        ("src/feed/read.rs", "fn f() -> crate::http::A {\n}", 1),
        ("src/feed/read.rs", "const A: u8 = 2 * crate::http::B * 3;", 1),
        ("src/feed/read.rs", "#[cfg(test)]\nmod tests {\n    use crate::http::A;\n}\nuse crate::http::B;", 5),
        ("src/feed/read.rs", "macro_rules! m {\n() => { $crate::worker::run() };\n}", 2),
    ] {
        let complaints = broken_layers(&source(path, text));
        assert_eq!(complaints.len(), 1, "{text:?}: {complaints:?}");
        assert!(complaints[0].starts_with(&format!("{path}:{line}: ")), "{complaints:?}");
    }
    assert_eq!(broken_layers(&source("src/extra/mod.rs", "")).len(), 1);
}

#[test]
fn an_allowed_layer_is_not_named() {
    for (path, text) in [
        (
            "src/store/memory/mod.rs",
            "use crate::model::{Job, Lane};\nuse super::types::Tier;\nuse crate::error::Result;",
        ),
        ("src/http/api.rs", "use crate::store::Tier;\nuse crate::feed::*;\nfn f(tier: crate::store::Tier) {}"),
        ("src/model/job.rs", "mod tests {\n    use super::super::MAX_ID;\n    use super::*;\n}"),
        (
            "src/model/job.rs",
            "// crate::feed\n/* crate::feed /* nested */ crate::feed */\nconst A: &str = \"crate::feed\";",
        ),
        ("src/model/job.rs", "const A: &str = r#\"\"crate::feed\"#; const B: char = '\"'; fn f<'a>(a: &'a str) {}"),
        ("src/model/job.rs", "/// [`Store`](crate::store::Store)\npub(crate) fn store() {}"),
        (
            "src/feed/read.rs",
            "#[cfg(test)]\nmod tests {\n    mod deep { use crate::http::A; }\n    use crate::http::B;\n}",
        ),
        ("src/feed/read.rs", "#[cfg(test)]\npub(super) mod tests {\n    use crate::http::B;\n}"),
        ("src/main.rs", "fn main() {\n    tideline::cli::main()\n}"),
    ] {
        assert_eq!(broken_layers(&source(path, text)), Vec::<String>::new(), "{text:?}");
    }
}

#[test]
fn a_misplaced_crate_is_named_with_its_line() {
    for (path, text) in [
        ("src/feed/mod.rs", "use std::fmt;\nuse actix_web::web;"),
        ("src/cli/mod.rs", "fn f() {\n    ::actix_web::rt::System::new();\n}"),
        ("src/store/memory/mod.rs", "\nuse rocksdb::DB;"),
        ("src/store/rocks.rs", "\nuse rocksdb as engine;"),
        ("src/store/rocks/keys.rs", "\n#[derive(bincode::Encode)]"),
        ("src/store/rocks/keys.rs", "\nuse {std::fmt, bincode::Encode};"),
        ("src/http/reply.rs", "\nextern crate rocksdb;"),
        ("src/feed/mod.rs", "#[cfg(test)] mod tests {\n    use rocksdb::DB;\n}"),
    ] {
        let complaints = misplaced_crates(&source(path, text));
        assert_eq!(complaints.len(), 1, "{text:?}: {complaints:?}");
        assert!(complaints[0].starts_with(&format!("{path}:2: ")), "{complaints:?}");
    }
    for (path, text) in [
        ("src/http/api.rs", "use actix_web::web;"),
        ("src/server.rs", "use actix_web::HttpServer;"),
        ("src/store/rocks/keys.rs", "use rocksdb::DB;"),
        ("src/store/rocks/values.rs", "use bincode::{Decode, Encode};"),
        ("src/feed/mod.rs", "/// rocksdb::DB\nfn rocksdb() { let bincode = \"bincode::Encode\"; }"),
    ] {
        assert_eq!(misplaced_crates(&source(path, text)), Vec::<String>::new(), "{text:?}");
    }
}

//! Data directories of earlier formats, with the answers to all pages. `make.py` made them with the binaries of their
//! time.
#![allow(dead_code, reason = "each test binary uses a part")]

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::{Map, Value};

use crate::process::home::Home;
use crate::server::Server;

/// The directories: after an orderly stop, and with changes that are only in the write-ahead log.
pub(crate) const ALL: [&str; 4] = ["2/stopped", "2/killed", "3/stopped", "3/killed"];

/// The settings with which the directories were made.
const SETTINGS: [(&str, &str); 8] = [
    ("TIDELINE__TIMELINE__INBOX_LIMIT", "10"),
    ("TIDELINE__TIMELINE__OUTBOX_LIMIT", "12"),
    ("TIDELINE__TIMELINE__ACTIVE_FOR", "36500d"),
    ("TIDELINE__TIMELINE__EVICT_AFTER", "36500d"),
    ("TIDELINE__CONTENT__DELETED_RETENTION", "36500d"),
    ("TIDELINE__FANOUT__PUSH_THRESHOLD", "2"),
    ("TIDELINE__FANOUT__PULL_THRESHOLD", "5"),
    ("TIDELINE__STORAGE__WRITE_BUFFER_MB", "8"),
];

pub(crate) fn kept(name: &str) -> PathBuf {
    Path::new("tests/formats").join(name)
}

/// A copy of a directory in `scratch`.
pub(crate) fn copy(name: &str, scratch: &Path) -> Home {
    let (from, to) = (kept(name).join("data"), scratch.join("data"));
    fs::create_dir_all(to.join("db")).expect("makes a directory");
    for part in ["", "db"] {
        for file in fs::read_dir(from.join(part)).expect("lists").map(|entry| entry.expect("an entry").path()) {
            if file.is_file() {
                fs::copy(&file, to.join(part).join(file.file_name().expect("a name"))).expect("copies");
            }
        }
    }
    Home::new(to, scratch.join("log"), &SETTINGS)
}

/// Compares every page with the answer that the version of the directory gave.
pub(crate) fn compare(name: &str, server: &Server, when: &str) {
    let pages = fs::read_to_string(kept(name).join("pages.json")).expect("reads");
    let pages: Map<String, Value> = serde_json::from_str(&pages).expect("JSON");
    assert!(pages.len() > 100, "{name}");
    for (path, answer) in pages {
        assert_eq!(server.get(&path), answer, "{name}, {when}: {path}");
    }
}

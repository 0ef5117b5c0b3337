//! Names and their numbers.

use feed::store::{Options, Store};
use kv::Tier;
use model::error::Result;

use super::support::open_with;

fn give(store: &Store, names: &[&str]) -> Vec<u64> {
    feed::ids::tables::give_numbers(store, names).expect("gives")
}

fn names(store: &Store, numbers: &[u64]) -> Result<Vec<String>> {
    Ok(feed::ids::tables::names(store, numbers, Tier::Disk)?.iter().map(|name| name.to_string()).collect())
}

/// Both directions have each of these names with its number.
#[track_caller]
fn are_there(store: &Store, named: &[&str], numbers: &[u64]) {
    let found = feed::ids::tables::numbers(store, named, Tier::Disk).expect("reads");
    assert_eq!(found, numbers.iter().copied().map(Some).collect::<Vec<_>>());
    assert_eq!(names(store, numbers).expect("reads"), named);
}

#[test]
fn names_in_memory_are_bounded() {
    const NAMES: usize = 200_000;
    let dir = tempfile::tempdir().expect("a directory");
    let store = open_with(&Options::new(dir.path()).with(|engine| engine.sync = false));
    let name = |n: usize| format!("{n:0>128}");
    let mut numbers = Vec::new();
    for first in (0..NAMES).step_by(5000) {
        let part: Vec<_> = (first..first + 5000).map(name).collect();
        let part: Vec<_> = part.iter().map(String::as_str).collect();
        numbers.extend(give(&store, &part));
        feed::ids::tables::names(&store, &numbers[first..], Tier::Disk).expect("reads");
    }
    let caches = store.caches();
    let caches: Vec<_> = caches.iter().filter(|(name, _)| ["numbers", "names"].contains(name)).collect();
    assert_eq!(caches.len(), 2);
    for (_, cache) in caches {
        assert!(cache.bytes.used <= cache.bytes.limit && cache.bytes.limit == 4 << 20, "{cache:?}");
        assert!(cache.evictions > 0 && (1000..NAMES as u64).contains(&cache.entries), "{cache:?}");
    }
    for n in (0..NAMES).step_by(997) {
        are_there(&store, &[&name(n)], &[numbers[n]]);
    }
}

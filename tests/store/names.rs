//! Names and their numbers.

use std::fs;
use std::path::Path;

use feed::store::Options;
use feed::store::Store;
use model::Profile;
use model::error::Result;
use model::store::Tier;

use super::support::{open, open_with, user};

fn give(store: &Store, names: &[&str]) -> Vec<u64> {
    feed::ids::tables::give_numbers(store, names).expect("gives")
}

/// Writes a change that mentions no name.
fn write(store: &Store) {
    let profile = Profile { nickname: Some("ann".to_owned()), ..Profile::default() };
    feed::users::tables::put_profile(store, user(1), &profile).expect("writes");
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
fn names_keep_their_numbers_over_starts() {
    let dir = tempfile::tempdir().expect("a directory");
    let store = open(dir.path());
    let mut known = vec![("a".to_owned(), give(&store, &["a"])[0])];
    write(&store);
    drop(store);
    for round in 0..3 {
        let store = open(dir.path());
        let name = format!("{round}");
        let number = give(&store, &[&name])[0];
        assert!(known.iter().all(|(_, before)| *before < number), "{number} {known:?}");
        known.push((name, number));
        write(&store);
        let (all, numbers): (Vec<_>, Vec<_>) = known.iter().map(|(name, number)| (name.as_str(), *number)).unzip();
        are_there(&store, &all, &numbers);
    }
}

/// Copies a directory that is open, as a crash leaves it.
fn crashed(dir: &Path) -> tempfile::TempDir {
    // Again, if the engine has removed a file meanwhile.
    loop {
        let copy = tempfile::tempdir().expect("a directory");
        fs::create_dir(copy.path().join("db")).expect("makes");
        fs::copy(dir.join("FORMAT"), copy.path().join("FORMAT")).expect("copies");
        let copied = fs::read_dir(dir.join("db")).expect("lists").try_for_each(|entry| {
            let entry = entry?;
            fs::copy(entry.path(), copy.path().join("db").join(entry.file_name())).map(drop)
        });
        match copied {
            Ok(()) => return copy,
            Err(error) => assert_eq!(error.kind(), std::io::ErrorKind::NotFound, "{error}"),
        }
    }
}

#[test]
fn a_crash_takes_no_name_from_a_change() {
    let dir = tempfile::tempdir().expect("a directory");
    let store = open(dir.path());
    let mut known = vec![("first".to_owned(), give(&store, &["first"])[0])];
    for round in 0..20 {
        let name = format!("name {round}");
        let given = give(&store, &[&name])[0];
        known.push((name, given));
        let copy = crashed(dir.path());
        let after = open(copy.path());
        let next = give(&after, &["another"])[0];
        assert!(known.iter().all(|(_, number)| *number < next), "{next} {known:?}");
        let (all, numbers): (Vec<_>, Vec<_>) = known.iter().map(|(name, number)| (name.as_str(), *number)).unzip();
        are_there(&after, &all, &numbers);
    }
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
    let usage = store.usage().expect("reads");
    let caches: Vec<_> = usage.caches.iter().filter(|(name, _)| ["numbers", "names"].contains(name)).collect();
    assert_eq!(caches.len(), 2);
    for (_, cache) in caches {
        assert!(cache.bytes.used <= cache.bytes.limit && cache.bytes.limit == 4 << 20, "{cache:?}");
        assert!(cache.evictions > 0 && (1000..NAMES as u64).contains(&cache.entries), "{cache:?}");
    }
    for n in (0..NAMES).step_by(997) {
        are_there(&store, &[&name(n)], &[numbers[n]]);
    }
}

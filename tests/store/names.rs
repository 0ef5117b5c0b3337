//! Names and their numbers.

use std::fs;
use std::path::Path;

use model::error::{Error, Result};
use model::store::Tier;
use model::{MAX_ID, Profile};
use store::Options;
use store::Store;

use super::support::{open, open_with, user};

on_both! {
    names_get_rising_numbers_in_the_order_of_the_call,
    names_are_compared_byte_by_byte,
}

fn give(store: &Store, names: &[&str]) -> Vec<u64> {
    store.give_numbers(names).expect("gives")
}

/// Writes a change that mentions no name.
fn write(store: &Store) {
    let profile = Profile { nickname: Some("ann".to_owned()), ..Profile::default() };
    store.put_profile(user(1), &profile).expect("writes");
}

fn number(store: &Store, name: &str) -> Option<u64> {
    store.numbers(&[name], Tier::Disk).expect("reads")[0]
}

fn names(store: &Store, numbers: &[u64]) -> Result<Vec<String>> {
    Ok(store.names(numbers, Tier::Disk)?.iter().map(|name| name.to_string()).collect())
}

/// Both directions have each of these names with its number.
#[track_caller]
fn are_there(store: &Store, named: &[&str], numbers: &[u64]) {
    let found = store.numbers(named, Tier::Disk).expect("reads");
    assert_eq!(found, numbers.iter().copied().map(Some).collect::<Vec<_>>());
    assert_eq!(names(store, numbers).expect("reads"), named);
}

fn names_get_rising_numbers_in_the_order_of_the_call(store: &Store) {
    assert_eq!(store.numbers(&["b", "a"], Tier::Disk).expect("reads"), [None, None]);
    assert_eq!((give(store, &[]), names(store, &[]).expect("reads")), (vec![], vec![]));
    let first = give(store, &["b", "a", "b"]);
    assert!(MAX_ID + 1 < first[0] && first[0] < first[1] && first[0] == first[2], "{first:?}");
    let second = give(store, &["d", "a", "c"]);
    assert!(first[1] < second[0] && second[0] < second[2] && second[1] == first[1], "{second:?}");
    are_there(store, &["d", "b", "c", "a"], &[second[0], first[0], second[2], first[1]]);
    assert_eq!(number(store, "e"), None);
    for unknown in [1, MAX_ID, MAX_ID + 1, second[2] + 1, u64::MAX - 1, u64::MAX] {
        assert!(matches!(names(store, &[first[0], unknown]), Err(Error::Corrupt(_))), "{unknown}");
    }
}

fn names_are_compared_byte_by_byte(store: &Store) {
    let long = "é".repeat(64);
    let alike =
        ["é", "e\u{301}", "E", "e", "042", "42 ", " 42", "0", "-1", "9223372036854775808", "a/b", "a%2Fb", &long];
    let numbers = give(store, &alike);
    assert!(numbers.is_sorted_by(|a, b| a < b), "{numbers:?}");
    are_there(store, &alike, &numbers);
    assert_eq!(number(store, &long[..126]), None);
    assert_eq!(number(store, ""), None);
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
fn a_read_from_memory_is_right_or_not_cached() {
    let dir = tempfile::tempdir().expect("a directory");
    let all: Vec<_> = (0..2000).map(|n| format!("name {n}")).collect();
    let all: Vec<_> = all.iter().map(String::as_str).collect();
    let store = open(dir.path());
    let given = give(&store, &all);
    write(&store);
    drop(store);
    let store = open(dir.path());
    let mut cold = 0;
    for (part, numbers) in all.chunks(20).zip(given.chunks(20)) {
        match store.numbers(part, Tier::Memory) {
            Ok(found) => assert!(found.iter().copied().eq(numbers.iter().copied().map(Some)), "{part:?}"),
            Err(Error::NotCached) => cold += 1,
            Err(other) => panic!("{other:?}"),
        }
        match store.names(numbers, Tier::Memory) {
            Ok(found) => assert!(found.iter().map(|name| &**name).eq(part.iter().copied()), "{part:?}"),
            Err(Error::NotCached) => cold += 1,
            Err(other) => panic!("{other:?}"),
        }
    }
    assert!(cold > 0, "everything was in memory: the test shows nothing");
    are_there(&store, &all, &given);
    let found = store.numbers(&all, Tier::Memory).expect("in memory");
    assert_eq!(found, given.iter().copied().map(Some).collect::<Vec<_>>());
    assert_eq!(store.names(&given, Tier::Memory).expect("in memory").len(), all.len());
}

#[test]
fn names_in_memory_are_bounded() {
    const NAMES: usize = 200_000;
    let dir = tempfile::tempdir().expect("a directory");
    let store = open_with(&Options { sync: false, ..Options::new(dir.path()) });
    let name = |n: usize| format!("{n:0>128}");
    let mut numbers = Vec::new();
    for first in (0..NAMES).step_by(5000) {
        let part: Vec<_> = (first..first + 5000).map(name).collect();
        let part: Vec<_> = part.iter().map(String::as_str).collect();
        numbers.extend(give(&store, &part));
        store.names(&numbers[first..], Tier::Disk).expect("reads");
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

//! Random operations on both kinds of store: every result and every read must be the same.
//!
//! The runs are the same each time; `TIDELINE_TEST_SEED` and `PROPTEST_CASES` choose others. A
//! failure prints its seed and the shortest sequence that still fails.

pub(crate) mod ops;
pub(crate) mod world;

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use proptest::test_runner::{Config, RngSeed, TestRunner};
use regex::Regex;

use self::world::World;

const SEED: u64 = 20_260_101;

#[test]
fn both_stores_do_the_same() {
    let seed = std::env::var("TIDELINE_TEST_SEED").map_or(SEED, |text| text.parse().expect("a seed is a number"));
    // The default reads PROPTEST_CASES; without it a run takes some seconds.
    let cases = if std::env::var_os("PROPTEST_CASES").is_some() { Config::default().cases } else { 48 };
    let config = Config {
        cases,
        rng_seed: RngSeed::Fixed(seed),
        failure_persistence: None,
        max_shrink_iters: 2000,
        ..Config::default()
    };
    let outcome = TestRunner::new(config).run(&ops::sequences(), |steps| {
        let mut world = World::new();
        for step in &steps {
            world.apply(&step.op)?;
            for read in &step.reads {
                world.read(read)?;
            }
            world.compare_everything()?;
        }
        Ok(())
    });
    if let Err(error) = outcome {
        panic!("TIDELINE_TEST_SEED={seed}: {error}");
    }
}

/// Methods without an answer to compare: about the engine, its log, damage, a copy, a start, or in terms of
/// another method.
const NOT_COMPARED: [&str; 23] = [
    "begin_run",
    "check_copy",
    "copy_to",
    "drop_damaged_inboxes",
    "effects",
    "end_change",
    "fail_group",
    "flushed",
    "has_content",
    "is_set_back",
    "keep_log",
    "keep_mark",
    "left",
    "log_effects",
    "log_facts",
    "needs_restart",
    "read_log",
    "refusal",
    "seal",
    "stats",
    "unseal",
    "usage",
    "write_group",
];

#[test]
fn every_method_of_a_store_is_compared() {
    let contract = Path::new("crates/model/src/store");
    let files = fs::read_dir(contract).unwrap().map(|entry| entry.unwrap().path());
    let text: String = files.filter(|path| path.is_file()).map(|path| fs::read_to_string(path).unwrap()).collect();
    let (_, reads) = include_str!("store/everything.rs").split_once("pub(crate) fn reads(").unwrap();
    let calls = [reads, include_str!("store_mirror/ops.rs"), include_str!("store_mirror/world.rs")].concat();
    let methods = Regex::new(r"(?m)^    fn (\w+)\((\s*&self[^)]*)\)").unwrap();
    let is_called = |[name, arguments]: [&str; 2]| {
        let places = if arguments.contains("tier: Tier") { reads } else { &calls };
        Regex::new(&format!(r"[.:]{name}\b")).unwrap().is_match(places)
    };
    let missing: BTreeSet<_> =
        methods.captures_iter(&text).map(|method| method.extract().1).filter(|method| !is_called(*method)).collect();
    let missing: Vec<_> = missing.into_iter().map(|[name, _]| name).collect();
    assert_eq!(missing, NOT_COMPARED, "a read is a line in tests/store/everything.rs, a write in `same` of ops.rs");
}

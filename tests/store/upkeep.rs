//! Figures of the store.

use std::collections::BTreeSet;

use feed::store::Store;

use super::everything::{empty_tables, fill};

fn rows(store: &Store, table: &str) -> u64 {
    let stats = store.usage().expect("reads").tables;
    stats.iter().find(|figures| figures.table == table).expect("the table is there").rows
}

fn every_table_is_filled_and_described(store: &Store) {
    fill(store);
    let empty: Vec<_> = empty_tables(store).into_iter().filter(|table| !table.ends_with("_archive")).collect();
    assert!(empty.is_empty(), "`fill` of tests/store/everything.rs puts no row into {empty:?}");
    let tables: BTreeSet<_> = store.usage().expect("reads").tables.into_iter().map(|figures| figures.table).collect();
    let (_, page) = include_str!("../../docs/schema.md").split_once("## Tables\n").expect("a section");
    let lines = page.split("\n## ").next().into_iter().flat_map(str::lines);
    let described: BTreeSet<_> = lines.filter_map(|line| line.strip_prefix("| `")?.split('`').next()).collect();
    let differ: Vec<_> = tables.symmetric_difference(&described).collect();
    assert!(differ.is_empty(), "the tables of the store and of docs/schema.md differ in {differ:?}");
    assert_eq!(rows(store, "content"), 901);
}

on_both! {
    every_table_is_filled_and_described,
}

//! Figures of the store.

use feed::store::Store;

use super::everything::{empty_tables, fill};

fn rows(store: &Store, table: &str) -> u64 {
    let stats = store.usage().expect("reads").tables;
    stats.iter().find(|figures| figures.table == table).expect("the table is there").rows
}

fn every_table_is_filled(store: &Store) {
    fill(store);
    let empty: Vec<_> = empty_tables(store).into_iter().filter(|table| !table.ends_with("_archive")).collect();
    assert!(empty.is_empty(), "`fill` of tests/store/everything.rs puts no row into {empty:?}");
    assert_eq!(rows(store, "content"), 901);
}

on_a_store! {
    every_table_is_filled,
}

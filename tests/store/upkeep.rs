//! Figures of the store.

use std::path::Path;

use feed::store::{Store, described};

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

/// Writes the page anew if `TIDELINE_WRITE_DOCS` is set.
#[test]
fn the_page_of_the_schema_has_every_table_as_it_is_declared() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/schema.md");
    let page = std::fs::read_to_string(&path).expect("the page");
    let (before, rest) = page.split_once("| table | rows |").expect("the table");
    let (_, after) = rest.split_once("|\n\n").expect("its end");
    let wanted = format!("{before}{}\n{after}", described());
    if std::env::var_os("TIDELINE_WRITE_DOCS").is_some() {
        std::fs::write(&path, wanted).expect("writes");
    } else {
        assert!(page == wanted, "docs/schema.md differs from the declarations: `make schema` writes it");
    }
}

on_a_store! {
    every_table_is_filled,
}

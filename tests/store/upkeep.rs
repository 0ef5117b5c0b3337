//! Maintenance of the store: all users, compaction, figures.

use std::collections::BTreeSet;

use feed::store::Store;
use model::UserId;
use model::store::{Push, Then};

use super::everything::{Scope, dump, empty_tables, fill};
use super::support::{MANY, deliver, follow, inbox, jobs, place, post, push, timed, user, users};

fn all_users(store: &Store) -> Vec<UserId> {
    feed::users::tables::users_after(store, None, MANY).expect("reads")
}

fn rows(store: &Store, table: &str) -> u64 {
    let stats = store.usage().expect("reads").tables;
    stats.iter().find(|figures| figures.table == table).expect("the table is there").rows
}

fn users_are_paged_by_id_each_once(store: &Store) {
    // User 256 is in several tables, the others in one each.
    let everybody = users([1, 2, 255, 256, 257, 900, 65_536, u64::MAX >> 1]);
    follow(store, 1, 256, 10);
    follow(store, 256, 2, 10);
    push(store, 10, 900, 100, &users([256, 255, u64::MAX >> 1]));
    for who in [256, 257, 65_536] {
        feed::inbox::tables::raise_floor(store, user(who), place(50, 1)).expect("raises");
    }
    assert_eq!(all_users(store), everybody);
    for limit in [1, 2, 3, 8, 9] {
        let mut paged: Vec<UserId> = Vec::new();
        loop {
            let page = feed::users::tables::users_after(store, paged.last().copied(), limit).expect("reads");
            assert!(page.len() <= limit);
            if page.is_empty() {
                break;
            }
            paged.extend(page);
        }
        assert_eq!(paged, everybody);
    }
    assert_eq!(feed::users::tables::users_after(store, None, 0).expect("reads"), []);
    // After ids of no user.
    assert_eq!(feed::users::tables::users_after(store, Some(user(100)), 2).expect("reads"), users([255, 256]));
    assert_eq!(feed::users::tables::users_after(store, Some(UserId::MAX), 2).expect("reads"), []);
}

fn compaction_changes_no_answer(store: &Store) {
    fill(store);
    let all = || (dump(store, &Scope::filled()), jobs(store));
    let before = all();
    for _ in 0..2 {
        store.compact().expect("compacts");
        assert_eq!(all(), before);
    }
}

fn compaction_drops_what_lies_below_a_floor(store: &Store) {
    let items: Vec<_> = (1..=1000).map(|id| timed(post(id, 1, id))).collect();
    feed::items::tables::publish(store, &items, model::store::Batch::AllOrNone, Push::Queued).expect("publishes");
    for job in feed::inbox::tables::jobs(store).expect("reads") {
        deliver(store, job, &users([2]), Then::End);
    }
    let size = |store: &Store| {
        store.compact().expect("compacts");
        let tables = store.usage().expect("reads").tables;
        let table = tables.iter().find(|figures| figures.table == "inboxes").expect("a table");
        (table.rows, table.bytes)
    };
    let before = size(store);
    feed::inbox::tables::raise_floor(store, user(2), place(990, 990)).expect("raises");
    let after = size(store);
    assert!(after < before, "{before:?} rows and bytes before, {after:?} after");
    assert_eq!(inbox(store, 2).len(), 10);
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
    users_are_paged_by_id_each_once,
    compaction_changes_no_answer,
    compaction_drops_what_lies_below_a_floor,
    every_table_is_filled_and_described,
}

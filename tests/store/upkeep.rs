//! Maintenance of the store: all users, compaction, figures.

use std::collections::BTreeSet;

use model::store::{Push, Then};
use model::{Barrier, UserId};
use store::Store;

use super::everything::{Scope, dump, empty_tables, fill};
use super::support::{
    MANY, deliver, floor, follow, ids, inbox, item, jobs, place, post, publish_post, push, settle, timed, unfollow,
    user, users,
};

fn all_users(store: &Store) -> Vec<UserId> {
    store.users_after(None, MANY).expect("reads")
}

fn rows(store: &Store, table: &str) -> u64 {
    let stats = store.stats().expect("reads");
    stats.iter().find(|figures| figures.table == table).expect("the table is there").rows
}

fn a_fresh_store_has_no_users(store: &Store) {
    assert_eq!(all_users(store), []);
}

fn either_side_of_a_follow_is_a_user(store: &Store) {
    follow(store, 5, 3, 100);
    assert_eq!(all_users(store), users([3, 5]));
    unfollow(store, 5, 3);
    assert_eq!(all_users(store), []);
}

fn inbox_rows_make_a_user(store: &Store) {
    let job = publish_post(store, 10, 1, 100);
    deliver(store, job, &users([7, 8]), Then::End);
    store.delete(item(10), 5.into()).expect("deletes");
    assert_eq!(all_users(store), users([7, 8]));
}

fn whose_last_inbox_row_went_is_no_user(store: &Store) {
    push(store, 10, 1, 100, &users([7]));
    follow(store, 7, 1, 5);
    let job = unfollow(store, 7, 1);
    settle(store, job, MANY);
    assert_eq!((inbox(store, 7), all_users(store)), (vec![], users([1])));
}

fn a_floor_makes_a_user(store: &Store) {
    store.raise_floor(user(7), place(100, 1)).expect("raises");
    assert_eq!(all_users(store), users([7]));
    store.compact().expect("compacts");
    assert_eq!(all_users(store), users([7]));
}

fn an_outbox_page_makes_a_user(store: &Store) {
    for id in 10..13 {
        push(store, id, 7, 100 + id, &[]);
    }
    assert_eq!(all_users(store), users([7]));
    for id in 10..13 {
        store.archive_outbox(user(7), place(111, 11), 5).expect("archives");
        assert_eq!(all_users(store), users([7]));
        store.delete(item(id), 5.into()).expect("deletes");
    }
    assert_eq!(all_users(store), []);
}

fn either_side_of_a_barrier_is_a_user(store: &Store) {
    let set = |who, target, barrier, since| {
        store.set_barrier(user(who), user(target), barrier, since, MANY).expect("sets");
    };
    set(2, 1, Barrier::Mute, Some(5));
    assert_eq!(all_users(store), users([1, 2]));
    set(3, 4, Barrier::Hide, Some(5));
    assert_eq!(all_users(store), users([1, 2, 3, 4]));
    set(5, 6, Barrier::Block, Some(5));
    assert_eq!(all_users(store), users([1, 2, 3, 4, 5, 6]));
    set(2, 1, Barrier::Mute, None);
    set(3, 4, Barrier::Hide, None);
    set(5, 6, Barrier::Block, None);
    assert_eq!(all_users(store), []);
}

fn being_touched_makes_no_user(store: &Store) {
    store.touch(user(7), 100).expect("touches");
    assert_eq!(all_users(store), []);
}

fn users_are_paged_by_id_each_once(store: &Store) {
    // User 256 is in several tables, the others in one each.
    let everybody = users([1, 2, 255, 256, 257, 900, 65_536, u64::MAX >> 1]);
    follow(store, 1, 256, 10);
    follow(store, 256, 2, 10);
    push(store, 10, 900, 100, &users([256, 255, u64::MAX >> 1]));
    for who in [256, 257, 65_536] {
        store.raise_floor(user(who), place(50, 1)).expect("raises");
    }
    assert_eq!(all_users(store), everybody);
    for limit in [1, 2, 3, 8, 9] {
        let mut paged: Vec<UserId> = Vec::new();
        loop {
            let page = store.users_after(paged.last().copied(), limit).expect("reads");
            assert!(page.len() <= limit);
            if page.is_empty() {
                break;
            }
            paged.extend(page);
        }
        assert_eq!(paged, everybody);
    }
    assert_eq!(store.users_after(None, 0).expect("reads"), []);
    // After ids of no user.
    assert_eq!(store.users_after(Some(user(100)), 2).expect("reads"), users([255, 256]));
    assert_eq!(store.users_after(Some(UserId::MAX), 2).expect("reads"), []);
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

fn pushes_after_a_compaction_are_right(store: &Store) {
    push(store, 10, 1, 100, &users([2]));
    push(store, 11, 1, 110, &users([2]));
    store.raise_floor(user(2), place(100, 10)).expect("raises");
    store.compact().expect("compacts");
    push(store, 12, 1, 105, &users([2]));
    push(store, 9, 1, 99, &users([2]));
    assert_eq!(ids(&inbox(store, 2)), [11, 12]);
    store.delete(item(11), 500.into()).expect("deletes");
    store.compact().expect("compacts");
    let job = follow(store, 2, 1, 5);
    assert_eq!(settle(store, job, MANY), 1);
    assert_eq!((ids(&inbox(store, 2)), floor(store, 2)), (vec![12], Some(place(100, 10))));
}

fn compaction_drops_what_lies_below_a_floor(store: &Store) {
    let items: Vec<_> = (1..=1000).map(|id| timed(post(id, 1, id))).collect();
    store.publish(&items, model::store::Batch::AllOrNone, Push::Queued).expect("publishes");
    for job in store.jobs().expect("reads") {
        deliver(store, job, &users([2]), Then::End);
    }
    let size = |store: &Store| {
        store.compact().expect("compacts");
        let tables = store.stats().expect("reads");
        let table = tables.iter().find(|figures| figures.table == "inboxes").expect("a table");
        (table.rows, table.bytes)
    };
    let before = size(store);
    store.raise_floor(user(2), place(990, 990)).expect("raises");
    let after = size(store);
    assert!(after < before, "{before:?} rows and bytes before, {after:?} after");
    assert_eq!(inbox(store, 2).len(), 10);
}

fn an_empty_store_can_be_looked_after(store: &Store) {
    store.sync().expect("syncs");
    store.compact().expect("compacts");
    assert!(store.stats().expect("reads").iter().all(|figures| figures.rows == 0));
}

fn a_sync_changes_nothing(store: &Store) {
    fill(store);
    let before = dump(store, &Scope::filled());
    store.sync().expect("syncs");
    assert_eq!(dump(store, &Scope::filled()), before);
}

fn every_table_is_filled_and_described(store: &Store) {
    fill(store);
    let empty: Vec<_> = empty_tables(store).into_iter().filter(|table| !table.ends_with("_archive")).collect();
    assert!(empty.is_empty(), "`fill` of tests/store/everything.rs puts no row into {empty:?}");
    let tables: BTreeSet<_> = store.stats().expect("reads").into_iter().map(|figures| figures.table).collect();
    let (_, page) = include_str!("../../docs/schema.md").split_once("## Tables\n").expect("a section");
    let lines = page.split("\n## ").next().into_iter().flat_map(str::lines);
    let described: BTreeSet<_> = lines.filter_map(|line| line.strip_prefix("| `")?.split('`').next()).collect();
    let differ: Vec<_> = tables.symmetric_difference(&described).collect();
    assert!(differ.is_empty(), "the tables of the store and of docs/schema.md differ in {differ:?}");
    assert_eq!(rows(store, "content"), 901);
}

on_both! {
    a_fresh_store_has_no_users,
    either_side_of_a_follow_is_a_user,
    inbox_rows_make_a_user,
    whose_last_inbox_row_went_is_no_user,
    a_floor_makes_a_user,
    an_outbox_page_makes_a_user,
    either_side_of_a_barrier_is_a_user,
    being_touched_makes_no_user,
    users_are_paged_by_id_each_once,
    compaction_changes_no_answer,
    pushes_after_a_compaction_are_right,
    compaction_drops_what_lies_below_a_floor,
    an_empty_store_can_be_looked_after,
    a_sync_changes_nothing,
    every_table_is_filled_and_described,
}

//! Digests of the tables that are equal on all nodes of a cluster.

use std::collections::BTreeSet;

use feed::check::{TableDigest, Watch};
use kv::Tier;
use model::error::{Code, Result};
use model::{Event, EventKind, Span};

use super::everything::fill;
use super::support::{MANY, Quiet, digest, item, place, publish_post, user, users};
use feed::store::Store;

on_a_store!(
    a_store_has_the_rows_of_the_schema,
    changes_after_the_instant_do_not_count,
    a_store_has_data_once_it_has_a_row_that_other_nodes_would_lack,
    deletions_that_are_not_final_count_with_all_rows,
    a_watch_can_end_it,
);

/// The tables whose digests differ.
fn differing(a: &[TableDigest], b: &[TableDigest]) -> Vec<&'static str> {
    assert_eq!(a.len(), b.len());
    a.iter().zip(b).filter(|(a, b)| a != b).map(|(a, _)| a.table).collect()
}

fn a_store_has_the_rows_of_the_schema(store: &Store) {
    let model = Store::in_memory().expect("opens");
    assert_eq!(differing(&digest(&model, 0), &digest(store, 0)), Vec::<&str>::new());
    fill(&model);
    fill(store);
    for final_before in [0, 50, 51, u64::MAX] {
        assert_eq!(digest(&model, final_before), digest(store, final_before));
    }
    let filled = digest(store, 0);
    let empty: Vec<_> = filled.iter().filter(|digest| digest.rows == 0).map(|digest| digest.table).collect();
    assert_eq!(empty, Vec::<&str>::new());
    assert_eq!(filled.iter().map(|digest| digest.digest).collect::<BTreeSet<_>>().len(), filled.len());
}

/// Moves all rows of outboxes and of topics to archives.
fn archive(store: &Store) {
    for author in 1..=3 {
        feed::items::tables::archive_outbox(store, user(author), place(200, 5000), 100).expect("archives");
    }
    for name in ["t", "u"] {
        let topic = feed::topics::tables::topic(store, name, Tier::Disk).expect("reads").expect("a topic");
        feed::topics::tables::archive_topic(store, topic, place(200, 5000), MANY).expect("archives");
    }
}

fn changes_after_the_instant_do_not_count(store: &Store) {
    fill(store);
    let before = digest(store, 0);
    let mut taken = 0;
    let late = feed::check::digest(
        store,
        0,
        &mut || {
            taken += 1;
            publish_post(store, 90, 1, 500);
            archive(store);
            store.compact().expect("compacts");
            for id in [1007, 2004] {
                feed::erasure::tables::purge_rows(store, item(id), u64::MAX, MANY, None).expect("purges");
                assert!(feed::items::tables::purge(store, item(id), u64::MAX).expect("purges"));
            }
            store.compact().expect("compacts");
        },
        &mut Quiet,
    );
    assert_eq!(late.expect("digests"), before);
    assert_eq!(taken, 1);
    assert_ne!(digest(store, 0), before);
    let newest = feed::items::tables::outboxes(store, &users([1]), Span::ALL.newest(1), Tier::Disk).expect("reads");
    assert_eq!(newest[0].cursor, place(500, 90));
}

fn a_store_has_data_once_it_has_a_row_that_other_nodes_would_lack(store: &Store) {
    feed::events::tables::begin_run(store, Some(Event::new(1, EventKind::Gap, false, 1, 1)), None).expect("begins");
    feed::inbox::tables::meet(store, user(1), 1).expect("meets");
    assert!(!feed::check::has_data(store).expect("reads"), "an event of a gap, and what each node has for itself");
    feed::users::tables::move_marker(store, user(1), place(1, 1), None).expect("moves");
    assert!(feed::check::has_data(store).expect("reads"));
}

fn deletions_that_are_not_final_count_with_all_rows(store: &Store) {
    fill(store);
    let (whole, partly) = (digest(store, 50), digest(store, 51));
    let rows = |of: &[TableDigest], table| of.iter().find(|digest| digest.table == table).expect("a table").rows;
    assert_eq!(rows(&whole, "content") - rows(&partly, "content"), 3);
    assert_eq!(rows(&whole, "reactions_by_user") - rows(&partly, "reactions_by_user"), 18);
    assert_eq!((rows(&whole, "deleted"), rows(&partly, "deleted")), (3, 3));
    assert!(differing(&whole, &partly).contains(&"deleted"), "the times of deletions that are not final");
    for id in [1007, 2004, 3200] {
        feed::erasure::tables::purge_rows(store, item(id), 51, MANY, None).expect("purges");
        assert!(feed::items::tables::purge(store, item(id), 51).expect("purges"));
    }
    assert_eq!(differing(&partly, &digest(store, 51)), Vec::<&str>::new(), "a node that has purged the items");
}

fn a_watch_can_end_it(store: &Store) {
    struct Ends;
    impl Watch for Ends {
        fn finds(&mut self, line: String) {
            panic!("{line}");
        }
        fn looked_at(&mut self, _: &'static str, _: u64) -> Result<()> {
            Err(Code::Stopping.into())
        }
    }
    let error = feed::check::digest(store, 0, &mut || (), &mut Ends).expect_err("ended");
    assert_eq!(error.code(), Some(Code::Stopping));
}

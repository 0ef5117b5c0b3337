//! How far users have read: forward only.

use tideline::model::Cursor;
use tideline::store::{Store, Tier};

use super::support::{place, user};

fn marker(store: &Store, who: u64) -> Option<Cursor> {
    store.marker(user(who), Tier::Disk).expect("reads")
}

fn a_marker_moves_forward_only(store: &Store) {
    assert_eq!(marker(store, 1), None);
    for (moved_to, then) in [
        (place(5, 5), place(5, 5)),
        (place(4, 9), place(5, 5)),
        (place(5, 4), place(5, 5)),
        (place(5, 5), place(5, 5)),
        (place(5, 6), place(5, 6)),
        (place(6, 1), place(6, 1)),
        (Cursor::OLDEST, place(6, 1)),
        (Cursor::NEWEST, Cursor::NEWEST),
        (place(6, 1), Cursor::NEWEST),
    ] {
        assert_eq!(store.move_marker(user(1), moved_to).expect("moves"), then, "to {moved_to}");
        assert_eq!(marker(store, 1), Some(then));
    }
    assert_eq!(marker(store, 2), None, "another user's");
    assert_eq!(store.move_marker(user(2), Cursor::OLDEST).expect("moves"), Cursor::OLDEST);
    assert_eq!((marker(store, 2), marker(store, 1)), (Some(Cursor::OLDEST), Some(Cursor::NEWEST)));
}

fn moves_at_the_same_time_end_at_the_newest(store: &Store) {
    std::thread::scope(|threads| {
        for thread in 0..4 {
            threads.spawn(move || {
                for n in 0..50 {
                    let wanted = place(n * 4 + thread, 1);
                    let then = store.move_marker(user(1), wanted).expect("moves");
                    assert!(then >= wanted);
                    assert!(marker(store, 1) >= Some(then), "a read after a move sees it");
                }
            });
        }
    });
    assert_eq!(marker(store, 1), Some(place(49 * 4 + 3, 1)));
}

on_both! {
    a_marker_moves_forward_only,
    moves_at_the_same_time_end_at_the_newest,
}

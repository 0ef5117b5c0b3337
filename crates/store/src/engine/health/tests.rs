use super::*;
use crate::engine::directory::LOCK;

/// A directory with the file that is always there.
fn data_dir() -> tempfile::TempDir {
    let dir = tempfile::tempdir().expect("temp dir");
    std::fs::create_dir_all(dir.path().join("db")).expect("makes");
    std::fs::write(dir.path().join(CURRENT_OF_ENGINE), "").expect("writes");
    dir
}

#[test]
fn changes_are_taken_only_while_enough_is_free() {
    let dir = data_dir();
    assert!(Health::new(dir.path(), 0).admit().is_ok());
    let health = Health::new(dir.path(), 1);
    assert!(health.admit().is_ok());
    // As after a look at a full file system, with the next one far off.
    health.scarce.store(true, Ordering::Relaxed);
    health.next_look.store(u64::MAX, Ordering::Relaxed);
    assert_eq!(health.refusal(), None);
    let error = health.admit().expect_err("full");
    assert_eq!(error.code(), Some(Code::StorageUnavailable), "{error}");
    assert!(health.refusal().is_some_and(|why| why.contains("must be free (storage.min_free_mb")));
    assert!(health.failing.load(Ordering::Acquire));
    health.wrote(&Admitted { tries: false });
    assert!(health.failing.load(Ordering::Acquire));
    health.wrote(&Admitted { tries: true });
    assert!(!health.failing.load(Ordering::Acquire) && health.refusal().is_none());
    // The next look finds room.
    health.next_look.store(0, Ordering::Relaxed);
    assert!(health.admit().is_ok());
}

#[test]
fn a_directory_that_is_removed_takes_no_changes() {
    for min_free in [0, 1] {
        let dir = data_dir();
        std::fs::write(dir.path().join(LOCK), "").expect("writes");
        let health = Health::new(dir.path(), min_free);
        std::fs::remove_file(dir.path().join(LOCK)).expect("removes");
        assert!(health.admit().is_ok() && health.takes_writes(), "only a lock is gone");
        std::fs::remove_dir_all(dir.path().join("db")).expect("removes");
        health.next_look.store(0, Ordering::Relaxed);
        assert!(!health.is_scarce() && health.has_ended(), "known before a change comes");
        assert_eq!(health.admit().expect_err("removed").code(), Some(Code::StorageUnavailable));
        assert!(!health.takes_writes());
        assert_eq!(health.refusal().as_deref(), Some(REMOVED));
    }
}

#[test]
fn a_device_that_takes_no_write_for_a_while_stalls() {
    let dir = tempfile::tempdir().expect("temp dir");
    // Started long ago, so that the last progress can be put back instead of a wait.
    let started = Instant::now().checked_sub(5 * STALL).expect("a time");
    let health = Health { started, ..Health::new(dir.path(), 0) };
    let wait = || health.progress.fetch_sub(STALL.as_millis() as u64 + 1, Ordering::SeqCst);
    assert!(!health.is_stalled());
    let writes = [health.begin(), health.begin()];
    assert!(!health.is_stalled(), "they have only begun");
    wait();
    assert!(health.is_stalled());
    let [first, second] = writes;
    drop(first);
    assert!(!health.is_stalled(), "it takes some");
    drop(second);
    wait();
    assert!(!health.is_stalled(), "nothing waits");
}

#[test]
fn once_refused_changes_need_a_margin() {
    assert!(!is_scarce(512, 512, false) && is_scarce(511, 512, false));
    assert!(is_scarce(575, 512, true) && !is_scarce(576, 512, true));
    assert!(is_scarce(1, u64::MAX, true));
}

#[test]
fn a_refusal_says_how_much_room_is_lacking() {
    let dir = tempfile::tempdir().expect("temp dir");
    let health = Health::new(dir.path(), 0);
    assert_eq!(health.owed(), None);
    health.owes_room.store(true, Ordering::Release);
    health.set_owed((3 << 20) + 5, (4 << 20) - 5);
    let said = health.owed().expect("owed");
    assert!(said.starts_with("3 MiB are free; 4 MiB must be free to create the file RESERVE,"), "{said}");
    let said = "0 MiB are free; 24 MiB must be free (storage.min_free_mb, lowered for this small device)";
    assert_eq!(too_little(5, 24 << 20, 512 << 20), said);
    assert_eq!(too_little(5 << 20, 24 << 20, 24 << 20), "5 MiB are free; 24 MiB must be free (storage.min_free_mb)");
}

#[test]
fn a_small_file_system_is_not_full_from_the_start() {
    let mib = |n: u64| n << 20;
    let leasts = [40, 100, 300, 1024, 1 << 20].map(|all| least(mib(512), mib(all)) >> 20);
    assert_eq!(leasts, [10, 24, 24, 64, 512]);
    assert_eq!(least(0, mib(100)), 0);
}

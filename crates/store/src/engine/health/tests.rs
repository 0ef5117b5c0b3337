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
    let far_off = Instant::now().checked_add(Duration::from_secs(3600));
    let looked = health.look();
    *health.look.lock() = Look { is_scarce: true, next: far_off, ..looked };
    assert_eq!(health.refusal(), None);
    let error = health.admit().err().expect("full");
    assert_eq!(error.code(), Some(Code::StorageUnavailable), "{error}");
    assert!(health.refusal().is_some_and(|why| why.contains("must be free (storage.min_free_mb")));
    assert!(health.is_failing());
    let admitted = |tries| Admitted { health: &health, tries, _writing: health.writes.begin() };
    admitted(false).succeeded();
    assert!(health.is_failing());
    admitted(true).succeeded();
    assert!(!health.is_failing() && health.refusal().is_none());
    // The next look finds room.
    health.look.lock().next = None;
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
        health.look.lock().next = None;
        assert!(!health.look().is_scarce && health.has_ended(), "known before a change comes");
        assert_eq!(health.admit().err().expect("removed").code(), Some(Code::StorageUnavailable));
        assert!(!health.takes_writes());
        assert_eq!(health.refusal().as_deref(), Some(REMOVED));
    }
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
    health.set_owed(Some(((3 << 20) + 5, (4 << 20) - 5)));
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

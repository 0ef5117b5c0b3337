//! `tideline backup` and `tideline restore`, and the calls behind them.

use std::fs;
use std::io::Write as _;
use std::os::unix::process::ExitStatusExt as _;
use std::path::{Path, PathBuf};

use crate::command::{Place, Ran, dump};
use crate::server::{Server, run, wait_until};
use feed::store::{Options, Store};
use kv::FORMAT;
use tar::{EntryType, Header};

/// A place with some data, and an archive `b.tar` of it.
fn place() -> Place {
    let place = Place::new();
    place.file("f", "1,2\n1,3\n2,1\n");
    place.file("c", "10,2,1000\n11,3,1000\n12,2,2000\n13,1,1500\n");
    place.run(&["import", "--follows", "f", "--content", "c"]).ok();
    place.run(&["backup", "--to", "b.tar"]).ok();
    place
}

/// The names in a directory, sorted.
fn names(dir: &Path) -> Vec<String> {
    let mut names: Vec<_> =
        fs::read_dir(dir).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

/// A restore that must fail and leave nothing.
#[track_caller]
fn refused(place: &Place, from: &str, words: &str) -> Ran {
    let ran = place.run(&["restore", "--from", from, "--data-dir", "new"]).failed(words);
    assert_eq!(names(&place.path("new")), ["LOCK"], "{ran:?}");
    ran
}

/// The only backup of the place.
fn backup(place: &Place) -> PathBuf {
    let backups = place.data().join("backups");
    backups.join(&names(&backups)[0])
}

#[test]
fn a_backup_is_restored_in_every_form() {
    let place = place();
    let wanted = place.dump();
    fs::create_dir(place.path("out")).unwrap();
    for to in ["c.tar.zst", "out"] {
        place.run(&["backup", "--to", to]).ok();
    }
    let copied = format!("out/{}", names(&place.path("out"))[0]);
    let kept = backup(&place).display().to_string();
    for (number, from) in ["b.tar", "c.tar.zst", &copied, &kept].into_iter().enumerate() {
        let data = format!("new-{number}");
        let ran = place.run(&["restore", "--from", from, "--data-dir", &data]).ok();
        assert!(ran.out.contains("3 users checked, 0 disagreements"), "{ran:?}");
        assert!(ran.out.contains(&format!("restored {data}; the data is from 20")), "{ran:?}");
        assert_eq!(names(&place.path(&data)), ["FORMAT", "LOCK", "db"]);
        let restored = Store::open(&Options::new(place.path(&data))).unwrap();
        assert_eq!(dump(&restored), wanted, "{from}");
    }
    let archive = fs::read(place.path("b.tar")).unwrap();
    let ran = place.run_with(&["restore", "--from", "-", "--data-dir", "piped"], &archive).ok();
    assert!(ran.out.contains("the data is from 20"), "{ran:?}");
    let ran = place.command(&["backup", "--to", "-"]).output().unwrap();
    let ran = place.run_with(&["restore", "--from", "-", "--data-dir", "piped-2"], &ran.stdout).ok();
    assert!(ran.out.contains("the data is from 20"), "{ran:?}");
}

#[test]
fn new_files_are_for_their_owner_only_and_old_ones_keep_their_modes() {
    use std::os::unix::fs::PermissionsExt;
    let place = Place::new();
    place.file("f", "1,2\n");
    let open = |args: &[&str]| {
        let command = place.command(args);
        let mut shell = std::process::Command::new("sh");
        shell.args(["-c", "umask 022; exec \"$0\" \"$@\""]).arg(command.get_program()).args(args);
        let ended = shell.env_clear().current_dir(place.path("")).output().unwrap();
        assert!(ended.status.success(), "{args:?}: {}", String::from_utf8_lossy(&ended.stderr));
    };
    let mode = |path: &str| fs::metadata(place.path(path)).unwrap().permissions().mode() & 0o777;
    fs::create_dir(place.path("out")).unwrap();
    fs::set_permissions(place.path("out"), fs::Permissions::from_mode(0o755)).unwrap();
    open(&["import", "--follows", "f", "--data-dir", "data"]);
    open(&["backup", "--to", "b.tar.zst", "--data-dir", "data"]);
    open(&["backup", "--to", "out", "--data-dir", "data"]);
    open(&["restore", "--from", "b.tar.zst", "--data-dir", "out/new"]);
    let kept = format!("data/backups/{}", names(&place.data().join("backups"))[0]);
    let copied = names(&place.path("out")).into_iter().find(|name| name.starts_with("20")).unwrap();
    for dir in ["data", "data/backups", &kept, &format!("out/{copied}"), "out/new"] {
        assert_eq!(mode(dir), 0o700, "{dir}");
    }
    assert_eq!((mode("b.tar.zst"), mode("out")), (0o600, 0o755));
}

#[test]
fn a_restore_never_overwrites() {
    let place = place();
    let before = names(&place.data());
    place.run(&["restore", "--from", "b.tar"]).failed("is not empty: it has ");
    let now: Vec<_> = names(&place.data()).into_iter().filter(|name| name != "LOCK").collect();
    assert_eq!(now, before.into_iter().filter(|name| name != "LOCK").collect::<Vec<_>>());
    fs::create_dir(place.path("other")).unwrap();
    place.file("other/letter.txt", "x");
    place.run(&["restore", "--from", "b.tar", "--data-dir", "other"]).failed("it has letter.txt");
    fs::create_dir_all(place.path("engine/db")).unwrap();
    place.run(&["restore", "--from", "b.tar", "--data-dir", "engine"]).failed("it has db");
    place.run(&["restore", "--from", "f", "--replace"]).failed("cannot be unpacked");
    assert_eq!(names(&place.data()).into_iter().filter(|name| name != "LOCK").collect::<Vec<_>>(), now);
    place.run(&["backup", "--to", "b.tar"]).failed("b.tar exists already");
    place.run(&["backup", "--to", "b.tar.gz"]).failed("only .tar and .tar.zst");
    place.run(&["backup", "--to", "nowhere/b.tar"]).failed("there is no directory nowhere");
    place.run(&["restore", "--from", "missing.tar", "--data-dir", "new"]).failed("cannot read missing.tar");
    place.run(&["restore", "--from", "f", "--data-dir", "new"]).failed("cannot be unpacked");
    place.run(&["restore", "--from", "data", "--data-dir", "new"]).failed("it has no file BACKUP");
    place.run(&["backup", "--data-dir", "nowhere"]).failed("there is no data directory");
    place.run(&["backup", "--url", "localhost"]).failed("expected http:// or https:// and a host");
    place.file("keys", "# only hashes\n\nsha256:0f\n");
    let with_keys = ["backup", "--url", "http://127.0.0.1:1", "--key-file", "keys"];
    place.run(&with_keys).failed("keys has no key");
    place.run(&["backup", "--url", "http://127.0.0.1:1"]).failed("cannot reach http://127.0.0.1:1");
}

/// A restore, into an empty directory and in the place of data, over an end of the process at each step.
#[test]
fn each_step_of_a_restore_can_be_repeated() {
    let first = |place: &str| format!("{place}=return(abort)");
    let mut cases = vec!["exchange.aside=1*off->return(abort)".to_owned()];
    cases.extend(["exchange.made", "exchange.aside", "exchange.placed", "exchange.whole"].map(first));
    for points in cases {
        let place = place();
        let wanted = place.dump();
        place.file("later", "20,2,3000\n");
        place.run(&["import", "--content", "later"]).ok();
        let before = place.dump();
        fs::create_dir(place.data().join("lost+found")).unwrap();
        place.file("data/PROMOTED", "standby of http://a\n");
        for replaces in [true, false] {
            let data = if replaces { place.data() } else { place.path("new") };
            let shown = data.display().to_string();
            let args = ["restore", "--from", "b.tar", "--data-dir", &shown, "--replace"];
            let args = &args[..args.len() - usize::from(!replaces)];
            let ended = place.command(args).env("FAILPOINTS", &points).output().unwrap();
            if !replaces && points.starts_with("exchange.aside") {
                assert!(ended.status.success(), "nothing is moved away");
                continue;
            }
            assert_eq!(ended.status.signal(), Some(6), "{points}: {ended:?}");
            let dumped = |dir: &Path| dump(&Store::open(&Options::new(dir.to_owned())).unwrap());
            match data.join("FORMAT").exists() {
                // No command takes half of it for a whole.
                false => drop(place.run(&["check", "--data-dir", &shown]).failed("has no FORMAT file")),
                true if points.starts_with("exchange.made") => assert_eq!(dumped(&data), before),
                true => {
                    assert_eq!(dumped(&data), wanted, "{points}");
                    continue;
                }
            }
            place.run(args).ok();
            assert_eq!(dumped(&data), wanted, "{points}");
            let found = names(&data);
            assert!(!found.iter().any(|name| name.starts_with("REST")), "{points}: {found:?}");
            assert_eq!(found.iter().any(|name| name == "PROMOTED"), replaces, "{points}: {found:?}");
            if replaces {
                assert!(
                    ["backups", "lost+found"].iter().all(|name| found.iter().any(|there| there == name)),
                    "{found:?}"
                );
                let old: Vec<_> = found.iter().filter(|name| name.starts_with("old-")).collect();
                assert_eq!(old.len(), 1, "{points}: {found:?}");
                assert_eq!(dumped(&data.join(old[0])), before, "{points}");
                assert!(data.join(old[0]).join("PROMOTED").exists(), "{points}");
            }
        }
    }
}

#[test]
fn a_restore_that_finishes_an_earlier_one_says_so_and_refuses_another_backup() {
    let place = place();
    let wanted = place.dump();
    place.file("later", "20,2,3000\n");
    place.run(&["import", "--content", "later"]).ok();
    let later = place.dump();
    place.run(&["backup", "--to", "later.tar"]).ok();
    let restore = |from| ["restore", "--replace", "--data-dir", "data", "--from", from];
    for (from, words) in [
        ("later.tar", "the backup of --from is another, 20"),
        ("missing.tar", "cannot read missing.tar"),
        ("f", "the archive cannot be unpacked"),
    ] {
        let ended =
            place.command(&restore("b.tar")).env("FAILPOINTS", "exchange.placed=return(abort)").output().unwrap();
        assert_eq!(ended.status.signal(), Some(6), "{ended:?}");
        let ran = place.run(&restore(from)).failed(words);
        assert!(ran.out.contains("restored data; an earlier restore of the backup 20"), "{ran:?}");
        assert_eq!(place.dump(), wanted);
    }
    place.run(&restore("later.tar")).ok();
    assert_eq!(place.dump(), later);
    // Also if it cannot tell which backup that was.
    let ended = place.command(&restore("b.tar")).env("FAILPOINTS", "exchange.placed=return(abort)").output().unwrap();
    assert_eq!(ended.status.signal(), Some(6), "{ended:?}");
    place.file("data/RESTORED/BACKUP", "{");
    let ran = place.run(&restore("b.tar")).failed("its backup is unknown, because its file BACKUP cannot be read");
    assert!(ran.out.contains("restored data; an earlier restore of the backup unknown is finished"), "{ran:?}");
    assert_eq!(place.dump(), wanted);
    place.run(&restore("later.tar")).ok();
    assert_eq!(place.dump(), later);
}

#[test]
fn a_symbolic_link_in_the_directory_is_told_before_anything_moves() {
    let place = place();
    fs::rename(place.data().join("db"), place.path("big")).unwrap();
    std::os::unix::fs::symlink("../big", place.data().join("db")).unwrap();
    let (wanted, before) = (place.dump(), names(&place.data()));
    let refused = "db is a symbolic link, and the restored data would not be where it leads: move what it leads to into its \
                   place, or choose another --data-dir";
    place.run(&["restore", "--replace", "--from", "b.tar"]).failed(refused);
    assert_eq!(names(&place.data()), before);
    assert_eq!(place.dump(), wanted);
    // The whole directory may be one.
    fs::remove_file(place.data().join("db")).unwrap();
    fs::rename(place.path("big"), place.data().join("db")).unwrap();
    std::os::unix::fs::symlink("data", place.path("link")).unwrap();
    place.run(&["restore", "--replace", "--from", "b.tar", "--data-dir", "link"]).ok();
    assert!(place.path("link").is_symlink());
}

#[test]
fn a_mount_point_in_the_directory_is_told_before_anything_moves() {
    let place = place();
    let (wanted, before) = (place.dump(), names(&place.data()));
    let mut mounted = std::process::Command::new("unshare");
    mounted.args(["--user", "--map-root-user", "--mount", "sh", "-c"]);
    mounted.args(["mount --bind data/db data/db || exit 77; exec \"$0\" \"$@\""]);
    let restore = place.command(&["restore", "--replace", "--from", "b.tar"]);
    mounted.arg(restore.get_program()).args(restore.get_args()).current_dir(place.path(""));
    let ended = mounted.output().map(|ended| (ended.status.code(), String::from_utf8(ended.stderr).unwrap()));
    match ended {
        Ok((Some(1), said)) if said.contains("db is a mount point, so nothing can be put in its place") => {}
        Ok((Some(1), said)) if !said.contains("unshare: ") => panic!("{said}"),
        Ok((Some(0), said)) => panic!("{said}"),
        other => return eprintln!("SKIPPED: no mount point for this test: {other:?}"),
    }
    assert_eq!(names(&place.data()), before);
    assert_eq!(place.dump(), wanted);
}

#[test]
fn a_restore_that_waits_for_its_input_ends_when_told() {
    let place = place();
    let mut restoring = place.command(&["restore", "--from", "-", "--data-dir", "new"]);
    let mut restoring = restoring.stdin(std::process::Stdio::piped()).spawn().unwrap();
    let mut input = restoring.stdin.take().unwrap();
    input.write_all(&fs::read(place.path("b.tar")).unwrap()[..2000]).unwrap();
    wait_until("nothing is unpacked", || place.path("new/RESTORING/BACKUP").exists());
    crate::server::signal(&restoring, "TERM");
    let ended = restoring.wait_with_output().unwrap();
    let said = String::from_utf8(ended.stderr).unwrap();
    assert_eq!(ended.status.code(), Some(1), "{said}");
    assert!(said.contains("the restore was interrupted; nothing was restored"), "{said}");
    assert_eq!(names(&place.path("new")), ["LOCK"]);
    drop(input);
}

#[test]
fn a_backup_of_a_server_that_does_not_answer_ends_when_told() {
    let place = Place::new();
    let silent = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", silent.local_addr().unwrap());
    let asking = place.command(&["backup", "--url", &url]).spawn().unwrap();
    let (connection, _) = silent.accept().unwrap();
    crate::server::signal(&asking, "TERM");
    let ended = asking.wait_with_output().unwrap();
    let said = String::from_utf8(ended.stderr).unwrap();
    assert_eq!(ended.status.code(), Some(1), "{said}");
    assert!(said.contains("interrupted while the backup was taken"), "{said}");
    drop(connection);
}

#[test]
fn a_server_that_falls_silent_is_given_up() {
    let place = Place::new();
    let head = |length: usize| format!("HTTP/1.1 200 OK\r\nContent-Length: {length}\r\n\r\n");
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    let shown = r#"{"name":"19700101T000001.000Z","begun_at":1000,"took_ms":1,"state":"verified","findings":[],"format":3,
        "release":"0.1.0","bytes":5}"#;
    let list = format!(r#"{{"items":[{shown}]}}"#);
    let whole = |text: &str| format!("{}{text}", head(text.len()));
    // The last answer of each run falls silent: no head, half a head, a body that lacks its end, half an archive.
    // Where the words depend on an answer before, the timeout is longer: this thread may be late on a busy machine.
    for (answers, timeout, words) in [
        (vec![String::new()], "2s", "cannot reach http://127.0.0.1"),
        (vec!["HTTP/1.1 200 OK\r\n".to_owned()], "2s", "cannot reach http://127.0.0.1"),
        (vec![format!("{}{{", head(9))], "10s", "gave an answer that cannot be read"),
        (vec![whole(shown), whole(&list), format!("{}part", head(9000))], "10s", "cannot write c.tar"),
    ] {
        let asking = place.command(&["backup", "--url", &url, "--timeout", timeout, "--to", "c.tar"]).spawn().unwrap();
        let (mut connection, _) = listener.accept().unwrap();
        for answer in &answers {
            assert!(std::io::Read::read(&mut connection, &mut [0; 4096]).unwrap() > 0, "no request before {answer}");
            connection.write_all(answer.as_bytes()).unwrap();
        }
        let ended = asking.wait_with_output().unwrap();
        let said = String::from_utf8(ended.stderr).unwrap();
        assert_eq!(ended.status.code(), Some(1), "{said}");
        let silence = format!("the server has said nothing for {timeout}");
        assert!(said.contains(words) && said.contains(&silence), "{said}");
        assert!(names(&place.path("")).is_empty(), "{:?}", names(&place.path("")));
        drop(connection);
    }
    place.run(&["backup", "--url", &url, "--timeout", "2s", "--list"]).failed("the server has said nothing for 2s");
}

#[test]
fn an_unfinished_copy_is_replaced_and_nothing_else() {
    use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
    let place = place();
    // The copy of a command that was killed, with a mode that others may read, and a second name.
    place.file("c.tar.part", "half");
    fs::set_permissions(place.path("c.tar.part"), fs::Permissions::from_mode(0o644)).unwrap();
    fs::hard_link(place.path("c.tar.part"), place.path("second")).unwrap();
    place.run(&["backup", "--to", "c.tar"]).ok();
    let made = fs::metadata(place.path("c.tar")).unwrap();
    assert_eq!((made.mode() & 0o777, made.nlink()), (0o600, 1));
    assert_eq!(fs::read(place.path("second")).unwrap(), b"half");
    // A link is not followed.
    place.file("victim", "precious");
    symlink("victim", place.path("d.tar.part")).unwrap();
    place.run(&["backup", "--to", "d.tar"]).failed("d.tar.part is no unfinished file of this user");
    symlink("nowhere", place.path("e.tar.part")).unwrap();
    place.run(&["backup", "--to", "e.tar"]).failed("e.tar.part is no unfinished file of this user");
    fs::create_dir(place.path("f.tar.part")).unwrap();
    place.run(&["backup", "--to", "f.tar"]).failed("f.tar.part is no unfinished file of this user");
    // One that a command still writes.
    place.file("g.tar.part", "half");
    let written = fs::File::open(place.path("g.tar.part")).unwrap();
    written.lock().unwrap();
    place.run(&["backup", "--to", "g.tar"]).failed("g.tar.part is being written by another command");
    assert_eq!(fs::read(place.path("victim")).unwrap(), b"precious");
    assert_eq!(fs::read(place.path("g.tar.part")).unwrap(), b"half");
    for to in ["d.tar", "e.tar", "f.tar", "g.tar", "nowhere"] {
        assert!(!place.path(to).exists(), "{to}");
    }
    // Of another user; only root can make one.
    place.file("h.tar.part", "theirs");
    if std::os::unix::fs::chown(place.path("h.tar.part"), Some(12345), None).is_ok() {
        place.run(&["backup", "--to", "h.tar"]).failed("h.tar.part is no unfinished file of this user");
        assert_eq!(fs::read(place.path("h.tar.part")).unwrap(), b"theirs");
    }
}

#[test]
fn a_damaged_archive_restores_nothing() {
    let place = place();
    let archive = fs::read(place.path("b.tar")).unwrap();
    for length in [0, 100, 512, 1024, 1500, archive.len() / 2, archive.len() - 1024 - 2048] {
        place.file("bad.tar", &archive[..length]);
        refused(&place, "bad.tar", "the archive cannot be unpacked");
    }
    place.file("bad.tar", [0x1b, b'[', b'3', b'1', b'm', 0xff].repeat(1000));
    refused(&place, "bad.tar", "the archive cannot be unpacked: it is no archive of Tideline, or it is damaged");
    let mut packed = zstd::encode_all(&archive[..], 1).unwrap();
    packed.truncate(packed.len() - 3);
    place.file("bad.tar", &packed);
    refused(&place, "bad.tar", "the archive cannot be unpacked: it ends early");
    // The end of a packed archive: its checksum wrong, cut, or followed by something.
    let mut packing = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    packing.write_all(&archive).unwrap();
    let packed = packing.finish().unwrap();
    let mut wrong = packed.clone();
    wrong[packed.len() - 6] ^= 1;
    let cut = &packed[..packed.len() - 3];
    for bad in [&wrong[..], cut, &[&packed[..], b"tail"].concat(), &[&archive[..], b"tail"].concat()] {
        place.file("bad.tar", bad);
        refused(&place, "bad.tar", "the archive cannot be unpacked");
    }
    place.file("padded.tar", [&archive[..], &[0; 10_240]].concat());
    place.run(&["restore", "--from", "padded.tar", "--data-dir", "padded"]).ok();
    // A byte in the first block of each table file.
    let mut found = 0;
    for at in (0..archive.len()).step_by(512).filter(|at| archive[*at..].starts_with(b"db/")) {
        let name = String::from_utf8_lossy(&archive[at..at + 20]).into_owned();
        if name.contains(".sst") {
            let mut bad = archive.clone();
            bad[at + 512 + 3] ^= 0x20;
            place.file("bad.tar", &bad);
            let ran = place.run(&["restore", "--from", "bad.tar", "--data-dir", "new"]);
            assert_eq!(ran.code, Some(1), "{name}: {ran:?}");
            assert_eq!(names(&place.path("new")), ["LOCK"], "{name}: {ran:?}");
            found += 1;
        }
    }
    assert!(found > 3, "{found} table files");
}

/// An archive with the manifest of `b.tar`, and one more entry.
fn with_entry(place: &Place, name: &[u8], kind: EntryType, size: usize) -> Vec<u8> {
    let archive = fs::read(place.path("b.tar")).unwrap();
    let mut bad = archive[..1024].to_vec();
    let mut header = Header::new_ustar();
    header.as_mut_bytes()[..name.len()].copy_from_slice(name);
    header.set_size(size as u64);
    header.set_entry_type(kind);
    header.as_mut_bytes()[157..167].copy_from_slice(b"/etc/hosts");
    header.set_mode(0o644);
    header.set_cksum();
    bad.write_all(header.as_bytes()).unwrap();
    bad.resize(bad.len() + size.next_multiple_of(512), b'x');
    bad.extend([0; 1024]);
    bad
}

#[test]
fn a_hostile_archive_writes_nothing_elsewhere() {
    let place = place();
    for name in [
        "../letter",
        "/tmp/letter",
        "db/../../letter",
        "db/x/y",
        "letter",
        "db",
        "db/",
        "./FORMAT",
        "db//x",
        "db/.x",
        "db/./x",
        "BACKUP",
        "VERDICT",
        "db/a b",
        "db\\x",
        "RUN",
        "LOCK",
    ] {
        place.file("bad.tar", with_entry(&place, name.as_bytes(), EntryType::Regular, 5));
        refused(&place, "bad.tar", "is not a file of a data directory");
    }
    for kind in [
        EntryType::Symlink,
        EntryType::Link,
        EntryType::Directory,
        EntryType::Fifo,
        EntryType::Char,
        EntryType::Block,
        EntryType::GNUSparse,
    ] {
        place.file("bad.tar", with_entry(&place, b"db/000001.sst", kind, 0));
        refused(&place, "bad.tar", "the archive cannot be unpacked");
    }
    place.file("bad.tar", with_entry(&place, b"db/000001.sst", EntryType::Regular, 50 << 20));
    refused(&place, "bad.tar", "it has more than its file BACKUP says");
    // One file twice.
    let archive = fs::read(place.path("b.tar")).unwrap();
    let format = 1024..2048;
    let twice = [&archive[..2048], &archive[format]].concat();
    place.file("bad.tar", &twice);
    refused(&place, "bad.tar", "FORMAT");
    assert!(!place.path("letter").exists() && !place.path("new/letter").exists());
}

#[test]
fn a_backup_of_an_unknown_format_or_with_wrong_facts_is_refused() {
    let place = place();
    let backup = backup(&place);
    // As long as the file before: the manifest counts its bytes.
    fs::write(backup.join("FORMAT"), "tideline format 9\nrelease 4.2.0\n").unwrap();
    refused(&place, &backup.display().to_string(), "version 4.2.0 wrote it in format 9");
    for (said, words) in [
        (r#""begun_at":1000,"format":3,"release":"0.0.9""#, "version 0.0.9 took the backup, in format 3"),
        (r#""begun_at":1000,"format":99,"release":"7.1.0""#, "version 7.1.0 took the backup, in format 99"),
        (&present(1000000000000000000, "0.0.9"), "its name is not the time when it began"),
        (&present(1001, "0.0.9"), "its name is not the time when it began"),
        (&present(1000, r"\u001b[31m"), "its version is not one of Tideline"),
    ] {
        as_backup(&place.data(), &place.path("other"), said);
        refused(&place, "other", words);
        fs::remove_dir_all(place.path("other")).unwrap();
        fs::remove_dir_all(place.path("new")).unwrap();
    }
    fs::write(backup.join("FORMAT"), "tideline format 2\nrelease 0.0.9\n").unwrap();
    refused(&place, &backup.display().to_string(), "the backup is damaged: data directory");
}

/// The facts of a backup in the present format.
fn present(begun_at: u64, release: &str) -> String {
    format!(r#""begun_at":{begun_at},"format":{FORMAT},"release":"{release}""#)
}

/// Makes a backup with these facts of the files of a data directory.
fn as_backup(data: &Path, target: &Path, facts: &str) {
    fs::create_dir_all(target.join("db")).unwrap();
    let (mut files, mut bytes) = (0, 0);
    let tables = names(&data.join("db")).into_iter().filter(|name| name != "LOCK" && name != "archive");
    for path in tables.map(|name| format!("db/{name}")).chain(["FORMAT".to_owned()]) {
        bytes += fs::copy(data.join(&path), target.join(&path)).unwrap();
        files += 1;
    }
    let name = r#""name":"19700101T000001.000Z","took_ms":0,"sequence":1"#;
    fs::write(target.join("BACKUP"), format!("{{{name},{facts},\"files\":{files},\"bytes\":{bytes}}}")).unwrap();
}

#[test]
fn a_backup_with_a_damaged_log_restores_nothing() {
    let place = Place::new();
    let server = Server::start();
    server.publish(5, 9, 50);
    let (_, data) = server.stop("KILL");
    let facts = present(1000, "0.1.0");
    let target = place.path("b");
    as_backup(data.path(), &target, &facts);
    place.run(&["restore", "--from", "b", "--data-dir", "whole"]).ok();
    let log = names(&target.join("db")).into_iter().rfind(|name| name.ends_with(".log")).unwrap();
    let log = target.join("db").join(log);
    let bytes = fs::read(&log).unwrap();
    let written = bytes.iter().rposition(|byte| *byte != 0).unwrap();
    for at in [10, written / 2, written - 3] {
        let mut bad = bytes.clone();
        bad[at] ^= 4;
        fs::write(&log, bad).unwrap();
        refused(&place, "b", "the backup is damaged: db/");
    }
}

#[test]
fn a_backup_that_has_lost_a_table_is_not_shown_as_good() {
    let place = place();
    let kept = backup(&place);
    let table = names(&kept.join("db")).into_iter().find(|name| name.ends_with(".sst")).unwrap();
    fs::remove_file(kept.join("db").join(table)).unwrap();
    let ran = place.run(&["backup", "--list"]).ok();
    assert!(ran.out.ends_with(" failed\n"), "{ran:?}");
    refused(&place, &kept.display().to_string(), "it ends early");
}

#[test]
fn backups_of_a_damaged_directory_are_listed_and_copied() {
    let place = place();
    let wanted = place.dump();
    let kept = backup(&place);
    let name = kept.file_name().unwrap().to_str().unwrap();
    let engine = place.data().join("db");
    for file in names(&engine).iter().filter(|file| *file == "CURRENT" || file.starts_with("MANIFEST")) {
        fs::write(engine.join(file), [0xA5; 3000]).unwrap();
    }
    place.run(&["backup", "--to", "new.tar"]).failed("data");
    let listed = place.run(&["backup", "--list"]).ok().out;
    assert!(listed.starts_with(name) && listed.ends_with(" verified\n"), "{listed}");
    for (number, to) in ["c.tar", "c.tar.zst"].into_iter().enumerate() {
        let ran = place.run(&["backup", "--copy", name, "--to", to]).ok();
        assert!(ran.err.contains(listed.trim_end()), "{ran:?}");
        let data = format!("new-{number}");
        place.run(&["restore", "--from", to, "--data-dir", &data]).ok();
        assert_eq!(dump(&Store::open(&Options::new(place.path(&data))).unwrap()), wanted, "{to}");
    }
    let archive = fs::read(place.path("b.tar")).unwrap();
    assert_eq!(fs::read(place.path("c.tar")).unwrap(), archive, "the form of --to");
    let ran = place.command(&["backup", "--copy", name, "--to", "-"]).output().unwrap();
    assert_eq!(ran.stdout, archive);

    let before = names(&place.path(""));
    place.run(&["backup", "--copy", name, "--to", "c.tar"]).failed("c.tar exists already");
    place.run(&["backup", "--copy", name, "--to", "nowhere/d.tar"]).failed("there is no directory nowhere");
    fs::create_dir(place.data().join("backups/mine")).unwrap();
    fs::create_dir(place.data().join(format!("backups/{name}.part"))).unwrap();
    for other in [
        "",
        ".",
        "..",
        "mine",
        "20200101T000000.000Z",
        "\u{1b}[2J",
        &format!("{name}/../{name}"),
        &format!("{name}.part"),
    ] {
        let ran = place.run(&["backup", "--copy", other, "--to", "d.tar"]).failed("there is no backup \"");
        assert!(!ran.err.contains('\u{1b}'), "{ran:?}");
    }
    for wrong in [&["--copy", name][..], &["--copy", name, "--to", "d.tar", "--list"]] {
        assert_eq!(place.run(&[&["backup"], wrong].concat()).code, Some(2), "{wrong:?}");
    }
    // A file that cannot be written to its end.
    let command = place.command(&["backup", "--copy", name, "--to", "d.tar"]);
    let mut limited = std::process::Command::new("sh");
    limited
        .args(["-c", "trap '' XFSZ; ulimit -f 8; exec \"$0\" \"$@\""])
        .arg(command.get_program())
        .args(command.get_args());
    let ran = limited.env_clear().current_dir(place.path("")).output().unwrap();
    let said = String::from_utf8(ran.stderr).unwrap();
    assert!(ran.status.code() == Some(1) && said.contains("cannot write d.tar: File too large"), "{said}");
    assert_eq!((names(&place.path("")), place.run(&["backup", "--list"]).ok().out), (before.clone(), listed));

    // One that is not good, as its verification or a lost file tells.
    fs::remove_file(kept.join("FORMAT")).unwrap();
    place.run(&["backup", "--copy", name, "--to", "d.tar"]).failed("the backup is not good, so it is not copied");
    assert_eq!(names(&place.path("")), before);
    // The data directory may be gone if the backups are elsewhere.
    fs::rename(place.data().join("backups"), place.path("elsewhere")).unwrap();
    let place = place.with_env("TIDELINE__BACKUP__DIR", "elsewhere");
    fs::remove_dir_all(place.data()).unwrap();
    assert!(place.run(&["backup", "--list"]).ok().out.ends_with(" failed\n"));
    let place = place.with_env("TIDELINE__BACKUP__DIR", "");
    place.run(&["backup", "--list"]).failed("there is no data directory");
}

#[test]
fn attributes_of_files_take_no_memory() {
    let place = place();
    for (kind, name) in [(EntryType::GNULongName, &b"././@LongLink"[..]), (EntryType::XHeader, b"db/x")] {
        let mut bad = with_entry(&place, name, kind, 0);
        bad.truncate(bad.len() - 1024);
        let mut header = Header::from_byte_slice(&bad[1024..]).clone();
        // More than any machine has; the archive ends here.
        header.set_size(1 << 50);
        header.set_cksum();
        bad[1024..].copy_from_slice(header.as_bytes());
        place.file("bad.tar", bad);
        refused(&place, "bad.tar", "is not a plain file");
    }
}

#[test]
fn a_hostile_server_writes_nothing_elsewhere_and_commands_no_terminal() {
    let place = place();
    let evil = place.path("evil").display().to_string();
    let shown = |name: &str, state: &str, release: &str| {
        format!(
            r#"{{"name":"{name}","begun_at":1000,"took_ms":1,"state":"{state}","findings":["\u001b]0;x\u0007"],"format":3,
            "release":"{release}","bytes":5}}"#
        )
    };
    fs::create_dir(place.path("out")).unwrap();
    for (answer, words) in [
        (shown(&evil, "verified", "0.1.0"), "its name is not the time when it began"),
        (shown("../evil", "verified", "0.1.0"), "its name is not the time when it began"),
        (shown("19700101T000001.000Z", "\\u001b[2J", "0.1.0"), "unknown variant"),
        (shown("19700101T000001.000Z", "verified", "\\u001b[31mX"), "its version is not one of Tideline"),
    ] {
        let url = answers(vec![answer]);
        let ran = place.run(&["backup", "--url", &url, "--to", "out"]).failed(words);
        assert!(!ran.err.contains('\u{1b}'), "{ran:?}");
    }
    let good = shown("19700101T000001.000Z", "failed", "0.1.0");
    let url = answers(vec![good.clone(), format!(r#"{{"items":[{good}]}}"#)]);
    let ran = place.run(&["backup", "--url", &url, "--to", "out"]);
    assert_eq!(ran.code, Some(1), "{ran:?}");
    assert!(ran.err.contains(r"\u{1b}]0;x\u{7}") && !ran.err.contains('\u{1b}'), "{ran:?}");
    assert!(names(&place.path("out")).is_empty() && !place.path("evil").exists());
}

/// A server that gives these bodies, one on each connection; its address.
fn answers(bodies: Vec<String>) -> String {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    std::thread::spawn(move || {
        for body in bodies {
            let (mut connection, _) = listener.accept().unwrap();
            let _ = std::io::Read::read(&mut connection, &mut [0; 4096]).unwrap();
            let length = body.len();
            let head = format!("HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: {length}\r\n\r\n");
            connection.write_all(head.as_bytes()).unwrap();
            connection.write_all(body.as_bytes()).unwrap();
        }
    });
    url
}

/// The backups of a server as `name state`, newest first.
fn listed(server: &Server) -> Vec<String> {
    let items = server.get("/v1/admin/backups")["items"].as_array().unwrap().clone();
    items.iter().map(|item| format!("{} {}", item["name"], item["state"]).replace('"', "")).collect()
}

fn take(server: &Server) -> String {
    let taken = server.call("POST", "/v1/admin/backups", "").expect(201);
    assert_eq!(taken["state"], "unverified");
    let name = taken["name"].as_str().unwrap().to_owned();
    wait_until("the backup is not verified", || listed(server).contains(&format!("{name} verified")));
    name
}

#[test]
fn a_server_takes_keeps_and_removes_backups() {
    let place = place();
    let server = Server::with(&[("TIDELINE__BACKUP__KEEP", "2")]);
    server.publish(5, 9, 50);
    assert_eq!(listed(&server), [""; 0]);
    let first = take(&server);
    let second = take(&server);
    assert_eq!(listed(&server), [format!("{second} verified"), format!("{first} verified")]);
    let third = take(&server);
    wait_until("the first is not removed", || listed(&server).len() == 2);
    assert_eq!(listed(&server), [format!("{third} verified"), format!("{second} verified")]);

    let path = format!("/v1/admin/backups/{second}");
    let reply = server.call("GET", &path, "");
    assert_eq!((reply.status, reply.header("content-type")), (200, Some("application/x-tar")));
    let length = reply.bytes.len().to_string();
    assert_eq!(reply.header("content-length"), Some(&*length));
    assert_eq!(server.call("HEAD", &path, "").header("content-length"), Some(&*length));
    place.file("s.tar", &reply.bytes);
    place.run(&["restore", "--from", "s.tar", "--data-dir", "served"]).ok();
    let url = format!("http://{}", server.address);
    place.run(&["backup", "--url", &url, "--copy", &second, "--to", "k.tar"]).ok();
    assert_eq!(fs::read(place.path("k.tar")).unwrap(), reply.bytes);
    place.run(&["backup", "--url", &url, "--copy", &first, "--to", "l.tar"]).failed("there is no backup");
    assert_eq!(listed(&server), [format!("{third} verified"), format!("{second} verified")], "none is taken");
    // Nor does the directory in use keep a command from its backups.
    let data = server.data().path().display().to_string();
    let ran = place.run(&["backup", "--list", "--data-dir", &data]).ok();
    assert!(ran.out.starts_with(&third) && ran.out.lines().count() == 2, "{ran:?}");
    place.run(&["backup", "--copy", &second, "--to", "m.tar", "--data-dir", &data]).ok();
    assert_eq!(fs::read(place.path("m.tar")).unwrap(), reply.bytes);
    place.run(&["backup", "--url", &url, "--to", "u.tar.zst"]).ok();
    place.run(&["restore", "--from", "u.tar.zst", "--data-dir", "by-url"]).ok();
    place.file("keys", "# two keys\n\nsha256:0f\n the-first \nthe-second\n");
    let ran = place.run(&["backup", "--url", &url, "--key-file", "keys", "--list"]).ok();
    assert_eq!(ran.out.lines().filter(|line| line.ends_with(" verified")).count(), 2, "{ran:?}");

    let name = listed(&server)[0].split(' ').next().unwrap().to_owned();
    let path = format!("/v1/admin/backups/{name}");
    assert_eq!(server.call("DELETE", &path, "").status, 204);
    for gone in [&*path, "/v1/admin/backups/..", "/v1/admin/backups/%2e%2e", "/v1/admin/backups/..%2f..%2fdb"] {
        for method in ["GET", "DELETE"] {
            server.call(method, gone, "").problem(gone, 404, "backup_not_found");
        }
    }
    assert_eq!(listed(&server).len(), 1);
}

#[test]
fn the_server_knows_the_newest_copy_elsewhere_and_the_failed_ones() {
    const COPIED: &str = "tideline_backup_newest_copied_timestamp_seconds";
    const FAILED: &str = "tideline_backup_copy_failures_total";
    let place = Place::new();
    let server = Server::start();
    let url = format!("http://{}", server.address);
    let begun = |server: &Server, place: usize| {
        let listed = server.get("/v1/admin/backups");
        (listed["items"][place]["begun_at"].as_u64().unwrap() / 1000) as f64
    };
    assert_eq!([server.figure(COPIED), server.figure(FAILED)], [0.0, 0.0]);
    let older = take(&server);
    fs::create_dir(place.path("out")).unwrap();
    place.file(&format!("out/{older}.part"), "in the way");
    place.run(&["backup", "--url", &url, "--copy", &older, "--to", "out"]).failed(".part");
    assert_eq!([server.figure(COPIED), server.figure(FAILED)], [0.0, 1.0]);
    place.run(&["backup", "--url", &url, "--to", "b.tar"]).ok();
    assert_eq!([server.figure(COPIED), server.figure(FAILED)], [begun(&server, 0), 1.0]);
    // A copy of an older one changes nothing, nor does a restart.
    place.run(&["backup", "--url", &url, "--copy", &older, "--to", "c.tar"]).ok();
    let server = server.restart("TERM", &[]);
    assert_eq!([server.figure(COPIED), server.figure(FAILED)], [begun(&server, 0), 0.0]);
    let path = format!("/v1/admin/backups/{older}/copy");
    server.call("PUT", &path, r#"{"failed": true}"#).problem("an unknown field", 400, "invalid_body");
    let unknown = "/v1/admin/backups/20261122T143000.123Z/copy";
    for body in ["{}", r#"{"failure": "no room"}"#] {
        server.call("PUT", unknown, body).problem(body, 404, "backup_not_found");
    }
}

#[test]
fn a_directory_of_backups_that_cannot_be_used_is_told_at_the_start_and_to_clients() {
    let place = Place::new();
    place.file("letter", "x");
    let mut command = place.command(&["serve", "--listen", "127.0.0.1:0"]);
    command.env("TIDELINE__BACKUP__DIR", "letter/backups").stderr(fs::File::create(place.path("log")).unwrap());
    let server = Server::launch(command).unwrap();
    let words = "the directory of backups letter/backups cannot be used: Not a directory (os error 20). See backup.dir";
    let log = fs::read_to_string(place.path("log")).unwrap();
    assert!(log.contains("the backups cannot be used") && log.contains(words), "{log}");
    let problem = server.call("POST", "/v1/admin/backups", "").problem("a file above", 503, "backup_dir_unusable");
    assert_eq!(problem["detail"], words);
}

#[test]
fn a_backup_that_is_read_is_not_removed() {
    let place = Place::new();
    // Too much for the buffers of a connection, and no engine packs it.
    let mut state = 1_u64;
    let mut noise = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        format!("{:016x}", state)
    };
    let lines = (1..=1500).map(|id| format!("{id},1,{id},{}\n", (0..1200).map(|_| noise()).collect::<String>()));
    place.file("c", lines.collect::<String>());
    place.run(&["import", "--content", "c"]).ok();
    let mut command = place.command(&["serve", "--listen", "127.0.0.1:0"]);
    command.stderr(std::process::Stdio::null());
    let server = Server::launch(command).unwrap();
    let path = format!("/v1/admin/backups/{}", take(&server));
    let mut reading = std::net::TcpStream::connect(server.address).unwrap();
    reading.write_all(format!("GET {path} HTTP/1.1\r\nHost: localhost\r\n\r\n").as_bytes()).unwrap();
    std::io::Read::read(&mut reading, &mut [0; 100]).unwrap();
    let problem = server.call("DELETE", &path, "").problem("a backup in reading", 409, "backup_busy");
    assert_eq!(problem["detail"], "this backup is being read. Send the request again later");
    drop(reading);
    wait_until("the backup stays", || server.call("DELETE", &path, "").status == 204);
}

#[test]
fn remains_of_a_kill_are_removed_and_unverified_backups_are_verified() {
    let place = place();
    let kept = backup(&place);
    let name = kept.file_name().unwrap().to_str().unwrap().to_owned();
    let backups = place.data().join("backups");
    fs::remove_file(kept.join("VERDICT")).unwrap();
    for left in [".part", ".gone"] {
        fs::create_dir_all(backups.join(format!("20200101T000000.000Z{left}/db"))).unwrap();
    }
    fs::create_dir(backups.join("mine")).unwrap();
    let mut command = place.command(&["serve", "--listen", "127.0.0.1:0"]);
    let server = Server::launch({
        command.stderr(std::process::Stdio::null());
        command
    })
    .unwrap();
    wait_until("the backup is not verified", || listed(&server) == [format!("{name} verified")]);
    assert_eq!(names(&backups), [&*name, "COPIED", "mine"], "only the folders of backups are removed");
}

#[test]
fn a_failed_backup_is_told_and_removes_nothing() {
    let place = place();
    let good = backup(&place);
    place.run(&["backup"]).ok();
    let bad = place.data().join("backups").join(&names(&place.data().join("backups"))[1]);
    fs::remove_file(bad.join("VERDICT")).unwrap();
    let table = names(&bad.join("db")).into_iter().find(|name| name.ends_with(".sst")).unwrap();
    let mut bytes = fs::read(bad.join("db").join(&table)).unwrap();
    bytes[3] ^= 1;
    // Not through the link, which is a file of the data directory too.
    fs::remove_file(bad.join("db").join(&table)).unwrap();
    fs::write(bad.join("db").join(&table), bytes).unwrap();
    let place = place.with_env("TIDELINE__BACKUP__KEEP", 1);
    let mut command = place.command(&["serve", "--listen", "127.0.0.1:0"]);
    command.stderr(std::process::Stdio::null());
    let server = Server::launch(command).unwrap();
    let states =
        || listed(&server).into_iter().map(|line| line.split(' ').nth(1).unwrap().to_owned()).collect::<Vec<_>>();
    wait_until("the backup does not fail", || states() == ["failed", "verified"]);
    let items = server.get("/v1/admin/backups");
    let finding = items["items"][0]["findings"][0].as_str().unwrap();
    assert!(finding.contains("corrupt") || finding.contains("Corruption"), "{finding}");
    assert!(good.exists());
}

/// Erases users and waits until that is over.
fn erase(server: &Server, users: &[&str]) {
    for user in users {
        server.call("DELETE", &format!("/v1/users/{user}"), "").expect(202);
    }
    wait_until("the users are not erased", || {
        let listed = server.get("/v1/admin/erasures");
        listed["items"].as_array().unwrap().iter().all(|item| item["state"] == "over")
    });
}

#[test]
fn a_restore_erases_those_whom_the_data_before_has_erased() {
    let server = Server::start();
    let publish = |server: &Server, author: &str, id: u64| {
        let body = format!(r#"{{"author_id":"{author}","content_id":{id},"text":"x"}}"#);
        server.call("POST", "/v1/content", body).expect(201);
    };
    for (author, id) in [("ana", 1), ("7", 2), ("8", 3), ("ben", 4)] {
        publish(&server, author, id);
    }
    // Users with a row of one kind only.
    server.call("PUT", "/v1/users/20/marker", r#"{"cursor":"5-5"}"#).expect(200);
    server.call("PUT", "/v1/content/3/reactions/like/21", "").expect(200);
    server.call("PUT", "/v1/users/8/mutes/22", "").expect(200);
    // This one is erased before the backup, and comes back.
    erase(&server, &["ben"]);
    publish(&server, "ben", 5);
    let name = take(&server);
    erase(&server, &["ana", "7", "20", "21", "22", "23"]);
    let (_, data) = server.stop("TERM");
    let place = Place::new();
    let from = data.path().join("backups").join(&name).display().to_string();
    let old = data.path().display().to_string();
    let ran = place.run(&["restore", "--data-dir", "apart", "--from", &from, "--erased-in", &old]).ok();
    assert!(ran.out.contains("5 users who were erased after 20"), "{ran:?}");
    let ran = place.run(&["restore", "--data-dir", &old, "--from", &from, "--replace"]).ok();
    assert!(
        ran.out.contains("5 users who were erased after 20") && ran.out.contains("the data before is in "),
        "{ran:?}"
    );

    let server = Server::on(data, &[]);
    for id in [1, 2] {
        server.call("GET", &format!("/v1/content/{id}"), "").problem("erased", 404, "content_not_found");
    }
    for id in [3, 5] {
        server.call("GET", &format!("/v1/content/{id}"), "").expect(200);
    }
    erase(&server, &[]);
    let listed = server.get("/v1/admin/erasures");
    assert_eq!(listed["items"].as_array().unwrap().len(), 6, "{listed}");
    let (_, new) = server.stop("TERM");
    run(&["check"], &new, &[]);

    let ran = place.run(&["restore", "--data-dir", "other", "--from", &from, "--erased-in", "wrong"]);
    assert!(ran.code == Some(1) && ran.err.contains("--erased-in wrong: there is no such directory"), "{ran:?}");
    assert!(!place.path("other").exists());
    fs::create_dir(place.path("empty")).unwrap();
    let ran = place.run(&["restore", "--data-dir", "other", "--from", &from, "--erased-in", "empty"]).ok();
    assert!(
        ran.out.contains("cannot read the erasures of empty") && ran.out.contains("Erase again all users"),
        "{ran:?}"
    );
    let ran = place.run(&["restore", "--data-dir", "third", "--from", &from]).ok();
    assert!(ran.out.contains("users who were erased after 20") && ran.out.contains("are back"), "{ran:?}");
}

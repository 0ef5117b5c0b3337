//! Refused lines and files: their names, their counts, and the exit code.

use super::*;

#[test]
fn refused_lines_are_named_and_the_rest_is_taken() {
    let place = Place::new();
    let (long, no_id) = ("9".repeat((4 << 20) + (2 << 10) + 1), "9".repeat(129));
    let follows = [
        &b"\xEF\xBB\xBFtarget_id,user_id\r\n"[..], // 1
        b"2,1\r\n",
        b"\r\n",
        b"\x7F,1\r\n", // 4
        b"3,1\n",
        b"1,1\n", // 6
        b"\"4\",\"1\"\n",
        b"5\n",       // 8
        b"6,\xFF1\n", // 9
        b"7,1,1,1\n", // 10
        b"   \n",
        long.as_bytes(), // 12
        b",1\n8,1\n",
        no_id.as_bytes(), // 14
        b",1\n9,\"1\n",   // 15
        b"10,1",
    ]
    .concat();
    place.file("f", follows);
    let content = [
        &b"1,2,1000,\"one\n\ntwo\"\r\n"[..], // 1 to 3
        b"2,2,soon\n",                       // 4
        b"3,2,1000,a,b\n",                   // 5
        b"4,2,1000,\"a\"b\n",                // 6
        b"5,2,1000,\"\xC3\n\"\n",            // 7 and 8
        b"6,2,1000,last\n",
        b"7,2\n", // 10
    ]
    .concat();
    place.file("c", content);
    let ran = place.run(&["import", "--follows", "f", "--content", "c"]).failed("13 lines were refused");
    assert_eq!(
        lines(&ran.out),
        ["follows f: 5 new, 0 already there, 8 refused", "content c: 2 new, 0 already there, 5 refused"]
    );
    let numbers = |file| refused(&ran.err, file).into_iter().map(|(line, _)| line).collect::<Vec<_>>();
    assert_eq!(numbers("f"), [4, 6, 8, 9, 10, 12, 14, 15], "{}", ran.err);
    assert_eq!(numbers("c"), [4, 5, 6, 7, 10], "{}", ran.err);
    let id = "an id is 1 to 128 bytes of text without control characters, or a number from 1 to 9223372036854775807";
    let reasons: Vec<_> = refused(&ran.err, "f").into_iter().map(|(_, reason)| reason.to_owned()).collect();
    assert_eq!(
        reasons,
        [
            format!("invalid_id: target_id: {id}, not \"\\u{{7f}}\""),
            "self_follow: a user cannot follow itself".to_owned(),
            "missing_field: user_id is missing: \"5\"".to_owned(),
            "invalid_line: not valid UTF-8: \"6,\u{FFFD}1\"".to_owned(),
            "invalid_line: the line has 4 fields, but at most 2 are expected: \"7,1,1,1\"".to_owned(),
            "too_long: the line is longer than 4 MiB".to_owned(),
            format!("invalid_id: target_id: {id}, not \"{}\"…", "9".repeat(60)),
            "invalid_line: a quoted field is not closed: \"9,\\\"1\"".to_owned(),
        ]
    );
    let totals = ran.err.lines().find(|line| line.starts_with("refused in total: ")).expect("totals");
    let kinds = "6 invalid_line, 2 invalid_id, 2 missing_field, 1 invalid_time, 1 self_follow, 1 too_long";
    assert_eq!(totals, format!("refused in total: 13 lines: {kinds}"));
    let followees = feed::follows::tables::followees(&place.rocks(), user(1), Tier::Disk).expect("followees");
    assert_eq!(followees.into_iter().map(UserId::get).collect::<Vec<_>>(), [2, 3, 4, 8, 10]);
}

#[test]
fn refused_json_lines_are_named() {
    let place = Place::new();
    let content = "\n{\"content_id\":1,\"author_id\":2,\"extra\":{\"a\":[1]},\"kind\":\"note\"}\r\n\
        {\"content_id\":2,\"author_id\":2,\"extra\":[1]}\n\
        {\"author_id\":2}\n\
        1,2,3\n\
        {\"content_id\":3,\"author_id\":2,\n\
        {\"content_id\":4,\"author_id\":2,\"broadcast\":false}";
    let ran = place.run_with(&["import", "--content", "-", "--allow-refused", "4"], content.as_bytes()).ok();
    assert_eq!(lines(&ran.out), ["content -: 2 new, 0 already there, 4 refused"]);
    assert_eq!(refused(&ran.err, "-").into_iter().map(|(line, _)| line).collect::<Vec<_>>(), [3, 4, 5, 6]);
    let found = feed::items::tables::contents(&place.rocks(), &[item(1), item(4)], Tier::Disk).expect("contents");
    assert_eq!(found[0].as_ref().map(|c| (c.kind.as_str(), c.broadcast)), Some(("note", true)));
    assert_eq!(found[0].as_ref().and_then(|c| c.extra.as_deref()), Some("{\"a\":[1]}"));
    assert_eq!(found[1].as_ref().map(|c| c.broadcast), Some(false));
}

#[test]
fn a_kind_too_many_is_refused_and_other_lines_are_taken() {
    let place = Place::new();
    let line = |id: usize, kind: &str| format!("{{\"content_id\":{id},\"author_id\":2,\"kind\":\"{kind}\"}}\n");
    // Three are built in. The last lines have kinds that are known.
    let lines_of_kinds: Vec<_> = (1..=249).map(|id| line(id, &format!("kind_{id}"))).collect();
    let content = lines_of_kinds.concat() + &line(252, "kind_1") + &line(253, "repost");
    let ran = place.run_with(&["import", "--content", "-", "--allow-refused", "2"], content.as_bytes()).ok();
    assert_eq!(lines(&ran.out), ["content -: 249 new, 0 already there, 2 refused"]);
    let refused = refused(&ran.err, "-");
    assert_eq!(refused.iter().map(|(line, _)| *line).collect::<Vec<_>>(), [248, 249]);
    assert!(refused.iter().all(|(_, reason)| reason.starts_with("too_many_kinds: kind: ")), "{refused:?}");
}

#[test]
fn the_follow_limit_holds_line_by_line() {
    let place = Place::new().with_env("TIDELINE__GRAPH__FOLLOW_LIMIT", 3);
    place.file("f", "1,2\n1,3\n1,2\n1,4\n1,5\n2,1\n1,3\n1,6\n");
    let ran = place.run(&["import", "--follows", "f", "--allow-refused", "2"]).ok();
    assert_eq!(lines(&ran.out), ["follows f: 4 new, 2 already there, 2 refused"]);
    let refused = refused(&ran.err, "f");
    assert_eq!(refused.iter().map(|(line, _)| *line).collect::<Vec<_>>(), [5, 8]);
    assert!(
        refused
            .iter()
            .all(|(_, reason)| reason == &"follow_limit: a user can follow at most 3 users (graph.follow_limit)"),
        "{refused:?}"
    );
}

#[test]
fn refused_lines_are_a_failure_unless_they_are_allowed() {
    let place = Place::new();
    place.file("f", "1,2\nx\n1,1\n1,3\n");
    place.file("c", "1,2,3\n2,2\n");
    let all = ["import", "--follows", "f", "--content", "c"];
    for allowed in [&[][..], &["--allow-refused", "0"], &["--allow-refused", "2"]] {
        let ran = place.run(&[&all[..], allowed].concat());
        let ran = ran.failed(
            "tideline: 3 lines were refused; all others are imported. Correct these lines and run the import again, or \
             accept them with --allow-refused 3",
        );
        assert_eq!(lines(&ran.out).len(), 2, "all files are taken all the same: {}", ran.out);
    }
    for allowed in ["3", "4000000000"] {
        let ran = place.run(&[&all[..], &["--allow-refused", allowed]].concat()).ok();
        assert!(ran.err.contains("refused in total: 3 lines: "), "{}", ran.err);
    }
    // No other option allows refused lines.
    let ran = place.run(&[&all[..], &["--max-refused", "3"]].concat());
    assert_eq!(ran.code, Some(2), "{ran:?}");
}

#[test]
fn of_many_refused_lines_the_first_are_named_and_all_are_counted() {
    let place = Place::new();
    let mut follows = "1,2\n".repeat(10);
    follows.push_str(&"\u{1},2\n".repeat(700));
    let content =
        "1,2,2026-01-02 03:04:05.678+00\n".repeat(300) + &"1,2\n".repeat(30_000) + "5,5,5000,good\n" + "1,2,x\n";
    place.file("f", follows);
    place.file("c", content);
    let ran = place.run(&["import", "--follows", "f", "--content", "c"]).failed("31001 lines were refused");
    assert_eq!(
        lines(&ran.out),
        ["follows f: 1 new, 9 already there, 700 refused", "content c: 1 new, 0 already there, 30301 refused"]
    );
    let (of_follows, of_content) = (refused(&ran.err, "f"), refused(&ran.err, "c"));
    assert_eq!((of_follows.len(), of_content.len()), (700, 300));
    assert_eq!((of_follows[0].0, of_content[299].0), (11, 300));
    assert!(ran.err.contains("\n1000 refused lines are listed; further ones are only counted\n"), "{}", ran.err);
    let last: Vec<_> = lines(&ran.err).into_iter().rev().take(2).collect();
    assert_eq!(last[1], "refused in total: 31001 lines: 30000 missing_field, 700 invalid_id, 301 invalid_time");
    assert!(ran.err.len() < 250_000, "{}", ran.err.len());
}

#[test]
fn uuids_in_two_spellings_are_taken_with_a_warning() {
    let place = Place::new();
    let uuid = "0190a1b2-c3d4-7e5f-8a9b-0c1d2e3f4a5b";
    place.file("f", format!("{uuid},2\n1,{uuid}\n"));
    place.file("c", format!("7,{},1689089522123\n", uuid.replace('-', "")));
    let ran = place.run(&["import", "--follows", "f"]).ok();
    assert!(!ran.err.contains("warning"), "{}", ran.err);
    let ran = place.run(&["import", "--follows", "f", "--content", "c"]).ok();
    let warning = "warning: the files spell UUIDs in several ways: with hyphens in lower case (first in follows f line 1), \
                   without hyphens in lower case (first in content c line 1).";
    assert!(ran.err.contains(warning), "{}", ran.err);
}

#[test]
fn times_that_may_be_seconds_are_taken_with_a_warning() {
    let place = Place::new();
    place.file("f", "1,2,1689089522\n1,3,1689089522123\n1,1,1689089522\n1,4\n");
    place.file("c", "1,2,631152000000\n2,2,631151999999\n3,2,1689089522\n");
    let ran = place.run(&["import", "--follows", "f", "--content", "c", "--allow-refused", "1"]).ok();
    let warnings: Vec<_> = ran.err.lines().filter(|line| line.starts_with("warning: ")).collect();
    assert_eq!(warnings.len(), 2, "{}", ran.err);
    let begins = "warning: follows f: 1 line with a time before 1990, first at line 1, perhaps in seconds.";
    assert!(warnings[0].starts_with(begins), "{}", ran.err);
    assert!(
        warnings[1].starts_with("warning: content c: 2 lines with a time before 1990, first at line 2, "),
        "{}",
        ran.err
    );
    // A second import finds the items already there, and still so early.
    let again = place.run(&["import", "--content", "c"]).ok();
    assert!(again.err.contains("warning: content c: 2 lines with a time before 1990"), "{}", again.err);
    place.file("c", "4,2,1689089522123\n");
    let ran = place.run(&["import", "--content", "c"]).ok();
    assert!(!ran.err.contains("warning"), "{}", ran.err);
}

#[test]
fn an_import_fails_when_every_line_is_refused() {
    let place = Place::new();
    place.file("f", "1,1\n2,\u{1}\n");
    let ran = place.run(&["import", "--follows", "f"]).failed("nothing was imported");
    assert_eq!(lines(&ran.out), ["follows f: 0 new, 0 already there, 2 refused"]);
    // Even if so many are allowed: the file may be the wrong one.
    place.run(&["import", "--follows", "f", "--allow-refused", "9"]).failed("nothing was imported");
    place.file("g", "1,1\n1,2\n");
    place.run(&["import", "--follows", "g", "--allow-refused", "1"]).ok();
    // Items already there count as taken.
    place.run(&["import", "--follows", "g", "--allow-refused", "1"]).ok();
    place.file("empty", "");
    place.run(&["import", "--follows", "empty"]).ok();
}

#[test]
fn times_to_come_are_refused_line_by_line() {
    let place = Place::new();
    // One instant in milliseconds and in microseconds.
    place.file("f", "1,2,1689089522123\n1,3,1689089522123000\n1,4,1689089522123\n5,5,1689089522123000\n");
    place.file("c", "10,2,1689089522123\n11,2,1689089522123000\n12,2,1689089522123\n11,2,1689089522123\n");
    place.file("r", "10,1,like,1689089522123\n10,2,like,1689089522123000\n10,3,like\n");
    let ran =
        place.run(&["import", "--follows", "f", "--content", "c", "--reactions", "r"]).failed("4 lines were refused");
    assert_eq!(
        lines(&ran.out),
        [
            "follows f: 2 new, 0 already there, 2 refused",
            "content c: 3 new, 0 already there, 1 refused",
            "reactions r: 2 new, 0 already there, 1 refused",
        ]
    );
    for (file, line, field) in [("f", 2, "since"), ("c", 2, "published_at"), ("r", 2, "since")] {
        let named = refused(&ran.err, file);
        let reason = named.iter().find(|(number, _)| *number == line).map(|(_, reason)| *reason);
        let reason = reason.unwrap_or_else(|| panic!("{file}:{line} is not named: {}", ran.err));
        let begins = format!("time_ahead: {field}: 1689089522123000 lies more than 10m after the server's clock (");
        assert!(reason.starts_with(&begins) && reason.ends_with("this value looks like microseconds"), "{reason}");
    }
    assert_eq!(refused(&ran.err, "f")[1], (4, "self_follow: a user cannot follow itself"));
    place.run(&["check"]).ok();
}

#[test]
fn lines_imported_with_a_time_ahead_are_there_already() {
    let place = Place::new().with_env("TIDELINE__CONTENT__MAX_AHEAD", "36500d");
    place.file("f", "1,2,4000000000000\n");
    place.file("c", "10,2,4000000000000,later\n");
    let args = ["import", "--follows", "f", "--content", "c"];
    place.run(&args).ok();
    let dump = place.dump();
    let place = place.with_env("TIDELINE__CONTENT__MAX_AHEAD", "10m");
    let again = place.run(&args).ok();
    assert_eq!(
        lines(&again.out),
        ["follows f: 0 new, 1 already there, 0 refused", "content c: 0 new, 1 already there, 0 refused"]
    );
    assert_eq!(place.dump(), dump);
    place.file("c", "10,2,4000000000000,later still\n");
    let ran = place.run(&["import", "--content", "c"]).failed("tideline: ");
    assert!(refused(&ran.err, "c")[0].1.starts_with("time_ahead: "), "{}", ran.err);
}

#[test]
fn unreadable_inputs_are_refused_by_name() {
    let place = Place::new();
    place.run(&["import", "--follows", "missing.csv"]).failed("tideline: cannot read missing.csv: No such file");
    place
        .run(&["import", "--follows", "-", "--content", "-"])
        .failed("tideline: the standard input (-) can be given only once");
    place.file("h", "\nuser_id,target\n1,2\n");
    let ran = place.run(&["import", "--follows", "h"]).failed("tideline: h:2: unknown column \"target\"");
    assert!(!ran.err.contains("no lines"), "{}", ran.err);
    place.file("h", "Account address,Show boosts\n1,true\n");
    place
        .run(&["import", "--follows", "h"])
        .failed("tideline: h:1: unknown column \"Account address\", \"Show boosts\" in the header");
    let utf_16 = "1,2\n3,4\n".encode_utf16().flat_map(u16::to_le_bytes).collect::<Vec<_>>();
    for (bytes, name) in [
        (b"\n [{\"user_id\":1,\"target_id\":2}]\n".to_vec(), "a JSON array"),
        (gzip(&[b"\xFF\xFE", &utf_16[..]].concat()), "text in UTF-16"),
        (utf_16, "binary data"),
    ] {
        place.file("j", bytes);
        let reason = format!("tideline: j: expected one JSON object on each line, or CSV, not {name}");
        let ran = place.run(&["import", "--follows", "j"]).failed(&reason);
        assert!(!ran.err.contains("no lines"), "{}", ran.err);
    }
    place.file("i", "content_id,author_id\n1,2\n");
    place.run(&["import", "--content", "i"]).failed("tideline: i:1: column published_at is missing");
}

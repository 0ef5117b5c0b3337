//! `tideline import` as a user runs it.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod command;

#[path = "import/members.rs"]
mod members;
mod server;

use std::io::Write as _;
use std::process::Stdio;
use std::time::Duration;

use command::{Place, content_id, gzip, user};
use tideline::config::Config;
use tideline::model::{PageRequest, Span, UserId};
use tideline::store::{Contents, Graph, Tier};

const FOLLOWS: &str = "1,2,100\n1,3,200\n2,1,300\n3,1,400\n4,2,500\n4,3,600\n";
const CONTENT: &str = "10,2,1000,hello\n11,3,1000,\n12,2,2000,\"a, b\"\n13,3,900,é\n";

fn lines(text: &str) -> Vec<&str> {
    text.lines().collect()
}

/// The lines of stderr that name a refused line of `file`.
fn refused<'a>(err: &'a str, file: &str) -> Vec<(u64, &'a str)> {
    let named = |line: &'a str| line.strip_prefix(file)?.strip_prefix(':')?.split_once(": ");
    err.lines().filter_map(named).map(|(line, reason)| (line.parse().expect("a number"), reason)).collect()
}

/// The same community in both formats.
fn community() -> [(&'static str, String, String); 2] {
    let texts = ["plain", "with, comma", "\"quoted\"", "two\nlines", "carriage\r\nreturn", "é 🌊", ",", "\""];
    let (mut csv, mut json) = ((String::new(), String::new()), (String::new(), String::new()));
    csv.0.push_str("since,user_id,target_id\r\n");
    for (user, step) in (1..=30_u64).flat_map(|user| (1..=5_u64).map(move |step| (user, step))) {
        let (target, since) = ((user + step * step) % 30 + 1, user * 1000 + step);
        csv.0.push_str(&format!("{since},{user},{target}\r\n"));
        json.0.push_str(&format!("{{\"user_id\":\"{user}\",\"target_id\":{target},\"since\":{since}}}\n"));
    }
    csv.1.push_str("content_id,author_id,text,published_at\n");
    for id in 1..=200_u64 {
        let (author, at) = (id * 7 % 30 + 1, 1000 + id / 3);
        let text = texts[id as usize % texts.len()];
        csv.1.push_str(&format!("{id},{author},\"{}\",{at}\n", text.replace('"', "\"\"")));
        let object = serde_json::json!({"content_id": id, "author_id": author, "text": text, "published_at": at});
        json.1.push_str(&format!("{object}\n\n"));
    }
    [("csv", csv.0, csv.1), ("json", json.0, json.1)]
}

#[test]
fn formats_and_packings_give_the_same() {
    // In two parts that do not end at a line end: both packings join successive parts.
    let parts = |bytes: &[u8], pack: fn(&[u8]) -> Vec<u8>| {
        let (first, second) = bytes.split_at(bytes.len() / 2 + 1);
        [pack(first), pack(second)].concat()
    };
    let zstd = |bytes: &[u8]| zstd::encode_all(bytes, 3).expect("packs");
    let mut dumps = Vec::new();
    for (format, follows, content) in community() {
        let (follows, content) = (follows.as_bytes(), content.as_bytes());
        for (packing, follows, content) in [
            ("plain", follows.to_vec(), content.to_vec()),
            ("gzip", parts(follows, gzip), parts(content, gzip)),
            ("zstd", parts(follows, zstd), parts(content, zstd)),
        ] {
            let place = Place::new();
            // The name does not show the packing.
            place.file("follows.txt", &follows);
            place.file("content.txt", &content);
            let ran = place.run(&["import", "--follows", "follows.txt", "--content", "content.txt"]).ok();
            assert_eq!(
                lines(&ran.out),
                [
                    "follows follows.txt: 150 new, 0 already there, 0 refused",
                    "content content.txt: 200 new, 0 already there, 0 refused"
                ],
                "{format} {packing}"
            );
            dumps.push((format!("{format} {packing}"), place.dump()));

            let place = Place::new();
            place.run_with(&["import", "--follows", "-"], &follows).ok();
            place.run_with(&["import", "--content", "-"], &content).ok();
            dumps.push((format!("{format} {packing} on stdin"), place.dump()));
        }
    }
    assert!(dumps[0].1.lines().count() > 300);
    for (name, dump) in &dumps[1..] {
        assert_eq!(*dump, dumps[0].1, "{name}");
    }
}

#[test]
fn content_before_follows_and_the_other_way_round_give_the_same() {
    let (one, other) = (Place::new(), Place::new());
    for place in [&one, &other] {
        place.file("f", FOLLOWS);
        place.file("c", CONTENT);
    }
    one.run(&["import", "--follows", "f", "--content", "c"]).ok();
    other.run(&["import", "--content", "c"]).ok();
    other.run(&["import", "--follows", "f"]).ok();
    assert_eq!(one.dump(), other.dump());
    one.run(&["check", "--data-dir", "data"]).ok();
    other.run(&["check"]).ok();
}

#[test]
fn a_second_run_takes_nothing_twice() {
    let place = Place::new();
    place.file("f", FOLLOWS);
    place.file("c", CONTENT);
    let args = ["import", "--follows", "f", "--content", "c"];
    let first = place.run(&args).ok();
    assert_eq!(
        lines(&first.out),
        ["follows f: 6 new, 0 already there, 0 refused", "content c: 4 new, 0 already there, 0 refused"]
    );
    let dump = place.dump();
    let second = place.run(&args).ok();
    assert_eq!(
        lines(&second.out),
        ["follows f: 0 new, 6 already there, 0 refused", "content c: 0 new, 4 already there, 0 refused"]
    );
    assert_eq!(place.dump(), dump);

    place.file("more", format!("{CONTENT}14,2,3000\n14,2,3000\n14,3,3000\n"));
    let third = place.run(&["import", "--content", "more"]).failed("1 line was refused");
    assert_eq!(lines(&third.out), ["content more: 1 new, 5 already there, 1 refused"]);
    assert_eq!(
        refused(&third.err, "more"),
        [(7, "content_exists: content 14 exists with other fields, or is deleted. Use another content_id")]
    );
}

#[test]
fn several_files_are_taken_in_order() {
    let place = Place::new().with_env("TIDELINE__GRAPH__FOLLOW_LIMIT", 1);
    place.file("a", "1,2\n");
    place.file("b", "1,3\n4,1\n");
    place.file("c", "10,2,1\n");
    place.file("d", "10,3,1\n");
    let ran = place.run(&["import", "--content", "c", "--follows", "a", "--content", "d", "--follows", "b"]);
    let ran = ran.failed("tideline: 2 lines were refused; all others are imported. ");
    assert_eq!(
        lines(&ran.out),
        [
            "follows a: 1 new, 0 already there, 0 refused",
            "follows b: 1 new, 0 already there, 1 refused",
            "content c: 1 new, 0 already there, 0 refused",
            "content d: 0 new, 0 already there, 1 refused",
        ]
    );
    assert!(refused(&ran.err, "b")[0].1.starts_with("follow_limit: "), "{}", ran.err);
    assert_eq!(refused(&ran.err, "d")[0].0, 1);
}

#[test]
fn refused_lines_are_named_and_the_rest_is_taken() {
    let place = Place::new();
    let long = "9".repeat((1 << 20) + 1);
    let follows = [
        &b"\xEF\xBB\xBFtarget_id,user_id\r\n"[..], // 1
        b"2,1\r\n",
        b"\r\n",
        b"x,1\r\n", // 4
        b"3,1\n",
        b"1,1\n", // 6
        b"\"4\",\"1\"\n",
        b"5\n",       // 8
        b"6,\xFF1\n", // 9
        b"7,1,1,1\n", // 10
        b"   \n",
        long.as_bytes(), // 12
        b",1\n8,1\n",
        b"9223372036854775808,1\n", // 14
        b"9,\"1\n",                 // 15
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
    let id = "an id is a whole number from 1 to 9223372036854775807";
    let reasons: Vec<_> = refused(&ran.err, "f").into_iter().map(|(_, reason)| reason.to_owned()).collect();
    assert_eq!(
        reasons,
        [
            format!("invalid_id: target_id: {id}, not \"x\""),
            "self_follow: user 1 cannot follow itself".to_owned(),
            "missing_field: user_id is missing: \"5\"".to_owned(),
            "invalid_line: not valid UTF-8: \"6,\u{FFFD}1\"".to_owned(),
            "invalid_line: the line has 4 fields, but at most 2 are expected: \"7,1,1,1\"".to_owned(),
            "too_long: the line is longer than 1 MiB".to_owned(),
            format!("invalid_id: target_id: {id}, not \"9223372036854775808\""),
            "invalid_line: a quoted field is not closed: \"9,\\\"1\"".to_owned(),
        ]
    );
    let totals = ran.err.lines().find(|line| line.starts_with("refused in total: ")).expect("totals");
    let kinds = "6 invalid_line, 2 invalid_id, 2 missing_field, 1 invalid_time, 1 self_follow, 1 too_long";
    assert_eq!(totals, format!("refused in total: 13 lines: {kinds}"));
    let followees = place.rocks().followees(user(1), Tier::Disk).expect("followees");
    assert_eq!(followees.into_iter().map(UserId::get).collect::<Vec<_>>(), [2, 3, 4, 8, 10]);
}

#[test]
fn refused_json_lines_are_named() {
    let place = Place::new();
    let content = "\n{\"content_id\":1,\"author_id\":2,\"extra\":{\"a\":[1]},\"kind\":\"note\"}\r\n\
        {\"content_id\":2,\"author_id\":2,\"extra\":[]}\n\
        {\"author_id\":2}\n\
        1,2,3\n\
        {\"content_id\":3,\"author_id\":2,\n\
        {\"content_id\":4,\"author_id\":2,\"broadcast\":false}";
    let ran = place.run_with(&["import", "--content", "-", "--allow-refused", "4"], content.as_bytes()).ok();
    assert_eq!(lines(&ran.out), ["content -: 2 new, 0 already there, 4 refused"]);
    assert_eq!(refused(&ran.err, "-").into_iter().map(|(line, _)| line).collect::<Vec<_>>(), [3, 4, 5, 6]);
    let found = place.rocks().contents(&[content_id(1), content_id(4)], Tier::Disk).expect("contents");
    assert_eq!(found[0].as_ref().map(|c| (c.kind.as_str(), c.broadcast)), Some(("note", true)));
    assert_eq!(found[0].as_ref().and_then(|c| c.extra.as_deref()), Some("{\"a\":[1]}"));
    assert_eq!(found[1].as_ref().map(|c| c.broadcast), Some(false));
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
            .all(|(_, reason)| reason == &"follow_limit: user 1 can follow at most 3 users (graph.follow_limit)"),
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
    follows.push_str(&"x,2\n".repeat(700));
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
fn times_of_other_sorts_come_with_what_to_do() {
    let place = Place::new();
    let postgresql = "(PostgreSQL: (extract(epoch from t) * 1000)::bigint)";
    for (time, json, words) in [
        (
            "2026-01-02 03:04:05.678+00",
            r#""2026-01-02 03:04:05.678+00""#,
            format!("this value looks like a date; convert it {postgresql}"),
        ),
        (
            "1689089522.123",
            "1689089522.123",
            "this value looks like seconds: multiply it by 1000 and remove the fraction (PostgreSQL: (extract(epoch \
             from t) * 1000)::bigint)"
                .to_owned(),
        ),
        ("soon", r#""soon""#, String::new()),
    ] {
        place.file("f", format!("1,2,{time}\n1,3,5000\n"));
        place.file("c", format!("{{\"content_id\":1,\"author_id\":2,\"published_at\":{json}}}\n"));
        let ran = place.run(&["import", "--follows", "f", "--content", "c"]).failed("2 lines were refused");
        let words = if words.is_empty() { words } else { format!("; {words}") };
        for (file, field) in [("f", "since"), ("c", "published_at")] {
            let reason =
                format!("invalid_time: {field}: a time is whole milliseconds since 1970, not \"{time}\"{words}");
            assert_eq!(refused(&ran.err, file), [(1, reason.as_str())]);
        }
    }
}

#[test]
fn what_is_refused_is_shown_short_and_plain() {
    let place = Place::new();
    let long = "y".repeat(5000);
    place.file("f", format!("1,\u{1b}[31m\n1,{long}\n1,3\n"));
    place.file("p", format!("{{\"user_id\":1,\"nickname\":\"{}\",\"avatar\":5}}\n", "n".repeat(150)));
    let ran = place.run(&["import", "--follows", "f", "--profiles", "p"]).failed("3 lines were refused");
    let reasons = refused(&ran.err, "f");
    assert!(reasons[0].1.ends_with("not \"\\u{1b}[31m\""), "{reasons:?}");
    assert!(reasons[1].1.ends_with(&format!("not \"{}\"…", "y".repeat(60))), "{reasons:?}");
    let reason = refused(&ran.err, "p")[0].1;
    assert!(reason.starts_with("invalid_field: ") && reason.contains("\\\"avatar\\\":5"), "{reason}");
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
fn it_is_a_failure_when_every_line_is_refused() {
    let place = Place::new();
    place.file("f", "1,1\n2,x\n");
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
    // The same instant in milliseconds and in microseconds.
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
    assert_eq!(refused(&ran.err, "f")[1], (4, "self_follow: user 5 cannot follow itself"));
    place.run(&["check"]).ok();
}

#[test]
fn what_was_imported_with_a_time_to_come_is_there_already() {
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
fn what_cannot_be_read_is_refused_by_name() {
    let place = Place::new();
    place.run(&["import", "--follows", "missing.csv"]).failed("tideline: cannot read missing.csv: No such file");
    place
        .run(&["import", "--follows", "-", "--content", "-"])
        .failed("tideline: the standard input (-) can be given only once");
    place.file("h", "\nuser_id,target\n1,2\n");
    place.run(&["import", "--follows", "h"]).failed("tideline: h:2: unknown column \"target\"");
    place.file("j", "[{\"user_id\":1,\"target_id\":2}]\n");
    place
        .run(&["import", "--follows", "j"])
        .failed("tideline: j: expected one JSON object on each line, or CSV, not a JSON array");
    place.file("i", "content_id,author_id\n1,2\n");
    place.run(&["import", "--content", "i"]).failed("tideline: i:1: column published_at is missing");
}

#[test]
fn a_file_cut_short_keeps_what_was_read() {
    // Numbers without a pattern, so that most of the packed file is needed for most of the lines.
    let mut follows = String::new();
    for n in 1..=20_000_u64 {
        follows.push_str(&format!("{},{}\n", n, n.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 2 | 1));
    }
    let zstd = zstd::encode_all(follows.as_bytes(), 1).expect("packs");
    for packed in [gzip(follows.as_bytes()), zstd] {
        let place = Place::new();
        place.file("f", &packed[..packed.len() * 4 / 5]);
        let ran = place.run(&["import", "--follows", "f"]).failed("tideline: f: after line ");
        assert!(ran.err.contains("the compressed data is truncated"), "{}", ran.err);
        let new: u64 = ran.out.split_whitespace().nth(2).expect("a count").parse().expect("a number");
        assert!((5000..20_000).contains(&new), "{}", ran.out);
        assert!(ran.out.ends_with("0 already there, 0 refused\n"), "the cut line must not be taken: {}", ran.out);
        place.file("f", &packed);
        let again = place.run(&["import", "--follows", "f"]).ok();
        assert_eq!(again.out, format!("follows f: {} new, {new} already there, 0 refused\n", 20_000 - new));
    }
}

#[test]
fn a_short_queue_of_jobs_only_slows_it_down() {
    let place = Place::new().with_env("TIDELINE__FANOUT__QUEUE", 1);
    let (_, follows, content) = community()[0].clone();
    place.file("f", follows);
    place.file("c", content);
    let ran = place.run(&["import", "--follows", "f", "--content", "c"]).ok();
    assert!(ran.out.contains("150 new") && ran.out.contains("200 new"), "{}", ran.out);
    place.run(&["check"]).ok();
}

#[test]
fn killed_at_any_time_it_can_be_run_again() {
    let mut follows = String::new();
    for user in 1..=200_u64 {
        for step in 1..=20 {
            follows.push_str(&format!("{user},{},{step}\n", (user + step * step) % 200 + 1));
        }
    }
    let whole = Place::new();
    whole.file("f", &follows);
    let whole_run = whole.run(&["import", "--follows", "f"]).ok().out;

    let place = Place::new();
    place.file("f", &follows);
    for (round, wait) in [150, 250, 350].into_iter().enumerate() {
        let mut child = place.command(&["import", "--follows", "-"]).stdin(Stdio::piped()).spawn().expect("starts");
        let mut stdin = child.stdin.take().expect("piped");
        stdin.write_all(&follows.as_bytes()[..follows.len() / 4 * (round + 1)]).expect("writes");
        std::thread::sleep(Duration::from_millis(wait));
        child.kill().expect("kills");
        child.wait().expect("ends");
    }
    let again = place.run(&["import", "--follows", "f"]).ok().out;
    assert_eq!(taken(&again), taken(&whole_run));
    place.run(&["check"]).ok();
    assert_eq!(place.dump(), whole.dump());
}

/// The lines taken: new and already there.
fn taken(out: &str) -> u64 {
    let count = |word: usize| out.split_whitespace().nth(word).and_then(|n| n.parse::<u64>().ok()).expect("a count");
    count(2) + count(4)
}

/// The worked case of the contract, with small inboxes and with thresholds that pull some or all.
#[test]
fn the_worked_case_gives_its_pages() {
    let content = "\
        32850,200,1689089522000\n16020,200,1688986368000\n19732,200,1688905999000\n61186,200,1688718647000\n\
        80723,200,1688616936000\n50015,211,1689087139000\n71658,211,1688986368000\n18253,211,1688975221000\n\
        73798,211,1688803287000\n92090,211,1688617305000\n82553,211,1685305893000\n25218,222,1689087991000\n\
        38376,233,1689087139000\n12572,244,1688986368000\n75256,222,1688803287000\n81709,233,1688718647000\n\
        13320,244,1688617305000\n";
    let pages = [
        32850, 25218, 50015, 38376, 71658, 16020, 12572, 18253, 19732, 75256, 73798, 81709, 61186, 92090, 13320, 80723,
        82553,
    ];
    for (inbox, push, pull) in [(1000, 10, 10), (4, 10, 10), (1000, 0, 0), (1000, 0, 10)] {
        let place = Place::new()
            .with_env("TIDELINE__TIMELINE__INBOX_LIMIT", inbox)
            .with_env("TIDELINE__FANOUT__PUSH_THRESHOLD", push)
            .with_env("TIDELINE__FANOUT__PULL_THRESHOLD", pull);
        place.file("f", "111,200\n111,211\n111,222\n111,233\n111,244\n");
        place.file("c", content);
        place.run(&["import", "--follows", "f", "--content", "c"]).ok();

        let mut config = Config::default();
        config.storage.data_dir = place.data();
        let app = tideline::server::open(&config).expect("opens");
        let mut request = PageRequest { span: Span::ALL, limit: 3 };
        let mut shown = Vec::new();
        loop {
            let page = app.feed().timeline(user(111), &request, Tier::Disk).expect("a page");
            shown.extend(page.items.iter().map(|entry| entry.cursor.id.get()));
            let Some(next) = page.next else { break };
            request.span.before = Some(next);
        }
        app.stop(Duration::from_secs(5)).expect("stops");
        assert_eq!(shown, pages, "{inbox} {push} {pull}");
    }
}

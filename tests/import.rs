//! `tideline import` as a user runs it.

mod everything;
mod export;
mod members;
mod refusals;

use crate::command::{Place, gzip};
use crate::plain::{item, user};
use kv::Tier;
use model::UserId;

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

/// One community in both formats.
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
    place.run(&args).ok();
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
        [(7, "content_exists: content_id: the item exists with other fields, or is deleted. Use another content_id")]
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
    let twice = place.run(&["import", "--profiles", "-", "--reactions", "-"]);
    twice.failed("the standard input (-) can be given only once");
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

/// The lines taken: new and already there.
fn taken(out: &str) -> u64 {
    let count = |word: usize| out.split_whitespace().nth(word).and_then(|n| n.parse::<u64>().ok()).expect("a count");
    count(2) + count(4)
}

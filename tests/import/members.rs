//! Imports of reactions and profiles.

use std::io::Write as _;
use std::process::Stdio;
use std::time::Duration;

use serde_json::{Value, json};
use tempfile::TempDir;

use super::{lines, refused, taken};
use crate::command::{Place, gzip};
use crate::server::Server;

const CONTENT: &str = "10,2,1000,hello\n11,3,1000,\n12,2,2000,\n";

/// Reactions: user, item, kind, since.
fn reactions() -> Vec<(u64, u64, &'static str, u64)> {
    let mut all = Vec::new();
    for (item, user) in (10..=12_u64).flat_map(|item| (1..=40_u64).map(move |user| (item, user))) {
        let since = 5000 + user * 7 % 13;
        if user % item < 7 {
            all.push((user, item, "like", since));
        }
        if (user + item) % 3 == 0 {
            all.push((user, item, "favorite", since + item));
        }
    }
    all
}

/// Profiles by user, as the API takes them.
fn profiles() -> Vec<(u64, Value)> {
    let whole =
        |user: u64| json!({"nickname": format!("n{user}, \"é\""), "avatar": "https://a/b", "extra": {"n": [user]}});
    let mut all: Vec<_> = (1..=20).map(|user| (user, whole(user))).collect();
    all.extend([(21, json!({"nickname": "x"})), (22, json!({"avatar": null})), (23, json!({"extra": {}}))]);
    // A later line replaces an earlier one as a whole.
    all.push((5, json!({"avatar": "https://later/"})));
    all
}

/// Both tables in both formats.
fn files() -> [(&'static str, String, String); 2] {
    let (mut csv, mut ndjson) = ((String::new(), String::new()), (String::new(), String::new()));
    for (n, (user, item, kind, since)) in reactions().into_iter().enumerate() {
        csv.0.push_str(&format!("{item},{user},{kind},{since}\r\n"));
        let item = if n % 2 == 0 { json!(item) } else { json!(item.to_string()) };
        let object = json!({"user_id": user, "content_id": item, "kind": kind, "since": since});
        ndjson.0.push_str(&format!("{object}\n"));
    }
    csv.1.push_str("extra,user_id,nickname,avatar\n");
    for (user, mut profile) in profiles() {
        let text = |name: &str| profile[name].as_str().unwrap_or_default().replace('"', "\"\"");
        let extra = profile.get("extra").map(|extra| extra.to_string().replace('"', "\"\"")).unwrap_or_default();
        csv.1.push_str(&format!("\"{extra}\",{user},\"{}\",\"{}\"\n", text("nickname"), text("avatar")));
        profile["user_id"] = json!(user);
        ndjson.1.push_str(&format!("{profile}\n"));
    }
    [("csv", csv.0, csv.1), ("ndjson", ndjson.0, ndjson.1)]
}

/// All answers of the API about the items and users.
fn shown(server: &Server) -> Vec<Value> {
    let mut answers = Vec::new();
    for (item, kind) in (10..=12).flat_map(|item| ["like", "favorite"].map(|kind| (item, kind))) {
        answers.push(server.get(&format!("/v1/content/{item}/reactions/{kind}?limit=100")));
    }
    answers.push(server.get("/v1/content?ids=10,11,12"));
    for user in 1..=40 {
        answers.push(server.get(&format!("/v1/users/{user}")));
        for kind in ["like", "favorite"] {
            answers.push(server.get(&format!("/v1/users/{user}/reactions/{kind}")));
        }
    }
    answers
}

#[test]
fn an_import_shows_what_the_same_calls_show() {
    let called = Server::start();
    for (id, author, at) in [(10, 2, 1000), (11, 3, 1000), (12, 2, 2000)] {
        called.publish(id, author, at);
    }
    for (user, item, kind, since) in reactions() {
        let path = format!("/v1/content/{item}/reactions/{kind}/{user}");
        called.call("PUT", &path, format!(r#"{{"since":{since}}}"#)).expect(200);
    }
    for (user, profile) in profiles() {
        called.call("PUT", &format!("/v1/users/{user}"), profile.to_string()).expect(200);
    }
    let expected = shown(&called);
    assert!(expected[0]["items"].as_array().unwrap().len() > 10, "{:?}", expected[0]);

    for (format, reactions, profiles) in files() {
        let (place, data) = (Place::new(), TempDir::new().unwrap());
        place.file("c", "10,2,1000,item 10\n11,3,1000,item 11\n12,2,2000,item 12\n");
        place.file("r", gzip(reactions.as_bytes()));
        place.file("p", zstd::encode_all(profiles.as_bytes(), 3).unwrap());
        let path = data.path().to_str().unwrap();
        place.run(&["import", "--data-dir", path, "--profiles", "p", "--reactions", "r", "--content", "c"]).ok();
        place.run(&["check", "--data-dir", path]).ok();
        let imported = Server::on(data, &[]);
        for (imported, expected) in shown(&imported).iter().zip(&expected) {
            assert_eq!(imported, expected, "{format}");
        }
    }
}

#[test]
fn a_second_run_changes_nothing() {
    let dumps = files().map(|(_, reactions, profiles)| {
        let place = Place::new();
        place.file("c", CONTENT);
        place.file("r", &reactions);
        place.file("p", &profiles);
        let (count, args) =
            (self::reactions().len(), ["import", "--content", "c", "--reactions", "r", "--profiles", "p"]);
        let first = place.run(&args).ok();
        assert_eq!(lines(&first.out)[1], format!("reactions r: {count} new, 0 already there, 0 refused"));
        assert_eq!(lines(&first.out)[2], "profiles p: 24 new, 0 already there, 0 refused");
        let dump = place.dump();
        let again = place.run(&args).ok();
        assert_eq!(lines(&again.out)[1], format!("reactions r: 0 new, {count} already there, 0 refused"));
        assert_eq!(place.dump(), dump);
        dump
    });
    assert_eq!(dumps[0], dumps[1]);
    assert!(dumps[0].contains("later") && dumps[0].contains("ReactionKind(1) [Position"), "{}", dumps[0]);
}

#[test]
fn a_reaction_that_is_there_keeps_its_time() {
    let place = Place::new();
    place.file("c", CONTENT);
    place.file("r", "10,1,like,100\n10,2,like,100\n10,1,like,200\n10,1,favorite,300\n");
    let ran = place.run(&["import", "--content", "c", "--reactions", "r"]).ok();
    assert_eq!(lines(&ran.out)[1], "reactions r: 3 new, 1 already there, 0 refused");
    let dump = place.dump();
    place.file("later", "10,1,like,400\n");
    place.run(&["import", "--reactions", "later"]).ok();
    assert_eq!(place.dump(), dump);
}

#[test]
fn refused_lines_are_named_and_change_nothing() {
    let place = Place::new();
    place.file("c", CONTENT);
    place.file("p", "1,first\n");
    place.run(&["import", "--content", "c", "--profiles", "p"]).ok();
    let before = place.dump();
    place.file("r", "content_id,user_id,kind\n10,1,love\n99,1,like\n10,\u{1},like\n\n10,1\n10,1,like,x\n98,2,like\n");
    let long = "x".repeat(201);
    place.file("q", format!("1,{long}\n1,second,,[]\n\u{1},a\n1,a,b,{{}},c\n\"1\n"));
    let ran = place.run(&["import", "--reactions", "r", "--profiles", "q"]).failed("all lines were refused");
    assert_eq!(
        lines(&ran.out),
        ["reactions r: 0 new, 0 already there, 6 refused", "profiles q: 0 new, 0 already there, 5 refused"]
    );
    let numbers = |file| refused(&ran.err, file).into_iter().map(|(line, _)| line).collect::<Vec<_>>();
    assert_eq!((numbers("r"), numbers("q")), (vec![2, 3, 4, 6, 7, 8], vec![1, 2, 3, 4, 5]));
    let reasons = refused(&ran.err, "r");
    assert_eq!(
        reasons[0].1,
        "invalid_kind: kind: expected one of reactions.kinds (\"like\", \"favorite\"), not \"love\""
    );
    assert!(reasons[1].1.starts_with("content_not_found: "), "{reasons:?}");
    assert!(refused(&ran.err, "q")[0].1.starts_with("invalid_field: nickname: "), "{}", ran.err);
    assert_eq!(place.dump(), before);

    // The good lines of the same file are taken.
    place.file("s", "99,1,like\n11,1,like,5\n11,1,hate\n12,1,favorite,6\n");
    let ran = place.run(&["import", "--reactions", "s"]).failed("2 lines were refused; all others are imported");
    assert_eq!(lines(&ran.out), ["reactions s: 2 new, 0 already there, 2 refused"]);
    place.run(&["check"]).ok();
}

#[test]
fn killed_at_any_time_it_can_be_run_again() {
    let mut reactions = String::new();
    for (user, item) in (1..=200_u64).flat_map(|user| (10..=12).map(move |item| (user, item))) {
        for kind in ["like", "favorite"] {
            reactions.push_str(&format!("{item},{user},{kind},{}\n", user * 11 % 97));
        }
    }
    let profiles: String = (1..=1500).map(|user| format!("{user},name {user},a/{user}\n")).collect();
    let whole = Place::new();
    for (name, text) in [("c", CONTENT), ("r", &reactions), ("p", &profiles)] {
        whole.file(name, text);
    }
    let whole_run = whole.run(&["import", "--content", "c", "--reactions", "r", "--profiles", "p"]).ok().out;

    let place = Place::new();
    place.file("c", CONTENT);
    place.run(&["import", "--content", "c"]).ok();
    for (table, text) in [("--reactions", &reactions), ("--profiles", &profiles)] {
        for (round, wait) in [200, 300].into_iter().enumerate() {
            let mut child = place.command(&["import", table, "-"]).stdin(Stdio::piped()).spawn().expect("starts");
            let mut stdin = child.stdin.take().expect("piped");
            stdin.write_all(&text.as_bytes()[..text.len() / 3 * (round + 1)]).expect("writes");
            std::thread::sleep(Duration::from_millis(wait));
            child.kill().expect("kills");
            child.wait().expect("ends");
        }
        place.file("t", text);
        let again = place.run(&["import", table, "t"]).ok().out;
        let line = usize::from(table == "--profiles") + 1;
        assert_eq!(taken(&again), taken(lines(&whole_run)[line]));
    }
    place.run(&["check"]).ok();
    assert_eq!(place.dump(), whole.dump());
}

#[test]
fn headers_of_these_tables_are_known() {
    let place = Place::new();
    place.file("r", "content_id,user_id\n1,2\n");
    place.run(&["import", "--reactions", "r"]).failed("tideline: r:1: column kind is missing in the header");
    place.file("p", "user_id,name\n1,2\n");
    place.run(&["import", "--profiles", "p"]).failed("tideline: p:1: unknown column \"name\" in the header");
    place
        .run(&["import", "--profiles", "-", "--reactions", "-"])
        .failed("the standard input (-) can be given only once");
}

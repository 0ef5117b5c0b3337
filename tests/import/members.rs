//! Imports of reactions and profiles, and kills during imports.

use std::io::Write as _;
use std::process::Stdio;
use std::time::Duration;

use super::{lines, refused, taken};
use crate::command::Place;

const CONTENT: &str = "10,2,1000,hello\n11,3,1000,\n12,2,2000,\n";

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
    let mut follows = String::new();
    for (user, step) in (1..=200_u64).flat_map(|user| (1..=20).map(move |step| (user, step))) {
        follows.push_str(&format!("{user},{},{step}\n", (user + step * step) % 200 + 1));
    }
    let tables = [("--follows", &follows), ("--reactions", &reactions), ("--profiles", &profiles)];
    let whole = Place::new();
    whole.file("c", CONTENT);
    whole.run(&["import", "--content", "c"]).ok();

    let place = Place::new();
    place.file("c", CONTENT);
    place.run(&["import", "--content", "c"]).ok();
    for (table, text) in tables {
        whole.file("t", text);
        let whole_run = whole.run(&["import", table, "t"]).ok().out;
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
        assert_eq!(taken(&again), taken(&whole_run));
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

//! Imports of reactions that are there, and kills during imports.

use std::io::Write as _;
use std::process::Stdio;
use std::time::Duration;

use super::{lines, taken};
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

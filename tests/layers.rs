//! The house, where the compiler does not look: the picture of the crates and the floors of `http` in
//! docs/architecture.md, circles between the files and between the rooms of a crate, and the length of files.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use regex::Regex;

const MOST_LINES: usize = 450;
/// The program, which is below no crate.
const PROGRAM: &str = "program";

fn regex(pattern: &str) -> Regex {
    Regex::new(pattern).unwrap()
}

/// The crates by their names in code, each with its directory.
fn crates() -> BTreeMap<String, PathBuf> {
    let below = fs::read_dir("crates").unwrap().map(|found| found.unwrap().path());
    let named = below.map(|path| (path.file_name().unwrap().to_str().unwrap().to_owned(), path));
    named.chain([(PROGRAM.to_owned(), PathBuf::from("."))]).collect()
}

#[test]
fn the_picture_has_the_crates_and_their_arrows() {
    let crates = crates();
    let page = fs::read_to_string("docs/architecture.md").unwrap();
    let (_, picture) = page.split_once("```mermaid\n").unwrap();
    let (picture, _) = picture.split_once("```").unwrap();
    let label = r#"(?:\["[^"]*"\])?"#;
    let arrow = regex(&format!(r"(?m)^ *(\w+){label} --> (\w+){label}$"));
    let drawn: BTreeSet<_> =
        arrow.captures_iter(picture).map(|found| (found[1].to_owned(), found[2].to_owned())).collect();
    let mut there = BTreeSet::new();
    for (name, path) in &crates {
        let manifest: toml::Table = fs::read_to_string(path.join("Cargo.toml")).unwrap().parse().unwrap();
        let needed = manifest["dependencies"].as_table().unwrap().keys().filter(|needed| crates.contains_key(*needed));
        there.extend(needed.map(|needed| (name.clone(), needed.clone())));
    }
    // An arrow that follows from others need not be drawn.
    let follows = |(from, to): &(String, String)| {
        let (mut seen, mut next) = (BTreeSet::new(), vec![from.clone()]);
        while let Some(at) = next.pop() {
            for (_, below) in drawn.iter().filter(|(above, below)| *above == at && (above, below) != (from, to)) {
                if below == to {
                    return true;
                }
                seen.insert(below.clone()).then(|| next.push(below.clone()));
            }
        }
        false
    };
    let wrong: Vec<_> = drawn.difference(&there).map(|arrow| format!("drawn, and not there: {arrow:?}")).collect();
    let missing = there.difference(&drawn).filter(|arrow| !follows(arrow)).map(|arrow| format!("not drawn: {arrow:?}"));
    let wrong: Vec<_> = wrong.into_iter().chain(missing).collect();
    assert!(wrong.is_empty(), "{wrong:#?}");
}

/// The sources of a crate by the paths of their modules, such as `rows/keys`; the root is empty. Tests are left out.
fn sources(src: &Path) -> BTreeMap<String, String> {
    let (mut paths, mut sources) = (vec![src.to_owned()], BTreeMap::new());
    while let Some(path) = paths.pop() {
        if path.is_dir() {
            paths.extend(fs::read_dir(path).unwrap().map(|found| found.unwrap().path()));
        } else if path.extension().is_some_and(|extension| extension == "rs") && !path.ends_with("main.rs") {
            let text = fs::read_to_string(&path).unwrap();
            let name = path.strip_prefix(src).unwrap().with_extension("");
            let name = name.to_str().unwrap();
            let module = if name == "lib" { "" } else { name.strip_suffix("/mod").unwrap_or(name) };
            if !module.split('/').any(|part| part == "tests") {
                sources.insert(module.to_owned(), text);
            }
        }
    }
    sources
}

/// The paths of a tree of names: `a::{b, c::d}` has `a::b` and `a::c::d`.
fn leaves(prefix: &str, tree: &str, found: &mut Vec<String>) {
    let tree = tree.trim();
    let Some((start, rest)) = tree.split_once('{') else {
        let name = tree.split(" as ").next().unwrap().trim();
        return found.push(format!("{prefix}{}", name.strip_suffix("::self").unwrap_or(name)));
    };
    let prefix = format!("{prefix}{}", start.trim());
    let (mut depth, mut part) = (0, String::new());
    for letter in rest.rsplit_once('}').unwrap().0.chars().chain([',']) {
        depth += i32::from(letter == '{') - i32::from(letter == '}');
        if letter != ',' || depth > 0 {
            part.push(letter);
        } else if !part.trim().is_empty() {
            leaves(&prefix, &std::mem::take(&mut part), found);
        }
    }
}

/// The files of one crate, and the files that each names. A name that a module passes on is one of the file that has it. A
/// module and those inside it may name each other, because they are one room.
fn names(sources: &BTreeMap<String, String>) -> BTreeMap<String, BTreeSet<String>> {
    let hidden = regex(r"(?m)//.*$");
    let inner = regex(r"(?ms)^#\[cfg\(test\)\]\nmod \w+ \{.*?^\}");
    let uses = regex(r"(?m)^ *(pub(?:\([^)]*\))? )?use ([^;]+);");
    let inline = regex(r"\b(?:crate|super|self)(?:::\w+)+");
    let of_module = regex(r"(?:^|[^:\w])(\w+)::(\w+(?:::\w+)*)");
    let absolute = |module: &str, path: &str| {
        let mut at: Vec<&str> = module.split('/').filter(|part| !part.is_empty()).collect();
        let mut parts = path.split("::").map(str::trim).peekable();
        let first = *parts.peek()?;
        match first {
            "crate" => at.clear(),
            "self" | "super" => {}
            child if sources.contains_key(&at.iter().copied().chain([child]).collect::<Vec<_>>().join("/")) => {}
            _ => return None,
        }
        for part in parts.filter(|part| !matches!(*part, "crate" | "self")) {
            if part == "super" {
                at.pop();
            } else {
                at.push(part);
            }
        }
        Some(at.into_iter().map(str::to_owned).collect::<Vec<_>>())
    };
    let (mut passed_on, mut named) = (BTreeMap::new(), Vec::new());
    for (module, text) in sources {
        let mut modules = BTreeMap::new();
        let text = inner.replace_all(text, "");
        let text = hidden.replace_all(&text, "");
        for found in uses.captures_iter(&text) {
            let mut paths = Vec::new();
            leaves("", &found[2], &mut paths);
            for path in paths.iter().filter_map(|path| absolute(module, path)) {
                match (found.get(1), path.last()) {
                    (Some(_), Some(name)) => drop(passed_on.insert((module.clone(), name.clone()), path.clone())),
                    (None, Some(name)) if sources.contains_key(&path.join("/")) => {
                        drop(modules.insert(name.clone(), path.clone()));
                    }
                    _ => named.push((module.clone(), path)),
                }
            }
        }
        let rest = uses.replace_all(&text, "");
        // Of a module that is imported, those of its names that are used.
        for used in of_module.captures_iter(&rest) {
            if let Some(path) = modules.get(&used[1]) {
                named.push((
                    module.clone(),
                    path.iter().cloned().chain(used[2].split("::").map(str::to_owned)).collect(),
                ));
            }
        }
        named.extend(
            inline.find_iter(&rest).filter_map(|path| Some((module.clone(), absolute(module, path.as_str())?))),
        );
    }
    let file_of = |path: &[String]| {
        let mut path = path.to_vec();
        for _ in 0..5 {
            let deepest = (0..=path.len()).rev().find(|size| sources.contains_key(&path[..*size].join("/"))).unwrap();
            let (module, rest) = (path[..deepest].join("/"), path[deepest..].to_vec());
            match rest.first().and_then(|name| passed_on.get(&(module.clone(), name.clone()))) {
                Some(from) => path = from.iter().chain(&rest[1..]).cloned().collect(),
                None => return module,
            }
        }
        String::new()
    };
    let mut files: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for (module, path) in named {
        let other = file_of(&path);
        let is_inside = |one: &str, room: &str| room.is_empty() || one == room || one.starts_with(&format!("{room}/"));
        if !is_inside(&module, &other) && !is_inside(&other, &module) {
            files.entry(module).or_default().insert(other);
        }
    }
    files
}

/// A circle, if there is one.
fn circle(names: &BTreeMap<String, BTreeSet<String>>) -> Option<Vec<String>> {
    fn walk<'n>(
        names: &'n BTreeMap<String, BTreeSet<String>>,
        at: &'n str,
        way: &mut Vec<&'n str>,
        done: &mut BTreeSet<&'n str>,
    ) -> Option<Vec<String>> {
        if let Some(begin) = way.iter().position(|passed| *passed == at) {
            return Some(way[begin..].iter().map(|&passed| passed.to_owned()).collect());
        }
        if !done.insert(at) {
            return None;
        }
        way.push(at);
        let found = names.get(at).into_iter().flatten().find_map(|next| walk(names, next, way, done));
        way.pop();
        found
    }
    let mut done = BTreeSet::new();
    names.keys().find_map(|file| walk(names, file, &mut Vec::new(), &mut done))
}

/// The rooms of a crate, and the rooms that each names. A file outside of all folders is a room of its own. The `tables` of all
/// subjects are one room, below the others.
fn rooms(files: &BTreeMap<String, BTreeSet<String>>) -> BTreeMap<String, BTreeSet<String>> {
    let room = |file: &str| {
        let parts: Vec<_> = file.split('/').collect();
        let is_of_subject = parts.len() > 1 && parts[0] != "rows" && parts[1] == "tables";
        if is_of_subject { "tables".to_owned() } else { parts[0].to_owned() }
    };
    let mut rooms: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for (file, others) in files {
        let named = others.iter().map(|other| room(other)).filter(|other| *other != room(file));
        rooms.entry(room(file)).or_default().extend(named);
    }
    rooms
}

#[test]
fn files_and_rooms_of_a_crate_name_each_other_without_circles() {
    for (name, path) in crates() {
        let names = names(&sources(&path.join("src")));
        assert_eq!(circle(&names), None, "files of {name} that name each other");
        assert_eq!(circle(&rooms(&names)), None, "rooms of {name} that name each other");
    }
}

#[test]
fn rooms_of_http_name_only_rooms_on_their_floor_and_below() {
    let page = fs::read_to_string("docs/architecture.md").unwrap();
    let (_, floors) = page.split_once("| floor of `http` | rooms |\n|---|---|\n").unwrap();
    let rows = floors.lines().take_while(|line| line.starts_with("| "));
    let name = regex("`(\\w+)`");
    let floor_of: BTreeMap<_, _> = rows
        .zip(0..)
        .flat_map(|(row, floor)| {
            name.captures_iter(row).map(move |found| (found[1].to_owned(), floor)).collect::<Vec<_>>()
        })
        .collect();
    let names = rooms(&names(&sources(Path::new("crates/http/src"))));
    let all: BTreeSet<_> = names.iter().flat_map(|(room, named)| named.iter().chain([room])).cloned().collect();
    assert_eq!(floor_of.keys().cloned().collect::<BTreeSet<_>>(), all, "the table has other rooms than the crate");
    for (room, other) in names.iter().flat_map(|(room, named)| named.iter().map(move |other| (room, other))) {
        assert!(floor_of[room] <= floor_of[other], "{room} names {other}, which is on a higher floor");
    }
}

#[test]
fn files_are_short() {
    for (name, path) in crates() {
        for (module, text) in sources(&path.join("src")) {
            assert!(text.lines().count() <= MOST_LINES, "{name}: {module} has more than {MOST_LINES} lines; divide it");
        }
    }
}

#[test]
fn a_circle_is_found_and_a_room_is_none() {
    let crate_of =
        |files: &[(&str, &str)]| files.iter().map(|(path, text)| ((*path).to_owned(), (*text).to_owned())).collect();
    let found = |files: &[(&str, &str)]| circle(&names(&crate_of(files))).map(|circle| circle.len());
    let root = ("", "mod a;\nmod b;\npub use a::A;");
    for (a, b) in [
        ("use crate::b::B;", "use super::a::A;"),
        ("use crate::b::B;", "use crate::{A, B};"),
        ("fn f() -> crate::b::B {}", "use crate::a;\nfn g() -> a::A {}"),
        ("use crate::{\n    b::{B, C},\n};", "use super::A;"),
    ] {
        assert_eq!(found(&[root, ("a", a), ("b", b)]), Some(2), "{a} {b}");
    }
    for (a, b) in [
        ("use crate::b::B;", "// use super::a::A;"),
        ("use crate::b::B;", "#[cfg(test)]\nmod tests {\n    use crate::A;\n}"),
        ("use super::C;", "use crate::a::A;"),
        ("pub(crate) use crate::b::B;", "use super::D;"),
    ] {
        assert_eq!(found(&[root, ("a", a), ("b", b)]), None, "{a} {b}");
    }
    let inside = [("", "mod a;"), ("a", "mod b;\nuse b::B;"), ("a/b", "use super::A;")];
    assert_eq!(found(&inside), None);
    let between = [
        ("a/b", "use crate::c::d;\nfn f() -> d::D {}"),
        ("c/d", ""),
        ("c/e", "use crate::a::f;\nfn g() -> f::F {}"),
        ("a/f", ""),
    ];
    let names = names(&crate_of(&[&[root][..], &between].concat()));
    assert_eq!((circle(&names), circle(&rooms(&names)).map(|circle| circle.len())), (None, Some(2)));
}

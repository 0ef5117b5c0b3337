//! The house, where the compiler does not look: the picture of the crates in
//! docs/architecture.md, circles between the files and between the modules of a crate, and the length of files.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use regex::Regex;

const MOST_LINES: usize = 450;
/// Places, and those that each names.
type Arrows = BTreeMap<String, BTreeSet<String>>;

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
    let mut drawn = Arrows::new();
    for found in arrow.captures_iter(picture) {
        drawn.entry(found[1].to_owned()).or_default().insert(found[2].to_owned());
    }
    let mut there = Arrows::new();
    for (name, path) in &crates {
        let manifest: toml::Table = fs::read_to_string(path.join("Cargo.toml")).unwrap().parse().unwrap();
        let needed = manifest["dependencies"].as_table().unwrap().keys().filter(|needed| crates.contains_key(*needed));
        there.insert(name.clone(), needed.cloned().collect());
    }
    // One without arrows is not in the picture as their beginning.
    there.retain(|_, needed| !needed.is_empty());
    assert_eq!(drawn, without_shortcuts(&there));
}

/// The arrows that do not follow from others.
fn without_shortcuts(arrows: &Arrows) -> Arrows {
    let mut reached = arrows.clone();
    let mut before = Arrows::new();
    while before != reached {
        before = reached.clone();
        for below in reached.values_mut() {
            below.extend(below.clone().iter().filter_map(|next| before.get(next)).flatten().cloned());
        }
    }
    let is_reached = |from: &str, to: &String| reached.get(from).is_some_and(|below| below.contains(to));
    let direct = |below: &BTreeSet<String>| {
        below.iter().filter(|to| !below.iter().any(|other| is_reached(other, to))).cloned().collect()
    };
    arrows.iter().map(|(from, below)| (from.clone(), direct(below))).collect()
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
/// module and those inside it may name each other, because they are one module.
fn names(sources: &BTreeMap<String, String>) -> Arrows {
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
    let (mut passed_on, mut all_of, mut named, mut of_all) = (BTreeMap::new(), Vec::new(), Vec::new(), Vec::new());
    let word = regex(r"\w+");
    for (module, text) in sources {
        let mut modules = BTreeMap::new();
        let text = inner.replace_all(text, "");
        let text = hidden.replace_all(&text, "");
        let rest = uses.replace_all(&text, "");
        let words: BTreeSet<_> = word.find_iter(&rest).map(|word| word.as_str().to_owned()).collect();
        for found in uses.captures_iter(&text) {
            let mut paths = Vec::new();
            leaves("", &found[2], &mut paths);
            for path in paths.iter().filter_map(|path| absolute(module, path)) {
                match (found.get(1), path.last()) {
                    (Some(_), Some(name)) if name == "*" => all_of.push((module, path[..path.len() - 1].to_vec())),
                    (Some(_), Some(name)) => {
                        // A name that is passed on may be used here, too.
                        if words.contains(name) {
                            named.push((module.clone(), path.clone()));
                        }
                        passed_on.insert((module.clone(), name.clone()), path.clone());
                    }
                    (None, Some(name)) if sources.contains_key(&path.join("/")) => {
                        drop(modules.insert(name.clone(), path.clone()));
                    }
                    _ => named.push((module.clone(), path)),
                }
            }
        }
        // Of a module of which all names are imported, those that occur.
        named.retain(|(of, path): &(String, Vec<String>)| {
            let is_all = of == module && path.last().is_some_and(|name| name == "*");
            if is_all {
                of_all.push((module.clone(), path[..path.len() - 1].join("/"), words.clone()));
            }
            !is_all
        });
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
    // Of a file of which all names are passed on, those that it declares, and those that it passes on, perhaps again all of a file.
    // Then those that a macro makes of words at the beginning of a line.
    let declared =
        regex(r"(?m)^ *pub(?:\([^)]*\))? (?:async |const )?(?:struct|enum|trait|type|const|static|fn) (\w+)");
    let made = regex(r"(?m)^    (?:\w+: )?([A-Z]\w+)(?: \{| =|[,;])");
    let found = |names: &Regex| -> Arrows {
        let of = |text: &str| names.captures_iter(text).map(|found| found[1].to_owned()).collect();
        sources.iter().map(|(module, text)| (module.clone(), of(&uses.replace_all(text, "")))).collect()
    };
    let (declared, made) = (found(&declared), found(&made));
    for names in [&declared, &declared, &made, &made] {
        for (module, path) in &all_of {
            let file = path.join("/");
            let further = passed_on.keys().filter(|(of, _)| *of == file).map(|(_, name)| name);
            let all: BTreeSet<_> = names.get(&file).into_iter().flatten().chain(further).cloned().collect();
            for name in all.difference(&declared[*module]) {
                let place = path.iter().chain([name]).cloned().collect();
                passed_on.entry(((*module).clone(), name.clone())).or_insert(place);
            }
        }
    }
    for (module, from, words) in of_all {
        let used = passed_on.iter().filter(|((of, name), _)| *of == from && words.contains(name));
        named.extend(used.map(|(_, path)| (module.clone(), path.clone())));
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
    let mut files: Arrows = BTreeMap::new();
    for (module, path) in named {
        let other = file_of(&path);
        let is_inside =
            |one: &str, module: &str| module.is_empty() || one == module || one.starts_with(&format!("{module}/"));
        if !is_inside(&module, &other) && !is_inside(&other, &module) {
            files.entry(module).or_default().insert(other);
        }
    }
    files
}

/// A circle, if there is one.
fn circle(names: &Arrows) -> Option<Vec<String>> {
    fn walk<'n>(
        names: &'n Arrows,
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

/// The modules of a crate, from below to above: the first sentence of each, and the modules that it names. An arrow that follows from
/// others is left out.
pub(crate) fn table_of_modules(name: &str) -> String {
    let sources = sources(&Path::new("crates").join(name).join("src"));
    let mut modules = modules(&names(&sources));
    for module in sources.keys().filter(|module| !module.is_empty()) {
        modules.entry(module.split('/').next().unwrap().to_owned()).or_default();
    }
    modules.remove("");
    let direct = without_shortcuts(&modules);
    let mut order: Vec<_> = modules.keys().collect();
    order.sort_by_key(|module| (height(&direct, module), *module));
    let rows = order.into_iter().map(|module| {
        let text = sources.get(module).map_or("//! The rows of each subject.", String::as_str);
        let about: Vec<_> = text.lines().map_while(|line| line.strip_prefix("//! ")).collect();
        let about = about.join(" ");
        let about = about.split_inclusive(". ").next().unwrap().trim_end().trim_end_matches('.');
        let named: Vec<_> = direct[module].iter().map(|named| format!("`{named}`")).collect();
        format!("| `{module}` | {about} | {} |\n", named.join(", "))
    });
    format!("| module of `{name}` | content | uses |\n|---|---|---|\n{}", rows.collect::<String>())
}

/// The longest way down from a module.
fn height(modules: &Arrows, module: &str) -> usize {
    modules.get(module).into_iter().flatten().map(|below| 1 + height(modules, below)).max().unwrap_or(0)
}

/// The modules of a crate, and the modules that each names. A file outside of all folders is a module of its own. The `tables` of all
/// subjects are one module, below the others.
fn modules(files: &Arrows) -> Arrows {
    let module = |file: &str| {
        let parts: Vec<_> = file.split('/').collect();
        let is_of_subject = parts.len() > 1 && parts[0] != "rows" && parts[1] == "tables";
        if is_of_subject { "tables".to_owned() } else { parts[0].to_owned() }
    };
    let mut modules: Arrows = BTreeMap::new();
    for (file, others) in files {
        let named = others.iter().map(|other| module(other)).filter(|other| *other != module(file));
        modules.entry(module(file)).or_default().extend(named);
    }
    modules
}

#[test]
fn files_and_rooms_of_a_crate_name_each_other_without_circles() {
    for (name, path) in crates() {
        let names = names(&sources(&path.join("src")));
        assert_eq!(circle(&names), None, "files of {name} that name each other");
        assert_eq!(circle(&modules(&names)), None, "modules of {name} that name each other");
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
        ("pub use crate::b::B;\nuse crate::b::C;", "use crate::a::*;\nfn f() -> D {}\nfn g() -> crate::a::D {}"),
        ("fn f() -> crate::b::B {}", "use crate::a;\nfn g() -> a::A {}"),
        ("use crate::{\n    b::{B, C},\n};", "use super::A;"),
    ] {
        assert_eq!(found(&[root, ("a", a), ("b", b)]), Some(2), "{a} {b}");
    }
    for (a, b) in [
        ("use crate::b::B;", "// use super::a::A;"),
        ("use crate::b::B;", "#[cfg(test)]\nmod tests {\n    use crate::A;\n}"),
        ("use super::C;", "use crate::a::A;"),
        ("pub use crate::b::B;", "use crate::a::*;"),
        ("pub(crate) use crate::b::B;", "use super::D;"),
    ] {
        assert_eq!(found(&[root, ("a", a), ("b", b)]), None, "{a} {b}");
    }
    let all = [("", "mod a;\nmod b;\npub use a::*;"), ("a", "pub struct A;\nuse crate::b::B;"), ("b", "use crate::A;")];
    assert_eq!(found(&all), Some(2));
    let inside = [("", "mod a;"), ("a", "mod b;\nuse b::B;"), ("a/b", "use super::A;")];
    assert_eq!(found(&inside), None);
    let between = [
        ("a/b", "use crate::c::d;\nfn f() -> d::D {}"),
        ("c/d", ""),
        ("c/e", "use crate::a::f;\nfn g() -> f::F {}"),
        ("a/f", ""),
    ];
    let names = names(&crate_of(&[&[root][..], &between].concat()));
    assert_eq!((circle(&names), circle(&modules(&names)).map(|circle| circle.len())), (None, Some(2)));
}

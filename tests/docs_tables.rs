//! `config.toml`, and the tables of the documentation, as they are made of the declarations.

use std::path::Path;

use crate::layers::table_of_modules;

use config::{Act, Config};
use model::error::Code;
use serde_json::Value;

/// Makes a file of what it is.
type Make = fn(&str) -> String;

const FILES: [(&str, Make); 7] = [
    ("config.toml", settings),
    ("docs/architecture.md", |page| {
        with_table(&with_table(page, &table_of_modules("feed")), &table_of_modules("http"))
    }),
    ("docs/contribute/failpoints.md", |page| {
        with_table(&with_table(page, &failpoints("place at a write", "Write")), &failpoints("place", "Failpoint"))
    }),
    ("docs/operate/cluster.md", |page| with_table(page, &agreed())),
    ("docs/schema.md", |page| with_plain_fields(&with_table(page, &feed::store::described()))),
    ("docs/use/access.md", |page| with_table(page, &calls_of_users())),
    ("docs/use/api.md", |page| with_table(&with_table(&with_table(page, &codes()), &effects()), &fields_of_items())),
];

/// Writes the files anew if `TIDELINE_WRITE_DOCS` is set.
#[test]
fn files_are_as_they_are_made_of_the_declarations() {
    for (name, make) in FILES {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(name);
        let present = std::fs::read_to_string(&path).unwrap();
        let made = make(&present);
        if std::env::var_os("TIDELINE_WRITE_DOCS").is_some() {
            std::fs::write(&path, made).unwrap();
        } else {
            assert!(present == made, "{name} differs from the declarations: `make docs-tables` writes it");
        }
    }
}

/// A page with this table in place of the one with the same head.
fn with_table(page: &str, table: &str) -> String {
    let head = table.lines().next().unwrap();
    let (before, rest) = page.split_once(head).unwrap_or_else(|| panic!("no table with the head {head}"));
    let (_, after) = rest.split_once("|\n\n").expect("an empty line behind the table");
    format!("{before}{}\n\n{after}", table.trim_end())
}

/// The codes of errors.
fn codes() -> String {
    let rows = Code::ALL.iter().map(|code| format!("| `{code}` | {} | {} |", code.status(), cell(code.meaning())));
    table("| code | status | meaning |", rows)
}

/// The words of an enumeration, each with its comment, whose paragraphs are lines.
fn words_of<'a>(source: &'a str, declared: &str) -> Vec<(&'a str, String)> {
    let (_, values) = source.split_once(&format!("{declared} {{\n")).unwrap();
    let (values, _) = values.split_once("\n    }\n").unwrap();
    let (mut words, mut comment) = (Vec::new(), String::new());
    for line in values.lines().map(str::trim) {
        match line.strip_prefix("///") {
            Some(told) => comment += if told.is_empty() { "\n" } else { told },
            None if line.starts_with("//") => {}
            None => words.push((line.split('"').nth(1).unwrap(), std::mem::take(&mut comment))),
        }
    }
    words
}

/// A field of an item as it is declared.
struct ItemField {
    name: &'static str,
    about: String,
    is_plain: bool,
    in_edit: bool,
}

/// The fields of a publish beside the author.
fn item_fields() -> Vec<ItemField> {
    let source = include_str!("../crates/model/src/items/new_content.rs");
    let (declared, _) = source.split_once("\nitem_fields! {\n").unwrap().1.split_once("\n}\n").unwrap();
    let (mut fields, mut about, mut is_plain) = (Vec::new(), String::new(), false);
    for line in declared.lines().map(str::trim) {
        if let Some(words) = line.strip_prefix("/// ") {
            assert!(about.is_empty(), "a second line about a field: {words}");
            about = cell(words);
        } else if let Some((name, of_type)) = line.split_once(": ").filter(|_| line.ends_with(';')) {
            let (about, in_edit) = (std::mem::take(&mut about), of_type.contains(", edit "));
            fields.push(ItemField { name, about, is_plain, in_edit });
        } else if line.ends_with('{') {
            is_plain = line.starts_with("plain");
        }
    }
    fields
}

fn fields_of_items() -> String {
    let rows = item_fields().into_iter().map(|ItemField { name, about, in_edit, .. }| {
        format!("| `{name}` | {about} | {} |", if in_edit { "yes" } else { "no" })
    });
    table("| field | meaning | in an edit |", rows)
}

/// A page with the plain fields in their place.
fn with_plain_fields(page: &str) -> String {
    let (before, rest) = page.split_once("Then the plain fields: ").unwrap();
    let (_, after) = rest.split_once(".\n\n").unwrap();
    let names: Vec<_> = item_fields().iter().filter(|field| field.is_plain).map(|field| field.name).collect();
    format!("{before}Then the plain fields: {}.\n\n{after}", names.join(", "))
}

/// The failpoints of an enumeration. The comment of a write is the state before it and, behind an empty line, after it.
fn failpoints(head: &str, declared: &str) -> String {
    let mut rows = Vec::new();
    for (name, comment) in words_of(include_str!("../crates/model/src/failpoint.rs"), declared) {
        let at_write = [".before", ".after"].into_iter().zip(comment.split('\n'));
        let states: Vec<_> = if comment.contains('\n') { at_write.collect() } else { vec![("", &*comment)] };
        rows.extend(states.iter().map(|(place, state)| format!("| `{name}{place}` | {} |", cell(state))));
    }
    table(&format!("| {head} | state at this place |"), rows.into_iter())
}

/// The types of changes.
fn effects() -> String {
    let types = words_of(include_str!("../crates/model/src/effect.rs"), "EffectKind").into_iter();
    table("| type | what was done |", types.map(|(name, comment)| format!("| `{name}` | {} |", cell(&comment))))
}

/// A sentence in a cell of a table.
fn cell(sentence: &str) -> String {
    let (first, rest) = sentence.trim().trim_end_matches('.').split_at(1);
    first.to_ascii_lowercase() + rest
}

/// The calls that a user token allows, by the word that each needs.
fn calls_of_users() -> String {
    let document: Value = serde_json::from_str(&http::description(".").unwrap()).unwrap();
    let words = ["own", "visible"].into_iter().chain(Act::ALL.iter().map(|act| act.as_str()));
    let rows = words.flat_map(|word| {
        let paths = document["paths"].as_object().unwrap().iter();
        paths.flat_map(move |(path, calls)| {
            let calls = ["get", "put", "post", "delete"].map(|method| (method, &calls[method]));
            let allowed = calls.into_iter().filter(move |(_, call)| {
                let schemes = call["security"].as_array().into_iter().flatten();
                schemes.flat_map(|scheme| scheme["userToken"].as_array()).flatten().any(|named| named == word)
            });
            allowed.map(move |(method, call)| {
                let summary = call["summary"].as_str().unwrap();
                format!("| `{} {path}` | {summary} | `{word}` |", method.to_uppercase())
            })
        })
    });
    table("| call | what it does | word |", rows)
}

fn table(head: &str, rows: impl Iterator<Item = String>) -> String {
    let line = "|---".repeat(head.matches('|').count() - 1);
    [head.to_owned(), line + "|"].into_iter().chain(rows).collect::<Vec<_>>().join("\n")
}

/// The last section of `config.toml`.
const WEBHOOKS: &str = r#"
# Webhooks: the server sends the feed of changes to URLs, at most 16. There are no variables of the environment for these
# settings. See docs/use/webhooks.md.
#
#   [[webhooks]]
#   # A name of letters, digits, dots, hyphens and underscores. The position of the receiver is kept under it.
#   name = "push"
#   # The receiver: https, or http at a loopback address of this machine. An address of a private network is refused.
#   url = "https://app.example.org/tideline"
#   # A file with secrets that sign the requests, each "whsec_…" on a line of its own (`tideline key new --webhook`). It is
#   # read again for each request, so that a secret can be replaced.
#   secret_file = "/etc/tideline/push.secret"
#   # Only changes of these types; without it, all.
#   types = ["content.published", "reaction.created"]
#   # Where a new receiver begins: "newest" (the default), "oldest", or a position of the feed.
#   after = "newest"
"#;

/// A setting, or a section without a key, as it is declared.
struct Declared {
    section: &'static str,
    key: Option<&'static str>,
    about: String,
    /// All nodes of a cluster share it.
    is_agreed: bool,
}

/// The sections, each before its settings.
fn declared() -> Vec<Declared> {
    let (_, text) = include_str!("../crates/config/src/settings.rs").split_once("settings! {\n").unwrap();
    let (text, _) = text.split_once("\n}\n").unwrap();
    let (mut all, mut section, mut about) = (Vec::new(), "", String::new());
    for line in text.lines().map(str::trim) {
        if let Some(part) = line.strip_prefix("/// ") {
            about = about + " " + part;
        } else if let Some((name, _)) = line.split_once(": ").filter(|_| line.ends_with(['{', ';'])) {
            let key = line.ends_with(';').then_some(name);
            section = if key.is_none() { name } else { section };
            all.push(Declared { section, key, about: std::mem::take(&mut about), is_agreed: line.contains("=> ") });
        }
    }
    all
}

/// The settings in the command log, each with the begin of its comment.
fn agreed() -> String {
    let rows = declared().into_iter().filter(|of| of.is_agreed).map(|Declared { section, key, about, .. }| {
        let about = about.split(['.', ':', ';']).next().unwrap();
        format!("| {} | `{section}.{}` |", cell(about), key.unwrap())
    });
    table("| what it decides | setting in the log |", rows)
}

/// `config.toml`: for each setting its comment, its range or its words, and its default. The beginning stays.
fn settings(present: &str) -> String {
    let defaults: toml::Table = Config::default().to_toml().unwrap().parse().unwrap();
    let (begin, _) = present.split_once("\n\n").unwrap();
    let mut text = begin.to_owned() + "\n";
    for Declared { section, key, about, is_agreed } in declared() {
        let Some(key) = key else {
            text += &format!("\n{}[{section}]\n", comment(&about));
            continue;
        };
        let default = &defaults[section][key];
        let shared = if is_agreed { " All nodes of a cluster share it." } else { "" };
        let about = [&*about, &range(section, key), &choice(section, key, default, &about), shared].concat();
        text += &format!("{}#{key} = {default}\n", comment(&about));
    }
    text + WEBHOOKS
}

/// A comment in lines of at most 120 characters.
fn comment(words: &str) -> String {
    let (mut text, mut line) = (String::new(), "#".to_owned());
    for word in words.split_whitespace() {
        if line.chars().count() + 1 + word.chars().count() > 120 {
            text.push_str(&std::mem::replace(&mut line, "#".to_owned()));
            text.push('\n');
        }
        line.push(' ');
        line.push_str(word);
    }
    text + &line + "\n"
}

/// The range of a setting. The greatest whole number is no bound that is worth telling.
fn range(section: &str, key: &str) -> String {
    let range = Config::range_of(&format!("{section}.{key}")).filter(|range| !range.contains(&i64::MAX.to_string()));
    let sentence = |range: String| format!(" {}.", range.replace("from 0s", "from 0").replacen('f', "F", 1));
    range.map(sentence).unwrap_or_default()
}

/// The words of a setting, as its type tells them when it refuses another one. Empty if the comment explains them.
fn choice(section: &str, key: &str, default: &toml::Value, about: &str) -> String {
    let (begin, before_last, other) = match default {
        toml::Value::String(_) => ("One of", "or", "\"?\""),
        toml::Value::Array(_) => ("Out of", "and", "[\"?\"]"),
        _ => return String::new(),
    };
    let Err(error) = toml::from_str::<Config>(&format!("[{section}]\n{key} = {other}\n")) else { return String::new() };
    let Some((_, expected)) = error.message().split_once("unknown variant `?`, expected ") else {
        return String::new();
    };
    let words: Vec<_> = expected.split('`').skip(1).step_by(2).map(|word| format!("\"{word}\"")).collect();
    if words.iter().all(|word| about.contains(word)) {
        return String::new();
    }
    let (last, others) = words.split_last().unwrap();
    format!(" {begin} {} {before_last} {last}.", others.join(", "))
}

//! `config.toml` is made of the declarations.

use std::path::Path;

use super::Config;

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

/// `config.toml` as the declarations make it: for each setting its comment, its range and its default. Its beginning stays.
fn made_of_the_declarations(present: &str) -> String {
    let (_, declared) = include_str!("../settings.rs").split_once("settings! {\n").expect("the declarations");
    let (declared, _) = declared.split_once("\n}\n").expect("their end");
    let defaults: toml::Table = Config::default().to_toml().expect("prints").parse().expect("TOML");
    let (begin, _) = present.split_once("\n\n").expect("a beginning");
    let (mut text, mut section, mut words) = (begin.to_owned() + "\n", "", String::new());
    for line in declared.lines().map(str::trim) {
        if let Some(part) = line.strip_prefix("/// ") {
            words = words + " " + part;
        } else if let Some((name, _)) = line.split_once(": ").filter(|_| line.ends_with('{')) {
            section = name;
            text += &format!("\n{}[{section}]\n", comment(&std::mem::take(&mut words)));
        } else if let Some((key, _)) = line.split_once(": ").filter(|_| line.ends_with(';')) {
            let range =
                Config::range_of(&format!("{section}.{key}")).filter(|range| !range.contains(&i64::MAX.to_string()));
            let range = range.map(|range| format!(" {}.", range.replace("from 0s", "from 0").replacen('f', "F", 1)));
            text += &comment(&(std::mem::take(&mut words) + &range.unwrap_or_default()));
            text += &format!("#{key} = {}\n", defaults[section][key]);
        }
    }
    text + WEBHOOKS
}

/// After a change of a declaration, `TIDELINE_TEST_WRITE=1 make try IN=unit TEST=config_toml` writes the file.
#[test]
fn config_toml_is_made_of_the_declarations() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../config.toml");
    let present = std::fs::read_to_string(&path).expect("config.toml");
    let made = made_of_the_declarations(&present);
    if std::env::var_os("TIDELINE_TEST_WRITE").is_some() {
        std::fs::write(&path, &made).expect("is written");
    } else {
        assert!(made == present, "config.toml is not current: set TIDELINE_TEST_WRITE=1 for this test to write it");
    }
}

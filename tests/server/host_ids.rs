//! Ids of the host in place of the numbers of a test. With `TIDELINE_TEST_IDS=names` each number is sent as a name, with
//! `mixed` some are, and answers have the numbers again. So a suite that knows only numbers runs with names. The names
//! are known to a server from the start, in the order of their numbers: places of the same time have the same order in
//! each mode.

use std::borrow::Cow;
use std::ops::RangeInclusive;
use std::path::Path;
use std::process::Command;
use std::sync::{LazyLock, OnceLock};

use feed::store::{Options, Store};
use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};
use regex::{Captures, Regex};

use super::described::{document, fits};

/// The variable with the mode.
pub(crate) const VARIABLE: &str = "TIDELINE_TEST_IDS";
/// Numbers up to this one have names.
const FIRST: u64 = 3000;
/// Further numbers that have names. Ids that the server makes are others.
const FURTHER: [u64; 9] = [
    5000,
    60_000,
    99_999,
    999_999,
    1_000_000,
    9_000_000_000,
    9_007_199_254_740_993,
    9_223_372_036_854_775_806,
    9_223_372_036_854_775_807,
];

#[derive(Clone, Copy, PartialEq)]
enum Mode {
    Numbers,
    Names,
    Mixed,
}

#[derive(Clone, Copy)]
enum Kind {
    User,
    Item,
}

fn mode() -> Mode {
    static MODE: OnceLock<Mode> = OnceLock::new();
    *MODE.get_or_init(|| match std::env::var(VARIABLE).as_deref() {
        Err(_) | Ok("numbers") => Mode::Numbers,
        Ok("names") => Mode::Names,
        Ok("mixed") => Mode::Mixed,
        Ok(other) => panic!("{VARIABLE}={other}"),
    })
}

/// Gives the names to an empty data directory.
pub(super) fn prepare(data: &Path) {
    if mode() != Mode::Numbers && std::fs::read_dir(data).unwrap().next().is_none() {
        let store = Store::open(&Options::new(data)).unwrap();
        let names: Vec<String> = (1..=FIRST).chain(FURTHER).map(name).collect();
        feed::ids::tables::give_numbers(&store, &names.iter().map(String::as_str).collect::<Vec<_>>()).unwrap();
    }
}

fn name(number: u64) -> String {
    format!("ü-{number},/%")
}

/// The id that is sent for a text; `None` if that is the text itself. Mixed: neither the users nor the items of a list
/// have a name below a number, and the middle of a list has both.
fn host_id(kind: Kind, text: &str) -> Option<String> {
    let number: u64 = text.parse().ok().filter(|number: &u64| number.to_string() == text)?;
    let has_name = (1..=FIRST).contains(&number) || FURTHER.contains(&number);
    let is_number = match (mode(), kind) {
        (Mode::Numbers, _) => true,
        (Mode::Names, _) => false,
        (Mode::Mixed, Kind::User) => number < 4 || (10..15).contains(&number),
        (Mode::Mixed, Kind::Item) => number < 12 || (number > 99 && number % 100 < 5),
    };
    (has_name && !is_number).then(|| name(number))
}

/// A cursor of content, as it is sent.
pub(crate) fn cursor(text: &str) -> Cow<'_, str> {
    place(Kind::Item, text, |name| name)
}

fn place(kind: Kind, text: &str, written: impl Fn(String) -> String) -> Cow<'_, str> {
    let split = text.split_once('-').and_then(|(at, id)| Some((at, host_id(kind, id)?)));
    split.map_or(text.into(), |(at, id)| format!("{at}-{}", written(id)).into())
}

/// An id as a part of an address.
pub(crate) fn escaped(id: &str) -> String {
    utf8_percent_encode(id, NON_ALPHANUMERIC).to_string()
}

/// The path and the query of a request.
pub(crate) fn target(target: &str) -> Cow<'_, str> {
    if mode() == Mode::Numbers {
        return target.into();
    }
    let (path, query) = target.split_once('?').map_or((target, None), |(path, query)| (path, Some(query)));
    let segments: Vec<_> = path.split('/').collect();
    let calls = || document()["paths"].as_object().unwrap().iter().filter(|(template, _)| fits(template, path));
    let templates: Vec<Vec<_>> = calls().map(|(template, _)| template.split('/').collect()).collect();
    let segment = |(place, segment): (usize, &&str)| {
        let kind = templates.iter().find_map(|template| match template[place] {
            "{uid}" | "{target}" | "{follower}" | "{from}" | "{source}" => Some(Kind::User),
            "{content_id}" => Some(Kind::Item),
            _ => None,
        });
        kind.and_then(|kind| host_id(kind, segment)).map_or_else(|| (*segment).to_owned(), |name| escaped(&name))
    };
    let mut sent = segments.iter().enumerate().map(segment).collect::<Vec<_>>().join("/");
    let answer = "/get/responses/200/content/application~1json/schema/$ref";
    let of_users =
        |call: &serde_json::Value| call.pointer(answer).is_some_and(|page| page == "#/components/schemas/UserPage");
    let listed = if calls().any(|(_, call)| of_users(call)) { Kind::User } else { Kind::Item };
    let parameter = |pair: &str| {
        let Some((parameter, value)) = pair.split_once('=') else { return pair.to_owned() };
        let one = |kind| host_id(kind, value).map_or(value.into(), |name| Cow::from(escaped(&name)));
        let list = |kind| {
            let id =
                |id: &str| host_id(kind, id).map_or_else(|| id.to_owned(), |name| escaped(&name.replace(',', "\\,")));
            value.replace("%2C", ",").split(',').map(id).collect::<Vec<_>>().join(",").into()
        };
        let value = match parameter {
            "viewer" => one(Kind::User),
            "content_id" => one(Kind::Item),
            "targets" => list(Kind::User),
            "ids" => list(Kind::Item),
            "before" | "after" => place(listed, value, |name| escaped(&name)),
            _ => value.into(),
        };
        format!("{parameter}={value}")
    };
    if let Some(query) = query {
        sent = format!("{sent}?{}", query.split('&').map(parameter).collect::<Vec<_>>().join("&"));
    }
    sent.into()
}

/// The body of a request. It stays wrong if it is wrong.
pub(super) fn body(body: &[u8]) -> Cow<'_, [u8]> {
    static ID: LazyLock<Regex> =
        LazyLock::new(|| Regex::new(r#"("([a-z]+)_id" *: *)("[0-9]+"|[0-9]+)( *[,}])"#).unwrap());
    static LIST: LazyLock<Regex> =
        LazyLock::new(|| Regex::new(r#"("(?:follow|unfollow|to|add|remove)" *: *\[)([0-9 ,"]*)\]"#).unwrap());
    static CURSOR: LazyLock<Regex> = LazyLock::new(|| Regex::new(r#"("cursor" *: *")([0-9]+-[0-9]+)""#).unwrap());
    let text = match std::str::from_utf8(body) {
        Ok(text) if mode() != Mode::Numbers => text,
        _ => return body.into(),
    };
    let quoted = |kind, id: &str| {
        let name = host_id(kind, id.trim().trim_matches('"'));
        name.map_or_else(|| id.to_owned(), |name| format!("\"{name}\""))
    };
    let text = ID.replace_all(text, |found: &Captures<'_>| {
        let kind = if ["author", "user", "target"].contains(&&found[2]) { Kind::User } else { Kind::Item };
        format!("{}{}{}", &found[1], quoted(kind, &found[3]), &found[4])
    });
    let text = LIST.replace_all(&text, |found: &Captures<'_>| {
        let ids: Vec<_> = found[2].split(',').map(|id| quoted(Kind::User, id)).collect();
        format!("{}{}]", &found[1], ids.join(","))
    });
    let text = CURSOR.replace_all(&text, |found: &Captures<'_>| format!("{}{}\"", &found[1], cursor(&found[2])));
    text.into_owned().into_bytes().into()
}

/// A part of an answer, with numbers again.
pub(crate) fn told(text: &str) -> Cow<'_, str> {
    static NAME: LazyLock<Regex> =
        LazyLock::new(|| Regex::new("ü-([0-9]+),/%|%C3%BC(?:-|%2D)([0-9]+)%2C%2F%25").unwrap());
    if mode() == Mode::Numbers { text.into() } else { NAME.replace_all(text, "$1$2") }
}

/// Runs again, in a mode, the tests of the contract whose files begin with these letters, without those of `left_out`.
pub(crate) fn suite_passes(mode: &str, files: RangeInclusive<char>, left_out: &[&str]) {
    let mut suite = Command::new(std::env::current_exe().unwrap());
    suite
        .args(files.map(|letter| format!("contract::{letter}")))
        .args(left_out.iter().flat_map(|name| ["--skip", name]))
        .env(VARIABLE, mode);
    let ran = suite.output().unwrap();
    let told = String::from_utf8_lossy(&ran.stdout);
    assert!(ran.status.success() && told.matches(" ... ok\n").count() > 20, "{VARIABLE}={mode}: {told}");
}

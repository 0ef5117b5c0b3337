//! Query strings, parsed strictly: each parameter is known, well-formed and given at most once.

use std::borrow::Cow;
use std::fmt;
use std::str::FromStr;

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, percent_decode_str, utf8_percent_encode};

use crate::wire::problem::invalid_parameter;
use config::Config;
use model::error::Result;
use model::{ExternalId, NamedRule, PageRequest, Position, Span};

/// Most ids in a list of ids.
pub(crate) const MAX_IDS: usize = 100;

/// A parameter that is a whole number from 1 on. The description of a call and its handler both go by it.
pub(crate) struct Number {
    pub(crate) name: &'static str,
    /// Its meaning. It names the setting that moves the greatest value, if there is one.
    pub(crate) about: &'static str,
    /// The greatest value.
    pub(crate) most: fn(&Config) -> usize,
    /// The value of a request without it.
    pub(crate) usual: usize,
}

/// The entries of a page.
pub(crate) const LIMIT: Number =
    Number { name: "limit", about: "The largest number of entries on the page", most: |_| 100, usual: 20 };

/// The parameter of every read of data that the nodes of a cluster share.
pub(crate) const CONSISTENCY: &str = "consistency";

/// The query of a request.
#[derive(Debug)]
pub(crate) struct Query<'a> {
    config: &'a Config,
    /// The parameters of the call.
    names: &'a [String],
    given: Vec<(Cow<'a, str>, Cow<'a, str>)>,
}

impl<'a> Query<'a> {
    /// Reads a query. Refuses a parameter that is neither among the names nor one of those that belong to all such calls.
    pub(crate) fn parse(
        query: &'a str,
        names: &'a [String],
        also: impl Fn(&str) -> bool,
        config: &'a Config,
    ) -> Result<Self> {
        let mut found = Self { config, names, given: Vec::new() };
        for pair in query.split('&').filter(|pair| !pair.is_empty()) {
            let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
            let (name, value) = (decode(name)?, decode(value)?);
            if !names.iter().any(|known| *known == name) && !also(&name) {
                return Err(invalid_parameter(format_args!("unknown parameter \"{name}\"")));
            }
            if found.text(&name).is_some() {
                return Err(invalid_parameter(format_args!("{name}: given twice")));
            }
            found.given.push((name, value));
        }
        Ok(found)
    }

    /// The value of a parameter, if it is given.
    pub(crate) fn text(&self, wanted: &str) -> Option<&str> {
        self.given.iter().find(|(name, _)| name == wanted).map(|(_, value)| &**value)
    }

    /// A value by the rules of its type.
    pub(crate) fn value<T: FromStr<Err: fmt::Display>>(&self, name: &str) -> Result<Option<T>> {
        let read =
            |text: &str| text.parse().map_err(|e| invalid_parameter(format_args!("{name}: {e}, not \"{text}\"")));
        self.text(name).map(read).transpose()
    }

    /// The value of a required parameter.
    pub(crate) fn required<T: FromStr<Err: fmt::Display>>(&self, name: &str) -> Result<T> {
        let missing = || invalid_parameter(format_args!("{name}: this parameter is required"));
        self.value(name)?.ok_or_else(missing)
    }

    /// A whole number, in plain digits.
    pub(crate) fn number(&self, of: &Number) -> Result<usize> {
        let (name, most) = (of.name, (of.most)(self.config));
        let Some(text) = self.text(name) else { return Ok(of.usual.min(most)) };
        let digits = !text.starts_with('0') && text.bytes().all(|b| b.is_ascii_digit());
        let number = text.parse().ok().filter(|number| digits && (1..=most).contains(number));
        let expected = format_args!("{name}: expected a whole number from 1 to {most}, not \"{text}\"");
        number.ok_or_else(|| invalid_parameter(expected))
    }

    /// The meaning of one of several words.
    pub(crate) fn choice<T: Copy>(&self, name: &str, words: &[(&str, T)]) -> Result<Option<T>> {
        let Some(text) = self.text(name) else { return Ok(None) };
        let known = words.iter().find(|(word, _)| *word == text).map(|(_, meaning)| Some(*meaning));
        let names = || words.iter().map(|(word, _)| format!("\"{word}\"")).collect::<Vec<_>>().join(" or ");
        known.ok_or_else(|| invalid_parameter(format_args!("{name}: expected {}, not \"{text}\"", names())))
    }

    /// Whether a parameter is `true`; without it, it is not.
    pub(crate) fn flag(&self, name: &str) -> Result<bool> {
        Ok(self.choice(name, &[("true", true), ("false", false)])?.unwrap_or(false))
    }

    /// Whether a list of content shows only the id, the author and the time of each item.
    pub(crate) fn ids_only(&self) -> Result<bool> {
        Ok(self.choice("view", &[("full", false), ("ids", true)])?.unwrap_or(false))
    }

    /// The kinds of content to show.
    pub(crate) fn kinds(&self) -> Result<NamedRule> {
        let wrong = |why| invalid_parameter(format_args!("kinds and except_kinds: {why}"));
        NamedRule::of(self.value("kinds")?, self.value("except_kinds")?).map_err(wrong)
    }

    /// The request for a page, and what its links keep.
    pub(crate) fn page<I>(&self) -> Result<(PageRequest<I>, Kept)>
    where
        Position<I>: FromStr<Err: fmt::Display>,
    {
        let limit = self.number(&LIMIT)?;
        let span = Span { before: self.value("before")?, after: self.value("after")? };
        let mut kept = Kept { start: String::new(), before: self.escaped("before"), after: self.escaped("after") };
        for name in self.names.iter().filter(|name| !["before", "after"].contains(&name.as_str())) {
            if let Some(value) = self.escaped(name) {
                kept.start.extend([name, "=", &value, "&"]);
            }
        }
        Ok((PageRequest { span, limit }, kept))
    }

    fn escaped(&self, name: &str) -> Option<String> {
        self.text(name).map(|text| escaped(&text))
    }
}

/// The parameters that all pages of a list share.
pub(crate) struct Kept {
    /// The start of the query.
    pub(crate) start: String,
    /// The bounds asked for. If there are two, a link replaces one and keeps the other.
    pub(crate) before: Option<String>,
    pub(crate) after: Option<String>,
}

/// The values of all parameters of this name. A malformed one is left out: the call refuses the whole query.
pub(crate) fn values<'a>(query: &'a str, wanted: &str) -> impl Iterator<Item = Cow<'a, str>> {
    query.split('&').filter_map(move |pair| {
        let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
        decode(name).is_ok_and(|name| name == wanted).then(|| decode(value).ok()).flatten()
    })
}

/// A part of a path, unescaped; `None` if an escape is incomplete, or the result is not UTF-8.
pub(crate) fn text(escaped: &str) -> Option<Cow<'_, str>> {
    if !escaped.contains('%') {
        return Some(Cow::Borrowed(escaped));
    }
    is_whole(escaped).then(|| percent_decode_str(escaped).decode_utf8().ok()).flatten()
}

fn is_whole(text: &str) -> bool {
    text.split('%').skip(1).all(|rest| {
        let digits = rest.as_bytes().get(..2);
        digits.is_some_and(|digits| digits.iter().all(u8::is_ascii_hexdigit))
    })
}

fn decode(text: &str) -> Result<Cow<'_, str>> {
    if !text.contains(['%', '+']) {
        return Ok(Cow::Borrowed(text));
    }
    if !is_whole(text) {
        return Err(invalid_parameter("the query has a % without two hexadecimal digits"));
    }
    let spaced = text.replace('+', " ");
    match percent_decode_str(&spaced).decode_utf8() {
        Ok(decoded) => Ok(Cow::Owned(decoded.into_owned())),
        Err(_) => Err(invalid_parameter("the query is not UTF-8")),
    }
}

/// A list of up to [`MAX_IDS`] ids with commas between them, each once.
#[derive(Debug)]
pub(crate) struct Ids(pub(crate) Vec<ExternalId>);

impl FromStr for Ids {
    type Err = String;
    fn from_str(text: &str) -> Result<Self, String> {
        let parts = parts(text);
        if parts.len() > MAX_IDS {
            return Err(format!("expected at most {MAX_IDS} ids"));
        }
        let mut ids = Vec::new();
        for part in parts {
            let id = part.parse().map_err(|e| format!("expected ids with commas between them: {e}"))?;
            if !ids.contains(&id) {
                ids.push(id);
            }
        }
        Ok(Self(ids))
    }
}

/// Splits a list at its commas. In a part, `\,` is a comma, and `\\` is a backslash.
fn parts(text: &str) -> Vec<String> {
    let (mut parts, mut part, mut rest) = (Vec::new(), String::new(), text.chars());
    while let Some(c) = rest.next() {
        match c {
            ',' => parts.push(std::mem::take(&mut part)),
            '\\' => part.push(rest.next().unwrap_or('\\')),
            c => part.push(c),
        }
    }
    parts.push(part);
    parts
}

/// An id or a cursor, escaped for an address.
pub(crate) fn escaped(id: &impl fmt::Display) -> String {
    /// All but the characters that RFC 3986 leaves unreserved.
    const RESERVED: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~');
    utf8_percent_encode(&id.to_string(), RESERVED).to_string()
}

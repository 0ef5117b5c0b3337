//! Query strings, parsed strictly: each parameter is known, well-formed and given at most once.

use std::borrow::Cow;
use std::fmt;
use std::str::FromStr;

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, percent_decode_str, utf8_percent_encode};

use super::problem::Problem;
use model::{HostId, PageRequest, RuleDraft, Span};

/// Most items of a page.
pub(crate) const MAX_LIMIT: usize = 100;
/// Most ids in a list of ids.
pub(crate) const MAX_IDS: usize = 100;
/// Default number of items of a page.
pub(crate) const DEFAULT_LIMIT: usize = 20;

/// The parameter of every read of data that the nodes of a cluster share.
pub(crate) const CONSISTENCY: &str = "consistency";

/// The value of a parameter, if it is given.
type Value<'a> = Option<Cow<'a, str>>;

/// The values of the parameters `names`, in that order, and the value of the parameter `also`. Refuses any other
/// parameter.
pub(crate) fn parse<'a, const N: usize>(
    query: &'a str,
    names: [&'static str; N],
    also: Option<&'static str>,
) -> Result<([Value<'a>; N], Value<'a>), Problem> {
    let (mut values, mut other) = ([const { None }; N], None);
    for pair in query.split('&').filter(|pair| !pair.is_empty()) {
        let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
        let (name, value) = (decode(name)?, decode(value)?);
        let known = names.iter().zip(&mut values).find(|(known, _)| **known == name);
        let known = known.map(|(_, slot)| slot).or_else(|| (also == Some(&*name)).then_some(&mut other));
        let Some(slot) = known else {
            return Err(Problem::invalid_parameter(format_args!("unknown parameter \"{name}\"")));
        };
        if slot.replace(value).is_some() {
            return Err(Problem::invalid_parameter(format_args!("{name}: given twice")));
        }
    }
    Ok((values, other))
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

/// Whether text has only complete escapes, and is UTF-8 when unescaped.
pub(crate) fn is_text(escaped: &str) -> bool {
    text(escaped).is_some()
}

fn is_whole(text: &str) -> bool {
    text.split('%').skip(1).all(|rest| {
        let digits = rest.as_bytes().get(..2);
        digits.is_some_and(|digits| digits.iter().all(u8::is_ascii_hexdigit))
    })
}

fn decode(text: &str) -> Result<Cow<'_, str>, Problem> {
    if !text.contains(['%', '+']) {
        return Ok(Cow::Borrowed(text));
    }
    if !is_whole(text) {
        return Err(Problem::invalid_parameter("the query has a % without two hexadecimal digits"));
    }
    let spaced = text.replace('+', " ");
    match percent_decode_str(&spaced).decode_utf8() {
        Ok(decoded) => Ok(Cow::Owned(decoded.into_owned())),
        Err(_) => Err(Problem::invalid_parameter("the query is not UTF-8")),
    }
}

/// Parses one value by the rules of its type.
pub(crate) fn value<T: FromStr<Err: fmt::Display>>(
    name: &str,
    value: Option<Cow<'_, str>>,
) -> Result<Option<T>, Problem> {
    let read = |text: Cow<'_, str>| {
        text.parse().map_err(|e| Problem::invalid_parameter(format_args!("{name}: {e}, not \"{text}\"")))
    };
    value.map(read).transpose()
}

/// The value of a required parameter.
pub(crate) fn required<T: FromStr<Err: fmt::Display>>(name: &str, text: Option<Cow<'_, str>>) -> Result<T, Problem> {
    value(name, text)?.ok_or_else(|| Problem::invalid_parameter(format_args!("{name}: this parameter is required")))
}

/// A whole number from 1 to `most`, in plain digits.
pub(crate) fn number(name: &str, value: Option<Cow<'_, str>>, most: usize) -> Result<Option<usize>, Problem> {
    let read = |text: Cow<'_, str>| {
        let digits = !text.starts_with('0') && text.bytes().all(|b| b.is_ascii_digit());
        let number = text.parse().ok().filter(|number| digits && (1..=most).contains(number));
        number.ok_or_else(|| {
            Problem::invalid_parameter(format_args!("{name}: expected a whole number from 1 to {most}, not \"{text}\""))
        })
    };
    value.map(read).transpose()
}

/// A list of up to [`MAX_IDS`] ids with commas between them, each once.
#[derive(Debug)]
pub(crate) struct Ids(pub(crate) Vec<HostId>);

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

/// `true` or `false`.
pub(crate) struct Flag(pub(crate) bool);

impl FromStr for Flag {
    type Err = &'static str;
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        match text {
            "true" => Ok(Self(true)),
            "false" => Ok(Self(false)),
            _ => Err("expected \"true\" or \"false\""),
        }
    }
}

/// How much of each item a list of content shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum View {
    /// Everything.
    Full,
    /// Id, author and time.
    Ids,
}

impl FromStr for View {
    type Err = &'static str;
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        match text {
            "full" => Ok(Self::Full),
            "ids" => Ok(Self::Ids),
            _ => Err("expected \"full\" or \"ids\""),
        }
    }
}

/// The part of a query that all pages of a list share; printed as the start of a query.
#[derive(Debug, Clone)]
pub(crate) struct Kept {
    /// The limit asked for.
    pub(crate) limit: Option<usize>,
    /// The view asked for.
    pub(crate) view: Option<View>,
    /// The kinds asked for.
    pub(crate) kinds: RuleDraft,
    /// Whether neighbours are shown as one.
    pub(crate) group: bool,
    /// Whether the user of the timeline stays unseen.
    pub(crate) peek: bool,
    /// The user whose relations to show.
    pub(crate) viewer: Option<HostId>,
    /// The bounds asked for. If there are two, a link replaces one and keeps the other.
    pub(crate) span: Span<HostId>,
}

impl fmt::Display for Kept {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(limit) = self.limit {
            write!(f, "limit={limit}&")?;
        }
        match self.view {
            Some(View::Full) => f.write_str("view=full&")?,
            Some(View::Ids) => f.write_str("view=ids&")?,
            None => {}
        }
        let (only, kinds) = self.kinds.names();
        if !kinds.is_empty() {
            write!(f, "{}={}&", if only { "kinds" } else { "except_kinds" }, kinds.join(","))?;
        }
        if self.group {
            f.write_str("group=true&")?;
        }
        if self.peek {
            f.write_str("peek=true&")?;
        }
        if let Some(viewer) = &self.viewer {
            write!(f, "viewer={}&", escaped(viewer))?;
        }
        Ok(())
    }
}

/// An id or a cursor, escaped for an address.
pub(crate) fn escaped(id: &impl fmt::Display) -> String {
    /// All but the characters that RFC 3986 leaves unreserved.
    const RESERVED: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~');
    utf8_percent_encode(&id.to_string(), RESERVED).to_string()
}

/// The kinds of content to show, from `[kinds, except_kinds]`.
pub(crate) fn kinds([kinds, except_kinds]: [Option<Cow<'_, str>>; 2]) -> Result<RuleDraft, Problem> {
    let wrong = |why| Problem::invalid_parameter(format_args!("kinds and except_kinds: {why}"));
    RuleDraft::of(value("kinds", kinds)?, value("except_kinds", except_kinds)?).map_err(wrong)
}

/// The request for a page, from `[limit, before, after]`.
pub(crate) fn page(values: [Option<Cow<'_, str>>; 3]) -> Result<(PageRequest<HostId>, Kept), Problem> {
    let [limit, before, after] = values;
    let limit = number("limit", limit, MAX_LIMIT)?;
    let span = Span { before: value("before", before)?, after: value("after", after)? };
    let kept =
        Kept { limit, view: None, kinds: RuleDraft::All, viewer: None, group: false, peek: false, span: span.clone() };
    Ok((PageRequest { span, limit: limit.unwrap_or(DEFAULT_LIMIT) }, kept))
}

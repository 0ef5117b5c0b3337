//! The tables that can be imported, and the parser of their rows.

pub(super) mod deletion;
mod item;
pub(super) mod line;
mod name;
mod profile;
mod reaction;

use std::fmt::Display;
use std::str::FromStr;

use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::Value;
use serde_json::error::Category;

use super::fields::{Column, Columns, Field};
use super::refusal::{INVALID_FIELD, INVALID_ID, INVALID_LINE, INVALID_TIME, MISSING_FIELD, Refusal};
use super::times;
use feed::{Feed, Follow};
use model::error::Error;
use model::{HostId, KindNames, Millis, RuleDraft, Time, kinds_of_rule};

/// A row of one of the tables.
pub(crate) trait Row: Sized + Send + 'static {
    /// The name of the table.
    const TABLE: &'static str;
    /// The columns in CSV, in the order of a file without a header.
    const COLUMNS: &'static [Column];
    const STORE: Store<Self>;
    /// How many bodies of the API one row may be as long as.
    const BODIES: usize = 1;

    /// From the fields of a CSV record, or a reason.
    fn from_fields(columns: &Columns, fields: &[Field<'_>]) -> Result<Self, Refusal>;

    /// From a JSON object, or a reason.
    fn from_json(text: &str) -> Result<Self, Refusal>;

    /// The time of the row, if any.
    fn time(&self) -> Option<Millis> {
        None
    }

    /// The ids in the row.
    fn ids(&self) -> impl Iterator<Item = &HostId>;
}

/// Stores rows. Returns for each whether it is new, or why it is refused.
type Store<T> = fn(&Feed, Vec<T>) -> Result<Vec<Result<bool, Error>>, Error>;

/// The columns of a table of pairs of users.
const PAIR: &[Column] = &[("user_id", true), ("target_id", true), ("since", false)];

impl Row for Follow {
    const TABLE: &'static str = "follows";
    const STORE: Store<Self> = Feed::import_follows;
    const COLUMNS: &'static [Column] = PAIR;

    fn from_fields(columns: &Columns, fields: &[Field<'_>]) -> Result<Self, Refusal> {
        columns.check(fields)?;
        let field = |column: usize| (Self::COLUMNS[column].0, columns.get(fields, column));
        Ok(Self { user: id(field(0))?, target: id(field(1))?, since: time(field(2))?, rule: RuleDraft::All })
    }

    fn from_json(text: &str) -> Result<Self, Refusal> {
        let FollowObject { user_id, target_id, since, only, except } = object(text)?;
        let since = since.map(|Time(since)| since);
        Ok(Self { user: user_id, target: target_id, since, rule: rule(only, except)? })
    }

    fn time(&self) -> Option<Millis> {
        self.since
    }

    fn ids(&self) -> impl Iterator<Item = &HostId> {
        [&self.user, &self.target].into_iter()
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct FollowObject {
    user_id: HostId,
    target_id: HostId,
    #[serde(default)]
    since: Option<Time>,
    #[serde(default, deserialize_with = "kinds_of_rule")]
    only: Option<KindNames>,
    #[serde(default, deserialize_with = "kinds_of_rule")]
    except: Option<KindNames>,
}

/// The rule of a line.
fn rule(only: Option<KindNames>, except: Option<KindNames>) -> Result<RuleDraft, Refusal> {
    let rule = RuleDraft::of(only, except);
    rule.map_err(|reason| Refusal::of_line(INVALID_FIELD, format_args!("only and except: {reason}")))
}

fn needed<T: FromStr<Err: Display>>(field: (&str, Option<&str>)) -> Result<T, Refusal> {
    parsed(INVALID_FIELD, field)
}

fn parsed<T: FromStr<Err: Display>>(kind: &'static str, (name, field): (&str, Option<&str>)) -> Result<T, Refusal> {
    let text = field.ok_or_else(|| missing(name))?;
    text.parse().map_err(|reason| Refusal::of_field(kind, name, reason, text))
}

/// An id in CSV. Spaces at its ends are nearly always a mistake, so only NDJSON may have them.
fn id((name, field): (&str, Option<&str>)) -> Result<HostId, Refusal> {
    if let Some(text) = field.filter(|text| text.trim() != *text) {
        let refusal = Refusal::of_field(INVALID_ID, name, "expected no space at the ends of an id", text);
        return Err(refusal.with_hint("remove the space, or write the file as NDJSON"));
    }
    parsed(INVALID_ID, (name, field))
}

fn missing(name: &str) -> Refusal {
    Refusal::of_line(MISSING_FIELD, format_args!("{name} is missing"))
}

fn time((name, field): (&str, Option<&str>)) -> Result<Option<Millis>, Refusal> {
    field.map(|text| times::of_text(name, text)).transpose()
}

/// Parses one object.
fn object<T: DeserializeOwned>(text: &str) -> Result<T, Refusal> {
    if !text.trim_start().starts_with('{') {
        // serde would also read a struct from an array.
        return Err(Refusal::of_line(INVALID_LINE, "expected a JSON object"));
    }
    serde_json::from_str(text).map_err(|error| fault(text, &error))
}

/// The reason why an object is refused. It names a column of the line but not the line, whose number is shown already.
fn fault(text: &str, error: &serde_json::Error) -> Refusal {
    if error.is_data()
        && let Some(refusal) = bad_field(text)
    {
        return refusal;
    }
    let (mut reason, column) = (error.to_string(), error.column());
    if let Some(bare) = reason.strip_suffix(&format!(" at line {} column {column}", error.line())) {
        reason = format!("{bare} at column {column}");
    }
    let kind = match error.classify() {
        Category::Data if reason.starts_with("missing field") => return Refusal::of_line(MISSING_FIELD, reason),
        Category::Data => INVALID_FIELD,
        _ => INVALID_LINE,
    };
    Refusal::of_line(kind, reason).showing_around(text, column)
}

/// The first field with an invalid id or time. The parser's error has neither its name nor its value.
fn bad_field(text: &str) -> Option<Refusal> {
    let fields: serde_json::Map<String, Value> = serde_json::from_str(text).ok()?;
    fields.iter().filter(|(_, value)| !value.is_null()).find_map(|(name, value)| match name.as_str() {
        "published_at" | "edited_at" | "deleted_at" | "since" => {
            Time::deserialize(value).is_err().then(|| times::refused_json(name, value))
        }
        "id" | "user_id" | "target_id" | "source_id" | "author_id" | "content_id" | "ref_id" => {
            let reason = HostId::deserialize(value).err()?;
            let shown = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
            Some(Refusal::of_field(INVALID_ID, name, reason, &shown))
        }
        _ => None,
    })
}

#[cfg(test)]
mod tests {
    use super::super::fields::split;
    use super::*;

    pub(super) fn csv<T: Row>(record: &str) -> Result<T, Refusal> {
        T::from_fields(&Columns::in_order(T::COLUMNS), &split(record))
    }

    pub(super) fn number(raw: u64) -> HostId {
        HostId::Number(raw)
    }

    pub(super) fn refused<T: Row>(read: fn(&str) -> Result<T, Refusal>, cases: &[(&str, &str)]) {
        for (text, word) in cases {
            match read(text) {
                Ok(_) => panic!("taken: {text}"),
                Err(refusal) => assert!(refusal.to_string().contains(word), "{text}: {refusal}"),
            }
        }
    }

    #[test]
    fn follows_are_read_from_both_formats() {
        let ruled = |since, rule| Ok(Follow { user: number(1), target: number(2), since, rule });
        let follow = |since| ruled(since, RuleDraft::All);
        assert_eq!(csv("1,2"), follow(None));
        for none in ["", "\"\"", "\\N"] {
            assert_eq!(csv(&format!("1,2,{none}")), follow(None), "{none}");
        }
        assert_eq!(csv("\"1\",\"2\",\"3\""), follow(Some(3)));
        assert_eq!(Follow::from_json(r#"{"user_id":1,"target_id":"2"}"#), follow(None));
        let null = Follow::from_json(r#"{"user_id":1,"target_id":2,"since":null}"#);
        assert_eq!(null, follow(None));
        assert_eq!(Follow::from_json(r#" {"since":0,"user_id":1,"target_id":2} "#), follow(Some(0)));
        for is_only in [true, false] {
            let field = if is_only { "only" } else { "except" };
            let object = format!(r#"{{"user_id":1,"target_id":2,"{field}":["post","video"]}}"#);
            let rule = RuleDraft::named(is_only, ["post", "video"].map(str::to_owned).into()).expect("names");
            assert_eq!(Follow::from_json(&object), ruled(None, rule));
        }
    }

    #[test]
    fn malformed_follows_are_refused_with_a_reason() {
        refused::<Follow>(
            csv,
            &[
                ("1", "target_id is missing"),
                ("1,\\N", "target_id is missing"),
                (",2", "user_id is missing"),
                ("a\u{7},2", "user_id: an id"),
                (&format!("1,{}", "x".repeat(129)), "target_id: an id"),
                ("1, 2", "not \" 2\"; remove the space"),
                ("1,2,x", "since: a time"),
                ("1,2,+3", "since: a time"),
                ("1,2,9223372036854775808", "since: a time"),
                ("1,2,1.5", "since: a time"),
                ("1,2,3,4", "4 fields"),
                ("1;2", "separate the columns by commas"),
                ("1\t2", "separate the columns by commas"),
            ],
        );
        refused(
            Follow::from_json,
            &[
                ("{", "EOF"),
                (r#"{"user_id":1}"#, "missing field `target_id`"),
                (r#"{"user_id":1,"target_id":0}"#, "invalid_id: target_id: an id is"),
                (r#"{"user_id":1,"target_id":""}"#, "invalid_id: target_id: an id is"),
                (r#"{"user_id":1,"user_id":1,"target_id":2}"#, "duplicate field"),
                (r#"{"user_id":1,"target_id":2,"until":3}"#, "unknown field `until`"),
                (r#"{"user_id":1,"target_id":2,"only":["A"]}"#, "invalid_field: kind: expected"),
                (r#"{"user_id":1,"target_id":2,"only":["a"],"except":["b"]}"#, "only and except: give one"),
                (r#"{"user_id":null,"target_id":2}"#, "null"),
                (
                    r#"{"user_id":1,"target_id":2,"since":"3"}"#,
                    "since: a time is whole milliseconds since 1970, not \"3\"",
                ),
                (r#"{"user_id":1,"target_id":2,"since":-3}"#, "-3"),
                (r#"{"user_id":1,"target_id":2} {}"#, "trailing characters at column 29"),
                ("[1,2]", "expected a JSON object"),
            ],
        );
    }
}

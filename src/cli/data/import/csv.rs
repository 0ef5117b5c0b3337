//! Records of CSV as objects of JSON, which are then read as lines of NDJSON are.

use std::borrow::Cow;
use std::fmt::Write;

use super::fields::{Columns, Field, Holds};
use super::ndjson::object;
use super::refusal::{INVALID_FIELD, INVALID_ID, MISSING_FIELD, Refusal};
use super::split_records::Shape;
use super::times;
use model::JsonObject;

/// The object that says the same as a record.
pub(in crate::cli::data) fn object_of(columns: &Columns, fields: &[Field<'_>]) -> Result<String, Refusal> {
    columns.check(fields)?;
    let mut object = String::new();
    for (name, is_needed, text) in columns.values(fields) {
        // Only the text of an item can be empty.
        match text.filter(|text| !text.is_empty() || name == "text") {
            Some(text) => {
                object.push(if object.is_empty() { '{' } else { ',' });
                // A text takes all.
                let _ = write!(object, "\"{name}\":{}", value(name, text)?);
            }
            None if is_needed => return Err(Refusal::of_line(MISSING_FIELD, format_args!("{name} is missing"))),
            None => {}
        }
    }
    object.push('}');
    Ok(object)
}

/// A field as JSON.
fn value<'f>(name: &str, text: &'f str) -> Result<Cow<'f, str>, Refusal> {
    let refused = |reason: &str| Refusal::of_field(INVALID_FIELD, name, reason, text);
    Ok(match Holds::of(name) {
        // Nearly always a mistake, so only NDJSON may have such ids.
        Holds::Id if text.trim() != text => {
            let refusal = Refusal::of_field(INVALID_ID, name, "expected no space at the ends of an id", text);
            return Err(refusal.with_hint("remove the space, or write the file as NDJSON"));
        }
        Holds::Time => times::of_text(name, text)?.to_string().into(),
        // In the words of common databases.
        Holds::Flag => match text {
            "true" | "t" | "1" => "true".into(),
            "false" | "f" | "0" => "false".into(),
            _ => return Err(refused("expected true or false")),
        },
        Holds::Audience if !matches!(text, "public" | "followers") => {
            return Err(refused("expected public or followers"));
        }
        Holds::Object => {
            object::<JsonObject>(text).map_err(|why| why.within(name).showing(text.as_bytes(), Shape::Csv))?;
            text.into()
        }
        Holds::Id | Holds::Audience | Holds::Text => serde_json::Value::from(text).to_string().into(),
    })
}

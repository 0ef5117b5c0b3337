//! Lines of NDJSON as objects, and the reasons why they are none.

use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::Value;
use serde_json::error::Category;

use super::fields::Holds;
use super::refusal::{INVALID_FIELD, INVALID_ID, INVALID_LINE, MISSING_FIELD, Refusal};
use super::times;
use model::{ExternalId, Time};

/// Parses one object.
pub(in crate::cli::data) fn object<T: DeserializeOwned>(text: &str) -> Result<T, Refusal> {
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
    let (reason, column) = (error.to_string(), error.column());
    let bare = reason.strip_suffix(&format!(" at line {} column {column}", error.line())).unwrap_or(&reason);
    match error.classify() {
        Category::Data if bare.starts_with("missing field") => Refusal::of_line(MISSING_FIELD, bare),
        Category::Data => Refusal::of_line(INVALID_FIELD, bare).at(column),
        _ => Refusal::of_line(INVALID_LINE, bare).at(column),
    }
}

/// The first field with an invalid id or time. The parser's error has neither its name nor its value.
fn bad_field(text: &str) -> Option<Refusal> {
    let fields: serde_json::Map<String, Value> = serde_json::from_str(text).ok()?;
    fields.iter().filter(|(_, value)| !value.is_null()).find_map(|(name, value)| match Holds::of(name) {
        Holds::Time => Time::deserialize(value).is_err().then(|| times::refused_json(name, value)),
        Holds::Id => {
            let reason = ExternalId::deserialize(value).err()?;
            let shown = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
            Some(Refusal::of_field(INVALID_ID, name, reason, &shown))
        }
        _ => None,
    })
}

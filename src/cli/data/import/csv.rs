//! Records of CSV as objects of JSON, which are then read as lines of NDJSON are.

use std::borrow::Cow;
use std::fmt::Write;

use super::fields::{Columns, Field, Holds};
use super::records::Shape;
use super::refusal::{INVALID_FIELD, INVALID_ID, MISSING_FIELD, Refusal};
use super::rows::object;
use super::times;
use model::JsonObject;

/// The object that says the same as a record.
pub(super) fn object_of(columns: &Columns, fields: &[Field<'_>]) -> Result<String, Refusal> {
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

#[cfg(test)]
mod tests {
    use super::super::fields::split;
    use super::*;

    const TABLE: &str = "user_id,target_id[,since]";

    /// The columns of a file that begins with a header.
    fn of_header(header: &str) -> Columns {
        let mut columns = Columns::declared(TABLE);
        columns.take_header(&split(header)).expect("known");
        columns
    }

    #[test]
    fn a_header_may_reorder_and_leave_out_what_is_optional() {
        let columns = of_header("since,target_id,user_id");
        let object = |columns: &Columns, record: &str| object_of(columns, &split(record));
        assert_eq!(object(&columns, "5,2,1"), Ok(r#"{"user_id":"1","target_id":"2","since":5}"#.to_owned()));
        let columns = of_header("target_id,user_id");
        assert_eq!(object(&columns, "2,1"), Ok(r#"{"user_id":"1","target_id":"2"}"#.to_owned()));
        assert!(object(&columns, "2,1,5").is_err());
    }

    #[test]
    fn short_records_lack_fields_and_long_ones_are_refused() {
        let columns = Columns::declared(TABLE);
        let refused = |record: &str| object_of(&columns, &split(record)).expect_err("refused").to_string();
        assert_eq!(refused("1"), "missing_field: target_id is missing");
        assert_eq!(refused("1,"), "missing_field: target_id is missing");
        assert!(object_of(&columns, &split("1,2,3")).is_ok());
        assert_eq!(refused("1,2,3,4"), "invalid_line: the line has 4 fields, but at most 3 are expected");
    }
}

//! Rows of names: ids in the order in which the server is to see them first.

use serde::Deserialize;

use super::{Column, Columns, Field, Refusal, Row, Store, id, object};
use feed::Feed;
use model::HostId;

/// A name, or a number, which needs no line.
#[derive(Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Name {
    id: HostId,
}

impl Row for Name {
    const TABLE: &'static str = "names";
    const STORE: Store<Self> = |feed: &Feed, rows| feed.import_names(rows.into_iter().map(|row| row.id).collect());
    const COLUMNS: &'static [Column] = &[("id", true)];

    fn from_fields(columns: &Columns, fields: &[Field<'_>]) -> Result<Self, Refusal> {
        columns.check(fields)?;
        Ok(Self { id: id((Self::COLUMNS[0].0, columns.get(fields, 0)))? })
    }

    fn from_json(text: &str) -> Result<Self, Refusal> {
        object(text)
    }

    fn ids(&self) -> impl Iterator<Item = &HostId> {
        [&self.id].into_iter()
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{csv, refused};
    use super::*;

    #[test]
    fn names_are_read_from_both_formats() {
        for id in ["ann", "7", "b/é 🌊"] {
            let name = || Ok(Name { id: id.parse().expect("an id") });
            assert_eq!(csv(id), name());
            assert_eq!(Name::from_json(&format!(r#"{{"id":"{id}"}}"#)), name());
        }
        refused::<Name>(
            csv,
            &[("ann,ben", "2 fields"), (" ann", "remove the space"), ("a\u{7}", "invalid_id: id: an id")],
        );
        let more = r#"{"id":"ann","more":1}"#;
        refused(
            Name::from_json,
            &[("{}", "missing field"), (r#"{"id":0}"#, "invalid_id: id"), (more, "unknown field")],
        );
    }
}

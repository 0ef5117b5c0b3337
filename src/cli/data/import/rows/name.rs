//! Rows of names: ids, and kinds of reactions, in the order in which the server is to see them first.

use serde::Deserialize;

use super::{Column, Columns, Field, INVALID_FIELD, MISSING_FIELD, Refusal, Row, Store, id, object};
use feed::{Feed, ImportedName};
use model::{HostId, ReactionKinds};

impl Row for ImportedName {
    const TABLE: &'static str = "names";
    const STORE: Store<Self> = Feed::import_names;
    const COLUMNS: &'static [Column] = &[("id", true)];

    fn from_fields(columns: &Columns, fields: &[Field<'_>]) -> Result<Self, Refusal> {
        columns.check(fields)?;
        Ok(Self::Id(id((Self::COLUMNS[0].0, columns.get(fields, 0)))?))
    }

    fn from_json(text: &str) -> Result<Self, Refusal> {
        #[derive(Deserialize)]
        #[serde(deny_unknown_fields)]
        struct Object {
            id: Option<HostId>,
            reaction: Option<String>,
        }

        let refused = |why: String| Refusal::of_line(INVALID_FIELD, why);
        match object(text)? {
            Object { id: Some(id), reaction: None } => Ok(Self::Id(id)),
            Object { id: None, reaction: Some(kind) } => match ReactionKinds::new(vec![kind.clone()]) {
                Ok(_) => Ok(Self::Reaction(kind)),
                Err(why) => Err(refused(format!("reaction: {why}"))),
            },
            Object { id: None, reaction: None } => Err(Refusal::of_line(MISSING_FIELD, "missing field `id`")),
            _ => Err(refused("expected id or reaction, not both".to_owned())),
        }
    }

    fn ids(&self) -> impl Iterator<Item = &HostId> {
        let Self::Id(id) = self else { return None.into_iter() };
        Some(id).into_iter()
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{csv, refused};
    use super::*;

    #[test]
    fn names_are_read_from_both_formats() {
        for id in ["ann", "7", "b/é 🌊"] {
            let name = || Ok(ImportedName::Id(id.parse().expect("an id")));
            assert_eq!(csv(id), name());
            assert_eq!(ImportedName::from_json(&format!(r#"{{"id":"{id}"}}"#)), name());
        }
        let kind = ImportedName::from_json(r#"{"reaction":"👏"}"#);
        assert_eq!(kind, Ok(ImportedName::Reaction("👏".to_owned())));
        refused::<ImportedName>(
            csv,
            &[("ann,ben", "2 fields"), (" ann", "remove the space"), ("a\u{7}", "invalid_id: id: an id")],
        );
        let more = r#"{"id":"ann","more":1}"#;
        refused(
            ImportedName::from_json,
            &[
                ("{}", "missing field"),
                (r#"{"reaction":"a/b"}"#, "reaction: "),
                (r#"{"id":"ann","reaction":"like"}"#, "not both"),
                (r#"{"id":0}"#, "invalid_id: id"),
                (more, "unknown field"),
            ],
        );
    }
}

//! Rows of reactions.

use serde::Deserialize;

use super::{Column, Columns, Field, Refusal, Row, Store, id, needed, object, time};
use feed::{Feed, Reacting};
use model::{HostId, Millis, Time};

impl Row for Reacting {
    const TABLE: &'static str = "reactions";
    const STORE: Store<Self> = Feed::import_reactions;
    const COLUMNS: &'static [Column] = &[("content_id", true), ("user_id", true), ("kind", true), ("since", false)];

    fn from_fields(columns: &Columns, fields: &[Field<'_>]) -> Result<Self, Refusal> {
        columns.check(fields)?;
        let field = |column: usize| (Self::COLUMNS[column].0, columns.get(fields, column));
        Ok(Self { content: id(field(0))?, user: id(field(1))?, kind: needed(field(2))?, since: time(field(3))? })
    }

    fn from_json(text: &str) -> Result<Self, Refusal> {
        #[derive(Deserialize)]
        #[serde(deny_unknown_fields)]
        struct Object {
            content_id: HostId,
            user_id: HostId,
            kind: String,
            #[serde(default)]
            since: Option<Time>,
        }

        let Object { content_id, user_id, kind, since } = object(text)?;
        Ok(Self { content: content_id, user: user_id, kind, since: since.map(|Time(since)| since) })
    }

    fn time(&self) -> Option<Millis> {
        self.since
    }

    fn ids(&self) -> impl Iterator<Item = &HostId> {
        [&self.content, &self.user].into_iter()
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{csv, number, refused};
    use super::*;

    #[test]
    fn reactions_are_read_from_both_formats() {
        let (like, favorite) = ("like", "favorite");
        let row =
            |kind: &str, since| Ok(Reacting { content: number(7), user: number(1), kind: kind.to_owned(), since });
        assert_eq!(csv("7,1,like"), row(like, None));
        assert_eq!(csv("7,1,favorite,\"5\""), row(favorite, Some(5)));
        assert_eq!(Reacting::from_json(r#"{"content_id":7,"user_id":"1","kind":"like"}"#), row(like, None));
        let since = Reacting::from_json(r#"{"since":0,"kind":"favorite","user_id":1,"content_id":"7"}"#);
        assert_eq!(since, row(favorite, Some(0)));
        let null = Reacting::from_json(r#"{"content_id":7,"user_id":1,"kind":"like","since":null}"#);
        assert_eq!(null, row(like, None));
    }

    #[test]
    fn malformed_reactions_are_refused_with_a_reason() {
        refused::<Reacting>(
            csv,
            &[
                ("7", "user_id is missing"),
                ("7,1", "kind is missing"),
                (",1,like", "content_id is missing"),
                ("\u{1},1,like", "content_id: an id"),
                ("7, x,like", "user_id: expected no space"),
                ("7,1,like,soon", "since: a time"),
                ("7,1,like,1,2", "5 fields"),
            ],
        );
        refused(
            Reacting::from_json,
            &[
                (r#"{"content_id":7,"user_id":1}"#, "missing field `kind`"),
                (r#"{"content_id":7,"user_id":1,"kind":"like","kind":"like"}"#, "duplicate field"),
                (r#"{"content_id":7,"user_id":1,"kind":"like","active":true}"#, "unknown field `active`"),
                (r#"{"content_id":7,"user_id":1,"kind":"like","since":"5"}"#, "since: a time"),
                (r#"{"content_id":null,"user_id":1,"kind":"like"}"#, "null"),
                (r#"[7,1,"like"]"#, "expected a JSON object"),
            ],
        );
    }
}

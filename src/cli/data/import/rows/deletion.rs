//! Rows of deleted items.

use serde::Deserialize;

use super::line::{Lines, flag};
use super::{Column, INVALID_TIME, Refusal, id, time};
use feed::Line;
use model::{HostId, Time};

/// Deleted items, and the ids of purged ones.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Deletions;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct DeletionObject {
    content_id: HostId,
    #[serde(default)]
    deleted_at: Option<Time>,
    #[serde(default)]
    purged: Option<bool>,
}

impl Lines for Deletions {
    const TABLE: &'static str = "deletions";
    const COLUMNS: &'static [Column] = &[("content_id", true), ("deleted_at", false), ("purged", false)];
    type Object = DeletionObject;

    fn of_fields<'f>(field: impl Fn(usize) -> (&'static str, Option<&'f str>)) -> Result<DeletionObject, Refusal> {
        let deleted_at = time(field(1))?.map(Time);
        Ok(DeletionObject { content_id: id(field(0))?, deleted_at, purged: flag(field(2))? })
    }

    fn line(DeletionObject { content_id, deleted_at, purged }: DeletionObject) -> Result<Line, Refusal> {
        let since = deleted_at.map(|Time(at)| at);
        if since == Some(0) {
            let detail = "deleted_at: 0 is not the time of a deletion. Leave items out that are not deleted";
            return Err(Refusal::of_line(INVALID_TIME, detail));
        }
        Ok(Line::Deletion { item: content_id, since, purged: purged.unwrap_or_default() })
    }
}

#[cfg(test)]
mod tests {
    use super::super::Row;
    use super::super::line::LineOf;
    use super::super::line::tests::both;
    use super::super::tests::{csv, number, refused};
    use super::*;

    #[test]
    fn deletions_are_read_from_both_formats() {
        let of = |since, purged| Line::Deletion { item: number(7), since, purged };
        both::<Deletions>("7", r#"{"content_id":7}"#, &of(None, false));
        both::<Deletions>("7,5", r#"{"content_id":7,"deleted_at":5}"#, &of(Some(5), false));
        both::<Deletions>("7,,true", r#"{"content_id":7,"purged":true}"#, &of(None, true));
        refused::<LineOf<Deletions>>(
            csv,
            &[
                (",5", "content_id is missing"),
                ("7,x", "deleted_at: a time"),
                ("7,5,maybe", "purged"),
                ("7,0", "0 is not"),
            ],
        );
        let text = r#"{"content_id":7,"deleted_at":"5"}"#;
        refused(LineOf::<Deletions>::from_json, &[(text, "invalid_time: deleted_at")]);
    }
}

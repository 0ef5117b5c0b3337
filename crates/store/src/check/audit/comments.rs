//! Comments: in the list of their item, and in that of their author.

use super::{Audit, Row, Wanted, Way};
use crate::rows::tables::{COMMENTS, CONTENT, USER_COMMENTS};
use crate::rows::values::Stored;
use crate::subjects::lists::{comment_rows, comment_value};
use model::error::Result;

impl Audit<'_> {
    /// The rows of live comments.
    pub(super) fn comment_rows(&mut self, live: &[(&Row, Stored)]) -> Result<()> {
        let mut wanted = Vec::new();
        for (row, Stored { content, .. }) in live {
            for (table, key) in comment_rows(content, self.store.subject(content)?) {
                wanted.push((*row, Wanted::new(table, key, comment_value(table, content))));
            }
        }
        self.look_up(CONTENT, Way::Out, &wanted)
    }

    /// Each row in either list belongs to a live comment.
    pub(super) fn comments(&mut self) -> Result<()> {
        for table in [COMMENTS, USER_COMMENTS] {
            self.each_batch(table, |audit, rows| {
                let places = audit.places(table, rows);
                audit.must_be_live(table, places, "comment", &|audit, row, _, content| {
                    let mut rows = comment_rows(content, audit.store.subject(content)?);
                    let has_value = row.value[..] == comment_value(table, content);
                    Ok(has_value && rows.any(|(t, key)| t == table && key == *row.key))
                })
            })?;
        }
        Ok(())
    }
}

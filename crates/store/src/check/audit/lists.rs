//! Tables of pairs and their lists by time; and hides by the reader.

use super::follows::{edge, key};
use super::names::pair;
use super::{Audit, Wanted, Way};
use crate::rows::tables::{ALL, HIDDEN, HIDDEN_TO};
use crate::rows::{keys, values};
use model::error::Result;

impl Audit<'_> {
    /// Each pair is in the list, and each row of the list has its pair.
    pub(super) fn lists_of_pairs(&mut self) -> Result<()> {
        for (by_time, pairs) in ALL.iter().filter_map(|table| Some((*table, table.lists?))) {
            self.mirror(pairs, Way::Out, |row| {
                let ((user, target), since) = edge(row)?;
                Some(vec![Wanted::any(by_time, keys::row(user, since, target))])
            })?;
            self.mirror(by_time, Way::Back, |row| {
                let (user, since, target) = keys::split_row(&row.key)?;
                Some(vec![Wanted::new(pairs, key(user, target), values::millis(since))])
            })?;
        }
        Ok(())
    }

    pub(super) fn hides_by_reader(&mut self) -> Result<()> {
        self.mirror(HIDDEN, Way::Out, |row| {
            // Reported with the list if it cannot be read.
            Some(edge(row).map(|((user, target), _)| Wanted::any(HIDDEN_TO, key(target, user))).into_iter().collect())
        })?;
        self.mirror(HIDDEN_TO, Way::Back, |row| {
            let (target, user) = pair(&row.key)?;
            Some(vec![Wanted::any(HIDDEN, key(user, target))])
        })
    }
}

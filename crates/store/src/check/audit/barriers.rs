//! Mutes and hides: by id, by time, and a hide also by the reader.

use super::follows::{edge, key};
use super::names::pair;
use super::{Audit, Wanted, Way};
use crate::rows::tables::{HIDDEN, HIDDEN_BY_TIME, HIDDEN_TO, MUTES, MUTES_BY_TIME};
use crate::rows::{keys, values};
use model::error::Result;

impl Audit<'_> {
    pub(super) fn barriers(&mut self) -> Result<()> {
        self.mirror(MUTES, Way::Out, |row| {
            let ((user, target), since) = edge(row)?;
            Some(vec![Wanted::any(MUTES_BY_TIME, keys::row(user, since, target))])
        })?;
        self.mirror(HIDDEN, Way::Out, |row| {
            let ((user, target), since) = edge(row)?;
            let by_time = Wanted::any(HIDDEN_BY_TIME, keys::row(user, since, target));
            Some(vec![by_time, Wanted::any(HIDDEN_TO, key(target, user))])
        })?;
        for (by_time, by_id) in [(MUTES_BY_TIME, MUTES), (HIDDEN_BY_TIME, HIDDEN)] {
            self.mirror(by_time, Way::Back, |row| {
                let (user, since, target) = keys::split_row(&row.key)?;
                Some(vec![Wanted::new(by_id, key(user, target), values::millis(since))])
            })?;
        }
        self.mirror(HIDDEN_TO, Way::Back, |row| {
            let (target, user) = pair(&row.key)?;
            Some(vec![Wanted::any(HIDDEN, key(user, target))])
        })
    }
}

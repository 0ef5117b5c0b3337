//! Tables of which each row stands for itself: it must read.

use super::super::tables::{MARKERS, PROFILES};
use super::super::values;
use super::names::one;
use super::{Audit, Way};
use crate::error::Result;
use crate::model::UserId;

impl Audit<'_> {
    pub(super) fn records(&mut self) -> Result<()> {
        let user = |key: &[u8]| UserId::new(one(key)?).ok();
        self.mirror(PROFILES, Way::Back, |row| {
            user(&row.key)?;
            values::read_profile(&row.value).ok()?;
            Some(Vec::new())
        })?;
        self.mirror(MARKERS, Way::Back, |row| {
            user(&row.key)?;
            values::read_marker(&row.value).ok()?;
            Some(Vec::new())
        })
    }
}

//! Tables for tests.

use std::path::Path;
use std::sync::Arc;

use crate::database::Database;
use crate::family::{Access, Family, Filter, Schema, Steps};
use crate::options::Options;
use model::error::Result;

pub(crate) static ROWS: &Family = &Family { place: 0, ..Family::new("rows", Access::Point) };
pub(crate) static SUMS: &Family = &Family { place: 1, steps: Steps::Sums(add), ..Family::new("sums", Access::Point) };
pub(crate) static RISING: &Family =
    &Family { place: 2, is_rising: true, steps: Steps::ManySums(add), ..Family::new("rising", Access::Point) };

struct Tables([&'static Family; 3]);

impl Schema for Tables {
    fn families(&self) -> &[&'static Family] {
        &self.0
    }

    fn filter(&self, _: &Family) -> Option<Filter> {
        None
    }

    fn merge(&self, _: Option<&[u8]>, _: &[&[u8]]) -> Vec<u8> {
        Vec::new()
    }

    fn join(&self, _: &[&[u8]]) -> Vec<u8> {
        Vec::new()
    }
}

/// The sum of two bytes, in one.
fn add(present: Option<&[u8]>, step: &[u8]) -> Vec<u8> {
    let byte = |row: Option<&[u8]>| row.and_then(|row| row.first().copied()).unwrap_or_default();
    vec![byte(present).wrapping_add(byte(Some(step)))]
}

pub(crate) fn schema() -> Arc<dyn Schema> {
    Arc::new(Tables([ROWS, SUMS, RISING]))
}

pub(crate) fn try_open(options: &Options) -> Result<Database> {
    Database::open(options, &schema())
}

pub(crate) fn open(dir: &Path) -> Database {
    try_open(&Options::new(dir)).expect("opens")
}

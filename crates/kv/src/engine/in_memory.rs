//! Ordered maps in memory. Nothing outlasts the process.

use std::collections::BTreeMap;
use std::ops::Bound;
use std::sync::Arc;

use parking_lot::RwLock;

use crate::batch::{Change, Op};
use crate::family::{Family, Schema, Steps};
use crate::id::ID;
use crate::kv::{Kv, Reads, Row, RowWalk, Scope};
use crate::{TableStats, Tier, Usage};
use model::error::{Error, Result};

type Value = Arc<[u8]>;

type Rows = Arc<BTreeMap<Box<[u8]>, Value>>;

/// A table is copied by the first write while a walk or a snapshot has it.
pub(crate) struct Memory {
    tables: RwLock<Vec<Rows>>,
    schema: Arc<dyn Schema>,
}

impl Memory {
    pub(crate) fn new(schema: Arc<dyn Schema>) -> Self {
        let tables = RwLock::new(schema.families().iter().map(|_| Rows::default()).collect());
        Self { tables, schema }
    }

    fn table(&self, table: &'static Family) -> Rows {
        self.tables.read().get(table.place).cloned().unwrap_or_default()
    }

    fn merged(&self, table: &'static Family, present: Option<&[u8]>, step: &[u8]) -> Vec<u8> {
        match table.steps {
            Steps::Sums(add) | Steps::ManySums(add) => add(present, step),
            Steps::Merged => self.schema.merge(present, &[step]),
            Steps::None => step.to_vec(),
        }
    }
}

/// Tables as of an instant.
struct Snapshot(Vec<Rows>);

impl Reads for Memory {
    fn get(&self, table: &'static Family, key: &[u8], _: Tier) -> Result<Option<Row<'_>>> {
        Ok(self.table(table).get(key).cloned().map(Row::Kept))
    }

    fn walk(&self, table: &'static Family, _: Tier, scope: Scope<'_>) -> Result<Box<dyn RowWalk + '_>> {
        Ok(Box::new(MapWalk::new(self.table(table), scope)))
    }
}

impl Reads for Snapshot {
    fn get(&self, table: &'static Family, key: &[u8], _: Tier) -> Result<Option<Row<'_>>> {
        Ok(self.0.get(table.place).and_then(|rows| rows.get(key)).cloned().map(Row::Kept))
    }

    fn walk(&self, table: &'static Family, _: Tier, scope: Scope<'_>) -> Result<Box<dyn RowWalk + '_>> {
        Ok(Box::new(MapWalk::new(self.0.get(table.place).cloned().unwrap_or_default(), scope)))
    }
}

impl Kv for Memory {
    fn snapshot(&self) -> Box<dyn Reads + '_> {
        Box::new(Snapshot(self.tables.read().clone()))
    }

    fn write(&self, changes: &mut dyn Iterator<Item = (&'static Family, Change<'_>)>, _: usize, _: bool) -> Result<()> {
        let mut tables = self.tables.write();
        for (table, change) in changes {
            let Some(rows) = tables.get_mut(table.place).map(Arc::make_mut) else { continue };
            match change {
                Change::Row(key, Op::Put(value)) => drop(rows.insert(key.into(), value.into())),
                Change::Row(key, Op::Delete) => drop(rows.remove(key)),
                Change::Row(key, Op::Merge(step)) => {
                    let merged = self.merged(table, rows.get(key).map(|row| &**row), step);
                    rows.insert(key.into(), merged.into());
                }
                Change::Range(from, to) if from < to => {
                    let inside = rows.range::<[u8], _>((Bound::Included(from), Bound::Excluded(to)));
                    let gone: Vec<_> = inside.map(|(key, _)| key.clone()).collect();
                    gone.iter().for_each(|key| drop(rows.remove(key)));
                }
                Change::Range(..) => {}
            }
        }
        Ok(())
    }

    fn sync(&self) -> Result<()> {
        Ok(())
    }

    fn compact(&self) -> Result<()> {
        let mut tables = self.tables.write();
        for (table, rows) in self.schema.families().iter().zip(&mut *tables) {
            if let Some(filter) = table.filter(&*self.schema) {
                let mut keeps = filter();
                Arc::make_mut(rows).retain(|key, value| keeps(key, value));
            }
        }
        Ok(())
    }

    fn size(&self, table: &'static Family) -> Result<TableStats> {
        let rows = self.table(table);
        let bytes = rows.iter().map(|(key, value)| key.len() + value.len()).sum::<usize>() as u64;
        Ok(TableStats { table: table.name, rows: rows.len() as u64, bytes })
    }

    fn usage(&self) -> Result<Usage> {
        Ok(Usage::default())
    }

    fn refused(&self, cause: &str) -> Error {
        Error::Storage(cause.to_owned())
    }
}

/// A walk over a table as of an instant.
struct MapWalk {
    rows: Rows,
    /// The rows at which it looks: all before a key,
    end: Option<Box<[u8]>>,
    /// or those of the partition of the last seek.
    is_in_partition: bool,
    /// The first bytes of that partition.
    partition: Option<Box<[u8]>>,
    at: Option<(Box<[u8]>, Value)>,
}

impl MapWalk {
    fn new(rows: Rows, scope: Scope<'_>) -> Self {
        let end = if let Scope::Before(key) = scope { Some(key.into()) } else { None };
        Self { rows, end, is_in_partition: scope == Scope::Partition, partition: None, at: None }
    }

    fn go(&mut self, forward: bool, from: Bound<&[u8]>) {
        let range = match forward {
            true => (from, Bound::Unbounded),
            false => (Bound::Unbounded, from),
        };
        let mut rows = self.rows.range::<[u8], _>(range);
        let found = if forward { rows.next() } else { rows.next_back() };
        let is_inside = |key: &[u8]| {
            self.end.as_ref().is_none_or(|end| key < &**end)
                && self.partition.as_ref().is_none_or(|partition| key.starts_with(partition))
        };
        self.at = found.filter(|(key, _)| is_inside(key)).map(|(key, value)| (key.clone(), Arc::clone(value)));
    }
}

impl RowWalk for MapWalk {
    fn seek(&mut self, forward: bool, key: Option<&[u8]>) {
        self.partition = key.and_then(|key| key.get(..ID)).filter(|_| self.is_in_partition).map(Into::into);
        let end = self.end.clone().filter(|end| !forward && key.is_none_or(|key| key >= &**end));
        let from = end.as_ref().map(|end| Bound::Excluded(&**end));
        self.go(forward, from.unwrap_or_else(|| key.map_or(Bound::Unbounded, Bound::Included)));
    }

    fn step(&mut self, forward: bool) {
        if let Some((key, _)) = self.at.take() {
            self.go(forward, Bound::Excluded(&key));
        }
    }

    fn item(&self) -> Option<(&[u8], &[u8])> {
        self.at.as_ref().map(|(key, value)| (&**key, &**value))
    }

    fn status(&self) -> Result<()> {
        Ok(())
    }
}

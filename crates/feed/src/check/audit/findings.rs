//! The disagreements that an audit finds, as lines for its caller.

use super::names::named;
use crate::check::Watch;
use crate::ids;
use crate::rows::table::AnyTable;
use crate::store::Store;

pub(super) struct Findings<'a> {
    pub(super) store: &'a Store,
    pub(super) watch: &'a mut dyn Watch,
}

impl Findings<'_> {
    pub(super) fn find(&mut self, line: String) {
        self.watch.finds(line);
    }

    /// Reports that a table lacks a row.
    pub(super) fn lacks(&mut self, table: AnyTable, key: &[u8]) {
        let (whose, what) = named(table, key, |id| self.id(id), |kind| self.kind(kind));
        self.find(format!("{whose}: {table} lacks {what}"));
    }

    /// Reports that a table has a wrong row.
    pub(super) fn has(&mut self, table: AnyTable, key: &[u8], why: &str) {
        let (whose, what) = named(table, key, |id| self.id(id), |kind| self.kind(kind));
        self.find(format!("{whose}: {table} has {what}{why}"));
    }

    /// Reports that a row does not follow from another table.
    pub(super) fn disagrees(&mut self, table: AnyTable, key: &[u8], with: AnyTable) {
        self.has(table, key, &format!(", which does not agree with {with}"));
    }

    pub(super) fn unreadable(&mut self, table: AnyTable, key: &[u8]) {
        self.has(table, key, ", which cannot be read");
    }

    /// A user or an item as the application writes it.
    pub(super) fn id(&self, id: u64) -> String {
        ids::tables::shown(self.store, id)
    }

    /// The name of a kind of reactions.
    pub(super) fn kind(&self, byte: u8) -> String {
        self.store
            .memory
            .kinds
            .reactions
            .known()
            .name(byte)
            .map_or_else(|| format!("kind {byte}"), |name| format!("{name:?}"))
    }
}

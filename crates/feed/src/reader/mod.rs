//! A directory that is only read: that of a stopped server, or a backup. Nothing in it changes, not even its log.

mod rows;

use std::fmt;

pub use self::rows::*;
use crate::ids;
use crate::options::Options;
use crate::rows::table::AnyTable;
use crate::rows::tables;
use crate::store::Store;
use kv::{Scope, Tier};
use model::error::{Error, Result};
use model::{ExternalId, KindId, MAX_ID, NamedRule, Rule, UserId};

/// An open directory that nothing changes.
pub struct Reader {
    store: Store,
}

impl fmt::Debug for Reader {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.store.fmt(f)
    }
}

impl Reader {
    /// Opens a directory of the present format. Others may read it meanwhile, and no server can start on it. Fails with a
    /// clear message if a server has it. Takes the memory and the number of open files from the options.
    pub fn open(options: &Options) -> Result<Self> {
        Ok(Self { store: Store::read(options, |table| table.is_exported)? })
    }

    /// The estimated number of rows of a table, by its name in `docs/schema.md`.
    pub fn about(&self, table: &str) -> u64 {
        let table = tables::ALL.iter().find(|known| known.name == table);
        table.and_then(|table| self.store.kv().size(table).ok()).map_or(0, |size| size.rows)
    }

    /// The kinds of reactions that were ever used, in the order of their numbers.
    pub fn kinds_of_reactions(&self) -> Vec<String> {
        self.store.memory.kinds.reactions.known().names().to_vec()
    }

    /// The id of a user or an item as the application writes it. `Corrupt` if a number has no name.
    pub fn host(&self, id: impl Into<u64>) -> Result<ExternalId> {
        let id = id.into();
        self.found(id)?.ok_or_else(|| Error::Corrupt(format!("number {id} has no name")))
    }

    /// As [`Reader::host`]; `None` if a number has no name, or lost it with its user.
    pub fn found(&self, id: u64) -> Result<Option<ExternalId>> {
        if id <= MAX_ID {
            return Ok(Some(ExternalId::Number(id)));
        }
        let name = ids::tables::name(&self.store, id, Tier::Disk)?;
        Ok(name.filter(|name| !name.is_empty()).map(ExternalId::Name))
    }

    /// A rule in the words of the application.
    fn rule(&self, rule: Option<Rule>) -> Result<NamedRule> {
        let Some(rule) = rule else { return Ok(NamedRule::All) };
        let known = self.store.memory.kinds.content.known();
        let name = |kind: &KindId| known.name(kind.0).map(str::to_owned);
        let names = rule.kinds().iter().map(name).collect::<Option<Vec<_>>>();
        let named = names.and_then(|names| NamedRule::named(rule.is_only(), names).ok());
        named.ok_or_else(|| Error::Corrupt("a rule with an unknown kind".to_owned()))
    }

    /// How many users are being erased: nothing of them is visited.
    pub fn erasing(&self) -> usize {
        self.store.memory.erasing.count()
    }

    /// Whether nothing of a user is visited.
    fn hides(&self, user: UserId) -> bool {
        self.store.memory.erasing.has(user)
    }

    /// Visits all rows of a table in the order of their keys.
    fn each(&self, table: AnyTable, mut take: impl FnMut(&[u8], &[u8]) -> Result<()>) -> Result<()> {
        let mut rows = self.store.now(Tier::Disk).rows(table, Scope::Once)?;
        rows.seek_to_first();
        while let Some((key, value)) = rows.item() {
            take(key, value)?;
            rows.next();
        }
        rows.status()
    }
}

fn text(bytes: &[u8], table: AnyTable) -> Result<&str> {
    std::str::from_utf8(bytes).map_err(|_| unreadable(table))
}

fn unreadable(table: AnyTable) -> Error {
    Error::Corrupt(format!("a row of {table}"))
}

//! A directory that is only read: that of a stopped server, or a backup. Nothing in it changes, not even its log.

mod rows;

use std::fmt;

pub use self::rows::*;
use crate::ids;
use crate::items::tables::FINAL;
use crate::options::Options;
use crate::rows::keys::{self, Parts};
use crate::rows::table::{AnyTable, Table};
use crate::rows::tables::{self, CONTENT, DELETED};
use crate::rows::values::Value;
use crate::store::Store;
use kv::{Scope, Tier};
use model::error::{Error, Result};
use model::{ContentId, ExternalId, KindId, MAX_ID, NamedRule, Rule, UserId};

/// A visitor of rows. Its error ends the walk.
pub(crate) type Take<'t, T> = &'t mut dyn FnMut(T) -> Result<()>;

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

    /// Visits the rows of a table that name no user who is being erased, in the order of their keys. Rows that go with an item
    /// are visited while it is live or, with `on_deleted`, until it is purged; those on items of users who are being erased
    /// are not.
    pub(crate) fn each<K: Parts, V: Value>(
        &self,
        table: Table<K, V>,
        on_deleted: bool,
        take: Take<'_, (K, V)>,
    ) -> Result<()> {
        // The item of the last row, and whether its rows are passed over.
        let mut last = None;
        self.each_row(table.spec, |key, value| {
            if keys::users(table.keys, key).any(|user| self.hides(user)) {
                return Ok(());
            }
            let item = keys::item(table.keys, key).filter(|_| table.ends_with_item);
            if let Some(item) = item.and_then(|raw| ContentId::new(raw).ok()) {
                let is_passed_over = match last {
                    Some((same, known)) if same == item => known,
                    _ => self.passes_over(item, on_deleted)?,
                };
                last = Some((item, is_passed_over));
                if is_passed_over {
                    return Ok(());
                }
            }
            take((table.key(key)?, V::read(key, value)?))
        })
    }

    /// Whether rows that go with an item are passed over.
    fn passes_over(&self, item: ContentId, on_deleted: bool) -> Result<bool> {
        let deletion = DELETED.get(self.store.now(Tier::Disk), item)?;
        Ok(deletion.is_some_and(|deletion| !on_deleted || deletion.at == FINAL) || self.hides_item(item)?)
    }

    /// Whether an item is one of a user of whom nothing is visited.
    fn hides_item(&self, id: ContentId) -> Result<bool> {
        if self.erasing() == 0 {
            return Ok(false);
        }
        let stored = CONTENT.get(self.store.now(Tier::Disk), id)?;
        Ok(stored.is_some_and(|stored| self.hides(stored.content.author)))
    }

    /// Visits all rows of a table in the order of their keys.
    fn each_row(&self, table: AnyTable, mut take: impl FnMut(&[u8], &[u8]) -> Result<()>) -> Result<()> {
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

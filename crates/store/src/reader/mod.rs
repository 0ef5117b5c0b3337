//! A directory that is only read: that of a stopped server, or a backup. Nothing in it changes, not even its log.

mod rows;

use std::collections::HashSet;
use std::fmt;
use std::sync::Arc;

use rocksdb::{DB, DBRawIterator};

pub use self::rows::{Marker, Ruled};
use crate::Options;
use crate::engine;
use crate::engine::directory::{Directory, must_be_there};
use crate::engine::disk::walking;
use crate::kv::Scope;
use crate::memory::kinds::Sort;
use crate::rows::tables::{
    BLOCKS, CONTENT, DELETED, ERASURES, FOLLOWING, HIDDEN, KINDS, LIST_MARKERS, LIST_MEMBERS, LISTS, MARKERS, MUTES,
    NAMES_BY_NUMBER, NOTICE_MARKERS, PROFILES, REACTIONS, REQUESTS, SETTINGS, SUSPENDED, Table,
};
use crate::rows::{keys, values};
use crate::storage;
use model::cache::Cache;
use model::cache::memory::Share;
use model::error::{Error, Result};
use model::store::Tier;
use model::{BUILT_IN_KINDS, HostId, MAX_ID, Rule, RuleDraft, UserId};

/// The bytes of a usual name, a UUID.
const USUAL: u64 = 68;

/// The tables from which all others follow: damage of the others stops no export.
const READ: [Table; 19] = [
    BLOCKS,
    CONTENT,
    DELETED,
    ERASURES,
    FOLLOWING,
    HIDDEN,
    KINDS,
    LIST_MARKERS,
    LIST_MEMBERS,
    LISTS,
    MARKERS,
    MUTES,
    NAMES_BY_NUMBER,
    NOTICE_MARKERS,
    PROFILES,
    REACTIONS,
    REQUESTS,
    SETTINGS,
    SUSPENDED,
];

/// An open directory that nothing changes.
pub struct Reader {
    db: DB,
    names: Cache<u64, Arc<str>>,
    /// The users who are being erased: nothing of them is visited.
    erasing: HashSet<UserId>,
    /// The names of the kinds of content, each at the place that is its number.
    kinds: Vec<String>,
    /// The names of the kinds of reactions, each at the place that is its byte.
    reactions: Vec<String>,
    /// Released last: fields drop in order.
    _directory: Directory,
}

impl fmt::Debug for Reader {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Reader").field("dir", &self.db.path()).finish_non_exhaustive()
    }
}

impl Reader {
    /// Opens a directory of the present format. Others may read it meanwhile, and no server can start on it. Fails with a
    /// clear message if a server has it. Takes the memory and the number of open files from the options.
    pub fn open(options: &Options) -> Result<Self> {
        must_be_there(&options.dir)?;
        let directory = Directory::look(&options.dir)?;
        engine::log::must_be_readable(&options.dir)?;
        let settings = engine::open::options(options, false, false);
        let failed = |error: rocksdb::Error| engine::advice::cannot_open(&options.dir, &error);
        let there = DB::list_cf(&settings, directory.engine()).map_err(failed)?;
        // A table that an earlier version did not know is empty.
        let families = engine::open::families(options, &options.filters(), false);
        let is_read = |name: &str| name == "default" || READ.iter().any(|table| table.name == name);
        let is_there = |name: &str| is_read(name) && there.iter().any(|there| there == name);
        let families = families.into_iter().filter(|family| is_there(family.name()));
        let db = DB::open_cf_descriptors_read_only(&settings, directory.engine(), families, false).map_err(failed)?;
        // Nothing looks for numbers here, so names have their share, too.
        let room = options.cache_memory.of(Share::NAMES) + options.cache_memory.of(Share::NUMBERS);
        let names = Cache::new(room, USUAL, |name: &Arc<str>| 32 + name.len() as u64);
        let (erasing, kinds, reactions) = (HashSet::new(), Vec::new(), Vec::new());
        let mut reader = Self { db, names, erasing, kinds, reactions, _directory: directory };
        reader.load_kinds()?;
        reader.load_erasures()?;
        Ok(reader)
    }

    /// The estimated number of rows of a table, by its name in `docs/schema.md`.
    pub fn about(&self, table: &str) -> u64 {
        let family = self.db.cf_handle(table);
        let estimate = family.and_then(|family| {
            self.db.property_int_value_cf(family, rocksdb::properties::ESTIMATE_NUM_KEYS).ok().flatten()
        });
        estimate.unwrap_or_default()
    }

    /// The kinds of reactions that were ever used, in the order of their numbers.
    pub fn kinds_of_reactions(&self) -> impl Iterator<Item = &str> {
        self.reactions.iter().map(String::as_str)
    }

    /// The id of a user or an item as the host writes it. `Corrupt` if a number has no name.
    pub fn host(&self, id: impl Into<u64>) -> Result<HostId> {
        let id = id.into();
        self.found(id)?.ok_or_else(|| Error::Corrupt(format!("number {id} has no name")))
    }

    /// As [`Reader::host`]; `None` if a number has no name, or lost it with its user.
    pub fn found(&self, id: u64) -> Result<Option<HostId>> {
        if id <= MAX_ID {
            return Ok(Some(HostId::Number(id)));
        }
        if let Some(name) = self.names.get(&id) {
            return Ok(Some(HostId::Name(name)));
        }
        let Some(row) = self.get(NAMES_BY_NUMBER, &keys::id(id))? else { return Ok(None) };
        if row.is_empty() {
            return Ok(None);
        }
        let name: Arc<str> = text(&row, NAMES_BY_NUMBER)?.into();
        self.names.insert(id, Arc::clone(&name));
        Ok(Some(HostId::Name(name)))
    }

    /// A rule in the words of the host.
    fn rule(&self, rule: Option<Rule>) -> Result<RuleDraft> {
        let Some(rule) = rule else { return Ok(RuleDraft::All) };
        let name = |kind: &model::KindId| self.kinds.get(usize::from(kind.0)).cloned();
        let names = rule.kinds().iter().map(name).collect::<Option<Vec<_>>>();
        let named = names.and_then(|names| RuleDraft::named(rule.is_only(), names).ok());
        named.ok_or_else(|| Error::Corrupt("a rule with an unknown kind".to_owned()))
    }

    fn load_kinds(&mut self) -> Result<()> {
        let mut kinds: Vec<String> = BUILT_IN_KINDS.map(str::to_owned).into();
        let mut reactions = Vec::new();
        self.each(KINDS, |key, name| {
            let (names, number) = match *key {
                [Sort::CONTENT, number] => (&mut kinds, number),
                [_, number] => (&mut reactions, number),
                _ => return Err(unreadable(KINDS)),
            };
            if usize::from(number) != names.len() {
                return Err(unreadable(KINDS));
            }
            names.push(text(name, KINDS)?.to_owned());
            Ok(())
        })?;
        (self.kinds, self.reactions) = (kinds, reactions);
        Ok(())
    }

    fn load_erasures(&mut self) -> Result<()> {
        let mut erasing = HashSet::new();
        self.each(ERASURES, |key, _| {
            erasing.insert(rows::user(ERASURES, key)?);
            Ok(())
        })?;
        self.erasing = erasing;
        Ok(())
    }

    /// How many users are being erased: nothing of them is visited.
    pub fn erasing(&self) -> usize {
        self.erasing.len()
    }

    /// Whether nothing of a user is visited.
    fn hides(&self, user: UserId) -> bool {
        self.erasing.contains(&user)
    }

    fn get(&self, table: Table, key: &[u8]) -> Result<Option<rocksdb::DBPinnableSlice<'_>>> {
        let Some(family) = self.db.cf_handle(table.name) else { return Ok(None) };
        self.db.get_pinned_cf(family, key).map_err(storage)
    }

    /// An iterator over a whole table, which leaves the cache to others; `None` if there is no such table.
    fn walk(&self, table: Table) -> Option<DBRawIterator<'_>> {
        let options = walking(Tier::Disk, Scope::Once);
        self.db.cf_handle(table.name).map(|family| self.db.raw_iterator_cf_opt(family, options))
    }

    /// Visits all rows of a table in the order of their keys.
    pub(crate) fn each(&self, table: Table, mut take: impl FnMut(&[u8], &[u8]) -> Result<()>) -> Result<()> {
        let Some(mut rows) = self.walk(table) else { return Ok(()) };
        rows.seek_to_first();
        while let Some((key, value)) = rows.item() {
            take(key, value)?;
            rows.next();
        }
        rows.status().map_err(storage)
    }

    /// The time of the deletion of an item, if it is deleted.
    fn deleted_at(&self, id: u64) -> Result<Option<model::Millis>> {
        Ok(self
            .get(DELETED, &keys::id(id))?
            .map(|row| values::deletions::read_deletion(&row))
            .transpose()?
            .map(|(at, _)| at))
    }
}

fn text(bytes: &[u8], table: Table) -> Result<&str> {
    std::str::from_utf8(bytes).map_err(|_| unreadable(table))
}

fn unreadable(table: Table) -> Error {
    Error::Corrupt(format!("a row of {table}"))
}

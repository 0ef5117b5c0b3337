//! A table: its declaration, and its rows read and changed by the types of its keys and values.

use std::fmt;
use std::hash::{Hash, Hasher};
use std::marker::PhantomData;
use std::ops::Deref;

use super::keys::{self, Counter, Key, KeyType, Part, Parts};
use super::mirrors::Mirror;
use super::values::Value;
use kv::{Access, At, Compression, Family, Scope, Steps, WriteBatch};
use model::error::{Error, Result};

/// Any table.
pub(crate) type AnyTable = &'static Spec;

/// The declaration of a table, from which the engine's options, figures, `check` and comparisons of nodes follow.
#[derive(Debug)]
pub(crate) struct Spec {
    /// Its name is as in `docs/schema.md`.
    pub(super) family: Family,
    /// The parts of its keys.
    pub(crate) keys: &'static [Part],
    /// The rows that count in a comparison of nodes; `None` for a table that is each node's own.
    pub(crate) counted: Option<Counted>,
    /// Whether a value can be read, by its key.
    pub(crate) is_readable: fn(&[u8], &[u8]) -> bool,
    /// The form of its values, in words.
    pub(crate) values: &'static str,
    /// Its rows, in words.
    pub(crate) about: &'static str,
    /// The tables from whose rows its own follow, and how: changes write them, and an audit makes them anew.
    pub(crate) follows: &'static [(AnyTable, Mirror)],
    /// Whether an export reads it: damage of the others stops none.
    pub(crate) is_exported: bool,
    /// The count of a row's first user to which each row adds one.
    pub(crate) counter: Option<Counter>,
    /// Whether its rows go with the item that their keys name.
    pub(crate) ends_with_item: bool,
    /// The copy of its rows in memory that each change follows, if there is one.
    pub(crate) kept: Option<Kept>,
}

impl Deref for Spec {
    type Target = Family;

    fn deref(&self) -> &Family {
        &self.family
    }
}

/// A copy of the rows of a table in memory: every change of a row changes it, too.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kept {
    /// A filter of the ids with which keys begin, or ever began. A thread fills it after the start.
    Filter,
    Activities,
    Contents,
    Counts,
    Erasing,
    Inboxes,
    Kinds,
    Names,
    NamesByNumber,
    Outboxes,
    Reactions,
    Summaries,
    TopicIds,
    Topics,
    Unpushed,
}

/// The rows of a table that count in a comparison of nodes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Counted {
    All,
    /// Each deletion; if it is final without its time, which a purge changes.
    Deletions,
    /// Rows with another value than zero.
    NotZero,
    /// Rows above the floor of their partition. Rows at or below it stay until a compaction.
    Hot,
    /// The rows of partitions. They count with the table before.
    Archived,
    /// All rows, without their values: what is counted in them differs between nodes.
    Keys,
    /// Notices of times that are kept, unless the deletion of their item is final.
    Notices,
    /// The newest events: each node forgets old ones at its own times.
    Newest,
}

/// The usual way to read rows with such keys.
const fn access(parts: &[Part]) -> Access {
    match parts {
        [Part::Id(_), Part::Id(_) | Part::Name(_)] => Access::PointAndScan,
        [.., Part::Place(_) | Part::Notice] => Access::Scan,
        [Part::Job] => Access::Queue,
        _ => Access::Point,
    }
}

impl Spec {
    /// A table of these keys and values, whose rows all count.
    pub(super) const fn of<K: KeyType, V: Value>(name: &'static str) -> Self {
        Self {
            family: Family::new(name, access(K::PARTS)),
            keys: K::PARTS,
            counted: Some(Counted::All),
            is_readable: |key, value| V::read(key, value).is_ok(),
            values: V::FORM,
            about: "",
            follows: &[],
            counter: None,
            ends_with_item: false,
            kept: None,
            is_exported: false,
        }
    }
}

/// The words of a declaration, each with the field that it sets.
macro_rules! words {
    ($($(#[$doc:meta])* $word:ident($($value:ident: $type:ty)?): $($field:ident).+ = $to:expr;)+) => {
        impl Spec {
            $(
                $(#[$doc])*
                pub(super) const fn $word(mut self $(, $value: $type)?) -> Self {
                    self.$($field).+ = $to;
                    self
                }
            )+
        }
    };
}

words! {
    /// Its rows follow from those of others.
    follows(sources: &'static [(AnyTable, Mirror)]): follows = sources;
    /// Each row adds one to a count of its first user.
    counts(counter: Counter): counter = Some(counter);
    /// A purge of an item removes the rows whose keys name it. They do not count in a comparison once its deletion is final,
    /// because nodes purge at times of their own.
    ends_with_item(): ends_with_item = true;
    /// Something is kept of its rows in memory.
    kept(kept: Kept): kept = Some(kept);
    /// These of its rows count in a comparison.
    counting(counted: Counted): counted = Some(counted);
    /// Each node has its own.
    own(): counted = None;
    /// An export reads it.
    exported(): is_exported = true;
    /// Read in this way.
    read_by(access: Access): family.access = access;
    /// Changes mostly look up new ids, which are above all of its keys.
    rising(): family.is_rising = true;
    /// Its rows take little room.
    compressed(compression: Compression): family.compression = compression;
    /// It takes many bytes a second.
    large(): family.is_large = true;
    /// Most look-ups that reach it are for new keys.
    missing(): family.misses = true;
    /// All of it follows from others, so that a damaged one is made anew.
    rebuilt(): family.can_be_dropped = true;
    /// The engine merges steps into its rows.
    taking(steps: Steps): family.steps = steps;
}

impl Spec {
    /// The parts of a key. `Corrupt` if it has others.
    pub(crate) fn key<P: Parts>(&self, key: &[u8]) -> Result<P> {
        keys::read(key).ok_or_else(|| Error::Corrupt(format!("a key in {self}")))
    }
}

impl fmt::Display for Spec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.family.fmt(f)
    }
}

// Places are unique.
impl PartialEq for Spec {
    fn eq(&self, other: &Self) -> bool {
        self.family == other.family
    }
}

impl Eq for Spec {}

impl Hash for Spec {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.family.place.hash(state);
    }
}

/// A table with keys of `K` and values of `V`.
pub(crate) struct Table<K, V> {
    pub(crate) spec: AnyTable,
    rows: PhantomData<fn() -> (K, V)>,
}

impl<K, V> Table<K, V> {
    pub(crate) const fn new(spec: AnyTable) -> Self {
        Self { spec, rows: PhantomData }
    }

    /// Whether there is a row with a key.
    pub(crate) fn has(self, at: At<'_>, key: impl Key<K>) -> Result<bool> {
        Ok(at.get(self.spec, key.bytes().as_ref())?.is_some())
    }

    /// For each key whether there is a row with it.
    pub(crate) fn have(self, at: At<'_>, keys: impl IntoIterator<Item = impl Key<K>>) -> Result<Vec<bool>> {
        let rows = at.get_many(self.spec, keys.into_iter().map(|key| key.bytes()))?;
        Ok(rows.iter().map(Option::is_some).collect())
    }

    /// Removes a row in a change.
    pub(crate) fn delete(self, change: &mut WriteBatch, key: impl Key<K>) {
        change.delete(self.spec, key.bytes());
    }
}

impl<K, V: Value> Table<K, V> {
    /// The value of a row.
    pub(crate) fn get(self, at: At<'_>, key: impl Key<K>) -> Result<Option<V>> {
        let key = key.bytes();
        let key = key.as_ref();
        at.get(self.spec, key)?.map(|row| V::read(key, &row)).transpose()
    }

    /// The value of a row that can be read, for audits, which report the others with their table.
    pub(crate) fn readable(self, at: At<'_>, key: impl Key<K>) -> Result<Option<V>> {
        let key = key.bytes();
        let key = key.as_ref();
        Ok(at.get(self.spec, key)?.and_then(|row| V::read(key, &row).ok()))
    }

    /// The values of all rows, in the order of their keys.
    pub(crate) fn all(self, at: At<'_>) -> Result<Vec<V>> {
        at.beginning((self.spec, Scope::Table), &[], &[], usize::MAX, V::read)
    }

    /// The values of rows, in the order of their keys.
    pub(crate) fn get_many(self, at: At<'_>, keys: impl IntoIterator<Item = impl Key<K>>) -> Result<Vec<Option<V>>> {
        let keys: Vec<_> = keys.into_iter().map(|key| key.bytes()).collect();
        let rows = at.get_many(self.spec, keys.iter().map(AsRef::as_ref))?;
        keys.iter().zip(rows).map(|(key, row)| row.map(|row| V::read(key.as_ref(), &row)).transpose()).collect()
    }

    /// Puts a row into a change.
    pub(crate) fn put(self, change: &mut WriteBatch, key: impl Key<K>, value: &V) -> Result<()> {
        change.put(self.spec, key.bytes(), value.bytes()?);
        Ok(())
    }

    /// Puts a row into a change, or removes it (`None`).
    pub(crate) fn set(self, change: &mut WriteBatch, key: impl Key<K>, value: Option<&V>) -> Result<()> {
        change.set(self.spec, key.bytes(), value.map(V::bytes).transpose()?);
        Ok(())
    }
}

impl<K, V> Clone for Table<K, V> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<K, V> Copy for Table<K, V> {}

impl<K, V> Deref for Table<K, V> {
    type Target = Spec;

    fn deref(&self) -> &Spec {
        self.spec
    }
}

impl<K, V> fmt::Display for Table<K, V> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.spec.fmt(f)
    }
}

impl<K, V> PartialEq<Table<K, V>> for AnyTable {
    fn eq(&self, other: &Table<K, V>) -> bool {
        *self == other.spec
    }
}

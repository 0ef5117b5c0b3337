//! How the rows of a table follow from those of another one. Changes write them by these functions, and an audit makes them
//! anew and compares.

mod items;

use std::borrow::Cow;

pub(crate) use self::items::{subject, unlisted_purged};
use super::keys::{self, Nickname};
use super::values;
use super::values::{Number, Stored, Value};
use model::error::{Error, Result};
use model::{ContentId, Cursor, Entry, MAX_ID, Millis, NoticeCursor, Position, Profile, UserId};

/// Rows of one table, each with its key and its value.
pub(crate) type Rows = Vec<(Vec<u8>, Vec<u8>)>;

/// Further facts, for rows that do not follow from one row alone.
pub(crate) trait Facts {
    /// Since when a user follows another one.
    fn followed_since(&self, user: u64, target: u64) -> Result<Option<Millis>>;

    /// The entry of an item, live or deleted.
    fn entry(&self, item: ContentId) -> Result<Option<Entry>>;

    /// Whether an item is purged.
    fn has_purged(&self, item: ContentId) -> Result<bool>;

    /// The id of a topic.
    fn topic_id(&self, name: &str) -> Result<Option<u64>>;
}

/// The facts that a change has when it writes one row.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Given {
    /// Since when the target of a follow follows the user.
    pub(crate) followed_since: Option<Millis>,
    /// The entry of the item of a reaction.
    pub(crate) entry: Option<Entry>,
}

impl Facts for Given {
    fn followed_since(&self, _: u64, _: u64) -> Result<Option<Millis>> {
        Ok(self.followed_since)
    }

    fn entry(&self, _: ContentId) -> Result<Option<Entry>> {
        Ok(self.entry)
    }

    fn has_purged(&self, _: ContentId) -> Result<bool> {
        Ok(false)
    }

    fn topic_id(&self, _: &str) -> Result<Option<u64>> {
        Ok(None)
    }
}

/// A row from which others follow.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Fact<'a> {
    key: &'a [u8],
    value: &'a [u8],
    /// The item, if the row is one and is read already.
    item: Option<&'a Stored>,
}

impl<'a> Fact<'a> {
    pub(crate) fn new(key: &'a [u8], value: &'a [u8]) -> Self {
        Self { key, value, item: None }
    }

    /// The row of an item.
    pub(crate) fn of_item(item: &'a Stored) -> Self {
        Self { item: Some(item), ..Self::new(&[], &[]) }
    }

    /// The item, if the row is one that can be read.
    pub(crate) fn item(self) -> Option<Cow<'a, Stored>> {
        if let Some(item) = self.item {
            return Some(Cow::Borrowed(item));
        }
        keys::read::<ContentId>(self.key)?;
        Stored::read(self.key, self.value).ok().map(Cow::Owned)
    }
}

/// The difference of a row that follows from another one, by a change of that.
pub(crate) struct Difference {
    pub(crate) key: Vec<u8>,
    /// Its new value; `None` if it is removed.
    pub(crate) value: Option<Vec<u8>>,
    /// Whether it is there before the change.
    pub(crate) was_there: bool,
}

/// The row from which another one follows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Source {
    /// The one with this key.
    Of(Vec<u8>),
    /// The one with this key. It may be gone.
    IfThere(Vec<u8>),
    /// None.
    Nothing,
}

impl Source {
    pub(crate) fn key(&self) -> Option<&[u8]> {
        match self {
            Self::Of(key) | Self::IfThere(key) => Some(key),
            Self::Nothing => None,
        }
    }
}

/// How the rows of a table follow from those of another one.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Mirror {
    /// The rows that follow from a row; `None` if that cannot be read.
    pub(crate) rows: fn(&dyn Facts, Fact<'_>) -> Result<Option<Rows>>,
    /// Where a row comes from, by its own key and value; `None` if that cannot be read.
    pub(crate) source: fn(&[u8], &[u8]) -> Option<Source>,
}

impl Mirror {
    /// Pairs by time, for the first of each: who has the list, since when, who is in it.
    pub(crate) const BY_TIME: Self = Self {
        rows: |_, fact| Ok(edge(fact).map(|(first, second, since)| by_time(first, since, second))),
        source: |key, _| keys::read(key).map(|(first, Position { id: second, .. })| of_pair(first, second)),
    };

    /// Pairs by time, for the second of each.
    pub(crate) const BY_TIME_FOR_SECOND: Self = Self {
        rows: |_, fact| Ok(edge(fact).map(|(first, second, since)| by_time(second, since, first))),
        source: |key, _| keys::read(key).map(|(second, Position { id: first, .. })| of_pair(first, second)),
    };

    /// Pairs the other way round.
    pub(crate) const REVERSED: Self = Self {
        rows: |_, fact| Ok(edge(fact).map(|(first, second, _)| one(keys::of((second, first)), []))),
        source: of_reversed,
    };

    /// Pairs the other way round, with their times.
    pub(crate) const REVERSED_WITH_TIME: Self = Self {
        rows: |_, fact| {
            let row = |(first, second, since): (u64, u64, _)| one(keys::of((second, first)), values::millis(since));
            Ok(edge(fact).map(row))
        },
        source: of_reversed,
    };

    /// Two pairs of one mutual follow, since the later one.
    pub(crate) const FRIENDS: Self = Self {
        rows: |facts, fact| {
            let Some((user, target, since)) = edge(fact) else { return Ok(None) };
            let Some(followed) = facts.followed_since(target, user)? else { return Ok(Some(Vec::new())) };
            let since = since.max(followed);
            Ok(Some([by_time(user, since, target), by_time(target, since, user)].concat()))
        },
        source: |key, _| keys::read(key).map(|(user, Position { id: other, .. })| of_pair(user, other)),
    };

    pub(crate) const REACTIONS_BY_TIME: Self = Self {
        rows: |_, fact| {
            let row = |(item, kind, id, at)| one(keys::of((item, kind, Position { at, id })), []);
            Ok(reaction(fact).map(row))
        },
        source: |key, _| keys::read(key).map(|(item, kind, Position { id: user, .. })| of_reaction(item, kind, user)),
    };

    /// Of a missing item there are none.
    pub(crate) const REACTIONS_BY_USER: Self = Self {
        rows: |facts, fact| {
            let Some((item, kind, user, _)) = reaction(fact) else { return Ok(None) };
            let row = |entry: Entry| (keys::of((user, kind, entry.cursor)).into(), values::listed(&entry));
            Ok(Some(facts.entry(item)?.map(row).into_iter().collect()))
        },
        source: |key, _| keys::read(key).map(|(user, kind, Cursor { id: item, .. })| of_reaction(item, kind, user)),
    };

    /// The beginnings of the nicknames of profiles.
    pub(crate) const NICKNAMES: Self = Self {
        rows: |_, fact| {
            let read = keys::read(fact.key).zip(Profile::read(fact.key, fact.value).ok());
            Ok(read.map(|(user, profile)| Nickname::keys(&profile, user).map(|key| (key, Vec::new())).collect()))
        },
        source: |key, value| {
            let (_, user) = Nickname::read(key).filter(|_| value.is_empty())?;
            Some(Source::Of(keys::id(user.get()).into()))
        },
    };

    /// The actors of the places of markers, each with the user of the marker.
    pub(crate) const ACTORS_OF_MARKERS: Self = Self {
        rows: |_, fact| {
            let read = keys::read::<UserId>(fact.key).zip(NoticeCursor::read(fact.key, fact.value).ok());
            let Some((user, place)) = read else {
                return Ok(None);
            };
            let rows = place.actor().map(|actor| one(keys::of((actor, user)), []));
            Ok(Some(rows.unwrap_or_default()))
        },
        source: |key, _| keys::second(key).map(|user| Source::Of(keys::of(user).into())),
    };

    /// Names by their numbers. A number keeps a row without a name once its user is erased.
    pub(crate) const NAMES_BY_NUMBER: Self = Self {
        rows: |_, fact| {
            let number =
                Number::read(fact.key, fact.value).ok().map(|Number(number)| number).filter(|number| *number > MAX_ID);
            Ok(number.filter(|_| str::from_utf8(fact.key).is_ok()).map(|number| one(keys::id(number), fact.key)))
        },
        source: |number, name| {
            keys::read::<u64>(number)?;
            str::from_utf8(name).ok()?;
            Some(if name.is_empty() { Source::Nothing } else { Source::Of(name.into()) })
        },
    };

    /// How the rows of its table differ once a row is another one; `None` for no row. Fails if one cannot be read.
    pub(crate) fn differences(
        &self,
        facts: &dyn Facts,
        [before, after]: [Option<Fact<'_>>; 2],
    ) -> Result<Vec<Difference>> {
        let unreadable = || Error::Corrupt("a row from which others follow".to_owned());
        let rows = |fact: Option<Fact<'_>>| match fact {
            Some(fact) => (self.rows)(facts, fact)?.ok_or_else(unreadable),
            None => Ok(Vec::new()),
        };
        let (before, after) = (rows(before)?, rows(after)?);
        let has = |rows: &Rows, key: &[u8]| rows.iter().any(|(other, _)| other == key);
        let gone = before.iter().filter(|(key, _)| !has(&after, key));
        let gone = gone.map(|(key, _)| Difference { key: key.clone(), value: None, was_there: true });
        let mut differences: Vec<_> = gone.collect();
        for (key, value) in after.into_iter().filter(|row| !before.contains(row)) {
            differences.push(Difference { was_there: has(&before, &key), key, value: Some(value) });
        }
        Ok(differences)
    }
}

fn one(key: impl Into<Vec<u8>>, value: impl Into<Vec<u8>>) -> Rows {
    vec![(key.into(), value.into())]
}

fn by_time(first: u64, since: Millis, second: u64) -> Rows {
    one(keys::of((first, Position { at: since, id: second })), [])
}

/// A pair, and its time, which the rest of the value may follow.
fn edge(fact: Fact<'_>) -> Option<(u64, u64, Millis)> {
    let (first, second) = keys::read(fact.key)?;
    Some((first, second, keys::number(fact.value)?))
}

fn of_pair(first: u64, second: u64) -> Source {
    Source::Of(keys::of((first, second)).into())
}

fn of_reversed(key: &[u8], _: &[u8]) -> Option<Source> {
    keys::read(key).map(|(second, first)| of_pair(first, second))
}

/// Item, kind, user and time.
fn reaction(fact: Fact<'_>) -> Option<(ContentId, u8, UserId, Millis)> {
    let (item, kind, user) = keys::read(fact.key)?;
    Some((item, kind, user, keys::read(fact.value)?))
}

fn of_reaction(item: ContentId, kind: u8, user: UserId) -> Source {
    Source::Of(keys::of((item, kind, user)).into())
}

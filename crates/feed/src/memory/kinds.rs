//! Names of kinds, each with the number that stands for it in rows.
//!
//! A name gets the next number from the first change with it, and keeps it for ever. The nodes of a cluster make the same
//! changes one after the other, so they give the same numbers.

use std::sync::Arc;

use crate::rows::tables::KINDS;
use crate::rows::values::Text;
use crate::rows::walk::go_on;
use kv::{Database, Tier, WriteBatch};
use model::error::{Code, Error, Result};
use model::sync::Latest;
use model::{BUILT_IN_KINDS, MOST_KINDS, ReactionKind, ReactionKinds};

/// The error for a kind of content for which there is no number left.
pub(crate) fn too_many_kinds(kind: &str) -> Error {
    Error::refused(
        Code::TooManyKinds,
        format_args!("kind: the server knows {MOST_KINDS} kinds already, and \"{kind}\" is none of them"),
    )
}

/// What the names of a table's rows are of: the first byte of a key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Sort {
    /// Kinds of content, of which those that are built in have no row.
    Content = Self::CONTENT as isize,
    Reactions = 1,
}

impl Sort {
    pub(crate) const CONTENT: u8 = 0;
}

/// The names of all kinds.
pub(crate) struct AllKinds {
    pub(crate) content: Kinds,
    pub(crate) reactions: Kinds,
}

impl Default for AllKinds {
    fn default() -> Self {
        let [content, reactions] = [Sort::Content, Sort::Reactions].map(Kinds::new);
        Self { content, reactions }
    }
}

impl AllKinds {
    /// Those of the sort with this number.
    pub(crate) fn of(&self, sort: u8) -> &Kinds {
        if sort == Sort::CONTENT { &self.content } else { &self.reactions }
    }

    /// Reads the names of a directory.
    pub(crate) fn load(&self, database: &Database) -> Result<()> {
        self.reactions.load(database)?;
        self.content.load(database)
    }
}

/// All names of one sort.
#[derive(Debug)]
pub(crate) struct Kinds(Sort, Latest<Arc<Known>>);

/// The names at one time.
#[derive(Debug, Clone)]
pub(crate) struct Known {
    /// Those of reactions that are taken and shown; none of content.
    named: ReactionKinds,
    /// All names with a number, which is their place here.
    given: Vec<String>,
}

impl Known {
    /// The number of a name.
    pub(crate) fn number(&self, name: &str) -> Option<u8> {
        self.given.iter().position(|given| given == name).map(|place| place as u8)
    }

    /// The number of a kind, if it was ever used.
    pub(crate) fn byte(&self, kind: ReactionKind) -> Option<u8> {
        self.number(self.named.name(kind))
    }

    /// The name of a kind that is taken and shown.
    pub(crate) fn name_of(&self, kind: ReactionKind) -> Option<&str> {
        Some(self.named.name(kind)).filter(|name| !name.is_empty())
    }

    /// The kind with a number, if it is taken and shown.
    pub(crate) fn kind(&self, number: u8) -> Option<ReactionKind> {
        self.named.named(self.given.get(usize::from(number))?)
    }

    /// The kinds that were ever used, with their numbers.
    pub(crate) fn used(&self) -> impl Iterator<Item = (ReactionKind, u8)> {
        self.named.iter().filter_map(|(kind, name)| Some((kind, self.number(name)?)))
    }

    /// The name of a number.
    pub(crate) fn name(&self, number: u8) -> Option<&str> {
        self.given.get(usize::from(number)).map(String::as_str)
    }

    /// All names, each at the place that is its number.
    pub(crate) fn names(&self) -> &[String] {
        &self.given
    }
}

impl Kinds {
    fn new(sort: Sort) -> Self {
        let reactions = ReactionKinds::default();
        let (named, given) = match sort {
            Sort::Content => (reactions.only(|_| false), BUILT_IN_KINDS.map(str::to_owned).into()),
            Sort::Reactions => (reactions, Vec::new()),
        };
        Self(sort, Latest::new(Arc::new(Known { named, given })))
    }

    pub(crate) fn known(&self) -> Arc<Known> {
        self.1.get()
    }

    /// Changes the names. There is one change at a time.
    fn change(&self, change: impl FnOnce(&mut Known)) {
        let mut known = (*self.known()).clone();
        change(&mut known);
        self.1.set(Arc::new(known));
    }

    /// Names the kinds of reactions; see [`name_reactions`](crate::reactions::tables::name_reactions). Names without
    /// room are the last ones, so the answer is the same before and after others of them get their numbers.
    pub(crate) fn name(&self, kinds: &ReactionKinds) -> ReactionKinds {
        let known = self.known();
        let new = kinds.iter().filter(|(_, name)| known.number(name).is_none()).map(|(_, name)| name);
        let beyond: Vec<_> = new.skip(MOST_KINDS.saturating_sub(known.given.len())).collect();
        let named = kinds.only(|name| !beyond.contains(&name));
        self.change(|known| known.named = named.clone());
        named
    }

    /// The number of each name once those without one get the next ones, and these new names in their order;
    /// `too_many_kinds` for a name without room. The kinds of reactions that are taken keep their room.
    pub(crate) fn numbers<'n>(&self, names: &[&'n str]) -> (Vec<Result<u8>>, Vec<&'n str>) {
        let (known, mut new) = (self.known(), Vec::<&'n str>::new());
        let taken = known.named.iter().map(|(_, name)| name);
        let taken: Vec<_> = taken.filter(|name| known.number(name).is_none()).collect();
        let mut number = |name: &&'n str| {
            let given = || Some((known.given.len() + new.iter().position(|new| new == name)?) as u8);
            if let Some(number) = known.number(name).or_else(given) {
                return Ok(number);
            }
            let number = known.given.len() + new.len();
            let kept = taken.iter().filter(|taken| *taken != name && !new.contains(taken)).count();
            if number + kept >= MOST_KINDS {
                return Err(too_many_kinds(name));
            }
            new.push(*name);
            Ok(number as u8)
        };
        (names.iter().map(&mut number).collect(), new)
    }

    /// Gives the next numbers to new names. Their rows are to be written, see [`Kinds::take_back`].
    pub(crate) fn give(&self, new: &[&str]) -> Result<WriteBatch> {
        let mut rows = WriteBatch::default();
        for (number, name) in (self.known().given.len()..).zip(new) {
            KINDS.put(&mut rows, [self.0 as u8, number as u8], &Text((*name).to_owned()))?;
        }
        if !new.is_empty() {
            // At once: a reader of an item or a reaction knows its kind.
            self.change(|known| known.given.extend(new.iter().map(|name| (*name).to_owned())));
        }
        Ok(rows)
    }

    /// Forgets a number and all later ones, whose rows are not written.
    pub(crate) fn take_back(&self, number: u8) {
        self.change(|known| known.given.truncate(usize::from(number)));
    }

    /// Reads the names of a directory.
    fn load(&self, database: &Database) -> Result<()> {
        let (before, mut names) = (self.known().given.len(), Vec::new());
        database.now(Tier::Disk).each_row(&KINDS, &[self.0 as u8], |key, name| {
            if key.first() != Some(&(self.0 as u8)) {
                return go_on(false);
            }
            let name = std::str::from_utf8(name).ok().filter(|_| key[1..] == [(before + names.len()) as u8]);
            names.push(name.ok_or_else(|| Error::Corrupt("the names of kinds".to_owned()))?.to_owned());
            go_on(true)
        })?;
        self.change(|known| known.given.append(&mut names));
        Ok(())
    }
}

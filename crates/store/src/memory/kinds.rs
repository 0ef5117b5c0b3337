//! Names of kinds, each with the byte that stands for it in rows.
//!
//! A name gets the next byte in the first change that has a row with it, and keeps the byte for ever. The nodes of a
//! cluster make the same changes one after the other, so they give the same bytes.

use std::sync::Arc;

use parking_lot::{RwLock, RwLockReadGuard};

use crate::rows::batch::WriteBatch;
use crate::rows::tables::KINDS;
use crate::{Rocks, storage};
use model::error::{Error, Result};
use model::store::too_many_kinds;
use model::{ReactionKind, ReactionKinds};

/// Most names of one sort.
const MOST: usize = 250;

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

/// The kinds of reactions.
#[derive(Debug, Default)]
pub(crate) struct Kinds(RwLock<Known>);

/// The names at one time.
#[derive(Debug, Default)]
pub(crate) struct Known {
    /// Those that are taken and shown.
    named: ReactionKinds,
    /// All names with a byte, which is their place here.
    given: Vec<String>,
    /// The names on disk: the first ones.
    written: usize,
}

/// The rows of new names in a change.
#[must_use = "the names count as not written"]
pub(crate) struct NewKinds {
    kinds: Arc<Kinds>,
    until: usize,
}

impl NewKinds {
    /// The change is written.
    pub(crate) fn written(self) {
        let mut known = self.kinds.0.write();
        known.written = known.written.max(self.until);
    }
}

impl Known {
    fn byte_of(&self, name: &str) -> Option<u8> {
        self.given.iter().position(|given| given == name).map(|place| place as u8)
    }

    /// The byte of a kind, if it was ever used.
    pub(crate) fn byte(&self, kind: ReactionKind) -> Option<u8> {
        self.byte_of(self.named.name(kind))
    }

    /// The kind with a byte, if it is taken and shown.
    pub(crate) fn kind(&self, byte: u8) -> Option<ReactionKind> {
        self.named.named(self.given.get(usize::from(byte))?)
    }

    /// The kinds that were ever used, with their bytes.
    pub(crate) fn used(&self) -> impl Iterator<Item = (ReactionKind, u8)> {
        self.named.iter().filter_map(|(kind, name)| Some((kind, self.byte_of(name)?)))
    }

    /// All bytes with a name.
    pub(crate) fn bytes(&self) -> impl Iterator<Item = u8> + use<> {
        0..self.given.len() as u8
    }

    /// The name of a byte.
    pub(crate) fn name(&self, byte: u8) -> Option<&str> {
        self.given.get(usize::from(byte)).map(String::as_str)
    }
}

impl Kinds {
    pub(crate) fn known(&self) -> RwLockReadGuard<'_, Known> {
        self.0.read()
    }

    /// Names the kinds; see [`Reacting::name_reactions`](model::store::Reacting::name_reactions). Names without room are
    /// the last ones, so the answer is the same before and after others of them get their bytes.
    pub(crate) fn name(&self, kinds: &ReactionKinds) -> ReactionKinds {
        let mut known = self.0.write();
        let new = kinds.iter().filter(|(_, name)| known.byte_of(name).is_none()).map(|(_, name)| name);
        let beyond: Vec<_> = new.skip(MOST.saturating_sub(known.given.len())).collect();
        known.named = kinds.only(|name| !beyond.contains(&name));
        known.named.clone()
    }

    /// The byte of a kind, which gets one if it has none.
    pub(crate) fn give(&self, kind: ReactionKind) -> Result<u8> {
        if let Some(byte) = self.known().byte(kind) {
            return Ok(byte);
        }
        let mut known = self.0.write();
        let name = known.named.name(kind).to_owned();
        if known.byte_of(&name).is_none() {
            if name.is_empty() || known.given.len() == MOST {
                return Err(Error::Corrupt("a kind of reactions without a name".to_owned()));
            }
            known.given.push(name.clone());
        }
        known.byte_of(&name).ok_or_else(|| Error::Corrupt("a kind of reactions without a byte".to_owned()))
    }

    /// Gives bytes to names in their order, and says for each whether it had none. The kinds that are taken keep their room.
    pub(crate) fn give_all(&self, names: &[String]) -> Vec<Result<bool>> {
        let mut known = self.0.write();
        let give = |name: &String| {
            if known.byte_of(name).is_some() {
                return Ok(false);
            }
            let kept = known.named.iter().filter(|(_, named)| named != name && known.byte_of(named).is_none()).count();
            if known.given.len() + kept >= MOST {
                return Err(too_many_kinds(name));
            }
            known.given.push(name.clone());
            Ok(true)
        };
        names.iter().map(give).collect()
    }
}

impl Rocks {
    /// Reads the names of a directory.
    pub(crate) fn load_kinds(&self) -> Result<()> {
        let mut rows = self.whole(KINDS, None)?;
        rows.seek([Sort::Reactions as u8]);
        let mut known = self.kinds.0.write();
        while let Some((key, name)) = rows.item().filter(|(key, _)| key.first() == Some(&(Sort::Reactions as u8))) {
            let name = std::str::from_utf8(name).ok().filter(|_| key[1..] == [known.given.len() as u8]);
            known.given.push(name.ok_or_else(|| Error::Corrupt("the names of kinds".to_owned()))?.to_owned());
            rows.next();
        }
        known.written = known.given.len();
        rows.status().map_err(storage)
    }

    /// Adds to a change the rows of all names that are not written yet: so bytes have no gaps, whichever change is
    /// written first.
    pub(crate) fn put_kinds(&self, change: &mut WriteBatch) -> Option<NewKinds> {
        let known = self.kinds.known();
        let until = known.given.len();
        if known.written == until {
            return None;
        }
        for (byte, name) in known.given.iter().enumerate().skip(known.written) {
            change.put(KINDS, [Sort::Reactions as u8, byte as u8], name.as_bytes());
        }
        Some(NewKinds { kinds: Arc::clone(&self.kinds), until })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Options;

    fn kinds(names: &[&str]) -> ReactionKinds {
        ReactionKinds::new(names.iter().map(|name| (*name).to_owned()).collect()).expect("names")
    }

    fn names(kinds: &ReactionKinds) -> Vec<String> {
        kinds.clone().into()
    }

    #[test]
    fn a_name_keeps_its_byte_and_comes_back_with_the_setting() {
        let dir = tempfile::tempdir().expect("temp dir");
        let store = Rocks::open(&Options::new(dir.path())).expect("opens");
        let all = kinds(&["a", "b", "👏"]);
        assert_eq!(store.kinds.name(&all), all);
        let [a, b, clap] = ["a", "b", "👏"].map(|name| all.named(name).expect("there"));
        assert_eq!(store.kinds.known().byte(clap), None);
        assert_eq!((store.kinds.give(clap).expect("gives"), store.kinds.give(a).expect("gives")), (0, 1));
        let mut change = WriteBatch::default();
        let new = store.put_kinds(&mut change).expect("new names");
        assert_eq!(change.rows.len(), 2, "also the name that another change gave");
        store.commit(change, false).expect("writes");
        new.written();
        assert!(store.put_kinds(&mut WriteBatch::default()).is_none());
        assert_eq!(store.kinds.give(b).expect("gives"), 2, "never written");
        drop(store);
        let store = Rocks::open(&Options::new(dir.path())).expect("opens");
        store.kinds.name(&kinds(&["b", "a"]));
        let known = store.kinds.known();
        assert_eq!(known.used().map(|(kind, byte)| (kind.place(), byte)).collect::<Vec<_>>(), [(1, 1)]);
        assert_eq!((known.kind(0), known.kind(1).map(ReactionKind::place), known.kind(2)), (None, Some(1), None));
        assert_eq!((known.name(0), known.bytes().collect::<Vec<_>>()), (Some("👏"), vec![0, 1]));
    }

    #[test]
    fn names_beyond_the_bytes_are_left_out_whichever_got_theirs() {
        let all = Kinds::default();
        let many: Vec<_> = (0..248).map(|n| n.to_string()).collect();
        all.0.write().given = many;
        let wanted = kinds(&["x", "7", "y", "z", "8"]);
        let usable = ["x", "7", "y", "8"].map(str::to_owned);
        assert_eq!(names(&all.name(&wanted)), usable);
        let y = all.known().named.named("y").expect("there");
        assert_eq!(all.give(y).expect("gives"), 248);
        assert_eq!(names(&all.name(&wanted)), usable);
        let x = all.known().named.named("x").expect("there");
        assert_eq!(all.give(x).expect("gives"), 249);
        assert_eq!(names(&all.name(&wanted)), usable);
    }
}

//! Compares the counts of users and of items with the rows that they count, in one walk over these in the order of their
//! owners.

use std::collections::{BTreeMap, BTreeSet};

use super::Audit;
use super::window::Window;
use crate::rows::keys::{self, Counter};
use crate::rows::mirrors::subject;
use crate::rows::table::AnyTable;
use crate::rows::tables::{ALL, CONTENT, COUNTS, ITEM_COUNTS, OUTBOX_ARCHIVE, REACTIONS};
use crate::rows::values;
use kv::Rows;
use model::error::Result;
use model::{Cursor, ItemCounter};

/// Keys between two calls of the watch.
const LOOKS: u64 = 1000;

/// A count of an owner.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Counted {
    /// By the last byte of a user's counter.
    OfUser(Counter),
    /// By [`ItemCounter`].
    Pointing(usize),
    /// By the byte of the kind.
    Reaction(u8),
}

/// The counts of one owner that are not zero.
type Sums = BTreeMap<Counted, i64>;

/// The count to which a row adds, by its key; `None` if that cannot be read.
type CountedBy = Box<dyn Fn(&[u8]) -> Option<Counted>>;

/// A walk over rows that count, in the order of their owners, whose ids come first in the keys.
struct Walk<'a> {
    rows: Rows<'a>,
    counted: CountedBy,
    /// The floor of the present owner: rows at or below it do not count.
    floor: Option<Cursor>,
}

impl<'a> Walk<'a> {
    fn new(mut rows: Rows<'a>, start: u64, counted: impl Fn(&[u8]) -> Option<Counted> + 'static) -> Self {
        rows.seek(keys::id(start));
        Self { rows, counted: Box::new(counted), floor: None }
    }

    /// The owner of the next row. Skips keys that cannot be read; the check of the rows reports them.
    fn owner(&mut self) -> Option<u64> {
        while let Some(key) = self.rows.key() {
            if let Some(owner) = keys::number(key).filter(|_| (self.counted)(key).is_some()) {
                return Some(owner);
            }
            self.rows.next();
        }
        None
    }

    /// Adds the rows of an owner, if it is the next one.
    fn add(&mut self, owner: u64, sums: &mut Sums) -> Result<()> {
        self.floor = None;
        while self.owner() == Some(owner)
            && let Some((key, value)) = self.rows.item()
        {
            if keys::is_head(key) {
                self.floor = values::read_cursor(value);
            } else if self.floor.is_none() || keys::place(key).map(|(_, place)| place) > self.floor {
                sums.extend((self.counted)(key).map(|counted| (counted, sums.get(&counted).unwrap_or(&0) + 1)));
            }
            self.rows.next();
        }
        self.rows.status()
    }
}

impl Audit<'_> {
    /// A user's followees, followers, friends and live items on the own page.
    pub(super) fn user_counts(&mut self) -> Result<()> {
        let mut walks = Vec::new();
        for (table, counter) in ALL.iter().filter_map(|table| Some((*table, table.counter?))) {
            // The head of partition 0 belongs to no user.
            let start = u64::from(table == OUTBOX_ARCHIVE);
            walks.push(Walk::new(self.whole(table)?, start, move |_| Some(Counted::OfUser(counter))));
        }
        self.compare(&COUNTS, walks, 0, Window::new(0, 0))
    }

    /// An item's reactions, and the live comments on it and reposts of it. These are counted for so many items in one pass.
    pub(super) fn item_counts(&mut self, most: usize) -> Result<()> {
        let mut from = Some(0);
        while let Some(start) = from {
            let mut window = Window::<Sums>::new(start, most);
            self.each_batch(&CONTENT, |audit, rows| {
                let stored = rows.iter().filter_map(|row| row.fact().item());
                for stored in stored.filter(|stored| stored.deleted_at.is_none()) {
                    let content = &stored.content;
                    // Comments on and reposts of a purged item count nowhere.
                    let subject = subject(audit.store, content)?.zip(ItemCounter::of_kind(&content.kind));
                    if let Some((subject, counter)) = subject
                        && let Some(sums) = window.at(subject.get())
                    {
                        *sums.entry(Counted::Pointing(counter as usize)).or_default() += 1;
                    }
                }
                Ok(())
            })?;
            from = window.end();
            let reaction = |key: &[u8]| keys::read(key).map(|(_, kind, _): (u64, _, u64)| Counted::Reaction(kind));
            let reactions = Walk::new(self.whole(&REACTIONS)?, start, reaction);
            self.compare(&ITEM_COUNTS, vec![reactions], start, window)?;
        }
        Ok(())
    }

    /// Compares the counts of owners from a first one on with rows and with what is counted already.
    fn compare(&mut self, table: AnyTable, mut walks: Vec<Walk<'_>>, start: u64, window: Window<Sums>) -> Result<()> {
        let end = window.end();
        let is_in = |id: &u64| end.is_none_or(|end| *id < end);
        let mut counted = window.into_known();
        let mut rows = self.whole(table)?;
        rows.seek(keys::id(start));
        for done in 1.. {
            let of_row = owner(&mut rows);
            let of_rows = walks.iter_mut().filter_map(Walk::owner).chain(of_row).filter(is_in).min();
            let Some(owner) = of_rows.into_iter().chain(counted.keys().next().copied()).min() else { break };
            let mut sums = counted.remove(&owner).unwrap_or_default();
            walks.iter_mut().try_for_each(|walk| walk.add(owner, &mut sums))?;
            let (mut stored, mut is_read) = (Sums::new(), true);
            while let Some((key, value)) = rows.item().filter(|(key, _)| keys::number(key) == Some(owner)) {
                match counts(table, key, value) {
                    Some(counts) => stored.extend(counts),
                    // The check of the rows reports it.
                    None => is_read = table == COUNTS,
                }
                rows.next();
            }
            rows.status()?;
            let all: BTreeSet<_> = stored.keys().chain(sums.keys()).copied().collect();
            for what in all.into_iter().filter(|_| is_read) {
                let [stored, sum] = [&stored, &sums].map(|counts| counts.get(&what).copied().unwrap_or_default());
                if stored != sum {
                    self.differs(owner, what, stored, sum);
                }
            }
            if done % LOOKS == 0 {
                self.findings.watch.looked_at(table.name, done)?;
            }
        }
        Ok(())
    }

    /// Reports a count that is not the sum.
    fn differs(&mut self, owner: u64, what: Counted, count: i64, sum: i64) {
        let (of, name) = match what {
            Counted::OfUser(counter) => ("user", counter.name().to_owned()),
            Counted::Pointing(counter) => ("content", ["comments", "reposts"][counter].to_owned()),
            Counted::Reaction(kind) => ("content", self.findings.kind(kind)),
        };
        let owner = self.findings.id(owner);
        self.findings.find(format!("{of} {owner}: count of {name} is {count}, expected {sum}"));
    }
}

/// The owner of the next row. Skips keys that are too short to have one; the check of the rows reports them.
fn owner(rows: &mut Rows<'_>) -> Option<u64> {
    while let Some(key) = rows.key() {
        if let Some(number) = keys::number(key) {
            return Some(number);
        }
        rows.next();
    }
    None
}

/// The counts in a row; `None` if it cannot be read.
fn counts(table: AnyTable, key: &[u8], value: &[u8]) -> Option<Vec<(Counted, i64)>> {
    if table == COUNTS {
        let (_, counter): (u64, _) = keys::read(key)?;
        return Some(vec![(Counted::OfUser(counter), values::read_count(value)?)]);
    }
    keys::read::<u64>(key)?;
    let steps = values::read_item_counts(value)?;
    let pointing = steps.pointing.into_iter().enumerate().map(|(counter, count)| (Counted::Pointing(counter), count));
    Some(pointing.chain(steps.reactions.into_iter().map(|(kind, count)| (Counted::Reaction(kind), count))).collect())
}

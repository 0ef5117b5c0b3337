//! Compares the counts of users and of items with the counted rows.

use std::collections::BTreeSet;

use super::Audit;
use super::content::read;
use super::groups::Groups;
use super::names::one;
use super::window::{self, Window};
use crate::access::staged::Rows;
use crate::rows::keys;
use crate::rows::keys::Counter;
use crate::rows::tables::{
    CONTENT, COUNTS, FOLLOWERS, FOLLOWING, FRIENDS_BY_TIME, ITEM_COUNTS, OUTBOX, OUTBOX_ARCHIVE, REACTIONS, Table,
};
use crate::rows::values;
use crate::rows::values::ItemSteps;
use model::ItemCounter;
use model::error::Result;

/// Items whose comments and reposts one pass counts.
pub(super) const WINDOW: usize = window::MOST;

/// Keys between two calls of the watch.
const LOOKS: u64 = 1000;

impl Audit<'_> {
    /// A user's followees, followers, friends and live items on the own page.
    pub(super) fn user_counts(&mut self) -> Result<()> {
        let groups = |table, start| Groups::new(self.store.whole(table)?, start, None);
        let mut counted = [
            (Counter::Following, groups(FOLLOWING, 0)?),
            (Counter::Followers, groups(FOLLOWERS, 0)?),
            (Counter::Friends, groups(FRIENDS_BY_TIME, 0)?),
            (Counter::Content, groups(OUTBOX, 0)?),
            // The head of partition 0 belongs to no user.
            (Counter::Content, groups(OUTBOX_ARCHIVE, 1)?),
        ];
        let mut rows = self.store.whole(COUNTS)?;
        rows.seek_to_first();
        for done in 1.. {
            let listed = counted.iter().filter_map(|(_, groups)| groups.peek()).min();
            let of_row = self.next_of(COUNTS, &mut rows);
            let Some(user) = listed.into_iter().chain(of_row).min() else { break };
            let mut sums = [0_u64; 5];
            for (counter, groups) in &mut counted {
                sums[*counter as usize] += groups.take(user)?;
            }
            let mut stored = [0_i64; 5];
            while let Some((key, value)) = rows.item().filter(|(key, _)| keys::number(key) == Some(user)) {
                let what = usize::from(key.get(keys::ID).copied().unwrap_or_default());
                match values::read_count(value).filter(|_| key.len() == keys::ID + 1 && (1..5).contains(&what)) {
                    Some(count) => stored[what] = count,
                    None => self.has(COUNTS, key, ", which cannot be read"),
                }
                rows.next();
            }
            rows.status()?;
            for (what, name) in [(1, "following"), (2, "follower"), (3, "friend"), (4, "content")] {
                if u64::try_from(stored[what]) != Ok(sums[what]) {
                    let user = self.id(user);
                    self.find(format!("user {user}: {name} count is {}, expected {}", stored[what], sums[what]));
                }
            }
            if done % LOOKS == 0 {
                self.watch.looked_at(COUNTS.name, done)?;
            }
        }
        Ok(())
    }

    /// The owner of the next row. Reports and skips keys that are too short to have an owner.
    fn next_of(&mut self, table: Table, rows: &mut Rows<'_>) -> Option<u64> {
        while let Some(key) = rows.key() {
            if let Some(number) = keys::number(key) {
                return Some(number);
            }
            self.has(table, key, ", which cannot be read");
            rows.next();
        }
        None
    }

    /// An item's reactions, and the live comments on it and reposts of it.
    pub(super) fn item_counts(&mut self, most: usize) -> Result<()> {
        let mut from = Some(0);
        while let Some(start) = from {
            let mut window = Window::<[i64; 2]>::new(start, most);
            self.each_batch(CONTENT, |audit, rows| {
                for stored in rows.iter().filter_map(read).filter(|stored| stored.deleted_at.is_none()) {
                    let content = stored.content;
                    // Comments on and reposts of a purged item count nowhere.
                    let subject = audit.store.subject(&content)?;
                    if let Some((subject, counter)) = subject.zip(ItemCounter::of_kind(&content.kind))
                        && let Some(counts) = window.at(subject.get())
                    {
                        counts[counter as usize] += 1;
                    }
                }
                Ok(())
            })?;
            from = window.end();
            self.compare_items(start, window)?;
        }
        Ok(())
    }

    fn compare_items(&mut self, start: u64, window: Window<[i64; 2]>) -> Result<()> {
        let end = window.end();
        let is_in = |id: &u64| end.is_none_or(|end| *id < end);
        let mut reactions = self.store.whole(REACTIONS)?;
        reactions.seek(keys::id(start));
        let mut pointing = window.into_known().into_iter().peekable();
        let mut rows = self.store.whole(ITEM_COUNTS)?;
        rows.seek(keys::id(start));
        for done in 1.. {
            let of_row = self.next_of(ITEM_COUNTS, &mut rows).filter(is_in);
            let reacted = next_reaction(&mut reactions).map(|(id, _)| id).filter(is_in);
            let listed = pointing.peek().map(|(id, _)| *id);
            let Some(id) = reacted.into_iter().chain(listed).chain(of_row).min() else { break };
            let mut sums = ItemSteps::default();
            if let Some((_, counts)) = pointing.next_if(|(next, _)| *next == id) {
                sums.pointing = counts;
            }
            while let Some((_, kind)) = next_reaction(&mut reactions).filter(|(item, _)| *item == id) {
                *sums.reactions.entry(kind).or_default() += 1;
                reactions.next();
            }
            reactions.status()?;
            let mut stored = Some(ItemSteps::default());
            if of_row == Some(id)
                && let Some((key, value)) = rows.item()
            {
                stored = values::read_item_counts(value).filter(|_| one(key).is_some());
                if stored.is_none() {
                    self.has(ITEM_COUNTS, key, ", which cannot be read");
                }
                rows.next();
            }
            rows.status()?;
            if let Some(stored) = stored.filter(|stored| *stored != sums) {
                self.differ(id, &stored, &sums);
            }
            if done % LOOKS == 0 {
                self.watch.looked_at(ITEM_COUNTS.name, done)?;
            }
        }
        Ok(())
    }

    /// Reports the counts of an item that are not the sums.
    fn differ(&mut self, id: u64, stored: &ItemSteps, sums: &ItemSteps) {
        let both = |steps: &ItemSteps, kind| steps.reactions.get(&kind).copied().unwrap_or_default();
        let pointing = ["comments", "reposts"].map(str::to_owned).into_iter();
        let mut all: Vec<_> = pointing.zip(stored.pointing.into_iter().zip(sums.pointing)).collect();
        let kinds: BTreeSet<_> = stored.reactions.keys().chain(sums.reactions.keys()).copied().collect();
        all.extend(kinds.into_iter().map(|kind| (self.kind(kind), (both(stored, kind), both(sums, kind)))));
        let id = self.id(id);
        for (name, (count, sum)) in all.into_iter().filter(|(_, (count, sum))| count != sum) {
            self.find(format!("content {id}: count of {name} is {count}, expected {sum}"));
        }
    }
}

/// The item and the kind of the next reaction. Skips keys that cannot be read; the check of the rows reports them.
fn next_reaction(rows: &mut Rows<'_>) -> Option<(u64, u8)> {
    while let Some(key) = rows.key() {
        if let Some((item, kind, _)) = keys::split_reaction(key) {
            return Some((item, kind));
        }
        rows.next();
    }
    None
}

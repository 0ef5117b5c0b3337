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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Options;
    use crate::Store;
    use model::store::{Batch, Push, Watch};
    use model::{Audience, Content, ContentId, KindId, Publish, Reaction, ReactionKind, UserId};

    #[derive(Default)]
    struct Lines(Vec<String>);

    impl Watch for Lines {
        fn finds(&mut self, line: String) {
            self.0.push(line);
        }

        fn looked_at(&mut self, _table: &'static str, _rows: u64) -> Result<()> {
            Ok(())
        }
    }

    fn publish(store: &Store, id: u64, kind: &str, ref_id: Option<u64>) {
        let number = |raw| ContentId::new(raw).expect("in range");
        let content = Content {
            id: number(id),
            author: UserId::MIN,
            published_at: id,
            edited_at: None,
            kind: kind.to_owned(),
            kind_id: KindId::POST,
            text: None,
            media: "[]".to_owned(),
            topics: vec![],
            ref_id: ref_id.map(number),
            extra: None,
            broadcast: false,
            to: vec![],
            audience: Audience::Public,
            mentions: vec![],
            fingerprint: 1,
        };
        let item = Publish { content, time_given: true, audience_given: true, id_made: false, event: None };
        store.publish(&[item], Batch::Each, Push::Queued).expect("publishes");
    }

    #[test]
    fn items_are_counted_the_same_in_any_number_of_passes() {
        let dir = tempfile::tempdir().expect("temp dir");
        let store = Store::open(&Options::new(dir.path())).expect("opens");
        for id in 1..=9 {
            publish(&store, id, "post", None);
            for n in 0..id % 4 {
                publish(&store, 100 * id + n, if n == 0 { "repost" } else { "comment" }, Some(id));
            }
            for (kind, users) in [(ReactionKind::LIKE, id % 3), (ReactionKind::FAVORITE, id % 5)] {
                let wish = |user| Reaction { user: UserId::new(user).expect("in range"), kind, since: Some(5) };
                let wishes: Vec<_> = (1..=users).map(wish).collect();
                store.react(ContentId::new(id).expect("in range"), &wishes).expect("reacts");
            }
        }
        let found = |most| {
            let mut lines = Lines::default();
            Audit { store: &store, watch: &mut lines, looked: BTreeSet::new() }.item_counts(most).expect("reads");
            lines.0
        };
        for most in [1, 2, 3, 100] {
            assert_eq!(found(most), Vec::<String>::new(), "{most}");
        }
        let disk = store.disk().expect("on disk");
        let table = disk.family(ITEM_COUNTS).expect("a table");
        let steps = |pointing, reactions: &[(u8, i64)]| {
            values::item_counts(&ItemSteps { pointing, reactions: reactions.iter().copied().collect() })
        };
        disk.db.put_cf(table, keys::id(7), steps([-2, 1], &[(0, 1), (1, 3), (9, 1)])).expect("puts");
        disk.db.delete_cf(table, keys::id(9)).expect("deletes");
        disk.db.put_cf(table, keys::id(50), steps([0, 1], &[])).expect("puts");
        disk.db.put_cf(table, keys::id(51), [1]).expect("puts");
        disk.db.put_cf(table, [2], []).expect("puts");
        for most in [1, 2, 3, 100] {
            let mut lines = found(most);
            lines.sort_unstable();
            lines.dedup();
            assert_eq!(
                lines,
                [
                    "content 50: count of reposts is 1, expected 0",
                    "content 51: item_counts has its row, which cannot be read",
                    "content 7: count of \"favorite\" is 3, expected 2",
                    "content 7: count of comments is -2, expected 2",
                    "content 7: count of kind 9 is 1, expected 0",
                    "content 9: count of \"favorite\" is 0, expected 4",
                    "content 9: count of reposts is 0, expected 1",
                    "key 0x02: item_counts has its row, which cannot be read",
                ],
                "{most}"
            );
        }
    }
}

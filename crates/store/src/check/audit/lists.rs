//! Tables of pairs, their lists by time and their mirror images; blocks, which end follows and requests; and the parts of
//! users' lists.

use super::follows::{edge, key};
use super::names::pair;
use super::window::Window;
use super::{Audit, Wanted, Way};
use crate::rows::tables::{ALL, BLOCKS, FOLLOWING, LIST_MARKERS, LIST_MEMBERS, LISTS, REQUESTS, Table};
use crate::rows::{keys, values};
use model::error::Result;

impl Audit<'_> {
    /// Each pair is in the list, and each row of the list has its pair.
    pub(super) fn lists_of_pairs(&mut self) -> Result<()> {
        for (by_time, pairs) in ALL.iter().filter_map(|table| Some((*table, table.lists?))) {
            // Whose list it is, and who is in it; and the pair, from these.
            let turned = |(one, other)| if by_time.lists_for_second { (other, one) } else { (one, other) };
            self.mirror(pairs, Way::Out, |row| {
                let (pair, since) = edge(row)?;
                let (user, listed) = turned(pair);
                Some(vec![Wanted::any(by_time, keys::row(user, since, listed))])
            })?;
            self.mirror(by_time, Way::Back, |row| {
                let (user, since, listed) = keys::split_row(&row.key)?;
                let (first, second) = turned((user, listed));
                Some(vec![Wanted::since(pairs, key(first, second), since)])
            })?;
        }
        Ok(())
    }

    /// Each pair is in the mirror image, and each row of the image has its pair.
    pub(super) fn mirrors_of_pairs(&mut self) -> Result<()> {
        for (image, pairs) in ALL.iter().filter_map(|table| Some((*table, table.mirrors?))) {
            self.mirror(pairs, Way::Out, |row| {
                // Reported with the list if it cannot be read.
                Some(edge(row).map(|((user, target), _)| Wanted::any(image, key(target, user))).into_iter().collect())
            })?;
            self.mirror(image, Way::Back, |row| {
                let (target, user) = pair(&row.key)?;
                Some(vec![Wanted::any(pairs, key(user, target))])
            })?;
        }
        Ok(())
    }

    /// Each member and each marker of a list belongs to a list that there is. Looks at the lists in windows of so many.
    pub(super) fn parts_of_lists(&mut self, most: usize) -> Result<()> {
        let mut from = Some(0);
        while let Some(start) = from {
            let mut window = Window::<()>::new(start, most);
            self.each_batch(LISTS, |_, rows| {
                let lists = rows.iter().filter_map(|row| values::read_list(&row.value).ok());
                lists.for_each(|(id, _)| _ = window.at(id.get()));
                Ok(())
            })?;
            from = window.end();
            let (end, known) = (window.end(), window.into_known());
            for table in [LIST_MEMBERS, LIST_MARKERS] {
                self.without_list(table, start, end, |list| known.contains_key(&list))?;
            }
        }
        Ok(())
    }

    /// Reports the rows of a table of lists from one list to another that belong to no list.
    fn without_list(
        &mut self,
        table: Table,
        start: u64,
        end: Option<u64>,
        is_known: impl Fn(u64) -> bool,
    ) -> Result<()> {
        let mut rows = self.store.whole(table)?;
        rows.seek(keys::id(start));
        while let Some(key) = rows.key() {
            match keys::number(key) {
                Some(list) if end.is_some_and(|end| list >= end) => break,
                Some(list) if !is_known(list) => self.has(table, key, ", but there is no list of this number"),
                // Keys that cannot be read are reported with the table.
                _ => {}
            }
            rows.next();
        }
        rows.status()
    }

    /// No block stands between users of whom one follows the other, or has asked to.
    pub(super) fn blocks(&mut self) -> Result<()> {
        self.each_batch(BLOCKS, |audit, rows| {
            let pairs: Vec<_> = rows.iter().filter_map(|row| Some((row, pair(&row.key)?))).collect();
            for ended in [FOLLOWING, REQUESTS] {
                let both = pairs.iter().flat_map(|(_, (user, target))| [key(*user, *target), key(*target, *user)]);
                for ((row, _), since) in pairs.iter().zip(audit.since(ended, both)?.chunks_exact(2)) {
                    if since.iter().any(Option::is_some) {
                        audit.has(BLOCKS, &row.key, &format!(", which does not agree with {ended}"));
                    }
                }
            }
            Ok(())
        })
    }
}

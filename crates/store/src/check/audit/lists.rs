//! Tables of pairs, their lists by time and their mirror images; and blocks, which end follows and requests.

use super::follows::{edge, key};
use super::names::pair;
use super::{Audit, Wanted, Way};
use crate::rows::keys;
use crate::rows::tables::{ALL, BLOCKS, FOLLOWING, REQUESTS};
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

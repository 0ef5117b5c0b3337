//! Barriers.

use crate::Store;
use crate::access::at::At;
use crate::rows::batch::WriteBatch;
use crate::rows::mirrors::Given;
use crate::rows::tables::{BLOCKED_BY, BLOCKS, FOLLOWING, HIDDEN_TO, LIST_MEMBERS, MUTES, Table, of_barrier};
use crate::rows::{keys, values};
use model::error::{Error, Result};
use model::failpoint::Write;
use model::store::{Barred, Tier};
use model::{Barrier, Effect, Millis, Relation, Rule, ShownSources, UserId};

impl Store {
    /// Raises a barrier of a user against a target since a time, or lifts it (`None`); returns the relation afterwards.
    /// A standing barrier keeps its `since`. A block that is raised ends the follows and requests between the two in the same
    /// change, as unfollows do. Refused with the barrier's own code, and nothing written, if the user would have more than `limit`
    /// of the kind. Acknowledges.
    pub fn set_barrier(
        &self,
        user: UserId,
        target: UserId,
        barrier: Barrier,
        since: Option<Millis>,
        limit: usize,
    ) -> Result<Barred> {
        let Some(relation) = self.relations(user, &[target], Tier::Disk)?.pop() else {
            return Err(Error::Storage("a read of relations returned none".to_owned()));
        };
        let mut batch = WriteBatch::default();
        let mut effects = Vec::new();
        let mut barred = Barred { relation: relation.with_barrier(barrier, since), jobs: [None; 2] };
        match (relation.barred_since(barrier), since) {
            (None, Some(since)) => {
                if self.barred_after(user, barrier, None, limit)?.len() >= limit {
                    let [_, at_limit] = barrier.refusals();
                    return Err(at_limit.into());
                }
                put_barrier(&mut batch, &relation, barrier, [None, Some(since)])?;
                if barrier == Barrier::Block {
                    (barred.jobs, effects) = self.part(&mut batch, &relation)?;
                    barred.relation = Relation {
                        following_since: None,
                        followed_since: None,
                        requested_since: None,
                        rule: None,
                        ..barred.relation
                    };
                }
            }
            (Some(since), None) => put_barrier(&mut batch, &relation, barrier, [Some(since), None])?,
            _ => return Ok(Barred { relation, ..barred }),
        }
        // After the ends of the follows: what is told last is what holds.
        let [raised, lifted] = barrier.effects();
        effects.push(Effect::on(if since.is_some() { raised } else { lifted }, user).target(target));
        self.acknowledge(Write::Barrier, batch, effects, |_| ())?;
        Ok(barred)
    }

    /// The authors whose content a reader sees, ascending: the followees, less those whom the reader mutes, those who hide
    /// from the reader, those with a block between, and the members of the reader's exclusive lists. All of these are of
    /// one instant. Costs no more than a few look-ups for each
    /// followee, however many barriers there are, and next to nothing if there are none. With the rules of the follows, and
    /// with the authors whom the reader silences.
    pub fn authors(&self, reader: UserId, tier: Tier) -> Result<ShownSources> {
        // With two instants, an unfollow and then an unmute between two reads would show items that were never to be
        // seen.
        let snapshot = self.kv.snapshot();
        let at = self.at(&*snapshot, tier);
        let (authors, rules) = at.sources(FOLLOWING, reader)?;
        let (mut authors, silenced) = at.unbarred(reader, authors)?;
        if !authors.is_empty() {
            let lists = at.exclusive_lists(reader)?;
            // Each of them may be long.
            if tier == Tier::Memory && lists.len() > 1 {
                return Err(Error::NotCached);
            }
            for list in lists {
                (authors, _) = at.without_row(LIST_MEMBERS, list, authors, 0)?;
            }
        }
        Ok(ShownSources::new(authors, rules).silencing(silenced))
    }

    /// Those of `users` whose content a reader sees, as [`Store::authors`] has them. Each comes once.
    pub fn authors_among(&self, reader: UserId, users: &[UserId], tier: Tier) -> Result<ShownSources> {
        // One instant, as in `authors`.
        let snapshot = self.kv.snapshot();
        let at = self.at(&*snapshot, tier);
        let mut users = users.to_vec();
        users.sort_unstable();
        users.dedup();
        let (mut authors, mut rules) = (Vec::new(), Vec::new());
        let follows = users.iter().map(|user| keys::pair(reader, *user));
        let follows = at.get_many(FOLLOWING, follows)?;
        for (user, row) in users.into_iter().zip(follows) {
            let Some(row) = row else { continue };
            authors.push(user);
            rules.extend(values::read_rule(&row)?.map(|rule| (user, rule)));
        }
        for table in AGAINST_READER {
            authors = at.with_row(table, reader, authors, false)?;
        }
        if !authors.is_empty() {
            for list in at.exclusive_lists(reader)? {
                authors = at.with_row(LIST_MEMBERS, list, authors, false)?;
            }
        }
        Ok(ShownSources::new(authors, rules))
    }

    /// For each pair of a reader and an author, whether the reader *silences* the author, so is shown nothing of the author
    /// on any path: the reader mutes the author, the author hides from the reader, or a block lies between. As of one
    /// instant.
    pub fn silences(&self, pairs: &[(UserId, UserId)], tier: Tier) -> Result<Vec<bool>> {
        self.have_rows(&AGAINST_READER, pairs, tier)
    }

    /// Those of `users` who hide from a reader, in their order.
    pub fn hiders_among(&self, reader: UserId, users: &[UserId], tier: Tier) -> Result<Vec<UserId>> {
        self.now(tier).with_row(HIDDEN_TO, reader, users.to_vec(), true)
    }

    /// Those of `users` whom a user has blocked, or who have blocked the user, in their order. As of one instant.
    pub fn blocked_among(&self, user: UserId, users: &[UserId], tier: Tier) -> Result<Vec<UserId>> {
        let pairs: Vec<_> = users.iter().map(|other| (user, *other)).collect();
        let blocked = self.have_rows(&[BLOCKS, BLOCKED_BY], &pairs, tier)?;
        Ok(users.iter().zip(blocked).filter(|(_, blocked)| *blocked).map(|(other, _)| *other).collect())
    }

    /// Up to `limit` users above `after` against whom a user has a barrier, ascending.
    pub fn barred_after(
        &self,
        user: UserId,
        barrier: Barrier,
        after: Option<UserId>,
        limit: usize,
    ) -> Result<Vec<UserId>> {
        self.now(Tier::Disk).seconds(of_barrier(barrier).0, user, after, limit)
    }
}

/// Sources with their rules, ascending.
type Rules = Vec<(UserId, Rule)>;

impl Store {
    /// For each pair whether it has a row in one of these tables, as of one instant.
    fn have_rows(&self, of: &[Table], pairs: &[(UserId, UserId)], tier: Tier) -> Result<Vec<bool>> {
        let snapshot = self.kv.snapshot();
        let at = self.at(&*snapshot, tier);
        let mut have = vec![false; pairs.len()];
        for table in of {
            let keys = pairs.iter().map(|(first, second)| keys::pair(*first, *second));
            for (has, row) in have.iter_mut().zip(at.get_many(table, keys)?) {
                *has |= row.is_some();
            }
        }
        Ok(have)
    }
}

impl At<'_> {
    /// The sources in a partition of follows or of members.
    pub(crate) fn sources(&self, table: Table, first: impl Into<u64>) -> Result<(Vec<UserId>, Rules)> {
        let mut rules = Vec::new();
        let sources = self.seconds_with((table, first.into()), None, usize::MAX, |source, row| {
            rules.extend(values::read_rule(row)?.map(|rule| (source, rule)));
            Ok(())
        })?;
        Ok((sources, rules))
    }

    /// Sources, ascending, without those whom a reader silences; and all whom the reader silences, unless there are too
    /// many.
    pub(crate) fn unbarred(
        &self,
        reader: UserId,
        mut sources: Vec<UserId>,
    ) -> Result<(Vec<UserId>, Option<Vec<UserId>>)> {
        let mut silenced = Some(Vec::new());
        for table in AGAINST_READER {
            let (left, barred) = self.without_row(table, reader, sources, ShownSources::MOST_SILENCED)?;
            sources = left;
            silenced = silenced.zip(barred).map(|(silenced, barred)| [silenced, barred].concat());
        }
        Ok((sources, silenced))
    }

    /// Those of `seconds`, ascending, without a row under `first`; and all with a row, ascending, if they are not more than
    /// `most` or than `seconds`. Costs no more than `most` rows and a few look-ups for each of `seconds`, however many rows
    /// there are, and next to nothing if there are none.
    fn without_row(
        &self,
        table: Table,
        first: impl Into<u64> + Copy,
        mut seconds: Vec<UserId>,
        most: usize,
    ) -> Result<(Vec<UserId>, Option<Vec<UserId>>)> {
        let most = seconds.len().max(most);
        let barred = self.seconds(table, first, None, most.saturating_add(1))?;
        if barred.len() > most {
            return Ok((self.with_row(table, first, seconds, false)?, None));
        }
        seconds.retain(|second| barred.binary_search(second).is_err());
        Ok((seconds, Some(barred)))
    }

    /// Those of `seconds` with a row under `first`, or those without one.
    pub(crate) fn with_row(
        &self,
        table: Table,
        first: impl Into<u64> + Copy,
        seconds: Vec<UserId>,
        has_row: bool,
    ) -> Result<Vec<UserId>> {
        let keys = seconds.iter().map(|second| keys::pair(first, *second));
        let mut rows = self.get_many(table, keys)?.into_iter();
        Ok(seconds.into_iter().filter(|_| rows.next().flatten().is_some() == has_row).collect())
    }
}

/// Changes since when a barrier stands; `None` for none.
pub(super) fn put_barrier(
    batch: &mut WriteBatch,
    &Relation { user, target, .. }: &Relation,
    barrier: Barrier,
    since: [Option<Millis>; 2],
) -> Result<()> {
    let since = since.map(|since| since.map(|since| values::millis(since).to_vec()));
    batch.change(of_barrier(barrier).0, keys::pair(user, target), since, &Given::default())
}

/// The tables in which a reader has a row for each author whose content the reader does not see.
const AGAINST_READER: [Table; 4] = [MUTES, HIDDEN_TO, BLOCKS, BLOCKED_BY];

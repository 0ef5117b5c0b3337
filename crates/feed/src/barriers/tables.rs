//! Barriers.

use crate::follows;
use crate::rows::mirrors::Given;
use crate::rows::table::AnyTable;
use crate::rows::tables::{BLOCKED_BY, BLOCKS, HIDDEN_TO, MUTES, of_barrier};
use crate::rows::walk::{have_rows, seconds, with_row};
use crate::store::Store;
use kv::{Tier, WriteBatch};
use model::error::{Error, Result};
use model::failpoint::Write;
use model::{Barrier, Effect, Job, Millis, Relation, UserId};

/// The result of a barrier that was raised or lifted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Barred {
    /// The relation afterwards.
    pub relation: Relation,
    /// The settle jobs of the follows that a block ended: of the user's follow, and of the target's.
    pub jobs: [Option<Job>; 2],
}

/// Raises a barrier of a user against a target since a time, or lifts it (`None`); returns the relation afterwards.
/// A standing barrier keeps its `since`. A block that is raised ends the follows and requests between the two in the same
/// change, as unfollows do. Refused with the barrier's own code, and nothing written, if the user would have more than `limit`
/// of the kind. Acknowledges.
pub fn set_barrier(
    store: &Store,
    user: UserId,
    target: UserId,
    barrier: Barrier,
    since: Option<Millis>,
    limit: usize,
) -> Result<Barred> {
    let Some(relation) = follows::tables::relations(store, user, &[target], Tier::Disk)?.pop() else {
        return Err(Error::Storage("a read of relations returned none".to_owned()));
    };
    let mut batch = WriteBatch::default();
    let mut effects = Vec::new();
    let mut barred = Barred { relation: relation.with_barrier(barrier, since), jobs: [None; 2] };
    match (relation.barred_since(barrier), since) {
        (None, Some(since)) => {
            if barred_after(store, user, barrier, None, limit)?.len() >= limit {
                let [_, at_limit] = barrier.refusals();
                return Err(at_limit.into());
            }
            put_barrier(&mut batch, &relation, barrier, [None, Some(since)])?;
            if barrier == Barrier::Block {
                (barred.jobs, effects) = follows::tables::part(store, &mut batch, &relation)?;
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
    store.acknowledge(Write::Barrier, batch, effects, |_| ())?;
    Ok(barred)
}

/// For each pair of a reader and an author, whether the reader *silences* the author, so is shown nothing of the author
/// on any path: the reader mutes the author, the author hides from the reader, or a block lies between. As of one
/// instant.
pub fn silences(store: &Store, pairs: &[(UserId, UserId)], tier: Tier) -> Result<Vec<bool>> {
    have_rows(store, &AGAINST_READER, pairs, tier)
}

/// Those of `users` who hide from a reader, in their order.
pub fn hiders_among(store: &Store, reader: UserId, users: &[UserId], tier: Tier) -> Result<Vec<UserId>> {
    with_row(store.now(tier), &HIDDEN_TO, reader, users.to_vec(), true)
}

/// Up to `limit` users above `after` against whom a user has a barrier, ascending.
pub fn barred_after(
    store: &Store,
    user: UserId,
    barrier: Barrier,
    after: Option<UserId>,
    limit: usize,
) -> Result<Vec<UserId>> {
    seconds(store.now(Tier::Disk), of_barrier(barrier).0.spec, user, after, limit)
}

/// Changes since when a barrier stands; `None` for none.
pub(crate) fn put_barrier(
    batch: &mut WriteBatch,
    &Relation { user, target, .. }: &Relation,
    barrier: Barrier,
    since: [Option<Millis>; 2],
) -> Result<()> {
    let (table, _) = of_barrier(barrier);
    table.change(batch, (user, target), since.each_ref().map(Option::as_ref), &Given::default())
}

/// The tables in which a reader has a row for each author whose content the reader does not see.
pub(crate) const AGAINST_READER: [AnyTable; 4] = [MUTES.spec, HIDDEN_TO.spec, BLOCKS.spec, BLOCKED_BY.spec];

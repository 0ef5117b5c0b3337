//! Restrictions.

use crate::follows;
use crate::rows::mirrors::Given;
use crate::rows::table::AnyTable;
use crate::rows::tables::{BLOCKED_BY, BLOCKS, HIDDEN_TO, MUTES, of_restriction};
use crate::rows::walk::{have_rows, seconds, with_row};
use crate::store::Store;
use kv::{Tier, WriteBatch};
use model::error::{Error, Result};
use model::failpoint::Write;
use model::{Effect, Job, Millis, Relation, Restriction, UserId};

/// The result of a restriction that was raised or lifted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Restricted {
    /// The relation afterwards.
    pub relation: Relation,
    /// The settle jobs of the follows that a block ended: of the user's follow, and of the target's.
    pub jobs: [Option<Job>; 2],
}

/// Raises a restriction of a user against a target since a time, or lifts it (`None`); returns the relation afterwards.
/// A standing restriction keeps its `since`. A block that is raised ends the follows and requests between the two in the same
/// change, as unfollows do. Refused with the restriction's own code, and nothing written, if the user would have more than `limit`
/// of the kind. Acknowledges.
pub fn set_restriction(
    store: &Store,
    user: UserId,
    target: UserId,
    restriction: Restriction,
    since: Option<Millis>,
    limit: usize,
) -> Result<Restricted> {
    let Some(relation) = follows::tables::relations(store, user, &[target], Tier::Disk)?.pop() else {
        return Err(Error::Storage("a read of relations returned none".to_owned()));
    };
    let mut batch = WriteBatch::default();
    let mut effects = Vec::new();
    let mut restricted = Restricted { relation: relation.with_restriction(restriction, since), jobs: [None; 2] };
    match (relation.restricted_since(restriction), since) {
        (None, Some(since)) => {
            if restricted_after(store, user, restriction, None, limit)?.len() >= limit {
                let [_, at_limit] = restriction.refusals();
                return Err(at_limit.into());
            }
            put_restriction(&mut batch, &relation, restriction, [None, Some(since)])?;
            if restriction == Restriction::Block {
                (restricted.jobs, effects) = follows::tables::part(store, &mut batch, &relation)?;
                restricted.relation = Relation {
                    following_since: None,
                    followed_since: None,
                    requested_since: None,
                    rule: None,
                    ..restricted.relation
                };
            }
        }
        (Some(since), None) => put_restriction(&mut batch, &relation, restriction, [Some(since), None])?,
        _ => return Ok(Restricted { relation, ..restricted }),
    }
    // After the ends of the follows: what is told last is what holds.
    let [raised, lifted] = restriction.effects();
    effects.push(Effect::on(if since.is_some() { raised } else { lifted }, user).target(target));
    store.acknowledge(Write::Restriction, batch, effects)?;
    Ok(restricted)
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

/// Up to `limit` users above `after` against whom a user has a restriction, ascending.
pub fn restricted_after(
    store: &Store,
    user: UserId,
    restriction: Restriction,
    after: Option<UserId>,
    limit: usize,
) -> Result<Vec<UserId>> {
    seconds(store.now(Tier::Disk), of_restriction(restriction).0.spec, user, after, limit)
}

/// Changes since when a restriction stands; `None` for none.
pub(crate) fn put_restriction(
    batch: &mut WriteBatch,
    &Relation { user, target, .. }: &Relation,
    restriction: Restriction,
    since: [Option<Millis>; 2],
) -> Result<()> {
    let (table, _) = of_restriction(restriction);
    table.change(batch, (user, target), since.each_ref().map(Option::as_ref), &Given::default())
}

/// The tables in which a reader has a row for each author whose content the reader does not see.
pub(crate) const AGAINST_READER: [AnyTable; 4] = [MUTES.spec, HIDDEN_TO.spec, BLOCKS.spec, BLOCKED_BY.spec];

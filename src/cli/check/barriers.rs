//! A user's mutes and those from whom it hides: each is stored by id and by time, and a hide also on
//! the reader's side.

use std::collections::BTreeSet;

use super::Findings;
use super::graph::{differences, members};
use crate::error::Result;
use crate::model::{Barrier, Id, Relation, Side, UserCursor, UserId};
use crate::store::{Store, Tier};

/// Rows read at a time.
const PAGE: usize = 1000;

/// Checks the barriers that a user has raised, and those that others have raised against it.
pub(super) fn check(store: &Store, user: UserId, findings: &mut Findings) -> Result<()> {
    for (barrier, side, what) in
        [(Barrier::Mute, Side::Muted, "mutes"), (Barrier::Hide, Side::HiddenFrom, "hidden-from")]
    {
        let by_id = pages(|after| store.barred_after(user, barrier, after, PAGE))?;
        let by_time = members(store, user, side)?;
        let all: BTreeSet<_> = by_id.iter().copied().chain(by_time.iter().map(|place| place.id)).collect();
        let all: Vec<_> = all.into_iter().collect();
        let mut relations = Vec::with_capacity(all.len());
        for part in all.chunks(PAGE) {
            relations.extend(store.relations(user, part, Tier::Disk)?);
        }
        for line in compare(user, what, barrier, &by_id, &by_time, &relations) {
            findings.add(|| line);
        }
        if barrier == Barrier::Hide {
            for target in by_id {
                if store.hiders_after(target, user.next_smaller(), 1)? != [user] {
                    findings.add(|| format!("user {user}: hides from {target}, who does not know of it"));
                }
            }
        }
    }
    for owner in pages(|after| store.hiders_after(user, after, PAGE))? {
        if store.relations(owner, &[user], Tier::Disk)?.iter().all(|relation| relation.hidden_since.is_none()) {
            findings.add(|| format!("user {user}: is said to be hidden from by {owner}, who does not hide"));
        }
    }
    Ok(())
}

/// Compares the two lists of a barrier with the user's relations to all who are listed in either.
fn compare(
    user: UserId,
    what: &str,
    barrier: Barrier,
    by_id: &[UserId],
    by_time: &[UserCursor],
    relations: &[Relation],
) -> Vec<String> {
    let place = |relation: &Relation| relation.barred_since(barrier).map(|at| UserCursor { at, id: relation.target });
    let related: Vec<_> = relations.iter().filter_map(place).collect();
    let ids: Vec<_> = related.iter().map(|place| place.id).collect();
    let mut lines = differences(user, what, by_id, &ids);
    lines.extend(differences(user, &format!("{what} list"), by_time, &related));
    lines
}

/// All pages of a list in the order of its ids.
fn pages(read: impl Fn(Option<UserId>) -> Result<Vec<UserId>>) -> Result<Vec<UserId>> {
    let mut all: Vec<UserId> = Vec::new();
    loop {
        let page = read(all.last().copied())?;
        if page.is_empty() {
            return Ok(all);
        }
        all.extend(page);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn user(raw: u64) -> UserId {
        UserId::new(raw).expect("in range")
    }

    #[test]
    fn both_lists_are_compared_with_the_relations() {
        let relation = |target, muted_since| Relation { muted_since, ..Relation::none(user(1), user(target)) };
        let relations = [relation(2, Some(20)), relation(3, Some(10)), relation(4, None)];
        let at = |at, id| UserCursor { at, id: user(id) };
        let lines = |by_id: &[u64], by_time: &[UserCursor]| {
            let by_id: Vec<_> = by_id.iter().copied().map(user).collect();
            compare(user(1), "mutes", Barrier::Mute, &by_id, by_time, &relations)
        };
        assert_eq!(lines(&[2, 3], &[at(20, 2), at(10, 3)]), Vec::<String>::new());
        assert_eq!(lines(&[2], &[at(20, 2), at(10, 3)]), ["user 1: mutes lacks 3"]);
        assert_eq!(lines(&[2, 3, 4], &[at(20, 2), at(10, 3)]), ["user 1: mutes has 4 that is no relation"]);
        assert_eq!(lines(&[2, 3], &[at(20, 2)]), ["user 1: mutes list lacks 10-3"]);
        let moved = lines(&[2, 3], &[at(21, 2), at(10, 3)]);
        assert_eq!(moved, ["user 1: mutes list lacks 20-2", "user 1: mutes list has 21-2 that is no relation"]);
    }
}

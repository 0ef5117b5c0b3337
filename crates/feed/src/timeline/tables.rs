//! The sources of a timeline.

use crate::lists::tables::exclusive_lists;
use crate::restrictions::tables::AGAINST_READER;
use crate::rows::table::AnyTable;
use crate::rows::tables::{FOLLOWING, LIST_MEMBERS};
use crate::rows::values;
use crate::rows::walk::{seconds, seconds_with, with_row};
use crate::store::Store;
use kv::{At, Tier};
use model::error::{Error, Result};
use model::{ListId, Rule, ShownSources, UserId};

/// The authors whose content a reader sees, ascending: the followees, less those whom the reader mutes, those who hide
/// from the reader, those with a block between, and the members of the reader's exclusive lists. All of these are of
/// one instant. Costs no more than a few look-ups for each
/// followee, however many restrictions there are, and next to nothing if there are none. With the rules of the follows, and
/// with the authors whom the reader silences.
pub fn authors(store: &Store, reader: UserId, tier: Tier) -> Result<ShownSources> {
    // With two instants, an unfollow and then an unmute between two reads would show items that were never to be
    // seen.
    let snapshot = store.kv().snapshot();
    let at = store.at(&snapshot, tier);
    let (authors, rules) = sources(at, &FOLLOWING, reader)?;
    let (mut authors, silenced) = unrestricted(at, reader, authors)?;
    if !authors.is_empty() {
        let lists = exclusive_lists(at, reader)?;
        // Each of them may be long.
        if tier == Tier::Memory && lists.len() > 1 {
            return Err(Error::NotCached);
        }
        for list in lists {
            (authors, _) = without_row(at, &LIST_MEMBERS, list, authors, 0)?;
        }
    }
    Ok(ShownSources::new(authors, rules).silencing(silenced))
}

/// Those of `users` whose content a reader sees, as [`authors`] has them. Each comes once.
pub fn authors_among(store: &Store, reader: UserId, users: &[UserId], tier: Tier) -> Result<ShownSources> {
    // One instant, as in `authors`.
    let snapshot = store.kv().snapshot();
    let at = store.at(&snapshot, tier);
    let mut users = users.to_vec();
    users.sort_unstable();
    users.dedup();
    let (mut authors, mut rules) = (Vec::new(), Vec::new());
    let follows = FOLLOWING.get_many(at, users.iter().map(|user| (reader, *user)))?;
    for (user, follow) in users.into_iter().zip(follows) {
        let Some(follow) = follow else { continue };
        authors.push(user);
        rules.extend(follow.rule.map(|rule| (user, rule)));
    }
    for table in AGAINST_READER {
        authors = with_row(at, table, reader, authors, false)?;
    }
    if !authors.is_empty() {
        for list in exclusive_lists(at, reader)? {
            authors = with_row(at, &LIST_MEMBERS, list, authors, false)?;
        }
    }
    Ok(ShownSources::new(authors, rules))
}

/// The members of a list whose content its user is shown, ascending: less those whom the user mutes and those who hide
/// from the user, as in [`authors`]. All of one instant. With the rules of the
/// members.
pub fn list_authors(store: &Store, reader: UserId, list: ListId, tier: Tier) -> Result<ShownSources> {
    let snapshot = store.kv().snapshot();
    let at = store.at(&snapshot, tier);
    let (members, rules) = sources(at, &LIST_MEMBERS, list)?;
    let (members, silenced) = unrestricted(at, reader, members)?;
    Ok(ShownSources::new(members, rules).silencing(silenced))
}

/// Sources with their rules, ascending.
type Rules = Vec<(UserId, Rule)>;

/// The sources in a partition of follows or of members.
fn sources(at: At<'_>, table: AnyTable, first: impl Into<u64>) -> Result<(Vec<UserId>, Rules)> {
    let mut rules = Vec::new();
    let sources = seconds_with(at, (table, first.into()), None, usize::MAX, |source, row| {
        rules.extend(values::read_rule(row)?.map(|rule| (source, rule)));
        Ok(())
    })?;
    Ok((sources, rules))
}

/// Sources, ascending, without those whom a reader silences; and all whom the reader silences, unless there are too
/// many.
fn unrestricted(at: At<'_>, reader: UserId, mut sources: Vec<UserId>) -> Result<(Vec<UserId>, Option<Vec<UserId>>)> {
    let mut silenced = Some(Vec::new());
    for table in AGAINST_READER {
        let (left, restricted) = without_row(at, table, reader, sources, ShownSources::MOST_SILENCED)?;
        sources = left;
        silenced = silenced.zip(restricted).map(|(silenced, restricted)| [silenced, restricted].concat());
    }
    Ok((sources, silenced))
}

/// Those of `among`, ascending, without a row under `first`; and all with a row, ascending, if they are not more than
/// `most` or than `among`. Costs no more than `most` rows and a few look-ups for each of `among`, however many rows
/// there are, and next to nothing if there are none.
fn without_row(
    at: At<'_>,
    table: AnyTable,
    first: impl Into<u64> + Copy,
    mut among: Vec<UserId>,
    most: usize,
) -> Result<(Vec<UserId>, Option<Vec<UserId>>)> {
    let most = among.len().max(most);
    let restricted = seconds(at, table, first, None, most.saturating_add(1))?;
    if restricted.len() > most {
        return Ok((with_row(at, table, first, among, false)?, None));
    }
    among.retain(|second| restricted.binary_search(second).is_err());
    Ok((among, Some(restricted)))
}

//! Reactions: by item and user, in the list of the item, and in that of the user.

use super::{Audit, Row, Wanted, Way};
use crate::rows::keys::Partition;
use crate::rows::tables::{REACTIONS, REACTIONS_BY_TIME, REACTIONS_BY_USER};
use crate::rows::{keys, values};
use model::error::Result;
use model::{ContentId, Millis, UserId};

impl Audit<'_> {
    pub(super) fn reactions(&mut self) -> Result<()> {
        self.reactions_by_item()?;
        self.mirror(REACTIONS_BY_TIME, Way::Back, |row| {
            let ((item, kind), since, user) = <(u64, u8)>::split(&row.key)?;
            Some(vec![Wanted::new(REACTIONS, key(item, kind, user)?, values::millis(since))])
        })?;
        self.reactions_by_user()
    }

    fn reactions_by_item(&mut self) -> Result<()> {
        self.each_batch(REACTIONS, |audit, rows| {
            let reactions: Vec<_> = rows.iter().map(reaction).collect();
            let items = audit.contents(reactions.iter().map(|found| ContentId::new(found.as_ref()?.0.0).ok()))?;
            let mut wanted = Vec::new();
            for ((row, found), item) in rows.iter().zip(reactions).zip(items) {
                let Some(((id, kind, user), since)) = found else {
                    audit.unreadable(REACTIONS, row);
                    continue;
                };
                if audit.store.kinds.known().name(kind).is_none() {
                    audit.has(REACTIONS, &row.key, ", but the kind has no name");
                }
                wanted.push((row, Wanted::any(REACTIONS_BY_TIME, keys::kind_row((id, kind), since, user))));
                match item {
                    None => audit.has(REACTIONS, &row.key, ", but the item does not exist"),
                    Some(stored) => {
                        let place = stored.content.cursor();
                        let by_user = keys::kind_row((user, kind), place.at, place.id.get());
                        let listed = values::listed(&stored.content.entry());
                        wanted.push((row, Wanted::new(REACTIONS_BY_USER, by_user, listed)));
                    }
                }
            }
            audit.look_up(REACTIONS, Way::Out, &wanted)
        })
    }

    fn reactions_by_user(&mut self) -> Result<()> {
        self.each_batch(REACTIONS_BY_USER, |audit, rows| {
            let places: Vec<_> = rows.iter().map(|row| <(u64, u8)>::split(&row.key)).collect();
            let items = audit.contents(places.iter().map(|place| ContentId::new(place.as_ref()?.2).ok()))?;
            let mut wanted = Vec::new();
            for ((row, place), item) in rows.iter().zip(places).zip(items) {
                let reaction = place.and_then(|((user, kind), at, id)| Some((key(id, kind, user)?, at)));
                let Some((reaction, at)) = reaction else {
                    audit.unreadable(REACTIONS_BY_USER, row);
                    continue;
                };
                let is_right = item.is_some_and(|stored| {
                    stored.content.published_at == at && row.value[..] == values::listed(&stored.content.entry())
                });
                if is_right {
                    wanted.push((row, Wanted::any(REACTIONS, reaction)));
                } else {
                    audit.has(REACTIONS_BY_USER, &row.key, ", which does not agree with content");
                }
            }
            audit.look_up(REACTIONS_BY_USER, Way::Back, &wanted)
        })
    }
}

/// The key of a reaction; `None` if an id is out of range.
fn key(item: u64, kind: u8, user: u64) -> Option<[u8; 17]> {
    Some(keys::reaction(ContentId::new(item).ok()?, kind, UserId::new(user).ok()?))
}

/// The item, the kind, the user and the time of a row.
fn reaction(row: &Row) -> Option<((u64, u8, u64), Millis)> {
    let since = keys::number(&row.value).filter(|_| row.value.len() == keys::ID)?;
    Some((keys::split_reaction(&row.key)?, since))
}

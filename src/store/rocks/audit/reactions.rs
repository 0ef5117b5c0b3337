//! Reactions: by item and user, in the list of the item, and in that of the user.

use super::super::tables::{REACTIONS, REACTIONS_BY_TIME, REACTIONS_BY_USER};
use super::super::{keys, values};
use super::follows::{edge, key};
use super::names::split_reaction;
use super::{Audit, Wanted, Way, has};
use crate::error::Result;
use crate::model::{ContentId, ReactionKind};

impl Audit<'_> {
    pub(super) fn reactions(&mut self) -> Result<()> {
        self.each_batch(REACTIONS, |audit, rows| {
            let edges: Vec<_> = rows.iter().map(edge).collect();
            let item = |partition: u64| ContentId::new(split_reaction(partition).1).ok();
            let items = audit.contents(edges.iter().map(|edge| item(edge.as_ref()?.0.0)))?;
            let mut wanted = Vec::new();
            for ((row, edge), item) in rows.iter().zip(edges).zip(items) {
                let Some(((partition, user), since)) = edge else {
                    audit.unreadable(REACTIONS, row);
                    continue;
                };
                wanted.push((row, Wanted::any(REACTIONS_BY_TIME, keys::row(partition, since, user))));
                match item {
                    None => audit.find(has(REACTIONS, &row.key, ", but the item does not exist")),
                    Some(stored) => {
                        let place = stored.content.cursor();
                        let of_user = keys::reactions(user, split_reaction(partition).0);
                        let by_user = keys::row(of_user, place.at, place.id.get());
                        let author = values::author(stored.content.author);
                        wanted.push((row, Wanted::new(REACTIONS_BY_USER, by_user, author)));
                    }
                }
            }
            audit.look_up(REACTIONS, Way::Out, &wanted)
        })?;
        self.mirror(REACTIONS_BY_TIME, Way::Back, |row| {
            let (partition, since, user) = keys::split_row(&row.key)?;
            Some(vec![Wanted::new(REACTIONS, key(partition, user), values::millis(since))])
        })?;
        self.reactions_by_user()
    }

    fn reactions_by_user(&mut self) -> Result<()> {
        self.each_batch(REACTIONS_BY_USER, |audit, rows| {
            let places: Vec<_> = rows.iter().map(|row| keys::split_row(&row.key)).collect();
            let items = audit.contents(places.iter().map(|place| ContentId::new(place.as_ref()?.2).ok()))?;
            let mut wanted = Vec::new();
            for ((row, place), item) in rows.iter().zip(places).zip(items) {
                let Some((partition, at, id)) = place else {
                    audit.unreadable(REACTIONS_BY_USER, row);
                    continue;
                };
                let is_right = item.is_some_and(|stored| {
                    stored.content.published_at == at && row.value[..] == values::author(stored.content.author)
                });
                if is_right {
                    let (kind, user): (ReactionKind, u64) = split_reaction(partition);
                    wanted.push((row, Wanted::any(REACTIONS, key(keys::reactions(id, kind), user))));
                } else {
                    audit.find(has(REACTIONS_BY_USER, &row.key, ", which does not agree with content"));
                }
            }
            audit.look_up(REACTIONS_BY_USER, Way::Back, &wanted)
        })
    }
}

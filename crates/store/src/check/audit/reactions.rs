//! Reactions: by item and user, in the list of the item, and in that of the user.

use super::follows::{edge, key};
use super::{Audit, Wanted, Way};
use crate::rows::reaction_tables::{ReactionTables, of_kind};
use crate::rows::{keys, values};
use model::error::Result;
use model::{ContentId, ReactionKind};

impl Audit<'_> {
    pub(super) fn reactions(&mut self) -> Result<()> {
        for kind in ReactionKind::ALL {
            let tables = of_kind(kind);
            self.reactions_by_item(&tables)?;
            self.mirror(tables.by_time, Way::Back, |row| {
                let (item, since, user) = keys::split_row(&row.key)?;
                Some(vec![Wanted::new(tables.rows, key(item, user), values::millis(since))])
            })?;
            self.reactions_by_user(&tables)?;
        }
        Ok(())
    }

    fn reactions_by_item(&mut self, tables: &ReactionTables) -> Result<()> {
        self.each_batch(tables.rows, |audit, rows| {
            let edges: Vec<_> = rows.iter().map(edge).collect();
            let items = audit.contents(edges.iter().map(|edge| ContentId::new(edge.as_ref()?.0.0).ok()))?;
            let mut wanted = Vec::new();
            for ((row, edge), item) in rows.iter().zip(edges).zip(items) {
                let Some(((id, user), since)) = edge else {
                    audit.unreadable(tables.rows, row);
                    continue;
                };
                wanted.push((row, Wanted::any(tables.by_time, keys::row(id, since, user))));
                match item {
                    None => audit.has(tables.rows, &row.key, ", but the item does not exist"),
                    Some(stored) => {
                        let place = stored.content.cursor();
                        let by_user = keys::row(user, place.at, place.id.get());
                        let author = values::author(stored.content.author);
                        wanted.push((row, Wanted::new(tables.by_user, by_user, author)));
                    }
                }
            }
            audit.look_up(tables.rows, Way::Out, &wanted)
        })
    }

    fn reactions_by_user(&mut self, tables: &ReactionTables) -> Result<()> {
        self.each_batch(tables.by_user, |audit, rows| {
            let places: Vec<_> = rows.iter().map(|row| keys::split_row(&row.key)).collect();
            let items = audit.contents(places.iter().map(|place| ContentId::new(place.as_ref()?.2).ok()))?;
            let mut wanted = Vec::new();
            for ((row, place), item) in rows.iter().zip(places).zip(items) {
                let Some((user, at, id)) = place else {
                    audit.unreadable(tables.by_user, row);
                    continue;
                };
                let is_right = item.is_some_and(|stored| {
                    stored.content.published_at == at && row.value[..] == values::author(stored.content.author)
                });
                if is_right {
                    wanted.push((row, Wanted::any(tables.rows, key(id, user))));
                } else {
                    audit.has(tables.by_user, &row.key, ", which does not agree with content");
                }
            }
            audit.look_up(tables.by_user, Way::Back, &wanted)
        })
    }
}

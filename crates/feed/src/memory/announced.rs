//! Memory follows the rows: a change of rows is announced before anyone can read them, and ends once they are written, or have
//! failed. The declarations of tables tell what is kept of their rows.

use super::Memory;
use crate::rows::keys;
use crate::rows::table::{AnyTable, Kept};
use crate::rows::tables::ALL;
use crate::rows::values::{Number, Value};
use kv::{Op, WriteBatch};
use model::cache::CacheChange;
use model::failpoint::Write;
use model::versions::Thing;
use model::{Activity, ContentId, TopicId, Unpushed, UserId};

/// The end of the change of a row. Until then a cache takes in nothing of it.
pub(crate) enum End {
    /// What a cache has changes until this is dropped.
    Changing(CacheChange),
    /// What is kept changes now.
    Step(Step),
}

/// A step that gets to know whether the row is written.
type Step = Box<dyn FnOnce(&Memory, bool) + Send>;

impl End {
    fn step(step: impl FnOnce(&Memory, bool) + Send + 'static) -> Self {
        Self::Step(Box::new(step))
    }

    fn once_written(step: impl FnOnce(&Memory) + Send + 'static) -> Self {
        Self::step(move |memory, is_written| {
            if is_written {
                step(memory);
            }
        })
    }
}

/// The things that rows concern: answers that depend on them are read again. No answer depends on an item that is not
/// published yet.
pub(crate) fn things(what: Option<Write>, rows: &WriteBatch) -> impl Iterator<Item = Thing> {
    rows.rows().filter_map(move |(table, key, _)| {
        let first = keys::number(key);
        match ALL.get(table.place)?.kept? {
            Kept::Contents if what == Some(Write::Publish) => None,
            Kept::Contents | Kept::Counts => ContentId::new(first?).ok().map(Thing::Item),
            Kept::Outboxes | Kept::Summaries => UserId::new(first?).ok().map(Thing::User),
            Kept::Reactions => Some(Thing::User(reacting(key)?)),
            _ => None,
        }
    })
}

/// The user of a reaction.
fn reacting(key: &[u8]) -> Option<UserId> {
    keys::read(key).map(|(_, _, user): (ContentId, u8, UserId)| user)
}

impl Memory {
    /// Announces a change of rows.
    pub(crate) fn announce(&self, rows: &WriteBatch) -> Vec<End> {
        let announced = rows.rows().filter_map(|(table, key, op)| {
            let table = ALL.get(table.place)?;
            self.announce_row(table, table.kept?, key, op)
        });
        announced.collect()
    }

    /// `None` if there is nothing left to do.
    fn announce_row(&self, table: AnyTable, kept: Kept, key: &[u8], op: Op<&[u8]>) -> Option<End> {
        let put = if let Op::Put(value) = op { Some(value) } else { None };
        let first = keys::number(key);
        let user = || UserId::new(first?).ok();
        let text = || Some(Box::<str>::from(std::str::from_utf8(key).ok()?));
        let number = || Number::read(key, put?).ok().map(|Number(number)| number);
        Some(match kept {
            Kept::Filter => {
                // A reader that finds the id here looks up the row.
                put.and(first).into_iter().for_each(|id| self.loaded.filter(table).add(id));
                return None;
            }
            Kept::Activities => {
                let (user, after) = (user()?, put.and_then(|value| Activity::read(key, value).ok()));
                let seen = after.and_then(|activity| activity.seen());
                if after == Some(Activity::Evicted) {
                    // A reader that finds a user here looks up the row.
                    self.loaded.filter(table).add(user.get());
                }
                // A fan-out that chooses after a read of the row chooses this user.
                seen.into_iter().for_each(|seen| self.loaded.partial_push_recipients.set(user, seen));
                let changing = self.inboxes.activities.change(user);
                End::once_written(move |memory| {
                    if let Some(activity) = after {
                        memory.inboxes.activities.written(user, activity, changing);
                    }
                    if seen.is_none() {
                        memory.loaded.partial_push_recipients.remove(user);
                    }
                })
            }
            Kept::Contents => End::Changing(self.shown.contents.change(ContentId::new(first?).ok()?)),
            Kept::Counts => End::Changing(self.shown.item_counts.change(ContentId::new(first?).ok()?)),
            Kept::Inboxes => End::Changing(self.inboxes.rows.change(user()?)),
            Kept::Outboxes => {
                let (author, place) = keys::read(key)?;
                End::Changing(self.outboxes.parts.change(author, place))
            }
            Kept::Reactions => End::Changing(self.shown.newest_reactions.change(reacting(key)?)),
            Kept::Topics => End::Changing(self.topics.ends.change(TopicId::new(first?).ok()?)),
            Kept::Unpushed => {
                let author = user()?;
                let after = put.and_then(|value| Unpushed::read(key, value).ok()).unwrap_or_default();
                End::once_written(move |memory| memory.loaded.unpushed.set(author, after))
            }
            Kept::Erasing => {
                let (user, after) = (user()?, put.is_some());
                let before = self.erasing.has(user);
                self.erasing.set(user, before || after);
                let summary = self.shown.summaries.change(user);
                End::step(move |memory, is_written| {
                    memory.erasing.set(user, if is_written { after } else { before });
                    drop(summary);
                })
            }
            Kept::Kinds => {
                let [sort, number] = *key else { return None };
                End::step(move |memory, is_written| {
                    if !is_written {
                        memory.kinds.of(sort).take_back(number);
                    }
                })
            }
            Kept::Names => {
                let (name, number) = (text()?, number());
                End::step(move |memory, is_written| match number {
                    Some(number) => {
                        memory.names.numbers.end(&name, number, is_written);
                        if is_written {
                            memory.names.names.insert(number, name.into());
                        }
                    }
                    None if is_written => memory.names.numbers.forget(&name),
                    None => {}
                })
            }
            // A name that is removed.
            Kept::NamesByNumber if put == Some(&[]) => {
                let number = first?;
                End::once_written(move |memory| memory.names.names.remove(&number))
            }
            Kept::NamesByNumber => return None,
            Kept::Summaries => End::Changing(self.shown.summaries.change(user()?)),
            Kept::TopicIds => {
                let (name, number) = (text()?, number()?);
                End::step(move |memory, is_written| memory.topics.ids.end(&name, number, is_written))
            }
        })
    }
}

//! Changes and reads of likes and favorites, each compared with the model.

use tideline::model::{ContentId, PageRequest, Position, Reacted, Reaction, ReactionKind, Reactions, Span, UserId};

use super::case::Case;
use super::change::{expect_code, expect_not_found};
use super::names::{USERS, everybody, member, user};
use super::ops::{Ask, Place};
use super::read::read;
use crate::model::{Item, page};

/// A requested reaction: user, kind, and its time or `None` to remove it.
pub(crate) type Wish = (u64, ReactionKind, Option<u64>);

impl Case {
    /// One wish, or concurrent ones of different users or kinds.
    pub(crate) fn react(&mut self, index: usize, wishes: &[Wish]) -> Result<(), String> {
        let Some(Item { id, .. }) = self.nth(index) else { return Ok(()) };
        let feed = &self.system.feed;
        let reaction = |(who, kind, since): &Wish| Reaction { user: user(*who), kind: *kind, since: *since };
        let answers: Vec<_> = match wishes {
            [one] => vec![feed.react(id, reaction(one))],
            several => std::thread::scope(|threads| {
                let started: Vec<_> =
                    several.iter().map(|wish| threads.spawn(move || feed.react(id, reaction(wish)))).collect();
                started.into_iter().map(|thread| thread.join().expect("no panic")).collect()
            }),
        };
        let live = self.model.live(id).is_some();
        for (wish, answer) in wishes.iter().zip(answers) {
            match answer {
                Err(error) if wish.2.is_some_and(|since| self.is_ahead(since)) => {
                    expect_code(&error, "time_ahead")?;
                    continue;
                }
                answer if !live => {
                    expect_not_found(answer)?;
                    continue;
                }
                _ => {}
            }
            ensure!(wish.2.is_none_or(|since| !self.is_ahead(since)), "a reaction with a time to come: {answer:?}");
            let Reacted { since, changed, counts } = answer.map_err(|e| format!("a reaction fails: {e}"))?;
            let Reaction { user, kind, since: wanted } = reaction(wish);
            let before = self.model.reactions.get(&(id, kind, user)).copied();
            let after = wanted.map(|wanted| before.unwrap_or(wanted));
            ensure_eq!((since, changed), (after, after != before), "{kind:?} of {id} by {user}");
            match after {
                Some(since) => self.model.reactions.insert((id, kind, user), since),
                None => self.model.reactions.remove(&(id, kind, user)),
            };
            if wishes.len() == 1 {
                ensure_eq!(
                    (counts.likes, counts.favorites),
                    self.model.reaction_counts(id),
                    "counts of {id}, answered"
                );
            }
        }
        if live { self.read_reaction_counts(id) } else { Ok(()) }
    }

    fn read_reaction_counts(&self, id: ContentId) -> Result<(), String> {
        let counts = read(true, |tier| self.system.store().item_counts(&[id], tier))?[0];
        ensure_eq!((counts.likes, counts.favorites), self.model.reaction_counts(id), "counts of {id}");
        Ok(())
    }

    /// The users who reacted to an item.
    pub(crate) fn read_reactors(&self, index: usize, kind: ReactionKind, ask: &Ask) -> Result<(), String> {
        let Some(Item { id, deleted, .. }) = self.nth(index) else { return Ok(()) };
        let whole = self.model.reactors(id, kind);
        let bound = |wanted: Option<Place>| {
            wanted.map(|wanted| match wanted {
                Place::Of(index) if !whole.is_empty() => whole[index % whole.len()],
                Place::Of(_) => member(3, user(1)),
                Place::At(at, number) => member(at, user(USERS[number as usize % USERS.len()])),
            })
        };
        let request =
            PageRequest { span: Span { before: bound(ask.before), after: bound(ask.after) }, limit: ask.limit };
        if deleted {
            return expect_not_found(self.system.feed.reactors(id, kind, &request, tideline::store::Tier::Disk));
        }
        let is = read(ask.inline, |tier| self.system.feed.reactors(id, kind, &request, tier))?;
        let should_be = page(&whole, |place: &Position<UserId>| *place, &request);
        ensure_eq!(is, should_be, "{kind:?} of {id}, {request:?}");
        self.read_reaction_counts(id)
    }

    /// The items that a user reacted to, and the user's flags on all items.
    pub(crate) fn read_reacted_by(&self, raw: u64, kind: ReactionKind, ask: &Ask) -> Result<(), String> {
        let (me, request) = (user(raw), self.content_request(ask));
        let is = read(ask.inline, |tier| self.system.feed.reacted_by(me, kind, &request, tier))?;
        let should_be = page(&self.model.reacted_by(me, kind), |entry| entry.cursor, &request);
        ensure_eq!(is, should_be, "{kind:?} by {me}, {request:?}");
        // Reactions to deleted items are kept or purged; no answer shows them.
        let live = self.model.items.iter().filter(|item| !item.deleted);
        let ids: Vec<_> = live.map(|item| item.id).collect();
        let flags = read(ask.inline, |tier| self.system.store().reacted(me, &ids, tier))?;
        let has = |id: &ContentId, kind| self.model.reactions.contains_key(&(*id, kind, me));
        let of = |id| Reactions { liked: has(id, ReactionKind::Like), favorited: has(id, ReactionKind::Favorite) };
        ensure_eq!(flags, ids.iter().map(of).collect::<Vec<_>>(), "flags of {me}");
        Ok(())
    }

    /// All reactions of all users.
    pub(crate) fn read_all_reactions(&self) -> Result<(), String> {
        let ask = Ask { before: None, after: None, limit: 100, inline: false };
        for kind in ReactionKind::ALL {
            (0..self.model.items.len()).try_for_each(|index| self.read_reactors(index, kind, &ask))?;
            everybody().try_for_each(|who| self.read_reacted_by(who.get(), kind, &ask))?;
        }
        Ok(())
    }
}

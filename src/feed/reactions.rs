//! Likes and favorites, and the lists that come of them.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::Arc;

use super::reaction_queues::{Lead, OnDone, ReactionUsage};
use super::{Feed, Held, Sight};
use crate::clock::now;
use crate::error::{Code, Error, Result};
use crate::model::{
    ContentId, Cursor, Entry, HostId, Millis, Order, Page, PageRequest, Reacted, Reaction, ReactionKind, Span,
    UserCursor, UserId,
};
use crate::store::Tier;
use crate::sync::{Condvar, Mutex};

/// One line of an import: a reaction of a user to an item.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reacting {
    /// The item.
    pub content: HostId,
    /// The user.
    pub user: HostId,
    /// Like or favorite.
    pub kind: ReactionKind,
    /// Time of the reaction; the server's clock if left out.
    pub since: Option<Millis>,
}

impl Feed {
    /// Adds or removes a reaction; `told` gets the result. Does not block: a returned lead must be passed to
    /// [`Feed::lead`] on a thread that may block.
    ///
    /// `time_ahead`, or `overloaded` if too many wait; then `told` is not called. It may get `content_not_found`, or
    /// `overloaded` if the lead is dropped.
    pub fn ask_reaction(&self, id: ContentId, wish: Reaction, told: OnDone) -> Result<Option<Lead>> {
        if let Some(since) = wish.since {
            self.not_ahead("since", since)?;
        }
        self.reaction_queues.join(id, wish, told)
    }

    /// Writes the waiting reactions of one item, and those that come meanwhile.
    pub fn lead(&self, lead: Lead) {
        lead.take(|id, wishes| self.store.react(id, wishes));
    }

    /// [`Feed::ask_reaction`] for a caller that waits.
    pub fn react(&self, id: ContentId, wish: Reaction) -> Result<Reacted> {
        let answer = Arc::new((Mutex::new(None), Condvar::new()));
        let told = {
            let answer = Arc::clone(&answer);
            Box::new(move |result| {
                *answer.0.lock() = Some(result);
                answer.1.notify_one();
            })
        };
        if let Some(lead) = self.ask_reaction(id, wish, told)? {
            self.lead(lead);
        }
        let mut slot = answer.0.lock();
        loop {
            if let Some(result) = slot.take() {
                return result;
            }
            answer.1.wait(&mut slot);
        }
    }

    /// Applies each valid line. Returns for each whether it is new. Lines of one item are written together, in their
    /// order; a line without a time gets the server's clock. The queues are not used: nothing else runs beside an
    /// import.
    pub fn import_reactions(&self, lines: &[Reacting]) -> Result<Vec<Result<bool>>> {
        let now = now();
        let mut items: BTreeMap<ContentId, Vec<usize>> = BTreeMap::new();
        let mut results: Vec<_> = lines.iter().map(|_| Ok(false)).collect();
        let ids: Vec<ContentId> =
            self.look_up(&lines.iter().map(|line| &line.content).collect::<Vec<_>>(), Tier::Disk)?;
        let live: HashSet<_> = self.contents(&ids, Tier::Disk)?.iter().map(|content| content.id).collect();
        let mut accepted = Vec::with_capacity(lines.len());
        for (place, (line, id)) in lines.iter().zip(ids).enumerate() {
            let time = line.since.map_or(Ok(()), |since| self.not_ahead("since", since));
            let is_live = if live.contains(&id) { Ok(()) } else { Err(Error::content_not_found()) };
            // Before its name gets a number.
            match time.and(is_live).and_then(|()| self.find::<UserId>(&line.user, Tier::Disk)) {
                Ok(_) => accepted.push((place, id)),
                Err(error) if error.code().is_some_and(|code| code.status() < 500) => results[place] = Err(error),
                Err(error) => return Err(error),
            }
        }
        let held: Held<UserId> = self.hold(accepted.iter().map(|(place, _)| &lines[*place].user))?;
        let users: HashMap<usize, UserId> =
            accepted.iter().map(|(place, _)| *place).zip(held.ids.iter().copied()).collect();
        for (place, id) in accepted {
            items.entry(id).or_default().push(place);
        }
        for (id, places) in items {
            let wish = |place: &usize| {
                let Reacting { kind, since, .. } = lines[*place];
                Reaction { user: users[place], kind, since: Some(since.unwrap_or(now)) }
            };
            match self.store.react(id, &places.iter().map(wish).collect::<Vec<_>>()) {
                Ok(reacted) => {
                    places.into_iter().zip(reacted).for_each(|(place, reacted)| results[place] = Ok(reacted.changed));
                }
                Err(error) if error.code() == Some(Code::ContentNotFound) => {
                    places.into_iter().for_each(|place| results[place] = Err(Error::content_not_found()));
                }
                Err(error) => return Err(error),
            }
        }
        Ok(results)
    }

    /// A page of the users who reacted to an item; `content_not_found` if it does not exist.
    pub fn reactors(
        &self,
        id: ContentId,
        kind: ReactionKind,
        request: &PageRequest<UserId>,
        tier: Tier,
    ) -> Result<Page<UserCursor, UserId>> {
        self.must_be_there(id, tier)?;
        let found = self.store.reactors(id, kind, request.span, request.order(), request.limit + 1, tier)?;
        let older_exist = |place| {
            let span = Span { before: Some(place), after: None };
            Ok(!self.store.reactors(id, kind, span, Order::NewestFirst, 1, tier)?.is_empty())
        };
        Page::from_walk(request, found, |place| *place, older_exist)
    }

    /// A page of the live content that a user reacted to, newest content first. [`Sight::Own`] leaves out items whose
    /// authors hide from the user now.
    pub fn reacted_by(
        &self,
        user: UserId,
        kind: ReactionKind,
        sight: Sight,
        request: &PageRequest<ContentId>,
        tier: Tier,
    ) -> Result<Page<Entry, ContentId>> {
        let all = |span, order, limit| self.store.reacted_by(user, kind, span, order, limit, tier);
        let first = |span, order, limit| match sight {
            Sight::All => all(span, order, limit),
            Sight::Own => self.unhidden(user, span, order, limit, tier, all),
        };
        let found = first(request.span, request.order(), request.limit + 1)?;
        let older_exist = |place: Cursor| {
            let span = Span { before: Some(place), after: None };
            Ok(!first(span, Order::NewestFirst, 1)?.is_empty())
        };
        Page::from_walk(request, found, |entry| entry.cursor, older_exist)
    }

    /// The queues of reactions in figures.
    pub fn reaction_usage(&self) -> ReactionUsage {
        self.reaction_queues.usage()
    }
}

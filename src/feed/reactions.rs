//! Likes and favorites, and the lists that come of them.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::Feed;
use super::reaction_queues::{LanesUsage, Lead, OnDone};
use crate::clock::now;
use crate::error::{Code, Error, Result};
use crate::model::{
    ContentId, Cursor, Entry, Millis, Order, Page, PageRequest, Reacted, Reaction, ReactionKind, Span, UserCursor,
    UserId,
};
use crate::store::Tier;
use crate::sync::{Condvar, Mutex};

/// One line of an import: who reacted to what, and since when.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Reacting {
    /// To which item.
    pub content: ContentId,
    /// Who.
    pub user: UserId,
    /// How.
    pub kind: ReactionKind,
    /// Since when; the server's clock if left out.
    pub since: Option<Millis>,
}

impl Feed {
    /// Lets a user react to an item, or no longer; `told` learns what it is then. Does not block: the
    /// lead, if there is one, is to be taken with [`Feed::lead`] on a thread that may.
    ///
    /// `time_ahead`, or `overloaded` if too many wait, and then `told` learns nothing. It may learn of `content_not_found`,
    /// or `overloaded` if the lead is dropped.
    pub fn ask_reaction(&self, id: ContentId, wish: Reaction, told: OnDone) -> Result<Option<Lead>> {
        if let Some(since) = wish.since {
            self.not_ahead("since", since)?;
        }
        self.reaction_queues.join(id, wish, told)
    }

    /// Writes reactions of one item, and those that come meanwhile.
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

    /// Lets users react, each line that can be; for each whether it is new. Lines of one item are written
    /// together, in their order; a line without a time gets the server's clock. Not through the lanes: an
    /// import has nobody beside it.
    pub fn import_reactions(&self, lines: &[Reacting]) -> Result<Vec<Result<bool>>> {
        let now = now();
        let mut items: BTreeMap<ContentId, Vec<usize>> = BTreeMap::new();
        let mut results: Vec<_> = lines.iter().map(|_| Ok(false)).collect();
        for (place, line) in lines.iter().enumerate() {
            match line.since.map_or(Ok(()), |since| self.not_ahead("since", since)) {
                Ok(()) => items.entry(line.content).or_default().push(place),
                Err(refused) => results[place] = Err(refused),
            }
        }
        for (id, places) in items {
            let wish = |place: &usize| {
                let Reacting { user, kind, since, .. } = lines[*place];
                Reaction { user, kind, since: Some(since.unwrap_or(now)) }
            };
            match self.store.react(id, &places.iter().map(wish).collect::<Vec<_>>()) {
                Ok(reacted) => {
                    places.into_iter().zip(reacted).for_each(|(place, reacted)| results[place] = Ok(reacted.changed));
                }
                Err(error) if error.code() == Some(Code::ContentNotFound) => {
                    places.into_iter().for_each(|place| results[place] = Err(Error::content_not_found(id)));
                }
                Err(error) => return Err(error),
            }
        }
        Ok(results)
    }

    /// A page of those who reacted to an item; `content_not_found` if it is not there.
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

    /// A page of the live content that a user reacted to, newest content first.
    pub fn reacted_by(
        &self,
        user: UserId,
        kind: ReactionKind,
        request: &PageRequest<ContentId>,
        tier: Tier,
    ) -> Result<Page<Entry, ContentId>> {
        let found = self.store.reacted_by(user, kind, request.span, request.order(), request.limit + 1, tier)?;
        let older_exist = |place: Cursor| {
            let span = Span { before: Some(place), after: None };
            Ok(!self.store.reacted_by(user, kind, span, Order::NewestFirst, 1, tier)?.is_empty())
        };
        Page::from_walk(request, found, |entry| entry.cursor, older_exist)
    }

    /// The lanes of reactions in figures.
    pub fn reaction_lanes(&self) -> LanesUsage {
        self.reaction_queues.usage()
    }
}

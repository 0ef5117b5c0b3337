//! Reactions, and the lists that come of them.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use super::command::{Change, NumberReactions, React, Wish};
use super::entry_times::EntryList;
use super::queues::{Bounds, Lead, OnDone, QueueUsage};
use crate::streaming::ChangeTime;
use crate::{Feed, Held, Visibility};
use model::error::{Code, Error, Result};
use model::sync::{Condvar, Mutex};
use model::versions::Thing;
use model::{ContentId, HostId, Reacted, Reaction, ReactionKind, UserId};

/// Of reactions that wait or are being written.
pub(crate) const BOUNDS: Bounds<Wish> = Bounds {
    what: "reactions",
    in_queue: 4096,
    in_all: 16_384,
    in_write: 1024,
    bytes_in_write: usize::MAX,
    bytes: |_| 0,
};

impl Feed {
    /// Adds or removes a reaction; `told` gets the result. Does not block: a returned lead must be passed to
    /// [`Feed::lead`] on a thread that may block.
    ///
    /// `overloaded` if too many wait; then `told` is not called. It may get `invalid_kind`, `invalid_id`, `time_ahead`,
    /// `content_not_found` if the item is not live, this or `blocked` if it is not for the user by the rules of
    /// [`Read::find_item`](crate::Read::find_item), or `overloaded` if the lead is dropped.
    pub fn ask_reaction(&self, item: HostId, wish: Wish, told: OnDone<Reacted>) -> Result<Option<Lead>> {
        let head = self.reaction_queues.join(item, wish, told)?;
        let write =
            |feed: &Feed, item: &HostId, wishes| feed.submit(React { item: item.clone(), wishes, imported: false });
        Ok(head.map(|head| Lead::new(move |feed| head.lead(|item, wishes| write(feed, item, wishes)))))
    }

    /// [`Feed::ask_reaction`] for a caller that waits.
    pub fn react(&self, item: HostId, wish: Wish) -> Result<Reacted> {
        let answer = Arc::new((Mutex::new(None), Condvar::new()));
        let told = {
            let answer = Arc::clone(&answer);
            Box::new(move |result| {
                *answer.0.lock() = Some(result);
                answer.1.notify_one();
            })
        };
        if let Some(lead) = self.ask_reaction(item, wish, told)? {
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

    /// The kind of reactions with a name; `invalid_kind` if it is none of those that are taken.
    pub fn reaction_kind(&self, name: &str) -> Result<ReactionKind> {
        let refusal = || {
            let names: Vec<_> = self.reaction_kinds().iter().map(|(_, name)| format!("{name:?}")).collect();
            let names = names.join(", ");
            Error::refused(Code::InvalidKind, format!("kind: expected one of reactions.kinds ({names}), not {name:?}"))
        };
        self.reaction_kinds().named(name).ok_or_else(refusal)
    }

    /// The queues of reactions in figures.
    pub fn reaction_usage(&self) -> QueueUsage {
        self.reaction_queues.usage()
    }
}

impl Change for NumberReactions {
    type Outcome = Vec<Result<bool>>;

    fn apply(self, feed: &Feed, _: ChangeTime) -> Result<Self::Outcome> {
        feed.store.number_reactions(&self.kinds)
    }
}

impl Change for React {
    type Outcome = Vec<Result<Reacted>>;

    const NOTIFIES: bool = true;

    /// Applies wishes in their order, in one change. Returns the result of each. Only a reaction that is added gives a number
    /// to a name.
    fn apply(self, feed: &Feed, at: ChangeTime) -> Result<Self::Outcome> {
        let Self { item, wishes, imported } = &self;
        let id = feed.read().known(item)?;
        let found = match imported {
            true => feed.read().live_contents(&[id])?,
            false => feed.read().contents(&[id])?,
        };
        let author = found.first().map(|content| content.author);
        let is_live = author.is_some();
        let users: Vec<UserId> = feed.read().look_up(&wishes.iter().map(|wish| &wish.user).collect::<Vec<_>>())?;
        let accept = |wish: &Wish, user| -> Result<(UserId, ReactionKind)> {
            let kind = feed.reaction_kind(&wish.kind)?;
            // Alone: the wishes of others come in the same change.
            feed.refuse_erasing([&wish.user])?;
            // Before the rest, so that an item that is not for the user gets the answer of one that does not exist.
            if wish.sight == Visibility::User || id == ContentId::UNKNOWN {
                feed.read().find_item(item, &wish.user, wish.sight)?;
            }
            if user == UserId::UNKNOWN {
                feed.accepts(&wish.user)?;
            }
            if let Some(since) = wish.since.filter(|_| wish.active) {
                feed.not_ahead("since", since, at)?;
            }
            if is_live { Ok((user, kind)) } else { Err(Error::content_not_found()) }
        };
        let accepted: Vec<_> = wishes.iter().zip(users).map(|(wish, user)| (wish, accept(wish, user))).collect();
        // A failure of this server is no refusal.
        let is_failure = |error: &&Error| error.code().is_none_or(|code| code.status() >= 500);
        if let Some(failure) = accepted.iter().filter_map(|(_, user)| user.as_ref().err()).find(is_failure) {
            return Err(failure.clone());
        }
        let new: Vec<_> = accepted.iter().filter(|(wish, user)| wish.active && user.is_ok()).collect();
        let held: Held<UserId> = feed.hold(new.iter().map(|(wish, _)| &wish.user))?;
        let users: HashMap<_, _> = new.iter().map(|(wish, _)| &wish.user).zip(&held.ids).collect();
        let _reactors = feed.hold_lists([id.get()]);
        let untimed = new.iter().filter(|(wish, _)| wish.since.is_none());
        let kinds: HashSet<_> = untimed.filter_map(|(_, user)| user.as_ref().ok()).map(|(_, kind)| *kind).collect();
        let now = feed.entry_time(kinds.into_iter().map(|kind| EntryList::Reactors(id, kind)), at)?;
        let reaction = |(wish, found): &(&Wish, Result<(UserId, ReactionKind)>)| {
            let (found, kind) = found.as_ref().ok()?;
            // Also of a reaction that is removed after it was added in the same change.
            let user = users.get(&wish.user).copied().unwrap_or(found);
            let since = wish.active.then(|| wish.since.unwrap_or(now));
            Some(Reaction { user: *user, kind: *kind, since })
        };
        let reactions: Vec<_> = accepted.iter().filter_map(reaction).collect();
        let users = reactions.iter().map(|reaction| Thing::User(reaction.user));
        let _changing = feed.versions.change(users.chain([Thing::Item(id)]));
        let reacted = if reactions.is_empty() { Vec::new() } else { feed.store.react(id, &reactions)? };
        for (Reaction { user, kind, since }, reacted) in reactions.iter().zip(&reacted) {
            if let (Some(owner), Some(since), true) = (author, since, reacted.changed && !imported) {
                feed.tell_reaction(owner, id, (*user, *kind, *since));
            }
        }
        let mut reacted = reacted.into_iter();
        let missing = || Error::Corrupt("the store returned too few results of reactions".to_owned());
        Ok(accepted.into_iter().map(|(_, user)| user.and_then(|_| reacted.next().ok_or_else(missing))).collect())
    }
}

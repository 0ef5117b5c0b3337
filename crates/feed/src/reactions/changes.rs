//! Changes of reactions.

use std::collections::HashSet;

use super::tables;
use crate::core::Core;
use crate::feed::Feed;
use crate::read::{Read, Visibility};
use crate::rows::tables::REACTIONS_BY_TIME;
use crate::streaming::ChangeTime;
use crate::writer::command::{Change, NumberReactions, OnDone, React, ReactionRequest};
use crate::writer::txn::{EntryList, Txn};
use crate::{ids, notices, visibility, warm, writer};
use model::error::{Code, Error, Result};
use model::{ContentId, ExternalId, Reacted, Reaction, ReactionKind, UserId};

/// Adds or removes a reaction; `told` gets the result. Does not block; `overloaded` if too many changes wait. Not on a node.
///
/// `told` may get `invalid_kind`, `invalid_id`, `time_ahead`, `content_not_found` if the item is not live, this or `blocked` if
/// it is not for the user by the rules of [`visibility::ids_if_permitted`](crate::visibility::ids_if_permitted).
pub fn ask(feed: &Feed, reaction: React, told: OnDone<Reacted>) -> Result<()> {
    feed.ask(reaction, Box::new(move |made| told(made.and_then(only))))
}

/// [`reactions::ask`](crate::reactions::ask) for a caller that waits.
pub fn react(feed: &Feed, item: ExternalId, request: ReactionRequest) -> Result<Reacted> {
    only(feed.submit(React::one(item, request))?)
}

/// The kind of reactions with a name; `invalid_kind` if it is none of those that are taken.
pub fn kind(feed: &Core, name: &str) -> Result<ReactionKind> {
    let refusal = || {
        let names: Vec<_> = feed.reaction_kinds().iter().map(|(_, name)| format!("{name:?}")).collect();
        let names = names.join(", ");
        Error::refused(Code::InvalidKind, format!("kind: expected one of reactions.kinds ({names}), not {name:?}"))
    };
    feed.reaction_kinds().named(name).ok_or_else(refusal)
}

/// The only result of a change of one reaction.
fn only(reacted: Vec<Result<Reacted>>) -> Result<Reacted> {
    reacted.into_iter().next().unwrap_or_else(|| Err(Error::Corrupt("a reaction has no result".to_owned())))
}

impl React {
    /// A change of one reaction.
    pub fn one(item: ExternalId, request: ReactionRequest) -> Self {
        Self { item, requests: vec![request], imported: false }
    }
}

impl Change for NumberReactions {
    type Outcome = Vec<Result<bool>>;

    fn apply(self, txn: &mut Txn<'_>) -> Result<Self::Outcome> {
        let feed = txn.feed;
        tables::number_reactions(&feed.store, &self.kinds)
    }
}

impl Change for React {
    type Outcome = Vec<Result<Reacted>>;

    fn warm(&self, read: Read<'_>) -> Result<()> {
        // Of a reaction that is not there, the filter of the table tells.
        warm::item(
            read,
            &self.item,
            self.requests.iter().filter(|request| !request.active).map(|request| &request.user),
        )
    }

    /// Applies requests in their order, in one change. Returns the result of each. Only a reaction that is added gives a number
    /// to a name.
    fn apply(self, txn: &mut Txn<'_>) -> Result<Self::Outcome> {
        let (feed, at) = (txn.feed, txn.at);
        let Self { item, requests, imported } = &self;
        let id = feed.read().known(item)?;
        let found = match imported {
            true => visibility::live_contents(feed.read(), &[id])?,
            false => visibility::contents(feed.read(), &[id])?,
        };
        let author = found.first().map(|content| content.author);
        let is_live = author.is_some();
        let users: Vec<UserId> =
            feed.read().look_up(&requests.iter().map(|request| &request.user).collect::<Vec<_>>())?;
        let accept = |request: &ReactionRequest, user| -> Result<(UserId, ReactionKind)> {
            let kind = kind(feed, &request.kind)?;
            // Alone: the requests of others come in the same change.
            writer::refuse_erasing(feed, [&request.user])?;
            // Before the rest, so that an item that is not for the user gets the answer of one that does not exist.
            if request.visibility == Visibility::User || id == ContentId::UNKNOWN {
                visibility::ids_if_permitted(feed.read(), item, &request.user, request.visibility)?;
            }
            if user == UserId::UNKNOWN {
                ids::accepts(feed, &request.user)?;
            }
            if let Some(since) = request.since.filter(|_| request.active) {
                writer::not_ahead(feed, "since", since, at)?;
            }
            if is_live { Ok((user, kind)) } else { Err(Error::content_not_found()) }
        };
        let accepted: Vec<_> =
            requests.iter().zip(users).map(|(request, user)| (request, accept(request, user))).collect();
        // A failure of this server is no refusal: a node must make the whole change, or none of it.
        let is_failure =
            |error: &&Error| at != ChangeTime::Clock && error.code().is_none_or(|code| code.status() >= 500);
        if let Some(failure) = accepted.iter().filter_map(|(_, user)| user.as_ref().err()).find(is_failure) {
            return Err(failure.clone());
        }
        let new: Vec<_> = accepted.iter().filter(|(request, user)| request.active && user.is_ok()).collect();
        let mut ids = ids::for_change::<UserId>(feed, new.iter().map(|(request, _)| &request.user))?.into_iter();
        let untimed = new.iter().filter(|(request, _)| request.since.is_none());
        let kinds: HashSet<_> = untimed.filter_map(|(_, user)| user.as_ref().ok()).map(|(_, kind)| *kind).collect();
        let known = feed.store.memory.kinds.reactions.known();
        // No list has a kind that was never used.
        let lists = kinds.into_iter().filter_map(|kind| known.byte(kind));
        let now = txn.entry_time(lists.map(|byte| EntryList::of_kind(REACTIONS_BY_TIME, id, byte)))?;
        let mut reactions = Vec::with_capacity(accepted.len());
        for (request, (found, kind)) in
            accepted.iter().filter_map(|(request, found)| Some((request, *found.as_ref().ok()?)))
        {
            let user = match found {
                _ if request.active => ids.next().unwrap_or(found),
                // Its reaction may have been added before in the same change.
                UserId::UNKNOWN => feed.read().known(&request.user)?,
                found => found,
            };
            reactions.push(Reaction { user, kind, since: request.active.then(|| request.since.unwrap_or(now)) });
        }
        let reacted = if reactions.is_empty() { Vec::new() } else { tables::react(&feed.store, id, &reactions)? };
        for (Reaction { user, kind, since }, reacted) in reactions.iter().zip(&reacted) {
            if let (Some(owner), Some(since), true) = (author, *since, reacted.changed && !imported) {
                let (user, kind) = (*user, *kind);
                txn.once_written(move || notices::tell_reaction(feed, owner, id, (user, kind, since)));
            }
        }
        let mut reacted = reacted.into_iter();
        let missing = || Error::Corrupt("the store returned too few results of reactions".to_owned());
        Ok(accepted.into_iter().map(|(_, user)| user.and_then(|_| reacted.next().ok_or_else(missing))).collect())
    }
}

//! Changes that wait, and are made in another order or as one.

use std::ops::RangeInclusive;

use super::command::{Command, Made, PublishItems, React, ReactionRequest, of_its_type};
use model::ExternalId;

/// Most reactions of several changes that are made as one.
const MOST_JOINED: usize = 64;

impl Command {
    /// The smallest and the greatest id of items that get their times here, if the application gave the ids. Names rise in the
    /// order in which they get their numbers, so they count as the greatest number.
    pub(crate) fn untimed_ids(&self) -> Option<RangeInclusive<u64>> {
        let Self::PublishItems(PublishItems { new_items, .. }) = self else { return None };
        let untimed = new_items.iter().filter(|new_item| new_item.published_at.is_none());
        let number = |id: &ExternalId| if let ExternalId::Number(id) = id { *id } else { u64::MAX };
        let ids: Vec<_> = untimed.filter_map(|new_item| new_item.content_id.as_ref()).map(number).collect();
        Some(*ids.iter().min()?..=*ids.iter().max()?)
    }

    /// Whether a change that waits behind this one can be made with it: both are of reactions to one item, each of another user
    /// or kind, so that each is an event of its own.
    pub(crate) fn is_joined_by(&self, other: &Self) -> bool {
        let (Self::React(one), Self::React(other)) = (self, other) else { return false };
        let same =
            |one: &ReactionRequest| other.requests.iter().any(|other| one.user == other.user && one.kind == other.kind);
        one.item == other.item
            && !(one.imported || other.imported)
            && one.requests.len() < MOST_JOINED
            && !one.requests.iter().any(same)
    }

    /// Takes over the reactions of a change that joins this one. Returns how many results are those of the other one.
    pub(crate) fn join(&mut self, other: Self) -> usize {
        let (Self::React(one), Self::React(other)) = (self, other) else { return 0 };
        let results = other.requests.len();
        one.requests.extend(other.requests);
        results
    }

    /// The results of a change, and of those that joined it, each with the number of its own.
    pub(crate) fn parted(made: Made, joined: &[usize]) -> Vec<Made> {
        let results = match made.and_then(of_its_type::<React>) {
            Ok(results) => results,
            Err(error) => return (0..=joined.len()).map(|_| Err(error.clone())).collect(),
        };
        let own = results.len().saturating_sub(joined.iter().sum());
        let mut results = results.into_iter();
        let part = |len: &usize| -> Made { Ok(Box::new(results.by_ref().take(*len).collect::<Vec<_>>())) };
        [own].iter().chain(joined).map(part).collect()
    }
}

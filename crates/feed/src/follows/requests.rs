//! Answers to requests to follow.

use super::tables;
use crate::feed::Feed;
use crate::writer::command::{AnswerRequest, Change};
use crate::writer::entry_times::lists_of_follows;
use crate::writer::txn::Txn;
use crate::{follows, notices};
use kv::Tier;
use model::error::{Code, Result};
use model::{ExternalId, NoticeId, NoticeKind, Relation, UserId};

/// Answers the request of a user `from` to follow `user`: the follow is made, since now, or the request only ends. Returns
/// the relation of `user` to `from` afterwards. `request_not_found` if no request waits that could be approved, and
/// `from` is no follower; to reject nothing is no error. `overloaded`.
pub fn answer_request(feed: &Feed, user: &ExternalId, from: &ExternalId, approved: bool) -> Result<Relation> {
    feed.submit(AnswerRequest { user: user.clone(), from: from.clone(), approved })?;
    follows::relation(feed, user, from)
}

impl Change for AnswerRequest {
    type Outcome = ();

    fn settles(&self) -> usize {
        usize::from(self.approved)
    }

    fn apply(self, txn: &mut Txn<'_>) -> Result<()> {
        let (feed, at) = (txn.feed, txn.at);
        let Self { user, from, approved } = self;
        let (user, from): (UserId, UserId) = (feed.read().find(&user)?, feed.read().find(&from)?);
        let relation =
            || tables::relations(&feed.store, from, &[user], Tier::Disk).map(|mut relations| relations.pop());
        // To approve one who follows already is a repeat.
        let nothing_waits = || match relation()? {
            Some(relation) if relation.following_since.is_some() => Ok(()),
            _ => Err(Code::RequestNotFound.into()),
        };
        if !approved {
            return tables::answer_request(&feed.store, user, from, None).map(drop);
        }
        if relation()?.is_none_or(|relation| relation.requested_since.is_none()) {
            return nothing_waits();
        }
        let room = txn.room(1)?;
        follows::meet(feed, from, at)?;
        let since = txn.entry_time(lists_of_follows(from, &[user]))?;
        let unsettling = feed.backlog.unsettle(room, [(from, user)]);
        txn.change_sources([(from, vec![user])]);
        let answered = tables::answer_request(&feed.store, user, from, Some(since))?;
        // It may have been answered or taken back meanwhile.
        let Some(related) = answered else { return nothing_waits() };
        txn.once_written(move || {
            unsettling.commit(related.job);
            if let Some(since) = related.relation.following_since {
                notices::tell(feed, from, since, NoticeId::new(NoticeKind::RequestApproved, user, None));
                notices::tell(feed, user, since, NoticeId::new(NoticeKind::Follow, from, None));
            }
        });
        Ok(())
    }
}

//! Erasures of users: the begin, each part, and the end are commands, so that all nodes of a cluster make them alike.

use std::collections::HashMap;

use xxhash_rust::xxh3::xxh3_128;

use super::command::{Change, Command, EndErasure, EraseRows, EraseUser};
use crate::streaming::{ChangeTime, Kind};
use crate::{Feed, Read};
use model::error::{Code, Error, Result};
use model::{ContentId, ErasedPart, ErasedUser, Erasure, HostId, Id, Millis, UserId, Work};

/// Most erasures under way.
const MOST: usize = 1000;
/// How long an erasure that is over stays listed, milliseconds.
const LISTED: Millis = 90 * 86_400_000;
/// Reactions that a purge removes in one change.
const REACTIONS_AT_ONCE: usize = 1000;

impl Read<'_> {
    /// The erasures under way, with the ids of their users, and those that are over.
    pub fn erasures(&self) -> Result<(Vec<Erasure>, Vec<ErasedUser>)> {
        self.needs_disk()?;
        Ok((self.feed.store.erasures()?, self.feed.store.erased()?))
    }
}

impl Feed {
    /// Begins to erase a user; returns since when the user is being erased, and `None` for a name that no change has mentioned:
    /// nothing is there then. From the answer on no read shows anything of the user, and changes that name the user are
    /// refused with `erasing`, until every row that names the user is gone. `overloaded` if too many erasures are under way.
    pub fn erase(&self, user: HostId) -> Result<Option<Millis>> {
        self.submit(EraseUser { user })
    }

    /// `erasing` if a change names a user who is being erased.
    pub(crate) fn refuse_erasing(&self, command: &Command) -> Result<()> {
        if !self.store.has_erasures() {
            return Ok(());
        }
        for id in command.users() {
            let user: UserId = self.read().number_of(id)?;
            if self.store.is_erasing(user) {
                return Err(Error::refused(Code::Erasing, format_args!("user {id} is being erased")));
            }
        }
        Ok(())
    }

    /// Removes all rows of a deleted item. False if there is none.
    pub(crate) fn purge_whole(&self, id: ContentId) -> Result<bool> {
        let mut last = None;
        loop {
            let purged = self.store.purge_reactions(id, Millis::MAX, REACTIONS_AT_ONCE, last)?;
            if purged.len() < REACTIONS_AT_ONCE {
                return self.store.purge(id, Millis::MAX);
            }
            last = purged.last().copied();
        }
    }

    /// Whether a job on disk names a user.
    pub(crate) fn has_jobs_of(&self, user: UserId) -> Result<bool> {
        Ok(self.store.jobs()?.iter().any(|job| match job.work {
            Work::FanOut { entry } => entry.source == user || entry.author == user,
            Work::Settle { user: reader, source } => reader == user || source == user,
            Work::Rebuild { user: reader } => reader == user,
        }))
    }

    /// What is kept of an erasure that is over: who knows the id can tell whether it is the one.
    pub(crate) fn erasure_hash(&self, erasure: &Erasure) -> Result<String> {
        let id = self.read().named(erasure.user)?.1.of(erasure.user);
        Ok(erasure_hash(&id, erasure.since))
    }
}

/// The hash that an erasure of a user leaves, if it began at this time.
pub fn erasure_hash(user: &HostId, since: Millis) -> String {
    format!("{:032x}", xxh3_128(format!("tideline erasure {since} {user}").as_bytes()))
}

impl Change for EraseUser {
    type Outcome = Option<Millis>;

    fn apply(self, feed: &Feed, at: ChangeTime) -> Result<Self::Outcome> {
        let user: UserId = feed.read().number_of(&self.user)?;
        if user == UserId::UNKNOWN {
            return Ok(None);
        }
        let _turn = feed.item_change_locks.of(user.get()).lock();
        let under_way = feed.store.erasures()?;
        if let Some(present) = under_way.iter().find(|erasure| erasure.user == user) {
            return Ok(Some(present.since));
        }
        if under_way.len() >= MOST {
            return Err(Error::refused(Code::Overloaded, format_args!("{MOST} erasures are under way")));
        }
        let card = feed.cards.change(user);
        let ticket = feed.streaming.sequencer().take(Kind::Suspension, at);
        let event = ticket.event().of_user(user);
        if feed.store.begin_erasure(user, at.now(), &event)? {
            drop(card);
            ticket.commit_event(event);
            // As for a suspension: nobody knows through which sources the user's items came.
            feed.streaming.streams().reset_all();
        }
        Ok(Some(at.now()))
    }
}

impl Change for EraseRows {
    type Outcome = ();

    fn apply(self, feed: &Feed, at: ChangeTime) -> Result<Self::Outcome> {
        let Self { user, part } = self;
        let user = user_of(user)?;
        let (mut contents, mut others) = (Vec::new(), Vec::new());
        match &part {
            ErasedPart::Items(ids) => {
                let ids = ids.iter().map(|id| ContentId::of(*id)).collect::<Result<Vec<_>, _>>();
                let ids = ids.map_err(|_| Error::Corrupt("the id 0".to_owned()))?;
                contents = ids.into_iter().map(|id| feed.contents.change(id)).collect();
            }
            ErasedPart::Others(ids) => others = ids.iter().map(|id| user_of(*id)).collect::<Result<_>>()?,
            _ => {}
        }
        // As for the end of each of the follows.
        let mut room = feed.room(2 * others.len(), at)?;
        let both = others.iter().flat_map(|other| [(user, *other), (*other, user)]);
        let mut pairs: HashMap<_, _> = both.map(|pair| (pair, feed.backlog.unsettle(pair.0, pair.1))).collect();
        let readers = others.iter().map(|other| (*other, vec![user]));
        let own = (!others.is_empty()).then(|| (user, others.clone()));
        let change = feed.followees.change(&*feed.store, readers.chain(own));
        let jobs = feed.store.erase(user, &part)?;
        drop(change);
        for job in jobs {
            if let Work::Settle { user, source } = job.work
                && let Some(pair) = pairs.remove(&(user, source))
            {
                pair.commit(&mut room, job);
            }
        }
        drop(contents);
        Ok(())
    }
}

impl Change for EndErasure {
    type Outcome = bool;

    fn apply(self, feed: &Feed, at: ChangeTime) -> Result<Self::Outcome> {
        let user = user_of(self.user)?;
        let _card = feed.cards.change(user);
        let _lists = feed.followees.change(&*feed.store, [(user, Vec::new())]);
        feed.store.end_erasure(user, &self.hash, at.now(), at.now().saturating_sub(LISTED))
    }
}

fn user_of(raw: u64) -> Result<UserId> {
    UserId::new(raw).map_err(|_| Error::Corrupt("the id 0".to_owned()))
}

impl Command {
    /// The users whom it names.
    fn users(&self) -> Vec<&HostId> {
        use super::command::*;
        match self {
            Self::PublishItems(PublishItems { drafts, .. }) | Self::ImportItems(ImportItems { drafts }) => {
                drafts.iter().flat_map(|draft| draft.users()).collect()
            }
            Self::EditItem(_) | Self::DeleteItem(_) | Self::RestoreItem(_) => Vec::new(),
            Self::Relate(Relate { user, follow, unfollow, .. }) => {
                [user].into_iter().chain(follow.iter().map(|(target, _)| target)).chain(unfollow).collect()
            }
            Self::SetBarrier(SetBarrier { user, target, .. }) => vec![user, target],
            Self::React(React { wishes, .. }) => wishes.iter().map(|wish| &wish.user).collect(),
            Self::PutProfiles(PutProfiles { profiles }) => profiles.iter().map(|(user, _)| user).collect(),
            Self::AnswerRequest(AnswerRequest { user, from, .. }) => vec![user, from],
            Self::GiveNumbers(GiveNumbers { ids }) => ids.iter().collect(),
            Self::ImportFollows(ImportFollows { user, follows, .. }) => {
                [user].into_iter().chain(follows.iter().map(|(target, _)| target)).collect()
            }
            Self::MoveMarker(MoveMarker { user, .. })
            | Self::PutSettings(PutSettings { user, .. })
            | Self::SetSuspension(SetSuspension { user, .. })
            | Self::PutList(PutList { user, .. })
            | Self::DeleteList(DeleteList { user, .. }) => vec![user],
            Self::TakeOff(TakeOff { source, .. }) => vec![source],
            Self::ChangeMembers(ChangeMembers { user, add, remove, .. }) => {
                [user].into_iter().chain(add).chain(remove).collect()
            }
            Self::ImportLine(ImportLine { line }) => line.users().collect(),
            Self::EraseUser(_) | Self::EraseRows(_) | Self::EndErasure(_) => Vec::new(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_hash_depends_on_the_id_and_on_the_time() {
        let hash = |id: &str, since| erasure_hash(&id.parse().expect("an id"), since);
        assert_eq!(hash("ana", 5), hash("ana", 5));
        assert!(hash("ana", 5) != hash("ana", 6) && hash("ana", 5) != hash("7", 5));
        assert!(!hash("ana", 5).contains("ana"));
    }
}

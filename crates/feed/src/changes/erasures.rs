//! Erasures of users: the begin, each part, and the end are commands, so that all nodes of a cluster make them alike.

use std::cmp::Reverse;
use std::collections::BTreeSet;
use std::fmt;
use std::time::{Duration, Instant};

use aws_lc_rs::digest::{SHA256, digest};

use super::command::{Change, Command, EndErasure, EraseRows, EraseUser};
use super::txn::Txn;
use crate::streaming::Kind;
use crate::{Feed, Read};
use model::clock::now;
use model::error::{Code, Error, Result};
use model::store::{FINAL, Kept, Tier};
use model::versions::Thing;
use model::{ContentId, Cursor, ErasedPart, ErasedUser, Erasure, HostId, Id, Millis, Span, UserId, Work};

/// Most erasures under way.
const MOST: usize = 1000;
/// How long an erasure that is over stays listed, milliseconds.
pub const ERASURES_LISTED: Millis = 90 * 86_400_000;
/// Most erasures that are over in a list.
const MOST_LISTED: usize = 10_000;
/// Reactions that a purge removes in one change.
const REACTIONS_AT_ONCE: usize = 1000;
/// Readers whose inboxes are looked through before a pause.
const READERS_AT_ONCE: usize = 100;
/// Items that are purged before a pause.
const ITEMS_AT_ONCE: usize = 100;
/// Most sources in memory whose followers' inboxes are looked through.
const MOST_SOURCES: usize = 100_000;

/// The erasures under way with the ids of their users, and those that are over.
pub type Erasures = (Vec<(HostId, Erasure)>, Vec<ErasedUser>);

impl Read<'_> {
    /// The erasures under way, with the ids of their users, and those that are over, newest first.
    pub fn erasures(&self) -> Result<Erasures> {
        self.needs_disk()?;
        let store = &self.feed.store;
        let mut under_way = Vec::new();
        for erasure in store.erasures()? {
            match self.named(erasure.user) {
                Ok((user, ids)) => under_way.push((ids.of(user), erasure)),
                // It has ended meanwhile, with the name.
                Err(_) if !store.is_erasing(erasure.user) => {}
                Err(error) => return Err(error),
            }
        }
        let mut over = store.erased()?;
        // The rows of older ones go with the next erasure that ends.
        let forgotten = now().saturating_sub(ERASURES_LISTED);
        over.retain(|erased| erased.over >= forgotten);
        over.sort_unstable_by_key(|erased| Reverse(erased.over));
        over.truncate(MOST_LISTED);
        Ok((under_way, over))
    }
}

impl Feed {
    /// Begins to erase a user; returns since when the user is being erased, and `None` for a name that no change has mentioned:
    /// nothing is there then. From the answer on no read shows anything of the user, and changes that name the user are
    /// refused with `erasing`, until every row that names the user is gone. `overloaded` if too many erasures are under way.
    pub fn erase(&self, user: HostId) -> Result<Option<Millis>> {
        if self.read().number_of::<UserId>(&user)? == UserId::UNKNOWN {
            self.accepts(&user)?;
        }
        self.submit(EraseUser { user })
    }

    /// `erasing` if one of these users is being erased.
    pub(crate) fn refuse_erasing<'i>(&self, users: impl IntoIterator<Item = &'i HostId>) -> Result<()> {
        if !self.store.has_erasures() {
            return Ok(());
        }
        for id in users {
            let user: UserId = self.read().number_of(id)?;
            if self.store.is_erasing(user) {
                return Err(Error::refused(Code::Erasing, format_args!("user {id} is being erased")));
            }
        }
        Ok(())
    }

    /// Removes all rows of an item that is deleted for good. False if there is none. So a node purges none before the part
    /// that deletes it has come: its deletion has the same time on all nodes.
    pub(crate) fn purge_whole(&self, id: ContentId) -> Result<bool> {
        let mut last = None;
        loop {
            let _still = self.streaming.hold_changes();
            let purged = self.store.purge_reactions(id, FINAL, REACTIONS_AT_ONCE, last)?;
            if purged.len() < REACTIONS_AT_ONCE {
                return self.store.purge(id, FINAL);
            }
            last = purged.last().copied();
        }
    }

    /// Ends the fan-outs that name a user whose items and paths are gone. The same id may be a new user soon, whose followers
    /// would get the items.
    fn drop_fan_outs(&self, user: UserId) -> Result<()> {
        for job in self.store.jobs()? {
            if let Work::FanOut { entry } = job.work
                && (entry.source == user || entry.author == user)
            {
                self.store.drop_job(job.id)?;
            }
        }
        self.backlog.forget_pending(user);
        Ok(())
    }

    /// Whether a job on disk names a user.
    pub(crate) fn has_jobs_of(&self, user: UserId) -> Result<bool> {
        Ok(self.store.jobs()?.iter().any(|job| match job.work {
            Work::FanOut { entry } => entry.source == user || entry.author == user,
            Work::Settle { user: reader, source } => reader == user || source == user,
            Work::Rebuild { user: reader } => reader == user,
        }))
    }

    /// Purges the items of a user who is erased, once they are deleted for good. First it removes their entries from the
    /// inboxes of this server to which they came through other sources; those of the own path leave with the follows. Each
    /// node purges its own. Asks after each part whether it goes on; false if not.
    pub(crate) fn purge_erased(&self, user: UserId, mut goes_on: impl FnMut() -> bool) -> Result<bool> {
        let mut sources = BTreeSet::new();
        for is_purge in [false, true] {
            let mut before: Option<Cursor> = None;
            loop {
                let span = Span { before, after: None };
                let places = self.store.unlisted(user, span.newest(ITEMS_AT_ONCE), Tier::Disk)?;
                // Items of others with a path through the user lose it by a part. Those that are purged already are named, too.
                let places_of: Vec<_> = places.iter().map(|place| place.id).collect();
                let kept = self.store.kept(&places_of)?;
                let is_other = |kept: &Option<Kept>| kept.as_ref().is_some_and(|(item, _)| item.author != user);
                let own = places_of.into_iter().zip(kept).filter(|(_, kept)| !is_other(kept));
                let items: Vec<_> = own.map(|(id, _)| id).collect();
                if is_purge {
                    items.iter().try_for_each(|item| self.purge_whole(*item).map(drop))?;
                } else {
                    sources.extend(self.store.erased_paths(&items)?);
                    let is_over = places.len() < ITEMS_AT_ONCE;
                    if (is_over || sources.len() >= MOST_SOURCES)
                        && !self.clear_inboxes(user, &std::mem::take(&mut sources), &mut goes_on)?
                    {
                        return Ok(false);
                    }
                }
                if !goes_on() {
                    return Ok(false);
                }
                match places.last() {
                    Some(last) => before = Some(*last),
                    None => break,
                }
            }
        }
        Ok(true)
    }

    /// Removes the entries of an author from the inboxes of the followers of some sources.
    fn clear_inboxes(
        &self,
        author: UserId,
        sources: &BTreeSet<UserId>,
        goes_on: &mut impl FnMut() -> bool,
    ) -> Result<bool> {
        for source in sources {
            let mut after = None;
            loop {
                let mut readers = self.store.followers_after(*source, after, READERS_AT_ONCE)?;
                let Some(last) = readers.last() else { break };
                after = Some(*last);
                readers.retain(|reader| self.keeps_inbox_of(*reader));
                self.store.clear_inboxes(&readers, author)?;
                if !goes_on() {
                    return Ok(false);
                }
            }
        }
        Ok(true)
    }
}

/// The hash that an erasure of a user leaves: the first 32 digits of SHA-256. Who has the id can tell that it is the one.
pub fn erasure_hash(user: &HostId) -> String {
    let hash = digest(&SHA256, format!("tideline:erasure:{user}").as_bytes());
    hash.as_ref().iter().take(16).map(|byte| format!("{byte:02x}")).collect()
}

impl Change for EraseUser {
    type Outcome = Option<Millis>;

    fn apply(self, txn: &mut Txn<'_>) -> Result<Self::Outcome> {
        let (feed, at) = (txn.feed, txn.at);
        let user: UserId = feed.read().number_of(&self.user)?;
        if user == UserId::UNKNOWN {
            return Ok(None);
        }
        let under_way = feed.store.erasures()?;
        if let Some(present) = under_way.iter().find(|erasure| erasure.user == user) {
            return Ok(Some(present.since));
        }
        if under_way.len() >= MOST {
            return Err(Error::refused(Code::Overloaded, format_args!("{MOST} erasures are under way")));
        }
        txn.concerns([Thing::Everything, Thing::Suspended]);
        let (card, since) = (feed.cards.change(user), at.now());
        let event = feed.streaming.sequencer().take(Kind::Suspension).of_user(user);
        let erasure = Erasure { user, hash: erasure_hash(&self.user), since, rows: 0 };
        if feed.store.begin_erasure(&erasure, Some(&event))? {
            txn.keep(card);
            txn.log(event);
            // As for a suspension: nobody knows through which sources the user's items came.
            txn.once_logged(|| feed.streaming.streams().reset_all());
        }
        Ok(Some(since))
    }
}

/// How long this server took. It differs between servers that apply the same command, so it is not shown in outcomes.
pub struct OwnTime(pub(crate) Duration);

impl fmt::Debug for OwnTime {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("OwnTime")
    }
}

impl Change for EraseRows {
    type Outcome = OwnTime;

    fn apply(self, txn: &mut Txn<'_>) -> Result<Self::Outcome> {
        let (feed, at) = (txn.feed, txn.at);
        let (began, Self { user, part }) = (Instant::now(), self);
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
        let room = feed.room(2 * others.len(), at)?;
        // Nothing of the user is shown any more. What is left to change in pages of others is the paths and counts of their items.
        let is_shown = matches!(part, ErasedPart::Items(_) | ErasedPart::TakenOff(_) | ErasedPart::Reactions(_));
        txn.concerns(is_shown.then_some(Thing::Everything));
        let both = others.iter().flat_map(|other| [(user, *other), (*other, user)]);
        let unsettling = feed.backlog.unsettle(room, both);
        let readers = others.iter().map(|other| (*other, vec![user]));
        let own = (!others.is_empty()).then(|| (user, others.clone()));
        txn.change_sources(readers.chain(own));
        let jobs = feed.store.erase(user, &part)?;
        txn.once_written(move || unsettling.commit(jobs));
        txn.keep(contents);
        Ok(OwnTime(began.elapsed()))
    }
}

impl Change for EndErasure {
    type Outcome = bool;

    fn apply(self, txn: &mut Txn<'_>) -> Result<Self::Outcome> {
        let (feed, at) = (txn.feed, txn.at);
        let user = user_of(self.user)?;
        if !feed.store.is_erasing(user) {
            return Ok(false);
        }
        // A node may be behind the one that has looked for the rows.
        feed.drop_fan_outs(user)?;
        feed.purge_erased(user, || true)?;
        txn.concerns([Thing::Everything, Thing::Suspended]);
        txn.change_sources([(user, Vec::new())]);
        let card = feed.cards.change(user);
        let has_ended = feed.store.end_erasure(user, at.now(), at.now().saturating_sub(ERASURES_LISTED))?;
        txn.once_written(move || {
            feed.streaming.presence().leave(user, at.now());
            // A later user with this id has another number, of which these streams would tell nothing.
            feed.streaming.streams().end(user);
        });
        txn.keep(card);
        Ok(has_ended)
    }
}

fn user_of(raw: u64) -> Result<UserId> {
    UserId::new(raw).map_err(|_| Error::Corrupt("the id 0".to_owned()))
}

impl Command {
    /// The users whom it names, none of whom may be erased while it is made.
    pub(crate) fn users(&self) -> Vec<&HostId> {
        use super::command::*;
        match self {
            Self::PublishItems(PublishItems { drafts, .. }) | Self::ImportItems(ImportItems { drafts, .. }) => {
                drafts.iter().flat_map(|draft| draft.users()).collect()
            }
            // Each wish of a reaction is asked for by its own user.
            Self::EditItem(_)
            | Self::DeleteItem(_)
            | Self::RestoreItem(_)
            | Self::React(_)
            | Self::NumberReactions(_) => Vec::new(),
            Self::Relate(Relate { user, follow, unfollow, .. }) => {
                [user].into_iter().chain(follow.iter().map(|(target, _)| target)).chain(unfollow).collect()
            }
            Self::SetBarrier(SetBarrier { user, target, .. }) => vec![user, target],
            Self::PutProfiles(PutProfiles { profiles }) => profiles.iter().map(|(user, _)| user).collect(),
            Self::AnswerRequest(AnswerRequest { user, from, .. }) => vec![user, from],
            Self::GiveNumbers(GiveNumbers { ids }) => ids.iter().collect(),
            Self::ImportFollows(ImportFollows { user, follows, .. }) => {
                [user].into_iter().chain(follows.iter().map(|(target, _)| target)).collect()
            }
            Self::MoveMarker(MoveMarker { user, .. })
            | Self::MoveNoticeMarker(MoveNoticeMarker { user, .. })
            | Self::PutSettings(PutSettings { user, .. })
            | Self::SetSuspension(SetSuspension { user, .. })
            | Self::PutList(PutList { user, .. })
            | Self::DeleteList(DeleteList { user, .. }) => vec![user],
            Self::TakeOff(TakeOff { source, .. }) => vec![source],
            Self::ChangeMembers(ChangeMembers { user, add, remove, .. }) => {
                [user].into_iter().chain(add).chain(remove).collect()
            }
            Self::ImportLine(ImportLine { line }) => line.users().collect(),
            Self::EraseUser(_) | Self::EraseRows(_) | Self::EndErasure(_) | Self::KeepReceiver(_) => Vec::new(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_hash_is_that_of_the_docs() {
        let hash = |id: &str| erasure_hash(&id.parse().expect("an id"));
        // printf 'tideline:erasure:66' | sha256sum | cut -c1-32
        assert_eq!(hash("66"), "36f37524d685f90e40111a426b163404");
        assert_eq!(hash("ana"), "34a5d050d20c3492296993cb4bf79127");
    }
}

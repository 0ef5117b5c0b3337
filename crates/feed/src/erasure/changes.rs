//! Erasures of users: the begin, each part, and the end are commands, so that all nodes of a cluster make them alike.

use std::fmt;
use std::time::{Duration, Instant};

use aws_lc_rs::digest::{SHA256, digest};

use super::tables;
use crate::feed::Feed;
use crate::streaming::{ChangeTime, Kind};
use crate::writer::command::{Change, EndErasure, EraseRows, EraseUser};
use crate::writer::txn::Txn;
use crate::{erasure, ids};
use model::error::{Code, Error, Result};
use model::versions::Thing;
use model::{Erasure, ExternalId, Millis, UserId};

/// Most erasures under way.
const MOST: usize = 1000;
/// How long an erasure that is over stays listed, milliseconds.
pub const ERASURES_LISTED: Millis = 90 * 86_400_000;

/// Begins to erase a user; returns since when the user is being erased, and `None` for a name that no change has mentioned:
/// nothing is there then. From the answer on no read shows anything of the user, and changes that name the user are
/// refused with `erasing`, until every row that names the user is gone. `overloaded` if too many erasures are under way.
pub fn erase(feed: &Feed, user: ExternalId) -> Result<Option<Millis>> {
    if feed.read().number_of::<UserId>(&user)? == UserId::UNKNOWN {
        ids::accepts(feed, &user)?;
    }
    feed.submit(EraseUser { user })
}

/// The hash that an erasure of a user leaves: the first 32 digits of SHA-256. Who has the id can tell that it is the one.
pub fn erasure_hash(user: &ExternalId) -> String {
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
        let under_way = tables::erasures(&feed.store)?;
        if let Some(present) = under_way.iter().find(|erasure| erasure.user == user) {
            return Ok(Some(present.since));
        }
        if under_way.len() >= MOST {
            return Err(Error::refused(Code::Overloaded, format_args!("{MOST} erasures are under way")));
        }
        txn.concerns([Thing::Everything, Thing::Suspended]);
        let since = at.now();
        let event = feed.streaming.sequencer().take(Kind::Suspension).of_user(user);
        let erasure = Erasure { user, hash: erasure_hash(&self.user), since, rows: 0 };
        if tables::begin_erasure(&feed.store, &erasure, Some(&event))? {
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

    fn settles(&self) -> usize {
        let part = &self.part;
        if tables::table_of(part).is_ok_and(tables::are_follows) { 2 * part.keys.len() } else { 0 }
    }

    fn apply(self, txn: &mut Txn<'_>) -> Result<Self::Outcome> {
        let feed = txn.feed;
        let (began, settles) = (Instant::now(), self.settles());
        let Self { user, part } = self;
        let (user, table) = (user_of(user)?, tables::table_of(&part)?);
        let others = tables::others(table, user, &part.keys);
        // As for the end of each of the follows.
        let room = txn.room(settles)?;
        // Nothing of the user is shown any more. What is left to change in pages of others is the paths and counts of their items.
        txn.concerns(table.ends_with_item.then_some(Thing::Everything));
        let both = others.iter().flat_map(|other| [(user, *other), (*other, user)]);
        let unsettling = feed.backlog.unsettle(room, both.take(settles));
        let readers = others.iter().map(|other| (*other, vec![user]));
        let own = (!others.is_empty()).then(|| (user, others.clone()));
        txn.change_sources(readers.chain(own));
        let jobs = tables::erase(&feed.store, user, &part)?;
        txn.once_written(move || unsettling.commit(jobs));
        Ok(OwnTime(began.elapsed()))
    }
}

impl Change for EndErasure {
    type Outcome = bool;

    fn is_alone(&self, _: ChangeTime) -> bool {
        true
    }

    fn apply(self, txn: &mut Txn<'_>) -> Result<Self::Outcome> {
        let (feed, at) = (txn.feed, txn.at);
        let user = user_of(self.user)?;
        if !tables::is_erasing(&feed.store, user) {
            return Ok(false);
        }
        // A node may be behind the one that has looked for the rows.
        erasure::drop_fan_outs(feed, user)?;
        erasure::purge_erased(feed, user, || true)?;
        txn.concerns([Thing::Everything, Thing::Suspended]);
        txn.change_sources([(user, Vec::new())]);
        let has_ended = tables::end_erasure(&feed.store, user, at.now(), at.now().saturating_sub(ERASURES_LISTED))?;
        txn.once_written(move || {
            feed.streaming.presence().leave(user, at.now());
            // A later user with this id has another number, of which these streams would tell nothing.
            feed.streaming.streams().end(user);
        });
        Ok(has_ended)
    }
}

fn user_of(raw: u64) -> Result<UserId> {
    UserId::new(raw).map_err(|_| Error::Corrupt("the id 0".to_owned()))
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

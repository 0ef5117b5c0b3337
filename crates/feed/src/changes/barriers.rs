//! Mutes and hides.

use super::command::{Change, SetBarrier};
use crate::streaming::ChangeTime;
use crate::{Feed, Held};
use model::error::{Code, Error, Result};
use model::{Barrier, HostId, Relation, UserId};

/// Most users that one user can mute, and most from whom one can hide: ten times the default follow limit, so normal
/// use never meets it. It bounds only the storage of one user: a read costs the same with one barrier as with all of
/// them.
const LIMIT: usize = 10_000;

impl Feed {
    /// Raises or lifts a user's barrier against a target; returns the relation afterwards. A barrier in the wanted
    /// state stays as it is. Takes effect at the next read. Only a barrier that is raised gives numbers to names.
    ///
    /// `self_mute`, `self_hide`, `mute_limit`, `hide_limit`.
    pub fn set_barrier(&self, user: HostId, target: HostId, barrier: Barrier, raised: bool) -> Result<Relation> {
        self.submit(SetBarrier { user, target, barrier, raised })
    }
}

impl Change for SetBarrier {
    type Outcome = Relation;

    fn apply(self, feed: &Feed, at: ChangeTime) -> Result<Self::Outcome> {
        let Self { user, target, barrier, raised } = self;
        let users = [&user, &target];
        if raised && user == target {
            feed.read().find::<UserId>(users[0])?;
            return Err(match barrier {
                Barrier::Mute => Code::SelfMute.into(),
                Barrier::Hide => Code::SelfHide.into(),
            });
        }
        let held: Held<UserId> = match raised {
            true => feed.hold(users)?,
            false => Held::all(feed.read().find_all(users)?),
        };
        let [user, target] = held.ids[..] else { return Err(Error::Corrupt("two users are not two".to_owned())) };
        if !raised && (user == UserId::UNKNOWN || target == UserId::UNKNOWN) {
            return Ok(Relation::none(user, target));
        }
        let (reader, author) = match barrier {
            Barrier::Mute => (user, target),
            Barrier::Hide => (target, user),
        };
        let change = feed.followees.change(&*feed.store, reader, vec![author]);
        let relation = feed.store.set_barrier(user, target, barrier, raised.then(|| at.now()), LIMIT)?;
        drop(change);
        Ok(relation)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_details_of_the_codes_name_the_limit() {
        for code in [Code::MuteLimit, Code::HideLimit] {
            assert!(code.detail().contains(&format!(" {LIMIT} ")), "{}", code.detail());
        }
    }
}

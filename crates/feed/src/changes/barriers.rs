//! Mutes and hides.

use super::command::{Command, Outcome, outcome};
use crate::streaming::ChangeTime;
use crate::{Feed, Held};
use model::error::{Code, Error, Result};
use model::store::Tier;
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
        let command = Command::SetBarrier { user, target, barrier, raised };
        let mut relations = outcome!(self.submit(command), Outcome::Relations(relations) => relations)?;
        relations.pop().ok_or_else(|| Error::Corrupt("a barrier returned no relation".to_owned()))
    }

    pub(crate) fn apply_barrier(
        &self,
        users: [&HostId; 2],
        barrier: Barrier,
        raised: bool,
        at: ChangeTime,
    ) -> Result<Relation> {
        if raised && users[0] == users[1] {
            self.find::<UserId>(users[0], Tier::Disk)?;
            return Err(match barrier {
                Barrier::Mute => Code::SelfMute.into(),
                Barrier::Hide => Code::SelfHide.into(),
            });
        }
        let held: Held<UserId> = match raised {
            true => self.hold(users)?,
            false => Held::all(self.find_all(users, Tier::Disk)?),
        };
        let [user, target] = held.ids[..] else { return Err(Error::Corrupt("two users are not two".to_owned())) };
        if !raised && (user == UserId::UNKNOWN || target == UserId::UNKNOWN) {
            return Ok(Relation::none(user, target));
        }
        let (reader, author) = match barrier {
            Barrier::Mute => (user, target),
            Barrier::Hide => (target, user),
        };
        let change = self.followees.change(&*self.store, reader, vec![author]);
        let relation = self.store.set_barrier(user, target, barrier, raised.then(|| at.now()), LIMIT)?;
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

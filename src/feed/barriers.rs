//! Mutes and hides.

use super::Feed;
use crate::clock::now;
use crate::error::{Code, Result};
use crate::model::{Barrier, Relation, UserId};

/// Most users that one user can mute, and most from whom one can hide: ten times the default follow limit, so normal
/// use never meets it. It bounds only the storage of one user: a read costs the same with one barrier as with all of
/// them.
const LIMIT: usize = 10_000;

impl Feed {
    /// Raises or lifts a user's barrier against a target; returns the relation afterwards. A barrier in the wanted
    /// state stays as it is. Takes effect at the next read.
    ///
    /// `self_mute`, `self_hide`, `mute_limit`, `hide_limit`.
    pub fn set_barrier(&self, user: UserId, target: UserId, barrier: Barrier, raised: bool) -> Result<Relation> {
        if raised && user == target {
            return Err(match barrier {
                Barrier::Mute => Code::SelfMute.into(),
                Barrier::Hide => Code::SelfHide.into(),
            });
        }
        let (reader, author) = match barrier {
            Barrier::Mute => (user, target),
            Barrier::Hide => (target, user),
        };
        let change = self.followees.change(&*self.store, reader, vec![author]);
        let relation = self.store.set_barrier(user, target, barrier, raised.then(now), LIMIT)?;
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

//! The members of a cluster, and who of them keeps whose inbox.

use std::cmp::Reverse;

use xxhash_rust::xxh3::xxh3_64;

use crate::ids::id::UserId;

/// All members, seen from one of them.
///
/// The owners of a user are the members with the greatest weights for the user: *rendezvous hashing* (Thaler and
/// Ravishankar, 1998). So a member that comes or goes changes the owners of its own share of users only. Ownership
/// decides where an inbox is kept, never an answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Members {
    /// The names, with the hash of each.
    names: Vec<(String, u64)>,
    /// The index of this node.
    own: usize,
    /// How many members keep the inbox of a user.
    copies: usize,
}

impl Members {
    /// Members by their names; `None` if `own` is not among them.
    pub fn new<'n>(names: impl IntoIterator<Item = &'n str>, own: &str, copies: usize) -> Option<Self> {
        let names: Vec<_> = names.into_iter().map(|name| (name.to_owned(), xxh3_64(name.as_bytes()))).collect();
        let own = names.iter().position(|(name, _)| name == own)?;
        Some(Self { names, own, copies: copies.max(1) })
    }

    /// Whether this node keeps the inbox of a user.
    #[inline]
    pub fn owns(&self, user: UserId) -> bool {
        self.names.len() <= self.copies || self.rank(user) < self.copies
    }

    /// The place of this node in the order of the owners of a user, from 0: how many members come before it.
    #[inline]
    pub fn rank(&self, user: UserId) -> usize {
        let own = self.weight(self.own, user);
        (0..self.names.len()).filter(|other| self.weight(*other, user) > own).count()
    }

    /// The other members that keep the inbox of a user, the one with the greatest weight first, by their indices in the
    /// list of the names.
    #[inline]
    pub fn others(&self, user: UserId) -> Vec<usize> {
        let mut all: Vec<_> = (0..self.names.len()).collect();
        all.sort_by_cached_key(|index| Reverse(self.weight(*index, user)));
        all.into_iter().take(self.copies).filter(|index| *index != self.own).collect()
    }

    /// All other members, those after this node first.
    pub fn all_others(&self) -> impl Iterator<Item = usize> {
        let (own, count) = (self.own, self.names.len());
        (1..count).map(move |step| (own + step) % count)
    }

    /// The member with the greatest weight for a user, unless that is this node.
    #[inline]
    pub fn first_elsewhere(&self, user: UserId) -> Option<usize> {
        let first = (0..self.names.len()).max_by_key(|index| self.weight(*index, user));
        first.filter(|first| *first != self.own)
    }

    /// Distinct for distinct names, whatever their order: the hash of the name decides first.
    #[inline]
    fn weight(&self, index: usize, user: UserId) -> (u64, u64) {
        let (_, seed) = self.names[index];
        (mix(seed ^ user.get().wrapping_mul(0x9E37_79B9_7F4A_7C15)), seed)
    }
}

/// The finaliser of SplitMix64 (Steele, Lea and Flood, 2014): each bit of the input changes about half of the output.
fn mix(mut bits: u64) -> u64 {
    bits = (bits ^ bits >> 30).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    bits = (bits ^ bits >> 27).wrapping_mul(0x94D0_49BB_1331_11EB);
    bits ^ bits >> 31
}

#[cfg(test)]
mod tests {
    use super::*;

    const NAMES: [&str; 4] = ["a", "b", "c", "d"];

    fn user(raw: u64) -> UserId {
        UserId::new(raw).expect("in range")
    }

    fn members(names: &[&'static str], own: &str, copies: usize) -> Members {
        Members::new(names.iter().copied(), own, copies).expect("is a member")
    }

    #[test]
    fn each_user_has_as_many_owners_as_there_are_copies() {
        for copies in 1..=4 {
            let all: Vec<_> = NAMES.iter().map(|own| members(&NAMES, own, copies)).collect();
            let mut shares = [0; 4];
            for raw in 1..=4000 {
                let owners: Vec<_> = (0..4).filter(|index| all[*index].owns(user(raw))).collect();
                assert_eq!(owners.len(), copies);
                let mut ranks: Vec<_> = all.iter().map(|of_one| of_one.rank(user(raw))).collect();
                assert!(owners.iter().all(|index| ranks[*index] < copies));
                ranks.sort_unstable();
                assert_eq!(ranks, [0, 1, 2, 3]);
                owners.iter().for_each(|index| shares[*index] += 1);
                for (index, of_one) in all.iter().enumerate() {
                    let mut others = of_one.others(user(raw));
                    others.sort_unstable();
                    let first = of_one.first_elsewhere(user(raw));
                    assert!(first.is_none_or(|first| first != index && owners.contains(&first)));
                    assert_eq!(first.is_none(), members(&NAMES, NAMES[index], 1).owns(user(raw)));
                    assert!(others.iter().eq(owners.iter().filter(|owner| **owner != index)));
                }
            }
            let fair = 1000 * copies;
            assert!(shares.iter().all(|share| (fair - 120..fair + 120).contains(share)), "{shares:?}");
        }
    }

    #[test]
    fn a_member_that_comes_takes_only_what_it_owns() {
        let before = members(&["a", "b", "c"], "a", 1);
        let after = members(&["d", "c", "b", "a"], "a", 1);
        let new = members(&NAMES, "d", 1);
        for raw in 1..=4000 {
            assert_eq!(before.owns(user(raw)), after.owns(user(raw)) || before.owns(user(raw)) && new.owns(user(raw)));
        }
    }

    #[test]
    fn a_node_that_is_no_member_owns_nothing() {
        assert!(Members::new(["a"], "b", 1).is_none());
    }

    #[test]
    fn owners_are_the_same_for_ever() {
        let all: Vec<_> = NAMES.iter().map(|own| members(&NAMES, own, 1)).collect();
        let owners: String =
            (1..=24).map(|raw| NAMES[all.iter().position(|one| one.owns(user(raw))).expect("one")]).collect();
        assert_eq!(owners, GOLDEN);
    }

    const GOLDEN: &str = "bdadabaadccbcadbbbdbabad";
}

//! The follow graph around one user: the same edge is stored in several places, which must agree.

use std::collections::BTreeSet;
use std::fmt::Display;

use super::Findings;
use crate::error::Result;
use crate::model::{Order, Relation, Side, Span, UserCounts, UserCursor, UserId};
use crate::store::{Store, Tier};

/// Rows read at a time.
const PAGE: usize = 1000;

/// Checks the graph around a user, and returns whom the user follows, ascending.
pub(super) fn check(store: &Store, user: UserId, findings: &mut Findings) -> Result<Vec<UserId>> {
    let around = Around::read(store, user)?;
    let mut relations = Vec::new();
    for others in around.others().chunks(PAGE) {
        for own in store.relations(user, others, Tier::Disk)? {
            for seen in store.relations(own.target, &[user], Tier::Disk)? {
                if let Some(line) = mirror(&own, &seen) {
                    findings.add(|| line);
                }
            }
            relations.push(own);
        }
    }
    for line in around.compare(&relations) {
        findings.add(|| line);
    }
    Ok(around.followees)
}

/// All that is listed around a user.
#[derive(Debug, Clone)]
struct Around {
    user: UserId,
    followees: Vec<UserId>,
    followers: Vec<UserId>,
    counts: UserCounts,
    following_by_time: Vec<UserCursor>,
    followers_by_time: Vec<UserCursor>,
    friends_by_time: Vec<UserCursor>,
}

impl Around {
    fn read(store: &Store, user: UserId) -> Result<Self> {
        let mut followers = Vec::new();
        loop {
            let page = store.followers_after(user, followers.last().copied(), PAGE)?;
            if page.is_empty() {
                break;
            }
            followers.extend(page);
        }
        Ok(Self {
            user,
            followees: store.followees(user, Tier::Disk)?,
            followers,
            counts: store.user_counts(user, Tier::Disk)?,
            following_by_time: members(store, user, Side::Following)?,
            followers_by_time: members(store, user, Side::Followers)?,
            friends_by_time: members(store, user, Side::Friends)?,
        })
    }

    /// Everybody who is listed anywhere, ascending.
    fn others(&self) -> Vec<UserId> {
        let by_time = [&self.following_by_time, &self.followers_by_time, &self.friends_by_time];
        let by_time = by_time.into_iter().flatten().map(|place| place.id);
        let mut others: Vec<_> = self.followees.iter().chain(&self.followers).copied().chain(by_time).collect();
        others.sort_unstable();
        others.dedup();
        others
    }

    /// Compares the lists with the user's relations to all who are listed.
    fn compare(&self, relations: &[Relation]) -> Vec<String> {
        let places = |since: fn(&Relation) -> Option<u64>| -> Vec<UserCursor> {
            let place = |relation| since(relation).map(|at| UserCursor { at, id: relation.target });
            relations.iter().filter_map(place).collect()
        };
        let ids = |places: &[UserCursor]| -> Vec<UserId> { places.iter().map(|place| place.id).collect() };
        let (following, followers) = (places(|r| r.following_since), places(|r| r.followed_since));
        let friends = places(|r| Some(r.following_since?.max(r.followed_since?)));
        let mut lines = Vec::new();
        lines.extend(differences(self.user, "followees", &self.followees, &ids(&following)));
        lines.extend(differences(self.user, "followers", &self.followers, &ids(&followers)));
        lines.extend(differences(self.user, "following list", &self.following_by_time, &following));
        lines.extend(differences(self.user, "followers list", &self.followers_by_time, &followers));
        lines.extend(differences(self.user, "friends list", &self.friends_by_time, &friends));
        for (what, count, counted) in [
            ("following", self.counts.following, following.len()),
            ("follower", self.counts.followers, followers.len()),
            ("friend", self.counts.friends, friends.len()),
        ] {
            if counted as u64 != count {
                lines.push(format!("user {}: {what} count is {count}, there are {counted}", self.user));
            }
        }
        lines
    }
}

/// What a list of a user lacks, and what it has too much, against what it should be.
pub(super) fn differences<T: Ord + Display>(user: UserId, what: &str, listed: &[T], related: &[T]) -> Vec<String> {
    let (listed, related) = (BTreeSet::from_iter(listed), BTreeSet::from_iter(related));
    let lacks = related.difference(&listed).map(|one| format!("user {user}: {what} lacks {one}"));
    let has = listed.difference(&related).map(|one| format!("user {user}: {what} has {one} that is no relation"));
    lacks.chain(has).collect()
}

/// Compares a relation with what the other side has of it.
fn mirror(own: &Relation, seen: &Relation) -> Option<String> {
    let Relation { user, target, following_since, followed_since, .. } = own;
    if (*following_since, *followed_since) == (seen.followed_since, seen.following_since) {
        return None;
    }
    let since = |at: &Option<u64>| at.map_or("not".to_owned(), |at| format!("since {at}"));
    Some(format!(
        "user {user}: follows {target} {}, is followed back {}; user {target} has {} and {}",
        since(following_since),
        since(followed_since),
        since(&seen.followed_since),
        since(&seen.following_since),
    ))
}

pub(super) fn members(store: &Store, user: UserId, side: Side) -> Result<Vec<UserCursor>> {
    let mut span = Span::ALL;
    let mut all = Vec::new();
    loop {
        let page = store.members(user, side, span, Order::NewestFirst, PAGE, Tier::Disk)?;
        let Some(last) = page.last() else { return Ok(all) };
        span = span.older_than(*last);
        all.extend(page);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn user(raw: u64) -> UserId {
        UserId::new(raw).expect("in range")
    }

    fn place(at: u64, id: u64) -> UserCursor {
        UserCursor { at, id: user(id) }
    }

    fn relation(one: u64, other: u64, following: Option<u64>, followed: Option<u64>) -> Relation {
        let (following_since, followed_since) = (following, followed);
        Relation { following_since, followed_since, ..Relation::none(user(one), user(other)) }
    }

    /// User 1 follows 2 and 3; 3 and 4 follow user 1.
    fn sound() -> (Around, Vec<Relation>) {
        let around = Around {
            user: user(1),
            followees: vec![user(2), user(3)],
            followers: vec![user(3), user(4)],
            counts: UserCounts { following: 2, followers: 2, friends: 1, content: 0 },
            following_by_time: vec![place(20, 2), place(10, 3)],
            followers_by_time: vec![place(30, 3), place(5, 4)],
            friends_by_time: vec![place(30, 3)],
        };
        let relations =
            vec![relation(1, 2, Some(20), None), relation(1, 3, Some(10), Some(30)), relation(1, 4, None, Some(5))];
        (around, relations)
    }

    #[test]
    fn a_sound_graph_has_nothing_to_say() {
        let (around, relations) = sound();
        assert_eq!(around.others(), [user(2), user(3), user(4)]);
        assert_eq!(around.compare(&relations), Vec::<String>::new());
    }

    #[test]
    fn every_list_is_compared() {
        type Spoil = fn(&mut Around);
        let cases: [(Spoil, &str); 11] = [
            (|a| a.followees.truncate(1), "user 1: followees lacks 3"),
            (|a| a.followees.push(user(4)), "user 1: followees has 4 that is no relation"),
            (|a| a.followers.clear(), "user 1: followers lacks 3"),
            (|a| a.counts.following = 1, "user 1: following count is 1, there are 2"),
            (|a| a.counts.followers = 3, "user 1: follower count is 3, there are 2"),
            (|a| a.counts.friends = 2, "user 1: friend count is 2, there are 1"),
            (|a| a.following_by_time[0] = place(21, 2), "user 1: following list lacks 20-2"),
            (|a| a.following_by_time[0] = place(21, 2), "user 1: following list has 21-2 that is no relation"),
            (|a| a.followers_by_time.truncate(1), "user 1: followers list lacks 5-4"),
            (|a| a.friends_by_time[0] = place(10, 3), "user 1: friends list lacks 30-3"),
            (|a| a.friends_by_time.push(place(5, 4)), "user 1: friends list has 5-4 that is no relation"),
        ];
        for (spoil, line) in cases {
            let (mut around, relations) = sound();
            spoil(&mut around);
            let lines = around.compare(&relations);
            assert!(lines.iter().any(|l| l == line), "{line}: {lines:?}");
        }
    }

    #[test]
    fn both_sides_must_tell_the_same() {
        let own = relation(1, 3, Some(10), Some(30));
        assert_eq!(mirror(&own, &relation(3, 1, Some(30), Some(10))), None);
        let line = mirror(&own, &relation(3, 1, None, Some(10))).expect("differs");
        assert_eq!(line, "user 1: follows 3 since 10, is followed back since 30; user 3 has since 10 and not");
        assert!(mirror(&own, &relation(3, 1, Some(30), Some(11))).is_some());
        assert!(mirror(&relation(1, 3, None, Some(1)), &relation(3, 1, Some(1), Some(1))).is_some());
    }
}

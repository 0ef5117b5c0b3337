//! Who follows whom in the community: a made-up graph, and in it those whom everybody in town knows.

use fastrand::Rng;

use super::people::{CLOCK, GAZETTE, PRIVATE, READER, cast};
use crate::cli::graph::Graph;

/// One user in this many is a celebrity.
const USERS_PER_CELEBRITY: u32 = 500;
/// Mean number of users that a user chooses to follow, who are no celebrities …
const CHOSEN: u32 = 16;
/// … and most of them.
const MOST_CHOSEN: usize = 200;
/// The reader chooses so many, and does not follow the crowd.
const CHOSEN_BY_READER: u32 = 50;
/// Of 100 follows, so many are followed back …
const FOLLOWED_BACK: u8 = 30;
/// … but not by users with more followers, who would come near the default follow limit.
const FOLLOW_BACK_UP_TO: u32 = 500;
/// One user in this many follows the clock.
const USERS_PER_FRIEND_OF_THE_CLOCK: usize = 100;

/// A graph of `users` users.
///
/// The users after the reader are celebrities, without the clock. A third of all users follow each of them; nearly all
/// follow the gazette. The reader follows them all, the rest of the cast, and many others. The clock follows nobody.
pub(super) fn make(users: u32, random: &mut Rng) -> Graph {
    let celebrities = 1..=if users < 10 { 0 } else { users.div_ceil(USERS_PER_CELEBRITY) };
    let made = Graph::made_up(users, CHOSEN, false, random.u64(..));
    let mut follows = Vec::with_capacity(2 * made.follows().len());
    for user in 0..users {
        let others = made.following(user).filter(|target| !celebrities.contains(target));
        for target in others.take(MOST_CHOSEN) {
            follows.push((user, target));
            if made.audience(target) <= FOLLOW_BACK_UP_TO && random.u8(..100) < FOLLOWED_BACK {
                follows.push((target, user));
            }
        }
        let share = |celebrity| if celebrity as usize == GAZETTE { 90 } else { 33 };
        let liked = celebrities.clone().filter(|celebrity| random.u8(..100) < share(*celebrity));
        follows.extend(liked.map(|celebrity| (user, celebrity)));
    }
    let [reader, clock, private] = [READER, CLOCK, PRIVATE].map(|user| user as u32);
    follows.retain(|&(user, target)| user != reader && ![user, target].contains(&clock));
    let chosen = (0..CHOSEN_BY_READER).map(|_| random.u32(..users)).chain(celebrities).chain(0..cast() as u32);
    // A follower of a private account cannot ask for it.
    follows.extend(chosen.filter(|target| ![clock, private].contains(target)).map(|target| (reader, target)));
    let friends = (cast()..users as usize).step_by(USERS_PER_FRIEND_OF_THE_CLOCK);
    follows.extend(friends.map(|friend| (friend as u32, clock)));
    Graph::new(users, follows)
}

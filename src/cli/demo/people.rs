//! The people: names, and pictures that are chosen by a number.

use xxhash_rust::xxh3::xxh3_64_with_seed;

use super::texts::{self, ARABIC, CHINESE, ENGLISH, TEXTS};
use crate::prelude::*;

/// The reader: the user whose timeline a visitor looks at first.
pub(super) const READER: usize = 0;
/// The author with the most followers.
pub(super) const GAZETTE: usize = 1;
/// The author that the reader follows and mutes.
pub(super) const MUTED: usize = 3;
/// The author that posts every few seconds while the demo runs. Few follow it, and the reader does not.
pub(super) const CLOCK: usize = 4;
/// The user with a private account, which the reader asks to follow.
pub(super) const PRIVATE: usize = 12;
/// The members of the cast who post in the group.
pub(super) const SWIMMERS: [usize; 3] = [5, 6, 8];

/// How many people everybody in town knows: the first users.
pub(super) fn cast() -> usize {
    TEXTS.cast.len()
}

/// A number that depends on the user, the seed and `use_for` only.
fn draw(seed: u64, user: usize, use_for: &str) -> u64 {
    xxh3_64_with_seed(format!("{use_for} {user}").as_bytes(), seed)
}

/// One of a list.
fn pick<T>(list: &[T], number: u64) -> &T {
    &list[(number % list.len() as u64) as usize]
}

/// The subjects on which a user posts; the first is dearest, and tells the language: an eighth of the users write Chinese,
/// half as many Arabic.
pub(super) fn subjects(seed: u64, user: usize) -> [usize; 3] {
    if let Some(member) = TEXTS.cast.get(user) {
        let mut subjects = member.subjects.iter().cycle().filter_map(|subject| texts::named(subject));
        return std::array::from_fn(|_| subjects.next().unwrap_or_default());
    }
    match draw(seed, user, "language") % 16 {
        0..2 => [CHINESE; 3],
        2 => [ARABIC; 3],
        _ => ["first subject", "second subject", "third subject"]
            .map(|use_for| (draw(seed, user, use_for) % ENGLISH.len() as u64) as usize),
    }
}

/// Whether a user is an account of a business or a machine, which only posts.
pub(super) fn only_posts(user: usize) -> bool {
    [GAZETTE, MUTED, CLOCK].contains(&user)
}

/// The profile of a user with this id, as a line of an import.
pub(super) fn profile(seed: u64, user: usize, id: &ExternalId) -> Value {
    let (nickname, bio) = match TEXTS.cast.get(user) {
        Some(member) => (member.name.clone(), &member.bio),
        None => {
            let [dearest, ..] = subjects(seed, user);
            let (names, space) = match dearest {
                CHINESE => (&TEXTS.names[2..4], ""),
                ARABIC => (&TEXTS.names[4..6], " "),
                _ => (&TEXTS.names[..2], " "),
            };
            let [one, other] = ["first name", "last name"].map(|use_for| draw(seed, user, use_for));
            let name = format!("{}{space}{}", pick(&names[0], one), pick(&names[1], other));
            (name, pick(&TEXTS.subjects[dearest].bios, draw(seed, user, "bio")))
        }
    };
    let avatar = coloured(&TEXTS.avatars, draw(seed, user, "avatar"));
    json!({"user_id": id, "nickname": nickname, "avatar": avatar, "extra": {"bio": bio}})
}

/// The media of a post with one picture.
pub(super) fn picture(number: u64) -> Value {
    json!([{"type": "image", "url": coloured(&TEXTS.landscapes, number)}])
}

/// One of some pictures, in one of the colours. A picture is an address that holds all of it.
fn coloured(pictures: &[String], number: u64) -> String {
    pick(pictures, number / 360).replace("HUE", &(number % 360).to_string())
}

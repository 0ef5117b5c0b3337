//! The people: names, and pictures that are drawn from a number.

use serde_json::{Value, json};
use xxhash_rust::xxh3::xxh3_64_with_seed;

use super::texts::{self, ARABIC, CHINESE, ENGLISH, TEXTS};

/// The reader: the user whose timeline a visitor looks at first.
pub(super) const READER: usize = 0;
/// The author with the most followers.
pub(super) const GAZETTE: usize = 1;
/// The author that the reader follows and mutes.
pub(super) const MUTED: usize = 3;
/// The author that posts every few seconds while the demo runs. Few follow it, and the reader does not.
pub(super) const CLOCK: usize = 4;
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
pub(super) fn profile(seed: u64, user: usize, id: &str) -> Value {
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
    let avatar = avatar(draw(seed, user, "avatar"));
    json!({"user_id": id, "nickname": nickname, "avatar": avatar, "extra": {"bio": bio}})
}

/// A picture of a few squares in one colour, symmetric like a face, as the address of its own data.
fn avatar(number: u64) -> String {
    let hue = number % 360;
    // The left half of five columns, with the one in the middle.
    let squares = (0..3).flat_map(|x| (0..5).map(move |y| (x, y))).enumerate();
    let squares = squares.filter(|(bit, _)| number >> (16 + bit) & 1 == 1);
    let half: String = squares.map(|(_, (x, y))| format!("M{x} {y}h1v1h-1z")).collect();
    svg(
        "-1 -1 7 7",
        &format!(
            "<path fill='hsl({hue},60%,92%)' d='M-1-1h7v7h-7z'/><g fill='hsl({hue},55%,45%)'><path d='{half}'/>\
             <path transform='matrix(-1 0 0 1 5 0)' d='{half}'/></g>"
        ),
    )
}

/// The media of a post with one picture.
pub(super) fn picture(number: u64) -> Value {
    json!([{"type": "image", "url": landscape(number)}])
}

/// A landscape of sea, hills and a sun, as the address of its own data.
fn landscape(number: u64) -> String {
    let (hue, sun) = (number % 360, 20 + number / 360 % 120);
    let height = |place: u64| 46 + (number >> (16 + 6 * place)) % 28;
    let hills = (0..5).map(|place| format!("L{} {}", place * 40, height(place))).collect::<String>();
    let water = 78 + number / 7 % 12;
    svg(
        "0 0 160 100",
        &format!(
            "<path fill='hsl({hue},70%,88%)' d='M0 0h160v100H0z'/><circle cx='{sun}' cy='28' r='12' \
             fill='hsl(45,95%,65%)'/><path fill='hsl({},30%,45%)' d='M0 100{hills}V100z'/><path fill='hsl(200,55%,40%)' \
             d='M0 {water}h160V100H0z'/>",
            (hue + 90) % 360
        ),
    )
}

/// A picture as an address that holds all of it: only `#`, `%`, `<` and `>` need escapes (RFC 2397, and browsers).
fn svg(view: &str, content: &str) -> String {
    let text = format!("<svg xmlns='http://www.w3.org/2000/svg' viewBox='{view}'>{content}</svg>");
    let escaped = text.replace('%', "%25").replace('<', "%3C").replace('>', "%3E").replace('#', "%23");
    format!("data:image/svg+xml,{escaped}")
}

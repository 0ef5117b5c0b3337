//! The people: names, and pictures that are drawn from a number.

use serde_json::{Value, json};
use xxhash_rust::xxh3::xxh3_64_with_seed;

use super::texts::{self, TEXTS, Tongue};

/// The reader: the user whose timeline a visitor looks at first.
pub(super) const READER: usize = 0;
/// The author with the most followers.
pub(super) const GAZETTE: usize = 1;
/// The author that the reader follows and mutes.
pub(super) const MUTED: usize = 3;
/// The author that posts every few seconds while the demo runs. Few follow it, and the reader does not.
pub(super) const CLOCK: usize = 4;
pub(super) const NOODLES: usize = 7;
pub(super) const SAILOR: usize = 8;
/// The members of the cast who post in the group.
pub(super) const SWIMMERS: [usize; 3] = [5, 6, SAILOR];

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

/// The language in which a user writes, and in whose script its name is: an eighth of the users write Chinese, half as
/// many Arabic.
pub(super) fn tongue(seed: u64, user: usize) -> Tongue {
    match (user, draw(seed, user, "language") % 16) {
        (NOODLES, _) => Tongue::Chinese,
        (SAILOR, _) => Tongue::Arabic,
        (user, _) if user < cast() => Tongue::English,
        (_, 0..2) => Tongue::Chinese,
        (_, 2) => Tongue::Arabic,
        _ => Tongue::English,
    }
}

/// The subjects on which a user posts; the first is dearest.
pub(super) fn subjects(seed: u64, user: usize) -> [usize; 3] {
    if let Some(member) = TEXTS.cast.get(user) {
        let mut subjects = member.subjects.iter().cycle().filter_map(|subject| texts::named(subject));
        return std::array::from_fn(|_| subjects.next().unwrap_or_default());
    }
    match tongue(seed, user).subject() {
        Some(subject) => [subject; 3],
        None => ["first subject", "second subject", "third subject"].map(|use_for| {
            let number = draw(seed, user, use_for) % texts::ENGLISH.len() as u64;
            texts::ENGLISH.start + number as usize
        }),
    }
}

/// Whether a user is an account of a business or a machine, which only posts.
pub(super) fn only_posts(user: usize) -> bool {
    [GAZETTE, MUTED, CLOCK].contains(&user)
}

/// The profile of a user with this id, as a line of an import.
pub(super) fn profile(seed: u64, user: usize, id: &str) -> Value {
    let bio = match TEXTS.cast.get(user) {
        Some(member) => member.bio.as_str(),
        None => texts::bio(subjects(seed, user)[0], draw(seed, user, "bio")),
    };
    let avatar = avatar(draw(seed, user, "avatar"));
    json!({"user_id": id, "nickname": nickname(seed, user), "avatar": avatar, "extra": {"bio": bio}})
}

fn nickname(seed: u64, user: usize) -> String {
    if let Some(member) = TEXTS.cast.get(user) {
        return member.name.clone();
    }
    let (one, other) = (draw(seed, user, "first name"), draw(seed, user, "last name"));
    let tongue = tongue(seed, user);
    let [one, other] =
        [(0, one), (1, other)].map(|(place, number)| pick(&TEXTS.names[2 * tongue as usize + place], number));
    if tongue == Tongue::Chinese { format!("{one}{other}") } else { format!("{one} {other}") }
}

/// Side of the grid of an avatar; the right half mirrors the left one.
const GRID: u64 = 5;

/// A picture of a few squares in one colour, symmetric like a face, as the address of its own data.
fn avatar(number: u64) -> String {
    let hue = number % 360;
    let mut path = String::new();
    for (bit, (x, y)) in (0..GRID.div_ceil(2)).flat_map(|x| (0..GRID).map(move |y| (x, y))).enumerate() {
        if number >> (16 + bit) & 1 == 1 {
            let mirrored = GRID - 1 - x;
            path.push_str(&format!("M{x} {y}h1v1h-1z"));
            if mirrored != x {
                path.push_str(&format!("M{mirrored} {y}h1v1h-1z"));
            }
        }
    }
    svg(
        "-1 -1 7 7",
        &format!("<path fill='hsl({hue},60%,92%)' d='M-1-1h7v7h-7z'/><path fill='hsl({hue},55%,45%)' d='{path}'/>"),
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

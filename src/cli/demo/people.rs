//! The people: names, and pictures that are drawn from a number.

use serde::Serialize;
use xxhash_rust::xxh3::xxh3_64_with_seed;

/// The reader: the user whose timeline a visitor looks at first.
pub(super) const READER: usize = 0;
/// The author with the most followers.
pub(super) const GAZETTE: usize = 1;
/// The author that posts every few seconds while the demo runs.
pub(super) const CLOCK: usize = 2;
/// The celebrity that the reader follows and mutes.
pub(super) const MUTED: usize = 3;

const FIRST: &[&str] = &[
    "Ada", "Amir", "Anouk", "Bao", "Beatriz", "Chidi", "Dilan", "Elif", "Emeka", "Femke", "Goran", "Hana", "Ines",
    "Ivo", "Jonas", "Juno", "Kaja", "Kofi", "Lena", "Liam", "Mateo", "Mei", "Mira", "Naveen", "Noor", "Olga", "Pia",
    "Quentin", "Rania", "Rui", "Sanna", "Soren", "Tariq", "Tove", "Uma", "Viktor", "Wanda", "Xenia", "Yusuf", "Zoe",
];
const LAST: &[&str] = &[
    "Abara", "Almeida", "Berg", "Brandt", "Castro", "Chen", "Dahl", "Demir", "Eriksen", "Farah", "Fischer", "Garcia",
    "Haddad", "Horvat", "Ito", "Jansen", "Kaya", "Kim", "Lund", "Marsh", "Mensah", "Moreau", "Nagy", "Novak", "Okafor",
    "Patel", "Quist", "Reyes", "Rossi", "Sato", "Silva", "Tanaka", "Usman", "Varga", "Weber", "Wolf", "Yilmaz",
    "Zhang",
];
/// Names as they are written in Chinese: a family name, then a given name.
const FAMILY: &[&str] = &["王", "李", "张", "刘", "陈", "杨", "赵", "黄", "周", "吴"];
const GIVEN: &[&str] = &["小雨", "海", "晨", "静", "明月", "思远", "一帆", "雪", "文", "安宁"];
/// One user in this many has a Chinese name, and writes Chinese.
const CHINESE: u64 = 8;

/// A number that depends on the user, the seed and `use_for` only.
fn draw(seed: u64, user: usize, use_for: &str) -> u64 {
    xxh3_64_with_seed(format!("{use_for} {user}").as_bytes(), seed)
}

/// One of a list.
fn pick<T>(list: &[T], number: u64) -> &T {
    &list[(number % list.len() as u64) as usize]
}

/// Whether a user writes Chinese.
pub(super) fn writes_chinese(seed: u64, user: usize) -> bool {
    user > CLOCK && draw(seed, user, "language").is_multiple_of(CHINESE)
}

/// The profile of a user, as a line of an import.
#[derive(Debug, Serialize)]
pub(super) struct Profile {
    user_id: String,
    nickname: String,
    avatar: String,
    extra: Extra,
}

/// Fields of a profile that are the application's own.
#[derive(Debug, Serialize)]
struct Extra {
    bio: String,
}

/// The profile of a user with this id.
pub(super) fn profile(seed: u64, user: usize, id: String) -> Profile {
    let bio = match user {
        GAZETTE => "News of the harbour, since 1871.".to_owned(),
        CLOCK => "The height of the water, every few seconds.".to_owned(),
        READER => "Reads everything, and likes some of it.".to_owned(),
        _ => (*pick(BIOS, draw(seed, user, "bio"))).to_owned(),
    };
    Profile {
        user_id: id,
        nickname: nickname(seed, user),
        avatar: avatar(draw(seed, user, "avatar")),
        extra: Extra { bio },
    }
}

const BIOS: &[&str] = &[
    "Baker. Up before the gulls.",
    "Rides to work, whatever the weather.",
    "Three cats, two radios, one garden.",
    "Reads on the night train.",
    "Swims in the sea from May to October.",
    "Repairs what others throw away.",
    "Marathon: one. Plans: more.",
    "住在海边，喜欢散步。",
];

fn nickname(seed: u64, user: usize) -> String {
    match user {
        READER => return "Robin Tidewater".to_owned(),
        GAZETTE => return "The Harbour Gazette".to_owned(),
        CLOCK => return "Tide Clock".to_owned(),
        _ => {}
    }
    let (one, other) = (draw(seed, user, "first name"), draw(seed, user, "last name"));
    if writes_chinese(seed, user) {
        format!("{}{}", pick(FAMILY, one), pick(GIVEN, other))
    } else {
        format!("{} {}", pick(FIRST, one), pick(LAST, other))
    }
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

/// A landscape of sea, hills and a sun, as the address of its own data.
pub(super) fn landscape(number: u64) -> String {
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

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;
    use crate::model::ProfileDraft;

    #[test]
    fn profiles_are_as_the_api_takes_them_and_people_differ() {
        let (mut faces, mut chinese) = (HashSet::new(), 0);
        for user in 0..1000 {
            let profile = profile(1, user, user.to_string());
            let mut json = serde_json::to_value(&profile).expect("JSON");
            json.as_object_mut().expect("an object").remove("user_id");
            serde_json::from_value::<ProfileDraft>(json).expect("within the limits");
            faces.insert(profile.avatar);
            chinese += usize::from(writes_chinese(1, user));
        }
        assert!(faces.len() > 900, "{} faces", faces.len());
        assert!((60..200).contains(&chinese), "{chinese}");
    }

    #[test]
    fn a_picture_has_no_character_that_ends_an_address() {
        for number in [0, 1, u64::MAX] {
            for picture in [avatar(number), landscape(number)] {
                assert!(picture.len() < 1200 && !picture.contains(['#', '<', '>', '"', '\n']), "{picture}");
            }
        }
    }
}

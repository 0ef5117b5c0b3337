//! The people: names, and pictures that are drawn from a number.

use serde::Serialize;
use xxhash_rust::xxh3::xxh3_64_with_seed;

use super::texts::{self, Tongue};

/// The reader: the user whose timeline a visitor looks at first.
pub(super) const READER: usize = 0;
/// The author with the most followers.
pub(super) const GAZETTE: usize = 1;
pub(super) const CAPTAIN: usize = 2;
/// The author that the reader follows and mutes.
pub(super) const MUTED: usize = 3;
/// The author that posts every few seconds while the demo runs. Few follow it, and the reader does not.
pub(super) const CLOCK: usize = 4;
pub(super) const BAKER: usize = 5;
pub(super) const KEEPER: usize = 6;
pub(super) const NOODLES: usize = 7;
pub(super) const SAILOR: usize = 8;
pub(super) const RADIO: usize = 9;

/// Whom everybody in town knows: the nickname, the description, the subjects.
pub(super) const CAST: [(&str, &str, [usize; 3]); 10] = [
    ("Robin Tidewater", "Reads everything, and likes some of it.", [texts::BOOKS, texts::WEATHER, texts::MARKET]),
    ("The Harbour Gazette", "News of the harbour, since 1871.", [texts::NEWS; 3]),
    (
        "Captain Ines Almeida",
        "Master of the island ferry. No, I cannot see through fog.",
        [texts::FERRY, texts::SAILING, texts::HARBOUR],
    ),
    ("Lucky's Fish Bar", "OPEN NOW. AND NOW. AND NOW. 🐟", [texts::ADVERTS; 3]),
    ("Tide Clock", "The height of the water, every few seconds.", [texts::TIDE; 3]),
    ("Tove Lund", "Baker on Rope Lane. Up before the gulls.", [texts::BAKING, texts::MARKET, texts::BAKING]),
    (
        "Mattis at the Light",
        "138 steps above the sea. Keeper, painter, tea.",
        [texts::WEATHER, texts::HARBOUR, texts::BOOKS],
    ),
    ("陈明月", "面馆老板，来碗面，看看船。🍜", [texts::CHINESE; 3]),
    ("سامي حداد", "بحّار متقاعد. القارب بيع والبحر باقٍ.", [texts::ARABIC; 3]),
    (
        "Kofi from Radio Repairs",
        "If it hums, rattles or smokes, I am your man.",
        [texts::REPAIR, texts::MUSIC, texts::TRAINS],
    ),
];

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
/// Names as they are written in Arabic: a given name, then a family name.
const ARABIC_GIVEN: &[&str] = &["ليلى", "يوسف", "نور", "سامي", "هالة", "كريم", "مريم", "زيد", "رانية", "طارق"];
const ARABIC_FAMILY: &[&str] = &["حداد", "نصّار", "خليل", "منصور", "الشامي", "بدران", "صبّاغ", "عيسى"];

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
        (..CAST_SIZE, _) => Tongue::English,
        (_, 0..2) => Tongue::Chinese,
        (_, 2) => Tongue::Arabic,
        _ => Tongue::English,
    }
}

const CAST_SIZE: usize = CAST.len();

/// The subjects on which a user posts; the first is dearest.
pub(super) fn subjects(seed: u64, user: usize) -> [usize; 3] {
    if let Some((.., subjects)) = CAST.get(user) {
        return *subjects;
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
    let bio = match CAST.get(user) {
        Some((_, bio, _)) => (*bio).to_owned(),
        None => texts::bio(subjects(seed, user)[0], draw(seed, user, "bio")).to_owned(),
    };
    Profile {
        user_id: id,
        nickname: nickname(seed, user),
        avatar: avatar(draw(seed, user, "avatar")),
        extra: Extra { bio },
    }
}

fn nickname(seed: u64, user: usize) -> String {
    if let Some((name, ..)) = CAST.get(user) {
        return (*name).to_owned();
    }
    let (one, other) = (draw(seed, user, "first name"), draw(seed, user, "last name"));
    match tongue(seed, user) {
        Tongue::English => format!("{} {}", pick(FIRST, one), pick(LAST, other)),
        Tongue::Chinese => format!("{}{}", pick(FAMILY, one), pick(GIVEN, other)),
        Tongue::Arabic => format!("{} {}", pick(ARABIC_GIVEN, one), pick(ARABIC_FAMILY, other)),
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
    use model::ProfileDraft;

    #[test]
    fn profiles_are_as_the_api_takes_them_and_people_differ() {
        let (mut faces, mut tongues, mut bios) = (HashSet::new(), [0; 3], HashSet::new());
        for user in 0..1000 {
            let profile = profile(1, user, user.to_string());
            let mut json = serde_json::to_value(&profile).expect("JSON");
            json.as_object_mut().expect("an object").remove("user_id");
            serde_json::from_value::<ProfileDraft>(json).expect("within the limits");
            faces.insert(profile.avatar);
            tongues[tongue(1, user) as usize] += 1;
            bios.insert(profile.extra.bio);
        }
        assert!(faces.len() > 900, "{} faces", faces.len());
        assert!(tongues[0] > 700 && tongues[1] > 60 && tongues[2] > 30, "{tongues:?}");
        assert!(bios.len() > 40, "{} descriptions", bios.len());
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

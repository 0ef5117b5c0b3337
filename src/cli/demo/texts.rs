//! The texts of posts, by subject, because a subject is also a topic.

use fastrand::Rng;

/// A subject with its topics and sentences.
struct Subject {
    topics: &'static [&'static str],
    sentences: &'static [&'static str],
}

const SUBJECTS: &[Subject] = &[
    Subject {
        topics: &["harbour"],
        sentences: &[
            "The old harbour at six in the morning belongs to the gulls.",
            "They are painting the lighthouse again. Same white, new ladder.",
            "A fog so thick today that the ferry rang its bell all the way in.",
            "Somebody left a single oar on the pier. There must be a story.",
        ],
    },
    Subject {
        topics: &["cycling", "commute"],
        sentences: &[
            "New bicycle, old hill. The hill won.",
            "Forty kilometres before breakfast, and the wind was against me both ways.",
            "Can anybody recommend lights that survive the rain?",
            "Day three of cycling to work. My knees have opinions.",
        ],
    },
    Subject {
        topics: &["baking"],
        sentences: &[
            "The sourdough rose! I may have cried a little.",
            "Rye, salt, water, time. That is the whole recipe.",
            "Burned the first tray, so the second one is breakfast, lunch and dinner.",
            "Who else feeds the starter before feeding themselves?",
        ],
    },
    Subject {
        topics: &["running"],
        sentences: &[
            "My first marathon: finished, smiling, last but eleven.",
            "Ran along the sea wall until the rain turned sideways.",
            "Twelve kilometres today. The dog did fifteen, in circles.",
        ],
    },
    Subject {
        topics: &["trains", "travel"],
        sentences: &[
            "The night train is late, and nobody in the dining car minds.",
            "Woke up in another country. I love this sleeper.",
            "Missed the last tram, found a better way home.",
            "A timetable from 1934, two coins at the flea market. Best day.",
        ],
    },
    Subject {
        topics: &["radio", "repair"],
        sentences: &[
            "The broken radio plays again. It was one capacitor. It is always one capacitor.",
            "Picked up a station from across the ocean tonight, faint as a moth.",
            "Repair café on Saturday: bring what hums, rattles or smokes.",
        ],
    },
    Subject {
        topics: &["cats"],
        sentences: &[
            "Three small cats have moved in. Nobody asked me.",
            "The cat sat on the keyboard and improved the report.",
            "He knocked the plant over, looked at me, and did it again. 🐈",
        ],
    },
    Subject {
        topics: &["market", "food"],
        sentences: &[
            "Autumn market: eleven kinds of apples, and I bought cheese.",
            "The fishmonger knows my name now. I am not sure how I feel about it.",
            "Unpopular opinion: plums are better than peaches.",
        ],
    },
    Subject {
        topics: &["books"],
        sentences: &[
            "Chapter forty of a very long book. The ship has still not left.",
            "Read it in one night, and now I miss everybody in it.",
            "The library has a new chair by the window. See you never.",
        ],
    },
    Subject {
        topics: &["garden"],
        sentences: &[
            "First tomato of the year. We shared it in four parts.",
            "The slugs send their regards.",
            "Planted a pear tree for somebody who is one year old today.",
        ],
    },
    Subject {
        topics: &["tidepools", "sea"],
        sentences: &[
            "Low tide at noon: four anemones, a blenny and one very cross crab.",
            "The sea was flat as glass this morning. 🌊",
            "A seal looked at us for ten minutes. We looked back.\nNobody blinked.",
        ],
    },
    Subject {
        topics: &["ferry", "harbour"],
        sentences: &[
            "The six o'clock ferry, the back row, a thermos. Perfect.",
            "Ferry cancelled, so the whole island is in one café.",
        ],
    },
];

const CHINESE: &[&str] = &[
    "清晨的老港口，只有海鸥。",
    "今天的雾太大，渡轮一路鸣着铃进港。",
    "终于跑完了人生第一个马拉松！",
    "面包发起来了，满屋子都是麦香。",
    "退潮的时候，在礁石间看到一只小海豹。🌊",
    "末班电车走了，干脆沿着海边走回家。",
];

const COMMENTS: &[&str] = &[
    "Same here!",
    "This made my morning.",
    "Photos, please.",
    "I was there too, by the blue boat.",
    "You should write a book.",
    "Never again, you said. 😄",
    "Which one do you mean?",
    "好漂亮！",
    "Save me a slice.",
    "I will bring the coffee.",
];

const NEWS: &[&str] = &[
    "Harbour: the crane on the east quay is under repair until Friday.",
    "The ferry to the islands runs every hour from today.",
    "Council: the new cycle path along the sea wall is to open in spring.",
    "Weather: wind from the west, force five, rain after dark.",
    "Market square: the autumn market begins on Saturday at eight.",
    "Found: one oar, one left shoe, three kites. The harbour office has them all.",
];

fn pick(list: &[&'static str], random: &mut Rng) -> &'static str {
    random.choice(list).copied().unwrap_or_default()
}

/// A post, and the topics of its subject.
pub(super) fn post(chinese: bool, random: &mut Rng) -> (&'static str, &'static [&'static str]) {
    match random.choice(SUBJECTS) {
        Some(subject) if !chinese => (pick(subject.sentences, random), subject.topics),
        _ => (pick(CHINESE, random), &["海边"]),
    }
}

/// A piece of news, and its topics.
pub(super) fn news(random: &mut Rng) -> (&'static str, &'static [&'static str]) {
    (pick(NEWS, random), &["news", "harbour"])
}

/// A comment on a post.
pub(super) fn comment(random: &mut Rng) -> &'static str {
    pick(COMMENTS, random)
}

/// The height of the water, which rises and falls twice a day, at a time in milliseconds since 1970.
pub(super) fn tide(at: u64) -> String {
    const PERIOD: f64 = 12.42 * 3_600_000.0;
    let phase = at as f64 / PERIOD * std::f64::consts::TAU;
    let (height, word) = (2.4 + 1.8 * phase.sin(), if phase.cos() > 0.0 { "rising" } else { "falling" });
    format!("{height:.2} m at the old harbour, {word}.")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::is_topic;

    #[test]
    fn topics_are_as_the_api_takes_them() {
        let mut random = Rng::with_seed(1);
        for n in 0..500 {
            let (text, topics) = if n % 5 == 0 { news(&mut random) } else { post(n % 3 == 0, &mut random) };
            assert!(!text.is_empty() && topics.iter().all(|topic| is_topic(topic)), "{text}");
        }
    }

    #[test]
    fn the_water_rises_and_falls() {
        let half = (6.21 * 3_600_000.0) as u64;
        let (one, other) = (tide(1_000_000), tide(1_000_000 + half));
        assert!(one.contains("rising") != other.contains("rising"), "{one} {other}");
    }
}

//! Spellings of UUIDs. An id is compared byte by byte, so one UUID in two spellings is two ids: nearly always a mistake.

use std::fmt;

use model::ExternalId;

/// The spellings, in words.
const WORDS: [&str; 4] = [
    "with hyphens in lower case",
    "with hyphens in upper case",
    "without hyphens in lower case",
    "without hyphens in upper case",
];

/// The first line of each spelling in all files.
#[derive(Debug, Default)]
pub(super) struct Spellings([Option<String>; WORDS.len()]);

impl Spellings {
    /// Looks at the ids of a line.
    pub(super) fn note<'a>(
        &mut self,
        ids: impl IntoIterator<Item = &'a ExternalId>,
        table: &str,
        file: &str,
        line: u64,
    ) {
        for spelling in ids.into_iter().filter_map(ExternalId::name).filter_map(|name| spelling(name)) {
            self.0[spelling].get_or_insert_with(|| format!("{table} {file} line {line}"));
        }
    }

    /// Whether there are several.
    pub(super) fn differ(&self) -> bool {
        self.0.iter().flatten().count() > 1
    }
}

impl fmt::Display for Spellings {
    /// Each spelling with its first line.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let seen = WORDS.iter().zip(&self.0);
        let seen = seen.filter_map(|(words, first)| Some(format!("{words} (first in {})", first.as_ref()?)));
        f.write_str(&seen.collect::<Vec<_>>().join(", "))
    }
}

/// The number of the spelling of a UUID; `None` for any other text, and for a UUID without letters or of both cases.
fn spelling(text: &str) -> Option<usize> {
    let is_bare = text.len() == 32;
    let is_right = |(at, byte): (usize, u8)| match at {
        8 | 13 | 18 | 23 if !is_bare => byte == b'-',
        _ => byte.is_ascii_hexdigit(),
    };
    let has = |case: fn(&u8) -> bool| text.bytes().any(|byte| case(&byte));
    let (lower, upper) = (has(u8::is_ascii_lowercase), has(u8::is_ascii_uppercase));
    let is_uuid = (is_bare || text.len() == 36) && text.bytes().enumerate().all(is_right);
    (lower != upper && is_uuid).then(|| 2 * usize::from(is_bare) + usize::from(upper))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spellings_of_uuids_are_told_apart() {
        let uuid = "0190a1b2-c3d4-7e5f-8a9b-0c1d2e3f4a5b";
        let bare = uuid.replace('-', "");
        for (text, expected) in [
            (uuid, Some(0)),
            (&uuid.to_uppercase(), Some(1)),
            (&bare, Some(2)),
            (&bare.to_uppercase(), Some(3)),
            ("01J0QZ5T3V8Y6W4X2R9K7M1N0P", None),
            ("0190A1b2-c3d4-7e5f-8a9b-0c1d2e3f4a5b", None),
            ("01901234-5678-1234-5678-012345678901", None),
            ("0190a1b2xc3d4-7e5f-8a9b-0c1d2e3f4a5b", None),
            ("0190a1b2-c3d4-7e5f-8a9b-0c1d2e3f4a5g", None),
            ("0190a1b2-c3d4-7e5f-8a9b--c1d2e3f4a5b", None),
        ] {
            assert_eq!(spelling(text), expected, "{text}");
        }
        let mut seen = Spellings::default();
        let ids = [uuid, "7", "ana", &bare, &bare].map(|text| text.parse().expect("an id"));
        seen.note(&ids[..3], "follows", "f", 1);
        assert!(!seen.differ());
        seen.note(&ids, "content", "c", 2);
        assert!(seen.differ());
        let words = "with hyphens in lower case (first in follows f line 1), without hyphens in lower case (first in content c line 2)";
        assert_eq!(seen.to_string(), words);
    }
}

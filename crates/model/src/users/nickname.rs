//! The words of nicknames, by which users are searched for.
//!
//! Rows on disk depend on each step here, so another result is another format of the data directory. The tables of
//! Unicode are those of crates of fixed versions, never those of the standard library, which change with the compiler.

use unicase::UniCase;
use unicode_normalization::UnicodeNormalization as _;
use unicode_normalization::char::canonical_combining_class;
use unicode_properties::{GeneralCategory, GeneralCategoryGroup, UnicodeGeneralCategory as _};

/// Most words of a nickname by which it is found, and most bytes of each with what follows it.
const MOST_WORDS: usize = 8;
const LONGEST: usize = 64;

/// A text as the search compares it, cut to the bytes that it looks at: compatible characters (NFKD) without accents, vowel
/// points, invisible characters and the difference of capitals (full case folding), with one space for each gap.
pub fn folded(text: &str) -> String {
    fold(&plain(text))
}

/// The beginnings at which a nickname is found, each once, ascending: itself, and from each further word on.
pub fn beginnings(nickname: &str) -> Vec<String> {
    let plain = plain(nickname);
    let mut was_inside = false;
    let starts = plain.char_indices().filter(|(_, c)| {
        use GeneralCategoryGroup::{Letter, Mark, Number};
        let group = c.general_category_group();
        let is_start = matches!(group, Letter | Number) && !was_inside;
        // A mark belongs to the letter before it.
        was_inside = matches!(group, Letter | Number) || (was_inside && group == Mark);
        is_start
    });
    let starts = starts.map(|(start, _)| start).take(MOST_WORDS);
    let mut found: Vec<_> = [0].into_iter().chain(starts).map(|start| fold(&plain[start..])).collect();
    found.retain(|beginning| !beginning.is_empty());
    found.sort_unstable();
    found.dedup();
    found
}

/// A text without what [`folded`] leaves out, but with capitals and gaps. The dotless i of Turkish has the capital of the
/// other one, so they are one letter.
fn plain(text: &str) -> String {
    text.nfkd().filter(|c| !is_left_out(*c)).map(|c| if c == 'ı' { 'i' } else { c }).collect()
}

/// Whether a character does not count: an invisible one, or a mark that many do not type. By their combining classes these
/// are overlays (1), points of Hebrew, Arabic and Syriac (10 to 36), and accents (200 and above). Vowel signs, viramas and
/// tones of other scripts count, and so do the voicing marks of kana: with them a word is another one.
fn is_left_out(c: char) -> bool {
    let is_variation = matches!(c, '\u{fe00}'..='\u{fe0f}' | '\u{e0100}'..='\u{e01ef}');
    match c.general_category() {
        GeneralCategory::Format => true,
        GeneralCategory::NonspacingMark => is_variation || matches!(canonical_combining_class(c), 1 | 10..=36 | 200..),
        _ => false,
    }
}

fn is_gap(c: char) -> bool {
    c.general_category_group() == GeneralCategoryGroup::Separator || c.general_category() == GeneralCategory::Control
}

fn fold(plain: &str) -> String {
    let spaced = plain.split(is_gap).filter(|word| !word.is_empty());
    let mut folded = UniCase::new(spaced.collect::<Vec<_>>().join(" ")).to_folded_case();
    let end = (0..=folded.len().min(LONGEST)).rev().find(|end| folded.is_char_boundary(*end));
    folded.truncate(end.unwrap_or_default());
    folded
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn capitals_and_gaps_make_no_difference() {
        assert_eq!(folded("  Ebba\t\u{0} SMITH "), "ebba smith");
        assert_eq!(folded("Straße ΣΊΣΥΦΟΣ"), folded("STRASSE σίσυφος"));
        let long = "ж".repeat(100);
        assert_eq!(folded(&long), "ж".repeat(32));
        assert_eq!(folded(&format!("a{long}")).len(), 63, "whole characters");
    }

    /// Whether somebody who types `text` finds `nickname`.
    fn finds(text: &str, nickname: &str) -> bool {
        beginnings(nickname).iter().any(|beginning| beginning.starts_with(&folded(text)))
    }

    #[test]
    fn accents_and_other_forms_of_letters_make_no_difference() {
        for (text, nickname) in [
            ("é", "e\u{301}lodie"),
            ("elo", "e\u{301}lodie"),
            ("elodie", "Élodie"),
            ("élodie", "Elodie"),
            ("e\u{301}", "Anna Élodie"),
            ("ist", "İstanbul"),
            ("istanbul", "ISTANBUL"),
            ("ırmak", "Irmak"),
            ("irmak", "ırmak"),
            ("ışık", "Işık"),
            ("ISIK", "ışık"),
            ("muller", "Anna Müller"),
            ("nguyen", "Nguyễn"),
            ("ελλ", "ΈΛΛΗΝ"),
            ("fish", "ﬁsh"),
            ("anna", "Ａｎｎａ"),
            ("한", "한국"),
            ("שלום", "שָׁלוֹם"),
            ("محمد", "مُحَمَّد"),
            ("می خ", "می خواهم"),
            ("میخواهم", "می\u{200c}خواهم"),
            ("❤ bo", "❤\u{fe0f} Bo"),
        ] {
            assert!(finds(text, nickname), "{text} {nickname}");
        }
        for (text, nickname) in [("が", "かな"), ("कि", "कुमार"), ("e", "\u{301}"), ("ødd", "Odd")] {
            assert!(!finds(text, nickname), "{text} {nickname}");
        }
        assert_eq!(folded("\u{301}\u{200d}"), "");
    }

    #[test]
    fn a_mark_ends_no_word() {
        assert_eq!(beginnings("कृष्ण मूर्ति"), ["कृष्ण मूर्ति", "मूर्ति"]);
        assert_eq!(beginnings("e\u{301}lodie"), ["elodie"]);
        assert_eq!(beginnings("ก้องเกียรติ"), ["ก้องเกียรติ"]);
        assert_eq!(beginnings("がく"), ["か\u{3099}く"]);
    }

    /// The rows on disk depend on this hash. Another hash needs another format.
    #[test]
    fn the_folding_is_that_of_the_format() {
        let mut digest = xxhash_rust::xxh3::Xxh3::new();
        for c in '\0'..=char::MAX {
            for beginning in beginnings(&format!("a{c}b")) {
                digest.update(beginning.as_bytes());
                digest.update(&[0]);
            }
        }
        assert_eq!(format!("{:032x}", digest.digest128()), "6cb70d1b9b5123787ba6fabe713b447b");
    }

    #[test]
    fn a_nickname_is_found_by_each_of_its_words() {
        assert_eq!(beginnings("Ebba van-der Smith"), ["der smith", "ebba van-der smith", "smith", "van-der smith"]);
        assert_eq!(beginnings("★ star"), ["star", "★ star"]);
        assert_eq!(beginnings("ben ben"), ["ben", "ben ben"]);
        assert_eq!(beginnings("★"), ["★"]);
        assert!(beginnings(" \u{0}").is_empty());
        let long: String = (0..100).map(|n| format!("w{n} ")).collect();
        assert_eq!(beginnings(&long).len(), MOST_WORDS);
    }
}

//! The words of nicknames, by which users are searched for.

use unicase::UniCase;

/// Most words of a nickname by which it is found, and most bytes of each with what follows it.
const MOST_WORDS: usize = 8;
const LONGEST: usize = 64;

/// A text without the difference of capitals (Unicode, full case folding), with one space for each gap, cut to the bytes that
/// a search looks at.
pub fn folded(text: &str) -> String {
    let spaced = text.split(|c: char| c.is_whitespace() || c.is_control()).filter(|word| !word.is_empty());
    let mut folded = UniCase::new(spaced.collect::<Vec<_>>().join(" ")).to_folded_case();
    let end = (0..=folded.len().min(LONGEST)).rev().find(|end| folded.is_char_boundary(*end));
    folded.truncate(end.unwrap_or_default());
    folded
}

/// The beginnings at which a nickname is found, each once, ascending: itself, and from each further word on.
pub fn beginnings(nickname: &str) -> Vec<String> {
    let mut was_inside = false;
    let starts = nickname.char_indices().filter(|(_, c)| {
        let is_start = c.is_alphanumeric() && !was_inside;
        was_inside = c.is_alphanumeric();
        is_start
    });
    let starts = starts.map(|(start, _)| start).take(MOST_WORDS);
    let mut found: Vec<_> = [0].into_iter().chain(starts).map(|start| folded(&nickname[start..])).collect();
    found.retain(|beginning| !beginning.is_empty());
    found.sort_unstable();
    found.dedup();
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn capitals_and_gaps_make_no_difference() {
        assert_eq!(folded("  Ebba\t\u{0} SMITH "), "ebba smith");
        assert_eq!(folded("Straße ΣΊΣΥΦΟΣ"), folded("STRASSE σίσυφος"));
        let long = "é".repeat(100);
        assert_eq!(folded(&long), "é".repeat(32));
        assert_eq!(folded(&format!("a{long}")).len(), 63, "whole characters");
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

//! Which backups are removed.

use super::shelf::Kept;

/// The names of the backups to remove, of all from the newest on. Never one of the `keep` newest good ones.
pub(super) fn surplus(kept: &[Kept], keep: usize) -> Vec<&str> {
    let (mut good, mut bad) = (0, 0);
    let mut is_surplus = |kept: &Kept| {
        if good >= keep {
            return true;
        }
        match kept.verdict {
            Some(_) if kept.is_good() => good += 1,
            Some(_) => bad += 1,
            None => {}
        }
        bad > keep && !kept.is_good() && kept.verdict.is_some()
    };
    kept.iter().filter(|kept| is_surplus(kept)).map(Kept::name).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::backup::manifest::{Manifest, Verdict};

    fn kept(states: &str) -> Vec<Kept> {
        let verdict = |total| Some(Verdict { total, ..Verdict::default() });
        let one = |(place, state): (usize, char)| Kept {
            manifest: Manifest {
                name: place.to_string(),
                begun_at: 0,
                took_ms: 0,
                format: 3,
                release: String::new(),
                files: 0,
                bytes: 0,
                sequence: 0,
            },
            verdict: match state {
                'g' => verdict(0),
                'b' => verdict(1),
                _ => None,
            },
        };
        states.chars().enumerate().map(one).collect()
    }

    #[test]
    fn the_last_good_backups_stay() {
        let removed = |states: &str, keep| surplus(&kept(states), keep).join(" ");
        assert_eq!(removed("ggg", 3), "");
        assert_eq!(removed("ggggg", 3), "3 4");
        assert_eq!(removed("ugbgu", 2), "4");
        assert_eq!(removed("bbbg", 2), "2", "however many are bad, the good one stays");
        assert_eq!(removed("bbbbgggu", 1), "1 2 3 5 6 7");
        assert_eq!(removed("uuuu", 1), "", "nobody knows yet which of them is good");
    }
}

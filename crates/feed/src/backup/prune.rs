//! Which backups are removed.

use super::shelf::{Backup, State};

/// The names of the backups to remove, of all from the newest on. Never one of the `keep` newest good ones.
pub(super) fn surplus(kept: &[Backup], keep: usize) -> Vec<&str> {
    let (mut good, mut bad) = (0, 0);
    let mut is_surplus = |kept: &Backup| {
        let is_enough = good >= keep;
        good += usize::from(kept.state == State::Verified);
        bad += usize::from(kept.state == State::Failed);
        is_enough || bad > keep && kept.state == State::Failed
    };
    kept.iter().filter(|kept| is_surplus(kept)).map(|kept| kept.name().as_str()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::backup::manifest::{Manifest, Verdict};

    fn kept(states: &str) -> Vec<Backup> {
        let one = |(place, state): (usize, char)| {
            let name = place.to_string();
            let (took_ms, files, bytes, sequence) = Default::default();
            let release = String::new();
            let manifest = Manifest { name, begun_at: 0, took_ms, format: 3, release, files, bytes, sequence };
            let verdict = |total| Some(Verdict { total, ..Verdict::default() });
            match state {
                'g' => Backup::of(manifest, verdict(0)),
                'b' => Backup::of(manifest, verdict(1)),
                _ => Backup::of(manifest, None),
            }
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

//! Erasures that a restored directory does not know, because its backup is older.

use std::collections::HashMap;

use crate::cli::terminal::units;
use crate::prelude::*;
use feed::backup::Manifest;
use feed::erasure::tables::known_erasures;
use feed::erasure::{ERASURES_LISTED, erasure_hash};
use model::Erasure;

/// Begins the erasures of another directory in that of the settings, which was restored of a backup; the next start of a
/// server goes on with them. Says which erasures it cannot know.
pub(super) fn begin_again(config: &Config, replaced: &Path, backup: &Manifest) -> Result<()> {
    let taken = units::time(backup.begun_at);
    if config.cluster.is_on() {
        return print_line(format_args!("erasures after {taken} come with the command log"));
    }
    let mut known = match known_erasures(replaced) {
        Ok(known) => known,
        Err(error) => {
            return print_line(format_args!(
                "cannot read the erasures of {}: {error}. Erase again all users who were erased after {taken}",
                replaced.display()
            ));
        }
    };
    let forgotten = now().saturating_sub(ERASURES_LISTED);
    if backup.begun_at < forgotten {
        print_line(format_args!(
            "{} has forgotten erasures that were over before {}. Erase again all users who were erased between {taken} and then",
            replaced.display(),
            units::time(forgotten)
        ))?;
    }
    let store = Store::open(&server::options(config).with(|engine| engine.keep_room = false))?;
    // The newest of each hash counts, which comes last: a user who came back may be erased again.
    known.sort_unstable_by_key(|(_, since)| *since);
    let begun = begin(&store, known.into_iter().collect())?;
    print_line(format_args!("{begun} users who were erased after {taken} are erased again by the next start"))
}

/// Says that erasures after the backup are not known.
pub(super) fn are_unknown(backup: &Manifest) -> Result<()> {
    print_line(format_args!(
        "users who were erased after {} are back: --erased-in would name the directory that knows them",
        units::time(backup.begun_at)
    ))
}

/// Begins the erasures that the store does not know; how many.
fn begin(store: &Store, mut known: HashMap<String, u64>) -> Result<u64> {
    for erasure in feed::erasure::tables::erasures(store)? {
        known.remove(&erasure.hash);
    }
    for erased in feed::erasure::tables::erased(store)? {
        if known.get(&erased.hash) == Some(&erased.since) {
            known.remove(&erased.hash);
        }
    }
    if known.is_empty() {
        return Ok(0);
    }
    let (mut begun, mut seen) = (0, 0);
    let progress = Progress::new("erasures", None, Unit::Count("users"));
    feed::erasure::tables::each_user_named(store, |user, id| {
        seen += 1;
        progress.at(seen, "");
        let hash = erasure_hash(id);
        if let Some(since) = known.remove(&hash) {
            feed::erasure::tables::begin_erasure(store, &Erasure { user, hash, since, rows: 0 }, None)?;
            begun += 1;
        }
        Ok(())
    })?;
    Ok(begun)
}

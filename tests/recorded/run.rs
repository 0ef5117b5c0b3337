//! One recorded log, and all its followers.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Instant;

use feed::Command;
use model::store::TableDigest;

use super::crashes::Lives;
use super::fold::{Fold, Mistake};
use super::follower::{Counts, Follower, pages, same, same_pages};
use super::maker::Maker;
use super::parts::Share;
use super::tape::Tape;
use crate::promises::names::Ids;
use crate::promises::seed::seed;
use crate::promises::shape::Kind;
use crate::promises::system::temp_dir;

/// Commands of a log, unless the environment asks for others.
const COMMANDS: u64 = 12_000;
/// Records of the log that the readers with mistakes read.
const TRIED: u64 = 800;
/// Stages of a follower: one for so many commands, at least some, at most many.
const STAGE: u64 = 10_000;

fn commands() -> u64 {
    let text = std::env::var("TIDELINE_TEST_COMMANDS").ok();
    text.map_or(COMMANDS, |text| text.parse().expect("TIDELINE_TEST_COMMANDS is a number"))
}

/// Records a log; every follower must come to the same.
pub(crate) fn run() {
    // Numbers and names.
    let ids = Ids::Mixed;
    let (began, dir, wanted) = (Instant::now(), temp_dir(), commands());
    let (tape, fold, repeated) = Maker::record(&dir.path().join("log"), ids, seed(), wanted);
    let took = || format!("{:.0} s", began.elapsed().as_secs_f64());
    let (end, made) = (tape.end(), fold.commands());
    eprintln!(
        "{made} commands in {end} records, {} bytes, of which {repeated} came twice or late; recorded and \
         folded in {}",
        tape.bytes(),
        took()
    );
    assert_eq!(fold.kinds.len(), Command::KINDS, "not every kind of command is in the log: {:?}", fold.kinds);
    judge(&fold);
    let (digests, pages) = (fold.digests(), pages(&fold.feed, ids));
    let compared = fold.compared.clone();
    assert!(compared.len() > 5, "the log asks for too few comparisons: {compared:?}");
    drop(fold);
    let failed = all_follow(ids, &tape, &compared, &digests, &pages);
    if let Err(why) = failed {
        let seed = seed();
        panic!("{why}\nTIDELINE_TEST_COMMANDS={wanted} TIDELINE_TEST_SEED={seed} makes the same log again");
    }
    eprintln!("no difference in {}", took());
}

/// A fair share of each kind that came must be accepted.
pub(crate) fn judge(fold: &Fold) {
    for (kind, (accepted, refused)) in &fold.kinds {
        eprintln!("  {kind:17} {accepted:8} accepted {refused:8} refused");
    }
    assert!(is_fair(fold), "of some kind no command or too few are accepted");
}

pub(crate) fn is_fair(fold: &Fold) -> bool {
    fold.kinds.values().all(|(accepted, refused)| *accepted > 0 && 4 * accepted >= *refused)
}

fn all_follow(
    ids: Ids,
    tape: &Arc<Tape>,
    compared: &BTreeMap<u64, Vec<TableDigest>>,
    digests: &[TableDigest],
    pages: &[String],
) -> Result<(), String> {
    let stages = (commands() / STAGE).clamp(8, 40);
    let judge = |mut follower: Follower| -> Result<Counts, String> {
        let shown = follower.shows()?;
        same(digests, &shown.digests, &follower.name)?;
        same_pages(pages, &shown.pages, &follower.name)?;
        Ok(follower.counts)
    };
    let follow = |name: &str, kind, share, seed| -> Result<(), String> {
        let began = Instant::now();
        let mut follower = Follower::new(name, ids, kind, share, tape, seed);
        follower.follow(stages, compared)?;
        let counts = judge(follower)?;
        eprintln!("{name} in {:.0} s: {counts:?}", began.elapsed().as_secs_f64());
        Ok(())
    };
    let live = || -> Result<(), String> {
        let (began, mut lives) = (Instant::now(), Lives::new(ids, tape, seed() ^ 4));
        lives.follow()?;
        let took = began.elapsed().as_secs_f64();
        let total: u64 = lives.ends.values().map(|(came, missed)| came + missed).sum();
        let clocks = if lives.has_clocks() { "" } else { ", all with one clock: no C compiler" };
        eprintln!("{total} processes in {took:.0} s{clocks}; ends that came, and lives in which one did not:");
        lives.ends.iter().for_each(|(end, (came, missed))| eprintln!("  {end:?}: {came}, {missed}"));
        let data = crate::promises::crash::copy_live(&lives.data()).ok_or("no copy of a directory at rest")?;
        judge(Follower::over("child", ids, data, Share::All, tape, seed())).map(drop)
    };
    std::thread::scope(|threads| {
        let others = threads.spawn(|| {
            follow("memory", Kind::Memory, Share::All, seed() ^ 1)?;
            follow("all", Kind::Rocks, Share::All, seed() ^ 2)?;
            follow("third", Kind::Rocks, Share::Third, seed() ^ 3)?;
            follow("hardly", Kind::Rocks, Share::Hardly, seed() ^ 5)
        });
        let lived = live();
        others.join().map_err(|_| "a panic")?.and(lived)
    })
}

/// The digests of readers that make a mistake differ from those of one that makes none.
pub(crate) fn mistakes_are_seen() {
    let ids = Ids::Mixed;
    let dir = temp_dir();
    let (tape, fold, _) = Maker::record(&dir.path().join("log"), ids, seed(), COMMANDS / 3);
    let digests = |mistake| Fold::of(&tape, TRIED, mistake).digests();
    let right = digests(None);
    same(&right, &digests(None), "another reader").expect("one log");
    assert_ne!(fold.digests(), right, "of a longer log");
    for mistake in [Mistake::OwnClock, Mistake::MakesTwice, Mistake::MakesLate] {
        assert_ne!(digests(Some(mistake)), right, "{mistake:?}");
    }
    // Some commands change nothing, because they are refused or repeat another.
    let seen = (100..120).filter(|command| digests(Some(Mistake::LeavesOut(*command))) != right).count();
    assert!(seen >= 10, "only {seen} of 20 commands that are left out are seen");
}

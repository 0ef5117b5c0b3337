//! Faults that are built in on purpose, each in what decides which items a reader is shown, or in the feed of changes. The
//! sequences that find nothing wrong without them must find each.

use std::time::Instant;

use model::UserSettings;
use proptest::strategy::{Strategy, ValueTree};
use proptest::test_runner::{Config, RngSeed, TestRunner};

use super::case::{Case, Wrong};
use super::faulty::Fault;
use super::names::USERS;
use super::ops::{Op, Sequence, sequences};
use super::seed::seed;
use super::shape::Kind;

/// Most steps of a sequence.
const STEPS: usize = 250;
/// Most sequences until a fault is found: the rarest one needs 64 of the usual seeds.
const MOST: u32 = 1000;

/// The sequence of a seed.
pub(crate) fn sequence(seed: u64) -> Sequence {
    let config = Config { rng_seed: RngSeed::Fixed(seed), failure_persistence: None, ..Config::default() };
    sequences(STEPS).new_tree(&mut TestRunner::new(config)).expect("a sequence").current()
}

/// The sequence, without reads of certain kinds: only the rules of follows and of members ask for kinds.
fn of_all_kinds(mut sequence: Sequence) -> Sequence {
    for op in &mut sequence.ops {
        match op {
            Op::Read(_, ask) | Op::ReadList(_, _, ask) | Op::ReactedBy(_, _, ask) | Op::Outbox(_, ask) => ask.kinds = 0,
            Op::Topic(_, ask) | Op::Comments(_, ask) | Op::UserComments(_, ask) => ask.kinds = 0,
            Op::Unread(_, kinds) => *kinds = 0,
            _ => {}
        }
    }
    sequence
}

/// Some sequence must find a fault, by one of these answers.
#[track_caller]
fn is_found(wrong: Wrong, answers: &[&str]) {
    is_found_by(wrong, answers, &[]);
}

/// The same for sequences that end with these steps, which seldom come by chance.
#[track_caller]
fn is_found_by(wrong: Wrong, answers: &[&str], end: &[Op]) {
    let began = Instant::now();
    let mut sequences = 0;
    for seed in seed().. {
        sequences += 1;
        let mut sequence = of_all_kinds(sequence(seed));
        sequence.ops.extend_from_slice(end);
        if let Err(why) = Case::run(Kind::Memory, &sequence, Some(wrong)) {
            let seconds = began.elapsed().as_secs_f64();
            let line = why.lines().next().unwrap_or_default();
            eprintln!("{wrong:?} is found after {seconds:.1} s in sequence {sequences}: {line}");
            assert!(answers.iter().any(|answer| why.contains(answer)), "{wrong:?} has another effect: {why}");
            return;
        }
        assert!(sequences < MOST, "{wrong:?} is not found in {sequences} sequences");
    }
}

/// What shows a wrong timeline.
const TIMELINES: [&str; 6] =
    ["timeline of", "list of", "has not read", "verify finds", "what verify compared", "is listed for"];

/// What shows wrong notices.
const NOTICES: [&str; 2] = ["notices of", "notices that"];

/// Makes a test of each fault.
macro_rules! are_found {
    ($($name:ident: $wrong:expr, $answers:expr;)+) => { $(#[test] fn $name() { is_found($wrong, $answers); })+ };
}

are_found! {
    an_item_with_one_of_its_paths_is_found: Wrong::InRows(Fault::OnePath), &TIMELINES;
    a_block_that_ends_no_follow_is_found: Wrong::InRows(Fault::BlockLeavesFollow), &["relation of"];
    a_rule_that_is_lost_is_found: Wrong::InRows(Fault::FollowsWithoutRule), &TIMELINES;
    a_rule_that_is_not_asked_for_pulled_items_is_found: Wrong::InRows(Fault::PulledWithoutKind), &TIMELINES;
    an_exclusive_list_that_unread_forgets_is_found: Wrong::UnreadForgetsLists, &["has not read"];
    comments_that_do_not_ask_for_visibility_are_found: Wrong::CommentsWithoutSight, &["comments of"];
    follows_that_end_untold_are_found: Wrong::InRows(Fault::PartedUntold), &["by the changes", "no such step"];
    two_notices_of_one_item_are_found: Wrong::InRows(Fault::MentionTwice), &NOTICES;
    notices_that_do_not_ask_for_the_audience_are_found: Wrong::InRows(Fault::NoticesForAll), &NOTICES;
}

#[test]
fn an_approval_that_outlasts_its_follow_is_found() {
    let [user, target, ..] = USERS;
    let follow = |approved| Op::Follow(user, target, None, 0, approved);
    let approves = UserSettings { approve_followers: true, ..UserSettings::default() };
    let end = [
        Op::PutSettings(target, approves),
        follow(false),
        Op::Answer(target, user, true),
        Op::Relate { user, follow: vec![], unfollow: vec![target] },
        follow(true),
    ];
    is_found_by(Wrong::InRows(Fault::ApprovalOutlasts), &NOTICES, &end);
}

//! The scenarios: readers 1 and 2, authors from 11 on.

use libtest_mimic::Trial;

use crate::promises::names::place;
use crate::run::Scenario;
use crate::world::{Settings, Wrong};
use double::Fault;

const LONG: u64 = 1 << 40;
/// Every follower gets every push.
const PUSH: Settings = Settings { push_threshold: 100, active_for: LONG, inbox_limit: 100, workers: 2 };
/// Only active followers do, and they become dormant after a few readings of the clock.
const PARTIAL: Settings = Settings { push_threshold: 0, active_for: 6, inbox_limit: 100, workers: 2 };

/// Items come while their readers read.
const PUBLISH: Scenario = Scenario {
    settings: PUSH,
    before: |a| {
        a.relate(1, &[11], &[]);
        a.relate(2, &[11], &[]);
        a.publish(11, 1, 4);
    },
    acts: &[
        |a| {
            a.publish(11, 2, 5);
            a.publish(11, 3, 2);
        },
        |a| {
            a.read(1, 2);
            a.read(1, 10);
            a.scroll(1, 1);
        },
        |a| {
            a.read(2, 10);
            a.read(2, 10);
        },
    ],
    instants: &[],
};

/// One pair changes again and again while its settle jobs run, and its author publishes.
const REFOLLOW: Scenario = Scenario {
    settings: PUSH,
    before: |a| {
        a.publish(11, 1, 1);
        a.publish(12, 3, 3);
        a.relate(1, &[12], &[]);
    },
    acts: &[
        |a| {
            a.relate(1, &[11], &[]);
            a.read(1, 10);
            a.relate(1, &[], &[11]);
            a.read(1, 10);
            a.relate(1, &[11], &[]);
            a.read(1, 10);
        },
        |a| a.publish(11, 4, 9),
        |a| {
            a.read(1, 10);
            a.scroll(1, 1);
        },
    ],
    instants: &[],
};

/// An unfollow while the author's items are on their way.
const UNFOLLOW: Scenario = Scenario {
    settings: PUSH,
    before: |a| {
        a.publish(11, 1, 1);
        a.relate(1, &[11], &[]);
        a.relate(2, &[11], &[]);
    },
    acts: &[
        |a| {
            a.relate(1, &[], &[11]);
            a.read(1, 10);
        },
        |a| {
            a.publish(11, 2, 9);
            a.publish(11, 3, 5);
        },
    ],
    instants: &[],
};

/// A block while the author's items are on their way, which is taken back.
const BLOCK: Scenario = Scenario {
    settings: PUSH,
    before: |a| {
        a.publish(11, 1, 1);
        a.relate(1, &[11], &[]);
        a.relate(2, &[11], &[]);
    },
    acts: &[
        |a| {
            a.block(11, 1, true);
            a.read(1, 10);
            a.block(11, 1, false);
            a.read(1, 10);
        },
        |a| {
            a.publish(11, 2, 9);
            a.publish(11, 3, 5);
        },
        |a| a.read(1, 10),
    ],
    instants: &[],
};

/// An item comes on two paths, leaves one of them, and one of its readers unfollows the other meanwhile.
const PATHS: Scenario = Scenario {
    settings: PUSH,
    before: |a| {
        a.relate(1, &[11, 12], &[]);
        a.relate(2, &[12], &[]);
        a.publish(11, 1, 1);
    },
    acts: &[
        |a| {
            a.publish_on(11, &[12], 2, 9);
            a.take_off(2, 12);
            a.read(1, 10);
        },
        |a| {
            a.relate(2, &[], &[12]);
            a.read(2, 10);
        },
        |a| {
            a.read(1, 10);
            a.scroll(1, 1);
        },
    ],
    instants: &[],
};

/// An author comes into an exclusive list, and out of it, while the author publishes.
const APART: Scenario = Scenario {
    settings: PUSH,
    before: |a| {
        a.publish(11, 1, 1);
        a.publish(12, 3, 3);
        a.relate(1, &[11, 12], &[]);
    },
    acts: &[
        |a| {
            a.keep_apart(1, 11, true);
            a.read(1, 10);
            a.keep_apart(1, 11, false);
            a.read(1, 10);
        },
        |a| a.publish_on(11, &[12], 2, 9),
        |a| (0..2).for_each(|_| a.read(1, 10)),
    ],
    instants: &[],
};

/// The rule of a follow changes while posts and reposts are on their way.
const RULE: Scenario = Scenario {
    settings: PUSH,
    before: |a| {
        a.repost(11, 1, 1);
        a.relate(1, &[11], &[]);
        a.follow(2, 11, false);
    },
    acts: &[
        |a| {
            a.follow(1, 11, false);
            a.read(1, 10);
            a.follow(1, 11, true);
            a.read(1, 10);
        },
        |a| {
            a.repost(11, 2, 9);
            a.publish(11, 3, 5);
        },
        |a| {
            a.read(2, 10);
            a.scroll(1, 1);
        },
    ],
    instants: &[],
};

/// A follow with a rule, an unfollow and a follow without one, while the user has no inbox.
const RULED: Scenario = Scenario {
    settings: PUSH,
    before: |a| {
        a.repost(11, 1, 1);
        a.publish(11, 2, 4);
        a.relate(1, &[12], &[]);
        a.evict(1, place(8, 9));
    },
    acts: &[
        |a| {
            a.follow(1, 11, false);
            a.read(1, 10);
            a.relate(1, &[], &[11]);
            a.relate(1, &[11], &[]);
            a.read(1, 10);
        },
        |a| a.repost(11, 3, 6),
        |a| (0..2).for_each(|_| a.read(1, 10)),
    ],
    instants: &[],
};

/// An author is suspended, and no more, while the author publishes.
const SUSPEND: Scenario = Scenario {
    settings: PUSH,
    before: |a| {
        a.publish(11, 1, 1);
        a.publish(12, 3, 3);
        a.relate(1, &[11, 12], &[]);
    },
    acts: &[
        |a| {
            a.suspend(11, true);
            a.read(1, 10);
            a.suspend(11, false);
            a.read(1, 10);
        },
        |a| {
            a.publish(11, 2, 9);
            a.publish_on(12, &[11], 4, 5);
        },
        |a| (0..2).for_each(|_| a.read(1, 10)),
    ],
    instants: &[],
};

/// Every page is of one side or of the other, never of both or neither.
const SWAP: Scenario = Scenario {
    settings: PUSH,
    before: |a| {
        a.publish(11, 1, 1);
        a.publish(11, 2, 4);
        a.publish(12, 3, 2);
        a.publish(12, 4, 5);
        a.relate(1, &[11], &[]);
    },
    acts: &[
        |a| {
            a.relate(1, &[12], &[11]);
            a.relate(1, &[11], &[12]);
            a.relate(1, &[12], &[11]);
        },
        |a| (0..3).for_each(|_| a.read(1, 10)),
        |a| (0..3).for_each(|_| a.read(1, 10)),
    ],
    instants: &[&[2, 1], &[4, 3]],
};

/// Readers become dormant, are skipped, return, and get a back-fill.
const LAPSE: Scenario = Scenario {
    settings: PARTIAL,
    before: |a| {
        a.relate(1, &[11], &[]);
        a.relate(2, &[11, 12], &[]);
        a.publish(12, 1, 1);
    },
    acts: &[
        |a| {
            a.publish(11, 2, 5);
            a.publish(11, 3, 2);
            a.publish(12, 4, 6);
        },
        |a| (0..4).for_each(|_| a.read(1, 10)),
        |a| (0..3).for_each(|_| a.read(2, 10)),
    ],
    instants: &[],
};

/// An author's first item that is not pushed to all, while a reader returns.
const RETURN: Scenario = Scenario {
    settings: Settings { active_for: LONG, ..PARTIAL },
    before: |a| a.relate(1, &[11], &[]),
    acts: &[|a| a.publish(11, 2, 5), |a| (0..2).for_each(|_| a.read(1, 10))],
    instants: &[],
};

/// A skipped reader returns.
const RETURNED: Scenario = Scenario {
    settings: Settings { active_for: LONG, workers: 1, ..PARTIAL },
    before: |a| {
        a.relate(1, &[11], &[]);
        a.world.drain();
        a.publish(11, 1, 4);
    },
    acts: &[|a| a.read(1, 10), |a| a.read(1, 10)],
    instants: &[],
};

/// Inboxes are dropped while their users read and are pushed to.
const EVICT: Scenario = Scenario {
    settings: PUSH,
    before: |a| {
        a.publish(11, 1, 1);
        a.relate(1, &[11], &[]);
        a.scroll(1, 10);
    },
    acts: &[
        |a| {
            a.evict(1, place(3, 9));
            a.evict(1, place(4, 9));
        },
        |a| {
            a.publish(11, 2, 5);
            a.publish(11, 3, 2);
        },
        |a| (0..3).for_each(|_| a.read(1, 10)),
    ],
    instants: &[],
};

/// An evicted user returns.
const EVICTED: Scenario = Scenario {
    settings: PUSH,
    before: |a| {
        a.relate(1, &[11], &[]);
        a.evict(1, place(3, 9));
        a.publish(11, 1, 1);
        a.publish(11, 2, 5);
    },
    acts: &[|a| a.publish(11, 3, 6), |a| a.read(1, 10), |a| a.read(1, 10)],
    instants: &[],
};

/// An item is deleted and restored while its first fan-out runs, and an evicted reader returns.
const RESTORE: Scenario = Scenario {
    settings: PUSH,
    before: |a| {
        a.relate(1, &[11], &[]);
        a.relate(2, &[11], &[]);
        a.evict(1, place(3, 9));
    },
    acts: &[
        |a| {
            a.publish(11, 2, 5);
            a.delete_and_restore(2);
            a.read(1, 10);
        },
        |a| (0..3).for_each(|_| a.read(1, 10)),
    ],
    instants: &[],
};

/// The list of followees is loaded while it changes.
const LOAD: Scenario = Scenario {
    settings: PUSH,
    before: |a| a.publish(11, 1, 1),
    acts: &[
        |a| {
            a.relate(1, &[11], &[]);
            a.read(1, 10);
            a.relate(1, &[], &[11]);
            a.read(1, 10);
        },
        |a| (0..2).for_each(|_| a.read(1, 10)),
        |a| (0..2).for_each(|_| a.read(1, 10)),
    ],
    instants: &[],
};

/// Items with ids and times from the server are written at the same time, changed, and polled with `after`; some others
/// have times about that of the clock.
const POLL: Scenario = Scenario {
    settings: PUSH,
    before: |a| a.comment(11),
    acts: &[
        |a| {
            a.comment(11);
            a.comment(11);
        },
        |a| {
            a.comment(11);
            a.publish(12, 1, 1);
            a.delete_and_restore(1);
        },
        |a| [0, 3, -1].into_iter().for_each(|by| a.comment_at(11, by)),
        |a| (0..3).for_each(|_| a.poll(11)),
        |a| (0..3).for_each(|_| a.poll(11)),
    ],
    instants: &[],
};

/// Each scenario without an error, and with each one that it must find.
pub(crate) fn all() -> Vec<Trial> {
    let mut trials = Vec::new();
    for (name, scenario, wrongs) in [
        ("publish", PUBLISH, &[Wrong::InStore(Fault::InboxBeforePending), Wrong::FinishBeforeDeliver][..]),
        ("refollow", REFOLLOW, &[Wrong::FinishBeforeSettle]),
        ("unfollow", UNFOLLOW, &[Wrong::InStore(Fault::LanePerJob)]),
        ("block", BLOCK, &[Wrong::InStore(Fault::LanePerJob), Wrong::InStore(Fault::BlockLeavesPending)]),
        ("paths", PATHS, &[Wrong::InStore(Fault::PathsOnce)]),
        ("apart", APART, &[]),
        ("rule", RULE, &[Wrong::InStore(Fault::PendingWithoutKind)]),
        ("ruled", RULED, &[Wrong::InStore(Fault::PulledWithoutKind)]),
        ("suspend", SUSPEND, &[]),
        ("swap", SWAP, &[Wrong::UnsettleAfterWrite, Wrong::FinishBeforeSettle]),
        ("lapse", LAPSE, &[]),
        ("return", RETURN, &[Wrong::InStore(Fault::ReturningSkipped)]),
        ("returned", RETURNED, &[Wrong::RebuildWithoutEntries]),
        ("evict", EVICT, &[]),
        ("evicted", EVICTED, &[Wrong::RebuildWithoutEntries]),
        ("restore", RESTORE, &[]),
        ("load", LOAD, &[]),
        ("poll", POLL, &[Wrong::InStore(Fault::ToldBeforeWritten)]),
    ] {
        let holds = scenario.clone();
        trials.push(Trial::test(format!("{name} holds"), move || {
            holds.holds();
            Ok(())
        }));
        for wrong in wrongs {
            let (scenario, wrong) = (scenario.clone(), *wrong);
            trials.push(Trial::test(format!("{name} finds {wrong:?}"), move || {
                scenario.fails(wrong);
                Ok(())
            }));
        }
    }
    trials
}

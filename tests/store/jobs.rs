//! The job table.

use std::collections::BTreeSet;

use model::{Job, Work};
use store::Store;

use super::support::{follow, follow_of, jobs, lane_of, publish_post, relate, unfollow, user, users};

fn a_fresh_store_has_no_jobs(store: &Store) {
    assert_eq!(jobs(store), []);
}

/// One of each kind from several users, in the order of making.
fn make_many(store: &Store) -> Vec<Job> {
    let mut made = Vec::new();
    for round in 0..10 {
        for who in [1, 2, 3, 255, 256, u64::MAX >> 1] {
            made.push(publish_post(store, 1000 * (round + 1) + who % 999, who, round));
            made.push(follow(store, who, 50 + round, round));
            made.extend(store.touch(user(who), round).expect("touches").job);
        }
    }
    made
}

fn jobs_come_by_lane_then_oldest_first(store: &Store) {
    let mut made = make_many(store);
    made.sort_by_key(|job| (job.id.lane.number(), job.id.seq));
    assert_eq!(jobs(store), made);
    assert!(made.iter().map(|job| job.id.lane).collect::<BTreeSet<_>>().len() > 5);
}

fn numbers_rise_and_are_never_given_twice(store: &Store) {
    let mut made = make_many(store);
    // The number of an ended job is not given again.
    for job in made.clone() {
        store.drop_job(job.id).expect("drops");
    }
    made.push(publish_post(store, 99_999, 7, 1));
    assert!(made.windows(2).all(|pair| pair[0].id.seq < pair[1].id.seq), "{made:?}");
}

fn every_job_is_in_the_lane_of_its_work(store: &Store) {
    for job in make_many(store) {
        let want = match job.work {
            Work::FanOut { entry } => entry.author,
            Work::Settle { source, .. } => source,
            Work::Rebuild { user } => user,
        };
        assert_eq!(job.id.lane, lane_of(want.get()));
    }
}

fn a_dropped_job_is_gone_alone(store: &Store) {
    let mut left = jobs(store);
    make_many(store);
    let all = jobs(store);
    for (index, job) in all.iter().enumerate() {
        if index % 3 == 0 {
            store.drop_job(job.id).expect("drops");
        } else {
            left.push(*job);
        }
    }
    assert_eq!(jobs(store), left);
}

fn a_job_can_be_dropped_twice(store: &Store) {
    let first = publish_post(store, 10, 1, 100);
    let second = publish_post(store, 11, 1, 110);
    store.drop_job(first.id).expect("drops");
    store.drop_job(first.id).expect("drops");
    assert_eq!(jobs(store), [second]);
}

fn jobs_of_one_pair_keep_their_order(store: &Store) {
    let mut made = Vec::new();
    for since in 0..5 {
        made.push(follow(store, 1, 2, since));
        made.push(unfollow(store, 1, 2));
    }
    assert_eq!(jobs(store), made);
}

fn a_job_stays_as_it_is_until_told(store: &Store) {
    let job = publish_post(store, 10, 1, 100);
    relate(store, 2, &[follow_of(1, 5)]);
    store.delete(super::support::item(10), 200.into()).expect("deletes");
    store.split_active(&users([1, 2]), 0).expect("splits");
    store.compact().expect("compacts");
    assert_eq!(jobs(store)[0], job);
}

on_both! {
    a_fresh_store_has_no_jobs,
    jobs_come_by_lane_then_oldest_first,
    numbers_rise_and_are_never_given_twice,
    every_job_is_in_the_lane_of_its_work,
    a_dropped_job_is_gone_alone,
    a_job_can_be_dropped_twice,
    jobs_of_one_pair_keep_their_order,
    a_job_stays_as_it_is_until_told,
}

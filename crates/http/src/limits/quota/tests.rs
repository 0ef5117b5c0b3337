use super::*;

const ANN: Holder = Holder::Caller(1);
const BEN: Holder = Holder::Caller(2);

fn all(quota: &Quota, holder: Holder, n: usize) -> Vec<Places> {
    std::iter::from_fn(|| quota.take(holder, n).ok()).take(10_000).collect()
}

#[test]
fn no_holder_takes_the_part_of_others() {
    let quota = Quota::new(1600);
    let of_ann = all(&quota, ANN, 1);
    assert_eq!(of_ann.len(), 1300 / 4, "one caller has a quarter of the rest");
    assert!(!of_ann[0].are_wanted(), "a share that is used up takes nothing from others");
    let of_others: Vec<_> = (2..100).flat_map(|caller| all(&quota, Holder::Caller(caller), 1)).collect();
    assert_eq!(of_ann.len() + of_others.len(), 1300, "all callers have the rest");
    assert!(of_ann[0].are_wanted());
    let of_application = all(&quota, Holder::Application, 1);
    assert_eq!(of_application.len(), 200);
    assert_eq!(all(&quota, Holder::Operator, 1).len(), 100);
    drop((of_ann, of_others));
    assert_eq!(all(&quota, Holder::Application, 1).len(), 1300, "what callers leave");
    drop(of_application);
    assert_eq!(quota.fill().used, 0);
}

#[test]
fn refusals_of_a_full_quota_are_counted_and_take_nothing() {
    let quota = Quota::in_parts([0, 0], 10_000);
    let first = quota.take(Holder::Application, 9000).expect("fits");
    assert!(!first.are_wanted());
    assert_eq!(quota.fill(), Fill { used: 9000, limit: 10_000 });
    let refused = [1001, 1 << 60].map(|n| quota.take(Holder::Application, n).is_err());
    assert_eq!((refused, quota.refused(), first.are_wanted()), ([true; 2], 2, true));
    let rest = quota.take(Holder::Application, 1000).expect("fits");
    assert_eq!(quota.fill().used, 10_000);
    drop((first, rest));
    assert_eq!(quota.fill().used, 0);
    assert!(quota.take(Holder::Application, 1 << 60).is_ok(), "more than there is passes alone");
}

#[test]
fn more_than_a_share_passes_alone() {
    let quota = Quota::new(1600);
    let mut large = quota.none(ANN);
    large.grow_to(200).expect("within the share");
    large.grow_to(1000).expect("there are no others of this caller");
    assert!(quota.take(ANN, 1).is_err());
    assert!(quota.take(BEN, 301).is_err() && quota.take(BEN, 300).is_ok(), "the rest is for others");
    large.shrink_to(300);
    assert_eq!(large.amount(), 300);
    let other = quota.take(ANN, 25).expect("within the share");
    assert!(large.grow_to(301).is_err());
    drop(other);
    large.grow_to(usize::MAX).expect("alone again");
    assert_eq!(large.amount(), 1300, "never more than callers have");
    drop(large);
    assert_eq!(quota.fill().used, 0);
}

#[test]
fn places_that_become_the_applications_leave_the_share_of_their_caller() {
    let quota = Quota::new(160);
    let mut of_ann = all(&quota, ANN, 1);
    assert_eq!(of_ann.len(), 32);
    of_ann.iter_mut().take(2).for_each(Places::pass_to_application);
    assert_eq!(quota.fill().used, 32);
    let more = all(&quota, ANN, 1);
    assert_eq!(more.len(), 2);
    drop((of_ann, more));
    assert_eq!((quota.fill().used, all(&quota, ANN, 1).len()), (0, 32));
}

#[actix_web::test]
async fn who_waits_gets_places_in_turn_and_a_full_share_holds_up_no_other() {
    let quota = Quota::new(16);
    let held = all(&quota, ANN, 1);
    let mut late = Box::pin(quota.wait_for(ANN, 1));
    let soon = Duration::from_millis(20);
    assert!(tokio::time::timeout(soon, &mut late).await.is_err());
    for other in [Holder::Caller(2 << 32), Holder::Application, Holder::Operator] {
        drop(quota.wait_for(other, 1).await);
    }
    let mut behind = Box::pin(quota.wait_for(ANN, 1));
    assert!(tokio::time::timeout(soon, &mut behind).await.is_err());
    drop(held);
    drop((late.await, behind.await));
    assert_eq!(quota.fill().used, 0);
}

use std::collections::{HashMap, HashSet};

use clap::ValueEnum;

use super::*;

fn load(first_is_giant: bool) -> Arc<Load> {
    Arc::new(Load::new(Graph::made_up(1000, 10, first_is_giant, 1), Vec::new(), 1))
}

fn counts(steps: &[Step]) -> HashMap<Kind, usize> {
    let mut counts = HashMap::new();
    steps.iter().for_each(|step| *counts.entry(step.kind).or_default() += 1);
    counts
}

#[test]
fn each_mix_has_its_proportions() {
    const COUNT: usize = 200_000;
    for &mix in Mix::value_variants() {
        let steps: Vec<Step> = load(true).trace(mix, 1e4, 0).take(COUNT).collect();
        let counts = counts(&steps);
        let all: u32 = mix.parts().iter().map(|(_, part)| part).sum();
        for (kind, part) in mix.parts() {
            let wanted = COUNT as f64 * f64::from(*part) / f64::from(all);
            let found = counts[kind] as f64;
            // Five standard deviations.
            assert!((found - wanted).abs() < 5.0 * wanted.sqrt(), "{}: {kind:?} {found}, not {wanted}", mix.name());
        }
        let known: HashSet<Kind> = mix.parts().iter().map(|(kind, _)| *kind).collect();
        let others: HashSet<Kind> = counts.keys().filter(|kind| !known.contains(kind)).copied().collect();
        let big = (mix == Mix::BigAuthor).then_some(Kind::PublishBig);
        assert_eq!(others, big.into_iter().collect(), "{}", mix.name());
    }
}

#[test]
fn the_seed_decides_every_step() {
    for &mix in Mix::value_variants() {
        let steps = |seed| -> Vec<Step> {
            let graph = Graph::made_up(100, 5, false, seed);
            Arc::new(Load::new(graph, Vec::new(), seed)).trace(mix, 100.0, 0).take(500).collect()
        };
        assert_eq!(steps(1), steps(1));
        assert_ne!(steps(1), steps(2));
    }
}

#[test]
fn seven_of_ten_users_are_active_in_pequod_and_only_online_users_read() {
    let mut seen = HashSet::new();
    let mut online: HashMap<u32, bool> = HashMap::new();
    for step in load(false).trace(Mix::Pequod, 1000.0, 0).take(200_000) {
        let user = step.user;
        match step.kind {
            Kind::Publish | Kind::PublishBig => {}
            Kind::Read | Kind::Follow => {
                seen.insert(user);
                assert_ne!(online.get(&user), Some(&false), "{user} reads offline");
            }
            Kind::LogIn => assert_ne!(online.insert(user, true), Some(true), "{user} is online"),
            Kind::LogOut => assert_ne!(online.insert(user, false), Some(false), "{user} is offline"),
        }
    }
    assert_eq!(seen.len(), 700);
}

#[test]
fn bursts_have_the_mean_rate_over_their_cycle() {
    let (mut counts, mut last) = ([0; 10], Duration::ZERO);
    for step in load(false).trace(Mix::WriteBurst, 1000.0, 0).take_while(|step| step.due.as_secs() < 10) {
        assert!(step.due >= last);
        last = step.due;
        counts[step.due.as_secs() as usize] += 1;
    }
    for (second, count) in counts.into_iter().enumerate() {
        let wanted = if second % 5 == 0 { 3684..=4316 } else { 171..=329 };
        assert!(wanted.contains(&count), "{count} in second {second}");
    }
}

#[test]
fn the_giant_publishes_by_the_clock_alone() {
    let steps: Vec<Step> = load(true).trace(Mix::BigAuthor, 1000.0, 0).take(20_000).collect();
    assert!(steps.windows(2).all(|two| two[0].due <= two[1].due));
    let mut turns = Vec::new();
    for step in &steps {
        if let Kind::Publish | Kind::PublishBig = step.kind {
            let is_big = step.kind == Kind::PublishBig;
            assert_eq!(step.user == 0, is_big);
            turns.extend(is_big.then_some(step.due.as_secs_f64()));
        }
    }
    assert_eq!(turns, [2.5, 7.5, 12.5, 17.5]);
}

#[test]
fn listed_posts_go_on_after_the_history() {
    let posts: Vec<Post> = (0..10).map(|author| Post { author, length: 7 }).collect();
    let load = Arc::new(Load::new(Graph::made_up(10, 2, false, 1), posts, 1));
    assert_eq!(load.history(12).map(|post| post.author).collect::<Vec<_>>(), [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 0, 1]);
    let posts = load.trace(Mix::WriteBurst, 10.0, 12).filter(|step| step.kind == Kind::Publish);
    assert_eq!(posts.map(|step| step.user).take(4).collect::<Vec<_>>(), [2, 3, 4, 5]);
}

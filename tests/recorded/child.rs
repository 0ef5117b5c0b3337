//! A follower that is a process of its own: this program, started again.

use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::{Duration, Instant};

use fastrand::Rng;
use feed::worker::Candidates;
use serde::{Deserialize, Serialize};

use super::parts::{CROWD, Parts, Share, config, open};
use super::tape::{Tape, Way};
use super::upkeep;
use crate::promises::names::Ids;
use crate::promises::shape;

/// The variable with the orders of a child.
pub(crate) const ORDERS: &str = "TIDELINE_TEST_FOLLOW";
/// Longest time without any progress.
const PATIENCE: Duration = Duration::from_secs(120);

/// The work of a child.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Orders {
    pub(crate) tape: PathBuf,
    pub(crate) dir: PathBuf,
    pub(crate) seed: u64,
    /// Records to apply from its start on.
    pub(crate) records: u64,
    /// Milliseconds for which it goes on after them.
    pub(crate) lasts: u64,
    /// Compactions in a thousand steps.
    pub(crate) compactions: u32,
    pub(crate) has_names: bool,
}

/// Tells the position, so that the next child knows it.
fn tell(position: u64) {
    println!("{position}");
}

/// Follows the log for so many records, unless it ends at a failpoint.
pub(crate) fn run(orders: &str) -> ExitCode {
    #[cfg(feature = "failpoints")]
    let _armed = model::failpoint::Armed::default();
    tracing_subscriber::fmt().with_max_level(tracing::Level::ERROR).with_writer(std::io::stderr).init();
    let orders: Orders = serde_json::from_str(orders).expect("orders");
    match follow(&orders) {
        Ok(()) => ExitCode::SUCCESS,
        Err(why) => {
            eprintln!("{why}");
            ExitCode::FAILURE
        }
    }
}

fn start(orders: &Orders, way: &Arc<Way>, random: &mut Rng) -> Parts {
    let (mut config, candidates) = (config("child", Share::All, random), Candidates::default());
    if orders.compactions > 0 {
        // Compactions name each deleted item. Whether its deletion is final is a setting of the log.
        config.content.deleted_retention = shape::NEVER;
    }
    let store = open(&orders.dir, &config, &candidates);
    Parts::start(store, config, candidates, way, true)
}

fn follow(orders: &Orders) -> Result<(), String> {
    let (mut random, tape) = (Rng::with_seed(orders.seed), Tape::open(&orders.tape));
    let ids = if orders.has_names { Ids::Mixed } else { Ids::Numbers };
    let way = Way::of_a_part(&tape, random.u64(..));
    let mut parts = start(orders, &way, &mut random);
    let end = (parts.node.position() + orders.records).min(tape.end());
    tell(parts.node.position());
    way.hide(end);
    let (mut progress, mut done) = ((0, Instant::now()), None);
    loop {
        let at = parts.node.position();
        if at >= end && done.get_or_insert_with(Instant::now).elapsed() >= Duration::from_millis(orders.lasts) {
            break;
        }
        if at > progress.0 {
            progress = (at, Instant::now());
        }
        if at < end && progress.1.elapsed() > PATIENCE {
            return Err(format!("no progress: {:?}", parts.node.status()));
        }
        if let Some(fault) = parts.fault() {
            if !Parts::takes_over(&fault) {
                return Err(format!("it has stopped: {fault}"));
            }
            way.rest(false);
            drop(parts.stop());
            parts = start(orders, &way, &mut random);
        }
        way.rest(parts.feed.backlog().len() > CROWD);
        for _ in 0..random.u32(1..8) {
            // Reads and upkeep may find a store that takes no changes.
            drop(upkeep::step(&parts.feed, ids, orders.compactions, &mut random));
        }
        std::thread::sleep(Duration::from_millis(random.u64(..3)));
    }
    tell(parts.node.position());
    drop(parts.stop());
    Ok(())
}

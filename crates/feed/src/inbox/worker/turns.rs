//! Whose turn it is: a worker does one chunk of a fan-out, or one other job, at a time.
//!
//! A fan-out whose followers fit into one chunk ends in one turn. A larger one waits in a queue between its chunks,
//! behind the other large ones. Lanes come before that queue, so a publish with few followers waits for a chunk, never for a
//! million followers. But after some lanes a chunk of a large fan-out comes, so that those go on under any load.

use std::sync::Arc;

use crossbeam_channel::{Receiver, select};

use super::fan_out::FanOut;
use super::{Context, is_over};
use model::priority::Pace;

/// Most lanes that a worker serves in a row while a large fan-out waits.
const LANES_IN_A_ROW: usize = 3;

/// The turns of one worker.
#[derive(Debug, Default)]
pub(super) struct Turns {
    /// Lanes served since a large fan-out had its turn.
    lanes: usize,
}

impl Context {
    /// Does jobs until `stopped` ends. `large` is the queue of fan-outs with more chunks.
    pub(super) fn run(&self, large: &Receiver<Arc<FanOut>>, stopped: &Receiver<()>) {
        let (mut turns, mut pace) = (Turns::default(), Pace::default());
        while !is_over(stopped) {
            self.turn(&mut turns, large, stopped);
            pace.step();
        }
        // The next workers find them.
        large.try_iter().for_each(|fan_out| self.leave(&fan_out));
    }

    /// Does one job or one chunk; waits if there is none.
    fn turn(&self, turns: &mut Turns, large: &Receiver<Arc<FanOut>>, stopped: &Receiver<()>) {
        if turns.lanes < LANES_IN_A_ROW
            && let Ok(lane) = self.backlog.lanes().ready().try_recv()
        {
            turns.lanes += 1;
            return self.run_lane(lane, stopped);
        }
        turns.lanes = 0;
        if let Ok(fan_out) = large.try_recv() {
            return self.go_on(&fan_out, stopped);
        }
        select! {
            // The caller sees it.
            recv(stopped) -> _ => {}
            recv(large) -> fan_out => fan_out.into_iter().for_each(|fan_out| self.go_on(&fan_out, stopped)),
            recv(self.backlog.lanes().ready()) -> lane => {
                lane.into_iter().for_each(|lane| self.run_lane(lane, stopped));
            }
        }
    }
}

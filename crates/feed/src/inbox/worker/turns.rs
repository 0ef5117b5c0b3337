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

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::thread;
    use std::time::{Duration, Instant};

    use crossbeam_channel::bounded;

    use crate::Feed;
    use crate::inbox::backlog::Backlog;
    use crate::inbox::worker::turns::Turns;
    use crate::inbox::worker::{Candidates, Context, Workers};
    use crate::store::Store;
    use crate::streaming::Streaming;
    use crate::{PublishItems, Relate};
    use config::Config;
    use model::{ExternalId, NewContent, UserId};

    const FOLLOWERS: u64 = 3000;
    const TIME_LIMIT: Duration = Duration::from_secs(60);

    fn user(raw: u64) -> UserId {
        UserId::new(raw).expect("in range")
    }

    fn publish(feed: &Feed, author: u64, id: u64) -> model::Entry {
        let body = format!(r#"{{"content_id":{id},"author_id":{author},"published_at":{id}}}"#);
        let new_item: NewContent = serde_json::from_str(&body).expect("a new_item");
        feed.submit(PublishItems::all(vec![new_item])).expect("publishes")[0].0.entry()
    }

    fn wait_until(what: impl Fn() -> bool) {
        let began = Instant::now();
        while !what() {
            assert!(began.elapsed() < TIME_LIMIT, "nothing happens");
            thread::sleep(Duration::from_millis(1));
        }
    }

    /// Chunks of one follower: the items of authors 1 and 2 take 3000 turns each.
    #[test]
    fn items_of_others_are_delivered_while_a_large_fan_out_goes_on_and_a_stop_loses_none() {
        let mut config = Config::default();
        config.fanout.chunk = 1;
        let store = Arc::new(Store::in_memory().expect("opens"));
        let (backlog, streaming) = (Arc::new(Backlog::new(100_000)), Arc::new(Streaming::new(1000)));
        let feed =
            Feed::new(Arc::clone(&store), Arc::clone(&backlog), Arc::clone(&streaming), &config).expect("events");
        let start = || {
            let (store, backlog, streaming) = (Arc::clone(&store), Arc::clone(&backlog), Arc::clone(&streaming));
            Workers::start(store, backlog, streaming, &config, Candidates::default()).expect("starts")
        };
        for reader in 0..FOLLOWERS {
            let follow = vec![(ExternalId::Number(1), Some(1)), (ExternalId::Number(2), Some(1))];
            feed.submit(Relate::of(ExternalId::Number(1000 + reader), follow, vec![])).expect("follows");
        }
        for reader in [1000, 1001] {
            feed.submit(Relate::of(ExternalId::Number(reader), vec![(ExternalId::Number(3), Some(1))], vec![]))
                .expect("follows");
        }
        let workers = start();
        wait_until(|| backlog.is_empty());
        workers.stop();

        // This thread is the only worker.
        let (help, wanted) = bounded(8);
        let (_go_on, stopped) = bounded(0);
        let context = Context {
            store: Arc::clone(&store),
            backlog: Arc::clone(&backlog),
            streaming: Arc::clone(&streaming),
            config: config.clone(),
            members: None,
            help,
            candidates: Candidates::default(),
            tally: Arc::default(),
        };
        let (mut turns, mut turn) = (Turns::default(), 0);
        let large = [publish(&feed, 1, 10), publish(&feed, 2, 11)];
        for id in 100..130 {
            let small = publish(&feed, 3, id);
            while backlog.is_pending(small) {
                context.turn(&mut turns, &wanted, &stopped);
                turn += 1;
            }
        }
        // Of two large ones and 30 small ones with three chunks each, some chunks come after each lane.
        assert!(turn < 300, "{turn} turns");
        assert!(large.iter().all(|item| backlog.is_pending(*item)), "they take thousands of turns");
        wanted.try_iter().for_each(|fan_out| context.leave(&fan_out));
        assert!(large.iter().all(|item| backlog.is_pending(*item)));
        let workers = start();
        wait_until(|| backlog.is_empty());
        workers.stop();
        let inbox = |reader| {
            let mut ids = Vec::new();
            let visit = &mut |entry: model::Entry| {
                ids.push(entry.cursor.id.get());
                std::ops::ControlFlow::Continue(())
            };
            let (span, order) = (model::Span::ALL, model::Order::OldestFirst);
            crate::inbox::tables::inbox(&store, user(reader), span, order, kv::Tier::Disk, visit).expect("reads");
            ids
        };
        assert_eq!(inbox(1001).len(), 2 + 30);
        for reader in 1002..1000 + FOLLOWERS {
            assert_eq!(inbox(reader), [10, 11]);
        }
    }
}

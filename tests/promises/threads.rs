//! Writers, readers and workers at the same time.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use tideline::feed::Feed;
use tideline::model::{ContentId, Cursor, Draft, MAX_ID, MAX_MILLIS, PageRequest, Span, UserId};
use tideline::store::Tier;

use super::history::{Clock, History, Life, Read, Seen};
use super::names::{AUTHORS, USERS, place, user};
use super::seed::{Random, scaled, seed};
use super::shape::{Kind, Shape};
use super::system::System;
use super::upkeep::{archive, evict, trim};

const ROUNDS: u32 = 40;
const ROUND: Duration = Duration::from_millis(300);
const POSTERS: u64 = 2;
const GRAPHERS: u64 = 2;
const READERS: u64 = 2;
/// Items that one thread publishes in a round.
const MOST_ITEMS: usize = 400;
/// Named times lie below this; others are the server's clock.
const TIMES: u64 = 60;
const LIMITS: [usize; 5] = [1, 2, 5, 20, 100];

/// Rounds with settings of their own, one in four in memory.
pub(crate) fn run_rounds() {
    for number in 0..scaled(ROUNDS) {
        let seed = seed() + u64::from(number);
        let kind = if number % 4 == 3 { Kind::Memory } else { Kind::Rocks };
        let shape = Shape::random(&mut Random::new(seed));
        if let Err(failure) = run_round(kind, shape, seed) {
            panic!("round {number} on {kind:?}, {shape:?}, seed {seed}: {failure}");
        }
    }
}

fn run_round(kind: Kind, shape: Shape, seed: u64) -> Result<(), String> {
    let mut system = System::new(kind, shape);
    let (clock, stop) = (Clock::default(), AtomicBool::new(false));
    let actor = |number: u64| Actor {
        feed: Arc::clone(&system.feed),
        clock: &clock,
        stop: &stop,
        random: Random::new(seed.wrapping_mul(1000) + number),
        history: History::default(),
        number,
    };
    let actors: Vec<_> = (0..=POSTERS + GRAPHERS + READERS).map(actor).collect();
    system.start();
    let histories: Vec<_> = thread::scope(|scope| {
        let run = |mut actor: Actor<'_>| match actor.number {
            n if n < POSTERS => actor.post().map(|()| actor.history),
            n if n < POSTERS + GRAPHERS => actor.relate(n - POSTERS).map(|()| actor.history),
            n if n < POSTERS + GRAPHERS + READERS => actor.read_on().map(|()| actor.history),
            _ => actor.look_after(shape.inbox_limit).map(|()| actor.history),
        };
        let threads: Vec<_> = actors.into_iter().map(|actor| scope.spawn(move || run(actor))).collect();
        let end = Instant::now() + ROUND;
        while Instant::now() < end && threads.iter().all(|thread| !thread.is_finished()) {
            thread::sleep(Duration::from_millis(5));
        }
        stop.store(true, Ordering::Relaxed);
        threads.into_iter().map(|thread| thread.join().expect("no panic")).collect()
    });
    let mut history = History::default();
    for part in histories {
        history.merge(part?);
    }
    // Once more when all is done: now nothing is left open.
    system.drain()?;
    let mut last = Actor {
        feed: Arc::clone(&system.feed),
        clock: &clock,
        stop: &stop,
        random: Random::new(seed),
        history,
        number: 0,
    };
    USERS.iter().try_for_each(|raw| last.scroll(user(*raw)))?;
    last.history.check(shape.include_own)
}

/// What one thread has.
struct Actor<'a> {
    feed: Arc<Feed>,
    clock: &'a Clock,
    stop: &'a AtomicBool,
    random: Random,
    history: History,
    number: u64,
}

impl Actor<'_> {
    fn goes_on(&self) -> bool {
        !self.stop.load(Ordering::Relaxed)
    }

    fn anybody(&mut self) -> UserId {
        user(self.random.pick(&USERS))
    }

    fn somewhere(&mut self) -> Cursor {
        if self.random.once_in(8) {
            return self.random.pick(&[Cursor::OLDEST, Cursor::NEWEST, place(MAX_MILLIS, 1)]);
        }
        place(self.random.below(TIMES), 1 + self.random.below(1000))
    }

    /// Publishes and deletes, and reads at once as somebody. Ids are this thread's own.
    fn post(&mut self) -> Result<(), String> {
        let mut made = 0;
        while self.goes_on() {
            let live = self.history.lives.iter().filter(|life| life.deleted.is_none()).count();
            if made < MOST_ITEMS && !self.random.once_in(4) {
                let drafts: Vec<_> = (0..self.random.pick(&[1, 1, 1, 3])).map(|n| self.draft(made + n)).collect();
                made += drafts.len();
                self.publish(drafts)?;
            } else if live > 0 {
                self.delete(live)?;
            } else if made >= MOST_ITEMS {
                return Ok(());
            }
            if self.random.once_in(2) {
                let reader = self.anybody();
                self.read_top(reader)?;
            }
        }
        Ok(())
    }

    fn draft(&mut self, made: usize) -> Draft {
        let id = 1 + self.number + POSTERS * made as u64;
        let author = self.random.pick(&USERS[..AUTHORS]);
        let time = match self.random.below(3) {
            0 => String::new(),
            _ => format!(",\"published_at\":{}", self.random.below(TIMES)),
        };
        serde_json::from_str(&format!("{{\"content_id\":{id},\"author_id\":{author}{time}}}")).expect("a draft")
    }

    fn publish(&mut self, drafts: Vec<Draft>) -> Result<(), String> {
        let (window, published) = self.clock.during(|| self.feed.publish(drafts));
        for (content, new) in published.map_err(|e| format!("publish fails: {e}"))? {
            ensure!(new, "{content:?} was there before");
            self.history.lives.push(Life { entry: content.entry(), published: window, deleted: None });
        }
        Ok(())
    }

    fn delete(&mut self, live: usize) -> Result<(), String> {
        let which = self.random.below(live as u64) as usize;
        let mut lives = self.history.lives.iter_mut().filter(|life| life.deleted.is_none());
        let Some(life) = lives.nth(which) else { return Ok(()) };
        let (window, result) = self.clock.during(|| self.feed.delete(life.entry.cursor.id));
        life.deleted = Some(window);
        result.map_err(|e| format!("delete fails: {e}"))
    }

    /// Follows and unfollows for this thread's share of the users, and reads at once.
    fn relate(&mut self, share: u64) -> Result<(), String> {
        let mine: Vec<_> = USERS.into_iter().skip(share as usize).step_by(GRAPHERS as usize).collect();
        while self.goes_on() {
            let me = self.random.pick(&mine);
            let targets: Vec<_> = USERS[..AUTHORS].iter().copied().filter(|target| *target != me).collect();
            let wanted: Vec<_> = match self.random.below(3) {
                0 => targets.into_iter().map(|target| (target, self.random.below(3))).filter(|(_, n)| *n < 2).collect(),
                _ => vec![(self.random.pick(&targets), self.random.below(2))],
            };
            let part = |wanted_as| wanted.iter().filter(move |(_, n)| *n == wanted_as).map(|(target, _)| user(*target));
            let (follow, unfollow): (Vec<_>, Vec<_>) = (part(1).map(|t| (t, None)).collect(), part(0).collect());
            let me = user(me);
            let (window, result) = self.clock.during(|| self.feed.relate(me, &follow, &unfollow));
            result.map_err(|e| format!("relate fails: {e}"))?;
            follow.iter().for_each(|(target, _)| self.history.relate(me, *target, window, true));
            unfollow.iter().for_each(|target| self.history.relate(me, *target, window, false));
            if self.random.once_in(2) {
                self.read_top(me)?;
            }
        }
        Ok(())
    }

    fn read_on(&mut self) -> Result<(), String> {
        while self.goes_on() {
            let reader = self.anybody();
            match self.random.below(6) {
                0 => self.scroll(reader)?,
                1 | 2 => self.read_top(reader)?,
                _ => {
                    let bound = |actor: &mut Self| actor.random.once_in(2).then(|| actor.somewhere());
                    let span = Span { before: bound(self), after: bound(self) };
                    self.read(reader, span)?;
                }
            }
        }
        Ok(())
    }

    fn read_top(&mut self, reader: UserId) -> Result<(), String> {
        self.read(reader, Span::ALL)
    }

    fn read(&mut self, reader: UserId, span: Span<ContentId>) -> Result<(), String> {
        let request = PageRequest { span, limit: self.random.pick(&LIMITS) };
        let (window, page) = self.clock.during(|| self.feed.timeline(reader, &request, Tier::Disk));
        let page = page.map_err(|e| format!("a read fails: {e}"))?;
        self.history.reads.push(Read { user: reader, window, seen: Seen::Page(request, page) });
        Ok(())
    }

    /// From the top to the end by `next`: what was there all the time comes exactly once.
    fn scroll(&mut self, reader: UserId) -> Result<(), String> {
        let limit = self.random.pick(&LIMITS[1..]);
        let (began, mut entries, mut span) = (self.clock.tick(), Vec::new(), Span::ALL);
        loop {
            let page = self.feed.timeline(reader, &PageRequest { span, limit }, Tier::Disk);
            let page = page.map_err(|e| format!("a read fails: {e}"))?;
            entries.extend(page.items);
            span.before = page.next;
            if span.before.is_none() {
                break;
            }
        }
        let window = super::history::Window { began, ended: self.clock.tick() };
        self.history.reads.push(Read { user: reader, window, seen: Seen::Scroll(entries) });
        Ok(())
    }

    /// Trims, and compacts now and then.
    fn look_after(&mut self, limit: usize) -> Result<(), String> {
        while self.goes_on() {
            let reader = self.anybody();
            match self.random.below(40) {
                0 => self.feed.store().compact().map_err(|e| format!("compaction fails: {e}"))?,
                4..9 => archive(self.feed.store(), reader, place(self.random.below(TIMES), MAX_ID), 50)?,
                1..4 => evict(self.feed.store(), reader, place(self.random.below(TIMES), MAX_ID))?,
                _ => trim(self.feed.store(), reader, limit, 0)?,
            }
            thread::sleep(Duration::from_millis(self.random.below(4)));
        }
        Ok(())
    }
}

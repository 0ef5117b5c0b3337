//! Readers that ask again and again for what is newer, with each `prev` as the next `after`. In the end each must have
//! every item with the server's time, whatever times the others have.

use std::collections::HashSet;

use fastrand::Rng;
use feed::{Feed, Relate, follows, items, timeline};
use model::{ContentId, Cursor, Entry, MAX_ID, NamedRule, Page, PageRequest, Span, UserId};

use super::actor::{Part, Role, without_reposts};
use super::history::{Clock, History};
use super::names::{AUTHORS, Ids, USERS};
use super::seed::pick;

/// A user who follows all authors from the beginning on, and whom nobody mutes. No item has this id.
const POLLER: u64 = MAX_ID - 1;
const LIMITS: [usize; 3] = [1, 5, 100];

/// Lets the poller follow all authors, and all readers poll. `users` are in the order of [`USERS`].
pub(crate) fn give_polls(feed: &Feed, ids: Ids, clock: &Clock, users: &[UserId], parts: &mut [Part]) {
    let authors: Vec<_> = USERS[..AUTHORS].iter().map(|author| (ids.host(*author), None)).collect();
    let (window, followed) = clock.during(|| feed.submit(Relate::of(ids.host(POLLER), authors, Vec::new())));
    followed.expect("follows");
    // From here on the server knows the kind that rules and reads leave out.
    for rule in [without_reposts(), NamedRule::All] {
        follows::follow(feed, ids.host(POLLER), ids.host(USERS[0]), None, rule, false).expect("a rule");
    }
    let poller = ids.user(feed, POLLER);
    users[..AUTHORS].iter().for_each(|author| parts[0].history.relate(poller, *author, window, true));
    let readers = parts.iter_mut().filter(|part| matches!(part.share.role, Role::Reader));
    readers.for_each(|reader| reader.polls = Poll::all(poller, users));
}

/// Lets all pollers read to the end, and compares what they found with what was published from the tick `since` on.
pub(crate) fn check_polls(parts: &mut [Part], feed: &Feed, all: &History, since: u64) -> Result<(), String> {
    parts.iter_mut().flat_map(|part| &mut part.polls).try_for_each(|poll| poll.check(feed, all, since))
}

/// One poller of one list.
#[derive(Debug)]
pub(crate) struct Poll {
    whose: UserId,
    /// The own page of the user, not the timeline.
    own: bool,
    after: Option<Cursor>,
    found: HashSet<Cursor>,
}

impl Poll {
    /// Pollers of the poller's timeline, and of the own page of each author.
    fn all(poller: UserId, users: &[UserId]) -> Vec<Self> {
        let of = |whose, own| Self { whose, own, after: None, found: HashSet::new() };
        [of(poller, false), of(poller, false)]
            .into_iter()
            .chain(users[..AUTHORS].iter().map(|author| of(*author, true)))
            .collect()
    }

    fn page(&self, feed: &Feed, span: Span<ContentId>, limit: usize) -> Result<Page<Entry, ContentId>, String> {
        let request = PageRequest { span, limit };
        let page = match self.own {
            true => items::own_page(feed.read(), self.whose, &request),
            false => timeline::page(feed.read(), self.whose, &request),
        };
        page.map_err(|e| format!("a poll fails: {e}"))
    }

    /// Asks for what is newer; at first, and sometimes later, from the top down to what was seen.
    pub(crate) fn go_on(&mut self, feed: &Feed, random: &mut Rng) -> Result<(), String> {
        let limit = pick(random, &LIMITS);
        match self.after.filter(|_| random.u64(..4) > 0) {
            Some(after) => self.up(feed, after, limit).map(drop),
            None => self.down(feed, limit),
        }
    }

    /// One page upwards; false if it is empty.
    fn up(&mut self, feed: &Feed, after: Cursor, limit: usize) -> Result<bool, String> {
        let span = Span { before: None, after: Some(after) };
        let page = self.page(feed, span, limit)?;
        let newest = page.items.first().map_or(after, |entry| entry.cursor);
        ensure_eq!(page.prev, Some(newest), "prev of a page above {after}");
        self.found.extend(page.items.iter().map(|entry| entry.cursor));
        self.after = page.prev;
        Ok(!page.items.is_empty())
    }

    fn down(&mut self, feed: &Feed, limit: usize) -> Result<(), String> {
        let (mut span, mut prev) = (Span::ALL, None);
        loop {
            let page = self.page(feed, span, limit)?;
            prev = prev.or(page.prev);
            self.found.extend(page.items.iter().map(|entry| entry.cursor));
            span.before = page.next.filter(|next| self.after.is_none_or(|after| *next > after));
            if span.before.is_none() {
                self.after = prev.or(self.after);
                return Ok(());
            }
        }
    }

    /// Asks to the end, and compares with the items published from the tick `since` on. Nobody may write any more.
    fn check(&mut self, feed: &Feed, all: &History, since: u64) -> Result<(), String> {
        let mut goes_on = true;
        while goes_on {
            goes_on = match self.after {
                Some(after) => self.up(feed, after, LIMITS[2])?,
                None => self.down(feed, LIMITS[2]).map(|()| false)?,
            };
        }
        let missed = all.lives.iter().filter(|life| {
            let stays = |user: UserId| !all.suspensions.contains_key(&(user, user));
            let mut paths = life.paths().filter(|source| stays(*source) && (!self.own || *source == self.whose));
            life.published.began >= since
                && life.of_server
                && life.turns.is_empty()
                && stays(life.entry.author)
                && paths.next().is_some()
                && !self.found.contains(&life.entry.cursor)
        });
        let missed: Vec<_> = missed.map(|life| life.entry.cursor.to_string()).collect();
        ensure!(
            missed.is_empty(),
            "{} polls and misses {missed:?} for good; it found {}",
            self.whose,
            self.found.len()
        );
        self.found.clear();
        Ok(())
    }
}

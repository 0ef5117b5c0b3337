//! Presence, and what streams are told.

use std::collections::{HashMap, HashSet};
use std::thread;
use std::time::{Duration, Instant};

use super::Feed;
use super::followees::List;
use crate::clock::now;
use crate::error::{Error, Result};
use crate::live::{Event, Kind, NotOpened, Online, Stream};
use crate::model::{ContentId, Cursor, Entry, PageRequest, Shown, Span, UserId};
use crate::store::Tier;

/// Most items that a stream is sent to catch up.
const MOST_MISSED: usize = 1000;
/// Most events of all kinds; what a client that catches up slowly holds in memory, of 56 bytes each.
const MOST_EVENTS: usize = 4 * MOST_MISSED;
/// Items of a timeline that are looked at for that.
const MOST_LOOKED_AT: usize = 4 * MOST_MISSED;
/// Items a page.
const PAGE: usize = 100;
/// Events that are taken out of the log at once.
const SLICE: usize = 1024;
/// How long items that are being written are waited for, and how often they are looked at meanwhile.
const MOST_WAIT: Duration = Duration::from_secs(1);
const LOOK_EVERY: Duration = Duration::from_millis(1);

/// What a stream is told of an event.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Happened {
    /// An item came, or came back; as it is now.
    Came(Shown),
    /// An item was edited; as it is now.
    Edited(Shown),
    /// An item is gone.
    Gone(Entry),
}

impl Feed {
    /// A heartbeat, which counts as the user being active, or the end of it; how the user is online then.
    /// `overloaded` if there are too many users online.
    pub fn set_presence(&self, user: UserId, online: bool, tier: Tier) -> Result<Online> {
        if !online {
            return Ok(self.live.presence().leave(user, now()));
        }
        self.see(user, tier)?;
        let full = || Error::unavailable("overloaded", "too many users are online; try again soon");
        self.live.presence().beat(user, now()).ok_or_else(full)
    }

    /// Opens a user's stream, which counts as the user being active. `stream_limit` for a user who has `most` of
    /// them.
    pub fn listen(&self, user: UserId, most: usize) -> Result<Stream> {
        self.still_listens(user)?;
        let (stream, turn) = self.live.streams().open(user, most).map_err(|why| match why {
            NotOpened::Closed => Error::unavailable("stopping", "the server is stopping"),
            NotOpened::TooMany => Error::TooMany {
                code: "stream_limit",
                detail: format!("user {user} cannot have more than {most} open streams"),
            },
        })?;
        if let Some(turn) = turn {
            turn.settle(&self.shown_to(user)?);
        }
        Ok(stream)
    }

    /// Marks a user as active whose stream is open.
    pub fn still_listens(&self, user: UserId) -> Result<()> {
        self.see(user, Tier::Disk).map(|_| ())
    }

    /// Whose content a user is shown, ascending.
    pub fn shown_to(&self, user: UserId) -> Result<List> {
        self.authors(user, Tier::Disk)
    }

    /// What happened for a user's stream between the item or place of `after` and the position `end` in the
    /// log, in order; `None` if it is too much. Each item comes once; where it came back after that, there is a
    /// mark, with the place behind it.
    ///
    /// As long as the log has `after`, that is what came after it. Otherwise it is what the timeline has
    /// that is newer than `after` and that the log does not know, and then what the log has that is newer
    /// or came later: events of other kinds, and late items, are known only as far as the log goes back.
    /// A time to come tells nothing then of what is missed, and so is too much.
    pub fn missed(&self, user: UserId, after: Cursor, end: u64) -> Result<Option<Vec<Event>>> {
        let authors = self.shown_to(user)?;
        let place = self.live.sequencer().place(after);
        // Of a time to come, for it is an item's to which the host gave one: what was published meanwhile is older.
        if place.is_none() && after.at > now() {
            return Ok(None);
        }
        let counts = |event: &Event| {
            event.kind != Kind::Mark
                && authors.binary_search(&event.entry.author).is_ok()
                && (place.is_some() || event.entry.cursor > after || event.logged >= after.at)
        };
        let mut logged = Vec::new();
        let mut next = place.map_or(0, |place| place + 1);
        // Before the log begins there is nothing to lose.
        let mut may_lack = place.is_none();
        while next < end {
            let slice = self.live.sequencer().slice(next, end, SLICE);
            if slice.lost && !may_lack {
                return Ok(None);
            }
            may_lack = false;
            next = slice.from + slice.events.len() as u64;
            if slice.events.is_empty() {
                break;
            }
            logged.extend(slice.events.into_iter().filter(counts));
            if logged.len() > MOST_EVENTS {
                return Ok(None);
            }
        }
        let mut missed = Vec::new();
        if place.is_none() {
            let Some(unlogged) = self.unlogged(user, after)? else { return Ok(None) };
            missed = unlogged;
        }
        missed.append(&mut logged);
        // An item that was deleted and restored comes once, as it is now; what is sent next leads on from the
        // place of the restore all the same.
        let mut came = HashSet::new();
        for event in missed.iter_mut().filter(|event| matches!(event.kind, Kind::Publish | Kind::Restore)) {
            if !came.insert(event.entry.cursor) {
                event.kind = Kind::Mark;
            }
        }
        Ok(Some(missed).filter(|missed| came.len() <= MOST_MISSED && missed.len() <= MOST_EVENTS))
    }

    /// Items of a timeline newer than `after` that the log does not know, oldest first; `None` if they are too many,
    /// or one is being written for too long.
    fn unlogged(&self, user: UserId, after: Cursor) -> Result<Option<Vec<Event>>> {
        let mut found: Vec<Event> = Vec::new();
        let mut after = after;
        for _ in 0..MOST_LOOKED_AT / PAGE {
            let request = PageRequest { span: Span { before: None, after: Some(after) }, limit: PAGE };
            let page = self.peeked_timeline(user, &request, Tier::Disk)?.items;
            let Some(newest) = page.first().map(|entry| entry.cursor) else { return Ok(Some(found)) };
            after = newest;
            // Asked after the page was read: what is in it and not known now was committed before the log began,
            // or is forgotten.
            let cursors: Vec<_> = page.iter().map(|entry| entry.cursor).collect();
            let Some(unknown) = self.unknown(cursors) else { return Ok(None) };
            let unknown = page.into_iter().filter(|entry| unknown.contains(&entry.cursor));
            let event =
                |entry: Entry| Event { kind: Kind::Publish, entry, logged: entry.cursor.at, place: entry.cursor };
            let mut events: Vec<_> = unknown.map(event).collect();
            events.reverse();
            found.append(&mut events);
            if found.len() > MOST_MISSED {
                return Ok(None);
            }
        }
        Ok(None)
    }

    /// Which of these publishes, all on disk, the log does not have and will not have. Those that are being
    /// written once more are waited for: whether that makes an event is known when it has ended. `None` if it
    /// takes too long.
    fn unknown(&self, mut cursors: Vec<Cursor>) -> Option<HashSet<Cursor>> {
        let (began, mut unknown) = (Instant::now(), HashSet::new());
        loop {
            let mut known = self.live.sequencer().knows(&cursors).into_iter();
            cursors.retain(|cursor| match known.next().flatten() {
                Some(known) => {
                    if !known {
                        unknown.insert(*cursor);
                    }
                    false
                }
                None => true,
            });
            if cursors.is_empty() {
                return Some(unknown);
            }
            if began.elapsed() > MOST_WAIT {
                return None;
            }
            thread::sleep(LOOK_EVERY);
        }
    }

    /// What streams are told of these events, by what the items are now; nothing of an event that
    /// a later one undid.
    pub fn happened(&self, events: &[Event]) -> Result<Vec<Option<Happened>>> {
        let ids: Vec<ContentId> = events.iter().map(|event| event.entry.cursor.id).collect();
        let contents = self.contents(&ids, Tier::Disk)?;
        let shown = self.listed(contents, Tier::Disk, &mut |_| Ok(()))?;
        let live: HashMap<ContentId, Shown> = shown.into_iter().map(|item| (item.content.id, item)).collect();
        let told = |event: &Event| match (event.kind, live.get(&event.entry.cursor.id)) {
            (Kind::Publish | Kind::Restore, item) => item.cloned().map(Happened::Came),
            (Kind::Edit, item) => item.cloned().map(Happened::Edited),
            (Kind::Delete, None) => Some(Happened::Gone(event.entry)),
            (Kind::Delete, Some(_)) | (Kind::Mark, _) => None,
        };
        Ok(events.iter().map(told).collect())
    }
}

//! Presence, and the events of streams.

use std::borrow::Cow;
use std::collections::HashMap;

use crate::core::Core;
use crate::read::Read;
use crate::streaming::{Event, Kind, Online, Stream};
use crate::{items, timeline, visibility};
use model::clock::now;
use model::error::{Code, Error, Result};
use model::versions::Thing;
use model::{ContentId, Entry, ItemView, Mentions, UserId};

/// How often the sources of a new stream are read beside changes.
const ATTEMPTS: usize = 4;

/// An event as a stream sends it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Happened {
    /// An item was published or restored; as it is now.
    Came(ItemView),
    /// An item was edited; as it is now.
    Edited(ItemView),
    /// An item was deleted.
    Gone(Entry),
    /// An item was taken off a path, and is on these still.
    TakenOff(Entry, Vec<UserId>),
}

impl Mentions for Happened {
    fn mentions(&self, see: &mut impl FnMut(u64)) {
        match self {
            Self::Came(item) | Self::Edited(item) => {
                // The id is also that of the event.
                see(item.content.id.get());
                item.mentions(see);
            }
            Self::Gone(entry) | Self::TakenOff(entry, _) => entry.mentions(see),
        }
    }
}

/// How a user is online.
pub fn presence(read: Read<'_>, user: UserId) -> Online {
    read.feed.streaming.presence().of(user, now())
}

/// Records a heartbeat, which counts as the user being active, or ends it. Returns how the user is online then.
/// `overloaded` if too many users are online.
pub fn set_presence(read: Read<'_>, user: UserId, online: bool) -> Result<Online> {
    let presence = read.feed.streaming.presence();
    if !online {
        return Ok(presence.leave(user, now()));
    }
    timeline::mark_seen(read, user)?;
    let full = || Error::refused(Code::Overloaded, "too many users are online. Send the request again later");
    presence.beat(user, now()).ok_or_else(full)
}

/// Opens a user's stream, which counts as the user being active. `stream_limit` if the user has `most` open ones.
pub fn listen(feed: &Core, user: UserId, most: usize) -> Result<Stream> {
    timeline::mark_seen(feed.read(), user)?;
    feed.streaming.streams().opening(|| open_stream(feed, user, most))
}

/// Opens a stream with the present sources of its user, which are read again if they have changed meanwhile.
fn open_stream(feed: &Core, user: UserId, most: usize) -> Result<Stream> {
    let mut attempts = 0;
    loop {
        if attempts > 1 {
            // Waits for the end of the changes under way.
            drop(feed.streaming.hold_changes());
        }
        // At last no change is made.
        let still = (attempts == ATTEMPTS).then(|| feed.streaming.hold_changes());
        attempts += 1;
        let since = feed.versions.now([Thing::Sources(user)]);
        let sources = timeline::authors(feed.read(), user)?;
        let are_present = || still.is_some() || since.are_settled() && feed.is_unchanged(&since);
        let opened = feed.streaming.streams().open(user, most, || are_present().then_some(&sources))?;
        if let Some(stream) = opened {
            return Ok(stream);
        }
    }
}

/// An event without its paths through suspended sources, and those that the item was taken off since: nobody gets it on
/// these.
pub fn on_present_paths<'e>(feed: &Core, event: &'e Event) -> Result<Cow<'e, Event>> {
    let (id, read) = (event.entry.cursor.id, feed.read());
    let mut gone = read.suspended_among(event.paths())?;
    if event.kind != Kind::TakenOff {
        let taken_off =
            items::tables::taken_off(&feed.store, &mut event.paths().map(|source| (id, source)), read.tier)?;
        gone.extend(taken_off.into_iter().map(|(_, source)| source));
    }
    if gone.is_empty() {
        return Ok(Cow::Borrowed(event));
    }
    let broadcast = event.broadcast && !gone.contains(&event.entry.author);
    let to = event.to.iter().flat_map(|to| to.iter().copied()).filter(|source| !gone.contains(source));
    Ok(Cow::Owned(Event { broadcast, to: Some(to.collect()), ..event.clone() }))
}

/// These events as streams send them, with the items as they are now; `None` for an event that a later one undid, and
/// for those of suspended authors.
/// For a viewer also the viewer's reactions to each item.
pub fn happened(feed: &Core, events: &[Event], viewer: Option<UserId>) -> Result<Vec<Option<Happened>>> {
    let ids: Vec<ContentId> = events.iter().map(|event| event.entry.cursor.id).collect();
    let read = feed.read();
    let mut shown = visibility::listed(read, visibility::contents(read, &ids)?)?;
    if let Some(viewer) = viewer {
        visibility::add_reactions(read, viewer, &mut shown)?;
    }
    let live: HashMap<ContentId, ItemView> = shown.into_iter().map(|item| (item.content.id, item)).collect();
    let left = live.values().flat_map(|item| item.content.paths());
    let suspended = read.suspended_among(events.iter().map(|event| event.entry.author).chain(left))?;
    let told = |event: &Event| match (event.kind, live.get(&event.entry.cursor.id)) {
        // The items were taken away by a reset.
        (Kind::Delete | Kind::TakenOff, _) if suspended.contains(&event.entry.author) => None,
        (Kind::TakenOff, item) => {
            let left = item.into_iter().flat_map(|item| item.content.paths());
            Some(Happened::TakenOff(event.entry, left.filter(|source| !suspended.contains(source)).collect()))
        }
        (Kind::Publish | Kind::Restore, item) => item.cloned().map(Happened::Came),
        (Kind::Edit, item) => item.cloned().map(Happened::Edited),
        (Kind::Delete, None) => Some(Happened::Gone(event.entry)),
        (Kind::Delete, Some(_)) | (Kind::Mark | Kind::Gap | Kind::Suspension, _) => None,
    };
    Ok(events.iter().map(told).collect())
}

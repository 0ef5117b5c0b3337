//! Presence, and the events of streams.

use std::collections::HashMap;

use crate::Feed;
use crate::streaming::{Event, Kind, NotOpened, Online, Stream};
use crate::timeline::followees::List;
use model::clock::now;
use model::error::{Code, Error, Result};
use model::store::Tier;
use model::{ContentId, Entry, ItemView, Mentions, Reactions, UserId};

/// An event as a stream sends it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Happened {
    /// An item was published or restored; as it is now.
    Came(ItemView),
    /// An item was edited; as it is now.
    Edited(ItemView),
    /// An item was deleted.
    Gone(Entry),
}

impl Mentions for Happened {
    fn mentions(&self, see: &mut impl FnMut(u64)) {
        match self {
            Self::Came(item) | Self::Edited(item) => {
                // The id is also that of the event.
                see(item.content.id.get());
                item.mentions(see);
            }
            Self::Gone(entry) => entry.mentions(see),
        }
    }
}

impl Feed {
    /// Records a heartbeat, which counts as the user being active, or ends it. Returns how the user is online then.
    /// `overloaded` if too many users are online.
    pub fn set_presence(&self, user: UserId, online: bool, tier: Tier) -> Result<Online> {
        if !online {
            return Ok(self.streaming.presence().leave(user, now()));
        }
        self.see(user, tier)?;
        let full = || Error::refused(Code::Overloaded, "too many users are online. Send the request again later");
        self.streaming.presence().beat(user, now()).ok_or_else(full)
    }

    /// Opens a user's stream, which counts as the user being active. `stream_limit` if the user has `most` open ones.
    pub fn listen(&self, user: UserId, most: usize) -> Result<Stream> {
        self.still_listens(user)?;
        let (stream, turn) = self.streaming.streams().open(user, most).map_err(|why| match why {
            NotOpened::Closed => Code::Stopping.into(),
            NotOpened::TooMany => Error::refused(
                Code::StreamLimit,
                format_args!("a user cannot have more than {most} open streams (server.max_streams_per_user)"),
            ),
        })?;
        if let Some(turn) = turn {
            turn.finish(&self.shown_to(user)?);
        }
        Ok(stream)
    }

    /// Marks a user with an open stream as active.
    pub fn still_listens(&self, user: UserId) -> Result<()> {
        self.see(user, Tier::Disk).map(|_| ())
    }

    /// Authors whose content a user is shown, ascending.
    pub fn shown_to(&self, user: UserId) -> Result<List> {
        self.authors(user, Tier::Disk)
    }

    /// The reactions of readers to an item, in the order of the readers.
    pub fn viewed(&self, id: ContentId, readers: &[UserId]) -> Result<Vec<Reactions>> {
        self.store.reacted_to(id, readers, Tier::Disk)
    }

    /// These events as streams send them, with the items as they are now; `None` for an event that a later one undid.
    /// For a viewer also the viewer's reactions to each item.
    pub fn happened(&self, events: &[Event], viewer: Option<UserId>) -> Result<Vec<Option<Happened>>> {
        let ids: Vec<ContentId> = events.iter().map(|event| event.entry.cursor.id).collect();
        let contents = self.contents(&ids, Tier::Disk)?;
        let mut shown = self.listed(contents, Tier::Disk, &mut |_| Ok(()))?;
        if let Some(viewer) = viewer {
            self.add_reactions(viewer, &mut shown, Tier::Disk)?;
        }
        let live: HashMap<ContentId, ItemView> = shown.into_iter().map(|item| (item.content.id, item)).collect();
        let told = |event: &Event| match (event.kind, live.get(&event.entry.cursor.id)) {
            (Kind::Publish | Kind::Restore, item) => item.cloned().map(Happened::Came),
            (Kind::Edit, item) => item.cloned().map(Happened::Edited),
            (Kind::Delete, None) => Some(Happened::Gone(event.entry)),
            (Kind::Delete, Some(_)) | (Kind::Mark | Kind::Gap, _) => None,
        };
        Ok(events.iter().map(told).collect())
    }
}

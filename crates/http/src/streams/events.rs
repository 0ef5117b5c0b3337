//! Events in the format of a stream.

use std::fmt::Display;

use russe::{Event as Sse, Message};

use crate::calls::notices;
use crate::calls::objects::{self, ItemId, Viewer};
use crate::prelude::*;
use feed::events::{self, Happened};
use feed::streaming::{Event, Frame, Kind, Personal};
use model::{Cursor, ExternalIds, ReactionKinds, Reactions, UserId};

/// The media type `text/event-stream`.
pub(crate) const MEDIA_TYPE: &str = russe::MEDIA_TYPE_STR;

/// A comment line, which clients skip.
pub(crate) const COMMENT: &str = ":\n\n";

/// Events ready for delivery, each separate; `None` for events undone since.
pub(crate) fn frames(feed: &Feed, events: &[Event]) -> Result<Vec<Option<Frame>>> {
    let (happened, ids) = feed.read().named(events::happened(feed, events, None)?)?;
    events.iter().zip(happened).map(|(event, happened)| frame(feed, event, happened, &ids)).collect()
}

fn frame(feed: &Feed, event: &Event, happened: Option<Happened>, ids: &ExternalIds) -> Result<Option<Frame>> {
    let reacted = match &happened {
        Some(Happened::Came(item) | Happened::Edited(item)) => Some(!item.counts.reactions.is_empty()),
        Some(Happened::Gone(_) | Happened::TakenOff(..)) | None => None,
    };
    let still = match &happened {
        Some(Happened::TakenOff(_, paths)) => paths.clone(),
        _ => Vec::new(),
    };
    let Some(text) = told(event, happened, ids, feed.reaction_kinds())? else { return Ok(None) };
    // `viewer` becomes the last field of the item, before its end. No brace follows the end.
    let viewer_at = text.rfind('}');
    let frame = feed.streaming().streams().frame(&*events::on_present_paths(feed, event)?, text).still_on(still);
    Ok(Some(match (viewer_at, reacted) {
        (Some(at), Some(reacted)) => frame.with_viewer(at, reacted),
        _ => frame,
    }))
}

/// Adds an event in the form for one reader.
pub(crate) fn write(frame: &Frame, reader: UserId, kinds: &ReactionKinds, text: &mut String) -> Result<()> {
    let (before, viewer, after) = frame.parts(reader);
    text.push_str(before);
    if let Some(reactions) = viewer {
        text.push_str(r#","viewer":"#);
        match reactions == Reactions::default() {
            true => text.push_str(objects::NO_REACTIONS),
            false => text.push_str(&reply::text(&Viewer::new(reactions, kinds))?),
        }
    }
    text.push_str(after);
    Ok(())
}

/// An event as text; `None` if it was undone since.
pub(crate) fn told(
    event: &Event,
    happened: Option<Happened>,
    ids: &ExternalIds,
    kinds: &ReactionKinds,
) -> Result<Option<String>> {
    let text = happened.map(|happened| text(event, happened, ids, kinds)).transpose()?;
    Ok(match (event.kind, text) {
        (Kind::Mark, _) => Some(place(event.place())),
        // The item's id is the place of its publish. The place of this event follows it.
        (Kind::Restore, Some(text)) => Some(text + &place(event.place())),
        (_, text) => text,
    })
}

fn text(event: &Event, happened: Happened, ids: &ExternalIds, kinds: &ReactionKinds) -> Result<String> {
    match happened {
        Happened::Came(item) => {
            let id = ids.place(item.content.cursor()).to_string();
            // A client sends the place in a header, where a space at the end is lost.
            let id = if id.ends_with(' ') { event.place().to_string() } else { id };
            message("content", Some(id), objects::item(&item, ids, kinds)?)
        }
        Happened::Edited(item) => message("edit", None, objects::item(&item, ids, kinds)?),
        Happened::Gone(entry) | Happened::TakenOff(entry, _) => {
            message("delete", None, reply::encode(&ItemId::new(entry, ids))?)
        }
    }
}

/// A marker that moved.
#[derive(Serialize)]
struct MarkerMoved<'a> {
    /// `timeline`, `list` or `notices`.
    of: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    list: Option<&'a str>,
    cursor: String,
}

/// An event of one user alone as text, with the user who caused it; `None` for a notice that the user does not see.
pub(crate) fn personal(feed: &Feed, user: UserId, what: &Personal) -> Result<Option<(Option<UserId>, String)>> {
    let read = feed.read();
    let moved = match what {
        Personal::Notice(place) => {
            let Some(notice) = notices::told(read, user, *place)? else { return Ok(None) };
            let text = message("notice", None, reply::encode(&notice)?)?;
            return Ok(Some((Some(place.id.actor), text)));
        }
        Personal::Marker(place, list) => {
            let cursor = read.host_ids(place)?.place(*place).to_string();
            MarkerMoved { of: if list.is_some() { "list" } else { "timeline" }, list: list.as_deref(), cursor }
        }
        Personal::NoticeMarker(place) => {
            let cursor = read.host_ids(place)?.notice(*place).to_string();
            MarkerMoved { of: "notices", list: None, cursor }
        }
    };
    Ok(Some((None, message("marker", None, reply::encode(&moved)?)?)))
}

/// A reset: events were left out. The client resumes after the cursor.
pub(crate) fn reset(cursor: Cursor) -> Result<String> {
    message("reset", Some(cursor.to_string()), b"{}".to_vec())
}

/// Tells the client where to resume if the connection ends before the next event. A block without data is no event.
pub(crate) fn place(cursor: impl Display) -> String {
    format!("id: {cursor}\n\n")
}

/// An event with JSON, and the id after which a client resumes.
pub(crate) fn message(event: &'static str, id: Option<String>, json: Vec<u8>) -> Result<String> {
    let data = String::from_utf8(json).map_err(Error::internal)?.into();
    let message = Message { data, event: Some(event.into()), retry: None, id: id.map(Into::into) };
    Ok(Sse::Message(message).into_bytestring().map_err(Error::internal)?.to_string())
}

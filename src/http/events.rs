//! Events as they go out on a stream.

use russe::{Event as Sse, Message};

use super::problem::Problem;
use super::reply;
use super::show::{Item, ItemId};
use crate::feed::{Feed, Happened};
use crate::live::{Event, Kind};
use crate::model::Cursor;

/// What `text/event-stream` is called in the header.
pub(super) const MEDIA_TYPE: &str = russe::MEDIA_TYPE_STR;

/// A comment line, which clients skip.
pub(super) const COMMENT: &str = ":\n\n";

/// Events as text, each alone; nothing of those that were undone since.
pub(super) fn texts(feed: &Feed, events: &[Event]) -> Result<Vec<Option<String>>, Problem> {
    let happened = feed.happened(events)?;
    events.iter().zip(happened).map(|(event, happened)| told(event, happened)).collect()
}

/// An event as text, by what happened; nothing if it was undone since.
pub(super) fn told(event: &Event, happened: Option<Happened>) -> Result<Option<String>, Problem> {
    let text = happened.map(text).transpose()?;
    Ok(match (event.kind, text) {
        (Kind::Mark, _) => Some(place(event.place())),
        // The id of the item leads back to its publish; what follows leads on from here.
        (Kind::Restore, Some(text)) => Some(text + &place(event.place())),
        (_, text) => text,
    })
}

fn text(happened: Happened) -> Result<String, Problem> {
    match happened {
        Happened::Came(item) => message("content", Some(item.content.cursor()), reply::encode(&Item::new(&item)?)?),
        Happened::Edited(item) => message("edit", None, reply::encode(&Item::new(&item)?)?),
        Happened::Gone(entry) => message("delete", None, reply::encode(&ItemId::from(entry))?),
    }
}

/// Events were left out. The cursor leads on from here.
pub(super) fn reset(cursor: Cursor) -> Result<String, Problem> {
    message("reset", Some(cursor), b"{}".to_vec())
}

/// Tells the client where to go on from, should it be cut before the next event. A block without data
/// makes no event.
pub(super) fn place(cursor: Cursor) -> String {
    format!("id: {cursor}\n\n")
}

fn message(event: &'static str, id: Option<Cursor>, json: Vec<u8>) -> Result<String, Problem> {
    let data = String::from_utf8(json).map_err(Problem::internal)?.into();
    let id = id.map(|cursor| cursor.to_string().into());
    let message = Message { data, event: Some(event.into()), retry: None, id };
    Ok(Sse::Message(message).into_bytestring().map_err(Problem::internal)?.to_string())
}

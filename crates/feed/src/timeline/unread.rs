//! Counts of unread items.

use super::home::{Reader, look_at_list, look_at_timeline};
use super::markers::marker;
use crate::pages::segment::MOST_UNREAD;
use crate::read::Read;
use model::error::Result;
use model::{ContentId, Entry, ListId, Scanned, Span, Unread, UserId};

/// Counts the items of the home timeline that are newer than the user's marker, all of them
/// without one, up to [`MOST_UNREAD`], and as far as a page would look. Counts as the user being active. Costs no more
/// than a page of this many items.
pub fn unread(read: Read<'_>, user: UserId) -> Result<Unread> {
    // The marker first: a move during this call may count or not.
    let newer = Span { before: None, after: marker(read, user, None)? }.newest(MOST_UNREAD + 1);
    Ok(counted(&look_at_timeline(read, user, Reader::User, |timeline| timeline.entries(newer))?))
}

/// Counts the items of the timeline of a list that are newer than its marker, as
/// [`timeline::unread`](crate::timeline::unread) does.
pub fn list_unread(read: Read<'_>, user: UserId, list: ListId) -> Result<Unread> {
    let newer = Span { before: None, after: marker(read, user, Some(list))? }.newest(MOST_UNREAD + 1);
    Ok(counted(&look_at_list(read, user, list, |timeline| timeline.entries(newer))?))
}

/// The count of unread entries, of which one more than the most was asked for.
fn counted(newer: &Scanned<Entry, ContentId>) -> Unread {
    let count = newer.found.len();
    Unread { count: count.min(MOST_UNREAD), capped: count > MOST_UNREAD || newer.stopped.is_some() }
}

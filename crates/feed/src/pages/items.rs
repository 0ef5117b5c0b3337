//! Pages of lists of items.

use crate::pages::segment::{ReadStart, Segment};
use crate::read::Read;
use crate::visibility;
use model::error::Result;
use model::{ContentId, ContentPage, Entry, PageRequest, Scan, UserId};

/// A page of the own page of a source, or of the comments of an author; empty if the viewer sees nothing of the user.
pub(crate) fn of_user(
    read: Read<'_>,
    user: UserId,
    request: &PageRequest<ContentId>,
    scan: impl Fn(Scan<ContentId>) -> Result<Vec<Entry>>,
) -> Result<ContentPage> {
    let is_seen = visibility::sees_user(read, user)?;
    list(read, request, |part| if is_seen { scan(part) } else { Ok(Vec::new()) })
}

/// A page of a list of content, without the items that the viewer does not see and those of other kinds than asked for.
/// `scan` returns its entries, as many as asked for, or all.
pub(crate) fn list(
    read: Read<'_>,
    request: &PageRequest<ContentId>,
    scan: impl Fn(Scan<ContentId>) -> Result<Vec<Entry>>,
) -> Result<ContentPage> {
    ReadStart::of(read).page(request, &|part| seen_segment(read, part, &scan))
}

/// Most entries of a segment that are compared with what the viewer sees, in a read from memory.
const MOST_AT_ONCE: usize = 128;

/// A segment of a list, without the items that the viewer does not see. `all` reads the list with all
/// items: as many entries as asked for, or all.
pub(crate) fn seen_segment(
    read: Read<'_>,
    part: Scan<ContentId>,
    all: &impl Fn(Scan<ContentId>) -> Result<Vec<Entry>>,
) -> Result<Segment> {
    let segment = Segment::of(all(part)?, part.limit).only(|entry| read.takes(entry.kind));
    let segment = segment.without_suspended(read)?;
    let Some(viewer) = read.viewer else { return Ok(segment) };
    segment.without(|entries| {
        // Behind many unseen items: on a thread that may block.
        if entries.len() >= MOST_AT_ONCE {
            read.needs_disk()?;
        }
        Ok(visibility::kept_from(read, viewer, entries)?.iter().map(Option::is_some).collect())
    })
}

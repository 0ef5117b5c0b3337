//! Lists that come of reactions.

use super::tables;
use crate::pages::segment::fill;
use crate::read::Read;
use crate::{pages, visibility};
use model::error::Result;
use model::{ContentId, ContentPage, Entry, PageRequest, ReactionKind, UserId, UserPage};

/// A page of the live content that a user reacted to and the viewer sees, newest content first. Empty if another viewer
/// sees nothing of the user.
pub fn reacted_by(
    read: Read<'_>,
    user: UserId,
    kind: ReactionKind,
    request: &PageRequest<ContentId>,
) -> Result<ContentPage> {
    let is_seen = read.viewer == Some(user) || visibility::sees_user(read, user)?;
    let all = |scan| match is_seen {
        true => tables::reacted_by(&read.feed.store, user, kind, scan, read.tier),
        false => Ok(Vec::new()),
    };
    let seen = |scan| fill(scan, read.feed.config.timeline.look_at, &|part| pages::seen_segment(read, part, &all));
    let page = ContentPage::read(request, |entry| entry.cursor, seen);
    page.map(|mut page| {
        page.items.iter_mut().for_each(|entry| *entry = Entry::plain(entry.cursor, entry.author));
        page
    })
}

/// A page of the users who reacted to an item, which is that of [`visibility::find_live`](crate::visibility::find_live), without
/// those of whom the viewer sees nothing.
pub fn reactors(read: Read<'_>, id: ContentId, kind: ReactionKind, request: &PageRequest<UserId>) -> Result<UserPage> {
    let all = |scan| tables::reactors(&read.feed.store, id, kind, scan, read.tier);
    pages::by_time(read, request, |scan| {
        pages::seen_ids(read, scan, all, |users| visibility::unseen_users(read, users))
    })
}

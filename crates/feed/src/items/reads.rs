//! Lists of items: own pages and comments.

use super::tables;
use crate::pages;
use crate::read::Read;
use model::error::Result;
use model::{ContentId, ContentPage, PageRequest, UserId};

/// A page of a user's own content.
pub fn own_page(read: Read<'_>, author: UserId, request: &PageRequest<ContentId>) -> Result<ContentPage> {
    pages::of_user(read, author, request, |scan| tables::outboxes(&read.feed.store, &[author], scan, read.tier))
}

/// A page of the comments on an item, which is that of [`visibility::find_live`](crate::visibility::find_live).
pub fn comments(read: Read<'_>, subject: ContentId, request: &PageRequest<ContentId>) -> Result<ContentPage> {
    pages::list(read, request, |scan| tables::comments(&read.feed.store, subject, scan, read.tier))
}

/// A page of the comments that a user made.
pub fn user_comments(read: Read<'_>, author: UserId, request: &PageRequest<ContentId>) -> Result<ContentPage> {
    pages::of_user(read, author, request, |scan| tables::user_comments(&read.feed.store, author, scan, read.tier))
}

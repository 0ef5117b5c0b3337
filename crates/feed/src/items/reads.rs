//! Lists of items: own pages and comments.

use crate::pages;
use crate::read::Read;
use model::error::Result;
use model::{ContentId, ContentPage, PageRequest, UserId};

/// A page of a user's own content.
pub fn own_page(read: Read<'_>, author: UserId, request: &PageRequest<ContentId>) -> Result<ContentPage> {
    pages::of_user(read, author, request, |scan| read.feed.store.outboxes(&[author], scan, read.tier))
}

/// A page of the comments on an item, which is that of [`sight::find_live`](crate::sight::find_live).
pub fn comments(read: Read<'_>, subject: ContentId, request: &PageRequest<ContentId>) -> Result<ContentPage> {
    pages::list(read, request, |scan| read.feed.store.comments(subject, scan, read.tier))
}

/// A page of the comments that a user made.
pub fn user_comments(read: Read<'_>, author: UserId, request: &PageRequest<ContentId>) -> Result<ContentPage> {
    pages::of_user(read, author, request, |scan| read.feed.store.user_comments(author, scan, read.tier))
}

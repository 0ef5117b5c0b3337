//! Notices that changes cause, for the streams of the users concerned.

use super::tables;
use crate::core::Core;
use crate::streaming::Personal;
use crate::visibility;
use model::error::Result;
use model::{Content, ContentId, Millis, NoticeCursor, NoticeId, NoticeKind, ReactionKind, UserId};

/// Tells the streams of a user of a notice, if it is one, after the change is on disk.
pub(crate) fn tell(feed: &Core, owner: UserId, at: Millis, id: NoticeId) {
    if owner != id.actor {
        feed.streaming.tell(owner, Personal::Notice(NoticeCursor { at, id }));
    }
}

/// Tells of a reaction to an item of a user.
pub(crate) fn tell_reaction(
    feed: &Core,
    owner: UserId,
    item: ContentId,
    (actor, kind, at): (UserId, ReactionKind, Millis),
) {
    if let Some(reaction) = tables::reaction_byte(&feed.store, kind) {
        let id = NoticeId { kind: NoticeKind::Reaction, reaction, actor, item: Some(item) };
        tell(feed, owner, at, id);
    }
}

/// Tells of new items those whom they concern.
pub(crate) fn tell_published<'c>(feed: &Core, items: impl IntoIterator<Item = &'c Content>) {
    if feed.streaming.streams().is_idle() {
        return;
    }
    if let Err(error) = items.into_iter().try_for_each(|content| tell_item(feed, content)) {
        tracing::warn!(%error, "notices for streams were lost; every stream gets a reset");
        feed.streaming.streams().reset_all();
    }
}

fn tell_item(feed: &Core, content: &Content) -> Result<()> {
    let tell = |owner, kind| {
        tell(feed, owner, content.published_at, NoticeId::new(kind, content.author, Some(content.id)));
    };
    content.mentions.iter().for_each(|user| tell(*user, NoticeKind::Mention));
    if let Some((kind, subject)) = NoticeKind::of_item(content) {
        visibility::live_contents(feed.read(), &[subject])?.iter().for_each(|subject| tell(subject.author, kind));
    }
    Ok(())
}

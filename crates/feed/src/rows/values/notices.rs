//! Rows of notices and of their markers.

use super::{author, corrupt, flags, millis, read_flags};
use crate::rows::keys::number;
use model::error::Result;
use model::{Audience, ContentId, NoticeCursor, NoticeId, NoticeKind, UserId};

/// A notice of a publish: the flags of the item, then the item on which it is, if it is a comment or a repost.
pub(crate) fn notice(on: Option<ContentId>, audience: Audience) -> Vec<u8> {
    let on = on.map(|on| on.get().to_be_bytes());
    [flags(audience)].into_iter().chain(on.into_iter().flatten()).collect()
}

pub(crate) fn read_notice(bytes: &[u8]) -> Result<(Option<ContentId>, Audience)> {
    let on = match bytes {
        [_] => None,
        [_, on @ ..] if on.len() == 8 => {
            number(on).and_then(|on| ContentId::new(on).ok()).map(Some).unwrap_or_default()
        }
        _ => return Err(corrupt("notice")),
    };
    Ok((on, read_flags(bytes[0])?))
}

/// The marker of notices: time, code of the kind, byte of the reaction, actor, item or 0.
pub(crate) fn notice_marker(NoticeCursor { at, id }: NoticeCursor) -> Vec<u8> {
    let item = id.item.map_or(0, ContentId::get).to_be_bytes();
    [&millis(at)[..], &[id.kind as u8, id.reaction], &author(id.actor), &item].concat()
}

pub(crate) fn read_notice_marker(bytes: &[u8]) -> Result<NoticeCursor> {
    let read = || {
        let (at, rest) = bytes.split_first_chunk::<8>()?;
        let [kind, reaction, ids @ ..] = rest else { return None };
        let item = number(ids.get(8..).filter(|item| item.len() == 8)?)?;
        let item = if item == 0 { None } else { Some(ContentId::new(item).ok()?) };
        let actor = UserId::new(number(ids)?).ok()?;
        let id = NoticeId { kind: NoticeKind::of(*kind)?, reaction: *reaction, actor, item };
        Some(NoticeCursor { at: u64::from_be_bytes(*at), id })
    };
    read().ok_or_else(|| corrupt("marker of notices"))
}

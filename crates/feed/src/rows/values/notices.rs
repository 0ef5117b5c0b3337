//! Rows of notices and of their markers.

use super::{Value, author, corrupt, flags, millis, read_flags};
use crate::rows::keys;
use crate::rows::keys::number;
use model::error::Result;
use model::{ContentId, Notice, NoticeCursor, NoticeId, NoticeKind, UserId};

/// But for the kind of its reaction, which only its number in the key tells.
impl Value for Notice {
    const FORM: &'static str =
        "of a publish the flags of the item, then the item on which it is, if it is a comment or a repost";

    fn read(key: &[u8], bytes: &[u8]) -> Result<Self> {
        let corrupt = || corrupt("notice");
        let (_, place) = keys::split_notice(key).ok_or_else(corrupt)?;
        let notice = Self::plain(place);
        let on = match bytes {
            [] if !place.id.kind.is_published() => return Ok(notice),
            [_] => None,
            [_, on @ ..] if on.len() == 8 => number(on).and_then(|on| ContentId::new(on).ok()),
            _ => return Err(corrupt()),
        };
        if !place.id.kind.is_published() || on.is_some() != (place.id.kind != NoticeKind::Mention) {
            return Err(corrupt());
        }
        Ok(Self { on, audience: read_flags(bytes[0])?, ..notice })
    }

    fn bytes(&self) -> Result<Vec<u8>> {
        if !self.place.id.kind.is_published() {
            return Ok(Vec::new());
        }
        let on = self.on.map(|on| on.get().to_be_bytes());
        Ok([flags(self.audience)].into_iter().chain(on.into_iter().flatten()).collect())
    }
}

/// Time, code of the kind, byte of the reaction, actor, item or 0.
impl Value for NoticeCursor {
    const FORM: &'static str = "the place up to which the user has read: time, kind, reaction, actor, item or 0";

    fn read(_: &[u8], bytes: &[u8]) -> Result<Self> {
        let read = || {
            let (at, rest) = bytes.split_first_chunk::<8>()?;
            let [kind, reaction, ids @ ..] = rest else { return None };
            let item = number(ids.get(8..).filter(|item| item.len() == 8)?)?;
            let item = if item == 0 { None } else { Some(ContentId::new(item).ok()?) };
            let actor = UserId::new(number(ids)?).ok()?;
            let id = NoticeId { kind: NoticeKind::of(*kind)?, reaction: *reaction, actor, item };
            Some(Self { at: u64::from_be_bytes(*at), id })
        };
        read().ok_or_else(|| corrupt("marker of notices"))
    }

    fn bytes(&self) -> Result<Vec<u8>> {
        let NoticeId { kind, reaction, actor, item } = self.id;
        let item = item.map_or(0, ContentId::get).to_be_bytes();
        Ok([&millis(self.at)[..], &[kind as u8, reaction], &author(actor), &item].concat())
    }
}

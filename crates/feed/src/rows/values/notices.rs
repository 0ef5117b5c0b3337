//! Rows of notices and of their markers.

use super::{Value, corrupt, decode, encode, flags, read_flags, valid};
use crate::rows::keys;
use crate::rows::keys::number;
use model::error::Result;
use model::{ContentId, Notice, NoticeCursor, NoticeId, NoticeKind, UserId};

const PLACE: u8 = 1;

/// But for the kind of its reaction, which only its number in the key tells.
impl Value for Notice {
    const FORM: &'static str =
        "of a publish the flags of the item, then the item on which it is, if it is a comment or a repost";

    fn read(key: &[u8], bytes: &[u8]) -> Result<Self> {
        let corrupt = || corrupt("notice");
        let (_, place): (UserId, _) = keys::read(key).ok_or_else(corrupt)?;
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

impl Value for NoticeCursor {
    const FORM: &'static str =
        "version 1, then bincode: the place up to which the user has read: time, kind, reaction, actor, item";

    fn read(_: &[u8], bytes: &[u8]) -> Result<Self> {
        let (at, kind, reaction, actor, item): (_, _, _, _, Option<u64>) = decode("marker of notices", PLACE, bytes)?;
        let kind = NoticeKind::of(kind).ok_or_else(|| corrupt("marker of notices: kind"))?;
        let actor = valid(actor, "marker of notices: actor")?;
        let item = item.map(|item| valid(item, "marker of notices: item")).transpose()?;
        Ok(Self { at, id: NoticeId { kind, reaction, actor, item } })
    }

    fn bytes(&self) -> Result<Vec<u8>> {
        let NoticeId { kind, reaction, actor, item } = self.id;
        encode(PLACE, &(self.at, kind as u8, reaction, actor.get(), item.map(ContentId::get)))
    }
}

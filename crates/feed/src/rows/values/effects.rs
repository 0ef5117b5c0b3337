//! Rows of effects in the log of events.

use super::{author, corrupt, millis, read_author, read_millis};
use model::error::Result;
use model::{Changed, ContentId, Effect, EffectKind, Logged, Millis};

/// In the first byte, beside the code of the kind; no row of an event has it.
pub(super) const EFFECT: u8 = 0x80;
/// Bytes before the ids that not every kind has.
const FIELDS: usize = 26;
/// Flags of these ids.
const TARGET: u8 = 1;
const ITEM: u8 = 2;

/// Code of the kind, flags, the two times, user, target, item, and the name.
pub(super) fn effect(effect: &Effect, at: Millis, top: Millis) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(FIELDS + 16 + effect.name.as_ref().map_or(0, |name| name.len()));
    bytes.push(EFFECT | effect.kind as u8);
    bytes.push(effect.target.map_or(0, |_| TARGET) | effect.item.map_or(0, |_| ITEM));
    bytes.extend(millis(at));
    bytes.extend(millis(top));
    bytes.extend(author(effect.user));
    bytes.extend(effect.target.into_iter().flat_map(author));
    bytes.extend(effect.item.into_iter().flat_map(|item| item.get().to_be_bytes()));
    bytes.extend(effect.name.iter().flat_map(|name| name.bytes()));
    bytes
}

pub(super) fn read_effect(number: u64, bytes: &[u8]) -> Result<Logged> {
    let (fields, mut rest) = bytes.split_first_chunk::<FIELDS>().ok_or_else(|| corrupt("effect"))?;
    let kind = EffectKind::ALL.into_iter().find(|kind| *kind as u8 | EFFECT == fields[0]);
    let mut id = |flag| -> Result<Option<[u8; 8]>> {
        if fields[1] & flag == 0 {
            return Ok(None);
        }
        let (id, after) = rest.split_first_chunk::<8>().ok_or_else(|| corrupt("effect: id"))?;
        rest = after;
        Ok(Some(*id))
    };
    let target = id(TARGET)?.map(|id| read_author(&id)).transpose()?;
    let item = id(ITEM)?.map(|id| ContentId::new(u64::from_be_bytes(id)).map_err(|_| corrupt("effect: item")));
    let name = std::str::from_utf8(rest).map_err(|_| corrupt("effect: name"))?;
    let effect = Effect {
        kind: kind.ok_or_else(|| corrupt("effect: kind"))?,
        user: read_author(&fields[18..26])?,
        target,
        item: item.transpose()?,
        name: (!name.is_empty()).then(|| name.into()),
    };
    let changed = Changed { number, at: read_millis(&fields[2..10])?, effect };
    Ok(Logged::Effect { changed, top: read_millis(&fields[10..18])? })
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::UserId;

    #[test]
    fn golden_effects() {
        let user = |raw| UserId::new(raw).expect("in range");
        let plain = Effect::on(EffectKind::ProfileChanged, user(7));
        let full = Effect::on(EffectKind::ReactionCreated, user(7)).target(user(8)).named("like");
        let full = full.item(ContentId::new(9).expect("in range"));
        let rows = [effect(&plain, 5, 6), effect(&full, 5, 6)];
        let times = [0, 0, 0, 0, 0, 0, 0, 5, 0, 0, 0, 0, 0, 0, 0, 6];
        assert_eq!(rows[0], [&[0x93, 0][..], &times, &[0, 0, 0, 0, 0, 0, 0, 7]].concat());
        let tail = [0, 0, 0, 0, 0, 0, 0, 8, 0, 0, 0, 0, 0, 0, 0, 9, b'l', b'i', b'k', b'e'];
        assert_eq!(rows[1], [&[0x91, 3][..], &rows[0][2..], &tail].concat());
        for (row, is) in rows.iter().zip([plain, full]) {
            let changed = Changed { number: 3, at: 5, effect: is };
            assert_eq!(read_effect(3, row).expect("readable"), Logged::Effect { changed, top: 6 });
        }
        assert!(read_effect(3, &rows[1][..38]).is_err() && read_effect(3, &[0; 26]).is_err());
    }

    #[test]
    fn every_kind_has_a_code_of_its_own() {
        let codes: std::collections::BTreeSet<_> = EffectKind::ALL.into_iter().map(|kind| kind as u8).collect();
        assert_eq!(codes.len(), EffectKind::ALL.len());
    }
}

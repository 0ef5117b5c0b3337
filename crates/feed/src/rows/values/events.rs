//! Rows of the log of events: events, and effects.

use super::{Value, bits, code, corrupt, decode, encode, read_bits, valid};
use crate::rows::keys;
use model::error::Result;
use model::{Changed, ContentId, Cursor, Effect, EffectKind, Entry, Event, EventKind, KindId, Logged, UserId};

/// In the first byte, beside the code of the kind; no row of an event has it.
const EFFECT: u8 = 0x80;
/// The kinds, in the order of their codes, which begin with 1.
const KINDS: [EventKind; 8] = [
    EventKind::Publish,
    EventKind::Restore,
    EventKind::Edit,
    EventKind::Delete,
    EventKind::Mark,
    EventKind::Gap,
    EventKind::Suspension,
    EventKind::TakenOff,
];

impl Value for Logged {
    const FORM: &'static str = "code of the kind, then bincode: the fields of an [event](#events) or, if its highest bit is set, of an [effect](#effects)";

    fn read(key: &[u8], bytes: &[u8]) -> Result<Self> {
        let number = keys::read(key).ok_or_else(|| corrupt("a key in the log of events"))?;
        match bytes.first() {
            Some(kind) if kind & EFFECT != 0 => read_effect(number, *kind, bytes),
            Some(kind) => read_event(number, *kind, bytes).map(Self::Event),
            None => Err(corrupt("event")),
        }
    }

    fn bytes(&self) -> Result<Vec<u8>> {
        match self {
            Self::Event(event) => {
                let Entry { author, cursor, kind, .. } = event.entry;
                let flags = bits([event.broadcast, event.given]);
                let to: Vec<_> = event.to.iter().flat_map(|to| to.iter()).map(|source| source.get()).collect();
                let fields = (flags, author.get(), cursor.at, cursor.id.get(), to, kind.0, event.logged, event.top);
                encode(code(&KINDS, event.kind) + 1, &fields)
            }
            Self::Effect { changed: Changed { at, effect, .. }, top } => {
                let Effect { kind, user, target, item, name } = effect;
                let ids = (user.get(), target.map(UserId::get), item.map(ContentId::get));
                encode(EFFECT | *kind as u8, &(ids, name.as_deref(), at, top))
            }
        }
    }
}

fn read_event(number: u64, kind: u8, bytes: &[u8]) -> Result<Event> {
    let (flags, author, at, item, to, kind_id, logged, top): (_, _, _, _, Vec<u64>, _, _, _) =
        decode("event", kind, bytes)?;
    let kind = usize::from(kind).checked_sub(1).and_then(|code| KINDS.get(code));
    let [broadcast, given] = read_bits(flags)?;
    let cursor = Cursor { at, id: valid(item, "event: item")? };
    let to = to.into_iter().map(|source| valid(source, "event: path")).collect::<Result<Vec<_>>>()?;
    Ok(Event {
        number,
        kind: *kind.ok_or_else(|| corrupt("event: kind"))?,
        entry: Entry { kind: KindId(kind_id), ..Entry::plain(cursor, valid(author, "event: author")?) },
        broadcast,
        to: (!to.is_empty()).then(|| to.into()),
        given,
        logged,
        top,
    })
}

fn read_effect(number: u64, kind: u8, bytes: &[u8]) -> Result<Logged> {
    let ((user, target, item), name, at, top): (_, Option<String>, _, _) = decode("effect", kind, bytes)?;
    let kind = EffectKind::ALL.into_iter().find(|known| *known as u8 | EFFECT == kind);
    let effect = Effect {
        kind: kind.ok_or_else(|| corrupt("effect: kind"))?,
        user: valid(user, "effect: user")?,
        target: Option::map(target, |target| valid(target, "effect: target")).transpose()?,
        item: Option::map(item, |item| valid(item, "effect: item")).transpose()?,
        name: name.map(Into::into),
    };
    Ok(Logged::Effect { changed: Changed { number, at, effect }, top })
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::{ContentId, UserId};

    fn read(number: u64, bytes: &[u8]) -> Result<Logged> {
        Logged::read(&keys::id(number), bytes)
    }

    #[test]
    fn golden_events() {
        let cursor = Cursor { at: 5, id: ContentId::new(6).expect("in range") };
        let entry = Entry { kind: KindId(4), ..Entry::plain(cursor, UserId::new(7).expect("in range")) };
        let publish = Event {
            number: 9,
            kind: EventKind::Publish,
            entry,
            broadcast: true,
            to: None,
            given: true,
            logged: 0x10,
            top: 0x20,
        };
        let bytes = |event: &Event| Logged::Event(event.clone()).bytes().expect("encodes");
        let golden = [1, 3, 7, 5, 6, 0, 4, 0x10, 0x20];
        assert_eq!(bytes(&publish), golden);
        for (code, kind) in KINDS.into_iter().skip(1).enumerate() {
            let other =
                Event { kind, broadcast: kind == EventKind::Edit, given: kind == EventKind::Gap, ..publish.clone() };
            assert_eq!(usize::from(bytes(&other)[0]), code + 2);
            assert_eq!(read(9, &bytes(&other)).expect("reads"), Logged::Event(other));
        }
        let to = [1, 2].map(|raw| UserId::new(raw).expect("in range"));
        let on_paths = Event { to: Some(to.into()), ..publish };
        let longer = [&golden[..5], &[2, 1, 2], &golden[6..]].concat();
        assert_eq!(bytes(&on_paths), longer);
        assert_eq!(read(9, &longer).expect("reads"), Logged::Event(on_paths));
        for bad in [&[][..], &golden[1..], &[0; 9], &longer[..9], &[9, 3, 7, 5, 6, 0, 4, 1, 2]] {
            assert!(read(9, bad).is_err(), "{bad:?}");
        }
    }

    #[test]
    fn golden_effects() {
        let user = |raw| UserId::new(raw).expect("in range");
        let plain = Effect::on(EffectKind::ProfileChanged, user(7));
        let full = Effect::on(EffectKind::ReactionCreated, user(7)).target(user(8)).named("like");
        let full = full.item(ContentId::new(9).expect("in range"));
        let golden = [&[0x93, 7, 0, 0, 0, 5, 6][..], &[0x91, 7, 1, 8, 1, 9, 1, 4, b'l', b'i', b'k', b'e', 5, 6]];
        for (row, effect) in golden.into_iter().zip([plain, full]) {
            let logged = Logged::Effect { changed: Changed { number: 3, at: 5, effect }, top: 6 };
            assert_eq!(logged.bytes().expect("encodes"), row);
            assert_eq!(read(3, row).expect("readable"), logged);
            assert!(read(3, &row[..row.len() - 1]).is_err());
        }
        assert!(read(3, &[0xFF, 7, 0, 0, 0, 5, 6]).is_err());
    }

    #[test]
    fn every_kind_has_a_code_of_its_own() {
        let codes: std::collections::BTreeSet<_> = EffectKind::ALL.into_iter().map(|kind| kind as u8).collect();
        assert_eq!(codes.len(), EffectKind::ALL.len());
    }
}

//! Rows of the log of events.

use super::effects::{EFFECT, effect, read_effect};
use super::{Value, author, code, corrupt, cursor, millis, read_author, read_cursor, read_millis};
use crate::rows::keys;
use model::error::Result;
use model::{Entry, Event, EventKind, KindId, Logged};

/// Bytes before the further paths.
const FIELDS: usize = 43;
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

/// Kind, flags, author, item, the two times, the kind of the item, and the further paths.
fn event(event: &Event) -> Vec<u8> {
    let mut bytes = vec![0; FIELDS];
    bytes[0] = code(&KINDS, event.kind) + 1;
    bytes[1] = u8::from(event.broadcast) | u8::from(event.given) << 1;
    bytes[2..10].copy_from_slice(&author(event.entry.author));
    bytes[10..26].copy_from_slice(&cursor(event.entry.cursor));
    bytes[26..34].copy_from_slice(&millis(event.logged));
    bytes[34..42].copy_from_slice(&millis(event.top));
    bytes[42] = event.entry.kind.0;
    event.to.iter().flat_map(|to| to.iter()).for_each(|source| bytes.extend(author(*source)));
    bytes
}

impl Value for Logged {
    const FORM: &'static str = "of an event 43 bytes, and 8 for each further path, see [Events](#events); of an effect see [Effects](#effects)";

    fn read(key: &[u8], bytes: &[u8]) -> Result<Self> {
        let number = keys::split_id(key).ok_or_else(|| corrupt("a key in the log of events"))?;
        match bytes.first() {
            Some(kind) if kind & EFFECT != 0 => read_effect(number, bytes),
            _ => read_event(number, bytes).map(Self::Event),
        }
    }

    fn bytes(&self) -> Result<Vec<u8>> {
        Ok(match self {
            Self::Event(row) => event(row),
            Self::Effect { changed, top } => effect(&changed.effect, changed.at, *top),
        })
    }
}

fn read_event(number: u64, bytes: &[u8]) -> Result<Event> {
    let (bytes, to) = bytes.split_first_chunk::<FIELDS>().ok_or_else(|| corrupt("event"))?;
    let to = to.chunks(8).map(read_author).collect::<Result<Vec<_>>>()?;
    let kind = usize::from(bytes[0]).checked_sub(1).and_then(|code| KINDS.get(code));
    let kind = *kind.ok_or_else(|| corrupt("event: kind"))?;
    let cursor = read_cursor(&bytes[10..26]).ok_or_else(|| corrupt("event: cursor"))?;
    Ok(Event {
        number,
        kind,
        entry: Entry { kind: KindId(bytes[42]), ..Entry::plain(cursor, read_author(&bytes[2..10])?) },
        broadcast: bytes[1] & 1 != 0,
        to: (!to.is_empty()).then(|| to.into()),
        given: bytes[1] & 2 != 0,
        logged: read_millis(&bytes[26..34])?,
        top: read_millis(&bytes[34..42])?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::{ContentId, Cursor, UserId};

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
            logged: 0x100,
            top: 0x0203,
        };
        let part = |last: [u8; 2]| [&[0; 6], last.as_slice()].concat();
        let golden =
            [vec![1, 3], part([0, 7]), part([0, 5]), part([0, 6]), part([1, 0]), part([2, 3]), vec![4]].concat();
        assert_eq!(event(&publish)[..], golden);
        for (code, kind) in KINDS.into_iter().skip(1).enumerate() {
            let other =
                Event { kind, broadcast: kind == EventKind::Edit, given: kind == EventKind::Gap, ..publish.clone() };
            assert_eq!(usize::from(event(&other)[0]), code + 2);
            assert_eq!(read_event(9, &event(&other)).expect("reads"), other);
        }
        let to = [1, 2].map(|raw| UserId::new(raw).expect("in range"));
        let on_paths = Event { to: Some(to.into()), ..publish };
        let longer = [golden.clone(), part([0, 1]), part([0, 2])].concat();
        assert_eq!(event(&on_paths), longer);
        assert_eq!(read_event(9, &longer).expect("reads"), on_paths);
        for bad in [&golden[1..], &[0; 43], &longer[1..], &[0; 59]] {
            assert!(read_event(9, bad).is_err());
        }
    }
}

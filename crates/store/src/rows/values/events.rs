//! Rows of the log of events, of fixed layout.

use super::{author, code, corrupt, cursor, millis, read_author, read_cursor, read_millis};
use model::error::Result;
use model::{Entry, Event, EventKind};

/// The kinds, in the order of their codes, which begin with 1.
const KINDS: [EventKind; 7] = [
    EventKind::Publish,
    EventKind::Restore,
    EventKind::Edit,
    EventKind::Delete,
    EventKind::Mark,
    EventKind::Gap,
    EventKind::Suspension,
];

/// Kind, flags, author, item, and the two times.
pub(crate) fn event(event: &Event) -> [u8; 42] {
    let mut bytes = [0; 42];
    bytes[0] = code(&KINDS, event.kind) + 1;
    bytes[1] = u8::from(event.broadcast) | u8::from(event.given) << 1;
    bytes[2..10].copy_from_slice(&author(event.entry.author));
    bytes[10..26].copy_from_slice(&cursor(event.entry.cursor));
    bytes[26..34].copy_from_slice(&millis(event.logged));
    bytes[34..].copy_from_slice(&millis(event.top));
    bytes
}

pub(crate) fn read_event(number: u64, bytes: &[u8]) -> Result<Event> {
    let bytes: &[u8; 42] = bytes.try_into().map_err(|_| corrupt("event"))?;
    let kind = usize::from(bytes[0]).checked_sub(1).and_then(|code| KINDS.get(code));
    let kind = *kind.ok_or_else(|| corrupt("event: kind"))?;
    let cursor = read_cursor(&bytes[10..26]).ok_or_else(|| corrupt("event: cursor"))?;
    Ok(Event {
        number,
        kind,
        entry: Entry { cursor, author: read_author(&bytes[2..10])? },
        broadcast: bytes[1] & 1 != 0,
        given: bytes[1] & 2 != 0,
        logged: read_millis(&bytes[26..34])?,
        top: read_millis(&bytes[34..])?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::{ContentId, Cursor, UserId};

    #[test]
    fn golden_events() {
        let entry = Entry {
            cursor: Cursor { at: 5, id: ContentId::new(6).expect("in range") },
            author: UserId::new(7).expect("in range"),
        };
        let publish = Event {
            number: 9,
            kind: EventKind::Publish,
            entry,
            broadcast: true,
            given: true,
            logged: 0x100,
            top: 0x0203,
        };
        let part = |last: [u8; 2]| [&[0; 6], last.as_slice()].concat();
        let golden = [vec![1, 3], part([0, 7]), part([0, 5]), part([0, 6]), part([1, 0]), part([2, 3])].concat();
        assert_eq!(event(&publish)[..], golden);
        for (code, kind) in KINDS.into_iter().skip(1).enumerate() {
            let other = Event { kind, broadcast: kind == EventKind::Edit, given: kind == EventKind::Gap, ..publish };
            assert_eq!(usize::from(event(&other)[0]), code + 2);
            assert_eq!(read_event(9, &event(&other)).expect("reads"), other);
        }
        assert!(read_event(9, &golden[1..]).is_err() && read_event(9, &[0; 42]).is_err());
    }
}

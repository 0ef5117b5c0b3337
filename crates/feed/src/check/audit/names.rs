//! Names of rows, in words.

use std::cell::RefCell;
use std::fmt::Write;

use crate::memory::kinds::Sort;
use crate::rows::keys::{self, Counter, Field, Nickname, Part};
use crate::rows::table::AnyTable;
use model::{JobId, NoticeCursor, NoticeId, NoticeKind, Position};

/// The owner of a row, and the row among theirs. `id` shows the id of a user or an item, `kind` a kind of reactions. A
/// key that cannot be read is shown as bytes.
pub(super) fn named(
    table: AnyTable,
    key: &[u8],
    id: impl Fn(u64) -> String,
    kind: impl Fn(u8) -> String,
) -> (String, String) {
    read(table, key, id, kind).unwrap_or_else(|| (format!("key {}", hex(key)), "its row".to_owned()))
}

/// Whether a key can be read.
pub(super) fn has_readable_key(table: AnyTable, key: &[u8]) -> bool {
    read(table, key, |_| String::new(), |_| String::new()).is_some()
}

fn read(
    table: AnyTable,
    key: &[u8],
    id: impl Fn(u64) -> String,
    kind: impl Fn(u8) -> String,
) -> Option<(String, String)> {
    let owner = |what: &str, raw| if is_id(what) { format!("{what} {}", id(raw)) } else { format!("{what} {raw}") };
    if let [Part::Beginning, ..] = table.keys {
        let (beginning, user) = Nickname::read(key)?;
        return Some((owner("user", user.get()), format!("{beginning:?}")));
    }
    let mut rest = key;
    let mut words = Vec::new();
    for (place, part) in table.keys.iter().enumerate() {
        words.push(match *part {
            Part::Id(what) if place > 1 => format!("of {}", owner(what, u64::next(&mut rest)?)),
            Part::Id(what) => owner(what, u64::next(&mut rest)?),
            Part::Place(_) if place == 1 && keys::is_head(key) => {
                rest = &[];
                "its floor".to_owned()
            }
            Part::Place(_) => {
                let place = Position::<u64>::next(&mut rest)?;
                format!("{}-{}", place.at, id(place.id))
            }
            Part::Kind => kind(u8::next(&mut rest)?),
            Part::Counter => Counter::next(&mut rest)?.name().to_owned(),
            Part::Notice => {
                let place = NoticeCursor::next(&mut rest)?;
                let NoticeCursor { at, id: NoticeId { kind: what, reaction, actor, item } } = place;
                let mut which = format!("{at} {} of {}", what.name(), owner("user", actor.get()));
                if what == NoticeKind::Reaction {
                    which = format!("{which} {}", kind(reaction));
                }
                if let Some(item) = item {
                    which = format!("{which} {}", owner("content", item.get()));
                }
                which
            }
            Part::Text(what) | Part::Name(what) => {
                format!("{what} {:?}", std::str::from_utf8(std::mem::take(&mut rest)).ok()?)
            }
            Part::Job => format!("job {}", JobId::next(&mut rest)?.seq),
            Part::SortedKind => match <[u8; 2]>::next(&mut rest)? {
                [Sort::CONTENT, number] => format!("kind {number} of content"),
                [_, byte] => format!("reaction {}", kind(byte)),
            },
            Part::Beginning => return None,
        });
    }
    let (whose, which) = words.split_first().filter(|_| rest.is_empty())?;
    let which = if which.is_empty() { "its row".to_owned() } else { which.join(" ") };
    Some((whose.clone(), which))
}

/// The ids of users and items in a key.
pub(super) fn ids(table: AnyTable, key: &[u8]) -> Vec<u64> {
    let found = RefCell::new(Vec::new());
    let take = |id| {
        found.borrow_mut().push(id);
        String::new()
    };
    read(table, key, take, |_| String::new());
    found.into_inner()
}

/// Whether the owner of a row is a user or an item.
fn is_id(what: &str) -> bool {
    matches!(what, "user" | "content")
}

fn hex(key: &[u8]) -> String {
    const MOST: usize = 64;
    let mut text = "0x".to_owned();
    for byte in key.iter().take(MOST) {
        // Writing to a string cannot fail.
        let _ = write!(text, "{byte:02x}");
    }
    if key.len() > MOST {
        text.push('…');
    }
    text
}

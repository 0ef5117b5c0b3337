//! Names of rows, in words.

use std::cell::RefCell;
use std::fmt::Write;

use crate::memory::kinds::Sort;
use crate::rows::key_types::Keys;
use crate::rows::keys;
use crate::rows::keys::{Counter, Partition};
use crate::rows::table::AnyTable;
use model::{NoticeCursor, NoticeId, NoticeKind};

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
    let (whose, which) = match table.keys {
        Keys::One(what) => (owner(what, keys::split_id(key)?), "its row".to_owned()),
        Keys::Pair(what, of) => {
            let (first, second) = keys::split_pair(key)?;
            (owner(what, first), owner(of, second))
        }
        Keys::OfUser(what) => {
            let name = std::str::from_utf8(key.get(keys::ID..)?).ok()?;
            (owner("user", keys::number(key)?), format!("{what} {name:?}"))
        }
        Keys::Counter => (owner("user", keys::number(key)?), {
            let what = key.get(keys::ID).filter(|_| key.len() == keys::ID + 1)?;
            Counter::name(*what)?.to_owned()
        }),
        Keys::Text(what) => (format!("{what} {:?}", std::str::from_utf8(key).ok()?), "its row".to_owned()),
        Keys::Reaction => {
            let (content, byte, user) = keys::split_reaction(key)?;
            (owner("content", content), format!("{} of {}", kind(byte), owner("user", user)))
        }
        Keys::Job => (format!("job {}", keys::split_job(key)?.seq), "its row".to_owned()),
        Keys::Kind => match *key {
            [Sort::CONTENT, number] => (format!("kind {number} of content"), "its row".to_owned()),
            [_, byte] => (format!("reaction {}", kind(byte)), "its row".to_owned()),
            _ => return None,
        },
        Keys::KindRow(what, _) => {
            let ((partition, byte), at, place) = <(u64, u8)>::split(key)?;
            (owner(what, partition), format!("{} {at}-{}", kind(byte), id(place)))
        }
        Keys::Nickname => {
            let (beginning, user) = keys::split_nickname(key)?;
            (owner("user", user.get()), format!("{beginning:?}"))
        }
        Keys::Notice => {
            let (user, NoticeCursor { at, id: NoticeId { kind: what, reaction, actor, item } }) =
                keys::split_notice(key)?;
            let mut which = format!("{at} {} of {}", what.name(), owner("user", actor.get()));
            if what == NoticeKind::Reaction {
                which = format!("{which} {}", kind(reaction));
            }
            if let Some(item) = item {
                which = format!("{which} {}", owner("content", item.get()));
            }
            (owner("user", user.get()), which)
        }
        Keys::Row(what, _) if keys::is_head(key) => (owner(what, keys::number(key)?), "its floor".to_owned()),
        Keys::Row(what, _) => {
            let (partition, at, place) = keys::split_row(key)?;
            (owner(what, partition), format!("{at}-{}", id(place)))
        }
    };
    Some((whose, which))
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

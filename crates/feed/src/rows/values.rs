//! The values of tables: the only code that knows their bytes. A value of one subject may stand beside its tables.
//!
//! Hot rows have a fixed layout; the others are a version byte followed by bincode. bincode stays at 2.0.1 and inside
//! this folder, so that only a new version byte is needed to replace it.

mod counts;
pub(crate) mod deletions;
mod erasures;
mod events;
mod items;
mod jobs;
mod notices;
mod users;

use std::array;

use bincode::{Decode, Encode};

pub(crate) use self::{counts::*, items::*, users::*};
use super::inbox;
use super::keys::{self, KeyBytes, number};
use model::error::{Error, Result};
use model::{Audience, Cursor, Millis, UserId};

/// The floor at the head of a list.
pub(crate) fn read_floor(head: Option<&[u8]>) -> Result<Option<Cursor>> {
    head.map(|bytes| read_cursor(bytes).ok_or_else(|| Error::Corrupt("floor".to_owned()))).transpose()
}

/// The value of a row.
pub(crate) trait Value: Sized {
    /// Its bytes in words, for `docs/schema.md`.
    const FORM: &'static str;

    /// Reads the value of the row with a key. `Corrupt` if it cannot be read.
    fn read(key: &[u8], bytes: &[u8]) -> Result<Self>;

    fn bytes(&self) -> Result<Vec<u8>>;
}

/// An id in a value. None is 0.
fn valid<I: TryFrom<u64>>(raw: u64, what: &str) -> Result<I> {
    I::try_from(raw).map_err(|_| corrupt(what))
}

/// Of a row whose key says all.
impl Value for () {
    const FORM: &'static str = "empty";

    fn read(_: &[u8], bytes: &[u8]) -> Result<()> {
        if bytes.is_empty() { Ok(()) } else { Err(corrupt("a value that should be empty")) }
    }

    fn bytes(&self) -> Result<Vec<u8>> {
        Ok(Vec::new())
    }
}

/// Most memory of a value, bytes; bodies and edits bring a few MiB. A damaged length would otherwise ask for any amount.
const LIMIT: usize = 16 << 20;

/// Bytes of most values.
const USUAL: usize = 64;

fn corrupt(what: &str) -> Error {
    Error::Corrupt(what.to_owned())
}

/// The place of a value in a list, which has it.
fn code<T: PartialEq>(all: &[T], one: T) -> u8 {
    all.iter().position(|known| *known == one).unwrap_or(all.len()) as u8
}

fn encode<T: Encode>(version: u8, record: &T) -> Result<Vec<u8>> {
    let mut bytes = Vec::with_capacity(USUAL);
    bytes.push(version);
    bincode::encode_into_std_write(record, &mut bytes, bincode::config::standard())
        .map_err(|e| Error::Corrupt(format!("cannot encode: {e}")))?;
    Ok(bytes)
}

fn decode<T: Decode<()>>(what: &str, version: u8, bytes: &[u8]) -> Result<T> {
    let config = bincode::config::standard().with_limit::<LIMIT>();
    match bytes.split_first() {
        Some((found, rest)) if *found == version => bincode::decode_from_slice(rest, config)
            .map(|(record, _)| record)
            .map_err(|e| Error::Corrupt(format!("{what}: {e}"))),
        Some((found, _)) => Err(Error::Corrupt(format!("{what} of unknown version {found}"))),
        None => Err(Error::Corrupt(format!("{what} without bytes"))),
    }
}

/// An author in a value.
pub(crate) fn author(author: UserId) -> [u8; 8] {
    author.get().to_be_bytes()
}

pub(crate) fn read_author(bytes: &[u8]) -> Result<UserId> {
    keys::read(bytes).ok_or_else(|| corrupt("author"))
}

/// Flags, a bit each; the first is the lowest.
fn bits<const N: usize>(flags: [bool; N]) -> u8 {
    flags.iter().rev().fold(0, |bits, flag| bits << 1 | u8::from(*flag))
}

fn read_bits<const N: usize>(bits: u8) -> Result<[bool; N]> {
    let flags = array::from_fn(|place| bits >> place & 1 == 1);
    if bits >> N == 0 { Ok(flags) } else { Err(corrupt("flags")) }
}

fn audience(for_followers: bool) -> Audience {
    if for_followers { Audience::Followers } else { Audience::Public }
}

/// The flags of a value with no other flag than the audience.
fn flags(audience: Audience) -> u8 {
    bits([audience == Audience::Followers])
}

fn read_flags(flags: u8) -> Result<Audience> {
    read_bits(flags).map(|[for_followers]| audience(for_followers))
}

/// The number of a text: a topic's id, or that of a name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Number(pub(crate) u64);

impl Value for Number {
    const FORM: &'static str = "a number, 8 bytes";

    fn read(_: &[u8], bytes: &[u8]) -> Result<Self> {
        keys::read(bytes).filter(|given| *given > 0).map(Self).ok_or_else(|| corrupt("number of a text"))
    }

    fn bytes(&self) -> Result<Vec<u8>> {
        Ok(self.0.to_be_bytes().to_vec())
    }
}

/// A name, or nothing for one that was erased.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Text(pub(crate) String);

impl Value for Text {
    const FORM: &'static str = "the name, UTF-8";

    fn read(_: &[u8], bytes: &[u8]) -> Result<Self> {
        String::from_utf8(bytes.to_vec()).map(Self).map_err(|_| corrupt("a name"))
    }

    fn bytes(&self) -> Result<Vec<u8>> {
        Ok(self.0.clone().into_bytes())
    }
}

/// Any bytes.
impl Value for Vec<u8> {
    const FORM: &'static str = "see [Notes](#notes)";

    fn read(_: &[u8], bytes: &[u8]) -> Result<Self> {
        Ok(bytes.to_vec())
    }

    fn bytes(&self) -> Result<Vec<u8>> {
        Ok(self.clone())
    }
}

/// A row that the engine merges: see [`inbox`](super::inbox).
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct PackedInbox(Vec<u8>);

impl Value for PackedInbox {
    const FORM: &'static str = "the inbox, or a change to be merged into it, see [below](#inboxes)";

    fn read(_: &[u8], bytes: &[u8]) -> Result<Self> {
        if inbox::is_readable(bytes) { Ok(Self(bytes.to_vec())) } else { Err(corrupt("inbox")) }
    }

    fn bytes(&self) -> Result<Vec<u8>> {
        Ok(self.0.clone())
    }
}

/// A cursor in a value: time, then id.
pub(crate) fn cursor(cursor: Cursor) -> KeyBytes {
    keys::of((cursor.at, cursor.id))
}

/// Reads a cursor; also used where an error cannot be reported, hence no `Result`.
pub(crate) fn read_cursor(bytes: &[u8]) -> Option<Cursor> {
    keys::read(bytes).map(|(at, id)| Cursor { at, id })
}

/// The place of a marker.
impl Value for Cursor {
    const FORM: &'static str = "the place up to which the user has read: published_at, content id, 16 bytes";

    fn read(_: &[u8], bytes: &[u8]) -> Result<Self> {
        read_cursor(bytes).ok_or_else(|| corrupt("marker"))
    }

    fn bytes(&self) -> Result<Vec<u8>> {
        Ok(cursor(*self).to_vec())
    }
}

impl Value for Millis {
    const FORM: &'static str = "the time, 8 bytes";

    fn read(_: &[u8], bytes: &[u8]) -> Result<Self> {
        bytes.try_into().map(Self::from_be_bytes).map_err(|_| corrupt("time"))
    }

    fn bytes(&self) -> Result<Vec<u8>> {
        Ok(millis(*self).to_vec())
    }
}

pub(crate) fn millis(at: Millis) -> [u8; 8] {
    at.to_be_bytes()
}

pub(crate) fn read_millis(bytes: &[u8]) -> Result<Millis> {
    number(bytes).ok_or_else(|| corrupt("time"))
}

#[cfg(test)]
mod tests;

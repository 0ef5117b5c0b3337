//! Rows of items, and of lists of items.

use super::{Value, audience, author, bits, corrupt, decode, encode, flags, read_author, read_bits, read_flags, valid};
use crate::rows::keys;
use model::error::Result;
use model::{Audience, Content, ContentId, Cursor, Entry, KindId, Millis, UserId};

const CONTENT: u8 = 1;

/// Content as it is stored; also deleted content, until it is purged.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Stored {
    pub(crate) content: Content,
    pub(crate) deleted_at: Option<Millis>,
}

impl Value for Stored {
    const FORM: &'static str = "version 1, then bincode: the [fields of the item](#items)";

    fn read(key: &[u8], bytes: &[u8]) -> Result<Self> {
        read_content(keys::read(key).ok_or_else(|| corrupt("content: id"))?, bytes)
    }

    fn bytes(&self) -> Result<Vec<u8>> {
        let Self { content, deleted_at } = self;
        // In the order of `read_content`.
        let fields = (
            content.author.get(),
            content.published_at,
            content.edited_at,
            deleted_at,
            &content.kind,
            &content.text,
            &content.media,
            &content.topics,
            content.ref_id.map(ContentId::get),
            &content.extra,
            content.broadcast,
            content.fingerprint,
        );
        let to = content.to.iter().map(|source| source.get()).collect::<Vec<_>>();
        let paths = (content.kind_id.0, to, bits([content.audience == Audience::Followers]));
        let mentions: Vec<_> = content.mentions.iter().map(|user| user.get()).collect();
        encode(CONTENT, &(fields, mentions, paths))
    }
}

fn read_content(id: ContentId, bytes: &[u8]) -> Result<Stored> {
    let (fields, mentions, (kind_id, to, flags)) = decode("content", CONTENT, bytes)?;
    let (author, published_at, edited_at, deleted_at, kind, text, media, topics, ref_id, extra, broadcast, fingerprint) =
        fields;
    let [for_followers] = read_bits(flags)?;
    let users = |ids: Vec<u64>| ids.into_iter().map(|raw| valid(raw, "content: user")).collect::<Result<Vec<_>>>();
    let ref_id = Option::map(ref_id, |raw| valid(raw, "content: ref_id")).transpose()?;
    let content = Content {
        id,
        author: valid(author, "content: author")?,
        published_at,
        edited_at,
        kind,
        kind_id: KindId(kind_id),
        text,
        media,
        topics,
        ref_id,
        extra,
        broadcast,
        to: users(to)?,
        audience: audience(for_followers),
        mentions: users(mentions)?,
        fingerprint,
    };
    Ok(Stored { content, deleted_at })
}

/// The time of an item's deletion, from the row's first fields; `None` also for a row that cannot be read.
pub(crate) fn read_deleted_at(bytes: &[u8]) -> Option<Millis> {
    let (_author, _published_at, _edited_at, deleted_at): (u64, u64, Option<u64>, Option<u64>) =
        decode("content", CONTENT, bytes).ok()?;
    deleted_at
}

/// The value in an outbox, or in another list of the author: empty for a plain entry, else kind, flags, and an author who is
/// not the source.
impl Value for Entry {
    const FORM: &'static str = "an [entry](#entries)";

    fn read(key: &[u8], bytes: &[u8]) -> Result<Self> {
        let (source, cursor) = keys::read(key).ok_or_else(|| corrupt("entry: key"))?;
        read_entry(cursor, source, bytes)
    }

    fn bytes(&self) -> Result<Vec<u8>> {
        Ok(entry(self))
    }
}

pub(crate) fn entry(entry: &Entry) -> Vec<u8> {
    let mut bytes = Vec::new();
    if !entry.is_plain() {
        bytes.extend([entry.kind.0, flags(entry.audience)]);
    }
    if entry.author != entry.source {
        bytes.extend(author(entry.author));
    }
    bytes
}

pub(crate) fn read_entry(cursor: Cursor, source: UserId, bytes: &[u8]) -> Result<Entry> {
    let (kind, flags, author) = match bytes {
        [] => return Ok(Entry::plain(cursor, source)),
        [kind, flags] => (*kind, *flags, source),
        [kind, flags, author @ ..] => (*kind, *flags, read_author(author)?),
        _ => return Err(corrupt("entry")),
    };
    Ok(Entry { cursor, source, author, kind: KindId(kind), audience: read_flags(flags)? })
}

/// An entry in a list of items of any authors: the author, then kind and flags unless they are defaults.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Listed(pub(crate) Entry);

impl Value for Listed {
    const FORM: &'static str = "author id, 8 bytes; then an [entry](#entries)";

    fn read(key: &[u8], bytes: &[u8]) -> Result<Self> {
        read_listed(keys::last_place(key).ok_or_else(|| corrupt("entry: key"))?, bytes).map(Self)
    }

    fn bytes(&self) -> Result<Vec<u8>> {
        Ok(listed(&self.0))
    }
}

pub(crate) fn listed(listed: &Entry) -> Vec<u8> {
    [&author(listed.author)[..], &entry(&listed.on(listed.author))].concat()
}

pub(crate) fn read_listed(cursor: Cursor, bytes: &[u8]) -> Result<Entry> {
    let (author, rest) = bytes.split_at_checked(8).ok_or_else(|| corrupt("author"))?;
    let author = read_author(author)?;
    read_entry(cursor, author, rest).and_then(|entry| match entry.author == author {
        true => Ok(entry),
        false => Err(corrupt("entry")),
    })
}

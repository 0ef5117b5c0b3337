//! The values of every table: the only code that knows their bytes.
//!
//! Hot rows have a fixed layout; the others are a version byte followed by bincode. bincode stays at 2.0.1 and inside
//! this file, so that only a new version byte is needed to replace it.

pub(crate) mod deletions;
pub(crate) mod effects;
pub(crate) mod erasures;
pub(crate) mod events;
mod notices;

use std::array;
use std::collections::BTreeMap;

use bincode::{Decode, Encode};

use super::keys::number;
use super::{inbox, keys};
use model::error::{Error, Result};
use model::{
    Activity, Audience, Content, ContentId, Cursor, Entry, Job, KindId, ListId, ListSettings, Membership, Millis,
    Profile, Progress, Reach, Rule, Unpushed, UserId, UserSettings, Work,
};

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

/// The id that is the key, or the first part of it.
fn id_of<I: TryFrom<u64>>(key: &[u8], what: &str) -> Result<I> {
    number(key).and_then(|raw| I::try_from(raw).ok()).ok_or_else(|| corrupt(what))
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

const CONTENT: u8 = 1;
/// That of an item with mentions.
const CONTENT_WITH_MENTIONS: u8 = 2;
const JOB: u8 = 1;
const PROFILE: u8 = 1;
const LIST: u8 = 1;
const SETTINGS: u8 = 1;

/// Most memory of a value, bytes; bodies and edits bring a few MiB. A damaged length would otherwise ask for any amount.
const LIMIT: usize = 16 << 20;

fn corrupt(what: &str) -> Error {
    Error::Corrupt(what.to_owned())
}

/// The place of a value in a list, which has it.
fn code<T: PartialEq>(all: &[T], one: T) -> u8 {
    all.iter().position(|known| *known == one).unwrap_or(all.len()) as u8
}

fn encode<T: Encode>(version: u8, record: &T) -> Result<Vec<u8>> {
    let mut bytes = vec![version];
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

/// Content as it is stored; also deleted content, until it is purged.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Stored {
    pub(crate) content: Content,
    pub(crate) deleted_at: Option<Millis>,
}

impl Value for Stored {
    const FORM: &'static str = "version 1 or 2, then the [fields of the item](#items)";

    fn read(key: &[u8], bytes: &[u8]) -> Result<Self> {
        read_content(id_of(key, "content: id")?, bytes)
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
        if content.mentions.is_empty() {
            return encode(CONTENT, &(fields, paths));
        }
        let mentions: Vec<_> = content.mentions.iter().map(|user| user.get()).collect();
        encode(CONTENT_WITH_MENTIONS, &(fields, paths, mentions))
    }
}

/// The version of the value of an item.
fn content_version(bytes: &[u8]) -> u8 {
    if bytes.first() == Some(&CONTENT_WITH_MENTIONS) { CONTENT_WITH_MENTIONS } else { CONTENT }
}

/// The fields of an item, and its mentions.
type Fields<F> = (F, (u8, Vec<u64>, u8));

fn read_content(id: ContentId, bytes: &[u8]) -> Result<Stored> {
    let ((fields, (kind_id, to, flags)), mentions): (Fields<_>, Vec<u64>) = match content_version(bytes) {
        CONTENT => (decode("content", CONTENT, bytes)?, Vec::new()),
        version => {
            let (fields, paths, mentions) = decode("content", version, bytes)?;
            ((fields, paths), mentions)
        }
    };
    let (author, published_at, edited_at, deleted_at, kind, text, media, topics, ref_id, extra, broadcast, fingerprint) =
        fields;
    let [for_followers] = read_bits(flags)?;
    let author = UserId::new(author).map_err(|_| corrupt("content: author"))?;
    let users = |ids: Vec<u64>| ids.into_iter().map(UserId::new).collect::<Result<Vec<_>, _>>();
    let ref_id = Option::map(ref_id, ContentId::new).transpose().map_err(|_| corrupt("content: ref_id"))?;
    let content = Content {
        id,
        author,
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
        to: users(to).map_err(|_| corrupt("content: to"))?,
        audience: audience(for_followers),
        mentions: users(mentions).map_err(|_| corrupt("content: mentions"))?,
        fingerprint,
    };
    Ok(Stored { content, deleted_at })
}

/// The time of an item's deletion, from the row's first fields; `None` also for a row that cannot be read.
pub(crate) fn read_deleted_at(bytes: &[u8]) -> Option<Millis> {
    let (_author, _published_at, _edited_at, deleted_at): (u64, u64, Option<u64>, Option<u64>) =
        decode("content", content_version(bytes), bytes).ok()?;
    deleted_at
}

#[derive(Encode, Decode)]
enum WorkV1 {
    FanOut { source: u64, at: u64, id: u64, of: (u64, u8, u8), progress: Option<(u8, Option<u64>)> },
    Settle { user: u64, source: u64 },
    Rebuild { user: u64 },
}

/// The reaches, each at the place that is its code.
const REACHES: [Reach; 3] = [Reach::All, Reach::Active, Reach::Nobody];

impl Value for Job {
    const FORM: &'static str = "version 1, then bincode: fan-out (source, place, author, kind, audience, progress), settle (user, source) or rebuild (user)";

    fn read(key: &[u8], bytes: &[u8]) -> Result<Self> {
        let id = keys::split_job(key).ok_or_else(|| corrupt("job: id"))?;
        let user = |raw| UserId::new(raw).map_err(|_| corrupt("job: user"));
        let mut progress = None;
        let work = match decode("job", JOB, bytes)? {
            WorkV1::FanOut { source, at, id, of: (author, kind, audience), progress: stored } => {
                if let Some((reach, done_to)) = stored {
                    let reach = *REACHES.get(usize::from(reach)).ok_or_else(|| corrupt("job: reach"))?;
                    progress = Some(Progress { reach, done_to: done_to.map(user).transpose()? });
                }
                let id = ContentId::new(id).map_err(|_| corrupt("job: content"))?;
                let (source, author, audience) = (user(source)?, user(author)?, read_flags(audience)?);
                Work::FanOut {
                    entry: Entry { cursor: Cursor { at, id }, source, author, kind: KindId(kind), audience },
                }
            }
            WorkV1::Settle { user: whose, source } => Work::Settle { user: user(whose)?, source: user(source)? },
            WorkV1::Rebuild { user: whose } => Work::Rebuild { user: user(whose)? },
        };
        Ok(Self { id, work, progress })
    }

    fn bytes(&self) -> Result<Vec<u8>> {
        let record = match self.work {
            Work::FanOut { entry } => WorkV1::FanOut {
                source: entry.source.get(),
                at: entry.cursor.at,
                id: entry.cursor.id.get(),
                of: (entry.author.get(), entry.kind.0, flags(entry.audience)),
                progress: self.progress.map(|p| (code(&REACHES, p.reach), p.done_to.map(UserId::get))),
            },
            Work::Settle { user, source } => WorkV1::Settle { user: user.get(), source: source.get() },
            Work::Rebuild { user } => WorkV1::Rebuild { user: user.get() },
        };
        encode(JOB, &record)
    }
}

impl Value for Profile {
    const FORM: &'static str = "version 1, then bincode: nickname, avatar, extra";

    fn read(_: &[u8], bytes: &[u8]) -> Result<Self> {
        let (nickname, avatar, extra) = decode("profile", PROFILE, bytes)?;
        Ok(Self { nickname, avatar, extra })
    }

    fn bytes(&self) -> Result<Vec<u8>> {
        encode(PROFILE, &(&self.nickname, &self.avatar, &self.extra))
    }
}

/// A list: its number and settings.
pub(crate) type NumberedList = (ListId, ListSettings);

impl Value for NumberedList {
    const FORM: &'static str = "version 1, then bincode: number of the list, title, exclusive";

    fn read(_: &[u8], bytes: &[u8]) -> Result<Self> {
        let (id, title, exclusive) = decode("list", LIST, bytes)?;
        Ok((ListId::new(id).map_err(|_| corrupt("list: number"))?, ListSettings { title, exclusive }))
    }

    fn bytes(&self) -> Result<Vec<u8>> {
        let (id, ListSettings { title, exclusive }) = self;
        encode(LIST, &(id.get(), title, exclusive))
    }
}

impl Value for UserSettings {
    const FORM: &'static str = "version 1, then bincode: approve_followers, default_audience (0 public, 1 followers)";

    fn read(_: &[u8], bytes: &[u8]) -> Result<Self> {
        let (approve_followers, flags) = decode("settings", SETTINGS, bytes)?;
        Ok(Self { approve_followers, default_audience: read_flags(flags)? })
    }

    fn bytes(&self) -> Result<Vec<u8>> {
        encode(SETTINGS, &(self.approve_followers, flags(self.default_audience)))
    }
}

/// An author in a value.
pub(crate) fn author(author: UserId) -> [u8; 8] {
    author.get().to_be_bytes()
}

pub(crate) fn read_author(bytes: &[u8]) -> Result<UserId> {
    let raw = number(bytes).filter(|_| bytes.len() == 8);
    raw.and_then(|raw| UserId::new(raw).ok()).ok_or_else(|| corrupt("author"))
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

/// In an outbox, or in another list of its author's: kind, flags and another author, without defaults. Empty for a plain entry.
impl Value for Entry {
    const FORM: &'static str = "an [entry](#entries)";

    fn read(key: &[u8], bytes: &[u8]) -> Result<Self> {
        let (partition, at, id) = keys::split_row(key).ok_or_else(|| corrupt("entry: key"))?;
        let cursor = keys::cursor(at, id).ok_or_else(|| corrupt("entry: item"))?;
        read_entry(cursor, UserId::new(partition).map_err(|_| corrupt("entry: source"))?, bytes)
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
        let id = keys::last_id(key).and_then(|id| ContentId::new(id).ok());
        let at = key.len().checked_sub(2 * keys::ID).and_then(|place| number(&key[place..]));
        let (id, at) = id.zip(at).ok_or_else(|| corrupt("entry: key"))?;
        read_listed(Cursor { at: !at, id }, bytes).map(Self)
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

/// The number of a text: a topic's id, or that of a name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Number(pub(crate) u64);

impl Value for Number {
    const FORM: &'static str = "a number, 8 bytes";

    fn read(_: &[u8], bytes: &[u8]) -> Result<Self> {
        let given = number(bytes).filter(|given| bytes.len() == 8 && *given > 0);
        given.map(Self).ok_or_else(|| corrupt("number of a text"))
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
pub(crate) fn cursor(cursor: Cursor) -> [u8; 16] {
    let mut bytes = [0; 16];
    bytes[..8].copy_from_slice(&cursor.at.to_be_bytes());
    bytes[8..].copy_from_slice(&cursor.id.get().to_be_bytes());
    bytes
}

/// Reads a cursor; also used where an error cannot be reported, hence no `Result`.
pub(crate) fn read_cursor(bytes: &[u8]) -> Option<Cursor> {
    super::keys::cursor(number(bytes)?, number(bytes.get(8..16)?)?)
}

/// The place of a marker.
impl Value for Cursor {
    const FORM: &'static str = "the place up to which the user has read: published_at, content id, 16 bytes";

    fn read(_: &[u8], bytes: &[u8]) -> Result<Self> {
        read_cursor(bytes).filter(|_| bytes.len() == 16).ok_or_else(|| corrupt("marker"))
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

/// Of a follow, or a member of a list: its time, then its rule if it has one: 1 for only its kinds or 0 for all but these, and
/// the kinds.
impl Value for Membership {
    const FORM: &'static str = "since, 8 bytes; then a [rule](#rules) if there is one";

    fn read(_: &[u8], bytes: &[u8]) -> Result<Self> {
        Ok(Self { since: read_millis(bytes)?, rule: read_rule(bytes)? })
    }

    fn bytes(&self) -> Result<Vec<u8>> {
        let mut bytes = millis(self.since).to_vec();
        if let Some(rule) = &self.rule {
            bytes.push(u8::from(rule.is_only()));
            bytes.extend(rule.kinds().iter().map(|kind| kind.0));
        }
        Ok(bytes)
    }
}

/// The rule of a follow or a member.
#[inline]
pub(crate) fn read_rule(bytes: &[u8]) -> Result<Option<Rule>> {
    let (is_only, kinds) = match bytes.get(8..) {
        Some([]) => return Ok(None),
        Some([is_only @ 0..=1, kinds @ ..]) if !kinds.is_empty() => (*is_only == 1, kinds),
        _ => return Err(corrupt("rule")),
    };
    let kinds: Vec<_> = kinds.iter().map(|kind| KindId(*kind)).collect();
    Rule::new(is_only, &kinds).map(Some).ok_or_else(|| corrupt("rule"))
}

/// A counter of a user.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Count(pub(crate) i64);

impl Value for Count {
    const FORM: &'static str = "8 bytes little-endian, a merged sum; dropped at compaction if it is zero";

    fn read(_: &[u8], bytes: &[u8]) -> Result<Self> {
        read_count(bytes).map(Self).ok_or_else(|| corrupt("counter"))
    }

    fn bytes(&self) -> Result<Vec<u8>> {
        Ok(count(self.0).to_vec())
    }
}

/// One step of a counter, and its merged sum.
pub(crate) fn count(step: i64) -> [u8; 8] {
    step.to_le_bytes()
}

pub(crate) fn read_count(bytes: &[u8]) -> Option<i64> {
    Some(i64::from_le_bytes(bytes.try_into().ok()?))
}

/// Steps of the counters of an item, and their merged sums.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct ItemSteps {
    /// By [`ItemCounter`](model::ItemCounter).
    pub(crate) pointing: [i64; 2],
    /// By the byte of the kind of reaction.
    pub(crate) reactions: BTreeMap<u8, i64>,
}

impl ItemSteps {
    /// Adds further steps.
    pub(crate) fn add(&mut self, steps: &Self) {
        for (sum, step) in self.pointing.iter_mut().zip(steps.pointing) {
            *sum = sum.wrapping_add(step);
        }
        for (kind, step) in &steps.reactions {
            let sum = self.reactions.entry(*kind).or_default();
            *sum = sum.wrapping_add(*step);
        }
    }
}

impl Value for ItemSteps {
    const FORM: &'static str = "its [counts](#counts); merged sums; dropped at compaction if all are zero";

    fn read(_: &[u8], bytes: &[u8]) -> Result<Self> {
        read_item_counts(bytes).ok_or_else(|| corrupt("counters"))
    }

    fn bytes(&self) -> Result<Vec<u8>> {
        Ok(item_counts(self))
    }
}

/// The counters, those of reactions without zeros.
pub(crate) fn item_counts(steps: &ItemSteps) -> Vec<u8> {
    let mut bytes: Vec<u8> = steps.pointing.into_iter().flat_map(count).collect();
    for (kind, step) in steps.reactions.iter().filter(|(_, step)| **step != 0) {
        bytes.push(*kind);
        bytes.extend(count(*step));
    }
    bytes
}

pub(crate) fn read_item_counts(bytes: &[u8]) -> Option<ItemSteps> {
    let (pointing, reactions) = bytes.split_at_checked(16)?;
    let pointing = [read_count(&pointing[..8])?, read_count(&pointing[8..])?];
    let reactions = reactions.chunks(9).map(|part| Some((*part.first()?, read_count(&part[1..])?)));
    Some(ItemSteps { pointing, reactions: reactions.collect::<Option<_>>()? })
}

/// A state, a time and the number of a job.
impl Value for Activity {
    const FORM: &'static str = "[state, time last seen, rebuild job](#activity)";

    fn read(_: &[u8], bytes: &[u8]) -> Result<Self> {
        let at = |place: usize| bytes.get(place..).and_then(number).ok_or_else(|| corrupt("activity"));
        let (seen, rebuild) = (at(1)?, at(9)?);
        match bytes[0] {
            0 => Ok(Self::Dormant { seen: Some(seen) }),
            1 => Ok(Self::Returning { seen, empty: false, rebuild }),
            2 => Ok(Self::Active { seen }),
            3 => Ok(Self::Evicted),
            4 => Ok(Self::Returning { seen, empty: true, rebuild }),
            5 => Ok(Self::Dormant { seen: None }),
            _ => Err(corrupt("activity: state")),
        }
    }

    fn bytes(&self) -> Result<Vec<u8>> {
        let (state, seen, job) = match *self {
            Self::Dormant { seen: Some(seen) } => (0, seen, 0),
            Self::Dormant { seen: None } => (5, 0, 0),
            Self::Returning { seen, empty, rebuild } => (if empty { 4 } else { 1 }, seen, rebuild),
            Self::Active { seen } => (2, seen, 0),
            Self::Evicted => (3, 0, 0),
        };
        Ok([&[state][..], &seen.to_be_bytes(), &job.to_be_bytes()].concat())
    }
}

/// Two optional cursors, each with a byte that says whether it is there.
impl Value for Unpushed {
    const FORM: &'static str = "two times a flag byte and a cursor of 16 bytes: the newest item pushed to nobody, and that pushed to active followers only";

    fn read(_: &[u8], bytes: &[u8]) -> Result<Self> {
        if bytes.len() != 34 {
            return Err(corrupt("unpushed"));
        }
        let read = |at: usize| match bytes[at] {
            0 => Ok(None),
            _ => read_cursor(&bytes[at + 1..]).map(Some).ok_or_else(|| corrupt("unpushed: cursor")),
        };
        Ok(Self { to_nobody: read(0)?, to_active: read(17)? })
    }

    fn bytes(&self) -> Result<Vec<u8>> {
        let part = |place: Option<Cursor>| match place {
            Some(place) => [&[1][..], &cursor(place)].concat(),
            None => vec![0; 17],
        };
        Ok([part(self.to_nobody), part(self.to_active)].concat())
    }
}

#[cfg(test)]
mod tests;

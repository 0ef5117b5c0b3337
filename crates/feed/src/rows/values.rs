//! The values of every table: the only code that knows their bytes.
//!
//! Hot rows have a fixed layout; the others are a version byte followed by bincode. bincode stays at 2.0.1 and inside
//! this file, so that only a new version byte is needed to replace it.

pub(crate) mod deletions;
pub(crate) mod effects;
pub(crate) mod erasures;
pub(crate) mod events;
mod notices;

use std::collections::BTreeMap;

use bincode::{Decode, Encode};

pub(crate) use self::notices::{notice, notice_marker, read_notice, read_notice_marker};
use super::keys::number;
use model::error::{Error, Result};
use model::{
    Activity, Audience, Content, ContentId, Cursor, Entry, Job, JobId, KindId, ListId, ListSettings, Membership,
    Millis, Profile, Progress, Reach, Rule, Unpushed, UserId, UserSettings, Work,
};

/// The floor at the head of a list.
pub(crate) fn read_floor(head: Option<&[u8]>) -> Result<Option<Cursor>> {
    head.map(|bytes| read_cursor(bytes).ok_or_else(|| Error::Corrupt("floor".to_owned()))).transpose()
}

/// The value of a row whose key says all.
pub(crate) const EMPTY: [u8; 0] = [];

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

/// The fields of an item in the order of [`read_content`].
pub(crate) fn content(stored: &Stored) -> Result<Vec<u8>> {
    let Stored { content, deleted_at } = stored;
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
    let paths =
        (content.kind_id.0, content.to.iter().map(|source| source.get()).collect::<Vec<_>>(), flags(content.audience));
    if content.mentions.is_empty() {
        return encode(CONTENT, &(fields, paths));
    }
    let mentions: Vec<_> = content.mentions.iter().map(|user| user.get()).collect();
    encode(CONTENT_WITH_MENTIONS, &(fields, paths, mentions))
}

/// The version of the value of an item.
fn content_version(bytes: &[u8]) -> u8 {
    if bytes.first() == Some(&CONTENT_WITH_MENTIONS) { CONTENT_WITH_MENTIONS } else { CONTENT }
}

/// The fields of an item, and its mentions.
type Fields<F> = (F, (u8, Vec<u64>, u8));

pub(crate) fn read_content(id: ContentId, bytes: &[u8]) -> Result<Stored> {
    let ((fields, (kind_id, to, audience)), mentions): (Fields<_>, Vec<u64>) = match content_version(bytes) {
        CONTENT => (decode("content", CONTENT, bytes)?, Vec::new()),
        version => {
            let (fields, paths, mentions) = decode("content", version, bytes)?;
            ((fields, paths), mentions)
        }
    };
    let (author, published_at, edited_at, deleted_at, kind, text, media, topics, ref_id, extra, broadcast, fingerprint) =
        fields;
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
        audience: read_flags(audience)?,
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

pub(crate) fn job(work: &Work, progress: Option<Progress>) -> Result<Vec<u8>> {
    let record = match *work {
        Work::FanOut { entry } => WorkV1::FanOut {
            source: entry.source.get(),
            at: entry.cursor.at,
            id: entry.cursor.id.get(),
            of: (entry.author.get(), entry.kind.0, flags(entry.audience)),
            progress: progress.map(|p| (code(&REACHES, p.reach), p.done_to.map(UserId::get))),
        },
        Work::Settle { user, source } => WorkV1::Settle { user: user.get(), source: source.get() },
        Work::Rebuild { user } => WorkV1::Rebuild { user: user.get() },
    };
    encode(JOB, &record)
}

pub(crate) fn read_job(id: JobId, bytes: &[u8]) -> Result<Job> {
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
            Work::FanOut { entry: Entry { cursor: Cursor { at, id }, source, author, kind: KindId(kind), audience } }
        }
        WorkV1::Settle { user: whose, source } => Work::Settle { user: user(whose)?, source: user(source)? },
        WorkV1::Rebuild { user: whose } => Work::Rebuild { user: user(whose)? },
    };
    Ok(Job { id, work, progress })
}

pub(crate) fn profile(Profile { nickname, avatar, extra }: &Profile) -> Result<Vec<u8>> {
    encode(PROFILE, &(nickname, avatar, extra))
}

pub(crate) fn read_profile(bytes: &[u8]) -> Result<Profile> {
    let (nickname, avatar, extra) = decode("profile", PROFILE, bytes)?;
    Ok(Profile { nickname, avatar, extra })
}

/// A list: its number and settings.
pub(crate) fn list(id: ListId, ListSettings { title, exclusive }: &ListSettings) -> Result<Vec<u8>> {
    encode(LIST, &(id.get(), title, exclusive))
}

pub(crate) fn read_list(bytes: &[u8]) -> Result<(ListId, ListSettings)> {
    let (id, title, exclusive) = decode("list", LIST, bytes)?;
    Ok((ListId::new(id).map_err(|_| corrupt("list: number"))?, ListSettings { title, exclusive }))
}

/// Whether it is the value of a list, or the highest number of one.
pub(crate) fn is_list(bytes: &[u8]) -> bool {
    read_given(bytes).is_ok() || read_list(bytes).is_ok()
}

pub(crate) fn settings(UserSettings { approve_followers, default_audience }: UserSettings) -> Result<Vec<u8>> {
    encode(SETTINGS, &(approve_followers, flags(default_audience)))
}

pub(crate) fn read_settings(bytes: &[u8]) -> Result<UserSettings> {
    let (approve_followers, flags) = decode("settings", SETTINGS, bytes)?;
    Ok(UserSettings { approve_followers, default_audience: read_flags(flags)? })
}

/// An author in a value.
pub(crate) fn author(author: UserId) -> [u8; 8] {
    author.get().to_be_bytes()
}

pub(crate) fn read_author(bytes: &[u8]) -> Result<UserId> {
    let raw = number(bytes).filter(|_| bytes.len() == 8);
    raw.and_then(|raw| UserId::new(raw).ok()).ok_or_else(|| corrupt("author"))
}

fn flags(audience: Audience) -> u8 {
    u8::from(audience == Audience::Followers)
}

fn read_flags(flags: u8) -> Result<Audience> {
    match flags {
        0 => Ok(Audience::Public),
        1 => Ok(Audience::Followers),
        _ => Err(corrupt("audience")),
    }
}

/// The value of an entry in an outbox, or in another list of its author's: kind, flags and another author, without
/// defaults. Empty for a plain entry.
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

/// The value of an entry in a list of items of any authors: the author, then kind and flags unless they are defaults.
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
pub(crate) fn given(number: u64) -> [u8; 8] {
    number.to_be_bytes()
}

pub(crate) fn read_given(bytes: &[u8]) -> Result<u64> {
    number(bytes).filter(|given| bytes.len() == 8 && *given > 0).ok_or_else(|| corrupt("number of a text"))
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

pub(crate) fn read_marker(bytes: &[u8]) -> Result<Cursor> {
    read_cursor(bytes).filter(|_| bytes.len() == 16).ok_or_else(|| corrupt("marker"))
}

pub(crate) fn millis(at: Millis) -> [u8; 8] {
    at.to_be_bytes()
}

pub(crate) fn read_millis(bytes: &[u8]) -> Result<Millis> {
    number(bytes).ok_or_else(|| corrupt("time"))
}

/// A follow, or a member of a list: its time, then its rule if it has one: 1 for only its kinds or 0 for all but these, and
/// the kinds.
pub(crate) fn membership(Membership { since, rule }: &Membership) -> Vec<u8> {
    let mut bytes = millis(*since).to_vec();
    if let Some(rule) = rule {
        bytes.push(u8::from(rule.is_only()));
        bytes.extend(rule.kinds().iter().map(|kind| kind.0));
    }
    bytes
}

pub(crate) fn read_membership(bytes: &[u8]) -> Result<Membership> {
    Ok(Membership { since: read_millis(bytes)?, rule: read_rule(bytes)? })
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

/// An activity: a state, a time and the number of a job.
pub(crate) fn activity(activity: Activity) -> [u8; 17] {
    let (state, seen, job) = match activity {
        Activity::Dormant { seen: Some(seen) } => (0, seen, 0),
        Activity::Dormant { seen: None } => (5, 0, 0),
        Activity::Returning { seen, empty, rebuild } => (if empty { 4 } else { 1 }, seen, rebuild),
        Activity::Active { seen } => (2, seen, 0),
        Activity::Evicted => (3, 0, 0),
    };
    let mut bytes = [state; 17];
    bytes[1..9].copy_from_slice(&seen.to_be_bytes());
    bytes[9..].copy_from_slice(&job.to_be_bytes());
    bytes
}

pub(crate) fn read_activity(bytes: &[u8]) -> Result<Activity> {
    let at = |place: usize| bytes.get(place..).and_then(number).ok_or_else(|| corrupt("activity"));
    let (seen, rebuild) = (at(1)?, at(9)?);
    match bytes[0] {
        0 => Ok(Activity::Dormant { seen: Some(seen) }),
        1 => Ok(Activity::Returning { seen, empty: false, rebuild }),
        2 => Ok(Activity::Active { seen }),
        3 => Ok(Activity::Evicted),
        4 => Ok(Activity::Returning { seen, empty: true, rebuild }),
        5 => Ok(Activity::Dormant { seen: None }),
        _ => Err(corrupt("activity: state")),
    }
}

/// Two optional cursors, each with a byte that says whether it is there.
pub(crate) fn unpushed(unpushed: Unpushed) -> [u8; 34] {
    let mut bytes = [0; 34];
    for (at, place) in [(0, unpushed.to_nobody), (17, unpushed.to_active)] {
        if let Some(place) = place {
            bytes[at] = 1;
            bytes[at + 1..at + 17].copy_from_slice(&cursor(place));
        }
    }
    bytes
}

pub(crate) fn read_unpushed(bytes: &[u8]) -> Result<Unpushed> {
    if bytes.len() != 34 {
        return Err(corrupt("unpushed"));
    }
    let read = |at: usize| match bytes[at] {
        0 => Ok(None),
        _ => read_cursor(&bytes[at + 1..]).map(Some).ok_or_else(|| corrupt("unpushed: cursor")),
    };
    Ok(Unpushed { to_nobody: read(0)?, to_active: read(17)? })
}

#[cfg(test)]
mod tests;

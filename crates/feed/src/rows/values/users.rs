//! Rows of users and of what they keep: profiles, settings, lists, follows, activity.

use super::{Value, corrupt, cursor, decode, encode, flags, millis, number, read_cursor, read_flags, read_millis};
use model::error::Result;
use model::{Activity, Cursor, KindId, ListId, ListSettings, Membership, Profile, Rule, Unpushed, UserSettings};

const PROFILE: u8 = 1;
const LIST: u8 = 1;
const SETTINGS: u8 = 1;

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

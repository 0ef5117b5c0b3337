//! Rows of users and of what they keep: profiles, settings, lists, follows, activity.

use super::{Value, corrupt, decode, encode, flags, millis, read_flags, read_millis, valid};
use model::error::{Error, Result};
use model::{Activity, Cursor, KindId, ListId, ListSettings, Membership, Profile, Rule, Unpushed, UserSettings};

const PROFILE: u8 = 1;
const LIST: u8 = 1;
const SETTINGS: u8 = 1;
const UNPUSHED: u8 = 1;

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
        Ok((valid(id, "list: number")?, ListSettings { title, exclusive }))
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

/// Its state is the first byte.
impl Value for Activity {
    const FORM: &'static str = "[state, then bincode](#activity): time last seen, rebuild job";

    fn read(_: &[u8], bytes: &[u8]) -> Result<Self> {
        let state = *bytes.first().ok_or_else(|| corrupt("activity"))?;
        let (seen, rebuild) = decode("activity", state, bytes)?;
        match state {
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
        encode(state, &(seen, job))
    }
}

impl Value for Unpushed {
    const FORM: &'static str =
        "version 1, then bincode: the newest item pushed to nobody, that pushed to active followers only";

    fn read(_: &[u8], bytes: &[u8]) -> Result<Self> {
        let places: [Option<(u64, u64)>; 2] = decode("unpushed", UNPUSHED, bytes)?;
        let [to_nobody, to_active] = places.map(|place| {
            place.map(|(at, raw)| Ok::<_, Error>(Cursor { at, id: valid(raw, "unpushed: item")? })).transpose()
        });
        Ok(Self { to_nobody: to_nobody?, to_active: to_active? })
    }

    fn bytes(&self) -> Result<Vec<u8>> {
        encode(UNPUSHED, &[self.to_nobody, self.to_active].map(|place| place.map(|place| (place.at, place.id.get()))))
    }
}
